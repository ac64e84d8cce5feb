// Compare (results are bits) and Select (bits choose).

#include <cstring>

#include "vec_lanes.h"
#include "vec_loops.h"

namespace ascendc_twin {

namespace {

// Numbering of AscendC::CMPMODE.
enum Cmp : int { LT = 0, GT, EQ, LE, GE, NE };

template <int MODE, typename T>
inline bool compares(T a, T b) {
    switch (MODE) {
        case LT: return a < b;
        case GT: return a > b;
        case EQ: return a == b;
        case LE: return a <= b;
        case GE: return a >= b;
        default: return a != b;
    }
}

// n elements to bits, the first in the lowest bit of the first byte; n bits of `out` are written, padded with zeros to a byte.
template <int MODE, typename T>
void compare_bits(const T *a, const T *b, bool b_is_scalar, uint8_t *out, size_t n) {
    uint8_t flags[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = std::min(CHUNK, n - i);
        const T scalar = b[0];
        if (b_is_scalar) {
            for (size_t j = 0; j < m; ++j) {
                flags[j] = compares<MODE>(a[i + j], scalar);
            }
        } else {
            for (size_t j = 0; j < m; ++j) {
                flags[j] = compares<MODE>(a[i + j], b[i + j]);
            }
        }
        std::memset(flags + m, 0, CHUNK - m);
        for (size_t j = 0; j < m; j += 8) {
            uint64_t word;
            std::memcpy(&word, flags + j, 8);
            // Bit 0 of each byte to one bit of a byte, in order.
            out[(i + j) / 8] = static_cast<uint8_t>((word * 0x0102040810204080ull) >> 56);
        }
    }
}

template <typename T>
void compare_mode(int mode, const T *a, const T *b, bool b_is_scalar, uint8_t *out, size_t n) {
    switch (mode) {
        case LT: return compare_bits<LT>(a, b, b_is_scalar, out, n);
        case GT: return compare_bits<GT>(a, b, b_is_scalar, out, n);
        case EQ: return compare_bits<EQ>(a, b, b_is_scalar, out, n);
        case LE: return compare_bits<LE>(a, b, b_is_scalar, out, n);
        case GE: return compare_bits<GE>(a, b, b_is_scalar, out, n);
        default: return compare_bits<NE>(a, b, b_is_scalar, out, n);
    }
}

// One repeat of up to 128 lanes of `span` as compute values: float for floating types, int32_t for integers.
template <typename T>
void load_repeat(const Plan &plan, int k, const Span &span, uint32_t r, uint32_t n, T *out) {
    const uint32_t size = size_of(span.dt);
    const uint32_t group = plan.blk[k] == 1 ? n : BLOCK / size;
    for (uint32_t lane = 0; lane < n; lane += group) {
        const uint32_t m = std::min(group, n - lane);
        const uint8_t *p = span.p + (int64_t{r} * plan.rep[k] + int64_t{lane * size / BLOCK} * plan.blk[k]) * BLOCK;
        if (span.dt == Dt::F16) {
            half_to_float(p, reinterpret_cast<float *>(out) + lane, m);
        } else if (span.dt == Dt::BF16) {
            bf16_to_float(p, reinterpret_cast<float *>(out) + lane, m);
        } else {
            std::memcpy(out + lane, p, m * sizeof(T));
        }
    }
}

// Lanes as whole repeats: Compare ignores masks on this architecture, but not the repeats and strides.
struct CompareShape {
    Plan plan;
    uint32_t used = 0;  // lanes up to the last one that the mask names
    uint64_t elements = 0;
    bool valid = false;
};

uint32_t lanes_named(const Lanes &lanes) {
    if (lanes.kind == Lanes::MASK_N) return static_cast<uint32_t>(std::min<uint64_t>(lanes.n, REPEAT));
    const int high = lanes.bits[1] != 0 ? 1 : 0;
    return lanes.bits[high] == 0 ? 0 : 64u * high + 64u - static_cast<uint32_t>(__builtin_clzll(lanes.bits[high]));
}

CompareShape compare_shape(const Inst &inst, const Lanes &lanes, Dt dt) {
    CompareShape shape;
    const uint32_t per = REPEAT / size_of(dt);
    Lanes whole = lanes;
    shape.used = per;
    if (lanes.kind == Lanes::COUNT) {
        if (lanes.n % per != 0) {
            finding("COMPARE-COUNT", "%s: %llu elements are not a whole number of 256-byte repeats (%u elements)", inst.api,
                    static_cast<unsigned long long>(lanes.n), per);
        }
    } else if (lanes.kind != Lanes::COUNTER) {
        shape.used = std::min(per, lanes_named(lanes));
        whole.kind = Lanes::MASK_N;
        whole.n = per;
    }
    shape.valid = make_plan(inst, whole, per, shape.plan);
    shape.elements = shape.plan.kind == Lanes::MASK_N ? uint64_t{per} * shape.plan.repeat : shape.plan.n;
    if (shape.plan.kind == Lanes::COUNT && shape.valid) {
        shape.plan.kind = Lanes::COUNTER;
        shape.plan.repeat = static_cast<uint32_t>((shape.plan.n + per - 1) / per);
        for (int k = 0; k < 3; ++k) {
            shape.plan.blk[k] = 1;
            shape.plan.rep[k] = REPEAT / BLOCK;
        }
    }
    return shape;
}

template <typename T>
void run_compare(const Plan &plan, int mode, uint8_t *out, const Span &src0, const Span *src1, T scalar) {
    T a[REPEAT / 2], b[REPEAT / 2];
    b[0] = scalar;
    for (uint32_t r = 0; r < plan.repeat; ++r) {
        const uint32_t n = static_cast<uint32_t>(plan.lanes_in(r));
        load_repeat(plan, 1, src0, r, n, a);
        if (src1) {
            load_repeat(plan, 2, *src1, r, n, b);
        }
        compare_mode(mode, a, b, src1 == nullptr, out + uint64_t{r} * plan.per / 8, n);
    }
}

// The unit reads whole repeats; the lanes behind the mask may come from a neighbouring buffer, for their bits mean nothing.
bool touch_source(Inst &inst, const CompareShape &shape, int k, const Span &src, uint32_t size) {
    Plan named = shape.plan;
    named.n = shape.used;
    if (shape.used == shape.plan.per || shape.used == 0 ||
        !only_leaves_buffer(named, shape.plan, k, src, size)) {
        return touch_lanes(inst, shape.plan, k, src, Rw::READ, size);
    }
    finding("COMPARE-TAIL", "%s reads %u bytes in each repeat, past the end of its buffer; the mask, which it ignores, names %u bytes",
            inst.api, REPEAT, shape.used * size);
    return touch_lanes(inst, named, k, src, Rw::READ, size);
}

void compare(Inst &inst, int mode, const Span &dst, const Span &src0, const Span *src1, const Scalar &scalar,
             const Lanes &lanes, bool to_register) {
    const uint32_t size = size_of(src0.dt);
    CompareShape shape = compare_shape(inst, lanes, src0.dt);
    if (!shape.valid) {
        return;
    }
    if (to_register) {
        shape.plan.repeat = 1;
    }
    bool ok = touch_source(inst, shape, 1, src0, size);
    ok = (!src1 || touch_source(inst, shape, 2, *src1, size)) && ok;
    ok = (to_register || touch(inst, dst, Rw::WRITE, Walk{0, (shape.elements + 7) / 8, 1, 0, 1, 0})) && ok;
    charge(inst, shape.plan, 1, size);
    if (!ok) {
        return;
    }
    uint64_t bits[2] = {0, 0};
    uint8_t *out = to_register ? reinterpret_cast<uint8_t *>(bits) : dst.p;
    if (src0.dt == Dt::F32 || src0.dt == Dt::F16 || src0.dt == Dt::BF16) {
        run_compare<float>(shape.plan, mode, out, src0, src1, scalar.f);
    } else if (size == 4) {
        run_compare<int32_t>(shape.plan, mode, out, src0, src1, static_cast<int32_t>(scalar.i));
    } else {
        finding("UNSUPPORTED-DTYPE", "%s: no instruction for this element type", inst.api);
    }
    if (to_register) {
        core().cmp_mask[0] = bits[0];
        core().cmp_mask[1] = bits[1];
    }
}

// dst[i] = bit i ? src0[i] : src1[i] on raw patterns of 2 or 4 bytes; the first bit is bit `first` of bits.
template <typename T>
void select_run(uint8_t *d, const uint8_t *a, const uint8_t *b, T scalar, const uint8_t *bits, uint64_t first, size_t n) {
    T *dst = reinterpret_cast<T *>(d);
    const T *x = reinterpret_cast<const T *>(a);
    const T *y = reinterpret_cast<const T *>(b);
    uint8_t flags[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = std::min(CHUNK, n - i);
        for (size_t j = 0; j < m; ++j) {
            const uint64_t bit = first + i + j;
            flags[j] = (bits[bit / 8] >> (bit % 8)) & 1u;
        }
        for (size_t j = 0; j < m; ++j) {
            const T other = y ? y[i + j] : scalar;
            const T one = x[i + j];
            dst[i + j] = flags[j] ? one : other;
        }
    }
}

}  // namespace

void vec_compare(Inst &inst, int mode, const Span &dst, const Span &src0, const Span &src1, const Lanes &lanes,
                 bool to_register) {
    compare(inst, mode, dst, src0, &src1, Scalar{}, lanes, to_register);
}

void vec_compare_scalar(Inst &inst, int mode, const Span &dst, const Span &src, const Scalar &scalar, const Lanes &lanes) {
    compare(inst, mode, dst, src, nullptr, scalar, lanes, false);
}

void vec_set_cmp_mask(Inst &inst, const Span &src) {
    if (touch(inst, src, Rw::READ, Walk{0, 16, 1, 0, 1, 0}, 16)) {
        std::memcpy(core().cmp_mask, src.p, 16);
    }
}

void vec_get_cmp_mask(Inst &inst, const Span &dst) {
    if (touch(inst, dst, Rw::WRITE, Walk{0, 16, 1, 0, 1, 0}, 16)) {
        std::memcpy(dst.p, core().cmp_mask, 16);
    }
}

void vec_select(Inst &inst, int mode, const Span &dst, const Span *mask, const Span &src0, const Span *src1,
                const Scalar &scalar, const Lanes &lanes) {
    constexpr int CMPMASK_SPR = 0;
    const uint32_t size = size_of(dst.dt), per = REPEAT / size;
    Plan plan;
    if (!make_plan(inst, lanes, per, plan)) {
        return;
    }
    // Mode 0 reuses the bits of one repeat; the others go on through the mask tensor.
    const uint64_t bits = mode == CMPMASK_SPR ? per : (plan.kind == Lanes::COUNT || plan.kind == Lanes::COUNTER)
                              ? plan.n : uint64_t{per} * (plan.repeat - 1) + (plan.kind == Lanes::MASK_N ? plan.n : per);
    bool ok = !mask || touch(inst, *mask, Rw::READ, Walk{0, (bits + 7) / 8, 1, 0, 1, 0});
    ok = touch_lanes(inst, plan, 1, src0, Rw::READ, size) && ok;
    ok = (!src1 || touch_lanes(inst, plan, 2, *src1, Rw::READ, size)) && ok;
    ok = touch_lanes(inst, plan, 0, dst, Rw::WRITE, size) && ok;
    if (mode != CMPMASK_SPR) {
        require_reserved_ub(8192);
    }
    charge(inst, plan, 1, size);
    if (!ok) {
        return;
    }
    const uint8_t *chooser = mask ? mask->p : reinterpret_cast<const uint8_t *>(core().cmp_mask);
    const uint32_t pattern = dst.dt == Dt::F16 ? half_pattern(scalar.f) : dst.dt == Dt::F32 ? float_bits(scalar.f)
                                                                                            : static_cast<uint32_t>(scalar.i);
    const auto run = [&](int64_t d, int64_t a, int64_t b, uint64_t lane, size_t n) {
        const uint8_t *other = src1 ? src1->p + b : nullptr;
        if (size == 2) {
            select_run<uint16_t>(dst.p + d, src0.p + a, other, static_cast<uint16_t>(pattern), chooser, lane, n);
        } else {
            select_run<uint32_t>(dst.p + d, src0.p + a, other, pattern, chooser, lane, n);
        }
    };
    // Operand 3 of a plan is the lane number, as a dense operand of `size` bytes.
    const uint32_t sizes[4] = {size, size, size, size};
    for_runs<4>(plan, sizes, [&](const int64_t(&off)[4], size_t n) {
        const uint64_t lane = static_cast<uint64_t>(off[3]) / size;
        if (mode != CMPMASK_SPR) {
            run(off[0], off[1], off[2], lane, n);
            return;
        }
        for (size_t i = 0; i < n;) {
            const uint64_t bit = (lane + i) % per;
            const size_t m = std::min<size_t>(n - i, per - bit);
            const int64_t bytes = static_cast<int64_t>(i * size);
            run(off[0] + bytes, off[1] + bytes, off[2] + bytes, bit, m);
            i += m;
        }
    });
}

}  // namespace ascendc_twin
