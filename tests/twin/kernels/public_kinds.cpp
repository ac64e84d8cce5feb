// Habits of public kernels that must work: each kernel shows one.
#include "kernel_operator.h"

constexpr uint32_t TILE = 64;

// Rounds the last tile up to whole blocks and relies on the padding that device memory has.
extern "C" __global__ __aicore__ void round_up_tail(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR tiling) {
    const uint32_t length = *(__gm__ uint32_t *)tiling, whole = (length + 7) / 8 * 8;
    AscendC::GlobalTensor<float> x, y;
    x.SetGlobalBuffer((__gm__ float *)xAddr);
    y.SetGlobalBuffer((__gm__ float *)yAddr);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, TILE * sizeof(float));
    pipe.InitBuffer(out, 1, TILE * sizeof(float));
    AscendC::LocalTensor<float> a = in.AllocTensor<float>();
    AscendC::DataCopy(a, x, TILE);  // finds: GM-PADDING
    in.EnQue(a);
    a = in.DeQue<float>();
    AscendC::LocalTensor<float> b = out.AllocTensor<float>();
    AscendC::Adds(b, a, 1.0f, static_cast<int32_t>(whole));
    out.EnQue(b);
    b = out.DeQue<float>();
    AscendC::DataCopy(y, b, whole);  // finds: GM-PADDING
    out.FreeTensor(b);
    in.FreeTensor(a);
}

// Gets a buffer in every case, but gives it memory and uses it only where the tiling says so.
extern "C" __global__ __aicore__ void optional_buffer(GM_ADDR yAddr, GM_ADDR tiling) {
    const bool use = *(__gm__ uint32_t *)tiling == 1;
    AscendC::GlobalTensor<float> y;
    y.SetGlobalBuffer((__gm__ float *)yAddr);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> scratch;
    AscendC::LocalTensor<float> a = scratch.Get<float>();
    if (use) AscendC::Duplicate(a, 3.0f, 8);  // finds: UB-TENSOR
    y.SetValue(0, 7.0f);
}

// Compares `count` numbers with 3 by a mask that the unit ignores, in buffers of 8 numbers; a buffer for more follows when `room` is set.
extern "C" __global__ __aicore__ void compare_few(GM_ADDR xAddr, GM_ADDR yAddr, GM_ADDR tiling) {
    const uint64_t count = ((__gm__ uint32_t *)tiling)[0], room = ((__gm__ uint32_t *)tiling)[1];
    AscendC::GlobalTensor<float> x;
    AscendC::GlobalTensor<uint8_t> y;
    x.SetGlobalBuffer((__gm__ float *)xAddr);
    y.SetGlobalBuffer((__gm__ uint8_t *)yAddr);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bits, numbers, threes;
    pipe.InitBuffer(bits, 32);
    pipe.InitBuffer(numbers, room != 0 ? 256 : 32);
    pipe.InitBuffer(threes, 256);
    AscendC::LocalTensor<uint8_t> flags = bits.Get<uint8_t>();
    AscendC::LocalTensor<float> a = numbers.Get<float>(), b = threes.Get<float>();
    AscendC::DataCopy(a, x, 8);
    AscendC::Duplicate(b, 3.0f, 64);
    AscendC::PipeBarrier<PIPE_ALL>();
    const AscendC::BinaryRepeatParams strides{1, 1, 1, 8, 8, 8};
    AscendC::Compare(flags, a, b, AscendC::CMPMODE::EQ, count, 1, strides);  // finds: COMPARE-TAIL
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(y, flags, 32);
}

