// custom(Tensor x) -> Tensor y
#include "kernel_operator.h"

#include "custom_tiling.h"

using namespace AscendC;

constexpr int32_t BUFFERS = 2;  // double buffering: a tile is copied while another one is computed

class KernelCustom {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const CustomTilingData &tiling, TPipe *pipe)
    {
        const int64_t begin = GetBlockIdx() * tiling.coreLength;
        const int64_t left = tiling.total - begin;
        length_ = left < tiling.coreLength ? left : tiling.coreLength;
        tile_ = static_cast<int32_t>(tiling.tileLength);
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_X *>(x) + begin);
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_Y *>(y) + begin);
        pipe->InitBuffer(inQueue_, BUFFERS, tile_ * sizeof(DTYPE_X));
        pipe->InitBuffer(outQueue_, BUFFERS, tile_ * sizeof(DTYPE_X));
    }

    __aicore__ inline void Process()
    {
        for (int64_t offset = 0; offset < length_; offset += tile_) {
            const int64_t left = length_ - offset;
            const int32_t n = left < tile_ ? static_cast<int32_t>(left) : tile_;
            CopyIn(offset, n);
            Compute(n);
            CopyOut(offset, n);
        }
    }

private:
    using T = DTYPE_X;

    __aicore__ inline void CopyIn(int64_t offset, int32_t n)
    {
        LocalTensor<T> to = inQueue_.AllocTensor<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad;
        DataCopyPad(to, xGm_[offset], copy, pad);
        inQueue_.EnQue(to);
    }

    // Yours: the arithmetic of one tile of n elements. As it stands, x is copied.
    __aicore__ inline void Compute(int32_t n)
    {
        LocalTensor<T> in = inQueue_.DeQue<T>();
        LocalTensor<T> out = outQueue_.AllocTensor<T>();
        const int32_t block = 32 / static_cast<int32_t>(sizeof(T));
        DataCopy(out, in, (n + block - 1) / block * block);
        outQueue_.EnQue(out);
        inQueue_.FreeTensor(in);
    }

    __aicore__ inline void CopyOut(int64_t offset, int32_t n)
    {
        LocalTensor<T> from = outQueue_.DeQue<T>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
        DataCopyPad(yGm_[offset], from, copy);
        outQueue_.FreeTensor(from);
    }

    TQue<TPosition::VECIN, BUFFERS> inQueue_;
    TQue<TPosition::VECOUT, BUFFERS> outQueue_;
    GlobalTensor<DTYPE_X> xGm_;
    GlobalTensor<DTYPE_Y> yGm_;
    int64_t length_ = 0;  // elements of this core
    int32_t tile_ = 0;
};

extern "C" __global__ __aicore__ void custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(CustomTilingData);
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        TPipe pipe;
        KernelCustom kernel;
        kernel.Init(x, y, tilingData, &pipe);
        kernel.Process();
    }
}
