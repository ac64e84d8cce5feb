// Type conversion: every pair and rounding mode of the Cast instruction, and the fused forms that end in a conversion.
#pragma GCC optimize("no-math-errno,no-trapping-math")

#include <limits>

#include "vec_lanes.h"
#include "vec_loops.h"
#include "vec_ops.h"

namespace ascendc_twin {

namespace {

using CastLoop = void (*)(uint8_t *d, const uint8_t *s, size_t n);

// An integral float to an integer type: out-of-range values saturate, NaN becomes 0.
template <typename T>
inline T saturate(float x) {
    constexpr float low = static_cast<float>(std::numeric_limits<T>::min());
    // For 32 and 64 bits max() is not a float; the float above it is the first that does not fit.
    constexpr float limit = static_cast<float>(std::numeric_limits<T>::max());
    if constexpr (sizeof(T) <= 2) {
        const float clamped = x < low ? low : (x > limit ? limit : x);
        return static_cast<T>(static_cast<int32_t>(x == x ? clamped : 0.0f));
    } else {
        const bool inside = x >= low && x < limit;
        const T value = static_cast<T>(inside ? x : 0.0f);
        return x >= limit ? std::numeric_limits<T>::max() : (x < low ? std::numeric_limits<T>::min() : value);
    }
}

template <typename T, int MODE>
void store_integers(const float *src, uint8_t *d, size_t n) {
    T *dst = reinterpret_cast<T *>(d);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        dst[i] = saturate<T>(round_f<MODE>(src[i]));
    }
}

template <Dt D, int MODE>
void store_rounded(const float *src, uint8_t *d, size_t n) {
    if constexpr (D == Dt::I8) {
        store_integers<int8_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::U8) {
        store_integers<uint8_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::I16) {
        store_integers<int16_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::I32) {
        store_integers<int32_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::I64) {
        store_integers<int64_t, MODE>(src, d, n);
    } else if constexpr (D == Dt::I4) {
        for (size_t i = 0; i + 1 < n; i += 2) {
            const int lo = saturate<int8_t>(round_f<MODE>(src[i])), hi = saturate<int8_t>(round_f<MODE>(src[i + 1]));
            d[i / 2] = static_cast<uint8_t>((std::clamp(lo, -8, 7) & 0xf) | (std::clamp(hi, -8, 7) << 4));
        }
    } else if constexpr (D == Dt::F32) {
        float *dst = reinterpret_cast<float *>(d);
#pragma GCC ivdep
        for (size_t i = 0; i < n; ++i) {
            dst[i] = round_f<MODE>(src[i]);
        }
    } else if constexpr (D == Dt::F16 && (MODE == RINT || MODE == NONE)) {
        float_to_half(src, d, n);
    } else {
        uint16_t *dst = reinterpret_cast<uint16_t *>(d);
#pragma GCC ivdep
        for (size_t i = 0; i < n; ++i) {
            dst[i] = D == Dt::F16 ? float_to_half_bits<MODE>(src[i]) : float_to_bf16_bits<MODE>(src[i]);
        }
    }
}

template <typename T>
void load_integers(const uint8_t *s, float *dst, size_t n) {
    const T *src = reinterpret_cast<const T *>(s);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        dst[i] = static_cast<float>(src[i]);
    }
}

template <Dt S>
void load_exact(const uint8_t *s, float *dst, size_t n) {
    if constexpr (S == Dt::I8) {
        load_integers<int8_t>(s, dst, n);
    } else if constexpr (S == Dt::U8) {
        load_integers<uint8_t>(s, dst, n);
    } else if constexpr (S == Dt::I16) {
        load_integers<int16_t>(s, dst, n);
    } else if constexpr (S == Dt::I4) {
        for (size_t i = 0; i < n; ++i) {
            const uint8_t nibble = static_cast<uint8_t>((s[i / 2] >> (i % 2 * 4)) & 0xf);
            dst[i] = static_cast<float>(static_cast<int8_t>(nibble << 4) >> 4);
        }
    } else {
        load_floats<S>(s, dst, n);
    }
}

// Bytes of n elements.
template <Dt DT>
constexpr size_t extent(size_t n) {
    switch (DT) {
        case Dt::I4: return n / 2;
        case Dt::I8: case Dt::U8: return n;
        case Dt::F16: case Dt::BF16: case Dt::I16: return 2 * n;
        case Dt::I64: return 8 * n;
        default: return 4 * n;
    }
}

