// The order of instructions inside one core. `// finds: ID`: found whatever the compiler does; `// manual: ID`: found only with
// auto_sync=False, because the compiler puts in what is missing. Kernels called good_* must give nothing in either mode.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 256;

#define TENSORS                                      \
    GlobalTensor<float> x, y;                        \
    x.SetGlobalBuffer((__gm__ float *)xAddr, N);     \
    y.SetGlobalBuffer((__gm__ float *)yAddr, N);     \
    TPipe pipe;                                      \
    TBuf<TPosition::VECCALC> buf;                    \
    pipe.InitBuffer(buf, 3 * N * sizeof(float));     \
    LocalTensor<float> a = buf.Get<float>(), b = a[N], c = a[2 * N]

template <HardEvent event>
__aicore__ inline void Order() {
    SetFlag<event>(EVENT_ID0);
    WaitFlag<event>(EVENT_ID0);
}

extern "C" __global__ __aicore__ void good_barrier(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    PipeBarrier<PIPE_V>();
    Adds(b, a, 1.0f, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, N);
}

extern "C" __global__ __aicore__ void bad_no_barrier(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    Adds(b, a, 1.0f, N);  // manual: SYNC-BARRIER
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, N);
}

extern "C" __global__ __aicore__ void bad_two_results(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    Duplicate(a, 2.0f, N / 2);  // manual: SYNC-BARRIER
    Order<HardEvent::V_MTE3>();
    DataCopy(y, a, N);
}

extern "C" __global__ __aicore__ void good_overwrites_its_source(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    PipeBarrier<PIPE_V>();
    Adds(b, a, 1.0f, N);
    Duplicate(a, 2.0f, N);  // the pipe has read a before it starts this
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, N);
}

extern "C" __global__ __aicore__ void good_other_lanes(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, 8, 16, 1, 2);                   // every even block
    Duplicate(a[8], 2.0f, 8, 16, 1, 2);                // every odd block
    PipeBarrier<PIPE_V>();
    Adds(b, a, 1.0f, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, N);
}

extern "C" __global__ __aicore__ void bad_one_lane_of_many(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, 8, 16, 1, 2);
    Duplicate(a[8], 2.0f, 16, 1, 1, 2);  // manual: SYNC-BARRIER
    Duplicate(a[24], 2.0f, 8, 15, 1, 2);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, a, N);
}

extern "C" __global__ __aicore__ void bad_scalar_reads_result(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    y.SetValue(0, a.GetValue(3));  // manual: SYNC-HAZARD
}

extern "C" __global__ __aicore__ void bad_scalar_writes_operand(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    Order<HardEvent::V_S>();
    a.SetValue(3, 2.0f);
    Adds(b, a, 1.0f, N);  // manual: SYNC-HAZARD
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, N);
}

extern "C" __global__ __aicore__ void bad_scalar_reads_copy(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    y.SetValue(0, a.GetValue(3));  // manual: SYNC-HAZARD
}

extern "C" __global__ __aicore__ void bad_overwritten_before_read(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    Order<HardEvent::V_S>();
    float first = a.GetValue(0);
    Duplicate(a, 2.0f, N);  // manual: SYNC-HAZARD
    y.SetValue(0, first);
}

extern "C" __global__ __aicore__ void good_scalar_in_between(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    Order<HardEvent::MTE2_V>();
    Adds(b, a, 1.0f, N);
    Order<HardEvent::V_S>();  // the scalar unit issues everything behind: no other pipe can run ahead
    float first = b.GetValue(0);
    DataCopy(y, b, N);
    Order<HardEvent::S_V>();
    Adds(c, b, first, N);
}

extern "C" __global__ __aicore__ void bad_copy_after_vector(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    Order<HardEvent::MTE2_V>();
    Adds(b, a, 1.0f, N);
    DataCopy(y, b, N);  // finds: SYNC-HAZARD
}

extern "C" __global__ __aicore__ void bad_order_of_another_copy(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    Order<HardEvent::MTE2_V>();
    DataCopy(b, x, N);
    Add(c, a, b, N);  // finds: SYNC-HAZARD
    Order<HardEvent::V_MTE3>();
    DataCopy(y, c, N);
}

