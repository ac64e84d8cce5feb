// gather:
// y[..., j] = x[..., indices[..., j]].
// Elements are moved, not computed, so the kernel knows only their size; Select takes float and half.
#include "kernel_operator.h"

#include "row_io.h"
#include "gather_tiling.h"

using namespace AscendC;
using namespace row_ops;

constexpr int32_t PITCH = 128;  // rows in UB start at multiples of so many elements: whole repeats for Select

template <typename T, typename Index>
class KernelGather {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR indices, GM_ADDR y, const GatherTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        indexGm_.SetGlobalBuffer(reinterpret_cast<__gm__ Index *>(indices));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
        const int32_t room = tiling->tileElements;
        pipe->InitBuffer(x_, BUFFERS, room * sizeof(T));
        pipe->InitBuffer(indices_, BUFFERS, room * sizeof(Index));
        pipe->InitBuffer(y_, BUFFERS, room * sizeof(T));
        pipe->InitBuffer(offsets_, 3 * room * sizeof(int32_t));
        pipe->InitBuffer(part_, room * sizeof(T));
        maskBytes_ = AlignUp(room / 8, BLOCK_BYTES);
        pipe->InitBuffer(masks_, 2 * maskBytes_);
        // Behind the end of a row lie indices of an earlier tile, or these zeros.
        LocalTensor<Index> tiles[BUFFERS];
        for (int32_t i = 0; i < BUFFERS; ++i) {
            tiles[i] = indices_.template AllocTensor<Index>();
            Duplicate(tiles[i].template ReinterpretCast<int32_t>(), 0, room * sizeof(Index) / sizeof(int32_t));
        }
        for (int32_t i = 0; i < BUFFERS; ++i) {
            indices_.FreeTensor(tiles[i]);
        }
    }

    // Key 1: whole rows of x.
    __aicore__ inline void ProcessRows()
    {
        const Share share = ShareOfThisCore(tiling_->tiles.split);
        const int32_t length = static_cast<int32_t>(tiling_->others);
        const int32_t xPitch = AlignUp(length, PITCH);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const Tile tile = TileOf(tiling_->tiles, unit, PITCH);
            LocalTensor<int32_t> offsets = LoadIndices(tile);
            LoadX(tile.row * length, tile.rows, length, xPitch);
            const int32_t n = tile.rows * tile.pitch;
            Muls(offsets, offsets, static_cast<int32_t>(sizeof(T)), n);
            PipeBarrier<PIPE_V>();
            for (int32_t row = 1; row < tile.rows; ++row) {
                LocalTensor<int32_t> own = offsets[row * tile.pitch];
                Adds(own, own, row * xPitch * static_cast<int32_t>(sizeof(T)), tile.pitch);
            }
            PipeBarrier<PIPE_V>();
            LocalTensor<T> x = x_.template DeQue<T>();
            LocalTensor<T> y = y_.template AllocTensor<T>();
            Gather(y, x, offsets.ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(n));
            PipeBarrier<PIPE_V>();
            x_.FreeTensor(x);
            Write(y, tile);
        }
    }

    // Key 2: each part of a row of x gives the elements whose indices are in it.
    __aicore__ inline void ProcessParts()
    {
        const Share share = ShareOfThisCore(tiling_->tiles.split);
        const int64_t length = tiling_->others;
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const Tile tile = TileOf(tiling_->tiles, unit, PITCH);
            LocalTensor<int32_t> indices = LoadIndices(tile);
            LocalTensor<T> y = y_.template AllocTensor<T>();
            Duplicate(y.template ReinterpretCast<int16_t>(), static_cast<int16_t>(0), tile.pitch * sizeof(T) / 2);
            PipeBarrier<PIPE_V>();
            for (int64_t start = 0; start < length; start += tiling_->tileElements) {
                const int32_t n = Least(length - start, tiling_->tileElements);
                LoadX(tile.row * length + start, 1, n, AlignUp(n, PITCH));
                TakePart(y, indices, start, n, tile.pitch);
            }
            Write(y, tile);
        }
    }

