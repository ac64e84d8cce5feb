// dropout_backward:
// grad_x[i] = grad_y[i] / (1 - p) where u[i] >= p, else 0; u is made again from seed and offset.
// Elements 1024 i + 256 k to 1024 i + 256 k + 255 use word k of the Philox counters 256 i to 256 i + 255: words stay in
// the order in which the vector unit makes them. The upper 24 bits of a word are compared.
#include "kernel_operator.h"

#include "philox.h"
#include "row_io.h"
#include "dropout_backward_tiling.h"

using namespace AscendC;
using namespace row_ops;

template <typename T>
class KernelDropoutBackward {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const DropoutBackwardTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        counters_ = tiling->tileRuns * COUNTERS;
        const int32_t room = tiling->tileRuns * RUN;
        x_.Init(x, pipe, room);
        y_.Init(y, pipe, room);
        pipe->InitBuffer(words_, philox::TENSORS * counters_ * sizeof(int32_t));
        pipe->InitBuffer(uniform_, room * sizeof(float));
        pipe->InitBuffer(mask_, room / 8);
    }

    __aicore__ inline void Process()
    {
        const Share share = ShareOfThisCore(tiling_->split);
        for (int64_t run = share.begin; run < share.end; run += tiling_->tileRuns) {
            const int32_t runs = Least(share.end - run, tiling_->tileRuns);
            const int32_t n = Least(tiling_->elements - run * RUN, runs * RUN);
            const int32_t pitch = AlignUp(n, LANES);
            x_.Copy(run * RUN, 1, n, pitch);
            Draw(run, runs);
            Floats x = x_.Take(n);
            Floats y = y_.Begin(x);
            Muls(y, x, tiling_->scale, n);
            PipeBarrier<PIPE_V>();
            Select(y, mask_.template Get<uint8_t>(), y, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
            y_.End(y, n);
            x_.Release();
            y_.Copy(run * RUN, 1, n, pitch);
        }
    }

private:
    static constexpr int32_t RUN = 1024;
    static constexpr int32_t COUNTERS = RUN / 4;

    // The bits of mask_ say which elements of the runs are kept.
    __aicore__ inline void Draw(int64_t run, int32_t runs)
    {
        philox::Words words = words_.template Get<int32_t>();
        Floats uniform = uniform_.template Get<float>();
        int32_t order[4];
        const int32_t n = runs * COUNTERS;
        const int32_t first = static_cast<int32_t>(run * COUNTERS);
        philox::Generate(words, counters_, first, tiling_->offset, tiling_->key, n, order);
        for (int32_t k = 0; k < 4; ++k) {
            philox::Words word = words[order[k] * counters_];
            LocalTensor<uint32_t> bits = word.ReinterpretCast<uint32_t>();
            ShiftRight(bits, bits, static_cast<uint32_t>(8), n);
            PipeBarrier<PIPE_V>();
            for (int32_t i = 0; i < runs; ++i) {
                Cast(uniform[i * RUN + k * COUNTERS], word[i * COUNTERS], RoundMode::CAST_RINT, COUNTERS);
            }
        }
        PipeBarrier<PIPE_V>();
        CompareScalar(mask_.template Get<uint8_t>(), uniform, tiling_->threshold, CMPMODE::GE, runs * RUN);
        PipeBarrier<PIPE_V>();
    }

    RowsIn<T> x_;
    RowsOut<T> y_;
    TBuf<TPosition::VECCALC> words_;
    TBuf<TPosition::VECCALC> uniform_;
    TBuf<TPosition::VECCALC> mask_;
    const DropoutBackwardTilingData *tiling_ = nullptr;
    int32_t counters_ = 0;
};

extern "C" __global__ __aicore__ void dropout_backward(GM_ADDR grad_y, GM_ADDR grad_x, GM_ADDR workspace,
                                                       GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(DropoutBackwardTilingData);
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        TPipe pipe;
        KernelDropoutBackward<DTYPE_GRAD_Y> kernel;
        kernel.Init(grad_y, grad_x, &tilingData, &pipe);
        kernel.Process();
    }
}
