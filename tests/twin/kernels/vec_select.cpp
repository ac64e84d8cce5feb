#include "vec_case.h"

// op 0 Compare, 1 CompareScalar, 2 Compares, 3 Select of tensors, 4 Select with a scalar, 5 Compare to the register and
// Select without mask arguments, 6 operators.  extra: CMPMODE or SELMODE.
template <typename T>
inline void choose(const Case &c, const Tensors &t) {
    const auto mode = static_cast<CMPMODE>(c.extra);
    const auto sel = static_cast<SELMODE>(c.extra);
    const BinaryRepeatParams p{static_cast<uint8_t>(c.blk[0]), static_cast<uint8_t>(c.blk[1]), static_cast<uint8_t>(c.blk[2]),
                               static_cast<uint8_t>(c.rep[0]), static_cast<uint8_t>(c.rep[1]), static_cast<uint8_t>(c.rep[2])};
    const UnaryRepeatParams u{static_cast<uint16_t>(c.blk[0]), static_cast<uint16_t>(c.blk[1]), static_cast<uint8_t>(c.rep[0]),
                              static_cast<uint8_t>(c.rep[1])};
    const auto bits8 = t.get<uint8_t>(0);
    const auto d = t.get<T>(0), a = t.get<T>(1), b = t.get<T>(2);
    const auto mask8 = t.get<uint8_t>(3);
    const T s = std::is_integral<T>::value ? static_cast<T>(c.i) : static_cast<T>(c.f);
    const uint64_t n = c.n;
    uint64_t bits[2] = {c.bits[0], c.bits[1]};
    if (c.op == 0) {
        if (c.form == COUNT) Compare(bits8, a, b, mode, c.n);
        else if (c.form == MASK_N) Compare(bits8, a, b, mode, n, c.repeat, p);
        else Compare(bits8, a, b, mode, bits, c.repeat, p);
    } else if (c.op == 1) {
        if (c.form == COUNT) CompareScalar(bits8, a, s, mode, c.n);
        else if (c.form == MASK_N) CompareScalar(bits8, a, s, mode, n, c.repeat, u);
        else CompareScalar(bits8, a, s, mode, bits, c.repeat, u);
    } else if (c.op == 2) {
        Compares(bits8, a, s, mode, c.n);
    }
    if constexpr (!std::is_integral<T>::value) {
        if (c.op == 3) {
            if (c.form == COUNT) Select(d, mask8, a, b, sel, c.n);
            else if (c.form == MASK_N) Select(d, mask8, a, b, sel, n, c.repeat, p);
            else Select(d, mask8, a, b, sel, bits, c.repeat, p);
        } else if (c.op == 4) {
            if (c.form == COUNT) Select(d, mask8, a, s, sel, c.n);
            else if (c.form == MASK_N) Select(d, mask8, a, s, sel, n, c.repeat, p);
            else Select(d, mask8, a, s, sel, bits, c.repeat, p);
        } else if (c.op == 5) {
            Compare(a, b, mode, n, p);
            SetVectorMask<T>(c.n);
            Select<T, SELMODE::VSEL_CMPMASK_SPR>(d, a, b, c.repeat, p);
            ResetMask();
        }
    }
}

// dst = a op b over all of dst (numbers), or bits over all of a (comparisons).
inline void operators(const Case &c, const Tensors &t) {
    LocalTensor<float> d = t.get<float>(0), a = t.get<float>(1), b = t.get<float>(2);
    LocalTensor<uint8_t> bits = t.get<uint8_t>(0);
    LocalTensor<int16_t> words = t.get<int16_t>(0), x = t.get<int16_t>(1), y = t.get<int16_t>(2);
    switch (c.extra) {
        case 0: d = a + b; break;
        case 1: d = a - b; break;
        case 2: d = a * b; break;
        case 3: d = a / b; break;
        case 4: words = x & y; break;
        case 5: words = x | y; break;
        case 6: bits = a < b; break;
        case 7: bits = a > b; break;
        case 8: bits = a <= b; break;
        case 9: bits = a >= b; break;
        case 10: bits = a == b; break;
        case 11: bits = a != b; break;
        default: d[64] = a + b; break;
    }
}

extern "C" __global__ __aicore__ void vec_select(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, const Tensors &t) {
        if (c.op == 6) operators(c, t);
        else if (c.dtype == 0) choose<half>(c, t);
        else if (c.dtype == 1) choose<float>(c, t);
        else choose<int32_t>(c, t);
    });
}
