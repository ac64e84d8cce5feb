// How results of L0C become elements of the destination: quantisation, ReLU and rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cube_state.h"
#include "vec_convert.h"

namespace ascendc_twin {

struct Scale {
    float factor = 1;
    uint32_t shift = 0;  // 0: none
    int32_t offset = 0;
    bool is_signed = true;
};

// Bits of one quantisation parameter (asc-devkit, docs/zh/api, 随路量化.md): the factor keeps 10 bits of mantissa.
inline Scale scale_of(uint64_t bits) {
    Scale s;
    s.factor = bits_float(static_cast<uint32_t>(bits) & 0xffffe000u);
    s.shift = bits >> 36 & 1 ? static_cast<uint32_t>(bits >> 32 & 0xf) + 1 : 0;
    s.offset = static_cast<int32_t>(bits >> 37 & 0x1ff);
    if (s.offset >= 256) s.offset -= 512;
    s.is_signed = (bits >> 46 & 1) != 0;
    return s;
}

inline bool takes_table(Quant q) {
    return q == Quant::V_DEQ_F16 || q == Quant::V_F32_B8 || q == Quant::V_REQ_B8;
}
inline bool from_int(Quant q) {
    return q == Quant::DEQ_F16 || q == Quant::V_DEQ_F16 || q == Quant::REQ_B8 || q == Quant::V_REQ_B8;
}
inline Dt out_type(Quant q, Dt dst) {
    switch (q) {
        case Quant::F32_F16:
        case Quant::DEQ_F16:
        case Quant::V_DEQ_F16: return Dt::F16;
        case Quant::F32_BF16: return Dt::BF16;
        case Quant::NONE: return dst;
        default: return dst == Dt::U8 ? Dt::U8 : Dt::I8;
    }
}
inline uint32_t bytes_of_type(Dt dt) {
    return dt == Dt::F32 || dt == Dt::I32 || dt == Dt::U32 ? 4 : dt == Dt::I8 || dt == Dt::U8 ? 1 : 2;
}

inline int32_t to_b8(float scaled, const Scale &s) {
    const float whole = rint_f(std::isnan(scaled) ? 0.0f : std::clamp(scaled, -256.0f, 255.0f));
    const int32_t moved = static_cast<int32_t>(whole) + s.offset;
    return s.is_signed ? std::clamp(moved, -128, 127) : std::clamp(moved, 0, 255);
}

// What the conversion of one row of 16 results needs.
struct Converter {
    Quant quant;
    bool relu, integers, narrow;  // narrow: L0C holds half
    Dt out;
    const uint64_t *table = nullptr;
    Scale scalar;

    Scale at(uint32_t column) const { return table != nullptr ? scale_of(table[column]) : scalar; }

    void integer_row(const int32_t *in, uint32_t column, uint32_t n, uint8_t *to) const {
        for (uint32_t i = 0; i < n; ++i) {
            const int32_t x = relu ? std::max(in[i], 0) : in[i];
            if (quant == Quant::NONE) {
                memcpy(to + 4 * i, &x, 4);
                continue;
            }
            const Scale s = at(column + i);
            int32_t shifted = x;
            if (s.shift != 0 && out != Dt::F16) shifted = std::clamp(x >> s.shift, -32768, 32767);
            const float scaled = static_cast<float>(shifted) * s.factor;
            if (out == Dt::F16) {
                const uint16_t bits = half_pattern(scaled);
                memcpy(to + 2 * i, &bits, 2);
            } else {
                to[i] = static_cast<uint8_t>(to_b8(scaled, s));
            }
        }
    }
    void float_row(const float *in, uint32_t column, uint32_t n, uint8_t *to) const {
        float x[kCube];
        for (uint32_t i = 0; i < n; ++i) x[i] = relu && !(in[i] > 0) && !std::isnan(in[i]) ? 0.0f : in[i];
        switch (quant) {
            case Quant::NONE:
                if (out == Dt::F16) {
                    float_to_half(x, to, n);
                } else {
                    memcpy(to, x, n * sizeof(float));
                }
                return;
            case Quant::F32_F16: return float_to_half(x, to, n);
            case Quant::F32_BF16: return float_to_bf16(x, to, n);
            default:
                for (uint32_t i = 0; i < n; ++i) {
                    const Scale s = at(column + i);
                    to[i] = static_cast<uint8_t>(to_b8(x[i] * s.factor, s));
                }
        }
    }
    void row(const uint8_t *in, uint32_t column, uint32_t n, uint8_t *to) const {
        if (integers) return integer_row(reinterpret_cast<const int32_t *>(in), column, n, to);
        if (!narrow) return float_row(reinterpret_cast<const float *>(in), column, n, to);
        float wide[kCube];
        half_to_float(in, wide, n);
        float_row(wide, column, n, to);
    }
};

// Stores a run; atomics and the end of a global buffer are honoured.
void store_result(const Span &dst, uint8_t *to, const uint8_t *from, uint64_t bytes);
bool touch_result(Inst &inst, const Span &dst, const Walk &w);

}  // namespace ascendc_twin
