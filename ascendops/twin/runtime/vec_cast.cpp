// Type conversion: every pair and rounding mode of the Cast instruction.

#include "vec_carry.h"
#include "vec_cast_blocks.h"

namespace ascendc_twin {

namespace {

using Direct = void (*)(uint8_t *d, const uint8_t *s, size_t n);

// A conversion: one pass over both operands, or block by block through float with one rounding.
struct CastLoop {
    Direct direct = nullptr;
    Dt src = Dt::F32, dst = Dt::F32;
    LoadBlock load = nullptr;
    RoundBlock round = nullptr;
    StoreBlock store = nullptr;

    explicit operator bool() const { return direct != nullptr || store != nullptr; }
    void operator()(uint8_t *d, const uint8_t *s, size_t n) const;
};

void CastLoop::operator()(uint8_t *d, const uint8_t *s, size_t n) const {
    if (direct) {
        direct(d, s, n);
        return;
    }
    float room[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = std::min(CHUNK, n - i);
        const float *x = reinterpret_cast<const float *>(s + extent(src, i));
        if (load) {
            load(s + extent(src, i), room, m);
            x = room;
        }
        if (round) {
            round(x, room, m);
            x = room;
        }
        store(x, d + extent(dst, i), m);
    }
}

template <Dt S>
void widen_loop(uint8_t *d, const uint8_t *s, size_t n) {
    load_of(S)(s, reinterpret_cast<float *>(d), n);
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

template <typename S, typename D>
void narrow_loop(uint8_t *d, const uint8_t *s, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        reinterpret_cast<D *>(d)[i] = static_cast<D>(reinterpret_cast<const S *>(s)[i]);
    }
}

void dequant_loop(uint8_t *d, const uint8_t *s, size_t n) {
    uint16_t *dst = reinterpret_cast<uint16_t *>(d);
    const int32_t *src = reinterpret_cast<const int32_t *>(s);
    const double scale = static_cast<double>(half_bits_to_float(core().deq_scale_bits));
    for (size_t i = 0; i < n; ++i) {
        dst[i] = scaled_half(static_cast<double>(src[i]) * scale);
    }
}

bool is_integer(Dt dt) { return dt != Dt::F16 && dt != Dt::BF16; }

CastLoop through_float(Dt src, Dt dst, int mode) {
    CastLoop loop;
    loop.src = src;
    loop.dst = dst;
    loop.load = load_of(src);
    loop.round = is_integer(dst) ? rounding_of(mode) : nullptr;
    loop.store = store_of(dst, mode);
    return loop;
}
CastLoop in_one_pass(Direct direct) {
    CastLoop loop;
    loop.direct = direct;
    return loop;
}
template <typename T>
Direct integer_float_by_mode(int mode) {
    switch (mode) {
        case FLOOR: return integer_float_loop<T, FLOOR>;
        case CEIL: return integer_float_loop<T, CEIL>;
        case ROUND: return integer_float_loop<T, ROUND>;
        case TRUNC: return integer_float_loop<T, TRUNC>;
        default: return integer_float_loop<T, RINT>;
    }
}

CastLoop find_cast(Dt src, Dt dst, int mode) {
    switch (pair(src, dst)) {
        case pair(Dt::I4, Dt::F16): return through_float(Dt::I4, Dt::F16, mode);
        case pair(Dt::I8, Dt::F16): return through_float(Dt::I8, Dt::F16, mode);
        case pair(Dt::U8, Dt::F16): return through_float(Dt::U8, Dt::F16, mode);
        case pair(Dt::I16, Dt::F16): return through_float(Dt::I16, Dt::F16, mode);
        case pair(Dt::I16, Dt::F32): return in_one_pass(widen_loop<Dt::I16>);
        case pair(Dt::F16, Dt::I4): return through_float(Dt::F16, Dt::I4, mode);
        case pair(Dt::F16, Dt::I8): return through_float(Dt::F16, Dt::I8, mode);
        case pair(Dt::F16, Dt::U8): return through_float(Dt::F16, Dt::U8, mode);
        case pair(Dt::F16, Dt::I16): return through_float(Dt::F16, Dt::I16, mode);
        case pair(Dt::F16, Dt::I32): return through_float(Dt::F16, Dt::I32, mode);
        case pair(Dt::F16, Dt::F32): return in_one_pass(widen_loop<Dt::F16>);
        case pair(Dt::BF16, Dt::I32): return through_float(Dt::BF16, Dt::I32, mode);
        case pair(Dt::BF16, Dt::F32): return in_one_pass(widen_loop<Dt::BF16>);
        case pair(Dt::I32, Dt::I16): return in_one_pass(integer_loop<int32_t, int16_t>);
        case pair(Dt::I32, Dt::F16): return in_one_pass(dequant_loop);
        case pair(Dt::I32, Dt::F32): return in_one_pass(integer_float_by_mode<int32_t>(mode));
        case pair(Dt::I32, Dt::I64): return in_one_pass(integer_loop<int32_t, int64_t>);
        case pair(Dt::F32, Dt::I16): return through_float(Dt::F32, Dt::I16, mode);
        case pair(Dt::F32, Dt::F16): return through_float(Dt::F32, Dt::F16, mode);
        case pair(Dt::F32, Dt::BF16): return through_float(Dt::F32, Dt::BF16, mode);
        case pair(Dt::F32, Dt::I32): return through_float(Dt::F32, Dt::I32, mode);
        case pair(Dt::F32, Dt::F32): return through_float(Dt::F32, Dt::F32, mode);
        case pair(Dt::F32, Dt::I64): return through_float(Dt::F32, Dt::I64, mode);
        case pair(Dt::I64, Dt::I32): return in_one_pass(integer_loop<int64_t, int32_t>);
        case pair(Dt::I64, Dt::F32): return in_one_pass(integer_float_by_mode<int64_t>(mode));
        default: return {};
    }
}

// In the mode of the CTRL register in which casts that overflow keep the low bits of the integer.
void keep_low_bits(CastLoop &loop, Dt src, Dt dst) {
    if (pair(src, dst) == pair(Dt::I32, Dt::I16)) {
        loop.direct = narrow_loop<int32_t, int16_t>;
    } else if (pair(src, dst) == pair(Dt::I64, Dt::I32)) {
        loop.direct = narrow_loop<int64_t, int32_t>;
    } else if (loop.store && is_integer(dst) && dst != Dt::F32) {
        loop.store = low_bits_of(dst);
    }
}

// int4b_t packs two elements in a byte: the plan of a cast from or to it works on pairs of elements.
void cast_int4(Inst &inst, const Span &dst, const Span &src, const CastLoop &loop, Lanes lanes) {
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
    CastLoop loop = find_cast(src.dt, dst.dt, round_mode);
    if (!loop) {
        finding("UNSUPPORTED-DTYPE", "%s: this pair of element types cannot be converted", inst.api);
        return;
    }
    if ((core().control >> 59 & 1) != 0 && core().npu_arch != 2002) {
        keep_low_bits(loop, src.dt, dst.dt);
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
    Carry carry;
    bool ok = touch_lanes(inst, plan, 1, src, Rw::READ, src_size);
    carry.collect(plan, dst, dst_size, src, nullptr, src_size, false);
    ok = touch_lanes(inst, plan, 0, dst, Rw::WRITE, dst_size) && ok;
    carry.mark();
    charge(inst, plan, 1, dst_size);
    note_overlap(inst, plan, dst, dst_size, src, src_size);
    const uint32_t size[2] = {dst_size, src_size};
    if (ok) {
        for_runs<2>(plan, size, [&](const int64_t(&off)[2], size_t n) { loop(dst.p + off[0], src.p + off[1], n); });
        saturate_floats(plan, dst);
    }
}

}  // namespace ascendc_twin
