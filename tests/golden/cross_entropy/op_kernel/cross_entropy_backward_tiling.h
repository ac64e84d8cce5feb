// How cross_entropy_backward is split over cores and tiles; op_host/cross_entropy_backward_tiling.cpp fills it in.
#ifndef CROSS_ENTROPY_BACKWARD_TILING_H
#define CROSS_ENTROPY_BACKWARD_TILING_H

#include "row_split.h"

struct CrossEntropyBackwardTilingData {
    RowTiles tiles;
    int32_t tileElements;  // room for a tile in UB
    int32_t ignoreIndex;
};

#endif
