// The instructions of the cube unit: loads into L0A and L0B, Mmad, Fixpipe, and copies of and to the memories around it.
#pragma once

#include "ascendc_twin/copy.h"
#include "ascendc_twin/cube_params.h"
#include "ascendc_twin/rt_cube.h"
#include "ascendc_twin/tensor.h"

namespace ascendc_twin {

template <typename T, typename... Allowed>
inline constexpr bool element_is = (std::is_same_v<AscendC::PrimT<T>, Allowed> || ...);
// Elements of the copies that do not look into them: int4b_t counts as bytes there.
template <typename T>
inline constexpr uint32_t element_bytes = sizeof(AscendC::PrimT<T>);

TWIN_API PipeId fill_pipe(const Span &dst) {
    return dst.mem == Mem::L1 ? PipeId::MTE2 : PipeId::MTE1;
}
inline Load2d load_2d_of(const AscendC::LoadData2DParams &p) {
    return {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.ifTranspose, p.addrMode != 0};
}
template <typename P>
Load3d load_3d_of(const P &p, const AscendC::IsResetLoad3dConfig &config, uint64_t pad_value) {
    Load3d out;
    for (int i = 0; i < 4; ++i) out.pad[i] = p.padList[i];
    out.h = p.l1H;
    out.w = p.l1W;
    out.channels = p.channelSize;
    out.k_extent = p.kExtension;
    out.m_extent = p.mExtension;
    out.k_start = p.kStartPt;
    out.m_start = p.mStartPt;
    out.stride_w = p.strideW;
    out.stride_h = p.strideH;
    out.filter_w = p.filterW + (p.filterSizeW ? 256u : 0u);
    out.filter_h = p.filterH + (p.filterSizeH ? 256u : 0u);
    out.dilation_w = p.dilationFilterW;
    out.dilation_h = p.dilationFilterH;
    out.transpose = p.enTranspose;
    out.pad_value = pad_value;
    out.own_image = config.isSetFMatrix;
    out.own_padding = config.isSetPadding;
    return out;
}
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
inline FixOut fix_of(const AscendC::FixpipeParamsV220 &p, bool nd) {
    FixOut out;
    out.n = p.nSize;
    out.m = p.mSize;
    out.src_stride = p.srcStride;
    out.dst_stride = p.dstStride;
    out.quant = static_cast<Quant>(p.quantPre);
    out.scale = p.deqScalar;
    out.relu = p.reluEn;
    out.nd = nd;
    out.split = p.isChannelSplit;
    out.unit_flag = p.unitFlag;
    out.nd_count = nd ? p.ndNum : 1;
    out.src_nd = p.srcNdStride;
    out.dst_nd = p.dstNdStride;
    return out;
}
inline FixOut fix_of(const AscendC::DataCopyCO12DstParams &p) {
    const FixRegisters &set = fix_registers();
    FixOut out;
    out.n = p.nSize;
    out.m = p.mSize;
    out.src_stride = p.srcStride;
    out.dst_stride = p.dstStride;
    out.quant = static_cast<Quant>(p.quantPre);
    out.scale = set.scale;
    out.relu = p.reluPre != 0;
    out.nd = p.nz2ndEn;
    out.split = p.channelSplit;
    out.unit_flag = p.unitFlag;
    out.nd_count = p.nz2ndEn ? set.nd_count : 1;
    out.src_nd = set.src_nd;
    out.dst_nd = set.dst_nd;
    return out;
}
// Bursts of 32-byte blocks of L0C (each a column of fractals), in the terms of FixOut.
template <typename Src, typename Dst>
FixOut fix_of(const AscendC::FixpipeParams<Src> &p) {
    FixOut out;
    const uint32_t blocks = p.burstLen * 32u / (16u * sizeof(uint32_t));  // rows of 16 elements of 4 bytes
    out.m = p.nz2ndParams.nz2ndEn ? p.burstLen * 32u / (16u * sizeof(Src)) : blocks;
    out.n = p.nz2ndParams.nz2ndEn ? p.nz2ndParams.originalNSize : p.cburstNum * 16u;
    out.src_stride = out.m + p.srcStride * 32u / (16u * sizeof(Src));
    out.dst_stride = p.nz2ndParams.nz2ndEn ? p.dstStride : p.dstStride + out.m * 16u * sizeof(Dst) / 32u;
    out.quant = static_cast<Quant>(p.quantParams.quantPre);
    out.scale = p.quantParams.deqScalar;
    out.relu = p.reluEn;
    out.nd = p.nz2ndParams.nz2ndEn;
    out.unit_flag = p.unitFlag;
    out.nd_count = p.nz2ndParams.nz2ndEn ? p.nz2ndParams.ndNum : 1;
    out.src_nd = p.nz2ndParams.srcNdStride;
    out.dst_nd = p.nz2ndParams.dstNdStride;
    return out;
}

}  // namespace ascendc_twin

