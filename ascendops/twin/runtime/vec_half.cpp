// Arithmetic on half in one pass: widened, computed in float and rounded in registers, where the machine has instructions for that.
#include "vec_half.h"

#if defined(__F16C__)
#include <immintrin.h>

namespace ascendc_twin {

namespace {

constexpr size_t LANES = 8;

inline __m256 widen(const uint8_t *half) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(half))); }
inline void narrow(__m256 x, uint8_t *half) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(half), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

inline __m256 plus(__m256 a, __m256 b) { return a + b; }
inline __m256 minus(__m256 a, __m256 b) { return a - b; }
inline __m256 times(__m256 a, __m256 b) { return a * b; }
inline __m256 over(__m256 a, __m256 b) { return a / b; }

template <__m256 (*OP)(__m256, __m256), bool SCALAR>
size_t run(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, float scalar) {
    const __m256 s = _mm256_set1_ps(scalar);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        narrow(OP(widen(a + 2 * i), SCALAR ? s : widen(b + 2 * i)), d + 2 * i);
    }
    return i;
}

}  // namespace

HalfKernel half_kernel(VecOp op) {
    switch (op) {
        case VecOp::ADD: return run<plus, false>;
        case VecOp::SUB: return run<minus, false>;
        case VecOp::MUL: return run<times, false>;
        case VecOp::DIV: return run<over, false>;
        case VecOp::ADDS: return run<plus, true>;
        case VecOp::MULS: return run<times, true>;
        default: return nullptr;
    }
}

}  // namespace ascendc_twin

#else

namespace ascendc_twin {
HalfKernel half_kernel(VecOp) {
    return nullptr;
}
}  // namespace ascendc_twin

#endif
