// How flash_attention is split over cores and blocks; op_host/flash_attention_tiling.cpp fills it in.
#ifndef FLASH_ATTENTION_TILING_H
#define FLASH_ATTENTION_TILING_H

#include <cstdint>

#include "kernel_tiling/kernel_tiling.h"

struct FlashAttentionTilingData {
    TCubeTiling scores;   // of the product q k^T of a tile of queries and a block of keys
    TCubeTiling product;  // of the weights and the values
    int64_t segments;     // queries that follow each other and see the same keys: a head, or all heads that share keys
    int64_t rows;         // of a segment
    int64_t tiles;        // of a segment
    int64_t keyHeads;     // of all batches
    int64_t queries;      // of a head
    int64_t keys;         // of a head
    int64_t partKeys;     // of a part of a head, whole blocks: another core has the next part
    int64_t outputs;      // elements: of the output, and of lse, without keys
    int64_t sums;
    int32_t size;         // of a head: elements of a query or key
    int32_t tileRows;     // queries of a tile
    int32_t blockKeys;    // keys of a block, which are whole vector repeats of scores
    int32_t sliceRows;    // rows of scores that are in UB at a time
    int32_t outRows;      // rows of the product that are
    int32_t slice;        // elements of UB for either
    int32_t workers;      // vector cores that have tiles
    int32_t parts;        // of the keys of a head; their results are merged
    int32_t causal;
    float scale;
};

#endif