extern "C" __global__ __aicore__ void bad_second_round(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    for (int i = 0; i < 2; i++) {
        DataCopy(a, x, N);  // finds: SYNC-HAZARD SYNC-BARRIER
        Order<HardEvent::MTE2_V>();
        PipeBarrier<PIPE_V>();
        Adds(b, a, 1.0f, N);  // finds: SYNC-HAZARD
        Order<HardEvent::V_MTE3>();
        PipeBarrier<PIPE_MTE3>();
        DataCopy(y, b, N);
    }
}

extern "C" __global__ __aicore__ void good_second_round(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    for (int i = 0; i < 2; i++) {
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
        DataCopy(a, x, N);
        Order<HardEvent::MTE2_V>();
        Adds(b, a, 1.0f, N);
        Order<HardEvent::V_MTE3>();
        DataCopy(y, b, N);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    }
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
}

extern "C" __global__ __aicore__ void bad_copies_into_one_place(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    DataCopy(a[N - 8], x, 8);  // finds: SYNC-BARRIER
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(y, a, N);
}

extern "C" __global__ __aicore__ void bad_copies_out_to_one_place(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    Duplicate(b, 2.0f, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, a, N / 2);
    DataCopy(y[N / 2 - 8], b, N / 2);  // finds: SYNC-BARRIER
}

extern "C" __global__ __aicore__ void good_copies_out(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    Duplicate(b, 2.0f, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, a, N / 2);
    DataCopy(y[N / 2 - 8], a, N / 2);  // the last tile, moved back: the same values again
    PipeBarrier<PIPE_MTE3>();
    DataCopy(y, b, N / 2);
}

extern "C" __global__ __aicore__ void bad_reads_its_output(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, a, N);
    DataCopy(b, y, N);  // finds: SYNC-HAZARD
}

extern "C" __global__ __aicore__ void good_reads_its_output(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, a, N);
    Order<HardEvent::MTE3_MTE2>();
    DataCopy(b, y, N);
}

extern "C" __global__ __aicore__ void bad_in_place_too_early(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(b, 1.0f, N);
    DataCopy(a, y, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, N);  // finds: SYNC-HAZARD
}

extern "C" __global__ __aicore__ void good_queues(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, 128);
    pipe.InitBuffer(out, 2, 128);
    for (int i = 0; i < 8; i++) {
        LocalTensor<float> t = in.AllocTensor<float>();
        DataCopy(t, x[i * 32], 32);
        in.EnQue(t);
        t = in.DeQue<float>();
        LocalTensor<float> o = out.AllocTensor<float>();
        Adds(o, t, 1.0f, 32);
        PipeBarrier<PIPE_V>();
        Muls(o, o, 2.0f, 32);
        out.EnQue(o);
        in.FreeTensor(t);
        o = out.DeQue<float>();
        DataCopy(y[i * 32], o, 32);
        out.FreeTensor(o);
    }
}

extern "C" __global__ __aicore__ void bad_result_of_a_queue(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, N * sizeof(float));
    LocalTensor<float> t = in.AllocTensor<float>();
    DataCopy(t, x, N);
    in.EnQue(t);
    t = in.DeQue<float>();
    Adds(t, t, 1.0f, N);
    DataCopy(y, t, N);  // finds: SYNC-HAZARD
    in.FreeTensor(t);
}

// ---- bytes that nobody wrote ----

extern "C" __global__ __aicore__ void bad_sum_from_nothing(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    Order<HardEvent::MTE2_V>();
    Axpy(b, a, 2.0f, N);  // finds: UNINIT-READ
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, N);
}

extern "C" __global__ __aicore__ void bad_sum_of_padding(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, 40);
    Order<HardEvent::MTE2_V>();
    ReduceSum(b, a, c, 64);  // finds: UNINIT-READ
    Order<HardEvent::V_S>();
    y.SetValue(0, b.GetValue(0));
}

extern "C" __global__ __aicore__ void good_sum_goes_out(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    Order<HardEvent::MTE2_V>();
    ReduceSum(b, a, c, N);  // ends on the scalar unit, which lets V and MTE3 go on
    DataCopyPad(y, b, {1, 4, 0, 0, 0});
    y[64].SetValue(0, b.GetValue(0));
    Adds(c, b, 1.0f, 8);
}

extern "C" __global__ __aicore__ void bad_element_from_nothing(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    y.SetValue(0, a.GetValue(7));  // finds: UNINIT-READ
}

extern "C" __global__ __aicore__ void bad_half_a_row_out(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Duplicate(a, 1.0f, N / 2);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, a, N);  // finds: UNINIT-PART
}

