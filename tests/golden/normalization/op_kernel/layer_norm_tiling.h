// How layer_norm is split over cores and tiles; op_host/layer_norm_tiling.cpp fills it in.
#ifndef LAYER_NORM_TILING_H
#define LAYER_NORM_TILING_H

#include <cstdint>

#include "row_split.h"

struct LayerNormTilingData {
    RowSplit split;    // of the rows
    int64_t columns;
    int64_t rows;      // nothing: rows without columns
    int32_t tileRows;  // full_load: rows of one tile
    int32_t pitch;     // full_load: elements from one row to the next in UB
    int32_t chunk;     // split: elements of a row that are in UB at a time
    float eps;
};

#endif
