// How cross_entropy is split over cores and tiles; op_host/cross_entropy_tiling.cpp fills it in.
#ifndef CROSS_ENTROPY_TILING_H
#define CROSS_ENTROPY_TILING_H

#include "row_split.h"

struct CrossEntropyTilingData {
    RowSplit split;    // of the rows
    int64_t columns;
    int32_t tileRows;  // full_load: rows of one tile
    int32_t pitch;     // full_load: elements from one row to the next in UB
    int32_t chunk;     // split: elements of a row that are in UB at a time
    int32_t ignoreIndex;
};

#endif
