// Reductions, comparisons and gathers as the compiler's own functions: raw UB pointers, lanes as the mask register says.
#pragma once

#include "ascendc_twin/api_raw.h"
#include "ascendc_twin/vec_gather.h"
#include "ascendc_twin/vec_reduce.h"
#include "ascendc_twin/vec_select.h"

enum class Order_t : uint8_t { VALUE_INDEX = 0, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };

namespace ascendc_twin {

TWIN_API Lanes reduced_lanes(uint32_t repeat, uint32_t dst_rep, uint32_t src_blk, uint32_t src_rep) {
    return with_strides(lanes_of_register(repeat), 1, src_blk, dst_rep, src_rep);
}
// The span at an address of UB of which only the low 32 bits are given, or at an address as on the device.
template <typename T>
TWIN_API Span local_at_low_bits(uint32_t low) {
    if (low < core().ub_size) return span_at(low, dt_of<T>);
    const auto base = reinterpret_cast<uint64_t>(core().ub);
    return span_at(base + static_cast<uint32_t>(low - static_cast<uint32_t>(base)), dt_of<T>);
}

}  // namespace ascendc_twin

// One result for each repeat, or for each 32-byte block.
#define TWIN_CCE_REDUCE(NAME, BLOCKS, OP)                                                                                         \
    template <typename T>                                                                                                         \
    TWIN_API void NAME(T *dst, T *src, uint8_t repeat, uint16_t dstRepStride, uint16_t srcBlkStride, uint16_t srcRepStride,       \
                       Order_t order = Order_t::VALUE_INDEX) {                                                                    \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::V);                                                                  \
        ascendc_twin::vec_reduce_repeat(inst, ascendc_twin::Reduce::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src), \
                                        ascendc_twin::reduced_lanes(repeat, dstRepStride, srcBlkStride, srcRepStride),            \
                                        static_cast<int>(order));                                                                 \
    }                                                                                                                             \
    template <typename T>                                                                                                         \
    TWIN_API void BLOCKS(T *dst, T *src, uint8_t repeat, uint16_t dstRepStride, uint16_t srcBlkStride, uint16_t srcRepStride) {   \
        ascendc_twin::Inst inst(#BLOCKS, ascendc_twin::PipeId::V);                                                                \
        ascendc_twin::vec_reduce_block(inst, ascendc_twin::Reduce::OP, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src), \
                                       ascendc_twin::reduced_lanes(repeat, dstRepStride, srcBlkStride, srcRepStride));            \
    }
TWIN_CCE_REDUCE(vcmax, vcgmax, MAX)
TWIN_CCE_REDUCE(vcmin, vcgmin, MIN)
#undef TWIN_CCE_REDUCE
template <typename T>
TWIN_API void vcgadd(T *dst, T *src, uint8_t repeat, uint16_t dstRepStride, uint16_t srcBlkStride, uint16_t srcRepStride) {
    ascendc_twin::Inst inst("vcgadd", ascendc_twin::PipeId::V);
    ascendc_twin::vec_reduce_block(inst, ascendc_twin::Reduce::SUM, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src),
                                   ascendc_twin::reduced_lanes(repeat, dstRepStride, srcBlkStride, srcRepStride));
}

