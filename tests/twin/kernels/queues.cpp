// Queue and buffer faults. A line that must give a finding ends with `// finds: ID`; functions called good_* must give none.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 256;

struct Io {
    GlobalTensor<float> x, y;
    __aicore__ inline Io(GM_ADDR xAddr, GM_ADDR yAddr) {
        x.SetGlobalBuffer((__gm__ float *)xAddr, N);
        y.SetGlobalBuffer((__gm__ float *)yAddr, N);
    }
};


extern "C" __global__ __aicore__ void good_double_buffer(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, N * sizeof(float) / 4);
    pipe.InitBuffer(out, 2, N * sizeof(float) / 4);
    for (uint32_t i = 0; i < 4; i++) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, io.x[i * N / 4], N / 4);
        in.EnQue(a);
        LocalTensor<float> b = in.DeQue<float>();
        LocalTensor<float> c = out.AllocTensor<float>();
        Adds(c, b, 1.0f, N / 4);
        out.EnQue<float>(c);
        in.FreeTensor(b);
        LocalTensor<float> d = out.DeQue<float>();
        DataCopy(io.y[i * N / 4], d, N / 4);
        out.FreeTensor(d);
    }
}

extern "C" __global__ __aicore__ void good_prefetch_depth_two(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> in;
    TQue<QuePosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, N * sizeof(float));
    pipe.InitBuffer(out, 1, N * sizeof(float));
    for (int i = 0; i < 2; i++) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, io.x, N);
        in.EnQue(a);
    }
    for (int i = 0; i < 2; i++) {
        LocalTensor<float> b = in.DeQue<float>();
        LocalTensor<float> c = out.AllocTensor<float>();
        Adds(c, b, 1.0f, N);
        in.FreeTensor(b);
        out.EnQue(c);
        c = out.DeQue<float>();
        DataCopy(io.y, c, N);
        out.FreeTensor(c);
    }
}

extern "C" __global__ __aicore__ void good_bind_in_place(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    pipe.InitBuffer(bind, 2, N * sizeof(float));
    LocalTensor<float> a = bind.AllocTensor<float>();
    DataCopy(a, io.x, N);
    bind.EnQue<QuePosition::GM, QuePosition::VECIN, float>(a);
    a = bind.DeQue<QuePosition::GM, QuePosition::VECIN, float>();
    Adds(a, a, 1.0f, N);
    bind.EnQue<QuePosition::VECOUT, QuePosition::GM, float>(a);
    a = bind.DeQue<QuePosition::VECOUT, QuePosition::GM, float>();
    DataCopy(io.y, a, N);
    bind.FreeTensor(a);
}

extern "C" __global__ __aicore__ void good_depth_zero_in_place(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQue<QuePosition::VECIN, 0> in;
    TQue<QuePosition::VECOUT, 0> out;
    pipe.InitBuffer(in, 1, N * sizeof(float));
    pipe.InitBuffer(out, 1, N * sizeof(float));
    LocalTensor<float> a, b;
    in.AllocTensor<float>(a);
    DataCopy(a, io.x, N);
    in.EnQue(a);
    in.DeQue<float>(a);
    out.AllocTensor<float>(b);
    Adds(b, a, 1.0f, N);
    in.FreeTensor(a);
    out.EnQue(b);
    out.DeQue<float>(b);
    DataCopy(io.y, b, N);
    out.FreeTensor(b);
}

extern "C" __global__ __aicore__ void good_reset(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    for (int round = 0; round < 3; round++) {
        TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
        pipe.InitBuffer(bind, 2, 90 * 1024);
        LocalTensor<float> a = bind.AllocTensor<float>();
        DataCopy(a, io.x, N);
        bind.EnQue(a);
        a = bind.DeQue<float>();
        DataCopy(io.y, a, N);
        bind.FreeTensor(a);
        pipe.Reset();
    }
}

extern "C" __global__ __aicore__ void good_queries(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 2> bind;
    pipe.InitBuffer(bind, 2, N * sizeof(float));
    int64_t score = bind.HasIdleBuffer() && !bind.HasTensorInQue() && bind.VacantInQue() ? 1 : 0;
    LocalTensor<float> a = bind.AllocTensor<float>();
    LocalTensor<float> b = bind.AllocTensor<float>();
    score += !bind.HasIdleBuffer() ? 2 : 0;
    score += bind.GetState(a) == TBufState::OCCUPIED ? 4 : 0;
    DataCopy(a, io.x, N);
    bind.EnQue(a);
    bind.EnQue(b);
    score += bind.GetTensorCountInQue() == 2 && bind.HasTensorInQue() && !bind.VacantInQue() ? 8 : 0;
    a = bind.DeQue<float>();
    b = bind.DeQue<float>();
    score += bind.GetState(a) == TBufState::DEQUE ? 16 : 0;
    score += a.GetSize() == N && b.GetPhyAddr() - a.GetPhyAddr() == N * sizeof(float) ? 32 : 0;
    score += GetTPipePtr() == &pipe ? 64 : 0;
    bind.FreeTensor(a);
    bind.FreeTensor(b);
    score += bind.GetState(a) == TBufState::FREE ? 128 : 0;
    io.y.SetValue(0, (float)score);
}

