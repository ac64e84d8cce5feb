// How gelu is split over cores and tiles; op_host/gelu_tiling.cpp fills it in.
#ifndef GELU_TILING_H
#define GELU_TILING_H

#include <cstdint>

struct GeluTilingData {
    int64_t total;         // elements of one tensor
    int64_t formerLength;  // elements of each of the first formerCores cores
    int64_t tailLength;    // elements of each of the other cores; the last one may have fewer
    int32_t formerCores;
    int32_t tileLength;    // elements of one tile in UB
};

#endif
