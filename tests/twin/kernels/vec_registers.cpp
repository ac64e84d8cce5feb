// BilinearInterpolation, and what the saturation flags change.
#include "kernel_operator.h"

using namespace AscendC;

namespace {

template <typename T>
__aicore__ inline LocalTensor<T> Take(TPipe &pipe, TBuf<TPosition::VECCALC> &buffer, GM_ADDR from, uint32_t n) {
    pipe.InitBuffer(buffer, n * sizeof(T));
    LocalTensor<T> local = buffer.Get<T>();
    GlobalTensor<T> global;
    global.SetGlobalBuffer((__gm__ T *)from, n);
    DataCopy(local, global, n);
    return local;
}

template <typename T>
__aicore__ inline void Give(GM_ADDR to, const LocalTensor<T> &local, uint32_t n) {
    GlobalTensor<T> global;
    global.SetGlobalBuffer((__gm__ T *)to, n);
    DataCopy(global, local, n);
}

}  // namespace

// y: two rows of 128, `step` elements apart.
extern "C" __global__ __aicore__ void bilinear(GM_ADDR x, GM_ADDR offsets, GM_ADDR weights, GM_ADDR y, int32_t eachBlock, int32_t bits,
                                               int32_t step) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b, c, d, e;
    const LocalTensor<half> src = Take<half>(pipe, a, x, 512), weight = Take<half>(pipe, c, weights, 32);
    const LocalTensor<uint32_t> offset = Take<uint32_t>(pipe, b, offsets, 32);
    pipe.InitBuffer(d, 512 * sizeof(half));
    pipe.InitBuffer(e, 512 * 32 + 32 * 32);
    const LocalTensor<half> dst = d.Get<half>();
    const LocalTensor<uint8_t> work = e.Get<uint8_t>();
    Duplicate(dst, half(-1.0f), 512);
    PipeBarrier<PIPE_ALL>();
    if (bits != 0) {
        uint64_t mask[2] = {static_cast<uint64_t>(bits), 0};
        BilinearInterpolation(dst, src, offset, weight, mask, 2, eachBlock != 0, 1, step, 2, work);
    } else {
        BilinearInterpolation(dst, src, offset, weight, 128, 2, eachBlock != 0, 1, step, 2, work);
    }
    PipeBarrier<PIPE_ALL>();
    Give(y, dst, 512);
}

// x: 16 halves; sum = x + x, narrow = x as int8, whole = x * 1000 as int16 through int32; flags: what GetSaturationFlag says.
extern "C" __global__ __aicore__ void saturation(GM_ADDR x, GM_ADDR sum, GM_ADDR narrow, GM_ADDR whole, GM_ADDR flags, int32_t set, int32_t floats,
                                                 int32_t casts) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b, c, d, e;
    const LocalTensor<half> src = Take<half>(pipe, a, x, 32);
    pipe.InitBuffer(b, 128);
    pipe.InitBuffer(c, 128);
    pipe.InitBuffer(d, 128);
    pipe.InitBuffer(e, 128);
    const LocalTensor<half> twice = b.Get<half>();
    const LocalTensor<int8_t> bytes = c.Get<int8_t>();
    const LocalTensor<int32_t> words = d.Get<int32_t>();
    const LocalTensor<int16_t> shorts = e.Get<int16_t>();
    if (set != 0) {
        SetSaturationFlag<SaturationMode::FLOAT>(floats != 0);
        SetSaturationFlag<SaturationMode::CAST>(casts != 0);
    }
    GlobalTensor<int32_t> said;
    said.SetGlobalBuffer((__gm__ int32_t *)flags, 2);
    said.SetValue(0, GetSaturationFlag<SaturationMode::FLOAT>());
    said.SetValue(1, GetSaturationFlag<SaturationMode::CAST>());
    PipeBarrier<PIPE_ALL>();
    Add(twice, src, src, 32);
    Cast(bytes, src, RoundMode::CAST_RINT, 32);
    Cast(words, src, RoundMode::CAST_RINT, 32);
    PipeBarrier<PIPE_V>();
    Muls(words, words, 1000, 32);
    PipeBarrier<PIPE_V>();
    Cast(shorts, words, RoundMode::CAST_NONE, 32);
    PipeBarrier<PIPE_ALL>();
    Give(sum, twice, 32);
    Give(narrow, bytes, 32);
    Give(whole, shorts, 32);
}
