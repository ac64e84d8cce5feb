#include "vec_case.h"

template <typename D, typename S>
inline void cast(const Case &c, const Tensors &t) {
    const auto d = t.get<D>(0);
    const auto s = t.get<S>(1);
    const auto mode = static_cast<RoundMode>(c.extra);
    const UnaryRepeatParams p{static_cast<uint16_t>(c.blk[0]), static_cast<uint16_t>(c.blk[1]), static_cast<uint8_t>(c.rep[0]),
                              static_cast<uint8_t>(c.rep[1])};
    uint64_t bits[2] = {c.bits[0], c.bits[1]};
    set_register<D>(c);
    if (c.form == COUNT) Cast(d, s, mode, c.n);
    else if (c.form == MASK_N || c.form == COUNTER) Cast<D, S>(d, s, mode, static_cast<uint64_t>(c.n), c.repeat, p);
    else if (c.form == MASK_BITS) Cast<D, S>(d, s, mode, bits, c.repeat, p);
    else Cast<D, S, false>(d, s, mode, MASK_PLACEHOLDER, c.repeat, p);
    reset_register(c);
}

template <typename D, typename S>
inline void fused(const Case &c, const Tensors &t) {
    const auto d = t.get<D>(0);
    const auto a = t.get<S>(1), b = t.get<S>(2);
    if (c.op == 1) AddReluCast(d, a, b, c.n);
    if (c.op == 2) SubReluCast(d, a, b, c.n);
    if constexpr (std::is_same<S, half>::value) {
        if (c.op == 3) MulCast(d, a, b, c.n);
    }
}

constexpr int F16 = 0, F32 = 1, I16 = 2, I32 = 3, BF16 = 6, I8 = 7, U8 = 8, I64 = 9, I4 = 10;
constexpr int pair(int s, int d) { return s * 16 + d; }

extern "C" __global__ __aicore__ void vec_cast(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, const Tensors &t) {
        if (c.op == 4) {
            SetDeqScale(static_cast<half>(c.f));
            AddDeqRelu(t.get<half>(0), t.get<int32_t>(1), t.get<int32_t>(2), c.n);
            return;
        }
        if (c.op > 0) {
            switch (pair(c.dtype2, c.dtype)) {
                case pair(F16, I8): fused<int8_t, half>(c, t); break;
                case pair(F16, U8): fused<uint8_t, half>(c, t); break;
                case pair(I16, I8): fused<int8_t, int16_t>(c, t); break;
                case pair(F32, F16): fused<half, float>(c, t); break;
                default: break;
            }
            return;
        }
        SetDeqScale(static_cast<half>(c.f));
        switch (pair(c.dtype2, c.dtype)) {
            case pair(I4, F16): cast<half, int4b_t>(c, t); break;
            case pair(I8, F16): cast<half, int8_t>(c, t); break;
            case pair(U8, F16): cast<half, uint8_t>(c, t); break;
            case pair(I16, F16): cast<half, int16_t>(c, t); break;
            case pair(I16, F32): cast<float, int16_t>(c, t); break;
            case pair(F16, I4): cast<int4b_t, half>(c, t); break;
            case pair(F16, I8): cast<int8_t, half>(c, t); break;
            case pair(F16, U8): cast<uint8_t, half>(c, t); break;
            case pair(F16, I16): cast<int16_t, half>(c, t); break;
            case pair(F16, I32): cast<int32_t, half>(c, t); break;
            case pair(F16, F32): cast<float, half>(c, t); break;
            case pair(BF16, I32): cast<int32_t, bfloat16_t>(c, t); break;
            case pair(BF16, F32): cast<float, bfloat16_t>(c, t); break;
            case pair(I32, I16): cast<int16_t, int32_t>(c, t); break;
            case pair(I32, F16): cast<half, int32_t>(c, t); break;
            case pair(I32, F32): cast<float, int32_t>(c, t); break;
            case pair(I32, I64): cast<int64_t, int32_t>(c, t); break;
            case pair(F32, I16): cast<int16_t, float>(c, t); break;
            case pair(F32, F16): cast<half, float>(c, t); break;
            case pair(F32, BF16): cast<bfloat16_t, float>(c, t); break;
            case pair(F32, I32): cast<int32_t, float>(c, t); break;
            case pair(F32, F32): cast<float, float>(c, t); break;
            case pair(F32, I64): cast<int64_t, float>(c, t); break;
            case pair(I64, I32): cast<int32_t, int64_t>(c, t); break;
            case pair(I64, F32): cast<float, int64_t>(c, t); break;
            default: break;
        }
    });
}