// Transposes 16 x 16 halves twice over with the compiler's own functions: once by block addresses in VA registers, once as one block.
extern "C" __global__ __aicore__ void compiler_transposes(GM_ADDR xAddr, GM_ADDR scatteredAddr, GM_ADDR wholeAddr) {
    constexpr uint32_t side = 16, count = side * side;
    AscendC::GlobalTensor<half> x, scattered, whole;
    x.SetGlobalBuffer((__gm__ half *)xAddr);
    scattered.SetGlobalBuffer((__gm__ half *)scatteredAddr);
    whole.SetGlobalBuffer((__gm__ half *)wholeAddr);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 3 * count * sizeof(half));
    AscendC::LocalTensor<half> a = buffer.Get<half>(), b = a[count], c = a[2 * count];
    AscendC::DataCopy(a, x, count);
    AscendC::PipeBarrier<PIPE_ALL>();
    __ubuf__ half *from = (__ubuf__ half *)a.GetPhyAddr(), *to = (__ubuf__ half *)b.GetPhyAddr();
    uint64_t rows[2 * side];
    for (uint32_t i = 0; i < side; ++i) {
        rows[i] = (uint64_t)(to + i * side);
        rows[side + i] = (uint64_t)(from + i * side);
    }
    set_va_reg_sb(VA0, rows);
    set_va_reg_sb(VA1, rows + 8);
    set_va_reg_sb(VA2, rows + 16);
    set_va_reg_sb(VA3, rows + 24);
    scatter_vnchwconv_b16(VA0, VA2, 1, 0, 0);
    vtranspose((__ubuf__ uint16_t *)c.GetPhyAddr(), (__ubuf__ uint16_t *)from);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(scattered, b, count);
    AscendC::DataCopy(whole, c, count);
}

// Constants that kernels take from the toolkit.
static_assert(AscendC::BRCB_MAX_REPEAT_SIZE == 8 * 255 && AscendC::FLOAT_REPEAT_SIZE == 64 && AscendC::FULL_MASK == ~uint64_t{0});
static_assert(AscendC::B16_DATA_NUM_PER_BLOCK == 16 && AscendC::B32_DATA_NUM_PER_REPEAT == 64 && AscendC::HALF_FACTOR == 2);

// Sums of blocks and of repeats, and a maximum with its place, by the newer names. y: 16 sums of 8, 2 sums of 64, maximum of each 64.
extern "C" __global__ __aicore__ void newer_reductions(GM_ADDR xAddr, GM_ADDR yAddr) {
    AscendC::GlobalTensor<float> x, y;
    x.SetGlobalBuffer((__gm__ float *)xAddr);
    y.SetGlobalBuffer((__gm__ float *)yAddr);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    AscendC::LocalTensor<float> a = buffer.Get<float>(), b = a[128];
    AscendC::DataCopy(a, x, 128);
    AscendC::Duplicate(b, 0.0f, 96);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::ReduceDataBlock<AscendC::ReduceType::SUM, float, float>(b, a, 64, 2, 1, 1, 8);
    AscendC::ReduceRepeat<AscendC::ReduceType::SUM, float, float>(b[16], a, 64, 2, 1, 1, 8);
    uint64_t mask[2] = {AscendC::FULL_MASK, 0};
    AscendC::ReduceRepeat<AscendC::ReduceType::MAX, float, float>(b[24], a, mask, 2, 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE);
    AscendC::ReducePairElem<AscendC::ReduceType::SUM, float, float>(b[32], a, 64, 2, 1, 1, 8);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(y, b, 96);
}

// Every block in turn appends its number twice; the place to write is read from memory.
extern "C" __global__ __aicore__ void in_turn(GM_ADDR logAddr, GM_ADDR turnsAddr) {
    AscendC::GlobalTensor<int32_t> turns;
    turns.SetGlobalBuffer((__gm__ int32_t *)turnsAddr);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    AscendC::LocalTensor<int32_t> scratch = buffer.Get<int32_t>();
    __gm__ int32_t *log = (__gm__ int32_t *)logAddr;
    AscendC::InitDetermineComputeWorkspace(turns, scratch);
    for (int32_t round = 0; round < 2; ++round) {
        AscendC::WaitPreBlock(turns, scratch);
        const int32_t place = AscendC::ReadGmByPassDCache(log);
        AscendC::WriteGmByPassDCache(log + 1 + place, static_cast<int32_t>(AscendC::GetBlockIdx()));
        AscendC::WriteGmByPassDCache(log, place + 1);
        AscendC::DataSyncBarrier<AscendC::MemDsbT::DDR>();
        AscendC::NotifyNextBlock(turns, scratch);
    }
    AscendC::SetNextTaskStart();
}

