#include "vec_case.h"

// Functions of one source: op = position in this list. Odd cases pass a temporary buffer.
#define FUNCTIONS(X)                                                                                                       \
    X(0, Log) X(1, Log2) X(2, Log10) X(3, Tanh) X(4, Sigmoid) X(5, Erf) X(6, Erfc) X(7, Sin) X(8, Cos) X(9, Tan) X(10, Sinh) \
    X(11, Cosh) X(12, Asin) X(13, Acos) X(14, Atan) X(15, Asinh) X(16, Acosh) X(17, Atanh) X(18, Sign) X(19, Ceil)           \
    X(20, Floor) X(21, Round) X(22, Trunc) X(23, Frac) X(24, Lgamma) X(25, Digamma) X(26, Gelu) X(27, FasterGelu)            \
    X(28, FasterGeluV2)

template <typename T>
inline void call(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1), b = t.get<T>(2);
    const auto tmp = t.get<uint8_t>(3);
    const uint32_t n = c.n;
    switch (c.op) {
#define ONE(NUMBER, API)                                      \
    case NUMBER:                                              \
        if (c.extra) API(d, a, tmp, n); else API(d, a, n);    \
        break;
        FUNCTIONS(ONE)
        case 29: Silu(d, a, n); break;
        case 30: Swish(d, a, n, static_cast<T>(c.f)); break;
        case 31: Power(d, a, b, n); break;
        case 32: Power(d, a, static_cast<T>(c.f), tmp, n); break;
        case 33: Power<T, false>(d, static_cast<T>(c.f), a, n); break;
        case 34: Fmod(d, a, b, tmp, n); break;
        case 35: ClampMax(d, a, static_cast<T>(c.f), n); break;
        case 36: ClampMin(d, a, tmp, static_cast<T>(c.f), n); break;
        case 37: Exp<T, 15, false>(d, a, tmp, n); break;
        case 38: SwiGLU(d, a, b, c.f, n); break;
        case 39: GeGLU(d, a, b, n); break;
        case 40: ReGlu(d, a, b, tmp, n); break;
        case 41: Axpy(d, a, static_cast<T>(c.f), tmp, n); break;
        case 42: Log(d, a); break;
        case 43: Tanh(d, a, tmp); break;
        default: break;
    }
}

// Template arguments that are API functions, as foreach kernels pass them.
template <typename T>
using ScalarFunction = void(const LocalTensor<T> &, const LocalTensor<T> &, const T &, const int32_t &);
template <typename T>
using BinaryFunction = void(const LocalTensor<T> &, const LocalTensor<T> &, const LocalTensor<T> &, const int32_t &);
template <typename T>
using UnaryFunction = void(const LocalTensor<T> &, const LocalTensor<T> &, const int32_t &);
template <typename T, ScalarFunction<T> *F, BinaryFunction<T> *G, UnaryFunction<T> *H>
struct Chain {
    static void run(const LocalTensor<T> &d, const LocalTensor<T> &a, const LocalTensor<T> &b, int32_t n) {
        F(d, a, static_cast<T>(2), n);
        G(d, d, b, n);
        H(d, d, n);
    }
};

constexpr half ONE = 1.0f;
static_assert(static_cast<float>(ONE * static_cast<half>(2)) == 2.0f, "half works in constant expressions");
static_assert(static_cast<float>((half)(-6.55e4f)) == -65504.0f, "half rounds to nearest even");

