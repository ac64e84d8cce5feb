// Two blocks and what they do to the same global memory; `// finds: ID` as elsewhere. Kernels called good_* must give nothing.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 256, HALF = N / 2, LINE = 16;

#define TENSORS                                                 \
    GlobalTensor<float> x, y;                                   \
    x.SetGlobalBuffer((__gm__ float *)xAddr, N);                \
    y.SetGlobalBuffer((__gm__ float *)yAddr, N);                \
    TPipe pipe;                                                 \
    TBuf<TPosition::VECCALC> buf;                               \
    pipe.InitBuffer(buf, 2 * N * sizeof(float));                \
    LocalTensor<float> a = buf.Get<float>(), b = a[N];          \
    const uint32_t me = static_cast<uint32_t>(GetBlockIdx()), first = me * HALF

#define FLUSH(tensor) DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(tensor)

template <HardEvent event>
__aicore__ inline void Order() {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
}

#define FILL(tensor, value, count)    \
    Duplicate(tensor, value, count); \
    Order<HardEvent::V_MTE3>()

extern "C" __global__ __aicore__ void good_halves(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, (float)me, HALF);
    DataCopy(y[first], a, HALF);
}

extern "C" __global__ __aicore__ void bad_overlap(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, (float)me, N);
    DataCopy(y[first], a, HALF + 8 * (1 - me));  // finds: GM-RACE
}

extern "C" __global__ __aicore__ void bad_overlap_in_rows(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f + me, N);
    for (uint32_t row = 0; row < 4; row++) DataCopy(y[64 * row + 32 * me], a, 40 - 8 * me);  // finds: GM-RACE
}

extern "C" __global__ __aicore__ void good_interleaved_rows(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f + me, N);
    for (uint32_t row = 0; row < 4; row++) DataCopy(y[64 * row + 32 * me], a, 32);
}

extern "C" __global__ __aicore__ void bad_same_values(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 5.0f, N);
    DataCopy(y[me * (HALF - 8)], a, HALF);  // finds: GM-SAME-WRITE
}

extern "C" __global__ __aicore__ void bad_reads_the_other_half(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, (float)me, N);
    DataCopy(y[first], a, HALF);
    Order<HardEvent::MTE3_MTE2>();
    DataCopy(b, y, N);  // finds: GM-RACE
}

extern "C" __global__ __aicore__ void good_reads_after_the_barrier(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, (float)me, N);
    DataCopy(y[first], a, HALF);
    SyncAll();
    DataCopy(b, y, N);
    SyncAll();
    FILL(a, 3.0f, N);
    if (me == 0) DataCopy(y, a, N);
}

extern "C" __global__ __aicore__ void bad_writes_before_the_other_has_read(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, (float)me, N);
    DataCopy(y[first], a, HALF);
    SyncAll();
    if (me == 1) DataCopy(b, y, N);  // finds: GM-RACE
    if (me == 0) DataCopy(y, a, N);
}

extern "C" __global__ __aicore__ void bad_rounded_up_read(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f, N);
    if (me == 0) DataCopy(b, y, 48);  // finds: GM-RACE-EDGE
    if (me == 1) DataCopyPad(y[44], a, {1, 80, 0, 0, 0});
}

extern "C" __global__ __aicore__ void bad_rounded_up_rows(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f, N);
    for (uint32_t row = 0; row < 4; row++) {
        if (me == 0) DataCopy(b[row * 16], y[row * 64], 16);  // finds: GM-RACE-EDGE
        if (me == 1) DataCopyPad(y[row * 64 + 12], a, {1, 80, 0, 0, 0});
    }
}

extern "C" __global__ __aicore__ void good_sums(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    if (me == 0) InitGlobalMemory(y, N, 0.0f);
    SyncAll();
    FILL(a, 1.0f, N);
    SetAtomicAdd<float>();
    DataCopy(y, a, N);
    SetAtomicNone();
}

extern "C" __global__ __aicore__ void bad_sums_before_zero(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    if (me == 0) InitGlobalMemory(y, N, 0.0f);
    FILL(a, 1.0f, N);
    PipeBarrier<PIPE_ALL>();
    SetAtomicAdd<float>();
    DataCopy(y, a, N);  // finds: GM-RACE
    SetAtomicNone();
}

extern "C" __global__ __aicore__ void good_zero_twice(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    GlobalTensor<float> mine = y[first];
    InitGlobalMemory(mine, HALF, 0.0f);
}

extern "C" __global__ __aicore__ void good_zero_then_copy(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    GlobalTensor<float> mine = y[first];
    InitGlobalMemory(mine, HALF, 0.0f);  // ends with a barrier of MTE3
    FILL(a, 2.0f, HALF);
    DataCopy(y[first], a, HALF / 2);
}