extern "C" __global__ __aicore__ void bad_missing_enque(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    pipe.InitBuffer(bind, 1, N * sizeof(float));
    LocalTensor<float> a = bind.AllocTensor<float>();
    DataCopy(a, io.x, N);
    a = bind.DeQue<float>();  // finds: QUEUE-STATE
    DataCopy(io.y, a, N);     // finds: SYNC-HAZARD
    bind.FreeTensor(a);
}

extern "C" __global__ __aicore__ void bad_missing_deque(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    pipe.InitBuffer(bind, 1, N * sizeof(float));
    LocalTensor<float> a = bind.AllocTensor<float>();
    DataCopy(a, io.x, N);
    bind.EnQue(a);
    DataCopy(io.y, a, N);  // finds: QUEUE-USE SYNC-HAZARD
    bind.FreeTensor(a);    // finds: QUEUE-STATE
}

extern "C" __global__ __aicore__ void bad_missing_free(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    pipe.InitBuffer(bind, 2, N * sizeof(float));
    for (int i = 0; i < 3; i++) {
        LocalTensor<float> a = bind.AllocTensor<float>();  // finds: QUEUE-STATE
        DataCopy(a, io.x, N);
        bind.EnQue(a);
        a = bind.DeQue<float>();
        DataCopy(io.y, a, N);
    }
}

extern "C" __global__ __aicore__ void bad_leak(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    pipe.InitBuffer(bind, 2, N * sizeof(float));
    LocalTensor<float> a = bind.AllocTensor<float>();
    DataCopy(a, io.x, N);
    bind.EnQue(a);
    a = bind.DeQue<float>();  // finds: QUEUE-LEAK
    DataCopy(io.y, a, N);
}

extern "C" __global__ __aicore__ void bad_double_free(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    pipe.InitBuffer(bind, 2, N * sizeof(float));
    LocalTensor<float> a = bind.AllocTensor<float>();
    bind.FreeTensor(a);
    bind.FreeTensor(a);  // finds: QUEUE-STATE
    io.y.SetValue(0, io.x.GetValue(0));
}

extern "C" __global__ __aicore__ void bad_use_after_free(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    pipe.InitBuffer(bind, 2, N * sizeof(float));
    LocalTensor<float> a = bind.AllocTensor<float>();
    DataCopy(a, io.x, N);
    bind.EnQue(a);
    a = bind.DeQue<float>();
    bind.FreeTensor(a);
    DataCopy(io.y, a, N);       // finds: QUEUE-STATE
    io.y.SetValue(0, a.GetValue(3));  // finds: QUEUE-USE
}

extern "C" __global__ __aicore__ void bad_double_enque(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 2> bind;
    pipe.InitBuffer(bind, 2, N * sizeof(float));
    LocalTensor<float> a = bind.AllocTensor<float>();
    DataCopy(a, io.x, N);
    bind.EnQue(a);
    bind.EnQue(a);  // finds: QUEUE-STATE
    a = bind.DeQue<float>();
    DataCopy(io.y, a, N);
    bind.FreeTensor(a);
}

extern "C" __global__ __aicore__ void bad_foreign_tensor(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, N * sizeof(float));
    pipe.InitBuffer(out, 1, N * sizeof(float));
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, io.x, N);
    out.EnQue(a);  // finds: QUEUE-STATE
    io.y.SetValue(0, 1.0f);
    in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void bad_depth(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    pipe.InitBuffer(bind, 2, N * sizeof(float));
    for (int i = 0; i < 2; i++) {
        LocalTensor<float> a = bind.AllocTensor<float>();
        DataCopy(a, io.x, N);
        bind.EnQue(a);  // finds: QUEUE-STATE
    }
    for (int i = 0; i < 2; i++) {
        LocalTensor<float> a = bind.DeQue<float>();
        DataCopy(io.y, a, N);
        bind.FreeTensor(a);
    }
}

extern "C" __global__ __aicore__ void bad_no_init(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    LocalTensor<float> a = bind.AllocTensor<float>();  // finds: QUEUE-INIT
    DataCopy(a, io.x, N);                              // finds: UB-TENSOR
    io.y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_too_many_outstanding(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in[5];
    for (auto &queue : in) pipe.InitBuffer(queue, 2, N * sizeof(float));
    for (int round = 0; round < 2; round++) {
        for (auto &queue : in) {
            LocalTensor<float> a = queue.AllocTensor<float>();
            DataCopy(a, io.x, N);
            queue.EnQue(a);
            a = queue.DeQue<float>();
            queue.FreeTensor(a);  // finds: EVENT-IDS
        }
    }
    io.y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void good_four_double_buffered(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in[4];
    for (auto &queue : in) pipe.InitBuffer(queue, 2, N * sizeof(float));
    for (int round = 0; round < 5; round++) {
        for (auto &queue : in) {
            LocalTensor<float> a = queue.AllocTensor<float>();
            DataCopy(a, io.x, N);
            queue.EnQue(a);
            a = queue.DeQue<float>();
            queue.FreeTensor(a);
        }
    }
    io.y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void good_handles(GM_ADDR x, GM_ADDR y) {
    Io io(x, y);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bind;
    pipe.InitBuffer(bind, 1, N * sizeof(float));
    LocalTensor<float> a = bind.AllocTensor<float>();
    DataCopy(a, io.x, N);
    bind.EnQue(a.GetBufferHandle());
    TBufHandle handle = bind.DeQue();
    DataCopy(io.y, a, N);
    bind.FreeBuffer(handle);
}