namespace AscendC {

// ---- into L1 ----

template <typename T>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Nd2NzParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_to_nz(inst, dst.span(), src.span(),
                             {p.ndNum, p.nValue, p.dValue, p.srcDValue, p.srcNdMatrixStride, p.dstNzC0Stride, p.dstNzNStride,
                              p.dstNzMatrixStride, ascendc_twin::element_bytes<T>, false});
}
template <typename T>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const Nd2NzParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE3);
    ascendc_twin::copy_to_nz(inst, dst.span(), src.span(),
                             {p.ndNum, p.nValue, p.dValue, p.srcDValue, p.srcNdMatrixStride, p.dstNzC0Stride, p.dstNzNStride,
                              p.dstNzMatrixStride, ascendc_twin::element_bytes<T>, false});
}
template <typename T>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Dn2NzParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::MTE2);
    ascendc_twin::copy_to_nz(inst, dst.span(), src.span(),
                             {p.dnNum, p.nValue, p.dValue, p.srcDValue, p.srcDnMatrixStride, p.dstNzC0Stride, p.dstNzNStride,
                              p.dstNzMatrixStride, ascendc_twin::element_bytes<T>, true});
}

// ---- into L0A and L0B ----

template <typename T>
TWIN_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParams &p) {
    ascendc_twin::Inst inst("LoadData", ascendc_twin::PipeId::MTE1);
    ascendc_twin::load_2d(inst, dst.span(), src.span(), ascendc_twin::load_2d_of(p));
}
template <typename T>
TWIN_API void LoadData(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const LoadData2DParams &p) {
    ascendc_twin::Inst inst("LoadData", ascendc_twin::PipeId::MTE2);
    ascendc_twin::load_2d(inst, dst.span(), src.span(), ascendc_twin::load_2d_of(p));
}
template <typename T>
TWIN_API void LoadDataWithTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2dTransposeParams &p) {
    ascendc_twin::Inst inst("LoadDataWithTranspose", ascendc_twin::PipeId::MTE1);
    ascendc_twin::load_square(inst, dst.span(), src.span(),
                              {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.dstFracGap, p.addrMode != 0});
}
template <typename T, const IsResetLoad3dConfig &config = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = PrimT<T>>
TWIN_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2<U> &p) {
    static_assert(std::is_same_v<PrimT<T>, U>, "LoadData: the padding value has the element type of the tensors");
    ascendc_twin::Inst inst("LoadData", ascendc_twin::PipeId::MTE1);
    ascendc_twin::load_3d(inst, dst.span(), src.span(), ascendc_twin::load_3d_of(p, config, ascendc_twin::pad_bits(p.padValue)));
}
template <typename T>
TWIN_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2Pro &p) {
    ascendc_twin::Inst inst("LoadData", ascendc_twin::PipeId::MTE1);
    ascendc_twin::Load3d out;
    out.channels = p.channelSize;
    out.k_extent = p.extConfig & 0xffff;
    out.m_extent = p.extConfig >> 16 & 0xffff;
    out.k_start = p.extConfig >> 32 & 0xffff;
    out.m_start = p.extConfig >> 48 & 0xffff;
    out.stride_w = p.filterConfig & 0xff;
    out.stride_h = p.filterConfig >> 8 & 0xff;
    out.filter_w = (p.filterConfig >> 16 & 0xff) + (p.filterSizeW ? 256u : 0u);
    out.filter_h = (p.filterConfig >> 24 & 0xff) + (p.filterSizeH ? 256u : 0u);
    out.dilation_w = p.filterConfig >> 32 & 0xff;
    out.dilation_h = p.filterConfig >> 40 & 0xff;
    out.transpose = p.enTranspose;
    out.own_image = out.own_padding = false;
    ascendc_twin::load_3d(inst, dst.span(), src.span(), out);
}
TWIN_API void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t padList[4], const FmatrixMode &mode) {
    ascendc_twin::set_fmatrix(l1H, l1W, padList, mode == FmatrixMode::FMATRIX_RIGHT);
}
template <typename T>
TWIN_API void SetLoadDataPaddingValue(const T padValue) {
    ascendc_twin::set_load_padding(ascendc_twin::pad_bits(padValue));
}
TWIN_API void SetLoadDataRepeat(const LoadDataRepeatParam &p) {
    ascendc_twin::set_load_repeat(p.repeatStride, p.repeatTime, p.repeatMode);
}
// The boundary of a ring in L1; 0 is none, which is all that is modelled.
TWIN_API void SetLoadDataBoundary(uint32_t boundaryValue) {
    if (boundaryValue != 0) ascendc_twin::finding("CUBE-RANGE", "SetLoadDataBoundary(%u): rings in L1 are not modelled", boundaryValue);
}

