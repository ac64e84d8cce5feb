// The blocks that conversions are made of.
#include "vec_cast_blocks.h"

#include <algorithm>

namespace ascendc_twin {

namespace {

template <typename T>
void load_integers(const uint8_t *s, float *dst, size_t n) {
    const T *src = reinterpret_cast<const T *>(s);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        dst[i] = static_cast<float>(src[i]);
    }
}

void load_int4(const uint8_t *s, float *dst, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        const uint8_t nibble = static_cast<uint8_t>((s[i / 2] >> (i % 2 * 4)) & 0xf);
        dst[i] = static_cast<float>(static_cast<int8_t>(nibble << 4) >> 4);
    }
}

// Floats that are integral already.
template <typename T>
void store_integers(const float *src, uint8_t *d, size_t n) {
    T *dst = reinterpret_cast<T *>(d);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        dst[i] = saturate<T>(src[i]);
    }
}

void store_int4(const float *src, uint8_t *d, size_t n) {
    for (size_t i = 0; i + 1 < n; i += 2) {
        const int lo = saturate<int8_t>(src[i]), hi = saturate<int8_t>(src[i + 1]);
        d[i / 2] = static_cast<uint8_t>((std::clamp(lo, -8, 7) & 0xf) | (std::clamp(hi, -8, 7) << 4));
    }
}

int64_t whole(float x) { return std::fabs(x) < 9.2e18f ? static_cast<int64_t>(x) : 0; }

template <typename T>
void store_low_bits(const float *src, uint8_t *d, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        reinterpret_cast<T *>(d)[i] = static_cast<T>(whole(src[i]));
    }
}

void store_low_int4(const float *src, uint8_t *d, size_t n) {
    for (size_t i = 0; i + 1 < n; i += 2) {
        d[i / 2] = static_cast<uint8_t>((whole(src[i]) & 0xf) | (whole(src[i + 1]) << 4));
    }
}

void store_same(const float *src, uint8_t *d, size_t n) { std::memmove(d, src, n * sizeof(float)); }

template <Dt D, int MODE>
void store_rounded(const float *src, uint8_t *d, size_t n) {
    uint16_t *dst = reinterpret_cast<uint16_t *>(d);
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        dst[i] = D == Dt::F16 ? float_to_half_bits<MODE>(src[i]) : float_to_bf16_bits<MODE>(src[i]);
    }
}

template <Dt D>
StoreBlock rounded_by(int mode) {
    switch (mode) {
        case FLOOR: return store_rounded<D, FLOOR>;
        case CEIL: return store_rounded<D, CEIL>;
        case ROUND: return store_rounded<D, ROUND>;
        case TRUNC: return store_rounded<D, TRUNC>;
        case ODD: return store_rounded<D, ODD>;
        default: return D == Dt::F16 ? float_to_half : float_to_bf16;
    }
}

template <int MODE>
void round_block(const float *src, float *dst, size_t n) {
#pragma GCC ivdep
    for (size_t i = 0; i < n; ++i) {
        dst[i] = round_f<MODE>(src[i]);
    }
}

}  // namespace

LoadBlock load_of(Dt src) {
    switch (src) {
        case Dt::I4: return load_int4;
        case Dt::I8: return load_integers<int8_t>;
        case Dt::U8: return load_integers<uint8_t>;
        case Dt::I16: return load_integers<int16_t>;
        case Dt::F16: return half_to_float;
        case Dt::BF16: return bf16_to_float;
        default: return nullptr;
    }
}

StoreBlock store_of(Dt dst, int mode) {
    switch (dst) {
        case Dt::I4: return store_int4;
        case Dt::I8: return store_integers<int8_t>;
        case Dt::U8: return store_integers<uint8_t>;
        case Dt::I16: return store_integers<int16_t>;
        case Dt::I32: return store_integers<int32_t>;
        case Dt::I64: return store_integers<int64_t>;
        case Dt::F16: return rounded_by<Dt::F16>(mode);
        case Dt::BF16: return rounded_by<Dt::BF16>(mode);
        default: return store_same;
    }
}

StoreBlock low_bits_of(Dt dst) {
    switch (dst) {
        case Dt::I4: return store_low_int4;
        case Dt::I8: return store_low_bits<int8_t>;
        case Dt::U8: return store_low_bits<uint8_t>;
        case Dt::I16: return store_low_bits<int16_t>;
        case Dt::I32: return store_low_bits<int32_t>;
        default: return store_low_bits<int64_t>;
    }
}

RoundBlock rounding_of(int mode) {
    switch (mode) {
        case FLOOR: return round_block<FLOOR>;
        case CEIL: return round_block<CEIL>;
        case ROUND: return round_block<ROUND>;
        case TRUNC: return round_block<TRUNC>;
        case ODD: return round_block<ODD>;
        default: return round_block<RINT>;
    }
}

}  // namespace ascendc_twin
