// How flash_attention_backward is split over cores and tiles; op_host/flash_attention_backward_tiling.cpp fills it in.
#ifndef FLASH_ATTENTION_BACKWARD_TILING_H
#define FLASH_ATTENTION_BACKWARD_TILING_H

#include "kernel_tiling/kernel_tiling.h"

#include "row_split.h"

struct FlashAttentionBackwardTilingData {
    TCubeTiling scores;   // of the products of a tile's rows with those of a block
    TCubeTiling product;  // of weights or slopes with the rows of a block
    TCubeTiling turned;   // heads: of slopes, whose rows are keys, with the keys of a tile
    RowSplit deltas;      // of the queries of all heads: sums of out * grad_out
    int64_t segments;     // heads of keys, of all batches
    int64_t rows;         // queries of a segment: those of all heads that share keys follow each other
    int64_t queries;      // of a head
    int64_t keys;         // of a head
    int64_t queryTiles;   // of a segment
    int64_t keyTiles;     // of a segment
    int64_t queryElements;  // of grad_q, and of grad_k
    int64_t keyElements;
    int32_t size;         // of a head: elements of a query or key
    int32_t tileQueries;  // rows of a tile of queries
    int32_t tileKeys;     // rows of a tile of keys
    int32_t tileRows;     // the larger of both
    int32_t block;        // rows of the other kind that a tile meets at a time: whole vector repeats of scores
    int32_t sliceRows;    // rows of scores that are in UB at a time
    int32_t outRows;      // rows of a result that are
    int32_t slice;        // elements of UB for either
    int32_t deltaRows;    // queries of which out and grad_out are in UB at a time
    int32_t workers;      // vector cores that have tiles
    int32_t causal;
    float scale;
};

#endif
