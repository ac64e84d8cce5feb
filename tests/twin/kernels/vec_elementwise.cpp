#include "vec_case.h"

// op numbers: vec_support.BINARY, SCALAR, UNARY.

template <typename T>
inline BinaryRepeatParams binary_params(const Case &c) {
    return {static_cast<uint8_t>(c.blk[0]), static_cast<uint8_t>(c.blk[1]), static_cast<uint8_t>(c.blk[2]),
            static_cast<uint8_t>(c.rep[0]), static_cast<uint8_t>(c.rep[1]), static_cast<uint8_t>(c.rep[2])};
}
inline UnaryRepeatParams unary_params(const Case &c) {
    return {static_cast<uint16_t>(c.blk[0]), static_cast<uint16_t>(c.blk[1]), static_cast<uint8_t>(c.rep[0]),
            static_cast<uint8_t>(c.rep[1])};
}

#define BINARY(NUMBER, API)                                                                        \
    case NUMBER:                                                                                   \
        if (c.form == COUNT) API(d, a, b, c.n);                                                    \
        else if (c.form == MASK_N || c.form == COUNTER) API<T>(d, a, b, static_cast<uint64_t>(c.n), c.repeat, p); \
        else if (c.form == MASK_BITS) API<T>(d, a, b, bits, c.repeat, p);                          \
        else API<T, false>(d, a, b, MASK_PLACEHOLDER, c.repeat, p);                                \
        break;
#define UNARY(NUMBER, API)                                                                         \
    case NUMBER:                                                                                   \
        if (c.form == COUNT) API(d, a, c.n);                                                       \
        else if (c.form == MASK_N || c.form == COUNTER) API<T>(d, a, static_cast<uint64_t>(c.n), c.repeat, p); \
        else if (c.form == MASK_BITS) API<T>(d, a, bits, c.repeat, p);                             \
        else API<T, false>(d, a, MASK_PLACEHOLDER, c.repeat, p);                                   \
        break;
#define SCALAR(NUMBER, API)                                                                        \
    case NUMBER:                                                                                   \
        if (c.form == COUNT) API(d, a, s, c.n);                                                    \
        else if (c.form == MASK_N || c.form == COUNTER) API<T>(d, a, s, static_cast<uint64_t>(c.n), c.repeat, p); \
        else if (c.form == MASK_BITS) API<T>(d, a, s, bits, c.repeat, p);                          \
        else API<T, false>(d, a, s, MASK_PLACEHOLDER, c.repeat, p);                                \
        break;

