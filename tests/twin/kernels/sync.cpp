// Faults of synchronisation. A line that must give a finding ends with `// finds: ID`; functions called good_* must give none.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 256;
constexpr uint32_t LINE = 16;  // floats in a cache line: blocks write scalars that far apart

#define FLUSH(tensor) DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(tensor)

#define TENSORS                                  \
    GlobalTensor<float> x, y;                    \
    x.SetGlobalBuffer((__gm__ float *)xAddr, N); \
    y.SetGlobalBuffer((__gm__ float *)yAddr, N); \
    TPipe pipe;                                  \
    TBuf<TPosition::VECCALC> buf;                \
    pipe.InitBuffer(buf, N * sizeof(float));     \
    LocalTensor<float> a = buf.Get<float>()

extern "C" __global__ __aicore__ void good_flags(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    event_t in = static_cast<event_t>(GetTPipePtr()->AllocEventID<HardEvent::MTE2_V>());
    TEventID out = pipe.FetchEventID(HardEvent::V_MTE3);
    DataCopy(a, x, N);
    SetFlag<HardEvent::MTE2_V>(in);
    WaitFlag<HardEvent::MTE2_V>(in);
    Adds(a, a, 1.0f, N);
    SetFlag<HardEvent::V_MTE3>(out);
    WaitFlag<HardEvent::V_MTE3>(out);
    DataCopy(y, a, N);
    pipe.ReleaseEventID<HardEvent::MTE2_V>(in);
}

extern "C" __global__ __aicore__ void good_cce_flags(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    Adds(a, a, 1.0f, N);
    pipe_barrier(PIPE_ALL);
    DataCopy(y, a, N);
}

extern "C" __global__ __aicore__ void good_wait_before_set(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    WaitFlag<HardEvent::V_MTE3>(0);  // pipe MTE3 waits here; the vector pipe goes on and answers
    Duplicate(a, 3.0f, N);
    SetFlag<HardEvent::V_MTE3>(0);
    y.SetValue(0, x.GetValue(0));
}

extern "C" __global__ __aicore__ void good_loop_carried(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    SetFlag<HardEvent::MTE3_MTE2>(1);
    for (int i = 0; i < 3; i++) {
        WaitFlag<HardEvent::MTE3_MTE2>(1);
        DataCopy(a, x, N);
        SetFlag<HardEvent::MTE2_MTE3>(2);
        WaitFlag<HardEvent::MTE2_MTE3>(2);
        DataCopy(y, a, N);
        SetFlag<HardEvent::MTE3_MTE2>(1);
    }
    WaitFlag<HardEvent::MTE3_MTE2>(1);
}

extern "C" __global__ __aicore__ void good_ping_pong(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    for (int i = 0; i < 8; i++) {
        int id = i % 2;
        LocalTensor<float> part = a[id * N / 2];
        WaitFlag<HardEvent::MTE3_MTE2>(id);
        DataCopy(part, x, N / 2);
        SetFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE2_V>(id);
        Adds(part, part, 1.0f, N / 2);
        SetFlag<HardEvent::V_MTE3>(id);
        WaitFlag<HardEvent::V_MTE3>(id);
        DataCopy(y, part, N / 2);
        SetFlag<HardEvent::MTE3_MTE2>(id);
    }
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
}

