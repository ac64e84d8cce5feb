// How batched_matmul is split over cores and blocks; op_host/batched_matmul_tiling.cpp fills it in.
#ifndef BATCHED_MATMUL_TILING_H
#define BATCHED_MATMUL_TILING_H

#include <cstdint>

#include "kernel_tiling/kernel_tiling.h"

struct BatchedMatmulTilingData {
    TCubeTiling cube;  // of one product
    int64_t rows;      // blocks of one product: `rows` of them below each other
    int64_t blocks;    // and as many in all
    int64_t units;     // blocks of all products
    int64_t elements;  // zeros: of the output
};

#endif