template <typename T>
inline void numbers(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1), b = t.get<T>(2);
    const auto p = binary_params<T>(c);
    uint64_t bits[2] = {c.bits[0], c.bits[1]};
    switch (c.op) {
        BINARY(0, Add) BINARY(1, Sub) BINARY(2, Mul) BINARY(3, Max) BINARY(4, Min)
        default: break;
    }
}
template <typename T>
inline void numbers_scalar(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1);
    const auto p = unary_params(c);
    uint64_t bits[2] = {c.bits[0], c.bits[1]};
    const T s = std::is_integral<T>::value ? static_cast<T>(c.i) : static_cast<T>(c.f);
    switch (c.op) {
        SCALAR(40, Adds) SCALAR(41, Muls) SCALAR(42, Maxs) SCALAR(43, Mins)
        default: break;
    }
}
template <typename T>
inline void floats(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1), b = t.get<T>(2);
    uint64_t bits[2] = {c.bits[0], c.bits[1]};
    {
        const auto p = binary_params<T>(c);
        switch (c.op) {
            BINARY(5, Div) BINARY(6, FusedMulAdd) BINARY(7, FusedMulAddRelu) BINARY(8, AddRelu) BINARY(9, SubRelu)
            case 10:
                if (c.form == COUNT) MulAddDst(d, a, b, c.n);
                else if (c.form == MASK_N || c.form == COUNTER) MulAddDst<T, T>(d, a, b, static_cast<uint64_t>(c.n), c.repeat, p);
                else if (c.form == MASK_BITS) MulAddDst<T, T>(d, a, b, bits, c.repeat, p);
                else MulAddDst<T, T, false>(d, a, b, MASK_PLACEHOLDER, c.repeat, p);
                break;
            default: break;
        }
    }
    const auto p = unary_params(c);
    const T s = static_cast<T>(c.f);
    switch (c.op) {
        UNARY(20, Abs) UNARY(21, Exp) UNARY(22, Ln) UNARY(23, Sqrt) UNARY(24, Rsqrt) UNARY(25, Reciprocal) UNARY(26, Relu)
        SCALAR(44, LeakyRelu)
        case 45:
            if (c.form == COUNT) Axpy(d, a, s, c.n);
            else if (c.form == MASK_N || c.form == COUNTER) Axpy<T, T>(d, a, s, static_cast<uint64_t>(c.n), c.repeat, p);
            else if (c.form == MASK_BITS) Axpy<T, T>(d, a, s, bits, c.repeat, p);
            else Axpy<T, T, false>(d, a, s, MASK_PLACEHOLDER, c.repeat, p);
            break;
        default: break;
    }
}
template <typename T>
inline void words(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1), b = t.get<T>(2);
    uint64_t bits[2] = {c.bits[0], c.bits[1]};
    {
        const auto p = binary_params<T>(c);
        switch (c.op) {
            BINARY(11, And) BINARY(12, Or)
            default: break;
        }
    }
    const auto p = unary_params(c);
    switch (c.op) {
        UNARY(27, Not)
        default: break;
    }
}
template <typename T>
inline void shifts(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1);
    const auto p = unary_params(c);
    uint64_t bits[2] = {c.bits[0], c.bits[1]};
    const T s = static_cast<T>(c.i);
    switch (c.op) {
        SCALAR(46, ShiftLeft) SCALAR(47, ShiftRight)
        case 48: ShiftRight(d, a, s, static_cast<uint64_t>(c.n), c.repeat, p, true); break;
        default: break;
    }
}
template <typename T>
inline void filling(const Case &c, const Tensors &t) {
    LocalTensor<T> d = t.get<T>(0);
    uint64_t bits[2] = {c.bits[0], c.bits[1]};
    const T s = std::is_integral<T>::value ? static_cast<T>(c.i) : static_cast<T>(c.f);
    switch (c.op) {
        case 60:
            if (c.form == COUNT) Duplicate(d, s, c.n);
            else if (c.form == MASK_N || c.form == COUNTER) Duplicate<T>(d, s, static_cast<uint64_t>(c.n), c.repeat, c.blk[0], c.rep[0]);
            else if (c.form == MASK_BITS) Duplicate<T>(d, s, bits, c.repeat, c.blk[0], c.rep[0]);
            else Duplicate<T, false>(d, s, MASK_PLACEHOLDER, c.repeat, c.blk[0], c.rep[0]);
            break;
        case 61: {
            const CopyRepeatParams p{static_cast<uint16_t>(c.blk[0]), static_cast<uint16_t>(c.blk[1]),
                                     static_cast<uint16_t>(c.rep[0]), static_cast<uint16_t>(c.rep[1])};
            if (c.form == MASK_N || c.form == COUNTER) Copy<T>(d, t.get<T>(1), static_cast<uint64_t>(c.n), c.repeat, p);
            else if (c.form == MASK_BITS) Copy<T>(d, t.get<T>(1), bits, c.repeat, p);
            else Copy<T, false>(d, t.get<T>(1), MASK_PLACEHOLDER, c.repeat, p);
            break;
        }
        case 62: Brcb(d, t.get<T>(1), c.repeat, BrcbRepeatParams{static_cast<uint16_t>(c.blk[0]), static_cast<uint16_t>(c.rep[0])}); break;
        default: break;
    }
}
template <typename T>
inline void indices(const Case &c, const Tensors &t) {
    LocalTensor<T> d = t.get<T>(0);
    uint64_t bits[2] = {c.bits[0], c.bits[1]};
    const T s = std::is_integral<T>::value ? static_cast<T>(c.i) : static_cast<T>(c.f);
    switch (c.op) {
        case 63:
            if (c.form == COUNT) CreateVecIndex(d, s, static_cast<uint32_t>(c.n));
            else if (c.form == MASK_N) CreateVecIndex(d, s, static_cast<uint64_t>(c.n), c.repeat, c.blk[0], c.rep[0]);
            else CreateVecIndex(d, s, bits, c.repeat, c.blk[0], c.rep[0]);
            break;
        case 64: ArithProgression(d, s, static_cast<T>(3), c.n); break;
        default: break;
    }
}

