// How swiglu is split over cores and tiles; op_host/swiglu_tiling.cpp fills it in.
#ifndef SWIGLU_TILING_H
#define SWIGLU_TILING_H

#include "row_split.h"

struct SwigluTilingData {
    RowTiles tiles;        // of the gate, half as wide as x
    int32_t tileElements;  // room for a tile in UB
};

#endif
