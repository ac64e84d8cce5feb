// How grouped_matmul is split over cores and blocks; op_host/grouped_matmul_tiling.cpp fills it in.
#ifndef GROUPED_MATMUL_TILING_H
#define GROUPED_MATMUL_TILING_H

#include <cstdint>

#include "kernel_tiling/kernel_tiling.h"

struct GroupedMatmulTilingData {
    TCubeTiling cube;  // singleCoreM x singleCoreN: of one block; M: rows of all groups
    int64_t rows;      // m
    int64_t columns;   // n
    int64_t depth;     // k
    int64_t groups;
};

#endif