// Half sources, float dst.
inline void mixed(const Case &c, const Tensors &t) {
    const auto d = t.get<float>(0);
    const auto a = t.get<half>(1), b = t.get<half>(2);
    if (c.op == 50) {
        if (c.form == COUNT) Axpy(d, a, static_cast<half>(c.f), c.n);
        else Axpy<float, half>(d, a, static_cast<half>(c.f), static_cast<uint64_t>(c.n), c.repeat, unary_params(c));
    } else if (c.op == 51) {
        if (c.form == COUNT) MulAddDst(d, a, b, c.n);
        else MulAddDst<float, half>(d, a, b, static_cast<uint64_t>(c.n), c.repeat, binary_params<float>(c));
    }
}

template <typename T>
inline void elementwise(const Case &c, const Tensors &t) {
    set_register<T>(c);
    if constexpr (!std::is_same<T, uint16_t>::value && !std::is_same<T, uint32_t>::value && !std::is_same<T, bfloat16_t>::value) {
        numbers<T>(c, t);
        numbers_scalar<T>(c, t);
        indices<T>(c, t);
    }
    if constexpr (std::is_same<T, half>::value || std::is_same<T, float>::value) floats<T>(c, t);
    if constexpr (std::is_same<T, int16_t>::value || std::is_same<T, uint16_t>::value) words<T>(c, t);
    if constexpr (std::is_integral<T>::value) shifts<T>(c, t);
    if constexpr (std::is_same<T, int32_t>::value) {
        if (c.op == 26) Relu(t.get<T>(0), t.get<T>(1), c.n);
    }
    filling<T>(c, t);
    reset_register(c);
}

extern "C" __global__ __aicore__ void vec_elementwise(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, const Tensors &t) {
        if (c.op == 50 || c.op == 51) {
            mixed(c, t);
            return;
        }
        if (c.op == 65) {  // dst accumulates over the repeats
            const auto d = t.get<float>(0);
            Add(d, t.get<float>(1), d, 64, c.repeat, {1, 1, 1, 0, 8, 0});
            return;
        }
        if (c.op == 66) {
            const auto d = t.get<float>(0);
            Add(d, d, d, c.n);
            return;
        }
        if (c.op == 67) {  // dst and source in one buffer, i elements apart
            const auto d = t.get<float>(0);
            const uint32_t ahead = c.i > 0 ? c.i : 0, back = c.i < 0 ? -c.i : 0;
            Adds(d[ahead], d[back], 1.0f, c.n);
            return;
        }
        if (c.op == 68) {
            Cast(t.get<float>(0), t.get<half>(0), RoundMode::CAST_NONE, c.n);
            return;
        }
        if (c.op == 69) {
            Cast(t.get<half>(0), t.get<float>(0), RoundMode::CAST_NONE, c.n);
            return;
        }
        switch (c.dtype) {
            case 0: elementwise<half>(c, t); break;
            case 1: elementwise<float>(c, t); break;
            case 2: elementwise<int16_t>(c, t); break;
            case 3: elementwise<int32_t>(c, t); break;
            case 4: elementwise<uint16_t>(c, t); break;
            case 5: elementwise<uint32_t>(c, t); break;
            default: elementwise<bfloat16_t>(c, t); break;
        }
    });
}
