// How gather is split over cores and tiles; op_host/gather_tiling.cpp fills it in.
#ifndef GATHER_TILING_H
#define GATHER_TILING_H

#include "row_split.h"

struct GatherTilingData {
    RowTiles tiles;        // of y
    int64_t others;        // elements of a row of x
    int32_t tileElements;  // room for a tile in UB
};

#endif
