// Row-wise kernels for tools/bench_twin.py: with the advanced API, and layer normalisation from basic instructions.
// columns is a multiple of 64; rows are dealt to the blocks in tiles.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFERS = 2;
constexpr float EPSILON = 1e-5f;
using T = DTYPE_X;

// One tile of rows in, one out; Compute is the derived class's.
template <typename Derived>
class Rows {
public:
    __aicore__ inline void Run(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, int32_t rows, int32_t columns, int32_t tileRows)
    {
        columns_ = columns;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x), static_cast<uint64_t>(rows) * columns);
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y), static_cast<uint64_t>(rows) * columns);
        pipe_.InitBuffer(in_, BUFFERS, tileRows * columns * sizeof(T));
        pipe_.InitBuffer(out_, BUFFERS, tileRows * columns * sizeof(T));
        pipe_.InitBuffer(weights_, 2 * columns * sizeof(T));
        pipe_.InitBuffer(statistics_, 2 * 64 * sizeof(float));
        if (gamma != nullptr) {
            LoadWeights(gamma, beta);
        }
        for (int32_t row = GetBlockIdx() * tileRows; row < rows; row += GetBlockNum() * tileRows) {
            const int32_t n = rows - row < tileRows ? rows - row : tileRows;
            const uint64_t at = static_cast<uint64_t>(row) * columns;
            LocalTensor<T> in = in_.template AllocTensor<T>();
            DataCopy(in, xGm_[at], n * columns);
            in_.EnQue(in);
            in = in_.template DeQue<T>();
            LocalTensor<T> out = out_.template AllocTensor<T>();
            static_cast<Derived *>(this)->Compute(out, in, n);
            out_.EnQue(out);
            in_.FreeTensor(in);
            out = out_.template DeQue<T>();
            DataCopy(yGm_[at], out, n * columns);
            out_.FreeTensor(out);
        }
    }

protected:
    __aicore__ inline void LoadWeights(GM_ADDR gamma, GM_ADDR beta)
    {
        GlobalTensor<T> gm;
        LocalTensor<T> weights = weights_.template Get<T>();
        gm.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(gamma), columns_);
        DataCopy(weights, gm, columns_);
        gm.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(beta), columns_);
        DataCopy(weights[columns_], gm, columns_);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    }

    TPipe pipe_;
    GlobalTensor<T> xGm_, yGm_;
    TQue<TPosition::VECIN, BUFFERS> in_;
    TQue<TPosition::VECOUT, BUFFERS> out_;
    TBuf<TPosition::VECCALC> weights_, statistics_;
    int32_t columns_ = 0;
};

class SoftMaxRows : public Rows<SoftMaxRows> {
public:
    __aicore__ inline void Compute(const LocalTensor<T> &y, const LocalTensor<T> &x, int32_t n)
    {
        SoftMaxTiling tiling;
        const auto rows = static_cast<uint32_t>(n), columns = static_cast<uint32_t>(columns_);
        const SoftMaxShapeInfo shape{rows, columns, rows, columns};
        SoftMax<T>(y, x, tiling, shape);
    }
};

class LayerNormRows : public Rows<LayerNormRows> {
public:
    __aicore__ inline void Compute(const LocalTensor<T> &y, const LocalTensor<T> &x, int32_t n)
    {
        LayerNormTiling tiling;
        tiling.bLength = 1;
        tiling.sLength = n;
        tiling.hLength = columns_;
        tiling.originalHLength = columns_;
        LocalTensor<T> weights = weights_.Get<T>(), statistics = statistics_.Get<T>();
        LayerNorm<T>(y, statistics, statistics[64], x, weights, weights[columns_], static_cast<T>(EPSILON), tiling);
    }
};

// One row at a time, the mean and the variance through the scalar unit.
class LayerNormBasic : public Rows<LayerNormBasic> {
public:
    __aicore__ inline void Compute(const LocalTensor<T> &out, const LocalTensor<T> &in, int32_t n)
    {
        LocalTensor<T> weights = weights_.Get<T>(), sum = statistics_.Get<T>();
        const T scale = static_cast<T>(1.0f / columns_);
        for (int32_t row = 0; row < n; ++row) {
            LocalTensor<T> x = in[row * columns_], y = out[row * columns_];
            ReduceSum<T>(sum, x, y, columns_);
            const T mean = static_cast<T>(static_cast<float>(sum.GetValue(0)) * static_cast<float>(scale));
            Adds(x, x, static_cast<T>(-static_cast<float>(mean)), columns_);
            Mul(y, x, x, columns_);
            ReduceSum<T>(sum, y, y, columns_);
            const float variance = static_cast<float>(sum.GetValue(0)) * static_cast<float>(scale);
            Muls(x, x, static_cast<T>(1.0f / sqrtf(variance + EPSILON)), columns_);
            Mul(y, x, weights, columns_);
            Add(y, y, weights[columns_], columns_);
        }
    }
};

extern "C" __global__ __aicore__ void soft_max(GM_ADDR x, GM_ADDR y, int32_t rows, int32_t columns, int32_t tileRows)
{
    SoftMaxRows().Run(x, nullptr, nullptr, y, rows, columns, tileRows);
}

extern "C" __global__ __aicore__ void layer_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, int32_t rows, int32_t columns,
                                                 int32_t tileRows)
{
    LayerNormRows().Run(x, gamma, beta, y, rows, columns, tileRows);
}

extern "C" __global__ __aicore__ void layer_norm_basic(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, int32_t rows,
                                                       int32_t columns, int32_t tileRows)
{
    LayerNormBasic().Run(x, gamma, beta, y, rows, columns, tileRows);
}