extern "C" __global__ __aicore__ void vec_adv(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, const Tensors &t) {
        if (c.op == 50) {
            const auto d = t.get<int32_t>(0), a = t.get<int32_t>(1), b = t.get<int32_t>(2);
            if (c.extra == 0) Power(d, a, b, static_cast<uint32_t>(c.n));
            else Power(d, a, c.i, static_cast<uint32_t>(c.n));
        } else if (c.op == 51) {
            Xor(t.get<int16_t>(0), t.get<int16_t>(1), t.get<int16_t>(2), static_cast<uint32_t>(c.n));
        } else if (c.op == 52) {
            Chain<float, Adds, Mul, Abs>::run(t.get<float>(0), t.get<float>(1), t.get<float>(2), c.n);
        } else if (c.op == 53) {
            Chain<half, Muls<half>, Max<half>, Sqrt<half>>::run(t.get<half>(0), t.get<half>(1), t.get<half>(2), c.n);
        } else if (c.op == 54) {
            const auto d = t.get<int32_t>(0);
            const float x = t.get<float>(1).GetValue(0);
            d.SetValue(0, ScalarCast<float, int32_t, RoundMode::CAST_RINT>(x));
            d.SetValue(1, ScalarCast<float, int32_t, RoundMode::CAST_CEIL>(x));
            d.SetValue(2, ScalarCast<float, int32_t, RoundMode::CAST_FLOOR>(x));
            d.SetValue(3, static_cast<int32_t>(ToFloat(ToBfloat16(x)) * 1000));
        } else if (c.dtype == 0) {
            call<half>(c, t);
        } else {
            call<float>(c, t);
        }
    });
}

struct Rows {
    uint32_t srcM = 0, srcK = 0;
};
static constexpr SoftmaxConfig DENSE{false, 0, 0, SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC};

// op 60 SoftMax (b: sum, c: max), 61 without statistics, 62 SimpleSoftMax, 63 SoftmaxFlashV2 and its update, 64 Broadcast of a
// column, 65 of a row, 66 of one element, 67 SelectWithBytesMask, 68 with the scalar first, 69 SoftmaxFlashV2 that also writes the
// maxima of the second half, with one element per statistic (after dst: new sum, max, expMax, maxima, 32 elements apart), 70 SoftMax so.
template <typename T>
inline void rows(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1), b = t.get<T>(2), e = t.get<T>(3);
    const auto tmp = t.get<uint8_t>(3);
    const uint32_t m = c.repeat, k = c.n;
    const Rows tiling{m, k};
    const SoftMaxShapeInfo shape{m, k, m, static_cast<uint32_t>(c.extra)};
    const uint32_t big[2] = {m, k}, column[2] = {m, 1}, row[2] = {1, k};
    const SelectWithBytesMaskShapeInfo info{m, k, static_cast<uint32_t>(c.extra)};
    switch (c.op) {
        case 60: SoftMax<T, false, false, false>(d, b, e, a, tiling, shape); Copy(d[m * k], b, 32, 1, {1, 1, 8, 8}); break;
        case 61: SoftMax<T>(d, a, tmp, tiling); break;
        case 62: SoftMax(d, b, e, a, tiling); SimpleSoftMax<T>(d, b, e, a, tiling); break;
        case 63:  // a holds two halves of m x k; dst: the second half, then sum, max and expMax of 8 rows
            SoftmaxFlashV2<T, false>(d, b, e, a, b, b, e, tiling);
            SoftmaxFlashV2<T, true>(d, d[m * k], d[m * k + 64], a[m * k], d[m * k + 128], b, e, tiling);
            break;
        case 64: Broadcast<T, 2, 1>(d, a, big, column); break;
        case 65: Broadcast<T, 2, 0>(d, a, big, row); break;
        case 66: Broadcast<T, 1, 0>(d, a, big + 1, row); break;
        case 67: SelectWithBytesMask(d, a, static_cast<T>(c.f), t.get<uint8_t>(2), tmp, info); break;
        case 68: SelectWithBytesMask(d, static_cast<T>(c.f), a, t.get<uint8_t>(2), tmp, info); break;
        case 69:
            SoftmaxFlashV2<T, false, false, false, false, DENSE>(d, b, b[32], e, a, b, b[32], e, tiling, shape);
            SoftmaxFlashV2<T, true, false, false, false, DENSE>(d, d[m * k + 96], d[m * k], d[m * k + 32], a[m * k], d[m * k + 64], b[32], e,
                                                                t.get<uint8_t>(2)[512], tiling, shape);
            break;
        case 70: SoftMax<T, false, false, false, DENSE>(d, d[m * k], d[m * k + 32], a, tiling, shape); break;
        default: break;
    }
}

extern "C" __global__ __aicore__ void vec_rows(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, const Tensors &t) {
        if (c.dtype == 0) rows<half>(c, t);
        else rows<float>(c, t);
    });
}
