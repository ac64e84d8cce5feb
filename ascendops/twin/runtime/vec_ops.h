// The element operations of VecOp as functors. f<T>(d, a, b, s): d is the old value of dst, s the scalar; T is float or an
// integer (half and bfloat16 compute in float and are rounded once by the loops).
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "vec_math.h"

namespace ascendc_twin {

template <typename T>
constexpr bool is_float = std::is_floating_point<T>::value;

// Integer arithmetic wraps around, as two's complement.
template <typename T>
using Wide = std::make_unsigned_t<T>;

template <typename T>
inline T max_of(T a, T b) {
    if constexpr (is_float<T>) {
        return (a > b || a != a) ? a : b;
    } else {
        return a > b ? a : b;
    }
}
template <typename T>
inline T min_of(T a, T b) {
    if constexpr (is_float<T>) {
        return (a < b || a != a) ? a : b;
    } else {
        return a < b ? a : b;
    }
}
template <typename T>
inline T relu_of(T x) {
    if constexpr (is_float<T>) {
        return (x > 0 || x != x) ? x : T(0);
    } else {
        return x > 0 ? x : T(0);
    }
}
template <typename T>
inline T add_of(T a, T b) {
    if constexpr (is_float<T>) {
        return a + b;
    } else {
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }
}
template <typename T>
inline T sub_of(T a, T b) {
    if constexpr (is_float<T>) {
        return a - b;
    } else {
        return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    }
}
template <typename T>
inline T mul_of(T a, T b) {
    if constexpr (is_float<T>) {
        return a * b;
    } else if constexpr (sizeof(T) == 8) {
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
        return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
    }
}
template <typename T>
inline T fma_of(T a, T b, T c) {
    if constexpr (is_float<T>) {
        return std::fma(a, b, c);
    } else {
        return add_of(mul_of(a, b), c);
    }
}

template <typename T>
inline T pow_of(T a, T b) {
    if constexpr (is_float<T>) {
        return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    } else {
        if (b < 0) {
            return a == 1 ? T(1) : (a == T(-1) ? (b % 2 != 0 ? T(-1) : T(1)) : T(0));
        }
        T result = 1;
        for (T base = a, e = b; e != 0; e = static_cast<T>(e >> 1), base = mul_of(base, base)) {
            result = (e & 1) != 0 ? mul_of(result, base) : result;
        }
        return result;
    }
}

#define TWIN_OP(NAME, READS_D, READS_B, EXPR)                                                            \
    struct NAME {                                                                                        \
        static constexpr bool reads_d = READS_D;                                                         \
        static constexpr bool reads_b = READS_B;                                                         \
        template <typename T>                                                                            \
        static inline T f([[maybe_unused]] T d, [[maybe_unused]] T a, [[maybe_unused]] T b,              \
                          [[maybe_unused]] T s) {                                                        \
            return EXPR;                                                                                 \
        }                                                                                                \
    };
// A function of one float, evaluated in double by the C library: exact enough, not vectorised.
#define TWIN_LIBM(NAME, EXPR)                                             \
    struct NAME {                                                         \
        static constexpr bool reads_d = false;                            \
        static constexpr bool reads_b = false;                            \
        template <typename T>                                             \
        static inline T f(T, T a, T, T) {                                 \
            [[maybe_unused]] const double x = static_cast<double>(a);     \
            return static_cast<T>(EXPR);                                  \
        }                                                                 \
    };

namespace ops {

TWIN_OP(Add, false, true, add_of(a, b))
TWIN_OP(Sub, false, true, sub_of(a, b))
TWIN_OP(Mul, false, true, mul_of(a, b))
TWIN_OP(Div, false, true, a / b)
TWIN_OP(Max, false, true, max_of(a, b))
TWIN_OP(Min, false, true, min_of(a, b))
TWIN_OP(And, false, true, static_cast<T>(a & b))
TWIN_OP(Or, false, true, static_cast<T>(a | b))
TWIN_OP(Xor, false, true, static_cast<T>(a ^ b))
TWIN_OP(AddRelu, false, true, relu_of(add_of(a, b)))
TWIN_OP(SubRelu, false, true, relu_of(sub_of(a, b)))
TWIN_OP(AbsSub, false, true, std::fabs(a - b))
TWIN_OP(MulAddDst, true, true, fma_of(a, b, d))
TWIN_OP(FusedMulAdd, true, true, fma_of(a, d, b))
TWIN_OP(FusedMulAddRelu, true, true, relu_of(fma_of(a, d, b)))
TWIN_OP(Pow, false, true, pow_of(a, b))
TWIN_OP(Mod, false, true, std::fmod(a, b))
TWIN_OP(Atan2, false, true, std::atan2(a, b))
TWIN_OP(Hypot, false, true, std::hypot(a, b))

TWIN_OP(Geglu, false, true, a * (b / (1.0f + exp_of(-1.59576912f * (b + 0.044715f * b * b * b)))))
TWIN_OP(Reglu, false, true, a * relu_of(b))
TWIN_OP(Swiglu, false, true, a * (b / (1.0f + exp_of(-s * b))))

TWIN_OP(Adds, false, false, add_of(a, s))
TWIN_OP(Muls, false, false, mul_of(a, s))
TWIN_OP(Maxs, false, false, max_of(a, s))
TWIN_OP(Mins, false, false, min_of(a, s))
TWIN_OP(LeakyRelu, false, false, a > 0 ? a : a * s)
TWIN_OP(Axpy, true, false, fma_of(a, s, d))
TWIN_OP(Pows, false, false, pow_of(a, s))
TWIN_OP(Spow, false, false, pow_of(s, a))
TWIN_OP(Rsubs, false, false, sub_of(s, a))
TWIN_OP(Rdivs, false, false, s / a)

TWIN_OP(Abs, false, false, std::fabs(a))
TWIN_OP(Exp, false, false, exp_of(a))
TWIN_OP(Ln, false, false, log_f(a))
TWIN_OP(Sqrt, false, false, std::sqrt(a))
TWIN_OP(Rsqrt, false, false, 1.0f / std::sqrt(a))
TWIN_OP(Reciprocal, false, false, 1.0f / a)
TWIN_OP(Relu, false, false, relu_of(a))
TWIN_OP(Not, false, false, static_cast<T>(~a))
TWIN_OP(Neg, false, false, sub_of(T(0), a))
TWIN_OP(NegF, false, false, -a)
TWIN_OP(Tanh, false, false, tanh_f(a))
TWIN_OP(Sigmoid, false, false, sigmoid_f(a))
TWIN_OP(Silu, false, false, a / (1.0f + exp_of(-a)))
TWIN_OP(Swish, false, false, a / (1.0f + exp_of(-s * a)))
TWIN_OP(Gelu, false, false, a / (1.0f + exp_of(-1.59576912f * (a + 0.044715f * a * a * a))))
TWIN_OP(FastGelu, false, false, a / (1.0f + exp_of(-1.702f * a)))
TWIN_OP(Sign, false, false, a > 0 ? T(1) : (a < 0 ? T(-1) : (a != a ? a : T(0))))
TWIN_OP(Ceil, false, false, std::ceil(a))
TWIN_OP(Floor, false, false, std::floor(a))
TWIN_OP(Round, false, false, rint_f(a))
TWIN_OP(Trunc, false, false, std::trunc(a))
TWIN_OP(Frac, false, false, a - std::trunc(a))
TWIN_OP(IsNan, false, false, a != a ? T(1) : T(0))
TWIN_OP(IsInf, false, false, std::fabs(a) == std::numeric_limits<T>::infinity() ? T(1) : T(0))

TWIN_LIBM(Log2, std::log2(x))
TWIN_LIBM(Log10, std::log10(x))
TWIN_LIBM(Erf, std::erf(x))
TWIN_LIBM(Erfc, std::erfc(x))
TWIN_LIBM(Sin, std::sin(x))
TWIN_LIBM(Cos, std::cos(x))
TWIN_LIBM(Tan, std::tan(x))
TWIN_LIBM(Sinh, std::sinh(x))
TWIN_LIBM(Cosh, std::cosh(x))
TWIN_LIBM(Asin, std::asin(x))
TWIN_LIBM(Acos, std::acos(x))
TWIN_LIBM(Atan, std::atan(x))
TWIN_LIBM(Asinh, std::asinh(x))
TWIN_LIBM(Acosh, std::acosh(x))
TWIN_LIBM(Atanh, std::atanh(x))
TWIN_LIBM(Lgamma, std::lgamma(x))

struct FastGeluV2 {
    static constexpr bool reads_d = false;
    static constexpr bool reads_b = false;
    template <typename T>
    static inline T f(T, T a, T, T) {
        const T t = min_of(std::fabs(a * 0.7071f), T(1.769f)) - 1.769f;
        const T half_erf = t * t * -0.1444f + 0.5f;
        const T near = a + 1e-12f;
        return a * ((near < 0 ? -half_erf : half_erf) + 0.5f);
    }
};

// Signed left shifts keep the sign bit; shifts by the width of the type or more leave only the sign (or zero).
struct Shl {
    static constexpr bool reads_d = false;
    static constexpr bool reads_b = false;
    template <typename T>
    static inline T f(T, T a, T, T s) {
        constexpr unsigned width = sizeof(T) * 8;
        const uint64_t moved = static_cast<uint64_t>(s) >= width ? 0 : static_cast<uint64_t>(a) << (s & 63);
        if constexpr (std::is_signed<T>::value) {
            const Wide<T> sign = static_cast<Wide<T>>(Wide<T>(1) << (width - 1));
            return static_cast<T>((static_cast<Wide<T>>(moved) & static_cast<Wide<T>>(~sign)) |
                                  (static_cast<Wide<T>>(a) & sign));
        } else {
            return static_cast<T>(moved);
        }
    }
};
template <bool ROUNDED>
struct ShrOp {
    static constexpr bool reads_d = false;
    static constexpr bool reads_b = false;
    template <typename T>
    static inline T f(T, T a, T, T s) {
        const int64_t bias = ROUNDED && s > 0 ? int64_t{1} << ((s - 1) & 63) : 0;
        const int64_t value = static_cast<int64_t>(a) + bias;
        return static_cast<T>(value >> (s & 63));
    }
};
using Shr = ShrOp<false>;
using ShrRound = ShrOp<true>;

// psi(x): recurrence up to 6, then the asymptotic series; reflection below zero.
struct Digamma {
    static constexpr bool reads_d = false;
    static constexpr bool reads_b = false;
    static inline double psi(double x) {
        if (x == 0.0) {
            return std::copysign(HUGE_VAL, -x);
        }
        if (x < 0.0) {
            if (x == std::floor(x)) {
                return std::nan("");
            }
            return psi(1.0 - x) - M_PI / std::tan(M_PI * x);
        }
        double result = 0.0;
        for (; x < 10.0; x += 1.0) {
            result -= 1.0 / x;
        }
        const double z = 1.0 / (x * x);
        const double series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132)))));
        return result + std::log(x) - 0.5 / x - series;
    }
    template <typename T>
    static inline T f(T, T a, T, T) {
        return static_cast<T>(psi(static_cast<double>(a)));
    }
};

}  // namespace ops

#undef TWIN_OP
#undef TWIN_LIBM

}  // namespace ascendc_twin
