// How dropout_backward is split over cores and tiles, and its numbers; op_host/dropout_backward_tiling.cpp fills it in.
#ifndef DROPOUT_BACKWARD_TILING_H
#define DROPOUT_BACKWARD_TILING_H

#include "row_split.h"

struct DropoutBackwardTilingData {
    RowSplit split;     // runs of 1024 elements
    int64_t elements;
    int32_t tileRuns;   // runs of a tile
    uint32_t key[2];    // low and high word of the seed
    uint32_t offset[2];
    float threshold;    // p * 2^24
    float scale;        // 1 / (1 - p)
};

#endif
