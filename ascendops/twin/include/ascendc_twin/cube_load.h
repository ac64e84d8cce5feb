// Copies into L1 that make fractals, loads of fractals into L0A and L0B, and fills.
#pragma once

#include "ascendc_twin/copy.h"
#include "ascendc_twin/cube_params.h"
#include "ascendc_twin/rt_cube.h"
#include "ascendc_twin/tensor.h"

namespace ascendc_twin {

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

template <typename P>
LoadWindow load_window_of(const P &p, const AscendC::IsResetLoad3dConfig &config, uint64_t pad_value) {
    LoadWindow out;
    for (int i = 0; i < 4; ++i) out.image.pad[i] = p.padList[i];
    out.image.h = p.l1H;
    out.image.w = p.l1W;
    out.image.stride_w = p.strideW;
    out.image.stride_h = p.strideH;
    out.image.filter_w = p.filterW;
    out.image.filter_h = p.filterH;
    out.image.dilation_w = p.dilationFilterW;
    out.image.dilation_h = p.dilationFilterH;
    out.image.pad_value = pad_value;
    out.image.own_image = config.isSetFMatrix;
    out.image.own_padding = config.isSetPadding;
    out.left = p.leftTopW;
    out.top = p.leftTopH;
    out.channel_block = p.c1Index;
    out.filter_x = p.fetchFilterW;
    out.filter_y = p.fetchFilterH;
    out.jump = p.jumpStride;
    out.repeat = p.repeatTime;
    out.down = p.repeatMode == 1;
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
template <typename T, typename U>
TWIN_API void LoadDataWithSparse(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<U> &idx, const LoadData2dParams &p) {
    static_assert(std::is_same_v<PrimT<T>, int8_t> && std::is_same_v<PrimT<U>, uint8_t>, "LoadDataWithSparse: int8_t, with uint8_t indices");
    ascendc_twin::Inst inst("LoadDataWithSparse", ascendc_twin::PipeId::MTE1);
    ascendc_twin::load_sparse(inst, dst.span(), src.span(), idx.span(), p.startIndex, p.repeatTimes);
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
#if __NPU_ARCH__ != 2201
template <typename T, const IsResetLoad3dConfig &config = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = PrimT<T>>
TWIN_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV1<U> &p) {
    static_assert(std::is_same_v<PrimT<T>, U>, "LoadData: the padding value has the element type of the tensors");
    ascendc_twin::Inst inst("LoadData", ascendc_twin::PipeId::MTE1);
    ascendc_twin::load_window(inst, dst.span(), src.span(), ascendc_twin::load_window_of(p, config, ascendc_twin::pad_bits(p.padValue)));
}
#endif
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
TWIN_API void SetLoadDataBoundary(uint32_t boundaryValue) {
    ascendc_twin::set_load_boundary(boundaryValue);
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

}  // namespace AscendC
