// Two vector registers that go through a function step by step, so that the instructions of one hide the latency of the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ascendc_twin {

#if defined(__AVX512F__)
constexpr size_t REGISTER = 64;
#elif defined(__AVX__)
constexpr size_t REGISTER = 32;
#else
constexpr size_t REGISTER = 16;
#endif

using Floats = float __attribute__((vector_size(REGISTER)));
using Patterns = uint32_t __attribute__((vector_size(REGISTER)));

template <typename V>
struct Pair {
    V a, b;
};

#define TWIN_PAIR_OPERATOR(OP)                                                                                              \
    template <typename V>                                                                                                   \
    inline Pair<V> operator OP(Pair<V> x, Pair<V> y) { return {x.a OP y.a, x.b OP y.b}; }                                   \
    template <typename V, typename S>                                                                                       \
    inline Pair<V> operator OP(Pair<V> x, S y) { return {x.a OP y, x.b OP y}; }
TWIN_PAIR_OPERATOR(+)
TWIN_PAIR_OPERATOR(-)
TWIN_PAIR_OPERATOR(*)
TWIN_PAIR_OPERATOR(/)
TWIN_PAIR_OPERATOR(<<)
TWIN_PAIR_OPERATOR(>>)
#undef TWIN_PAIR_OPERATOR
inline Pair<Floats> operator+(float x, Pair<Floats> y) { return {x + y.a, x + y.b}; }
inline Pair<Floats> operator*(float x, Pair<Floats> y) { return {x * y.a, x * y.b}; }
inline Pair<Floats> operator-(Pair<Floats> x) { return {-x.a, -x.b}; }

inline Pair<Patterns> float_bits(Pair<Floats> x) { return {reinterpret_cast<Patterns>(x.a), reinterpret_cast<Patterns>(x.b)}; }
inline Pair<Floats> bits_float(Pair<Patterns> x) { return {reinterpret_cast<Floats>(x.a), reinterpret_cast<Floats>(x.b)}; }

// x, or the limit where x is beyond it; NaN stays.
inline float at_most(float x, float limit) { return limit < x ? limit : x; }
inline float at_least(float x, float limit) { return limit > x ? limit : x; }
inline Floats at_most(Floats x, float limit) {
    const Floats most = Floats{} + limit;
#if defined(__AVX__) && !defined(__AVX512F__)
    return __builtin_ia32_minps256(most, x);  // of operands that have no order, the instruction takes the second
#else
    return most < x ? most : x;
#endif
}
inline Floats at_least(Floats x, float limit) {
    const Floats least = Floats{} + limit;
#if defined(__AVX__) && !defined(__AVX512F__)
    return __builtin_ia32_maxps256(least, x);
#else
    return least > x ? least : x;
#endif
}
inline Pair<Floats> at_most(Pair<Floats> x, float limit) { return {at_most(x.a, limit), at_most(x.b, limit)}; }
inline Pair<Floats> at_least(Pair<Floats> x, float limit) { return {at_least(x.a, limit), at_least(x.b, limit)}; }

constexpr size_t PAIR = 2 * REGISTER / sizeof(float);  // floats
using Unaligned = float __attribute__((vector_size(REGISTER), aligned(sizeof(float)), may_alias));  // in memory
inline Pair<Floats> load_pair(const float *x) {
    const auto *from = reinterpret_cast<const Unaligned *>(x);
    return {from[0], from[1]};
}
inline void store_pair(Pair<Floats> pair, float *x) {
    auto *to = reinterpret_cast<Unaligned *>(x);
    to[0] = pair.a;
    to[1] = pair.b;
}
inline Pair<Floats> pair_of(float x) { return {Floats{} + x, Floats{} + x}; }

}  // namespace ascendc_twin
