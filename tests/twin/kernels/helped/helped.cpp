#include "kernel.h"

extern "C" __global__ __aicore__ void good_helped(GM_ADDR y) {
    AscendC::TPipe pipe;
    Helped op;
    op.Init(y, &pipe);
    op.Process(256, 256);
}

extern "C" __global__ __aicore__ void bad_fill(GM_ADDR y) {
    AscendC::TPipe pipe;
    Helped op;
    op.Init(y, &pipe);
    op.Process(320, 256);  // the call
}

extern "C" __global__ __aicore__ void bad_copy(GM_ADDR y) {
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buf;
    AscendC::GlobalTensor<float> out;
    out.SetGlobalBuffer((__gm__ float *)y, 256);
    pipe.InitBuffer(buf, 1024);
    Fill(buf.Get<float>(), 256);
    AscendC::PipeBarrier<PIPE_ALL>();
    CopyOut(out, buf.Get<float>(), 250);  // the call
}

extern "C" __global__ __aicore__ void bad_own(GM_ADDR y) {
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 1024);
    AscendC::Duplicate(buf.Get<float>(), 3.0f, 320);  // the call
}
