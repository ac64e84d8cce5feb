#pragma once
#include "exe_graph/runtime/base_type.h"