extern "C" __global__ __aicore__ void bad_cleared_by_both_then_summed(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    InitGlobalMemory(y, N, 0.0f);  // finds: GM-SAME-WRITE
    SyncAll();
    FILL(a, 1.0f, N);
    SetAtomicAdd<float>();
    DataCopy(y, a, N);
    SetAtomicNone();
}

// ---- flags in global memory: block 1 hands a copy over to block 0 ----

#define HANDS_OVER(wait)                   \
    TENSORS;                               \
    GlobalTensor<float> flag = y[N - LINE]; \
    if (me == 1) {                         \
        FILL(a, 4.0f, HALF);               \
        DataCopy(y, a, HALF);              \
        wait;                              \
    }

extern "C" __global__ __aicore__ void good_flag_in_a_line(GM_ADDR xAddr, GM_ADDR yAddr) {
    HANDS_OVER(Order<HardEvent::MTE3_S>());
    if (me == 1) {
        flag.SetValue(0, 9.0f);
        FLUSH(flag);
        return;
    }
    float seen = 0;
    while (seen != 9.0f) {
        FLUSH(flag);
        seen = flag.GetValue(0);
    }
    DataCopy(b, y, HALF);
    flag.SetValue(0, 0.0f);  // for the next launch
    FLUSH(flag);
}

extern "C" __global__ __aicore__ void good_flag_past_the_cache(GM_ADDR xAddr, GM_ADDR yAddr) {
    HANDS_OVER(Order<HardEvent::MTE3_S>());
    __gm__ float *word = (__gm__ float *)yAddr + N - LINE;
    if (me == 1) {
        WriteGmByPassDCache(word, 9.0f);
        return;
    }
    while (ReadGmByPassDCache(word) != 9.0f) {
    }
    DataCopy(b, y, HALF);
    WriteGmByPassDCache(word, 0.0f);  // for the next launch
}

extern "C" __global__ __aicore__ void bad_flag_ahead_of_the_copy(GM_ADDR xAddr, GM_ADDR yAddr) {
    HANDS_OVER();
    if (me == 1) {
        flag.SetValue(0, 9.0f);
        FLUSH(flag);
        return;
    }
    float seen = 0;
    while (seen != 9.0f) {
        FLUSH(flag);
        seen = flag.GetValue(0);
    }
    DataCopy(b, y, HALF);  // finds: GM-RACE
    flag.SetValue(0, 0.0f);  // for the next launch
    FLUSH(flag);
}

extern "C" __global__ __aicore__ void bad_flag_that_stays_in_the_cache(GM_ADDR xAddr, GM_ADDR yAddr) {
    HANDS_OVER(Order<HardEvent::MTE3_S>());
    if (me == 1) {
        flag.SetValue(0, 9.0f);
        return;
    }
    float seen = 0;
    while (seen != 9.0f) {
        FLUSH(flag);
        seen = flag.GetValue(0);  // finds: DCACHE-DIRTY
    }
    DataCopy(b, y, HALF);
    flag.SetValue(0, 0.0f);  // for the next launch
    FLUSH(flag);
}

// ---- flags between blocks ----

extern "C" __global__ __aicore__ void good_handed_over(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer((__gm__ int32_t *)xAddr, N);
    LocalTensor<int32_t> scratch = b.ReinterpretCast<int32_t>();
    FILL(a, 1.0f, N);
    if (me == 0) {
        DataCopy(y, a, N);
        IBSet(words, scratch, 0, 0);
    } else {
        IBWait(words, scratch, 0, 0);
        DataCopy(a, y, N);
    }
}

extern "C" __global__ __aicore__ void bad_handed_over_too_early(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer((__gm__ int32_t *)xAddr, N);
    LocalTensor<int32_t> scratch = b.ReinterpretCast<int32_t>();
    FILL(a, 1.0f, N);
    if (me == 0) {
        IBSet(words, scratch, 0, 0);
        DataCopy(y, a, N);
    } else {
        IBWait(words, scratch, 0, 0);
        DataCopy(a, y, N);  // finds: GM-RACE
    }
}

extern "C" __global__ __aicore__ void good_cross_core(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f, N);
    DataCopy(y[first], a, HALF);
    CrossCoreSetFlag<0, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
    DataCopy(b, y, N);
}

extern "C" __global__ __aicore__ void bad_cross_core_on_another_pipe(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f, N);
    DataCopy(y[first], a, HALF);
    CrossCoreSetFlag<0, PIPE_MTE2>(3);
    CrossCoreWaitFlag(3);
    DataCopy(b, y, N);  // finds: GM-RACE SYNC-HAZARD
}

