// How embedding is split over cores and tiles; op_host/embedding_tiling.cpp fills it in.
#ifndef EMBEDDING_TILING_H
#define EMBEDDING_TILING_H

#include "row_split.h"

struct EmbeddingTilingData {
    RowTiles tiles;        // of y
    int32_t tileElements;  // room for a tile in UB
};

#endif
