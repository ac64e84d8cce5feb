#include "kernel_operator.h"
using namespace AscendC;

class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total, uint32_t tile, float alpha)
    {
        const uint32_t per = (total + GetBlockNum() - 1) / GetBlockNum();
        const uint32_t aligned = (per + 7) / 8 * 8;
        const uint32_t begin = GetBlockIdx() * aligned;
        length_ = begin >= total ? 0 : (total - begin < aligned ? total - begin : aligned);
        tile_ = tile;
        alpha_ = static_cast<DTYPE_X>(alpha);
        xGm_.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin, length_);
        yGm_.SetGlobalBuffer((__gm__ DTYPE_Y *)y + begin, length_);
        zGm_.SetGlobalBuffer((__gm__ DTYPE_Z *)z + begin, length_);
        pipe_.InitBuffer(inX_, 2, tile * sizeof(DTYPE_X));
        pipe_.InitBuffer(inY_, 2, tile * sizeof(DTYPE_Y));
        pipe_.InitBuffer(outZ_, 2, tile * sizeof(DTYPE_Z));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t at = 0; at < length_; at += tile_) {
            const uint32_t n = length_ - at < tile_ ? length_ - at : tile_;
            CopyIn(at, n);
            Compute(n);
            CopyOut(at, n);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t at, uint32_t n)
    {
        LocalTensor<DTYPE_X> x = inX_.AllocTensor<DTYPE_X>();
        LocalTensor<DTYPE_Y> y = inY_.AllocTensor<DTYPE_Y>();
        DataCopyExtParams params{1, n * static_cast<uint32_t>(sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad{false, 0, 0, 0};
        DataCopyPad(x, xGm_[at], params, pad);
        DataCopyPad(y, yGm_[at], params, pad);
        inX_.EnQue(x);
        inY_.EnQue(y);
    }
    __aicore__ inline void Compute(uint32_t n)
    {
        LocalTensor<DTYPE_X> x = inX_.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_Y> y = inY_.DeQue<DTYPE_Y>();
        LocalTensor<DTYPE_Z> z = outZ_.AllocTensor<DTYPE_Z>();
        Muls(y, y, alpha_, static_cast<int32_t>(n));
        PipeBarrier<PIPE_V>();
        Add(z, x, y, static_cast<int32_t>(n));
        outZ_.EnQue<DTYPE_Z>(z);
        inX_.FreeTensor(x);
        inY_.FreeTensor(y);
    }
    __aicore__ inline void CopyOut(uint32_t at, uint32_t n)
    {
        LocalTensor<DTYPE_Z> z = outZ_.DeQue<DTYPE_Z>();
        DataCopyExtParams params{1, n * static_cast<uint32_t>(sizeof(DTYPE_Z)), 0, 0, 0};
        DataCopyPad(zGm_[at], z, params);
        outZ_.FreeTensor(z);
    }

    TPipe pipe_;
    TQue<QuePosition::VECIN, 2> inX_, inY_;
    TQue<QuePosition::VECOUT, 2> outZ_;
    GlobalTensor<DTYPE_X> xGm_;
    GlobalTensor<DTYPE_Y> yGm_;
    GlobalTensor<DTYPE_Z> zGm_;
    uint32_t length_ = 0, tile_ = 0;
    DTYPE_X alpha_ = 0;
};

extern "C" __global__ __aicore__ void add_macro(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    KernelAdd op;
    op.Init(x, y, z, data.totalLength, data.tileLength, data.alpha);
    op.Process();
}
