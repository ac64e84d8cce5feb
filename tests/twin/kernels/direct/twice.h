// y = 2 x, 64 elements a block: the kernel of the direct launch sources beside it.
#pragma once
#include "kernel_operator.h"

constexpr uint32_t LENGTH = 64;

class Twice {
public:
    __aicore__ inline void Run(GM_ADDR x, GM_ADDR y)
    {
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(x) + LENGTH * AscendC::GetBlockIdx(), LENGTH);
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(y) + LENGTH * AscendC::GetBlockIdx(), LENGTH);
        pipe_.InitBuffer(in_, 1, LENGTH * sizeof(float));
        pipe_.InitBuffer(out_, 1, LENGTH * sizeof(float));
        AscendC::LocalTensor<float> a = in_.AllocTensor<float>();
        AscendC::DataCopy(a, xGm_, LENGTH);
        in_.EnQue(a);
        a = in_.DeQue<float>();
        AscendC::LocalTensor<float> b = out_.AllocTensor<float>();
        AscendC::Add(b, a, a, LENGTH);
        out_.EnQue(b);
        in_.FreeTensor(a);
        b = out_.DeQue<float>();
        AscendC::DataCopy(yGm_, b, LENGTH);
        out_.FreeTensor(b);
    }

private:
    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_;
    AscendC::GlobalTensor<float> xGm_, yGm_;
};
