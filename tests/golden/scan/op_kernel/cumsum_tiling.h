// How cumsum is split over cores and tiles; op_host/cumsum_tiling.cpp fills it in.
#ifndef CUMSUM_TILING_H
#define CUMSUM_TILING_H

#include "row_split.h"

struct CumsumTilingData {
    RowSplit split;        // rows: tiles of up to 64 rows; split: rows; columns: tiles of columns
    int64_t outer;         // product of the dims before the one that is summed
    int64_t length;        // of that dim
    int64_t inner;         // product of the dims after it
    int32_t part;          // rows, split: elements of a lane
    int32_t tileColumns;   // columns: columns of a tile
    int32_t tileElements;  // room for a tile in UB
};

#endif
