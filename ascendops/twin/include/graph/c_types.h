// Data type codes: kernels include the header that tiling keys are declared in on both sides.
#pragma once
#include "../host/graph/c_types.h"
