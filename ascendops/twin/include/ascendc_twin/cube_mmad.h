// The matrix unit.
#pragma once

#include "ascendc_twin/cube_params.h"
#include "ascendc_twin/rt_cube.h"
#include "ascendc_twin/tensor.h"

namespace ascendc_twin {

template <typename T, typename... Allowed>
inline constexpr bool element_is = (std::is_same_v<AscendC::PrimT<T>, Allowed> || ...);

inline Mad mad_of(const AscendC::MmadParams &p) {
    Mad out;
    out.m = p.m;
    out.n = p.n;
    out.k = p.k;
    out.clear = p.cmatrixInitVal && !p.isBias;
    out.from_bias = !p.cmatrixInitVal && p.cmatrixSource;
    out.unit_flag = p.unitFlag;
    out.align_k = p.kDirectionAlign;
    return out;
}

}  // namespace ascendc_twin

namespace AscendC {

namespace twin_detail {
template <typename T, typename U, typename S>
constexpr bool mmad_types() {
    using ascendc_twin::element_is;
    constexpr bool same = std::is_same_v<PrimT<U>, PrimT<S>>;
    constexpr bool floats = same && element_is<T, float> && element_is<U, half, bfloat16_t, float>;
    constexpr bool ints = same && element_is<T, int32_t> && element_is<U, int8_t, int4b_t>;
#if __NPU_ARCH__ == 2201
    return floats || ints;
#else
    constexpr bool halves = same && element_is<T, half> && element_is<U, half>;
    return floats || ints || halves || (element_is<T, int32_t, uint32_t> && element_is<U, uint8_t> && element_is<S, int8_t, uint8_t>);
#endif
}
}  // namespace twin_detail

template <typename T, typename U, typename S>
TWIN_API void Mmad(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter, const MmadParams &p) {
    static_assert(twin_detail::mmad_types<T, U, S>(), "Mmad: this SoC does not multiply these types (half, bfloat16_t and float give float, int8_t and int4b_t give int32_t)");
    ascendc_twin::Inst inst("Mmad", ascendc_twin::PipeId::M);
    ascendc_twin::mmad(inst, dst.span(), fm.span(), filter.span(), nullptr, ascendc_twin::mad_of(p));
}
template <typename T, typename U, typename S, typename V>
TWIN_API void Mmad(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter, const LocalTensor<V> &bias,
                   const MmadParams &p) {
    static_assert(twin_detail::mmad_types<T, U, S>(), "Mmad: this SoC does not multiply these types (half, bfloat16_t and float give float, int8_t and int4b_t give int32_t)");
    ascendc_twin::Inst inst("Mmad", ascendc_twin::PipeId::M);
    const ascendc_twin::Span table = bias.span();
    ascendc_twin::Mad mad = ascendc_twin::mad_of(p);
    mad.from_bias = table.mem == ascendc_twin::Mem::BT;
    mad.clear = false;
    ascendc_twin::mmad(inst, dst.span(), fm.span(), filter.span(), &table, mad);
}
template <typename T, typename U>
TWIN_API void MmadWithSparse(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<U> &filter, const MmadParams &p) {
    static_assert(std::is_same_v<PrimT<T>, int32_t> && std::is_same_v<PrimT<U>, int8_t>, "MmadWithSparse: int8_t gives int32_t");
    ascendc_twin::Inst inst("MmadWithSparse", ascendc_twin::PipeId::M);
    ascendc_twin::Mad mad = ascendc_twin::mad_of(p);
    mad.sparse = true;
    ascendc_twin::mmad(inst, dst.span(), fm.span(), filter.span(), nullptr, mad);
}
TWIN_API void SetHF32Mode(HF32Mode mode) {
    ascendc_twin::set_hf32(mode == HF32Mode::ENABLE);
}
TWIN_API void SetHF32Mode(bool hf32Mode) {
    ascendc_twin::set_hf32(hf32Mode);
}
TWIN_API void SetHF32TransMode(HF32TransMode mode) {
    ascendc_twin::set_hf32_rounding(mode == HF32TransMode::NEAREST_ZERO);
}
TWIN_API void SetHF32TransMode(bool hf32TransMode) {
    ascendc_twin::set_hf32_rounding(hf32TransMode);
}
// In which direction the fractals of a result are computed first: the result is the same.
TWIN_API void SetMMColumnMajor() {}
TWIN_API void SetMMRowMajor() {}
TWIN_API void SetMMLayoutTransform(bool) {}

template <typename T, typename U>
TWIN_API void BroadCastVecToMM(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t blockCount, const uint8_t blockLen,
                               const uint8_t srcGap, const uint8_t dstGap) {
    static_assert(sizeof(PrimT<T>) == sizeof(PrimT<U>), "BroadCastVecToMM: both tensors have the same element type");
    ascendc_twin::Inst inst("BroadCastVecToMM", ascendc_twin::PipeId::V);
    ascendc_twin::broadcast_to_l0c(inst, dst.span(), src.span(), static_cast<uint32_t>(blockCount), blockLen, srcGap, dstGap);
}

}  // namespace AscendC
