// What the typed wrappers of the vector instructions share: element type checks, scalars, and the lanes of the call forms.
#pragma once

#include <type_traits>

#include "ascendc_twin/require.h"
#include "ascendc_twin/tensor.h"
#include "ascendc_twin/vec_engine.h"

namespace ascendc_twin {

template <typename T>
inline constexpr bool is_floating_element =
    std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> || std::is_same_v<T, double>;

template <typename T>
TWIN_API Scalar scalar_of(const T &value) {
    Scalar scalar;
    if constexpr (is_floating_element<T>) {
        scalar.f = static_cast<float>(value);
    } else {
        scalar.i = static_cast<int64_t>(value);
    }
    return scalar;
}

// The low bits of a register as an element.
template <typename T>
TWIN_API T low_bits_as(uint64_t bits) {
    if constexpr (sizeof(T) == 2) {
        return __builtin_bit_cast(T, static_cast<uint16_t>(bits));
    } else {
        return __builtin_bit_cast(T, static_cast<uint32_t>(bits));
    }
}

// Elements of one 256-byte repeat.
template <typename T>
inline constexpr uint32_t per_repeat = 256 / sizeof(AscendC::PrimT<T>);

TWIN_API Lanes with(Lanes lanes, const AscendC::BinaryRepeatParams &p) {
    lanes.blk[0] = p.dstBlkStride;
    lanes.blk[1] = p.src0BlkStride;
    lanes.blk[2] = p.src1BlkStride;
    lanes.rep[0] = p.dstRepStride;
    lanes.rep[1] = p.src0RepStride;
    lanes.rep[2] = p.src1RepStride;
    return lanes;
}
TWIN_API Lanes with(Lanes lanes, const AscendC::UnaryRepeatParams &p) {
    lanes.blk[0] = p.dstBlkStride;
    lanes.blk[1] = p.srcBlkStride;
    lanes.rep[0] = p.dstRepStride;
    lanes.rep[1] = p.srcRepStride;
    return lanes;
}
// dst, src block and repeat strides in blocks.
TWIN_API Lanes with_strides(Lanes lanes, uint32_t dst_blk, uint32_t src_blk, uint32_t dst_rep, uint32_t src_rep) {
    lanes.blk[0] = dst_blk;
    lanes.blk[1] = src_blk;
    lanes.rep[0] = dst_rep;
    lanes.rep[1] = src_rep;
    return lanes;
}

}  // namespace ascendc_twin