// Bits of the control register.
extern "C" __global__ __aicore__ void control_bits(GM_ADDR yAddr) {
    __gm__ int64_t *y = (__gm__ int64_t *)yAddr;
    set_ctrl(0);
    AscendC::SetCtrlSpr<6, 8>(5);
    AscendC::SetCtrlSpr<60, 60>(1);
    y[0] = get_ctrl();
    AscendC::ResetCtrlSpr<6, 7>();
    y[1] = AscendC::GetCtrlSpr<6, 8>();
    y[2] = AscendC::GetCtrlSpr<60, 63>();
}

// Reads its result once more after it is copied out and freed: nothing else has filled the buffer yet.
extern "C" __global__ __aicore__ void read_after_free(GM_ADDR xAddr, GM_ADDR yAddr) {
    AscendC::GlobalTensor<float> x, y;
    x.SetGlobalBuffer((__gm__ float *)xAddr);
    y.SetGlobalBuffer((__gm__ float *)yAddr);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, TILE * sizeof(float));
    pipe.InitBuffer(out, 2, TILE * sizeof(float));
    AscendC::LocalTensor<float> a = in.AllocTensor<float>();
    AscendC::DataCopy(a, x, TILE);
    in.EnQue(a);
    a = in.DeQue<float>();
    AscendC::LocalTensor<float> b = out.AllocTensor<float>();
    AscendC::Adds(b, a, 1.0f, TILE);
    out.EnQue(b);
    b = out.DeQue<float>();
    AscendC::DataCopy(y, b, TILE);
    out.FreeTensor(b);
    AscendC::LocalTensor<float> c = out.AllocTensor<float>();
    AscendC::Muls(c, b, 2.0f, TILE);  // finds: QUEUE-USE
    out.EnQue(c);
    c = out.DeQue<float>();
    AscendC::DataCopy(y[TILE], c, TILE);
    out.FreeTensor(c);
    in.FreeTensor(a);
}

// A kernel's own functions of the toolkit's names win.
namespace own {
template <typename T1, typename T2>
inline int Ceil(T1, T2) {
    return -1;
}
inline int Ceil(uint32_t, uint32_t) { return -2; }
}  // namespace own
inline bool own_functions_win() {
    using namespace own;
    return Ceil(int64_t{17}, 8) == -1 && Ceil(17u, 8u) == -2;
}

// Waits between the scalar unit and the vector unit by the names of the pipes; adds atomically; asserts with a message.
extern "C" __global__ __aicore__ void pipes_and_atomics(GM_ADDR yAddr, GM_ADDR tiling) {
    const int32_t value = *(__gm__ int32_t *)tiling;
    assert(value < 10, "the value %d is not below %d\n", value, 10);
    ascendc_assert(value > -10);
    assert(AscendC::Ceil(static_cast<int64_t>(17), 8) == 3 && AscendC::ConstCeil(16, 8) == 2);
    assert(own_functions_win());
    ASSERT_MSG(value != 0, "%d", value);
    AscendC::GlobalTensor<int32_t> y;
    y.SetGlobalBuffer((__gm__ int32_t *)yAddr);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 32);
    AscendC::LocalTensor<int32_t> a = buffer.Get<int32_t>();
    AscendC::TQueSync<PIPE_V, PIPE_S> computed;
    AscendC::TQueSync<PIPE_S, PIPE_MTE3> stored;
    AscendC::Duplicate(a, value, 8);
    computed.SetFlag(EVENT_ID0);
    computed.WaitFlag(EVENT_ID0);
    a.SetValue(0, a.GetValue(0) + 100);
    stored.SetFlag(EVENT_ID1);
    stored.WaitFlag(EVENT_ID1);
    set_atomic_s32();
    AscendC::DataCopy(y, a, 8);
    set_atomic_max();
    AscendC::DataCopy(y[8], a, 8);
    set_atomic_none();
}

// Code that a kernel keeps from other CPU builds runs here.
extern "C" __global__ __aicore__ void not_in_a_cpu_build(GM_ADDR yAddr) {
#ifndef __CCE_KT_TEST__
    AscendC::WriteGmByPassDCache((__gm__ int32_t *)yAddr, 5);
#endif
}

