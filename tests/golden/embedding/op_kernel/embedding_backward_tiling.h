// How embedding_backward is split over cores and tiles; op_host/embedding_backward_tiling.cpp fills it in.
#ifndef EMBEDDING_BACKWARD_TILING_H
#define EMBEDDING_BACKWARD_TILING_H

#include "row_split.h"

struct EmbeddingBackwardTilingData {
    RowTiles tiles;        // of grad_weight
    int64_t indices;       // how many there are
    int32_t tileElements;  // room for a tile in UB
};

#endif
