// Results out of L0C: Fixpipe, and DataCopy with the registers that it reads.
#pragma once

#include "ascendc_twin/cube_params.h"
#include "ascendc_twin/rt_cube.h"
#include "ascendc_twin/tensor.h"

namespace ascendc_twin {

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
template <typename T, typename U, typename S>
TWIN_API void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParams<S> &p) {
    ascendc_twin::Inst inst("Fixpipe", ascendc_twin::PipeId::FIX);
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), nullptr, ascendc_twin::fix_of<S, PrimT<T>>(p));
}
template <typename T, typename U, typename S, typename W>
TWIN_API void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<W> &cbufWorkspace, const FixpipeParams<S> &p) {
    static_assert(std::is_same_v<PrimT<W>, uint64_t>, "Fixpipe: quantisation parameters are uint64_t");
    ascendc_twin::Inst inst("Fixpipe", ascendc_twin::PipeId::FIX);
    const ascendc_twin::Span table = cbufWorkspace.span();
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), &table, ascendc_twin::fix_of<S, PrimT<T>>(p));
}
template <typename T, typename U, typename S, typename W>
TWIN_API void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<W> &cbufWorkspace, const FixpipeParams<S> &p) {
    static_assert(std::is_same_v<PrimT<W>, uint64_t>, "Fixpipe: quantisation parameters are uint64_t");
    ascendc_twin::Inst inst("Fixpipe", ascendc_twin::PipeId::FIX);
    const ascendc_twin::Span table = cbufWorkspace.span();
    ascendc_twin::fixpipe(inst, dst.span(), src.span(), &table, ascendc_twin::fix_of<S, PrimT<T>>(p));
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