// vcmpv_: bits of two sources; vcmpvs_: of a source and a scalar; vcmp_: into the CMPMASK register.
#define TWIN_CCE_COMPARE(MODE, NAME)                                                                                              \
    template <typename T>                                                                                                         \
    TWIN_API void vcmpv_##NAME(uint8_t *dst, T *src0, T *src1, uint8_t repeat, uint16_t dstBlkStride, uint16_t src0BlkStride,     \
                               uint16_t src1BlkStride, uint16_t dstRepStride, uint16_t src0RepStride, uint16_t src1RepStride) {   \
        ascendc_twin::Inst inst("vcmpv_" #NAME, ascendc_twin::PipeId::V);                                                         \
        auto lanes = ascendc_twin::with_strides(ascendc_twin::lanes_of_register(repeat), dstBlkStride, src0BlkStride,             \
                                                dstRepStride, src0RepStride);                                                     \
        lanes.blk[2] = src1BlkStride;                                                                                             \
        lanes.rep[2] = src1RepStride;                                                                                             \
        ascendc_twin::vec_compare(inst, static_cast<int>(AscendC::CMPMODE::MODE), ascendc_twin::raw_local(dst),                   \
                                  ascendc_twin::raw_local(src0), ascendc_twin::raw_local(src1), lanes, false);                    \
    }                                                                                                                             \
    template <typename T>                                                                                                         \
    TWIN_API void vcmpvs_##NAME(uint8_t *dst, T *src, T scalar, uint8_t repeat, uint16_t dstBlkStride, uint16_t srcBlkStride,     \
                                uint16_t dstRepStride, uint16_t srcRepStride) {                                                   \
        ascendc_twin::Inst inst("vcmpvs_" #NAME, ascendc_twin::PipeId::V);                                                        \
        const auto lanes = ascendc_twin::with_strides(ascendc_twin::lanes_of_register(repeat), dstBlkStride, srcBlkStride,        \
                                                      dstRepStride, srcRepStride);                                                \
        ascendc_twin::vec_compare_scalar(inst, static_cast<int>(AscendC::CMPMODE::MODE), ascendc_twin::raw_local(dst),            \
                                         ascendc_twin::raw_local(src), ascendc_twin::scalar_of(scalar), lanes);                   \
    }                                                                                                                             \
    template <typename T>                                                                                                         \
    TWIN_API void vcmp_##NAME(T *src0, T *src1, uint8_t repeat, uint16_t dstBlkStride, uint16_t src0BlkStride,                    \
                              uint16_t src1BlkStride, uint16_t dstRepStride, uint16_t src0RepStride, uint16_t src1RepStride) {    \
        ascendc_twin::Inst inst("vcmp_" #NAME, ascendc_twin::PipeId::V);                                                          \
        auto lanes = ascendc_twin::with_strides(ascendc_twin::lanes_of_register(repeat), dstBlkStride, src0BlkStride,             \
                                                dstRepStride, src0RepStride);                                                     \
        lanes.blk[2] = src1BlkStride;                                                                                             \
        lanes.rep[2] = src1RepStride;                                                                                             \
        const auto first = ascendc_twin::raw_local(src0);                                                                         \
        ascendc_twin::vec_compare(inst, static_cast<int>(AscendC::CMPMODE::MODE), first, first, ascendc_twin::raw_local(src1),    \
                                  lanes, true);                                                                                   \
    }
TWIN_CCE_COMPARE(LT, lt)
TWIN_CCE_COMPARE(GT, gt)
TWIN_CCE_COMPARE(EQ, eq)
TWIN_CCE_COMPARE(LE, le)
TWIN_CCE_COMPARE(GE, ge)
TWIN_CCE_COMPARE(NE, ne)
#undef TWIN_CCE_COMPARE

// The CMPMASK register: bits of a comparison; for vsel of mode 1 the scalar, of mode 2 the address of the bits.
template <typename T>
TWIN_API void set_cmpmask(T *src) {
    ascendc_twin::Inst inst("set_cmpmask", ascendc_twin::PipeId::V);
    ascendc_twin::vec_set_cmp_mask(inst, ascendc_twin::raw_local(src));
}
template <typename T>
TWIN_API void get_cmpmask(T *dst) {
    ascendc_twin::Inst inst("get_cmpmask", ascendc_twin::PipeId::V);
    ascendc_twin::vec_get_cmp_mask(inst, ascendc_twin::raw_local(dst));
}
namespace ascendc_twin {
TWIN_API Lanes selected_lanes(uint32_t repeat, uint32_t dst_blk, uint32_t a_blk, uint32_t b_blk, uint32_t dst_rep, uint32_t a_rep, uint32_t b_rep) {
    Lanes lanes = with_strides(lanes_of_register(repeat), dst_blk, a_blk, dst_rep, a_rep);
    lanes.blk[2] = b_blk;
    lanes.rep[2] = b_rep;
    return lanes;
}
}  // namespace ascendc_twin
template <typename T>
TWIN_API void vsel(T *dst, T *src0, T *src1, uint8_t repeat, uint16_t dstBlkStride, uint16_t src0BlkStride, uint16_t src1BlkStride,
                   uint16_t dstRepStride, uint16_t src0RepStride, uint16_t src1RepStride, uint8_t mode = 0) {
    ascendc_twin::Inst inst("vsel", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::selected_lanes(repeat, dstBlkStride, src0BlkStride, src1BlkStride, dstRepStride, src0RepStride, src1RepStride);
    const ascendc_twin::Span other = ascendc_twin::raw_local(src1);
    if (mode == 0) {
        ascendc_twin::vec_select(inst, 0, ascendc_twin::raw_local(dst), nullptr, ascendc_twin::raw_local(src0), &other, {}, lanes);
        return;
    }
    const auto bits = ascendc_twin::local_at_low_bits<uint8_t>(static_cast<uint32_t>(ascendc_twin::core().cmp_mask[0]));
    ascendc_twin::vec_select(inst, mode, ascendc_twin::raw_local(dst), &bits, ascendc_twin::raw_local(src0), &other, {}, lanes);
}
// Mode 1: the second source is the mask, and the register holds the scalar.
template <typename T, typename M, typename = std::enable_if_t<!std::is_same_v<T, M>>>
TWIN_API void vsel(T *dst, T *src0, M *sel, uint8_t repeat, uint16_t dstBlkStride, uint16_t src0BlkStride, uint16_t src1BlkStride,
                   uint16_t dstRepStride, uint16_t src0RepStride, uint16_t src1RepStride, uint8_t mode) {
    ascendc_twin::Inst inst("vsel", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::selected_lanes(repeat, dstBlkStride, src0BlkStride, src1BlkStride, dstRepStride, src0RepStride, src1RepStride);
    ascendc_twin::Span bits = ascendc_twin::raw_local(sel);
    bits.dt = ascendc_twin::Dt::U8;
    ascendc_twin::vec_select(inst, mode, ascendc_twin::raw_local(dst), &bits, ascendc_twin::raw_local(src0), nullptr,
                             ascendc_twin::scalar_of(ascendc_twin::low_bits_as<T>(ascendc_twin::core().cmp_mask[0])), lanes);
}

// offsetAddr: the address in UB from which the offsets count.
template <typename T>
TWIN_API void vgather(T *dst, uint32_t *offset, uint32_t offsetAddr, uint16_t dstRepStride, uint8_t repeat) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "vgather: elements of 2 or 4 bytes");
    ascendc_twin::Inst inst("vgather", ascendc_twin::PipeId::V);
    const auto lanes = ascendc_twin::with_strides(ascendc_twin::lanes_of_register(repeat), 1, 1, dstRepStride, 8);
    ascendc_twin::vec_gather(inst, ascendc_twin::raw_local(dst), ascendc_twin::local_at_low_bits<T>(offsetAddr),
                             ascendc_twin::raw_local(offset), 0, lanes);
}
template <typename T>
TWIN_API void vgatherb(T *dst, uint32_t *offset, uint32_t offsetAddr, uint16_t dstRepStride, uint8_t dstBlkStride, uint8_t repeat) {
    ascendc_twin::Inst inst("vgatherb", ascendc_twin::PipeId::V);
    ascendc_twin::vec_gatherb(inst, ascendc_twin::raw_local(dst), ascendc_twin::local_at_low_bits<T>(offsetAddr),
                              ascendc_twin::raw_local(offset), repeat, dstBlkStride, dstRepStride);
}
// GatherMask: pattern 0 reads its bits from src1; in counter mode the mask counts the elements of a repeat.
template <typename T>
TWIN_API void vreducev2(T *dst, T *src0, T *src1, uint16_t repeat, uint8_t src0BlkStride, uint8_t pattern, uint16_t src0RepStride,
                        uint16_t src1RepStride) {
    ascendc_twin::Inst inst("vreducev2", ascendc_twin::PipeId::V);
    const ascendc_twin::Span bits = ascendc_twin::raw_local(src1);
    const auto &core = ascendc_twin::core();
    ascendc_twin::vec_gather_mask(inst, ascendc_twin::raw_local(dst), ascendc_twin::raw_local(src0),
                                  {pattern == 0 ? &bits : nullptr, pattern, core.counter_mode, static_cast<uint32_t>(core.mask_reg[0]), src0BlkStride,
                                   repeat, src0RepStride, src1RepStride});
}
TWIN_API int64_t get_rsvd_cnt() { return ascendc_twin::core().rsvd_cnt; }
TWIN_API void set_mov_pad_val(uint64_t bits) { ascendc_twin::set_pad_value(bits); }
