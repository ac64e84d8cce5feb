// Activations and their slopes on fp32 tensors. `t` has room for VALUE_TEMPS (or SLOPE_TEMPS) tensors of `tile`
// elements; results lie in it, the value at t[VALUE * tile] and the slope at t[SLOPE * tile].
#ifndef GATES_H
#define GATES_H

#include "kernel_operator.h"

#include "row_ops.h"

namespace gates {
using namespace AscendC;
using row_ops::Floats;
using row_ops::LANES;

// y = c0 * v^k + c1 * v^(k-1) + ... by Horner's rule; each step rounds twice.
template <typename... Coefficients>
__aicore__ inline void Polynomial(const Floats &y, const Floats &v, int32_t n, float c0, float c1, Coefficients... rest)
{
    Muls(y, v, c0, n);
    PipeBarrier<PIPE_V>();
    Adds(y, y, c1, n);
    PipeBarrier<PIPE_V>();
    const float more[] = {rest...};
    for (float coefficient : more) {
        Mul(y, y, v, n);
        PipeBarrier<PIPE_V>();
        Adds(y, y, coefficient, n);
        PipeBarrier<PIPE_V>();
    }
}

// x * s with s = 1 / (1 + e^-x), and s * (1 + x * (1 - s)).
struct Silu {
    static constexpr int32_t VALUE = 0;
    static constexpr int32_t SLOPE = 1;

    // s = e^min(x, 0) / (1 + e^-|x|): no exponential overflows, and small results keep their relative precision.
    static __aicore__ inline void Value(const Floats &t, const LocalTensor<uint8_t> &, const Floats &x, int32_t tile,
                                        int32_t n)
    {
        Floats value = t;
        Floats s = t[tile];
        Abs(value, x, n);
        Mins(s, x, 0.0f, n);
        PipeBarrier<PIPE_V>();
        Muls(value, value, -1.0f, n);
        Exp(s, s, n);
        PipeBarrier<PIPE_V>();
        Exp(value, value, n);
        PipeBarrier<PIPE_V>();
        Adds(value, value, 1.0f, n);
        PipeBarrier<PIPE_V>();
        Div(s, s, value, n);
        PipeBarrier<PIPE_V>();
        Mul(value, x, s, n);
        PipeBarrier<PIPE_V>();
    }

    static __aicore__ inline void Both(const Floats &t, const LocalTensor<uint8_t> &mask, const Floats &x, int32_t tile,
                                       int32_t n)
    {
        Floats s = t[tile];
        Floats rest = t[2 * tile];
        Value(t, mask, x, tile, n);
        Muls(rest, s, -1.0f, n);
        PipeBarrier<PIPE_V>();
        Adds(rest, rest, 1.0f, n);
        PipeBarrier<PIPE_V>();
        Mul(rest, rest, x, n);
        PipeBarrier<PIPE_V>();
        Adds(rest, rest, 1.0f, n);
        PipeBarrier<PIPE_V>();
        Mul(s, s, rest, n);
        PipeBarrier<PIPE_V>();
    }
};

// x * Phi(x), Phi the normal distribution function (the exact form, with erf), and Phi(x) + x * Phi'(x).
struct Gelu {
    static constexpr int32_t VALUE = 3;
    static constexpr int32_t SLOPE = 4;

    static __aicore__ inline void Value(const Floats &t, const LocalTensor<uint8_t> &mask, const Floats &x,
                                        int32_t tile, int32_t n)
    {
        Distribution(t, mask, x, tile, n);
        Mul(t[VALUE * tile], x, t[tile], n);
        PipeBarrier<PIPE_V>();
        NearZero(t, mask, x, tile, n);
    }

