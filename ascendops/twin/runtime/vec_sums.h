// Sums in the order of the hardware: a binary tree of neighbours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ascendc_twin {

// n floats to n / per sums of trees of `per` neighbours, a power of two that divides n. `half`: every node is rounded to a half.
// out has room for n / 2 floats and may be x itself.
void tree_sums(const float *x, float *out, size_t n, size_t per, bool half);

constexpr size_t BATCH = 8;           // repeats whose trees go up together
constexpr size_t BATCH_LANES = 1024;  // of halves

// sums[r] = the tree of repeat r, for `count` (at most BATCH) whole repeats of halves or floats that follow each other in memory.
void repeat_sums(const uint8_t *src, size_t count, bool half, float (&sums)[BATCH_LANES]);

}  // namespace ascendc_twin