private:
    __aicore__ inline LocalTensor<int32_t> LoadIndices(const Tile &tile)
    {
        const int64_t columns = tiling_->tiles.columns;
        const int32_t n = tile.rows * tile.pitch;
        LocalTensor<Index> in = indices_.template AllocTensor<Index>();
        CopyRowsIn(in, indexGm_[tile.row * columns + tile.column], tile.rows, tile.width, tile.pitch,
                   columns - tile.width);
        indices_.EnQue(in);
        in = indices_.template DeQue<Index>();
        LocalTensor<int32_t> out = offsets_.Get<int32_t>();
        if constexpr (IsSameType<Index, int64_t>::value) {
            Cast(out, in, RoundMode::CAST_NONE, n);
        } else {
            Adds(out, in, 0, n);
        }
        PipeBarrier<PIPE_V>();
        indices_.FreeTensor(in);
        return out;
    }

    __aicore__ inline void LoadX(int64_t offset, int32_t rows, int32_t length, int32_t pitch)
    {
        LocalTensor<T> x = x_.template AllocTensor<T>();
        CopyRowsIn(x, xGm_[offset], rows, length, pitch);
        x_.EnQue(x);
    }

    __aicore__ inline void TakePart(const LocalTensor<T> &y, const LocalTensor<int32_t> &indices, int64_t start,
                                    int32_t length, int32_t n)
    {
        LocalTensor<int32_t> local = indices[tiling_->tileElements];
        LocalTensor<T> part = part_.template Get<T>();
        LocalTensor<uint8_t> mask = masks_.Get<uint8_t>();
        LocalTensor<uint8_t> below = mask[maskBytes_];
        LocalTensor<T> x = x_.template DeQue<T>();
        Adds(local, indices, static_cast<int32_t>(-start), n);
        PipeBarrier<PIPE_V>();
        Floats numbers = indices[2 * tiling_->tileElements].template ReinterpretCast<float>();
        Cast(numbers, local, RoundMode::CAST_RINT, n);  // exact up to 2^24, more than a part has
        PipeBarrier<PIPE_V>();
        CompareScalar(mask, numbers, 0.0f, CMPMODE::GE, n);
        CompareScalar(below, numbers, static_cast<float>(length), CMPMODE::LT, n);
        PipeBarrier<PIPE_V>();
        And(mask.ReinterpretCast<uint16_t>(), mask.ReinterpretCast<uint16_t>(), below.ReinterpretCast<uint16_t>(),
            n / 16);
        Maxs(local, local, 0, n);
        PipeBarrier<PIPE_V>();
        Mins(local, local, length - 1, n);
        PipeBarrier<PIPE_V>();
        Muls(local, local, static_cast<int32_t>(sizeof(T)), n);
        PipeBarrier<PIPE_V>();
        Gather(part, x, local.ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(n));
        PipeBarrier<PIPE_V>();
        Select(y, mask, part, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
        PipeBarrier<PIPE_V>();
        x_.FreeTensor(x);
    }

    __aicore__ inline void Write(LocalTensor<T> &y, const Tile &tile)
    {
        const int64_t columns = tiling_->tiles.columns;
        y_.EnQue(y);
        y = y_.template DeQue<T>();
        CopyRowsOut(yGm_[tile.row * columns + tile.column], y, tile.rows, tile.width, tile.pitch,
                    columns - tile.width);
        y_.FreeTensor(y);
    }

    GlobalTensor<T> xGm_;
    GlobalTensor<Index> indexGm_;
    GlobalTensor<T> yGm_;
    TQue<TPosition::VECIN, BUFFERS> x_;
    TQue<TPosition::VECIN, BUFFERS> indices_;
    TQue<TPosition::VECOUT, BUFFERS> y_;
    TBuf<TPosition::VECCALC> offsets_;
    TBuf<TPosition::VECCALC> part_;
    TBuf<TPosition::VECCALC> masks_;
    const GatherTilingData *tiling_ = nullptr;
    int32_t maskBytes_ = 0;
};

template <size_t SIZE>
struct Word {
    using Type = float;
};

template <>
struct Word<2> {
    using Type = half;
};

extern "C" __global__ __aicore__ void gather(GM_ADDR x, GM_ADDR indices, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(GatherTilingData);
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelGather<Word<sizeof(DTYPE_X)>::Type, DTYPE_INDICES> kernel;
    kernel.Init(x, indices, y, &tilingData, &pipe);
    if (TILING_KEY_IS(1)) {
        kernel.ProcessRows();
    } else if (TILING_KEY_IS(2)) {
        kernel.ProcessParts();
    }
}