// Sources that are exact in float: through float, one rounding.
template <Dt S, Dt D, int MODE>
void cast_loop(uint8_t *d, const uint8_t *s, size_t n) {
    if constexpr (S == Dt::F32) {
        store_rounded<D, MODE>(reinterpret_cast<const float *>(s), d, n);
    } else {
        float x[CHUNK];
        for (size_t i = 0; i < n; i += CHUNK) {
            const size_t m = std::min(CHUNK, n - i);
            load_exact<S>(s + extent<S>(i), x, m);
            store_rounded<D, MODE>(x, d + extent<D>(i), m);
        }
    }
}
template <Dt S>
void widen_loop(uint8_t *d, const uint8_t *s, size_t n) {
    load_exact<S>(s, reinterpret_cast<float *>(d), n);
}

// A 32- or 64-bit integer to float with a rounding mode: magnitude and discarded bits decide, as in the 16-bit formats.
template <int MODE, typename T>
inline float integer_to_float(T value) {
    if constexpr (MODE == NONE || MODE == RINT) {
        return static_cast<float>(value);
    } else {
        const bool negative = value < 0;
        const uint64_t mag = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
        if (mag < (1u << 24)) {
            return static_cast<float>(value);
        }
        const int drop = 40 - __builtin_clzll(mag);
        const uint64_t kept = mag >> drop;
        const uint64_t rest = mag & ((uint64_t{1} << drop) - 1);
        const uint64_t tie = uint64_t{1} << (drop - 1);
        const uint32_t scaled = rest == 0 ? 0 : (rest < tie ? 1 : (rest == tie ? 2 : 3));
        const uint64_t rounded = kept + (carries<MODE>(scaled, 2, (kept & 1) != 0, negative) ? 1 : 0);
        const float result = std::ldexp(static_cast<float>(rounded), drop);
        return negative ? -result : result;
    }
}
template <typename T, int MODE>
void integer_float_loop(uint8_t *d, const uint8_t *s, size_t n) {
    float *dst = reinterpret_cast<float *>(d);
    const T *src = reinterpret_cast<const T *>(s);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        dst[i] = integer_to_float<MODE>(src[i]);
    }
}
template <typename S, typename D>
void integer_loop(uint8_t *d, const uint8_t *s, size_t n) {
    D *dst = reinterpret_cast<D *>(d);
    const S *src = reinterpret_cast<const S *>(s);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        S v = src[i];
        if constexpr (sizeof(D) < sizeof(S)) {
            constexpr S low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
            v = v < low ? low : (v > high ? high : v);
        }
        dst[i] = static_cast<D>(v);
    }
}

// The product of an int32 and the half in the DEQSCALE register is exact in double; rounding to odd keeps the step through
// float from rounding twice.
inline uint16_t scaled_half(double product) {
    float f = static_cast<float>(product);
    const double back = static_cast<double>(f);
    if (back != product) {
        uint32_t bits = float_bits(f);
        bits -= std::fabs(back) > std::fabs(product) ? 1u : 0u;
        f = bits_float(bits | 1u);
    }
    return float_to_half_bits<RINT>(f);
}
void dequant_loop(uint8_t *d, const uint8_t *s, size_t n) {
    uint16_t *dst = reinterpret_cast<uint16_t *>(d);
    const int32_t *src = reinterpret_cast<const int32_t *>(s);
    const double scale = static_cast<double>(half_bits_to_float(core().deq_scale_bits));
    for (size_t i = 0; i < n; ++i) {
        dst[i] = scaled_half(static_cast<double>(src[i]) * scale);
    }
}

template <Dt S, Dt D>
CastLoop by_mode(int mode) {
    switch (mode) {
        case FLOOR: return cast_loop<S, D, FLOOR>;
        case CEIL: return cast_loop<S, D, CEIL>;
        case ROUND: return cast_loop<S, D, ROUND>;
        case TRUNC: return cast_loop<S, D, TRUNC>;
        case ODD: return cast_loop<S, D, ODD>;
        default: return cast_loop<S, D, RINT>;
    }
}
template <typename T>
CastLoop integer_float_by_mode(int mode) {
    switch (mode) {
        case FLOOR: return integer_float_loop<T, FLOOR>;
        case CEIL: return integer_float_loop<T, CEIL>;
        case ROUND: return integer_float_loop<T, ROUND>;
        case TRUNC: return integer_float_loop<T, TRUNC>;
        default: return integer_float_loop<T, RINT>;
    }
}

constexpr int pair(Dt src, Dt dst) { return static_cast<int>(src) * 32 + static_cast<int>(dst); }

