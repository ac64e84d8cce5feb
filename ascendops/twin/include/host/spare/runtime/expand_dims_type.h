#pragma once
#include "exe_graph/runtime/expand_dims_type.h"
