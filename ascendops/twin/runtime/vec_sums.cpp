// Trees of neighbours, all of a block level by level.
#include "vec_sums.h"

#include "vec_convert.h"

namespace ascendc_twin {

namespace {

void add_neighbours(const float *x, float *out, size_t n) {
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        out[i] = x[2 * i] + x[2 * i + 1];
    }
}

}  // namespace

void tree_sums(const float *x, float *out, size_t n, size_t per, bool half) {
    for (size_t width = n / 2; width >= n / per; width /= 2) {
        add_neighbours(x, out, width);
        if (half) {
            round_to_half(out, width);
        }
        x = out;
    }
}

}  // namespace ascendc_twin