extern "C" __global__ __aicore__ void bad_wait_only(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    WaitFlag<HardEvent::MTE2_V>(0);  // finds: FLAG-UNPAIRED
    Adds(a, a, 1.0f, N);             // finds: SYNC-HAZARD
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_scalar_wait_only(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    WaitFlag<HardEvent::V_S>(0);  // finds: FLAG-UNPAIRED
    y.SetValue(0, a.GetValue(0));
}

extern "C" __global__ __aicore__ void bad_wrong_id(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    SetFlag<HardEvent::MTE2_V>(1);   // finds: FLAG-LEFT
    WaitFlag<HardEvent::MTE2_V>(0);  // finds: FLAG-UNPAIRED
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_cross_wait(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    WaitFlag<HardEvent::V_MTE2>(0);  // finds: FLAG-UNPAIRED
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);  // finds: FLAG-UNPAIRED
    SetFlag<HardEvent::V_MTE2>(0);
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_double_set(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    SetFlag<HardEvent::MTE2_V>(0);
    SetFlag<HardEvent::MTE2_V>(0);  // finds: FLAG-TWICE
    WaitFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    Adds(a, a, 1.0f, N);
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_double_set_and_one_wait(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    SetFlag<HardEvent::MTE2_V>(0);
    SetFlag<HardEvent::MTE2_V>(0);  // finds: FLAG-DOUBLE FLAG-LEFT
    WaitFlag<HardEvent::MTE2_V>(0);
    Adds(a, a, 1.0f, N);
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_event_id(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    SetFlag<HardEvent::MTE2_V>(8);  // finds: FLAG-EVENT
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void bad_no_sync(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    Adds(a, a, 1.0f, N);  // finds: SYNC-HAZARD
    DataCopy(y, a, N);    // finds: SYNC-HAZARD
}

extern "C" __global__ __aicore__ void bad_write_after_read(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    Adds(a, a, 1.0f, N);
    DataCopy(a, x, N);  // finds: SYNC-HAZARD
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void good_scalar_with_auto_sync(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 2.0f, N);
    y.SetValue(0, a.GetValue(0));
    FLUSH(y);
    a.SetValue(0, 5.0f);
    Adds(a, a, 1.0f, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, N);
}

extern "C" __global__ __aicore__ void good_disjoint_parts(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a[N / 2], x, N / 2);
    Duplicate(a, 2.0f, N / 2);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, a, N);
}

extern "C" __global__ __aicore__ void bad_event_ids_exhausted(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    for (int i = 0; i < 9; i++) pipe.AllocEventID<HardEvent::MTE2_V>();  // finds: EVENT-IDS
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void good_barrier_of_all(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    GlobalTensor<float> mine = y[GetBlockIdx() * LINE];
    mine.SetValue(0, (float)GetBlockIdx() + 1);
    for (int round = 0; round < 3; round++) {
        FLUSH(y);
        SyncAll();
        float sum = 0;
        for (int i = 0; i < GetBlockNum(); i++) sum += y.GetValue(i * LINE);
        FLUSH(y);
        SyncAll();
        mine.SetValue(0, sum);
    }
}

extern "C" __global__ __aicore__ void bad_skipped_barrier(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    y.SetValue(GetBlockIdx() * LINE, 1.0f);
    if (GetBlockIdx() == 1) return;
    SyncAll();  // finds: DEADLOCK
}

extern "C" __global__ __aicore__ void bad_shared_event(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    TQue<QuePosition::VECIN, 1> in;
    pipe.InitBuffer(in, 2, N * sizeof(float));
    LocalTensor<float> b = in.AllocTensor<float>();
    DataCopy(b, x, N);
    in.EnQue(b);
    b = in.DeQue<float>();
    in.FreeTensor(b);
    SetFlag<HardEvent::V_MTE2>(EVENT_ID0);  // finds: FLAG-SHARED
    WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
    y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void good_block_after_block(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer((__gm__ int32_t *)xAddr, N);
    LocalTensor<int32_t> scratch = a.ReinterpretCast<int32_t>();
    int32_t me = GetBlockIdx();
    float before = 0.0f;
    if (me != 0) {
        IBWait(words, scratch, me - 1, 0);
        before = y.GetValue((me - 1) * LINE);
    }
    y.SetValue(me * LINE, before + 1.0f);
    FLUSH(y);
    if (me + 1 < GetBlockNum()) IBSet(words, scratch, me, 0);
}

extern "C" __global__ __aicore__ void bad_barrier_nobody_sets(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer((__gm__ int32_t *)xAddr, N);
    if (GetBlockIdx() == 0) InitGlobalMemory(words, N, 0);
    if (GetBlockIdx() == 1) IBWait(words, a.ReinterpretCast<int32_t>(), 0, 0);  // finds: DEADLOCK
    if (GetBlockIdx() == 0) y.SetValue(0, 1.0f);
}

extern "C" __global__ __aicore__ void good_cross_core_barrier(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    for (int round = 0; round < 2; round++) {
        y.SetValue(64 * round + block_idx * LINE, 1.0f);
        FLUSH(y);
        CrossCoreSetFlag<0, PIPE_MTE3>(3);
        CrossCoreWaitFlag(3);
        float sum = 0;
        for (int i = 0; i < block_num; i++) sum += y.GetValue(64 * round + i * LINE);
        y.SetValue(128 + 64 * round + block_idx * LINE, sum);
    }
}

extern "C" __global__ __aicore__ void bad_cross_core_barrier(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    y.SetValue(GetBlockIdx() * LINE, 1.0f);
    if (GetBlockIdx() == 0) CrossCoreSetFlag<0, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);  // finds: DEADLOCK
}
