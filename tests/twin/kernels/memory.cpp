// Memory faults. A line that must give a finding ends with `// finds: ID`; functions called good_* must give none.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 256;

#define TENSORS                                   \
    GlobalTensor<float> x, y;                     \
    x.SetGlobalBuffer((__gm__ float *)xAddr, N);  \
    y.SetGlobalBuffer((__gm__ float *)yAddr, N);  \
    TPipe pipe;                                   \
    TBuf<TPosition::VECCALC> buf

extern "C" __global__ __aicore__ void good_whole_ub(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, 192 * 1024);
    LocalTensor<float> a = buf.Get<float>();
    Duplicate(a[a.GetSize() - 64], 3.0f, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a[a.GetSize() - 64], 64);
}

extern "C" __global__ __aicore__ void bad_capacity(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    TQue<QuePosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, 64 * 1024);
    pipe.InitBuffer(buf, 64 * 1024 + 4);  // finds: UB-CAPACITY
    LocalTensor<float> a = buf.Get<float>();
    Duplicate(a[a.GetSize() - 64], 3.0f, 64);
    y.SetValue(0, x.GetValue(0));
}

// The second buffer of the queue, and the last TBuf, lie beyond UB.
extern "C" __global__ __aicore__ void bad_capacity_twice(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    TQue<QuePosition::VECIN, 2> in;
    pipe.InitBuffer(in, 2, 128 * 1024);  // finds: UB-CAPACITY
    pipe.InitBuffer(buf, 256);           // finds: UB-CAPACITY
    for (int i = 0; i < 2; ++i) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a[a.GetSize() - 64], x, 64);
        in.EnQue(a);
        in.FreeTensor(in.DeQue<float>());
    }
    buf.Get<float>().SetValue(0, 1.0f);
    y.SetValue(0, buf.Get<float>().GetValue(0));
}

// Only InitBuffer counts beyond UB: no instruction goes there.
extern "C" __global__ __aicore__ void bad_capacity_unused(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    TBuf<TPosition::VECCALC> unused;
    pipe.InitBuffer(buf, 190 * 1024);
    pipe.InitBuffer(unused, 64 * 1024);  // finds: CAPACITY-UNUSED
    LocalTensor<float> a = buf.Get<float>(), part = unused.Get<float>();
    DataCopy(a, x, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(part, x, 64);  // the start of the buffer lies inside UB
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, part, 64);
}

extern "C" __global__ __aicore__ void bad_zero_length(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, 0);  // finds: BUFFER-LENGTH
    y.SetValue(0, x.GetValue(0));
}

extern "C" __global__ __aicore__ void bad_vector_end(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    TBuf<TPosition::VECCALC> other;
    pipe.InitBuffer(buf, N * sizeof(float));
    pipe.InitBuffer(other, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    Duplicate(a, 3.0f, N + 8);  // finds: UB-BOUNDS
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, other.Get<float>(), 8);
}

extern "C" __global__ __aicore__ void bad_copy_end(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    DataCopy(a[8], x, N);  // finds: UB-BOUNDS
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_scalar_end(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    a.SetValue(N, 1.0f);                // finds: UB-BOUNDS
    y.SetValue(0, a.GetValue(N + 100));  // finds: UB-BOUNDS
}

extern "C" __global__ __aicore__ void bad_tensor_end_in_buffer(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>(N / 2);
    Duplicate(a, 3.0f, N);  // finds: TENSOR-SIZE
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, N / 2);
}

extern "C" __global__ __aicore__ void bad_get_too_long(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>(N + 1);  // finds: TBUF-SIZE
    Duplicate(a, 3.0f, 8);
    y.SetValue(0, x.GetValue(0));
}

extern "C" __global__ __aicore__ void bad_alignment(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    Duplicate(a[3], 3.0f, 8);  // finds: UB-ALIGN
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a[4], 8);  // finds: UB-ALIGN
}

extern "C" __global__ __aicore__ void bad_gm_read(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, 2 * N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    DataCopy(a, x[N - 8], 16);  // finds: GM-BOUNDS
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_gm_write(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, 2 * N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    Duplicate(a, 1.0f, 2 * N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, N + 8);  // finds: GM-BOUNDS
}

extern "C" __global__ __aicore__ void bad_gm_scalar(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    y.SetValue(N, 1.0f);                 // finds: GM-BOUNDS
    y.SetValue(GetBlockIdx() * 16, x.GetValue(1 << 20));  // finds: GM-BOUNDS
}

extern "C" __global__ __aicore__ void bad_gm_tensor_size(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    GlobalTensor<float> half;
    half.SetGlobalBuffer((__gm__ float *)xAddr, N / 2);
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    DataCopy(a, half[8], N / 2);  // finds: GM-TENSOR-SIZE
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, N / 2);
}

