// TopK, Pad, UnPad, ConfusionTranspose, TransData, DropOut and Fill.
#pragma once

#include "ascendc_twin/adv_engine.h"
#include "ascendc_twin/layout.h"
#include "ascendc_twin/sys.h"
#include "ascendc_twin/vec_common.h"

namespace AscendC {

enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
struct TopKInfo {
    int32_t outter = 1;
    int32_t inner;
    int32_t n;
};

struct PadParams {
    PadParams() = default;
    PadParams(const uint16_t left, const uint16_t right, const int32_t value) : leftPad(left), rightPad(right), padValue(value) {}
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
    int32_t padValue = 0;
};
struct UnPadParams {
    UnPadParams() = default;
    UnPadParams(const uint16_t left, const uint16_t right) : leftPad(left), rightPad(right) {}
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
};

struct DropOutShapeInfo {
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};
constexpr uint32_t DROPOUT_MODE_BYTE_MISALIGN = 1;
constexpr uint32_t DROPOUT_MODE_BYTE_ALIGN = 2;
constexpr uint32_t DROPOUT_MODE_BIT_ALIGN = 3;
constexpr uint32_t DROPOUT_MODE_BIT_MISALIGN = 4;

struct TransDataConfig {
    DataFormat srcFormat;
    DataFormat dstFormat;
};
template <typename T, typename U>
struct TransDataParams {
    T srcLayout;
    U dstLayout;
};

// Normal mode: rows of value and index are padded to whole blocks. Small mode: rows of 32, results without padding.
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL, typename Tiling>
TWIN_API void TopK(const LocalTensor<T> &dstValueLocal, const LocalTensor<int32_t> &dstIndexLocal, const LocalTensor<T> &srcLocal,
                   const LocalTensor<int32_t> &srcIndexLocal, const LocalTensor<bool> &finishLocal, const int32_t k, const Tiling &,
                   const TopKInfo &topKInfo, const bool isLargest = true) {
    TWIN_REQUIRE_TYPE("TopK", T, half, float);
    ascendc_twin::Inst inst("TopK", ascendc_twin::PipeId::V);
    ascendc_twin::TopKArgs args;
    args.value = dstValueLocal.span();
    args.index = dstIndexLocal.span();
    args.src = srcLocal.span();
    if (isInitIndex) args.src_index = srcIndexLocal.span();
    if (isHasfinish && topkMode == TopKMode::TOPK_NORMAL) args.finish = finishLocal.span();
    args.outer = static_cast<uint32_t>(topKInfo.outter);
    args.inner = static_cast<uint32_t>(topKInfo.inner);
    args.n = static_cast<uint32_t>(topKInfo.n);
    args.k = static_cast<uint32_t>(k);
    args.largest = isLargest;
    args.small = topkMode == TopKMode::TOPK_NSMALL;
    ascendc_twin::vec_top_k(inst, args);
}
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL, typename Tiling>
TWIN_API void TopK(const LocalTensor<T> &dstValueLocal, const LocalTensor<int32_t> &dstIndexLocal, const LocalTensor<T> &srcLocal,
                   const LocalTensor<int32_t> &srcIndexLocal, const LocalTensor<bool> &finishLocal, const LocalTensor<uint8_t> &,
                   const int32_t k, const Tiling &tiling, const TopKInfo &topKInfo, const bool isLargest = true) {
    TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode>(dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal, k, tiling,
                                                            topKInfo, isLargest);
}

// Rows of srcWidth, of which srcOriWidth are data, to rows of whole blocks: padding left and right of the data.
template <typename T, typename Tiling>
TWIN_API void Pad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const PadParams &padParams, const Tiling &tiling) {
    TWIN_REQUIRE_TYPE("Pad", T, int16_t, uint16_t, half, int32_t, uint32_t, float);
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    ascendc_twin::Inst inst("Pad", ascendc_twin::PipeId::V);
    ascendc_twin::vec_pad(inst, {dstTensor.span(), srcTensor.span(), tiling.srcHeight, tiling.srcWidth, tiling.srcOriWidth,
                                 (tiling.srcWidth + block - 1) / block * block, padParams.leftPad, padParams.padValue});
}
template <typename T, typename Tiling>
TWIN_API void Pad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const PadParams &padParams,
                  const LocalTensor<uint8_t> &, const Tiling &tiling) {
    Pad<T>(dstTensor, srcTensor, padParams, tiling);
}
template <typename T, typename Tiling>
TWIN_API void UnPad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const UnPadParams &unPadParams, const Tiling &tiling) {
    TWIN_REQUIRE_TYPE("UnPad", T, int16_t, uint16_t, half, int32_t, uint32_t, float);
    ascendc_twin::Inst inst("UnPad", ascendc_twin::PipeId::V);
    const uint32_t width = tiling.srcWidth - unPadParams.rightPad;
    ascendc_twin::vec_pad(inst, {dstTensor.span(), srcTensor.span(), tiling.srcHeight, tiling.srcWidth, width, width, 0, 0});
}
template <typename T, typename Tiling>
TWIN_API void UnPad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const UnPadParams &unPadParams,
                    const LocalTensor<uint8_t> &, const Tiling &tiling) {
    UnPad<T>(dstTensor, srcTensor, unPadParams, tiling);
}

