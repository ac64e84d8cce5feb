// The work of one vector core of flash_attention: tiles of queries, and for each the blocks of keys that it sees,
// or (split) those of a part of the keys.
#ifndef FLASH_ATTENTION_BLOCKS_H
#define FLASH_ATTENTION_BLOCKS_H

#include "kernel_operator.h"

#include "row_io.h"
#include "flash_attention_tiling.h"

// A block of keys for a tile of queries.
struct KeyBlock {
    int64_t unit;      // number of the tile, and of its part of the keys
    int64_t query;     // number of the tile's first query, of all heads of all batches
    int64_t head;      // of keys, of all batches
    int64_t position;  // of the first query in its head
    int64_t key;       // position of the first key
    int32_t rows;      // queries
    int32_t keys;
    int32_t slot;      // 0 or 1: neighbouring blocks have different buffers
    int32_t tile;      // 0 or 1: so do the statistics of neighbouring tiles
    bool first;        // of the tile
    bool last;
};

class KeyBlocks {
public:
    __aicore__ inline void Init(const FlashAttentionTilingData *tiling, int64_t worker)
    {
        tiling_ = tiling;
        unit_ = worker;
        block_.slot = 1;
        block_.tile = 1;
        block_.last = true;
    }

    // The next block; false: there is none.
    __aicore__ inline bool Next(KeyBlock &block)
    {
        if (block_.last && !NextTile()) {
            return false;
        }
        block_.keys = row_ops::Least(end_ - key_, tiling_->blockKeys);
        block_.key = key_;
        block_.slot = 1 - block_.slot;
        block_.first = key_ == begin_;
        key_ += block_.keys;
        block_.last = key_ >= end_;
        block = block_;
        return true;
    }

    // Tiles of all segments in turn, the last of each segment first: with a causal mask they see most keys.
    __aicore__ inline void SetTile(KeyBlock &block, int64_t tile)
    {
        const int64_t segment = tile % tiling_->segments;
        const int64_t row = (tiling_->tiles - 1 - tile / tiling_->segments) * tiling_->tileRows;
        block.query = segment * tiling_->rows + row;
        block.head = segment / (tiling_->segments / tiling_->keyHeads);
        block.position = row % tiling_->queries;
        block.rows = row_ops::Least(tiling_->rows - row, tiling_->tileRows);
    }

private:
    __aicore__ inline bool NextTile()
    {
        if (unit_ >= tiling_->segments * tiling_->tiles * tiling_->parts) {
            return false;
        }
        SetTile(block_, unit_ / tiling_->parts);
        block_.unit = unit_;
        block_.tile = 1 - block_.tile;
        begin_ = unit_ % tiling_->parts * tiling_->partKeys;
        key_ = begin_;
        end_ = Earlier(begin_ + tiling_->partKeys, tiling_->keys);
        unit_ += tiling_->workers;
        if (tiling_->causal != 0) {
            const int64_t after = block_.position + block_.rows;  // or the tile goes on in the next head
            end_ = Earlier(end_, Earlier(after, tiling_->queries));
        }
        return true;
    }

    __aicore__ inline int64_t Earlier(int64_t a, int64_t b) { return a < b ? a : b; }

    const FlashAttentionTilingData *tiling_ = nullptr;
    KeyBlock block_;
    int64_t unit_ = 0;
    int64_t begin_ = 0;
    int64_t key_ = 0;
    int64_t end_ = 0;
};

#endif
