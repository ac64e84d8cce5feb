// embedding_backward:
// grad_weight[k, :] = sum of grad_y[i, :] over all i with indices[i] = k, in the order of i.
// The sums are fp32, rounded once on the way out. weight is not read: it gives the shape. An index outside the table
// adds to nothing.
#include "kernel_operator.h"

#include "row_io.h"
#include "embedding_backward_tiling.h"

using namespace AscendC;
using namespace row_ops;

template <typename T, typename Index>
class KernelEmbeddingBackward {
public:
    __aicore__ inline void Init(GM_ADDR gradY, GM_ADDR indices, GM_ADDR gradWeight,
                                const EmbeddingBackwardTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        gradGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(gradY));
        indexGm_.SetGlobalBuffer(reinterpret_cast<__gm__ Index *>(indices));
        const int32_t room = tiling->tileElements;
        out_.Init(gradWeight, pipe, room);
        pipe->InitBuffer(grads_, BUFFERS, room * sizeof(T));
        if constexpr (!DIRECT) {
            pipe->InitBuffer(wide_, room * sizeof(float));
            pipe->InitBuffer(sums_, room * sizeof(float));
        }
        pipe->InitBuffer(indices_, BUFFERS, CHUNK * sizeof(Index));
        pipe->InitBuffer(work_, 5 * CHUNK * sizeof(int32_t));
        pipe->InitBuffer(masks_, 2 * CHUNK / 8);
        LocalTensor<int32_t> work = work_.Get<int32_t>();
        local_ = work;
        numbers_ = work[CHUNK];
        rows_ = work[2 * CHUNK];
        places_ = work[3 * CHUNK];
        values_ = work[4 * CHUNK].template ReinterpretCast<float>();
        Duplicate(values_, -1.0f, CHUNK);  // Compare works on whole repeats
        CreateVecIndex(numbers_, 0, CHUNK);
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Process()
    {
        const RowTiles &tiles = tiling_->tiles;
        const Share share = ShareOfThisCore(tiles.split);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const Tile tile = TileOf(tiles, unit, BLOCK_BYTES / sizeof(T));
            const int32_t n = tile.rows * tile.pitch;
            Floats sums = out_.Begin(Spare());
            Duplicate(sums, 0.0f, n);
            PipeBarrier<PIPE_V>();
            for (int64_t start = 0; start < tiling_->indices; start += CHUNK) {
                AddChunk(sums, tile, start, Least(tiling_->indices - start, CHUNK));
            }
            out_.End(sums, n);
            out_.Copy(tile.row * tiles.columns + tile.column, tile.rows, tile.width, tile.pitch,
                      tiles.columns - tile.width);
        }
    }

