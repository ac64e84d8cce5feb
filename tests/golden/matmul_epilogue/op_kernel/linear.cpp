// linear:
// y = x @ weight^T + bias.
// The product is summed in fp32 on the cube core. Its blocks come to UB as fp32, where the vector core adds the bias
// to them; they are rounded once on the way out.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

#include "row_ops.h"
#include "linear_tiling.h"

using namespace AscendC;
using namespace row_ops;

constexpr int32_t BUFFERS = 2;  // double buffering: a slice is copied while another one is computed
constexpr int32_t BLOCK_BYTES = 32;

template <typename T>
class KernelLinear {
public:
    using Left = MatmulType<TPosition::GM, CubeFormat::ND, T>;
    using Right = MatmulType<TPosition::GM, CubeFormat::ND, T, true>;  // a row of the weight is a column of the product
    using Sums = MatmulType<TPosition::VECIN, CubeFormat::ND, float>;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y, const LinearTilingData *tiling,
                                TPipe *pipe)
    {
        tiling_ = tiling;
        baseM_ = tiling->cube.baseM;
        baseN_ = tiling->cube.baseN;
        slice_ = tiling->sliceRows * baseN_;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        weightGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(weight));
        biasGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(bias));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
        pipe->InitBuffer(sums_, 1, baseM_ * baseN_ * sizeof(float));
        pipe->InitBuffer(biasQueue_, 1, baseN_ * sizeof(T));
        pipe->InitBuffer(biasWide_, baseN_ * sizeof(float));
        pipe->InitBuffer(yQueue_, BUFFERS, slice_ * sizeof(T));
    }

    // The part of this vector core, block by block, in the order in which they are computed: rows first.
    __aicore__ inline void Process()
    {
        const TCubeTiling &cube = tiling_->cube;
        const int32_t unit = static_cast<int32_t>(GetBlockIdx());
        if (unit < tiling_->units) {
            row_ = static_cast<int64_t>(unit % tiling_->rows) * cube.singleCoreM;
            column_ = static_cast<int64_t>(unit / tiling_->rows) * cube.singleCoreN;
            const int32_t m = Least(cube.M - row_, cube.singleCoreM);
            const int32_t n = Least(cube.N - column_, cube.singleCoreN);
            if (tiling_->depth > 0) {
                matmul.SetTensorA(xGm_[row_ * cube.Ka]);
                matmul.SetTensorB(weightGm_[column_ * cube.Ka], true);
                matmul.SetTail(m, n, cube.singleCoreK);
            }
            for (int32_t column = 0; column < n; column += baseN_) {
                LoadBias(column_ + column, Least(n - column, baseN_));
                for (int32_t row = 0; row < m; row += baseM_) {
                    Finish(row_ + row, column_ + column, Least(m - row, baseM_), Least(n - column, baseN_));
                }
            }
        }
        matmul.End();
    }

    Matmul<Left, Right, Sums> matmul;  // REGIST_MATMUL_OBJ connects it to the cube core

private:
    __aicore__ inline void LoadBias(int64_t column, int32_t width)
    {
        LocalTensor<T> bias = biasQueue_.template AllocTensor<T>();
        const int32_t padded = AlignUp(width, BLOCK_BYTES / sizeof(T));
        const DataCopyExtParams copy{1, static_cast<uint32_t>(width * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        pad.isPad = true;
        pad.rightPadding = static_cast<uint8_t>(padded - width);
        DataCopyPad(bias, biasGm_[column], copy, pad);
        biasQueue_.EnQue(bias);
        bias = biasQueue_.template DeQue<T>();
        Floats wide = biasWide_.template Get<float>();
        PipeBarrier<PIPE_V>();  // the last blocks still read it
        if constexpr (IsSameType<T, float>::value) {
            Muls(wide, bias, 1.0f, padded);
        } else {
            Cast(wide, bias, RoundMode::CAST_NONE, padded);
        }
        PipeBarrier<PIPE_V>();
        biasQueue_.FreeTensor(bias);
    }

    __aicore__ inline void Finish(int64_t row, int64_t column, int32_t rows, int32_t width)
    {
        Floats sums = sums_.template AllocTensor<float>();
        if (tiling_->depth > 0) {
            matmul.Iterate();
            matmul.GetTensorC(sums, 0, true);  // its rows are baseN apart
            sums_.EnQue(sums);
            sums = sums_.template DeQue<float>();
        } else {
            Duplicate(sums, 0.0f, baseM_ * baseN_);
            PipeBarrier<PIPE_V>();
        }
        const int32_t padded = AlignUp(width, BLOCK);  // the elements up to here are in UB, whatever they are
        ApplyRowToRows<SumOp>(sums, sums, biasWide_.template Get<float>(), rows, padded, baseN_);
        PipeBarrier<PIPE_V>();
        for (int32_t done = 0; done < rows; done += tiling_->sliceRows) {
            const int32_t some = Least(rows - done, tiling_->sliceRows);
            Write(row + done, column, sums[done * baseN_], some, width);
        }
        sums_.FreeTensor(sums);
    }

    __aicore__ inline void Write(int64_t row, int64_t column, const Floats &sums, int32_t rows, int32_t width)
    {
        const int32_t n = rows * baseN_;
        LocalTensor<T> y = yQueue_.template AllocTensor<T>();
        Floats result = sums;
        if constexpr (IsSameType<T, float>::value) {
            Muls(y, result, 1.0f, n);
        } else {
            Cast(y, result, RoundMode::CAST_RINT, n);
        }
        yQueue_.EnQue(y);
        PipeBarrier<PIPE_V>();  // the next slice overwrites the temporaries
        y = yQueue_.template DeQue<T>();
        constexpr int32_t block = BLOCK_BYTES / sizeof(T);
        const int64_t columns = tiling_->cube.N;
        const DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(width * sizeof(T)),
                                     static_cast<uint32_t>((baseN_ - AlignUp(width, block)) / block),
                                     static_cast<uint32_t>((columns - width) * sizeof(T)), 0};
        DataCopyPad(yGm_[row * columns + column], y, copy);
        yQueue_.FreeTensor(y);
    }

    __aicore__ inline int32_t AlignUp(int32_t n, int32_t to) { return (n + to - 1) / to * to; }

    __aicore__ inline int32_t Least(int64_t left, int32_t most)
    {
        return left < most ? static_cast<int32_t>(left) : most;
    }

    GlobalTensor<T> xGm_;
    GlobalTensor<T> weightGm_;
    GlobalTensor<T> biasGm_;
    GlobalTensor<T> yGm_;
    TQue<TPosition::VECIN, 1> sums_;
    TQue<TPosition::VECIN, 1> biasQueue_;
    TQue<TPosition::VECOUT, BUFFERS> yQueue_;
    TBuf<TPosition::VECCALC> biasWide_;
    const LinearTilingData *tiling_ = nullptr;
    int64_t row_ = 0;     // where the part of this core starts
    int64_t column_ = 0;
    int32_t baseM_ = 0;   // of a block
    int32_t baseN_ = 0;
    int32_t slice_ = 0;   // elements
};

extern "C" __global__ __aicore__ void linear(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace,
                                             GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(LinearTilingData);
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        if (tilingData.units == 0) {
            return;
        }
        TPipe pipe;
        KernelLinear<DTYPE_X> kernel;
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.matmul, &tilingData.cube);
        kernel.Init(x, weight, bias, y, &tilingData, &pipe);
        kernel.Process();
    }
}
