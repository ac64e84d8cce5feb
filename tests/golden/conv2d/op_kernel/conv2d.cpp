// conv2d:
// y[i, f, :, :] = sum of x[i, c, :, :] correlated with weight[f, c, :, :] over c of the group of f, + bias[f].
// Channels and filters are those of one group; `image` counts the groups of all images, which lie one after the other.
// A tile of pixels is a product, filters x depth with depth x pixels, summed in fp32 on the cube core. Its blocks come
// to UB as fp32, where the vector core adds the bias to them; they are rounded once on the way out.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

#include "conv2d_tiling.h"
#include "row_ops.h"
#include "unfold.h"

using namespace AscendC;
using namespace row_ops;

// POINTWISE: an image itself is the right matrix.
template <typename T, bool POINTWISE>
class KernelConv2d {
public:
    using Left = MatmulType<TPosition::GM, CubeFormat::ND, T>;
    using Right = MatmulType<TPosition::GM, CubeFormat::ND, T>;
    using Sums = MatmulType<TPosition::VECIN, CubeFormat::ND, float>;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y, GM_ADDR columns,
                                const Conv2dTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        baseM_ = tiling->cube.baseM;
        baseN_ = tiling->cube.baseN;
        pixels_ = static_cast<int64_t>(tiling->y.out) * tiling->x.out;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        weightGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(weight));
        biasGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(bias));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
        pipe->InitBuffer(sums_, 1, baseM_ * baseN_ * sizeof(float));
        pipe->InitBuffer(yQueue_, unfold::BUFFERS, tiling->sliceRows * baseN_ * sizeof(T));
        pipe->InitBuffer(biasQueue_, 1, baseM_ * sizeof(T));
        pipe->InitBuffer(biasWide_, baseM_ * sizeof(float));
        pipe->InitBuffer(biasBlocks_, baseM_ * unfold::BLOCK_BYTES);
        if constexpr (!POINTWISE) {
            const int64_t own = GetBlockIdx() * static_cast<int64_t>(tiling->depth) * tiling->tiles.most * sizeof(T);
            columnsGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(columns + own));
            columns_.Init(x, columns + own, tiling, pipe);
        }
    }

    // The units of this vector core.
    __aicore__ inline void Process()
    {
        for (int64_t unit = GetBlockIdx(); unit < tiling_->units; unit += tiling_->cores) {
            Compute(unit / tiling_->parts, static_cast<int32_t>(unit % tiling_->parts));
        }
        matmul.End();
    }

    Matmul<Left, Right, Sums> matmul;  // REGIST_MATMUL_OBJ connects it to the cube core