extern "C" __global__ __aicore__ void bad_sum_of_what_padding_became(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, 40);
    Order<HardEvent::MTE2_V>();
    Exp(b, a, 64);
    PipeBarrier<PIPE_V>();
    Sub(a, b, a, 64);
    PipeBarrier<PIPE_V>();
    Cast(b.ReinterpretCast<int32_t>(), a, RoundMode::CAST_RINT, 64);
    PipeBarrier<PIPE_V>();
    Cast(a, b.ReinterpretCast<int32_t>(), RoundMode::CAST_NONE, 64);
    PipeBarrier<PIPE_V>();
    ReduceSum(b, a, c, 64);  // finds: UNINIT-CARRIED
    Order<HardEvent::V_S>();
    y.SetValue(0, b.GetValue(0));
}

// All of a source is empty, and its results leave the core after further work.
extern "C" __global__ __aicore__ void bad_work_on_nothing_goes_out(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, N);
    Order<HardEvent::MTE2_V>();
    Mul(c, a, b, N);  // finds: UNINIT-READ
    PipeBarrier<PIPE_V>();
    Adds(c, c, 1.0f, N);
    PipeBarrier<PIPE_V>();
    Cast(b.ReinterpretCast<int32_t>(), c, RoundMode::CAST_RINT, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, N);
}

extern "C" __global__ __aicore__ void bad_work_on_nothing_is_looked_at(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    Muls(c, b, 2.0f, N);  // finds: UNINIT-READ
    Order<HardEvent::V_S>();
    y.SetValue(0, c.GetValue(0));
}

// A tile of 64 columns of which a row has 40: work on the last columns is work on nothing, and stays in the core.
extern "C" __global__ __aicore__ void good_empty_columns_stay_inside(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, 40);
    Order<HardEvent::MTE2_V>();
    for (int column = 0; column < 64; column += 8) {
        Mul(c[column], a[column], a[column], 8);
        PipeBarrier<PIPE_V>();
        Adds(b[column], c[column], 1.0f, 8);
        PipeBarrier<PIPE_V>();
    }
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, 40);
}

// A mask takes the padding away, a tail is filled, a sum stays in front of it, and what nobody needs is copied out.
extern "C" __global__ __aicore__ void good_padding_is_left_out(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopy(a, x, 40);
    Duplicate(c, 0.0f, 64);
    PipeBarrier<PIPE_V>();
    Duplicate(c, 1.0f, 40);
    Order<HardEvent::MTE2_V>();
    Exp(b, a, 64);
    PipeBarrier<PIPE_V>();
    Mul(a, b, c, 64);
    PipeBarrier<PIPE_V>();
    ReduceSum(c, a, c[128], 64);
    PipeBarrier<PIPE_V>();
    ReduceSum(c, b, c[128], 40);
    PipeBarrier<PIPE_V>();
    Adds(a, b, 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Duplicate(a[40], 0.0f, 24);
    PipeBarrier<PIPE_V>();
    ReduceMax(c, a, c[128], 64);
    Order<HardEvent::V_MTE3>();
    DataCopy(y, b, 64);
}

extern "C" __global__ __aicore__ void good_work_on_padding(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    DataCopyPad(a, x, {1, 40 * 4, 0, 0, 0}, {false, 0, 0, 0.0f});
    Order<HardEvent::MTE2_V>();
    Adds(b, a, 1.0f, 64);
    PipeBarrier<PIPE_V>();
    ReduceSum(c, b, a, 40);
    Order<HardEvent::V_MTE3>();
    DataCopyPad(y, b, {1, 40 * 4, 0, 0, 0});
}

extern "C" __global__ __aicore__ void good_elements(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    for (int i = 0; i < 16; i++) a.SetValue(i, (float)i);
    a(16) = 3.0f;
    Order<HardEvent::S_V>();
    Adds(b, a, 1.0f, 17);
    Order<HardEvent::V_S>();
    y.SetValue(0, b.GetValue(16));
}

extern "C" __global__ __aicore__ void bad_vector_on_l1(GM_ADDR xAddr, GM_ADDR yAddr) {
    TENSORS;
    TBuf<TPosition::A1> l1;
    pipe.InitBuffer(l1, 1024);
    LocalTensor<float> far = l1.Get<float>();
    Duplicate(far, 1.0f, N);  // finds: TENSOR-POSITION
}
