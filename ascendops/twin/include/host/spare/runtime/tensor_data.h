#pragma once
#include "exe_graph/runtime/tensor_data.h"
