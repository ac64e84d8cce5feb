#pragma once
#include "common/copy.h"

class Helped {
public:
    __aicore__ inline void Init(GM_ADDR y, AscendC::TPipe *pipe) {
        out.SetGlobalBuffer((__gm__ float *)y, 256);
        pipe->InitBuffer(buf, 1024);
    }
    __aicore__ inline void Process(uint32_t filled, uint32_t copied) {
        AscendC::LocalTensor<float> local = buf.Get<float>();
        Fill(local, filled);
        AscendC::PipeBarrier<PIPE_ALL>();
        CopyOut(out, local, copied);
    }

private:
    AscendC::GlobalTensor<float> out;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buf;
};
