// Copies of L0C to the unified buffer on SoCs that have one kind of core (asc-devkit, docs/zh/api, DataCopy from L0C to UB).
#include "ascendc_twin/half.h"
#include "cube_convert.h"

namespace ascendc_twin {

namespace {

enum Mode : uint8_t { kNone, kDeq, kVecDeq, kDeq8, kVecDeq8, kDeq16, kVecDeq16 };

bool by_column(uint8_t mode) {
    return mode == kVecDeq || mode == kVecDeq8 || mode == kVecDeq16;
}

// The parameter of a column: a half in the modes DEQ and VDEQ, else 64 bits.
struct Parameter {
    float factor;
    Scale scale;
    bool relu;
};
Parameter parameter_of(const CopyOut &p, uint32_t column) {
    const bool narrow = p.mode == kDeq || p.mode == kVecDeq;
    uint64_t bits = p.value;
    if (by_column(p.mode)) {
        bits = 0;
        memcpy(&bits, p.table + column * (narrow ? 2 : 8), narrow ? 2 : 8);
    }
    if (narrow) return {half_value(reinterpret_cast<const uint8_t *>(&bits)), {}, p.relu};
    Scale scale = scale_of(bits);
    scale.factor = bits_float(static_cast<uint32_t>(bits));  // here all 32 bits of it count
    return {scale.factor, scale, p.relu || (bits >> 47 & 1) != 0};
}

void put_half(uint8_t *to, float x) {
    const uint16_t bits = half_pattern(x);
    memcpy(to, &bits, 2);
}

void element_out(const CopyOut &p, Dt in, Dt out, const uint8_t *from, uint32_t column, uint8_t *to) {
    const bool integer = in == Dt::I32 || in == Dt::U32;
    int32_t x = 0;
    if (integer) memcpy(&x, from, 4);
    if (p.mode == kNone) {
        float f = integer ? 0 : in == Dt::F16 ? half_value(from) : 0;
        if (in == Dt::F32) memcpy(&f, from, 4);
        if (integer) {
            x = p.relu ? std::max(x, 0) : x;
            memcpy(to, &x, 4);
            return;
        }
        if (p.relu && !(f > 0)) f = 0;
        if (out == Dt::F16) return put_half(to, f);
        memcpy(to, &f, 4);
        return;
    }
    const Parameter q = parameter_of(p, column);
    if (out == Dt::I16 || out == Dt::U16) {
        const int32_t moved = std::clamp(x >> std::max(q.scale.shift, 1u), -32768, 32767);
        const auto narrow = static_cast<int16_t>(q.relu ? std::max(moved, 0) : moved);
        memcpy(to, &narrow, 2);
        return;
    }
    if (q.scale.shift != 0) x = std::clamp(x >> q.scale.shift, -32768, 32767);
    const float scaled = (integer ? static_cast<float>(x) : half_value(from)) * q.factor;
    const float kept = q.relu && !(scaled > 0) ? 0.0f : scaled;
    if (out == Dt::F16) return put_half(to, kept);
    *to = static_cast<uint8_t>(to_b8(kept, q.scale));
}

bool good(const Span &dst, const Span &src, const CopyOut &p) {
    const uint64_t out = bytes_of_type(dst.dt);
    const bool integer = src.dt == Dt::I32 || src.dt == Dt::U32, eight = p.mode == kDeq8 || p.mode == kVecDeq8;
    const bool types = p.mode == kNone ? dst.dt == src.dt || (src.dt == Dt::F32 && dst.dt == Dt::F16)
                       : eight         ? integer && out == 1
                                       : out == 2 && (integer || (p.mode == kDeq && src.dt == Dt::F16));
    if (types && (!by_column(p.mode) || p.table != nullptr)) return true;
    finding("CUBE-QUANT", "DataCopy out of L0C: deqScale %u does not turn elements of %u bytes into elements of %u bytes%s", p.mode, bytes_of_type(src.dt),
            bytes_of_type(dst.dt), by_column(p.mode) && p.table == nullptr ? ", and deqTensorAddr is not set" : "");
    return false;
}

}  // namespace

void copy_out_l0c(Inst &inst, const Span &dst, const Span &src, const CopyOut &p) {
    if (p.count == 0 || p.len == 0) return;
    if (!check_memory(src, "the source", {Mem::L0C}) || !check_memory(dst, "the destination", {Mem::UB}) || !core_has(src.mem) || !good(dst, src, p)) return;
    const uint64_t in = bytes_of_type(src.dt), out = bytes_of_type(dst.dt), fractal = kCube * kCube * in;
    const uint32_t rows = p.one_row ? 1 : kCube;
    const bool halves = out == 1 && p.half < 2;
    const uint64_t row_out = halves ? kBlock32 : kCube * out, unit_in = rows * kCube * in, unit_out = rows * row_out;
    const uint64_t burst_in = p.len * unit_in + p.src_gap * fractal, burst_out = p.len * unit_out + p.dst_gap * kBlock32;
    if (!touch_cube(inst, src, Rw::READ, walk(p.len * unit_in, p.count, static_cast<int64_t>(burst_in)))) return;
    if (!touch_cube(inst, dst, Rw::WRITE, walk(p.len * unit_out, p.count, static_cast<int64_t>(burst_out)))) return;
    for (uint32_t i = 0; i < p.count; ++i) {
        CopyOut burst = p;
        if (by_column(p.mode)) burst.table = p.table + uint64_t{i} * (p.mode == kVecDeq ? 32 : 128);
        for (uint64_t row = 0; row < uint64_t{p.len} * rows; ++row) {
            const uint8_t *from = src.p + i * burst_in + row * kCube * in;
            uint8_t *to = dst.p + i * burst_out + row * row_out + (halves && p.half == 1 ? kCube : 0);
            for (uint32_t column = 0; column < kCube; ++column) element_out(burst, src.dt, dst.dt, from + column * in, column, to + column * out);
        }
    }
    inst.moved = uint64_t{p.count} * p.len * unit_in;
    inst.runs = p.count;
}

}  // namespace ascendc_twin
