// cross_entropy_backward:
// grad_x[i, j] = (e^(x[i, j] - lse[i]) - (j == target[i])) * grad_loss[i], 0 where target[i] is ignore_index.
// The arithmetic is fp32; fp16 and bf16 are cast on the way in and rounded once on the way out.
#include "kernel_operator.h"

#include "row_io.h"
#include "cross_entropy_backward_tiling.h"

using namespace AscendC;
using namespace row_ops;

template <typename T>
class KernelCrossEntropyBackward {
public:
    __aicore__ inline void Init(GM_ADDR gradLoss, GM_ADDR x, GM_ADDR target, GM_ADDR lse, GM_ADDR gradX,
                                const CrossEntropyBackwardTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        const int32_t rowsUp = AlignUp(tiling->tiles.tileRows, BLOCK);  // Brcb reads 8 values at a time
        x_.Init(x, pipe, tiling->tileElements);
        lse_.Init(lse, pipe, rowsUp);
        gradLoss_.Init(gradLoss, pipe, rowsUp);
        gradX_.Init(gradX, pipe, tiling->tileElements);
        targetGm_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(target));
        pipe->InitBuffer(lseBlocks_, rowsUp * BLOCK_BYTES);
        pipe->InitBuffer(gradBlocks_, rowsUp * BLOCK_BYTES);
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->tiles.split);
        const int64_t columns = tiling_->tiles.columns;
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const Tile tile = TileOf(tiling_->tiles, unit, BLOCK_BYTES / sizeof(T));
            const int64_t offset = tile.row * columns + tile.column;
            const int32_t rowsUp = AlignUp(tile.rows, BLOCK);
            x_.Copy(offset, tile.rows, tile.width, tile.pitch, columns - tile.width);
            lse_.Copy(tile.row, 1, tile.rows, rowsUp);
            gradLoss_.Copy(tile.row, 1, tile.rows, rowsUp);
            Compute(tile);
            gradX_.Copy(offset, tile.rows, tile.width, tile.pitch, columns - tile.width);
        }
    }

private:
    __aicore__ inline void Compute(const Tile &tile)
    {
        const int32_t n = tile.rows * tile.pitch;
        Floats lse = lseBlocks_.template Get<float>();
        Floats grad = gradBlocks_.template Get<float>();
        SpreadOverBlocks(lse, lse_.Take(tile.rows), tile.rows);
        SpreadOverBlocks(grad, gradLoss_.Take(tile.rows), tile.rows);
        lse_.Release();
        gradLoss_.Release();
        Floats x = x_.Take(n);
        Floats y = gradX_.Begin(x);
        ApplyToRows<SubOp>(y, x, lse, tile.rows, tile.pitch);
        PipeBarrier<PIPE_V>();
        x_.Release();
        Exp(y, y, n);
        PipeBarrier<PIPE_V>();
        SubtractTargets(y, tile);
        PipeBarrier<PIPE_V>();
        ApplyToRows<MulOp>(y, y, grad, tile.rows, tile.pitch);
        PipeBarrier<PIPE_V>();
        ClearIgnored(y, tile);
        gradX_.End(y, n);
    }

    // Takes 1 from the element of each row's target: one instruction with one active lane, so that no value passes the
    // scalar unit. The target itself is an address, which does.
    __aicore__ inline void SubtractTargets(const Floats &y, const Tile &tile)
    {
        const UnaryRepeatParams strides(1, 1, BLOCK, BLOCK);
        for (int32_t row = 0; row < tile.rows; ++row) {
            const int64_t at = targetGm_.GetValue(tile.row + row) - tile.column;
            if (at >= 0 && at < tile.width) {
                const int32_t block = static_cast<int32_t>(at) / BLOCK * BLOCK;
                uint64_t lane[2] = {1ULL << (at - block), 0};
                Adds(y[row * tile.pitch + block], y[row * tile.pitch + block], -1.0f, lane, 1, strides);
            }
        }
    }

    __aicore__ inline void ClearIgnored(const Floats &y, const Tile &tile)
    {
        for (int32_t row = 0; row < tile.rows; ++row) {
            if (targetGm_.GetValue(tile.row + row) == tiling_->ignoreIndex) {
                Duplicate(y[row * tile.pitch], 0.0f, tile.pitch);
            }
        }
    }

    RowsIn<T> x_;
    RowsIn<float> lse_;
    RowsIn<float> gradLoss_;
    RowsOut<T> gradX_;
    GlobalTensor<int64_t> targetGm_;
    TBuf<TPosition::VECCALC> lseBlocks_;
    TBuf<TPosition::VECCALC> gradBlocks_;
    const CrossEntropyBackwardTilingData *tiling_ = nullptr;
};

extern "C" __global__ __aicore__ void cross_entropy_backward(GM_ADDR grad_loss, GM_ADDR x, GM_ADDR target, GM_ADDR lse,
                                                             GM_ADDR grad_x, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(CrossEntropyBackwardTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    // Key 1 (rows) and key 2 (split) differ in the tiles only.
    if (TILING_KEY_IS(1) || TILING_KEY_IS(2)) {
        TPipe pipe;
        KernelCrossEntropyBackward<DTYPE_X> kernel;
        kernel.Init(grad_loss, x, target, lse, grad_x, &tilingData, &pipe);
        kernel.Process();
    }
}
