// How linear is split over cores and blocks; op_host/linear_tiling.cpp fills it in.
#ifndef LINEAR_TILING_H
#define LINEAR_TILING_H

#include <cstdint>

#include "kernel_tiling/kernel_tiling.h"

struct LinearTilingData {
    TCubeTiling cube;   // of the product: each vector core has singleCoreM x singleCoreN of it
    int64_t depth;      // k, which may be 0 here
    int32_t rows;       // parts of vector cores below each other
    int32_t units;      // and in all
    int32_t sliceRows;  // rows of a block that are finished at a time
};

#endif
