// Instructions on half that need no block of floats in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ascendc_twin/vec_engine.h"

namespace ascendc_twin {

// d = op(a, b or scalar) for as many of the n elements as it takes at once; the number of those.
using HalfKernel = size_t (*)(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, float scalar);

// Null: there is none for this operation, or on this machine.
HalfKernel half_kernel(VecOp op);

}  // namespace ascendc_twin
