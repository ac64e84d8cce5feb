// Loops over elements: one kernel per (operation, compute type), chosen when an instruction runs. half and bfloat16 compute in
// float: the loop converts blocks, runs the float kernel and rounds once.
#pragma once

#include <algorithm>
#include <type_traits>

#include "ascendc_twin/vec_engine.h"
#include "vec_lanes.h"
#include "vec_convert.h"
#include "vec_half.h"
#include "vec_pair.h"

namespace ascendc_twin {

// `count` rows of n elements; the rows of operand k start step[k] bytes apart ([0] dst, [1] src0, [2] src1).
struct Rows {
    size_t n = 0;
    uint32_t count = 1;
    int64_t step[3] = {0, 0, 0};
};

using Kernel = void (*)(uint8_t *d, const uint8_t *a, const uint8_t *b, const Rows &rows, const Scalar &s);

struct Loop {
    Kernel kernel = nullptr;  // null: there is no such instruction
    Dt dst = Dt::F32, src = Dt::F32;
    bool reads_d = false, reads_b = false;
    HalfKernel half = nullptr;  // a shorter way where both types are half
};

constexpr size_t CHUNK = 256;  // floats converted at a time; stays in the first-level cache

template <typename T>
inline T scalar_as(const Scalar &s) {
    if constexpr (std::is_floating_point<T>::value) {
        return static_cast<T>(s.f);
    } else {
        return static_cast<T>(s.i);
    }
}

// Whether an operation often works on rows of whole repeats, for which its loop is unrolled.
template <typename F>
inline constexpr bool by_repeats = false;

// Whether an operation takes pairs of registers too, which pays where one step waits for the one before.
template <typename F>
inline constexpr bool in_pairs = false;

template <typename F>
inline size_t loop_pairs(float *dst, const float *x, const float *y, size_t n, float scalar) {
    const Pair<Floats> none = pair_of(0), scalars = pair_of(scalar);
    size_t i = 0;
    for (; i + PAIR <= n; i += PAIR) {
        Pair<Floats> old = none, second = none;
        if constexpr (F::reads_d) old = load_pair(dst + i);
        if constexpr (F::reads_b) second = load_pair(y + i);
        store_pair(F::template f<Pair<Floats>>(old, load_pair(x + i), second, scalars), dst + i);
    }
    return i;
}

template <typename F, typename T>
inline void loop_row(T *dst, const T *x, const T *y, size_t n, T scalar) {
    size_t first = 0;
    if constexpr (in_pairs<F> && std::is_same<T, float>::value) first = loop_pairs<F>(dst, x, y, n, scalar);
#pragma GCC ivdep
    for (size_t i = first; i < n; ++i) {
        T old{}, second{};
        if constexpr (F::reads_d) old = dst[i];
        if constexpr (F::reads_b) second = y[i];
        dst[i] = F::template f<T>(old, x[i], second, scalar);
    }
}

// The rows come one after the other, as repeats do: one may read what an earlier one wrote.
template <typename F, typename T>
void loop_native(uint8_t *d, const uint8_t *a, const uint8_t *b, const Rows &rows, const Scalar &s) {
    const T scalar = scalar_as<T>(s);
    const size_t n = rows.n;
    for (uint32_t r = rows.count; r > 0; --r) {
        T *dst = reinterpret_cast<T *>(d);
        const T *x = reinterpret_cast<const T *>(a);
        const T *y = reinterpret_cast<const T *>(b);
        if constexpr (by_repeats<F> && sizeof(T) == sizeof(float)) {
            if (n == REPEAT / sizeof(T)) {
                loop_row<F, T>(dst, x, y, REPEAT / sizeof(T), scalar);
            } else {
                loop_row<F, T>(dst, x, y, n, scalar);
            }
        } else {
            loop_row<F, T>(dst, x, y, n, scalar);
        }
        d += rows.step[0];
        a += rows.step[1];
        b += rows.step[2];
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

// Loops of F for floating types, for 16- and 32-bit integers, or for both.
template <typename F>
Loop float_loops(Dt dst, Dt src) {
    const bool known = dst == src && (dst == Dt::F32 || dst == Dt::F16 || dst == Dt::BF16);
    return known ? Loop{loop_native<F, float>, dst, src, F::reads_d, F::reads_b} : Loop{};
}
template <typename F>
Loop mixed_loops(Dt dst, Dt src) {
    const bool widens = dst == Dt::F32 && src == Dt::F16;
    return widens ? Loop{loop_native<F, float>, dst, src, F::reads_d, F::reads_b} : float_loops<F>(dst, src);
}
template <typename F>
Loop integer_loops(Dt dst, Dt src) {
    Loop loop{nullptr, dst, src, F::reads_d, F::reads_b};
    if (dst != src) return loop;
    switch (dst) {
        case Dt::I16: loop.kernel = loop_native<F, int16_t>; break;
        case Dt::U16: loop.kernel = loop_native<F, uint16_t>; break;
        case Dt::I32: loop.kernel = loop_native<F, int32_t>; break;
        case Dt::U32: loop.kernel = loop_native<F, uint32_t>; break;
        default: break;
    }
    return loop;
}
template <typename F>
Loop number_loops(Dt dst, Dt src) {
    const Loop loop = float_loops<F>(dst, src);
    return loop.kernel ? loop : integer_loops<F>(dst, src);
}

// Runs a loop over rows; b may be null.
void run_loop(const Loop &loop, uint8_t *d, const uint8_t *a, const uint8_t *b, const Rows &rows, const Scalar &scalar);

// Runs one loop over the lanes of an instruction: checks, cycles, then every row of contiguous lanes. src1 may be null.
void run_elementwise(Inst &inst, VecOp op, const Loop &loop, const Span &dst, const Span &src0, const Span *src1, bool reads_dst,
                     const Scalar &scalar, const Lanes &lanes);

}  // namespace ascendc_twin