// ---- the data cache ----

extern "C" __global__ __aicore__ void bad_line(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    y.SetValue(me, 1.0f);  // finds: GM-LINE
}

extern "C" __global__ __aicore__ void bad_line_and_copy(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f, N);
    if (me == 0) y.SetValue(LINE - 1, 1.0f);  // finds: GM-LINE
    if (me == 1) DataCopyPad(y[8], a, {1, 16, 0, 0, 0});
}

extern "C" __global__ __aicore__ void good_lines(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    for (uint32_t i = 0; i < LINE; i++) y.SetValue(LINE * me + i, 1.0f);
}

extern "C" __global__ __aicore__ void bad_copy_over_a_changed_line(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f, N);
    y.SetValue(first, 2.0f);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y[first + 8], a, 8);  // finds: GM-LINE
}

extern "C" __global__ __aicore__ void good_copy_over_a_written_line(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f, N);
    y.SetValue(first, 2.0f);
    FLUSH(y[first]);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y[first + 8], a, 8);
}

extern "C" __global__ __aicore__ void bad_copy_of_a_changed_line(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    y.SetValue(first, 2.0f);
    PipeBarrier<PIPE_ALL>();
    DataCopy(a, y[first], 8);  // finds: DCACHE-DIRTY
}

extern "C" __global__ __aicore__ void bad_changed_line_of_another(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    if (me == 0) y.SetValue(0, 2.0f);
    SyncAll();
    if (me == 1) DataCopy(a, y, 8);  // finds: DCACHE-DIRTY
}

extern "C" __global__ __aicore__ void good_written_line_of_another(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    if (me == 0) {
        y.SetValue(0, 2.0f);
        FLUSH(y);
    }
    SyncAll();
    if (me == 1) DataCopy(a, y, 8);
}

extern "C" __global__ __aicore__ void bad_old_value(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f, N);
    float before = y.GetValue(first);
    Order<HardEvent::S_MTE3>();
    DataCopy(y[first], a, 8);
    Order<HardEvent::MTE3_S>();
    if (y.GetValue(first) == before) Duplicate(b, 1.0f, 8);  // finds: DCACHE-STALE
}

extern "C" __global__ __aicore__ void good_new_value(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    FILL(a, 1.0f, N);
    float before = y.GetValue(first);
    Order<HardEvent::S_MTE3>();
    DataCopy(y[first], a, 8);
    Order<HardEvent::MTE3_S>();
    FLUSH(y[first]);
    if (y.GetValue(first) == before) Duplicate(b, 1.0f, 8);
}

// ---- workspace and pointers ----

extern "C" __global__ __aicore__ void bad_workspace(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace) {
    TENSORS;
    GlobalTensor<float> w;
    w.SetGlobalBuffer((__gm__ float *)workspace, N);
    DataCopy(a, w[first], HALF);  // finds: GM-UNINIT
}

extern "C" __global__ __aicore__ void good_workspace(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR workspace) {
    TENSORS;
    GlobalTensor<float> w;
    w.SetGlobalBuffer((__gm__ float *)workspace, N);
    FILL(a, 1.0f, N);
    DataCopy(w[first], a, HALF);
    Order<HardEvent::MTE3_MTE2>();
    DataCopy(b, w[first], HALF);
}

extern "C" __global__ __aicore__ void bad_pointer_end(GM_ADDR xAddr, GM_ADDR yAddr) {
    __gm__ float *x = (__gm__ float *)xAddr;
    volatile __gm__ float *y = (__gm__ float *)yAddr;
    if (GetBlockIdx() == 1) return;
    float sum = 0;
    for (uint32_t i = 0; i <= N; i++) {
        sum += x[i];  // finds: GM-POINTER
    }
    y[0] = sum;
}

extern "C" __global__ __aicore__ void bad_pointer_start(GM_ADDR xAddr, GM_ADDR yAddr) {
    volatile __gm__ float *y = (__gm__ float *)yAddr;
    if (GetBlockIdx() == 1) return;
    y[-4096] = 1.0f;  // finds: GM-POINTER
}

extern "C" __global__ __aicore__ void good_pointers(GM_ADDR xAddr, GM_ADDR yAddr) {
    __gm__ float *x = (__gm__ float *)xAddr;
    volatile __gm__ float *y = (__gm__ float *)yAddr;
    for (uint32_t i = 0; i < HALF; i++) y[GetBlockIdx() * HALF + i] = x[GetBlockIdx() * HALF + i];
}
