// swiglu_backward:
// grad_x = (grad_y * b * s * (1 + a * (1 - s)), grad_y * a * s), s = 1 / (1 + e^-a).
// The arithmetic is fp32; fp16 and bf16 are cast on the way in and rounded once on the way out. The value and the slope
// of the activation are computed again from x: reading them back would cost more than they do.
#include "kernel_operator.h"

#include "gates.h"
#include "row_io.h"
#include "swiglu_backward_tiling.h"

using namespace AscendC;
using namespace row_ops;

using Gate = gates::Silu;

template <typename T>
class KernelSwigluBackward {
public:
    __aicore__ inline void Init(GM_ADDR gradY, GM_ADDR x, GM_ADDR gradX, const SwigluBackwardTilingData *tiling,
                                TPipe *pipe)
    {
        tiles_ = &tiling->tiles;
        room_ = tiling->tileElements;
        grad_.Init(gradY, pipe, room_);
        gate_.Init(x, pipe, room_);
        linear_.Init(x, pipe, room_);
        gradGate_.Init(gradX, pipe, room_);
        gradLinear_.Init(gradX, pipe, room_);
        pipe->InitBuffer(temps_, 3 * room_ * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiles_->split);
        const int64_t half = tiles_->columns;
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const Tile tile = TileOf(*tiles_, unit, BLOCK_BYTES / sizeof(T));
            const int64_t gap = 2 * half - tile.width;
            const int64_t from = tile.row * 2 * half + tile.column;
            gate_.Copy(from, tile.rows, tile.width, tile.pitch, gap);
            grad_.Copy(tile.row * half + tile.column, tile.rows, tile.width, tile.pitch, half - tile.width);
            linear_.Copy(from + half, tile.rows, tile.width, tile.pitch, gap);
            Compute(tile.rows * tile.pitch);
            gradGate_.Copy(from, tile.rows, tile.width, tile.pitch, gap);
            gradLinear_.Copy(from + half, tile.rows, tile.width, tile.pitch, gap);
        }
    }

private:
    __aicore__ inline void Compute(int32_t n)
    {
        Floats gate = gate_.Take(n);
        Floats temps = temps_.template Get<float>();
        Gate::Both(temps, LocalTensor<uint8_t>(), gate, room_, n);
        Floats grad = grad_.Take(n);
        Floats linear = linear_.Take(n);
        Floats gradGate = gradGate_.Begin(gate);
        Mul(gradGate, grad, linear, n);
        PipeBarrier<PIPE_V>();
        Mul(gradGate, gradGate, temps[Gate::SLOPE * room_], n);
        gradGate_.End(gradGate, n);
        Floats gradLinear = gradLinear_.Begin(linear);
        Mul(gradLinear, grad, temps[Gate::VALUE * room_], n);
        gradLinear_.End(gradLinear, n);
        gate_.Release();
        grad_.Release();
        linear_.Release();
    }

    RowsIn<T> grad_;
    RowsIn<T> gate_;
    RowsIn<T> linear_;
    RowsOut<T> gradGate_;
    RowsOut<T> gradLinear_;
    TBuf<TPosition::VECCALC> temps_;
    const RowTiles *tiles_ = nullptr;
    int32_t room_ = 0;
};

extern "C" __global__ __aicore__ void swiglu_backward(GM_ADDR grad_y, GM_ADDR x, GM_ADDR grad_x, GM_ADDR workspace,
                                                      GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(SwigluBackwardTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    // Key 1 (rows) and key 2 (split) differ in the tiles only.
    if (TILING_KEY_IS(1) || TILING_KEY_IS(2)) {
        TPipe pipe;
        KernelSwigluBackward<DTYPE_GRAD_Y> kernel;
        kernel.Init(grad_y, x, grad_x, &tilingData, &pipe);
        kernel.Process();
    }
}