private:
    static constexpr bool DIRECT = IsSameType<T, float>::value;
    static constexpr int32_t CHUNK = 1024;  // indices that are looked at together

    __aicore__ inline Floats Spare()
    {
        if constexpr (DIRECT) {
            return Floats();
        } else {
            return sums_.template Get<float>();
        }
    }

    __aicore__ inline void AddChunk(const Floats &sums, const Tile &tile, int64_t start, int32_t n)
    {
        LocalTensor<Index> in = indices_.template AllocTensor<Index>();
        CopyRowsIn(in, indexGm_[start], 1, n, CHUNK);
        indices_.EnQue(in);
        const int32_t found = FindRows(tile, n);
        const int32_t most = tiling_->tileElements / tile.pitch;
        for (int32_t done = 0; done < found; done += most) {
            AddRows(sums, tile, start, done, Least(found - done, most));
        }
        const TEventID used = GetTPipePtr()->FetchEventID(HardEvent::S_V);
        SetFlag<HardEvent::S_V>(used);  // rows_ and places_ have been read
        WaitFlag<HardEvent::S_V>(used);
    }

    // Packs into rows_ and places_ which of the indices are rows of the tile, and where these indices are.
    __aicore__ inline int32_t FindRows(const Tile &tile, int32_t n)
    {
        const int32_t m = AlignUp(n, LANES);
        LocalTensor<Index> in = indices_.template DeQue<Index>();
        const int32_t first = static_cast<int32_t>(tile.row);
        if constexpr (IsSameType<Index, int64_t>::value) {
            Cast(local_, in, RoundMode::CAST_NONE, n);
            PipeBarrier<PIPE_V>();
            Adds(local_, local_, -first, n);
        } else {
            Adds(local_, in, -first, n);
        }
        indices_.FreeTensor(in);
        PipeBarrier<PIPE_V>();
        Cast(values_, local_, RoundMode::CAST_RINT, n);  // exact up to 2^24, more than a tile has rows
        PipeBarrier<PIPE_V>();
        LocalTensor<uint8_t> mask = masks_.Get<uint8_t>();
        LocalTensor<uint8_t> below = mask[CHUNK / 8];
        CompareScalar(mask, values_, 0.0f, CMPMODE::GE, m);
        CompareScalar(below, values_, static_cast<float>(tile.rows), CMPMODE::LT, m);
        PipeBarrier<PIPE_V>();
        LocalTensor<uint16_t> both = mask.ReinterpretCast<uint16_t>();
        And(both, both, below.ReinterpretCast<uint16_t>(), m / 16);
        PipeBarrier<PIPE_V>();
        LocalTensor<uint32_t> pattern = mask.ReinterpretCast<uint32_t>();
        uint64_t found = 0;
        GatherMask(rows_, local_, pattern, true, n, {1, 1, 8, 8}, found);
        GatherMask(places_, numbers_, pattern, true, n, {1, 1, 8, 8}, found);
        const TEventID packed = GetTPipePtr()->FetchEventID(HardEvent::V_S);
        SetFlag<HardEvent::V_S>(packed);
        WaitFlag<HardEvent::V_S>(packed);
        return static_cast<int32_t>(found);
    }

    __aicore__ inline void AddRows(const Floats &sums, const Tile &tile, int64_t start, int32_t first, int32_t count)
    {
        const int64_t columns = tiling_->tiles.columns;
        LocalTensor<T> grads = grads_.template AllocTensor<T>();
        for (int32_t i = 0; i < count; ++i) {
            const int64_t from = (start + places_.GetValue(first + i)) * columns + tile.column;
            CopyRowsIn(grads[i * tile.pitch], gradGm_[from], 1, tile.width, tile.pitch);
        }
        grads_.EnQue(grads);
        grads = grads_.template DeQue<T>();
        Floats wide = Wide(grads, count * tile.pitch);
        for (int32_t i = 0; i < count; ++i) {
            Floats row = sums[rows_.GetValue(first + i) * tile.pitch];
            Add(row, row, wide[i * tile.pitch], tile.width);
            PipeBarrier<PIPE_V>();  // the next one may be the same row
        }
        grads_.FreeTensor(grads);
    }

    __aicore__ inline Floats Wide(const LocalTensor<T> &in, int32_t n)
    {
        if constexpr (DIRECT) {
            return in;
        } else {
            Floats wide = wide_.template Get<float>();
            Cast(wide, in, RoundMode::CAST_NONE, n);
            PipeBarrier<PIPE_V>();
            return wide;
        }
    }

    GlobalTensor<T> gradGm_;
    GlobalTensor<Index> indexGm_;
    RowsOut<T> out_;
    TQue<TPosition::VECIN, BUFFERS> grads_;
    TQue<TPosition::VECIN, BUFFERS> indices_;
    TBuf<TPosition::VECCALC> wide_;
    TBuf<TPosition::VECCALC> sums_;
    TBuf<TPosition::VECCALC> work_;
    TBuf<TPosition::VECCALC> masks_;
    LocalTensor<int32_t> local_;    // indices, counted from the first row of the tile
    LocalTensor<int32_t> numbers_;  // 0, 1, 2, ...
    LocalTensor<int32_t> rows_;     // of the tile, for each index that is in it
    LocalTensor<int32_t> places_;   // of these indices in the chunk
    Floats values_;
    const EmbeddingBackwardTilingData *tiling_ = nullptr;
};

extern "C" __global__ __aicore__ void embedding_backward(GM_ADDR grad_y, GM_ADDR indices, GM_ADDR weight,
                                                         GM_ADDR grad_weight, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(EmbeddingBackwardTilingData);
    GET_TILING_DATA(tilingData, tiling);
    // Key 1 (rows) and key 2 (split) differ in the tiles only.
    if (TILING_KEY_IS(1) || TILING_KEY_IS(2)) {
        TPipe pipe;
        KernelEmbeddingBackward<DTYPE_GRAD_Y, DTYPE_INDICES> kernel;
        kernel.Init(grad_y, indices, grad_weight, &tilingData, &pipe);
        kernel.Process();
    }
}
