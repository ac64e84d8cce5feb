// Sums in the order of the hardware: a binary tree of neighbours.
#pragma once

#include <cstddef>

namespace ascendc_twin {

// n floats to n / per sums of trees of `per` neighbours, a power of two that divides n. `half`: every node is rounded to a half.
// out has room for n / 2 floats and may be x itself.
void tree_sums(const float *x, float *out, size_t n, size_t per, bool half);

}  // namespace ascendc_twin
