// add:
// y = x1 + x2.
// The arithmetic of fp16 and bf16 is fp32, rounded once on the way out; fp32 and int32 compute as themselves.
#include "kernel_operator.h"

#include "add_tiling.h"

using namespace AscendC;

constexpr int32_t BUFFERS = 2;       // double buffering: a tile is copied while another one is computed
constexpr int32_t LANES = 64;        // elements of one vector repeat (256 bytes) when they have 4 bytes
constexpr int32_t BLOCK = 8;         // 4-byte elements of one block (32 bytes)
constexpr int32_t MAX_REPEAT = 255;  // repeats of one instruction

template <typename T>
struct ComputeType {
    using Type = float;
};
template <>
struct ComputeType<int32_t> {
    using Type = int32_t;
};
constexpr int32_t BLOCK_BYTES = 32;

template <typename T>
class KernelAdd {
public:
    using C = typename ComputeType<T>::Type;

    __aicore__ inline void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, const AddTilingData *tiling,
                                bool expands, TPipe *pipe)
    {
        const int64_t core = GetBlockIdx();
        const int64_t former = tiling->formerCores;
        const bool isFormer = core < former;
        begin_ = isFormer ? core * tiling->formerUnits
                          : former * tiling->formerUnits + (core - former) * tiling->tailUnits;
        end_ = begin_ + (isFormer ? tiling->formerUnits : tiling->tailUnits);
        end_ = end_ < tiling->units ? end_ : tiling->units;
        tiling_ = tiling;
        const int32_t tile = tiling->tileLength;
        firstGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x1));
        secondGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x2));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
        pipe->InitBuffer(firstQueue_, BUFFERS, tile * sizeof(T));
        pipe->InitBuffer(secondQueue_, BUFFERS, tile * sizeof(T));
        pipe->InitBuffer(yQueue_, BUFFERS, tile * sizeof(T));
        if (expands || !DIRECT) {
            pipe->InitBuffer(first_, tile * sizeof(C));
            pipe->InitBuffer(second_, tile * sizeof(C));
        }
        if constexpr (!DIRECT) {
            pipe->InitBuffer(result_, tile * sizeof(C));
        }
        if (expands) {
            pipe->InitBuffer(blocks_, tile * sizeof(C));
            if constexpr (!DIRECT) {
                pipe->InitBuffer(source_, tile * sizeof(C));
            }
        }
    }

    // One row of elements; an input that is a single element is spread over a tile once.
    __aicore__ inline void ProcessFlat()
    {
        if (begin_ >= end_) {
            return;
        }
        const int32_t tile = tiling_->tileLength;
        LocalTensor<C> firstScalar;
        LocalTensor<C> secondScalar;
        if (tiling_->firstIsScalar) {
            firstScalar = SpreadScalar(firstQueue_, firstGm_, first_);
        }
        if (tiling_->secondIsScalar) {
            secondScalar = SpreadScalar(secondQueue_, secondGm_, second_);
        }
        for (int64_t offset = begin_; offset < end_; offset += tile) {
            const int32_t n = end_ - offset < tile ? static_cast<int32_t>(end_ - offset) : tile;
            if (!tiling_->firstIsScalar) {
                CopyIn(firstQueue_, firstGm_[offset], 1, n);
            }
            if (!tiling_->secondIsScalar) {
                CopyIn(secondQueue_, secondGm_[offset], 1, n);
            }
            LocalTensor<T> firstIn;
            LocalTensor<T> secondIn;
            LocalTensor<C> a = firstScalar;
            LocalTensor<C> b = secondScalar;
            if (!tiling_->firstIsScalar) {
                firstIn = firstQueue_.template DeQue<T>();
                a = ToCompute(firstIn, first_, n);
            }
            if (!tiling_->secondIsScalar) {
                secondIn = secondQueue_.template DeQue<T>();
                b = ToCompute(secondIn, second_, n);
            }
            Compute(a, b, n);
            if (!tiling_->firstIsScalar) {
                firstQueue_.FreeTensor(firstIn);
            }
            if (!tiling_->secondIsScalar) {
                secondQueue_.FreeTensor(secondIn);
            }
            CopyOut(yGm_[offset], 1, n);
        }
    }

    // Tiles of rows x columns; an input that is broadcast along one of the two is read once per tile and spread in UB.
    __aicore__ inline void ProcessGeneral()
    {
        const int64_t columnTiles = (tiling_->columns + tiling_->tileColumns - 1) / tiling_->tileColumns;
        const int64_t rowTiles = (tiling_->rows + tiling_->tileRows - 1) / tiling_->tileRows;
        for (int64_t unit = begin_; unit < end_; ++unit) {
            const int64_t column = unit % columnTiles * tiling_->tileColumns;
            const int64_t row = unit / columnTiles % rowTiles * tiling_->tileRows;
            int64_t outer = unit / columnTiles / rowTiles;
            int64_t first = row * tiling_->first.row + column * tiling_->first.column;
            int64_t second = row * tiling_->second.row + column * tiling_->second.column;
            const int64_t target = (outer * tiling_->rows + row) * tiling_->columns + column;
            for (int32_t i = ADD_OUTER_DIMS - 1; i >= 0; --i) {
                first += outer % tiling_->outer[i] * tiling_->first.outer[i];
                second += outer % tiling_->outer[i] * tiling_->second.outer[i];
                outer /= tiling_->outer[i];
            }
            const int64_t rowsLeft = tiling_->rows - row;
            const int64_t columnsLeft = tiling_->columns - column;
            rows_ = rowsLeft < tiling_->tileRows ? static_cast<int32_t>(rowsLeft) : tiling_->tileRows;
            columns_ = columnsLeft < tiling_->tileColumns ? static_cast<int32_t>(columnsLeft) : tiling_->tileColumns;
            ProcessTile(first, second, target);
        }
    }