template <typename T, typename U = PrimT<T>>
TWIN_API void InitConstValue(const LocalTensor<T> &dst, const InitConstValueParams<U> &p) {
    static_assert(std::is_same_v<PrimT<T>, U>, "InitConstValue: the value has the element type of the tensor");
    ascendc_twin::Inst inst("InitConstValue", ascendc_twin::fill_pipe(dst.span()));
    ascendc_twin::fill_blocks(inst, dst.span(), p.repeatTimes, p.blockNum, p.dstGap, ascendc_twin::pad_bits(p.initValue), sizeof(U));
}
template <typename T, typename U = PrimT<T>>
TWIN_API void Fill(const LocalTensor<T> &dst, const InitConstValueParams<U> &p) {
    InitConstValue(dst, p);
}

// ---- the matrix unit ----

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

// ---- out of L0C ----

template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
TWIN_API void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &p) {
    ascendc_twin::Inst inst("Fixpipe", ascendc_twin::PipeId::FIX);
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), nullptr, ascendc_twin::fix_of(p, config.format == CO2Layout::ROW_MAJOR));
}
template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR, typename S = uint64_t>
TWIN_API void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<S> &cbufWorkspace, const FixpipeParamsV220 &p) {
    static_assert(std::is_same_v<PrimT<S>, uint64_t>, "Fixpipe: quantisation parameters are uint64_t");
    ascendc_twin::Inst inst("Fixpipe", ascendc_twin::PipeId::FIX);
    const ascendc_twin::Span table = cbufWorkspace.span();
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), &table, ascendc_twin::fix_of(p, config.format == CO2Layout::ROW_MAJOR));
}
template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
TWIN_API void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &p) {
    ascendc_twin::Inst inst("Fixpipe", ascendc_twin::PipeId::FIX);
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), nullptr, ascendc_twin::fix_of(p, config.format == CO2Layout::ROW_MAJOR));
}
template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR, typename S = uint64_t>
TWIN_API void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<S> &cbufWorkspace, const FixpipeParamsV220 &p) {
    static_assert(std::is_same_v<PrimT<S>, uint64_t>, "Fixpipe: quantisation parameters are uint64_t");
    ascendc_twin::Inst inst("Fixpipe", ascendc_twin::PipeId::FIX);
    const ascendc_twin::Span table = cbufWorkspace.span();
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), &table, ascendc_twin::fix_of(p, config.format == CO2Layout::ROW_MAJOR));
}
template <typename T, typename U, typename S>
TWIN_API void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParams<S> &p) {
    ascendc_twin::Inst inst("Fixpipe", ascendc_twin::PipeId::FIX);
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), nullptr, ascendc_twin::fix_of<S, PrimT<T>>(p));
}

template <typename T, typename U>
TWIN_API void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::FIX);
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), &ascendc_twin::fix_registers().table, ascendc_twin::fix_of(p));
}
template <typename T, typename U>
TWIN_API void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &p) {
    ascendc_twin::Inst inst("DataCopy", ascendc_twin::PipeId::FIX);
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), &ascendc_twin::fix_registers().table, ascendc_twin::fix_of(p));
}
template <typename T>
TWIN_API void SetFixPipeConfig(const LocalTensor<T> &, const LocalTensor<T> &quantPre, bool = false) {
    ascendc_twin::fix_registers().table = quantPre.span();
}
template <typename T, bool setRelu = false>
TWIN_API void SetFixPipeConfig(const LocalTensor<T> &preData, bool = false) {
    if (!setRelu && preData.span().mem != ascendc_twin::Mem::L0C) ascendc_twin::fix_registers().table = preData.span();
}
TWIN_API void SetFixpipePreQuantFlag(uint64_t config) {
    ascendc_twin::fix_registers().scale = config;
}
TWIN_API void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint32_t dstNdStride) {
    ascendc_twin::FixRegisters &set = ascendc_twin::fix_registers();
    set.nd_count = ndNum;
    set.src_nd = srcNdStride;
    set.dst_nd = dstNdStride;
}

}  // namespace AscendC
