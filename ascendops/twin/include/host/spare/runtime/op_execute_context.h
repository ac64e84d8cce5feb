#pragma once
#include "exe_graph/runtime/op_execute_context.h"
