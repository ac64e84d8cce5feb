// How sort is split over cores and tiles; op_host/sort_tiling.cpp fills it in.
#ifndef SORT_TILING_H
#define SORT_TILING_H

#include "row_split.h"

struct SortTilingData {
    RowTiles tiles;      // rows, full_load: of x
    int64_t results;     // of a row
    int64_t runs;        // merge: of a row
    int64_t batchRows;   // merge: rows that are in the workspace at the same time
    int32_t run;         // merge: elements of a run
    int32_t pitch;       // elements from one row of a tile to the next
    int32_t room;        // elements of a tile
    int32_t chunk;       // merge: records that are read at a time
    int32_t descending;  // 1: largest first
};

#endif
