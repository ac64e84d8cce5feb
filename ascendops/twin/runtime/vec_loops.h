// Loops over contiguous elements: one function per (operation, storage type), chosen when an instruction runs.
#pragma once

#include <algorithm>

#include "ascendc_twin/vec_engine.h"
#include "vec_convert.h"

namespace ascendc_twin {

using Loop = void (*)(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, const Scalar &s);

constexpr size_t CHUNK = 256;  // floats converted at a time; stays in the first-level cache

template <typename T>
inline T scalar_as(const Scalar &s) {
    if constexpr (std::is_floating_point<T>::value) {
        return static_cast<T>(s.f);
    } else {
        return static_cast<T>(s.i);
    }
}

template <typename F, typename T>
void loop_native(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, const Scalar &s) {
    T *dst = reinterpret_cast<T *>(d);
    const T *x = reinterpret_cast<const T *>(a);
    const T *y = reinterpret_cast<const T *>(b);
    const T scalar = scalar_as<T>(s);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        T old{}, second{};
        if constexpr (F::reads_d) old = dst[i];
        if constexpr (F::reads_b) second = y[i];
        dst[i] = F::template f<T>(old, x[i], second, scalar);
    }
}

template <Dt DT>
inline void load_floats(const uint8_t *src, float *dst, size_t n) {
    if constexpr (DT == Dt::F16) {
        half_to_float(src, dst, n);
    } else if constexpr (DT == Dt::BF16) {
        bf16_to_float(src, dst, n);
    } else {
        std::memcpy(dst, src, n * sizeof(float));
    }
}
template <Dt DT>
inline void store_floats(const float *src, uint8_t *dst, size_t n) {
    if constexpr (DT == Dt::F16) {
        float_to_half(src, dst, n);
    } else if constexpr (DT == Dt::BF16) {
        float_to_bf16(src, dst, n);
    } else {
        std::memcpy(dst, src, n * sizeof(float));
    }
}

// Computes in float and rounds once; D and S are the storage types of dst and of the sources.
template <typename F, Dt D, Dt S>
void loop_rounded(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, const Scalar &s) {
    constexpr size_t dst_size = D == Dt::F32 ? 4 : 2;
    constexpr size_t src_size = S == Dt::F32 ? 4 : 2;
    float x[CHUNK], y[CHUNK], old[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = std::min(CHUNK, n - i);
        load_floats<S>(a + i * src_size, x, m);
        if constexpr (F::reads_b) load_floats<S>(b + i * src_size, y, m);
        if constexpr (F::reads_d) load_floats<D>(d + i * dst_size, old, m);
#pragma GCC ivdep
        for (size_t j = 0; j < m; ++j) {
            float before = 0, second = 0;
            if constexpr (F::reads_d) before = old[j];
            if constexpr (F::reads_b) second = y[j];
            x[j] = F::template f<float>(before, x[j], second, s.f);
        }
        store_floats<D>(x, d + i * dst_size, m);
    }
}

// Loops of F for floating types, for 16- and 32-bit integers, or for both; null for a type without the operation.
template <typename F>
Loop float_loops(Dt dst, Dt src) {
    if (dst == Dt::F32 && src == Dt::F32) return loop_native<F, float>;
    if (dst == Dt::F16 && src == Dt::F16) return loop_rounded<F, Dt::F16, Dt::F16>;
    if (dst == Dt::BF16 && src == Dt::BF16) return loop_rounded<F, Dt::BF16, Dt::BF16>;
    return nullptr;
}
template <typename F>
Loop mixed_loops(Dt dst, Dt src) {
    if (dst == Dt::F32 && src == Dt::F16) return loop_rounded<F, Dt::F32, Dt::F16>;
    return float_loops<F>(dst, src);
}
template <typename F>
Loop integer_loops(Dt dst, Dt src) {
    if (dst != src) return nullptr;
    switch (dst) {
        case Dt::I16: return loop_native<F, int16_t>;
        case Dt::U16: return loop_native<F, uint16_t>;
        case Dt::I32: return loop_native<F, int32_t>;
        case Dt::U32: return loop_native<F, uint32_t>;
        default: return nullptr;
    }
}
template <typename F>
Loop number_loops(Dt dst, Dt src) {
    const Loop loop = float_loops<F>(dst, src);
    return loop ? loop : integer_loops<F>(dst, src);
}

// Runs one loop over the lanes of an instruction: checks, cycles, then every contiguous stretch. src1 may be null.
void run_elementwise(Inst &inst, VecOp op, Loop loop, const Span &dst, const Span &src0, const Span *src1, bool reads_dst,
                     const Scalar &scalar, const Lanes &lanes);

}  // namespace ascendc_twin