CastLoop find_cast(Dt src, Dt dst, int mode) {
    switch (pair(src, dst)) {
        case pair(Dt::I4, Dt::F16): return by_mode<Dt::I4, Dt::F16>(mode);
        case pair(Dt::I8, Dt::F16): return by_mode<Dt::I8, Dt::F16>(mode);
        case pair(Dt::U8, Dt::F16): return by_mode<Dt::U8, Dt::F16>(mode);
        case pair(Dt::I16, Dt::F16): return by_mode<Dt::I16, Dt::F16>(mode);
        case pair(Dt::I16, Dt::F32): return widen_loop<Dt::I16>;
        case pair(Dt::F16, Dt::I4): return by_mode<Dt::F16, Dt::I4>(mode);
        case pair(Dt::F16, Dt::I8): return by_mode<Dt::F16, Dt::I8>(mode);
        case pair(Dt::F16, Dt::U8): return by_mode<Dt::F16, Dt::U8>(mode);
        case pair(Dt::F16, Dt::I16): return by_mode<Dt::F16, Dt::I16>(mode);
        case pair(Dt::F16, Dt::I32): return by_mode<Dt::F16, Dt::I32>(mode);
        case pair(Dt::F16, Dt::F32): return widen_loop<Dt::F16>;
        case pair(Dt::BF16, Dt::I32): return by_mode<Dt::BF16, Dt::I32>(mode);
        case pair(Dt::BF16, Dt::F32): return widen_loop<Dt::BF16>;
        case pair(Dt::I32, Dt::I16): return integer_loop<int32_t, int16_t>;
        case pair(Dt::I32, Dt::F16): return dequant_loop;
        case pair(Dt::I32, Dt::F32): return integer_float_by_mode<int32_t>(mode);
        case pair(Dt::I32, Dt::I64): return integer_loop<int32_t, int64_t>;
        case pair(Dt::F32, Dt::I16): return by_mode<Dt::F32, Dt::I16>(mode);
        case pair(Dt::F32, Dt::F16): return by_mode<Dt::F32, Dt::F16>(mode);
        case pair(Dt::F32, Dt::BF16): return by_mode<Dt::F32, Dt::BF16>(mode);
        case pair(Dt::F32, Dt::I32): return by_mode<Dt::F32, Dt::I32>(mode);
        case pair(Dt::F32, Dt::F32): return by_mode<Dt::F32, Dt::F32>(mode);
        case pair(Dt::F32, Dt::I64): return by_mode<Dt::F32, Dt::I64>(mode);
        case pair(Dt::I64, Dt::I32): return integer_loop<int64_t, int32_t>;
        case pair(Dt::I64, Dt::F32): return integer_float_by_mode<int64_t>(mode);
        default: return nullptr;
    }
}

// int4b_t packs two elements in a byte: the plan of a cast from or to it works on pairs of elements.
void cast_int4(Inst &inst, const Span &dst, const Span &src, CastLoop loop, Lanes lanes) {
    Plan plan;
    if (lanes.n % 2 != 0) {
        finding("MASK-RANGE", "%s: an int4b_t operand needs an even number of elements, not %llu", inst.api,
                static_cast<unsigned long long>(lanes.n));
    }
    if (lanes.kind == Lanes::MASK_BITS) {
        finding("UNSUPPORTED-DTYPE", "%s: the mask array form with int4b_t is not modelled", inst.api);
        return;
    }
    lanes.n /= 2;
    const uint32_t dst_size = dst.dt == Dt::I4 ? 1 : 2 * size_of(dst.dt), src_size = src.dt == Dt::I4 ? 1 : 2 * size_of(src.dt);
    if (!make_plan(inst, lanes, REPEAT / std::max(dst_size, src_size), plan)) {
        return;
    }
    bool ok = touch_lanes(inst, plan, 1, src, Rw::READ, src_size);
    ok = touch_lanes(inst, plan, 0, dst, Rw::WRITE, dst_size) && ok;
    charge(inst, plan, 1, dst_size);
    const uint32_t size[2] = {dst_size, src_size};
    if (ok) {
        for_runs<2>(plan, size, [&](const int64_t(&off)[2], size_t n) { loop(dst.p + off[0], src.p + off[1], 2 * n); });
    }
}

