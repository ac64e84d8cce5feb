// Trees of neighbours: all of a block level by level, or whole repeats in registers.
#include "vec_sums.h"

#include "vec_convert.h"

#if defined(__F16C__) && defined(__AVX2__)
#include <immintrin.h>
#endif

namespace ascendc_twin {

namespace {

constexpr size_t REPEAT_BYTES = 256;

void add_neighbours(const float *x, float *out, size_t n) {
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        out[i] = x[2 * i] + x[2 * i + 1];
    }
}

}  // namespace

void tree_sums(const float *x, float *out, size_t n, size_t per, bool half) {
    for (size_t width = n / 2; width >= n / per; width /= 2) {
        add_neighbours(x, out, width);
        if (half) {
            round_to_half(out, width);
        }
        x = out;
    }
}

#if defined(__F16C__) && defined(__AVX2__)

namespace {

constexpr size_t VECTOR = 8;  // floats of a register

template <bool HALF>
inline __m256 load(const uint8_t *src, size_t i) {
    if constexpr (HALF) return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(src) + i));
    return _mm256_loadu_ps(reinterpret_cast<const float *>(src) + i * VECTOR);
}
template <bool HALF>
inline __m256 node(__m256 even, __m256 odd) {
    const __m256 sum = _mm256_add_ps(even, odd);
    if constexpr (HALF) return _mm256_cvtph_ps(_mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
    return sum;
}
// Sums of neighbours, in each half of the register: two of x, then two of y.
template <bool HALF>
inline __m256 pairs(__m256 x, __m256 y) {
    return node<HALF>(_mm256_shuffle_ps(x, y, 0x88), _mm256_shuffle_ps(x, y, 0xdd));
}
// The lower half plus the upper one: four of x, then four of y.
template <bool HALF>
inline __m256 halves(__m256 x, __m256 y) {
    return node<HALF>(_mm256_permute2f128_ps(x, y, 0x20), _mm256_permute2f128_ps(x, y, 0x31));
}

// The sums of the registers at, ..., at + 7 of a repeat, in this order.
template <bool HALF>
inline __m256 eights(const uint8_t *src, size_t at) {
    __m256 fours[2];
    for (size_t k = 0; k < 2; ++k) {
        const size_t i = at + 4 * k;
        fours[k] = pairs<HALF>(pairs<HALF>(load<HALF>(src, i), load<HALF>(src, i + 1)), pairs<HALF>(load<HALF>(src, i + 2), load<HALF>(src, i + 3)));
    }
    return halves<HALF>(fours[0], fours[1]);
}

// Eight sums of a repeat: of floats those of its registers A..H; of halves, with registers A..P: AB CD IJ KL | EF GH MN OP.
template <bool HALF>
inline __m256 repeat_tree(const uint8_t *src) {
    if constexpr (HALF) return pairs<true>(eights<true>(src, 0), eights<true>(src, 8));
    return eights<false>(src, 0);
}

template <bool HALF>
inline __m256 batch_sums(const __m256 (&t)[BATCH]) {
    __m256 two[4];
    for (size_t k = 0; k < 4; ++k) two[k] = pairs<HALF>(t[2 * k], t[2 * k + 1]);
    if constexpr (HALF) {
        const __m256 sums = pairs<true>(halves<true>(two[0], two[1]), halves<true>(two[2], two[3]));  // of repeats 0 1 4 5 | 2 3 6 7
        return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(sums), 0xd8));
    }
    return halves<false>(pairs<false>(two[0], two[1]), pairs<false>(two[2], two[3]));
}

template <bool HALF>
void sums_in_registers(const uint8_t *src, size_t count, float *sums) {
    __m256 t[BATCH];
    for (size_t r = 0; r < BATCH; ++r) t[r] = r < count ? repeat_tree<HALF>(src + r * REPEAT_BYTES) : _mm256_setzero_ps();
    _mm256_storeu_ps(sums, batch_sums<HALF>(t));
}

}  // namespace

void repeat_sums(const uint8_t *src, size_t count, bool half, float (&sums)[BATCH_LANES]) {
    half ? sums_in_registers<true>(src, count, sums) : sums_in_registers<false>(src, count, sums);
}

#else

void repeat_sums(const uint8_t *src, size_t count, bool half, float (&sums)[BATCH_LANES]) {
    const size_t per = REPEAT_BYTES / (half ? 2 : sizeof(float)), all = count * per;
    if (half) half_to_float(src, sums, all);
    tree_sums(half ? sums : reinterpret_cast<const float *>(src), sums, all, per, half);
}

#endif

}  // namespace ascendc_twin