private:
    using Bits = typename Conditional<sizeof(T) == sizeof(uint16_t), uint16_t, uint32_t>::type;

    __aicore__ inline unfold::Tile TileOf(int64_t number)
    {
        const Conv2dTiles &tiles = tiling_->tiles;
        const int64_t image = number / (tiles.down * tiles.across);
        const int32_t place = static_cast<int32_t>(number % (tiles.down * tiles.across));
        const int32_t row = place / tiles.across * tiles.rows;
        const int32_t column = place % tiles.across * tiles.columns;
        const int64_t columns = POINTWISE ? pixels_ : tiling_->x.out;
        const int32_t rows = POINTWISE ? 1 : unfold::Least(tiling_->y.out - row, tiles.rows);
        return {image, row, column, rows, unfold::Least(columns - column, tiles.columns)};
    }

    // One part of the filters with one tile.
    __aicore__ inline void Compute(int64_t number, int32_t part)
    {
        const TCubeTiling &cube = tiling_->cube;
        const unfold::Tile tile = TileOf(number);
        const int32_t pixels = tile.rows * tile.columns;
        const int64_t pixel = static_cast<int64_t>(tile.row) * tiling_->x.out + tile.column;
        const int64_t filter = static_cast<int64_t>(part) * cube.singleCoreM;
        const int32_t filters = unfold::Least(tiling_->filters - filter, cube.singleCoreM);
        const int64_t before = tile.image % tiling_->groups * tiling_->filters;  // of other groups
        matmul.SetTensorA(weightGm_[(before + filter) * tiling_->depth]);
        if constexpr (POINTWISE) {
            matmul.SetTensorB(xGm_[tile.image * tiling_->channels * pixels_ + pixel]);
        } else {
            columns_.Write(tile);
            matmul.SetTensorB(columnsGm_);
        }
        matmul.SetTail(filters, pixels, tiling_->depth);
        for (int32_t column = 0; column < pixels; column += baseN_) {
            for (int32_t row = 0; row < filters; row += baseM_) {
                const int32_t rows = unfold::Least(filters - row, baseM_);
                if (tiling_->hasBias != 0) {
                    LoadBias(before + filter + row, rows);
                }
                Finish(tile.image, filter + row, pixel + column, rows, unfold::Least(pixels - column, baseN_));
            }
        }
    }

    __aicore__ inline void Finish(int64_t image, int64_t filter, int64_t pixel, int32_t rows, int32_t width)
    {
        Floats sums = sums_.template AllocTensor<float>();
        matmul.Iterate();
        matmul.GetTensorC(sums, 0, true);  // its rows are baseN apart
        sums_.EnQue(sums);
        sums = sums_.template DeQue<float>();
        if (tiling_->hasBias != 0) {
            AddBias(sums, rows, width);
        }
        const int64_t first = (image * tiling_->filters + filter) * pixels_ + pixel;
        for (int32_t done = 0; done < rows; done += tiling_->sliceRows) {
            const int32_t some = unfold::Least(rows - done, tiling_->sliceRows);
            Write(first + done * pixels_, sums[done * baseN_], some, width);
        }
        sums_.FreeTensor(sums);
    }

    // Spreads the bias of each filter over one block.
    __aicore__ inline void LoadBias(int64_t filter, int32_t n)
    {
        constexpr int32_t block = unfold::BLOCK_BYTES / sizeof(T);
        LocalTensor<T> bias = biasQueue_.template AllocTensor<T>();
        const int32_t padded = unfold::AlignUp(n, block);
        const DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        pad.isPad = true;
        pad.rightPadding = static_cast<uint8_t>(padded - n);
        DataCopyPad(bias, biasGm_[filter], copy, pad);
        biasQueue_.EnQue(bias);
        bias = biasQueue_.template DeQue<T>();
        Floats wide = biasWide_.template Get<float>();
        if constexpr (IsSameType<T, float>::value) {
            Muls(wide, bias, 1.0f, padded);
        } else {
            Cast(wide, bias, RoundMode::CAST_NONE, padded);
        }
        PipeBarrier<PIPE_V>();
        biasQueue_.FreeTensor(bias);
        SpreadOverBlocks(biasBlocks_.template Get<float>(), wide, n);
    }

    // 64 columns at a time; the rows, at most 128, are the repeats of the instruction.
    __aicore__ inline void AddBias(const Floats &sums, int32_t rows, int32_t width)
    {
        Floats blocks = biasBlocks_.template Get<float>();
        const BinaryRepeatParams strides(1, 1, 0, baseN_ / BLOCK, baseN_ / BLOCK, 1);
        for (int32_t column = 0; column < width; column += LANES) {
            const uint64_t lanes = unfold::Least(width - column, LANES);
            Add(sums[column], sums[column], blocks, lanes, static_cast<uint8_t>(rows), strides);
        }
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void Write(int64_t first, const Floats &sums, int32_t rows, int32_t width)
    {
        const int32_t n = rows * baseN_;
        LocalTensor<T> y = yQueue_.template AllocTensor<T>();
        if constexpr (IsSameType<T, float>::value) {
            Muls(y, sums, 1.0f, n);
        } else {
            Cast(y, sums, RoundMode::CAST_RINT, n);
        }
        yQueue_.EnQue(y);
        y = yQueue_.template DeQue<T>();
        constexpr int32_t block = unfold::BLOCK_BYTES / sizeof(T);
        const int32_t padded = unfold::AlignUp(width, block);
        const DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(width * sizeof(T)),
                                     static_cast<uint32_t>((baseN_ - padded) / block),
                                     static_cast<uint32_t>((pixels_ - width) * sizeof(T)), 0};
        DataCopyPad(yGm_[first], y, copy);
        yQueue_.FreeTensor(y);
    }

    GlobalTensor<T> xGm_;
    GlobalTensor<T> weightGm_;
    GlobalTensor<T> biasGm_;
    GlobalTensor<T> yGm_;
    GlobalTensor<T> columnsGm_;
    unfold::Columns<Bits> columns_;
    TQue<TPosition::VECIN, 1> sums_;
    TQue<TPosition::VECIN, 1> biasQueue_;
    TQue<TPosition::VECOUT, unfold::BUFFERS> yQueue_;
    TBuf<TPosition::VECCALC> biasWide_;
    TBuf<TPosition::VECCALC> biasBlocks_;
    const Conv2dTilingData *tiling_ = nullptr;
    int64_t pixels_ = 0;  // of an image of the result
    int32_t baseM_ = 0;   // of a block
    int32_t baseN_ = 0;
};

template <bool POINTWISE>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace,
                           const Conv2dTilingData &tiling)
{
    if (tiling.units == 0) {
        return;
    }
    TPipe pipe;
    KernelConv2d<DTYPE_X, POINTWISE> kernel;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.matmul, &tiling.cube);
    kernel.Init(x, weight, bias, y, GetUserWorkspace(workspace), &tiling, &pipe);
    kernel.Process();
}

extern "C" __global__ __aicore__ void conv2d(GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace,
                                             GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(Conv2dTilingData);
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        Run<true>(x, weight, bias, y, workspace, tilingData);
    } else if (TILING_KEY_IS(2)) {
        Run<false>(x, weight, bias, y, workspace, tilingData);
    }
}