template <Dt S, typename F, Dt D>
void fused_loop(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, const Scalar &) {
    float x[CHUNK], y[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = std::min(CHUNK, n - i);
        load_exact<S>(a + extent<S>(i), x, m);
        load_exact<S>(b + extent<S>(i), y, m);
#pragma GCC ivdep
        for (size_t j = 0; j < m; ++j) {
            x[j] = F::template f<float>(0.0f, x[j], y[j], 0.0f);
        }
        store_rounded<D, RINT>(x, d + extent<D>(i), m);
    }
}
void add_deq_relu_loop(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, const Scalar &) {
    uint16_t *dst = reinterpret_cast<uint16_t *>(d);
    const double scale = static_cast<double>(half_bits_to_float(core().deq_scale_bits));
    for (size_t i = 0; i < n; ++i) {
        const double sum = static_cast<double>(reinterpret_cast<const int32_t *>(a)[i]) + reinterpret_cast<const int32_t *>(b)[i];
        dst[i] = scaled_half(std::max(sum * scale, 0.0));
    }
}
template <typename F>
Loop find_fused(Dt src, Dt dst) {
    switch (pair(src, dst)) {
        case pair(Dt::F16, Dt::I8): return fused_loop<Dt::F16, F, Dt::I8>;
        case pair(Dt::F16, Dt::U8): return fused_loop<Dt::F16, F, Dt::U8>;
        case pair(Dt::I16, Dt::I8): return fused_loop<Dt::I16, F, Dt::I8>;
        case pair(Dt::F32, Dt::F16): return fused_loop<Dt::F32, F, Dt::F16>;
        default: return nullptr;
    }
}

}  // namespace

float round_scalar(float value, int mode) {
    switch (mode) {
        case FLOOR: return round_f<FLOOR>(value);
        case CEIL: return round_f<CEIL>(value);
        case ROUND: return round_f<ROUND>(value);
        case TRUNC: return round_f<TRUNC>(value);
        case ODD: return round_f<ODD>(value);
        default: return round_f<RINT>(value);
    }
}

void vec_cast(Inst &inst, const Span &dst, const Span &src, int round_mode, const Lanes &lanes) {
    const CastLoop loop = find_cast(src.dt, dst.dt, round_mode);
    if (!loop) {
        finding("UNSUPPORTED-DTYPE", "%s: this pair of element types cannot be converted", inst.api);
        return;
    }
    if (src.dt == Dt::I4 || dst.dt == Dt::I4) {
        cast_int4(inst, dst, src, loop, lanes);
        return;
    }
    const uint32_t dst_size = size_of(dst.dt), src_size = size_of(src.dt);
    Plan plan;
    if (!make_plan(inst, lanes, REPEAT / std::max(dst_size, src_size), plan)) {
        return;
    }
    bool ok = touch_lanes(inst, plan, 1, src, Rw::READ, src_size);
    ok = touch_lanes(inst, plan, 0, dst, Rw::WRITE, dst_size) && ok;
    charge(inst, plan, 1, dst_size);
    note_overlap(inst, plan, dst, dst_size, src, src_size);
    const uint32_t size[2] = {dst_size, src_size};
    if (ok) {
        for_runs<2>(plan, size, [&](const int64_t(&off)[2], size_t n) { loop(dst.p + off[0], src.p + off[1], n); });
    }
}

void vec_binary_cast(Inst &inst, VecOp op, const Span &dst, const Span &src0, const Span &src1, const Lanes &lanes) {
    Loop loop = nullptr;
    if (op == VecOp::ADD_RELU) {
        loop = src0.dt == Dt::I32 ? add_deq_relu_loop : find_fused<ops::AddRelu>(src0.dt, dst.dt);
    } else if (op == VecOp::SUB_RELU) {
        loop = find_fused<ops::SubRelu>(src0.dt, dst.dt);
    } else if (op == VecOp::MUL) {
        loop = find_fused<ops::Mul>(src0.dt, dst.dt);
    }
    if (!loop) {
        finding("UNSUPPORTED-DTYPE", "%s: this pair of element types cannot be converted", inst.api);
        return;
    }
    const uint32_t dst_size = size_of(dst.dt), src_size = size_of(src0.dt);
    Plan plan;
    if (!make_plan(inst, lanes, REPEAT / std::max(dst_size, src_size), plan)) {
        return;
    }
    bool ok = touch_lanes(inst, plan, 1, src0, Rw::READ, src_size);
    ok = touch_lanes(inst, plan, 2, src1, Rw::READ, src_size) && ok;
    ok = touch_lanes(inst, plan, 0, dst, Rw::WRITE, dst_size) && ok;
    charge(inst, plan, 1, dst_size);
    const uint32_t size[3] = {dst_size, src_size, src_size};
    if (ok) {
        for_runs<3>(plan, size, [&](const int64_t(&off)[3], size_t n) {
            loop(dst.p + off[0], src0.p + off[1], src1.p + off[2], n, Scalar{});
        });
    }
}

}  // namespace ascendc_twin
