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