// A branch for each tiling key that each build of a device has alone.
extern "C" __global__ __aicore__ void key_branches(GM_ADDR yAddr) {
    __gm__ int32_t *y = (__gm__ int32_t *)yAddr;
#if defined(TILING_KEY_VAR) && (TILING_KEY_VAR != 1)
#error a build of another key
#endif
    if constexpr (TILING_KEY_IS(1)) {
        y[0] = 10;
    } else if constexpr (TILING_KEY_IS(2) || TILING_KEY_IS(3)) {
        y[0] = 20;
    }
}

// With a count, And and Or take elements of any type as 16-bit ones; Gather of bytes compiles and does nothing.
template <typename T>
__aicore__ inline void Bits(GM_ADDR xAddr, GM_ADDR yAddr, int32_t count) {
    AscendC::GlobalTensor<T> x, y;
    x.SetGlobalBuffer((__gm__ T *)xAddr);
    y.SetGlobalBuffer((__gm__ T *)yAddr);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    AscendC::LocalTensor<T> all = buffer.Get<T>();
    constexpr uint32_t n = 64 / sizeof(T);
    AscendC::LocalTensor<T> a = all[0], b = all[n], both = all[2 * n], any = all[3 * n];
    AscendC::DataCopy(a, x, 2 * n);
    AscendC::Duplicate(both.template ReinterpretCast<int32_t>(), 0, 32);
    AscendC::PipeBarrier<PIPE_ALL>();
    if (count > 0) {
        AscendC::And(both, a, b, count);
        AscendC::Or(any, a, b, count);
    } else {
        AscendC::Gather(both, a, b.template ReinterpretCast<uint32_t>(), 0, n);
    }
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(y, both, 2 * n);
}
extern "C" __global__ __aicore__ void bits_of_bytes(GM_ADDR x, GM_ADDR y, int32_t count) { Bits<uint8_t>(x, y, count); }
extern "C" __global__ __aicore__ void bits_of_words(GM_ADDR x, GM_ADDR y, int32_t count) { Bits<int32_t>(x, y, count); }

// A copy of the tiling from its plain address, and the compiler's name of a scalar function.
struct FewNumbers {
    uint32_t n, m;
};
extern "C" __global__ __aicore__ void copied_tiling(GM_ADDR y, GM_ADDR tiling) {
    COPY_TILING_WITH_STRUCT(FewNumbers, tiling, numbers);
    GlobalTensor<int32_t> gm;
    gm.SetGlobalBuffer((__gm__ int32_t *)y, 2);
    gm.SetValue(0, numbers->m);
    gm.SetValue(1, clz(numbers->n));
}

// A function of two types that is called like one of the language.
template <typename T, typename U>
__aicore__ inline static constexpr T max(T a, U b) { return (a > static_cast<T>(b)) ? a : static_cast<T>(b); }
extern "C" __global__ __aicore__ void own_max(GM_ADDR yAddr) {
    __tiling_data_ptr__ __gm__ int32_t *y = (__gm__ int32_t *)yAddr;
    const uint16_t small = 3;
    y[0] = max(16, small) + min(7, small);
}

// An object with a pipe of its own, which stands for the pipe that it is given; tiling fields without semicolons; an atomic that no
// unit has.
BEGIN_TILING_DATA_DEF(Fields)
    TILING_DATA_FIELD_DEF(uint32_t, count)
    TILING_DATA_FIELD_DEF(float, scale);
END_TILING_DATA_DEF;
class WithPipe {
public:
    __aicore__ inline void Init(AscendC::TPipe &pipe) {
        pipe_ = pipe;
        pipe_.InitBuffer(buffer_, 32);
    }
    __aicore__ inline void Process(GM_ADDR y, int32_t bytes) {
        AscendC::LocalTensor<int32_t> a = buffer_.Get<int32_t>();
        AscendC::Duplicate(a, static_cast<int32_t>(sizeof(Fields)), 8);
        AscendC::GlobalTensor<int32_t> out;
        out.SetGlobalBuffer((__gm__ int32_t *)y, 8);
        AscendC::PipeBarrier<PIPE_ALL>();
        static_assert(sizeof(__bf16) == 2 && std::is_same<__bf16, bfloat16_t>::value, "the compiler's name of a type");
        if (bytes == 1) AscendC::SetAtomicAdd<uint8_t>();
        AscendC::DataCopy(out, a, 8);
    }

private:
    AscendC::TPipe pipe_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
};
extern "C" __global__ __aicore__ void pipe_of_an_object(GM_ADDR y, int32_t bytes) {
    AscendC::TPipe pipe;
    WithPipe object;
    object.Init(pipe);
    object.Process(y, bytes);
}