extern "C" __global__ __aicore__ void bad_unset_tensor(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    LocalTensor<float> a;
    DataCopy(y, a, N);  // finds: UB-TENSOR
}

extern "C" __global__ __aicore__ void bad_many_buffers(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    for (int i = 0; i < 65; i++) pipe.InitBuffer(buf, 32);  // finds: BUFFER-COUNT
    y.SetValue(0, x.GetValue(0));
}

extern "C" __global__ __aicore__ void bad_poison(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    DataCopy(y, a, N);  // finds: UNINIT-READ
}

extern "C" __global__ __aicore__ void good_raw_address(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    __ubuf__ float *raw = (__ubuf__ float *)a.GetPhyAddr();
    for (uint32_t i = 0; i < N; i++) raw[i] = (float)i;
    LocalTensor<float> same(TPosition::VECCALC, 0, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, same, N);
}

extern "C" __global__ __aicore__ void good_views(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    Duplicate(a, 1.0f, N);
    LocalTensor<int32_t> bits = a.ReinterpretCast<int32_t>();
    LocalTensor<uint8_t> bytes = a.ReinterpretCast<uint8_t>();
    LocalTensor<half> tail = buf.GetWithOffset<half>(16, 32);
    PipeBarrier<PIPE_ALL>();
    y.SetValue(0, (float)bits.GetValue(0));
    y.SetValue(1, (float)bytes.GetSize());
    y.SetValue(2, (float)bytes(3));
    y.SetValue(3, (float)tail.GetSize());
    y.SetValue(4, (float)a[8].GetSize());
    a(0) = 7.0f;
    y.SetValue(5, a.GetValue(0));
    a.SetSize(4);
    y.SetValue(6, (float)a.GetSize());
    y.SetValue(7, (float)(tail.GetPhyAddr() - a.GetPhyAddr()));
}

#define SELECT_ZERO(a, mask) Select(a, mask, a, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, N)

extern "C" __global__ __aicore__ void bad_reserved_ub(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, 190 * 1024);
    LocalTensor<float> a = buf.Get<float>();
    LocalTensor<uint8_t> mask = a[N].ReinterpretCast<uint8_t>();
    Duplicate(a, 1.0f, 2 * N);
    Duplicate(a[a.GetSize() - 64], 1.0f, 64);
    SELECT_ZERO(a, mask);  // finds: UB-RESERVED
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_reserved_ub_later(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, 190 * 1024);
    LocalTensor<float> a = buf.Get<float>();
    LocalTensor<uint8_t> mask = a[N].ReinterpretCast<uint8_t>();
    Duplicate(a, 1.0f, 2 * N);
    SELECT_ZERO(a, mask);  // finds: UB-RESERVED
    a.SetValue(a.GetSize() - 1, 1.0f);
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_reserved_ub_unused(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, 190 * 1024);
    LocalTensor<float> a = buf.Get<float>();
    LocalTensor<uint8_t> mask = a[N].ReinterpretCast<uint8_t>();
    Duplicate(a, 1.0f, 2 * N);
    for (int i = 0; i < 2; ++i) {
        SELECT_ZERO(a, mask);  // finds: CAPACITY-UNUSED
    }
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_overread(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    pipe.InitBuffer(buf, N * sizeof(float));
    LocalTensor<float> a = buf.Get<float>();
    x.SetGlobalBuffer((__gm__ float *)xAddr);
    DataCopy(a, x[5], N - 8);
    PipeBarrier<PIPE_MTE2>();
    DataCopy(a, x[5], N);  // finds: GM-PADDING
    PipeBarrier<PIPE_ALL>();
    DataCopy(a, x[N - 5], 8);  // finds: GM-PADDING
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, N);
    DataCopyPad(y[N - 1], a, {1, 8, 0, 0, 0});  // finds: GM-BOUNDS
}

extern "C" __global__ __aicore__ void bad_init_global(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    InitGlobalMemory(y, N, 2.0f);
    InitGlobalMemory(y, N + 1000, 3.0f);  // finds: GM-BOUNDS
}
