// Transposes as the compiler's own functions. The VA registers hold eight block addresses each; a transpose takes a pair of them.
#pragma once

#include "ascendc_twin/api_raw.h"
#include "ascendc_twin/vec_transpose.h"

enum ub_addr8_t { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };

namespace ascendc_twin {

inline thread_local uint64_t va_registers[8][8];

inline void va_blocks(Span blocks[16], ub_addr8_t first, Dt dt) {
    const uint64_t *addresses = va_registers[first & ~1];
    for (int i = 0; i < 16; ++i) {
        blocks[i] = span_at(addresses[i], dt);
    }
}
TWIN_API void scatter_blocks(const char *api, Dt dt, ub_addr8_t dst, ub_addr8_t src, uint32_t repeat, uint32_t dst_rep,
                             uint32_t src_rep, bool dst_high, bool src_high) {
    Inst inst(api, PipeId::V);
    Span to[16], from[16];
    va_blocks(to, dst, dt);
    va_blocks(from, src, dt);
    vec_trans_5hd(inst, to, from, dst_high, src_high, repeat, dst_rep, src_rep);
}

}  // namespace ascendc_twin

TWIN_API void set_va_reg_sb(ub_addr8_t dst, const uint64_t *addresses) {
    __builtin_memcpy(ascendc_twin::va_registers[dst], addresses, sizeof ascendc_twin::va_registers[dst]);
}
// dst and src name the first register of a pair (VA0, VA2, ...).
TWIN_API void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride) {
    ascendc_twin::scatter_blocks("scatter_vnchwconv_b16", ascendc_twin::dt_of<uint16_t>, dst, src, repeat, dstStride, srcStride,
                                 false, false);
}
TWIN_API void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride) {
    ascendc_twin::scatter_blocks("scatter_vnchwconv_b32", ascendc_twin::dt_of<uint32_t>, dst, src, repeat, dstStride, srcStride,
                                 false, false);
}
TWIN_API void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride,
                                   bool dstHighHalf, bool srcHighHalf) {
    ascendc_twin::scatter_blocks("scatter_vnchwconv_b8", ascendc_twin::dt_of<uint8_t>, dst, src, repeat, dstStride, srcStride,
                                 dstHighHalf, srcHighHalf);
}
// One 16 x 16 block.
template <typename T>
TWIN_API void vtranspose(T *dst, T *src) {
    TWIN_REQUIRE_TYPE("vtranspose", T, uint16_t, int16_t, half);
    ascendc_twin::Inst inst("vtranspose", ascendc_twin::PipeId::V);
    ascendc_twin::vec_transpose16(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src));
}
