// How rope is split over cores and tiles; op_host/rope_tiling.cpp fills it in.
#ifndef ROPE_TILING_H
#define ROPE_TILING_H

#include "row_split.h"

struct RopeTilingData {
    RowSplit split;         // of the tiles: those of one batch entry follow each other, so that cos and sin are kept
    int64_t batch;
    int64_t positions;
    int32_t heads;
    int32_t width;          // elements that are rotated together: half a head, or (interleaved) a whole one
    int32_t pitch;          // elements from one width to the next in UB
    int32_t parts;          // widths of a head: 2, or (interleaved) 1
    int32_t tilePositions;  // of one tile; more than 1 only with all heads
    int32_t tileHeads;
};

#endif
