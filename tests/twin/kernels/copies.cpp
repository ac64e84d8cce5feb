// Copies with every parameter given from outside (tiling), and faults of copies.
#include "kernel_operator.h"
using namespace AscendC;

struct CopyTiling {
    uint32_t count, len, srcGap, dstGap;   // as the instruction takes them
    uint32_t isPad, left, right;
    float value;
    uint32_t ubBytes;
};

constexpr uint32_t N = 256;

#define SETUP(T)                                                       \
    REGISTER_TILING_DEFAULT(CopyTiling);                               \
    GET_TILING_DATA(t, tiling);                                        \
    GlobalTensor<T> x, y;                                              \
    x.SetGlobalBuffer((__gm__ T *)xAddr);                              \
    y.SetGlobalBuffer((__gm__ T *)yAddr);                              \
    TPipe pipe;                                                        \
    TBuf<TPosition::VECCALC> buf;                                      \
    pipe.InitBuffer(buf, t.ubBytes);                                   \
    LocalTensor<T> a = buf.Get<T>();                                   \
    Duplicate(a.template ReinterpretCast<int32_t>(), (int32_t)0, t.ubBytes / 4); \
    PipeBarrier<PIPE_ALL>()

// in: strided from x; out: the whole unified buffer to y
extern "C" __global__ __aicore__ void good_blocks_in(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    DataCopy(a, x, {(uint16_t)t.count, (uint16_t)t.len, (uint16_t)t.srcGap, (uint16_t)t.dstGap});
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, t.ubBytes / 4);
}

extern "C" __global__ __aicore__ void good_blocks_out(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    DataCopy(a, x, t.ubBytes / 4);
    PipeBarrier<PIPE_ALL>();
    DataCopyParams p;
    p.blockCount = t.count;
    p.blockLen = t.len;
    p.srcGap = t.srcGap;
    p.dstStride = t.dstGap;
    DataCopy(y, a, p);
}

extern "C" __global__ __aicore__ void good_blocks_local(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    TBuf<TPosition::VECCALC> other;
    pipe.InitBuffer(other, t.ubBytes);
    LocalTensor<float> b = other.Get<float>();
    Duplicate(b, 0.0f, t.ubBytes / 4);
    DataCopy(a, x, t.ubBytes / 4);
    PipeBarrier<PIPE_ALL>();
    DataCopy(b, a, DataCopyParams(t.count, t.len, t.srcGap, t.dstGap));
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, b, t.ubBytes / 4);
}

extern "C" __global__ __aicore__ void good_pad_in(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(half);
    DataCopyExtParams p{(uint16_t)t.count, t.len, t.srcGap, t.dstGap, 0};
    DataCopyPadExtParams<half> pad{t.isPad != 0, (uint8_t)t.left, (uint8_t)t.right, (half)t.value};
    DataCopyPad(a, x, p, pad);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, t.ubBytes / sizeof(half));
}

extern "C" __global__ __aicore__ void good_pad_in_older(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(half);
    half value = (half)t.value;
    DataCopyParams p{(uint16_t)t.count, (uint16_t)t.len, (uint16_t)t.srcGap, (uint16_t)t.dstGap};
    DataCopyPadParams pad{t.isPad != 0, (uint8_t)t.left, (uint8_t)t.right, (uint64_t)(*reinterpret_cast<uint16_t *>(&value))};
    DataCopyPad(a, x, p, pad);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, t.ubBytes / sizeof(half));
}

extern "C" __global__ __aicore__ void good_pad_register(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(half);
    SetPadValue((half)t.value);
    DataCopyPad(a, x, {(uint16_t)t.count, t.len, t.srcGap, t.dstGap, 0}, {false, (uint8_t)t.left, (uint8_t)t.right, 0});
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, t.ubBytes / sizeof(half));
}

extern "C" __global__ __aicore__ void good_pad_out(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(half);
    DataCopy(a, x, t.ubBytes / sizeof(half));
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(y, a, {(uint16_t)t.count, t.len, t.srcGap, t.dstGap, 0});
}

extern "C" __global__ __aicore__ void good_slices(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    SliceInfo from[] = {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}}, to[] = {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}};
    DataCopy(a, x, to, from, 2);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, 96);
}

extern "C" __global__ __aicore__ void good_atomic_add(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(DTYPE_A);
    DataCopy(a, x, N);
    PipeBarrier<PIPE_ALL>();
    if (TILING_KEY_IS(1)) SetAtomicAdd<DTYPE_A>();
    if (TILING_KEY_IS(2)) SetAtomicMax<DTYPE_A>();
    if (TILING_KEY_IS(3)) SetAtomicMin<DTYPE_A>();
    for (int i = 0; i < 50; i++) DataCopy(y, a, N);
    SetAtomicNone();
    DataCopy(y[N], a, N);
}

extern "C" __global__ __aicore__ void bad_truncated(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    DataCopy(a, x, 13);  // finds: COPY-TRUNCATED
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, 16);
}

extern "C" __global__ __aicore__ void bad_block_count(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    DataCopy(a, x, {4096, 1, 0, 0});  // finds: COPY-RANGE
    DataCopy(a, x, {0, 1, 0, 0});
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_block_length(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    DataCopyPad(a, x, {1, 13, 0, 0, 0}, {false, 0, 0, 0});  // finds: COPY-LENGTH
    DataCopyPad(a, x, {1, 2097152, 0, 0, 0}, {false, 0, 0, 0});  // finds: COPY-RANGE
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_padding(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    DataCopyPad(a, x, {1, 16, 0, 0, 0}, {true, 0, 9, 0});  // finds: PAD-RANGE
    GlobalTensor<int64_t> wide;
    wide.SetGlobalBuffer((__gm__ int64_t *)xAddr);
    DataCopyPad(a.ReinterpretCast<int64_t>(), wide, {1, 8, 0, 0, 0}, {true, 0, 1, 5});  // finds: PAD-RANGE
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_gm_alignment(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    GlobalTensor<float> odd;
    odd.SetGlobalBuffer((__gm__ float *)(xAddr + 2));
    DataCopy(a, odd, 8);  // finds: GM-ALIGN
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_slice_counts(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    SETUP(float);
    SliceInfo from[] = {{0, 15, 0, 1, 16}}, to[] = {{0, 7, 0, 1, 8}};
    DataCopy(a, x, to, from, 1);  // finds: COPY-RANGE
    y.SetValue(0, 1.0f);
}