// The tiling's param0 to param3 are B, N, S and H / N (height and width for the transposition of a matrix).
template <typename T, typename Tiling>
TWIN_API void ConfusionTranspose(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, TransposeType transposeType,
                                 const Tiling &tiling) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "ConfusionTranspose: elements of 16 or 32 bits");
    ascendc_twin::Inst inst("ConfusionTranspose", ascendc_twin::PipeId::V);
    const auto type = static_cast<uint32_t>(transposeType);
    const bool matrix = type == static_cast<uint32_t>(TransposeType::TRANSPOSE_ND2ND_ONLY);
    ascendc_twin::vec_reorder(inst, {dstTensor.span(), srcTensor.span(), type, tiling.param0, tiling.param1, matrix ? 1 : tiling.param2,
                                     matrix ? 1 : tiling.param3});
}
template <typename T, typename Tiling>
TWIN_API void ConfusionTranspose(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &,
                                 TransposeType transposeType, const Tiling &tiling) {
    ConfusionTranspose<T>(dstTensor, srcTensor, transposeType, tiling);
}
// Newer name.
template <typename T, typename Tiling>
TWIN_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, TransposeType transposeType, const Tiling &tiling) {
    ConfusionTranspose<T>(dst, src, transposeType, tiling);
}
template <typename T, typename Tiling>
TWIN_API void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &, TransposeType transposeType,
                        const Tiling &tiling) {
    ConfusionTranspose<T>(dst, src, transposeType, tiling);
}

// Between NCDHW and NDC1HWC0 or FRACTAL_Z_3D; the shape is that of the NCDHW side.
template <const TransDataConfig &config, typename T, typename U, typename S>
TWIN_API void TransData(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const TransDataParams<U, S> &params) {
    TWIN_NOT_ON_310P("TransData", T);
    TWIN_REQUIRE_TYPE("TransData", T, int16_t, uint16_t, half, bfloat16_t);
    constexpr bool to_planes = config.dstFormat == DataFormat::NCDHW;
    constexpr DataFormat other = to_planes ? config.srcFormat : config.dstFormat;
    static_assert(to_planes != (config.srcFormat == DataFormat::NCDHW), "TransData: one of the formats is NCDHW");
    static_assert(other == DataFormat::NDC1HWC0 || other == DataFormat::FRACTAL_Z_3D, "TransData: NDC1HWC0 or FRACTAL_Z_3D");
    const auto run = [&](const auto &shape) {
        const auto size = [](const auto &n) { return static_cast<uint32_t>(n); };
        ascendc_twin::Inst inst("TransData", ascendc_twin::PipeId::V);
        ascendc_twin::vec_trans_data(inst, {dstTensor.span(), srcTensor.span(), size(std::get<0>(shape)), size(std::get<1>(shape)),
                                            size(std::get<2>(shape)), size(std::get<3>(shape)) * size(std::get<4>(shape)),
                                            other == DataFormat::FRACTAL_Z_3D, to_planes});
    };
    if constexpr (to_planes) {
        run(params.dstLayout.GetShape());
    } else {
        run(params.srcLayout.GetShape());
    }
}
template <const TransDataConfig &config, typename T, typename U, typename S>
TWIN_API void TransData(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &,
                        const TransDataParams<U, S> &params) {
    TWIN_NOT_ON_310P("TransData", T);
    TransData<config>(dstTensor, srcTensor, params);
}

// dropOutMode 0: as the lengths of the rows suggest.
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
TWIN_API void DropOut(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<uint8_t> &maskLocal,
                      const float keepProb, const DropOutShapeInfo &info) {
    TWIN_REQUIRE_TYPE("DropOut", T, half, float);
    static_assert(dropOutMode <= DROPOUT_MODE_BIT_MISALIGN, "DropOut: modes 0 to 4");
    uint32_t mode = dropOutMode;
    if (mode == 0) {
        mode = info.maskLastAxis == info.srcLastAxis       ? DROPOUT_MODE_BYTE_ALIGN
               : info.maskLastAxis * 8 == info.srcLastAxis ? DROPOUT_MODE_BIT_ALIGN
               : info.maskLastAxis > info.srcLastAxis      ? DROPOUT_MODE_BYTE_MISALIGN
                                                           : DROPOUT_MODE_BIT_MISALIGN;
    }
    const bool dense = mode == DROPOUT_MODE_BYTE_ALIGN || mode == DROPOUT_MODE_BIT_ALIGN;
    const uint32_t rows = dense ? 1 : info.firstAxis, columns = dense ? info.firstAxis * info.srcLastAxis : info.srcLastAxis;
    ascendc_twin::Inst inst("DropOut", ascendc_twin::PipeId::V);
    ascendc_twin::vec_drop_out(inst, dstLocal.span(), srcLocal.span(), maskLocal.span(), keepProb, rows, columns, info.maskLastAxis,
                               mode >= DROPOUT_MODE_BIT_ALIGN);
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
TWIN_API void DropOut(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<uint8_t> &maskLocal,
                      const LocalTensor<uint8_t> &, const float keepProb, const DropOutShapeInfo &info) {
    DropOut<T, isInitBitMode, dropOutMode>(dstLocal, srcLocal, maskLocal, keepProb, info);
}

// Newer name of InitGlobalMemory.
template <typename T>
TWIN_API void Fill(GlobalTensor<T> &gmWorkspaceAddr, const uint64_t size, const T value) {
    InitGlobalMemory(gmWorkspaceAddr, size, value);
}

}  // namespace AscendC
