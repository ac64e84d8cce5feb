// How transpose is split over cores and tiles; op_host/transpose_tiling.cpp fills it in.
#ifndef TRANSPOSE_TILING_H
#define TRANSPOSE_TILING_H

#include "row_split.h"

struct TransposeTilingData {
    RowSplit split;        // tiles of all matrices; those of a row of tiles follow each other
    int64_t rows;          // of a matrix of x
    int64_t columns;
    int64_t elements;      // copy: of all matrices
    int32_t tileRows;
    int32_t tileColumns;   // copy: elements of a tile
    int32_t tileElements;  // room for a tile in UB
};

#endif
