// The work of one vector core of flash_attention_backward: tiles of keys, each with the blocks of queries that see it,
// and tiles of queries, each with the blocks of keys that they see; or (heads) all tiles of keys of some heads.
#ifndef FLASH_ATTENTION_BACKWARD_PAIRS_H
#define FLASH_ATTENTION_BACKWARD_PAIRS_H

#include "kernel_operator.h"

#include "row_io.h"
#include "flash_attention_backward_tiling.h"

// A tile and one block of the other kind.
struct Pair {
    bool keys;      // the tile is of keys and the block of queries; else the other way round
    int64_t tile;   // number of the tile's first row, of all segments
    int64_t other;  // of the block's first row
    int64_t row;    // place of the tile's first row in its segment
    int64_t start;  // of the block's first row
    int32_t rows;
    int32_t columns;  // rows of the block
    int32_t slot;     // 0 or 1: neighbouring pairs have different buffers
    int32_t sums;     // 0 or 1: so do the results of neighbouring tiles
    bool first;       // of the tile
    bool last;
    bool ends;  // heads: it is the last one of its segment
};

class Pairs {
public:
    __aicore__ inline void Init(const FlashAttentionBackwardTilingData *tiling, int64_t worker, bool heads)
    {
        tiling_ = tiling;
        heads_ = heads;
        unit_ = worker;
        pair_.slot = 1;
        pair_.sums = 1;
        pair_.last = true;
    }

    // The next pair; false: there is none.
    __aicore__ inline bool Next(Pair &pair)
    {
        pair_.first = pair_.last;
        if (pair_.first && !(heads_ ? NextTileOfHead() : NextTile())) {
            return false;
        }
        pair_.start = next_;
        pair_.other = base_ + next_;
        pair_.columns = row_ops::Least(end_ - next_, tiling_->block);
        pair_.slot = 1 - pair_.slot;
        next_ = Visible(next_ + pair_.columns);
        pair_.last = next_ >= end_;
        pair_.ends = heads_ && pair_.last && tile_ == tiling_->keyTiles;
        pair = pair_;
        return true;
    }

private:
    __aicore__ inline bool NextTileOfHead()
    {
        if (tile_ == tiling_->keyTiles) {
            unit_ += tiling_->workers;
            tile_ = 0;
        }
        if (unit_ >= tiling_->segments) {
            return false;
        }
        SetTileOfKeys(unit_, tile_);
        ++tile_;
        return true;
    }

    // Tiles of all segments in turn: keys from the first on and queries from the last on, which meet most blocks if
    // there is a causal mask.
    __aicore__ inline bool NextTile()
    {
        const int64_t ofKeys = tiling_->segments * tiling_->keyTiles;
        if (unit_ >= ofKeys + tiling_->segments * tiling_->queryTiles) {
            return false;
        }
        const bool keys = unit_ < ofKeys;
        const int64_t number = keys ? unit_ : unit_ - ofKeys;
        const int64_t segment = number % tiling_->segments;
        const int64_t tile = number / tiling_->segments;
        unit_ += tiling_->workers;
        if (keys) {
            SetTileOfKeys(segment, tile);
        } else {
            pair_.keys = false;
            const int64_t row = (tiling_->queryTiles - 1 - tile) * tiling_->tileQueries;
            SetTile(segment, row, tiling_->tileQueries, tiling_->rows, tiling_->keys);
            next_ = 0;
            if (tiling_->causal != 0) {
                const int64_t after = row % tiling_->queries + pair_.rows;  // or the tile goes on in the next head
                end_ = Earlier(end_, Earlier(after, tiling_->queries));
            }
        }
        return true;
    }

    __aicore__ inline void SetTileOfKeys(int64_t segment, int64_t tile)
    {
        pair_.keys = true;
        SetTile(segment, tile * tiling_->tileKeys, tiling_->tileKeys, tiling_->keys, tiling_->rows);
        next_ = Visible(0);
        next_ = next_ < end_ ? next_ : 0;  // no query sees these keys: one block, all of it hidden
    }

    __aicore__ inline void SetTile(int64_t segment, int64_t row, int32_t most, int64_t mine, int64_t others)
    {
        pair_.sums = 1 - pair_.sums;
        pair_.row = row;
        pair_.tile = segment * mine + row;
        pair_.rows = row_ops::Least(mine - row, most);
        base_ = segment * others;
        end_ = others;
    }

    // The first query from `row` on that sees the first key of the tile: it has the same position in its head, or a
    // later one.
    __aicore__ inline int64_t Visible(int64_t row)
    {
        if (!pair_.keys || tiling_->causal == 0) {
            return row;
        }
        if (pair_.row >= tiling_->queries) {
            return end_;
        }
        const int64_t position = row % tiling_->queries;
        return position < pair_.row ? row + pair_.row - position : row;
    }

    __aicore__ inline int64_t Earlier(int64_t a, int64_t b) { return a < b ? a : b; }

    const FlashAttentionBackwardTilingData *tiling_ = nullptr;
    Pair pair_ = {};
    bool heads_ = false;
    int64_t unit_ = 0;
    int64_t tile_ = 0;  // heads: the next one of the segment
    int64_t base_ = 0;  // the first row of the other kind, of the tile's segment
    int64_t next_ = 0;  // place of the next block, and where blocks end
    int64_t end_ = 0;
};

#endif
