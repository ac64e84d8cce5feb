// How permute is split over cores and tiles; op_host/permute_tiling.cpp fills it in.
#ifndef PERMUTE_TILING_H
#define PERMUTE_TILING_H

#include "row_split.h"

constexpr int32_t PERMUTE_MAX_RANK = 8;

struct PermuteAxes {
    int32_t rank;
    int64_t size[PERMUTE_MAX_RANK];  // in the order of the result
    int64_t from[PERMUTE_MAX_RANK];  // elements of x from one to the next
    int64_t to[PERMUTE_MAX_RANK];    // and of y
};

struct PermuteTilingData {
    PermuteAxes outer;   // copy, gather: of the rows; tiles: of the planes
    PermuteAxes inner;   // gather: of a row; tiles: the last dim of the result, then that of x
    RowTiles rows;         // copy, gather: those of the result
    RowSplit split;        // tiles: of all planes; those of a row of tiles follow each other
    int32_t tileRows;      // tiles: of the last dim of the result
    int32_t tileColumns;   // tiles: of the last dim of x
    int32_t tileElements;  // room for a tile in UB
};

#endif
