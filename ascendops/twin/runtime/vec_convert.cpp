// Conversions of whole blocks between float and the 16-bit formats: with the half instructions where the machine has them, and else
// in integer code that the compiler vectorises. Both give the same bits.
#include "vec_convert.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace ascendc_twin {

namespace {

using Bits __attribute__((may_alias, aligned(1))) = uint16_t;  // an element of unaligned memory of another type

#if defined(__F16C__)
constexpr size_t LANES = 8;
inline void widen(const Bits *src, float *dst) {
    _mm256_storeu_ps(dst, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(src))));
}
inline void narrow(const float *src, Bits *dst) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(dst), _mm256_cvtps_ph(_mm256_loadu_ps(src), _MM_FROUND_TO_NEAREST_INT));
}
inline void round(float *x) { _mm256_storeu_ps(x, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT))); }
#elif defined(__aarch64__)
constexpr size_t LANES = 4;  // what one instruction converts
using Half __attribute__((may_alias, aligned(1))) = __fp16;
inline void widen(const Bits *src, float *dst) {
    for (size_t k = 0; k < LANES; ++k) dst[k] = reinterpret_cast<const Half *>(src)[k];
}
inline void narrow(const float *src, Bits *dst) {
    for (size_t k = 0; k < LANES; ++k) reinterpret_cast<Half *>(dst)[k] = static_cast<__fp16>(src[k]);
}
inline void round(float *x) {
    for (size_t k = 0; k < LANES; ++k) x[k] = static_cast<__fp16>(x[k]);
}
#endif

}  // namespace

void half_to_float(const uint8_t *src, float *dst, size_t n) {
    const auto *x = reinterpret_cast<const Bits *>(src);
    size_t i = 0;
#if defined(__F16C__) || defined(__aarch64__)
    for (; i + LANES <= n; i += LANES) widen(x + i, dst + i);
#endif
    for (; i < n; ++i) dst[i] = half_bits_to_float(x[i]);
}

void float_to_half(const float *src, uint8_t *dst, size_t n) {
    auto *y = reinterpret_cast<Bits *>(dst);
    size_t i = 0;
#if defined(__F16C__) || defined(__aarch64__)
    for (; i + LANES <= n; i += LANES) narrow(src + i, y + i);
#endif
    for (; i < n; ++i) y[i] = float_to_half_bits<RINT>(src[i]);
}

void bf16_to_float(const uint8_t *src, float *dst, size_t n) {
    const auto *x = reinterpret_cast<const Bits *>(src);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) dst[i] = bits_float(static_cast<uint32_t>(x[i]) << 16);
}

void float_to_bf16(const float *src, uint8_t *dst, size_t n) {
    auto *y = reinterpret_cast<Bits *>(dst);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) y[i] = float_to_bf16_bits<RINT>(src[i]);
}

void round_to_half(float *x, size_t n) {
    size_t i = 0;
#if defined(__F16C__) || defined(__aarch64__)
    for (; i + LANES <= n; i += LANES) round(x + i);
#endif
    for (; i < n; ++i) x[i] = half_bits_to_float(float_to_half_bits<RINT>(x[i]));
}

}  // namespace ascendc_twin