extern "C" __global__ __aicore__ void pointer_dumps(GM_ADDR xAddr) {
    PRELOAD(2);
    TRACE_START(0x2);
    TPipe pipe;
    TBuf<> buf;
    pipe.InitBuffer(buf, 64);
    LocalTensor<int32_t> a = buf.Get<int32_t>();
    for (int i = 0; i < 8; ++i) a.SetValue(i, 10 + i);
    asc_dump_gm((__gm__ int16_t *)xAddr, 1, 3);
    asc_dump_ubuf((__ubuf__ int32_t *)a.GetPhyAddr(), 2, 2);
    asc_dump((__gm__ int16_t *)xAddr, 3, 2);
    asc_dump((__ubuf__ int32_t *)a[4].GetPhyAddr(), 4, 3);
    TRACE_STOP(0x2);
}

// Views of whole memories, whose position is set behind InitBuffer: no TPipe makes them.
extern "C" __global__ __aicore__ void placed_by_position(GM_ADDR xAddr, GM_ADDR yAddr, int32_t offset) {
    AscendC::LocalTensor<uint8_t> memories[2];
    memories[0].InitBuffer(0, 192 * 1024);
    memories[0].address_.logicPos = static_cast<uint8_t>(AscendC::TPosition::VECIN);
    memories[1].InitBuffer(512, 1024);
    memories[1].address_.logicPos = static_cast<uint8_t>(AscendC::TPosition::VECOUT);
    AscendC::LocalTensor<float> a = memories[0][offset].ReinterpretCast<float>(), b = memories[1].ReinterpretCast<float>();
    AscendC::GlobalTensor<float> x, y;
    x.SetGlobalBuffer((__gm__ float *)xAddr, 64);
    y.SetGlobalBuffer((__gm__ float *)yAddr, 64);
    AscendC::DataCopy(a, x, 64);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
    AscendC::Adds(b, a, static_cast<float>(b.GetSize() + memories[1].GetPosition()), 64);
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::DataCopy(y, b, 64);
    AscendC::PipeBarrier<PIPE_ALL>();
}

// One block waits in a loop for a flag that the other sets past the data cache, behind the value it stands for.
extern "C" __global__ __aicore__ void flag_past_the_cache(GM_ADDR xAddr, GM_ADDR yAddr) {
    __gm__ int32_t *x = (__gm__ int32_t *)xAddr;
    if (AscendC::GetBlockIdx() == 0) {
        AscendC::WriteGmByPassDCache(x + 1, 21);
        AscendC::DataSyncBarrier<AscendC::MemDsbT::DDR>();
        AscendC::WriteGmByPassDCache(x, 1);
        return;
    }
    while (AscendC::ReadGmByPassDCache(x) != 1) {
    }
    AscendC::WriteGmByPassDCache((__gm__ int32_t *)yAddr, 2 * AscendC::ReadGmByPassDCache(x + 1));
}

// Elements of an output are assigned by reference, changed by reference, and read; block 1 has the second line. Word 9 is read before it is written.
extern "C" __global__ __aicore__ void assigned_by_reference(GM_ADDR yAddr, int32_t early) {
    AscendC::GlobalTensor<int32_t> y;
    y.SetGlobalBuffer((__gm__ int32_t *)yAddr + 16 * AscendC::GetBlockIdx(), 16);
    for (int32_t i = 0; i < 8; i++) y(i) = i;
    for (int32_t i = 0; i < 8; i++) y(i) += 10;
    y(8) = y.GetValue(7) + y(6);
    if (early) y.SetValue(10, y.GetValue(9));
}
