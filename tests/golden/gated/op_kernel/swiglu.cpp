// swiglu:
// y = a / (1 + e^-a) * b, a and b the first and the second half of each row of x.
// The arithmetic is fp32; fp16 and bf16 are cast on the way in and rounded once on the way out.
#include "kernel_operator.h"

#include "gates.h"
#include "row_io.h"
#include "swiglu_tiling.h"

using namespace AscendC;
using namespace row_ops;

using Gate = gates::Silu;

template <typename T>
class KernelSwiglu {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SwigluTilingData *tiling, TPipe *pipe)
    {
        tiles_ = &tiling->tiles;
        room_ = tiling->tileElements;
        gate_.Init(x, pipe, room_);
        linear_.Init(x, pipe, room_);
        y_.Init(y, pipe, room_);
        pipe->InitBuffer(temps_, 2 * room_ * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiles_->split);
        const int64_t half = tiles_->columns;
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const Tile tile = TileOf(*tiles_, unit, BLOCK_BYTES / sizeof(T));
            const int64_t from = tile.row * 2 * half + tile.column;
            gate_.Copy(from, tile.rows, tile.width, tile.pitch, 2 * half - tile.width);
            linear_.Copy(from + half, tile.rows, tile.width, tile.pitch, 2 * half - tile.width);
            Compute(tile.rows * tile.pitch);
            y_.Copy(tile.row * half + tile.column, tile.rows, tile.width, tile.pitch, half - tile.width);
        }
    }

private:
    __aicore__ inline void Compute(int32_t n)
    {
        Floats gate = gate_.Take(n);
        Floats linear = linear_.Take(n);
        Floats y = y_.Begin(gate);
        Floats temps = temps_.template Get<float>();
        Gate::Value(temps, LocalTensor<uint8_t>(), gate, room_, n);
        Mul(y, temps[Gate::VALUE * room_], linear, n);
        y_.End(y, n);
        gate_.Release();
        linear_.Release();
    }

    RowsIn<T> gate_;
    RowsIn<T> linear_;
    RowsOut<T> y_;
    TBuf<TPosition::VECCALC> temps_;
    const RowTiles *tiles_ = nullptr;
    int32_t room_ = 0;
};

extern "C" __global__ __aicore__ void swiglu(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(SwigluTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    // Key 1 (rows) and key 2 (split) differ in the tiles only.
    if (TILING_KEY_IS(1) || TILING_KEY_IS(2)) {
        TPipe pipe;
        KernelSwiglu<DTYPE_X> kernel;
        kernel.Init(x, y, &tilingData, &pipe);
        kernel.Process();
    }
}
