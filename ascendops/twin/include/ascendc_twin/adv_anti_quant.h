// AscendAntiQuant: 8- and 4-bit integers to half and bfloat16.
#pragma once

#include "ascendc_twin/adv_quant.h"

namespace AscendC {

namespace twin_detail {
// Rows and columns of src: [K, N], or [N, K] when transposed.
template <typename In, typename Out, bool transposed>
TWIN_API ascendc_twin::AntiQuantArgs anti_quant_args(const LocalTensor<Out> &dst, const LocalTensor<In> &src, uint32_t k) {
    TWIN_REQUIRE_TYPE("AscendAntiQuant", In, int8_t, int4b_t);
    TWIN_REQUIRE_TYPE("AscendAntiQuant", Out, half, bfloat16_t);
    ascendc_twin::AntiQuantArgs args;
    args.dst = dst.span();
    args.src = src.span();
    const uint32_t n = k != 0 ? src.GetSize() / k : 0;
    args.rows = transposed ? n : k;
    args.columns = transposed ? k : n;
    return args;
}
// The shape of a parameter tensor: as given, as its ShapeInfo says, or one group that covers all of K.
template <typename T, bool transposed>
TWIN_API void anti_quant_shape(const LocalTensor<T> &values, uint32_t height, uint32_t width, const ascendc_twin::AntiQuantArgs &args,
                               uint32_t &rows, uint32_t &columns) {
    const ShapeInfo info = values.GetShapeInfo();
    if (height == 0 || width == 0) {
        height = info.shapeDim == 2 ? info.shape[0] : transposed ? args.rows : 1;
        width = info.shapeDim == 2 ? info.shape[1] : transposed ? 1 : args.columns;
    }
    rows = height;
    columns = width;
}
}  // namespace twin_detail

template <typename InputDataType, typename OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src,
                              const LocalTensor<OutputDataType> &offset, const LocalTensor<OutputDataType> &scale, const uint32_t k,
                              const AntiQuantShapeInfo &shapeInfo = {}) {
    auto args = twin_detail::anti_quant_args<InputDataType, OutputDataType, isTranspose>(dst, src, k);
    twin_detail::anti_quant_shape<OutputDataType, isTranspose>(scale, shapeInfo.scaleHeight, shapeInfo.scaleWidth, args, args.scale_rows,
                                                               args.scale_columns);
    twin_detail::anti_quant_shape<OutputDataType, isTranspose>(offset, shapeInfo.offsetHeight, shapeInfo.offsetWidth, args,
                                                               args.offset_rows, args.offset_columns);
    args.scale.tensor = scale.span();
    args.offset.tensor = offset.span();
    ascendc_twin::Inst inst("AscendAntiQuant", ascendc_twin::PipeId::V);
    ascendc_twin::vec_anti_quant(inst, args);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src,
                              const LocalTensor<OutputDataType> &offset, const LocalTensor<OutputDataType> &scale,
                              const LocalTensor<uint8_t> &, const uint32_t k, const AntiQuantShapeInfo &shapeInfo = {}) {
    AscendAntiQuant<InputDataType, OutputDataType, isTranspose>(dst, src, offset, scale, k, shapeInfo);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src,
                              const LocalTensor<OutputDataType> &scale, const LocalTensor<uint8_t> &, const uint32_t k,
                              const AntiQuantShapeInfo &shapeInfo = {}) {
    auto args = twin_detail::anti_quant_args<InputDataType, OutputDataType, isTranspose>(dst, src, k);
    twin_detail::anti_quant_shape<OutputDataType, isTranspose>(scale, shapeInfo.scaleHeight, shapeInfo.scaleWidth, args, args.scale_rows,
                                                               args.scale_columns);
    args.scale.tensor = scale.span();
    ascendc_twin::Inst inst("AscendAntiQuant", ascendc_twin::PipeId::V);
    ascendc_twin::vec_anti_quant(inst, args);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const OutputDataType offset,
                              const OutputDataType scale, const uint32_t k, const AntiQuantShapeInfo & = {}) {
    auto args = twin_detail::anti_quant_args<InputDataType, OutputDataType, isTranspose>(dst, src, k);
    args.scale.scalar = static_cast<float>(scale);
    args.offset.scalar = static_cast<float>(offset);
    ascendc_twin::Inst inst("AscendAntiQuant", ascendc_twin::PipeId::V);
    ascendc_twin::vec_anti_quant(inst, args);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const OutputDataType offset,
                              const OutputDataType scale, const LocalTensor<uint8_t> &, const uint32_t k,
                              const AntiQuantShapeInfo &shapeInfo = {}) {
    AscendAntiQuant<InputDataType, OutputDataType, isTranspose>(dst, src, offset, scale, k, shapeInfo);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
TWIN_API void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const OutputDataType scale,
                              const LocalTensor<uint8_t> &, const uint32_t k, const AntiQuantShapeInfo &shapeInfo = {}) {
    AscendAntiQuant<InputDataType, OutputDataType, isTranspose>(dst, src, static_cast<OutputDataType>(0), scale, k, shapeInfo);
}

}  // namespace AscendC
