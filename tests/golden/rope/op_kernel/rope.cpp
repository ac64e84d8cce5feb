// rope:
// y = x * cos + rotated(x) * sin; rotated(a, b) = (-b, a) for the halves of a head, or for neighbours.
// The arithmetic is fp32; fp16 and bf16 are cast on the way in and rounded once on the way out.
#include "kernel_operator.h"

#include "row_io.h"
#include "rope_rotation.h"
#include "rope_tiling.h"

using namespace AscendC;

template <typename T, typename Rotation>
class KernelRope {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR cos, GM_ADDR sin, GM_ADDR y, const RopeTilingData *tiling,
                                TPipe *pipe)
    {
        tiling_ = tiling;
        parts_ = tiling->parts;
        rowPitch_ = tiling->parts * tiling->pitch;
        const int32_t angles = tiling->tilePositions * rowPitch_;
        const int32_t elements = angles * tiling->tileHeads;
        x_.Init(x, pipe, elements);
        cos_.Init(cos, pipe, angles);
        sin_.Init(sin, pipe, angles);
        y_.Init(y, pipe, elements);
        pipe->InitBuffer(rotated_, elements * sizeof(float));
        rotation_.Init(tiling, pipe);
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        const int64_t headTiles = (tiling_->heads + tiling_->tileHeads - 1) / tiling_->tileHeads;
        int64_t loaded = -1;
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            const int64_t batch = unit % tiling_->batch;
            const int64_t tile = unit / tiling_->batch;
            const int64_t head = tile % headTiles * tiling_->tileHeads;
            const int64_t position = tile / headTiles * tiling_->tilePositions;
            const int32_t heads = Least(tiling_->heads - head, tiling_->tileHeads);
            const int32_t positions = Least(tiling_->positions - position, tiling_->tilePositions);
            const int64_t row = (batch * tiling_->positions + position) * tiling_->heads + head;
            const int32_t copied = positions * heads * parts_;
            x_.Copy(row * parts_ * tiling_->width, copied, tiling_->width, tiling_->pitch);
            if (position != loaded) {
                LoadAngles(position, positions, loaded >= 0);
                loaded = position;
            }
            Compute(positions, heads);
            y_.Copy(row * parts_ * tiling_->width, copied, tiling_->width, tiling_->pitch);
        }
        if (loaded >= 0) {
            cos_.Release();
            sin_.Release();
        }
    }

private:
    __aicore__ inline void LoadAngles(int64_t position, int32_t positions, bool again)
    {
        if (again) {
            cos_.Release();
            sin_.Release();
        }
        const int64_t offset = position * parts_ * tiling_->width;
        cos_.Copy(offset, positions * parts_, tiling_->width, tiling_->pitch);
        sin_.Copy(offset, positions * parts_, tiling_->width, tiling_->pitch);
        cosine_ = cos_.Take(positions * rowPitch_);
        sine_ = sin_.Take(positions * rowPitch_);
        rotation_.Sign(sine_, rotated_.template Get<float>(), positions);
    }

    __aicore__ inline void Compute(int32_t positions, int32_t heads)
    {
        const int32_t n = positions * heads * rowPitch_;
        Floats x = x_.Take(n);
        Floats rotated = rotated_.template Get<float>();
        rotation_.Rotate(rotated, x, sine_, positions, heads);
        PipeBarrier<PIPE_V>();
        Floats y = y_.Begin(x);
        MulByPosition(y, x, cosine_, positions, heads, rowPitch_, rowPitch_);
        PipeBarrier<PIPE_V>();
        Add(y, y, rotated, n);
        y_.End(y, n);
        x_.Release();
    }

    RowsIn<T> x_;
    RowsIn<T> cos_;
    RowsIn<T> sin_;
    RowsOut<T> y_;
    Rotation rotation_;
    TBuf<TPosition::VECCALC> rotated_;
    Floats cosine_;  // of the positions of the tile
    Floats sine_;
    const RopeTilingData *tiling_ = nullptr;
    int32_t parts_ = 0;
    int32_t rowPitch_ = 0;
};

extern "C" __global__ __aicore__ void rope(GM_ADDR x, GM_ADDR cos, GM_ADDR sin, GM_ADDR y, GM_ADDR workspace,
                                           GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(RopeTilingData);
    GET_TILING_DATA(tilingData, tiling);
    (void)workspace;
    TPipe pipe;
    if (TILING_KEY_IS(1)) {
        KernelRope<DTYPE_X, RopeHalves> kernel;
        kernel.Init(x, cos, sin, y, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        KernelRope<DTYPE_X, RopeNeighbours> kernel;
        kernel.Init(x, cos, sin, y, &tilingData, &pipe);
        kernel.Process();
    }
}
