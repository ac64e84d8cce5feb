// How softmax is split over cores and tiles; op_host/softmax_tiling.cpp fills it in.
#ifndef SOFTMAX_TILING_H
#define SOFTMAX_TILING_H

#include <cstdint>

struct SoftmaxTilingData {
    int64_t rows;
    int64_t columns;
    int64_t formerRows;  // rows of each of the first formerCores cores
    int64_t tailRows;    // rows of each of the other cores
    int32_t formerCores;
    int32_t tileRows;    // full_load: rows of one tile
    int32_t pitch;       // full_load: fp32 elements from one row to the next in UB
    int32_t chunk;       // split: elements of a row that are in UB at a time
};

#endif