private:
    static constexpr bool DIRECT = IsSameType<T, C>::value;  // the tensors in the queues need no cast
    static constexpr int32_t BLOCK_LENGTH = BLOCK_BYTES / sizeof(T);
    using InQueue = TQue<TPosition::VECIN, BUFFERS>;

    __aicore__ inline void ProcessTile(int64_t first, int64_t second, int64_t target)
    {
        // Rows lie in UB padded to whole blocks.
        const int32_t pitch = (columns_ + BLOCK_LENGTH - 1) / BLOCK_LENGTH * BLOCK_LENGTH;
        CopyInOperand(firstQueue_, firstGm_[first], tiling_->first);
        CopyInOperand(secondQueue_, secondGm_[second], tiling_->second);
        LocalTensor<T> firstIn = firstQueue_.template DeQue<T>();
        LocalTensor<T> secondIn = secondQueue_.template DeQue<T>();
        LocalTensor<C> a = Spread(firstIn, first_, tiling_->first, pitch);
        LocalTensor<C> b = Spread(secondIn, second_, tiling_->second, pitch);
        Compute(a, b, rows_ * pitch);
        firstQueue_.FreeTensor(firstIn);
        secondQueue_.FreeTensor(secondIn);
        CopyOut(yGm_[target], rows_, columns_);
    }

    __aicore__ inline void CopyInOperand(InQueue &queue, const GlobalTensor<T> &from, const AddOperand &operand)
    {
        if (operand.row == 0) {
            CopyIn(queue, from, 1, columns_);
        } else if (operand.column == 0) {
            CopyIn(queue, from, 1, rows_);
        } else {
            CopyIn(queue, from, rows_, columns_);
        }
    }

    // Rows follow each other in GM: a tile of several rows always has whole rows.
    __aicore__ inline void CopyIn(InQueue &queue, const GlobalTensor<T> &from, int32_t rows, int32_t length)
    {
        LocalTensor<T> to = queue.template AllocTensor<T>();
        DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        pad.isPad = true;  // zeros up to the next 32 bytes
        pad.rightPadding = static_cast<uint8_t>((BLOCK_LENGTH - length % BLOCK_LENGTH) % BLOCK_LENGTH);
        DataCopyPad(to, from, copy, pad);
        queue.EnQue(to);
    }

    __aicore__ inline LocalTensor<C> ToCompute(const LocalTensor<T> &in, TBuf<TPosition::VECCALC> &buffer, int32_t n)
    {
        if constexpr (DIRECT) {
            return in;
        } else {
            LocalTensor<C> out = buffer.template Get<C>();
            Cast(out, in, RoundMode::CAST_NONE, n);
            PipeBarrier<PIPE_V>();
            return out;
        }
    }

    __aicore__ inline LocalTensor<C> SpreadScalar(InQueue &queue, const GlobalTensor<T> &from,
                                                  TBuf<TPosition::VECCALC> &buffer)
    {
        CopyIn(queue, from, 1, 1);
        LocalTensor<T> in = queue.template DeQue<T>();
        LocalTensor<C> source = ToCompute(in, source_, BLOCK);
        LocalTensor<C> blocks = blocks_.template Get<C>();
        LocalTensor<C> out = buffer.template Get<C>();
        Brcb(blocks, source, 1, {1, BLOCK});
        PipeBarrier<PIPE_V>();
        SpreadRow(out, blocks, 0, tiling_->tileLength);
        PipeBarrier<PIPE_V>();
        queue.FreeTensor(in);
        return out;
    }

    // The whole tile of an input: as it is, or with its row or its column repeated.
    __aicore__ inline LocalTensor<C> Spread(const LocalTensor<T> &in, TBuf<TPosition::VECCALC> &buffer,
                                            const AddOperand &operand, int32_t pitch)
    {
        if (operand.row != 0 && operand.column != 0) {
            return ToCompute(in, buffer, rows_ * pitch);
        }
        LocalTensor<C> out = buffer.template Get<C>();
        if (operand.row == 0) {
            SpreadRows(out, ToCompute(in, source_, pitch), 1, 0, pitch);
        } else {
            LocalTensor<C> source = ToCompute(in, source_, (rows_ + BLOCK - 1) / BLOCK * BLOCK);
            LocalTensor<C> blocks = blocks_.template Get<C>();
            Brcb(blocks, source, static_cast<uint8_t>((rows_ + BLOCK - 1) / BLOCK), {1, BLOCK});
            PipeBarrier<PIPE_V>();
            SpreadRows(out, blocks, 0, 1, pitch);
        }
        PipeBarrier<PIPE_V>();
        return out;
    }

    // out[r][c] = src[r * rowStride blocks + c * blockStride]: one instruction per 64 columns or per row, whichever
    // needs fewer.
    __aicore__ inline void SpreadRows(const LocalTensor<C> &out, const LocalTensor<C> &src, uint16_t blockStride,
                                      uint16_t rowStride, int32_t pitch)
    {
        if (rows_ * LANES < pitch) {
            for (int32_t row = 0; row < rows_; ++row) {
                SpreadRow(out[row * pitch], src[row * rowStride * BLOCK], blockStride, pitch);
            }
            return;
        }
        const CopyRepeatParams strides{1, blockStride, static_cast<uint16_t>(pitch / BLOCK), rowStride};
        for (int32_t column = 0; column < pitch; column += LANES) {
            const uint64_t lanes = pitch - column < LANES ? pitch - column : LANES;
            for (int32_t row = 0; row < rows_; row += MAX_REPEAT) {
                const uint8_t repeat = rows_ - row < MAX_REPEAT ? rows_ - row : MAX_REPEAT;
                const int32_t from = row * rowStride * BLOCK + column * blockStride;
                Copy(out[row * pitch + column], src[from], lanes, repeat, strides);
            }
        }
    }

    __aicore__ inline void SpreadRow(const LocalTensor<C> &out, const LocalTensor<C> &src, uint16_t blockStride,
                                     int32_t length)
    {
        const CopyRepeatParams strides{1, blockStride, BLOCK, static_cast<uint16_t>(blockStride * BLOCK)};
        const int32_t repeats = length / LANES;
        for (int32_t done = 0; done < repeats; done += MAX_REPEAT) {
            const uint8_t repeat = repeats - done < MAX_REPEAT ? repeats - done : MAX_REPEAT;
            Copy(out[done * LANES], src[done * LANES * blockStride], static_cast<uint64_t>(LANES), repeat, strides);
        }
        if (length % LANES != 0) {
            const int32_t done = repeats * LANES;
            Copy(out[done], src[done * blockStride], static_cast<uint64_t>(length % LANES), 1, strides);
        }
    }

    __aicore__ inline void Compute(const LocalTensor<C> &a, const LocalTensor<C> &b, int32_t n)
    {
        LocalTensor<T> out = yQueue_.template AllocTensor<T>();
        if constexpr (DIRECT) {
            Apply(out, a, b, n);
        } else {
            LocalTensor<C> y = result_.template Get<C>();
            Apply(y, a, b, n);
            PipeBarrier<PIPE_V>();
            Cast(out, y, RoundMode::CAST_RINT, n);
        }
        yQueue_.EnQue(out);
        PipeBarrier<PIPE_V>();  // the next tile overwrites what the last instructions read
    }

    __aicore__ inline void Apply(const LocalTensor<C> &y, const LocalTensor<C> &a, const LocalTensor<C> &b, int32_t n)
    {
        Add(y, a, b, n);
    }

    __aicore__ inline void CopyOut(const GlobalTensor<T> &to, int32_t rows, int32_t length)
    {
        LocalTensor<T> y = yQueue_.template DeQue<T>();
        DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(T)), 0, 0, 0};
        DataCopyPad(to, y, copy);
        yQueue_.FreeTensor(y);
    }

    GlobalTensor<T> firstGm_;
    GlobalTensor<T> secondGm_;
    GlobalTensor<T> yGm_;
    InQueue firstQueue_;
    InQueue secondQueue_;
    TQue<TPosition::VECOUT, BUFFERS> yQueue_;
    TBuf<TPosition::VECCALC> first_;   // the inputs as they are computed with: cast, spread, or both
    TBuf<TPosition::VECCALC> second_;
    TBuf<TPosition::VECCALC> result_;
    TBuf<TPosition::VECCALC> source_;  // the row or column to be spread, cast
    TBuf<TPosition::VECCALC> blocks_;  // a column with each element repeated over one block
    const AddTilingData *tiling_ = nullptr;
    int64_t begin_ = 0;  // work items of this core
    int64_t end_ = 0;
    int32_t rows_ = 0;   // of the current tile
    int32_t columns_ = 0;
};

extern "C" __global__ __aicore__ void add(
    GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(AddTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    TPipe pipe;
    KernelAdd<DTYPE_X1> kernel;
    if (TILING_KEY_IS(1)) {
        const bool expands = tilingData.firstIsScalar || tilingData.secondIsScalar;
        kernel.Init(x1, x2, y, &tilingData, expands, &pipe);
        kernel.ProcessFlat();
    } else if (TILING_KEY_IS(2)) {
        kernel.Init(x1, x2, y, &tilingData, true, &pipe);
        kernel.ProcessGeneral();
    }
}