    static __aicore__ inline void Both(const Floats &t, const LocalTensor<uint8_t> &mask, const Floats &x, int32_t tile,
                                       int32_t n)
    {
        Floats slope = t[SLOPE * tile];
        Distribution(t, mask, x, tile, n);
        Mul(slope, x, x, n);
        Mul(t[VALUE * tile], x, t[tile], n);
        PipeBarrier<PIPE_V>();
        Muls(slope, slope, -0.5f, n);
        PipeBarrier<PIPE_V>();
        Exp(slope, slope, n);
        PipeBarrier<PIPE_V>();
        Muls(slope, slope, 0.3989422804f, n);  // 1 / sqrt(2 pi)
        PipeBarrier<PIPE_V>();
        Mul(slope, slope, x, n);
        PipeBarrier<PIPE_V>();
        Add(slope, slope, t[tile], n);
        PipeBarrier<PIPE_V>();
        NearZero(t, mask, x, tile, n);
    }

private:
    // t[0] = |x|, t[tile] = Phi(x). Q(a) = 1 - Phi(a) = e^(-a^2/2) * g(u) / (a + 3) with u = (a - 3) / (a + 3); g is a
    // fitted polynomial, relative error 3.2e-8 for all a >= 0. Phi(x) is 1 - Q(x) or Q(-x), so that small results keep
    // their relative precision.
    static __aicore__ inline void Distribution(const Floats &t, const LocalTensor<uint8_t> &mask, const Floats &x,
                                               int32_t tile, int32_t n)
    {
        const int32_t m = (n + LANES - 1) / LANES * LANES;  // Compare and Select work on whole repeats
        Floats t0 = t;
        Floats t1 = t[tile];
        Floats t2 = t[2 * tile];
        Floats t3 = t[3 * tile];
        Abs(t0, x, n);
        Mul(t1, x, x, n);
        Duplicate(t3, 1.0f, n);
        PipeBarrier<PIPE_V>();
        Muls(t1, t1, -0.5f, n);
        Adds(t2, t0, 3.0f, n);
        PipeBarrier<PIPE_V>();
        Exp(t1, t1, n);
        Div(t2, t3, t2, n);
        PipeBarrier<PIPE_V>();
        Mul(t1, t1, t2, n);
        PipeBarrier<PIPE_V>();
        Muls(t2, t2, -6.0f, n);
        PipeBarrier<PIPE_V>();
        Adds(t2, t2, 1.0f, n);
        PipeBarrier<PIPE_V>();
        Polynomial(t3, t2, n, 2.99815019e-5f, 1.13176932e-4f, -2.00725073e-4f, -1.00547099e-3f, 9.95528419e-4f,
                   6.95577403e-3f, -1.04541946e-2f, -4.72602099e-2f, 2.30016842e-1f, -5.0933212e-1f, 7.29083717e-1f);
        Mul(t1, t1, t3, n);
        CompareScalar(mask, x, 0.0f, CMPMODE::GE, m);
        PipeBarrier<PIPE_V>();
        Muls(t2, t1, -1.0f, n);
        PipeBarrier<PIPE_V>();
        Adds(t2, t2, 1.0f, n);
        PipeBarrier<PIPE_V>();
        Select(t1, mask, t2, t1, SELMODE::VSEL_TENSOR_TENSOR_MODE, m);
        PipeBarrier<PIPE_V>();
    }

    // |x| < 1.25: x * (0.5 + x * P(x^2 - 0.5625)), P fitted. The minimum of the value lies near -0.75, where an error
    // of Q would show undamped; 0.5625 = 0.75^2 keeps the rounding error of P small there.
    static __aicore__ inline void NearZero(const Floats &t, const LocalTensor<uint8_t> &mask, const Floats &x,
                                           int32_t tile, int32_t n)
    {
        const int32_t m = (n + LANES - 1) / LANES * LANES;
        Floats t1 = t[tile];
        Floats t2 = t[2 * tile];
        Mul(t1, x, x, n);
        CompareScalar(mask, t, 1.25f, CMPMODE::LT, m);
        PipeBarrier<PIPE_V>();
        Adds(t1, t1, -0.5625f, n);
        PipeBarrier<PIPE_V>();
        Polynomial(t2, t1, n, -6.80502399e-6f, 9.18843419e-5f, -9.55541385e-4f, 8.173245e-3f, -5.63194677e-2f,
                   3.64496857e-1f);
        Mul(t2, t2, x, n);
        PipeBarrier<PIPE_V>();
        Adds(t2, t2, 0.5f, n);
        PipeBarrier<PIPE_V>();
        Mul(t2, t2, x, n);
        PipeBarrier<PIPE_V>();
        Select(t[VALUE * tile], mask, t2, t[VALUE * tile], SELMODE::VSEL_TENSOR_TENSOR_MODE, m);
        PipeBarrier<PIPE_V>();
    }
};
}  // namespace gates

#endif
