// Row-wise functions of the high-level library. Tiling structs come from op_host: only their srcM and srcK are read.
#pragma once

#include "ascendc_twin/vec_common.h"

namespace AscendC {

enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };
struct SoftmaxConfig {
    bool isCheckTiling = true;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
    SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

struct SoftMaxShapeInfo {
    uint32_t srcM = 0;
    uint32_t srcK = 0;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
};

struct SelectWithBytesMaskShapeInfo {
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

}  // namespace AscendC

namespace ascendc_twin {

template <typename Tiling>
TWIN_API SoftmaxArgs softmax_args(SoftmaxArgs::Kind kind, const Span &dst, const Span &src, const Tiling &tiling,
                                  const AscendC::SoftMaxShapeInfo &shape, AscendC::SoftmaxMode mode = AscendC::SoftmaxMode::SOFTMAX_NORMAL) {
    SoftmaxArgs args;
    args.dense_stats = mode == AscendC::SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC;
    args.kind = kind;
    args.dst = dst;
    args.src = src;
    args.m = shape.srcM != 0 ? shape.srcM : tiling.srcM;
    args.k = shape.srcK != 0 ? shape.srcK : tiling.srcK;
    args.n = shape.oriSrcK != 0 && shape.oriSrcK <= args.k ? shape.oriSrcK : args.k;
    return args;
}

}  // namespace ascendc_twin

#define TWIN_SOFTMAX_FLAGS                                                                                \
    template <typename T = void, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, \
              const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename D, typename S, typename Tiling>
// SoftMax writes sum and max, SimpleSoftMax reads them; both also take a temporary buffer.
#define TWIN_SOFTMAX(API, KIND)                                                                                           \
    TWIN_SOFTMAX_FLAGS                                                                                                    \
    TWIN_API void API(const LocalTensor<D> &dst, const LocalTensor<S> &sumTensor, const LocalTensor<S> &maxTensor,        \
                      const LocalTensor<D> &src, const Tiling &tiling, const SoftMaxShapeInfo &shape = {}) {              \
        static_assert(!isDataFormatNZ, #API ": the twin has the ND layout only");                                         \
        TWIN_REQUIRE_TYPE(#API, D, half, float);                                                                          \
        ascendc_twin::Inst inst(#API, ascendc_twin::PipeId::V);                                                           \
        const ascendc_twin::Span sum = sumTensor.span(), max = maxTensor.span();                                          \
        auto args = ascendc_twin::softmax_args(ascendc_twin::SoftmaxArgs::KIND, dst.span(), src.span(), tiling, shape,    \
                                               config.mode);                                                              \
        args.sum = &sum;                                                                                                  \
        args.max = &max;                                                                                                  \
        ascendc_twin::vec_softmax(inst, args);                                                                            \
    }                                                                                                                     \
    TWIN_SOFTMAX_FLAGS                                                                                                    \
    TWIN_API void API(const LocalTensor<D> &dst, const LocalTensor<S> &sumTensor, const LocalTensor<S> &maxTensor,        \
                      const LocalTensor<D> &src, const LocalTensor<uint8_t> &, const Tiling &tiling,                      \
                      const SoftMaxShapeInfo &shape = {}) {                                                               \
        API<T, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dst, sumTensor, maxTensor, src, tiling, shape);       \
    }

namespace AscendC {

TWIN_SOFTMAX(SoftMax, SOFTMAX)
TWIN_SOFTMAX(SimpleSoftMax, SIMPLE)

template <typename T = void, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename D, typename Tiling>
TWIN_API void SoftMax(const LocalTensor<D> &dst, const LocalTensor<D> &src, const Tiling &tiling,
                      const SoftMaxShapeInfo &shape = {}) {
    TWIN_REQUIRE_TYPE("SoftMax", D, half, float);
    ascendc_twin::Inst inst("SoftMax", ascendc_twin::PipeId::V);
    ascendc_twin::vec_softmax(inst, ascendc_twin::softmax_args(ascendc_twin::SoftmaxArgs::SOFTMAX, dst.span(), src.span(), tiling,
                                                               shape));
}
template <typename T = void, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename D, typename Tiling>
TWIN_API void SoftMax(const LocalTensor<D> &dst, const LocalTensor<D> &src, const LocalTensor<uint8_t> &, const Tiling &tiling,
                      const SoftMaxShapeInfo &shape = {}) {
    SoftMax<T, isReuseSource, isBasicBlock, config>(dst, src, tiling, shape);
}

#define TWIN_FLASH_HEAD                                                                                                                  \
    template <typename T = void, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, \
              const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename D, typename S, typename Tiling>
#define TWIN_FLASH_CONFIG T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config

namespace twin_detail {
template <bool isUpdate, const SoftmaxConfig &config, typename D, typename S, typename Tiling>
TWIN_API void flash_v2(const LocalTensor<D> &dst, const LocalTensor<S> *reduceMax, const LocalTensor<S> &expSum, const LocalTensor<S> &maxTensor,
                       const LocalTensor<D> &src, const LocalTensor<D> &expMax, const LocalTensor<S> &inExpSum, const LocalTensor<S> &inMax,
                       const Tiling &tiling, const SoftMaxShapeInfo &shape) {
    using ascendc_twin::SoftmaxArgs;
    TWIN_REQUIRE_TYPE("SoftmaxFlashV2", D, half, float);
    ascendc_twin::Inst inst("SoftmaxFlashV2", ascendc_twin::PipeId::V);
    const ascendc_twin::Span sum = expSum.span(), max = maxTensor.span();
    auto args = ascendc_twin::softmax_args(isUpdate ? SoftmaxArgs::FLASH_UPDATE : SoftmaxArgs::FLASH, dst.span(), src.span(), tiling, shape,
                                           config.mode);
    args.sum = &sum;
    args.max = &max;
    const ascendc_twin::Span scale = expMax.span(), before_sum = inExpSum.span(), before_max = inMax.span();
    const ascendc_twin::Span rows = reduceMax != nullptr ? reduceMax->span() : ascendc_twin::Span{};
    if (isUpdate) {
        args.exp_max = &scale;
        args.in_sum = &before_sum;
        args.in_max = &before_max;
        if (reduceMax != nullptr) args.row_max = &rows;
    }
    ascendc_twin::vec_softmax(inst, args);
}
}  // namespace twin_detail

TWIN_FLASH_HEAD
TWIN_API void SoftmaxFlashV2(const LocalTensor<D> &dst, const LocalTensor<S> &expSum, const LocalTensor<S> &maxTensor,
                             const LocalTensor<D> &src, const LocalTensor<D> &expMax, const LocalTensor<S> &inExpSum,
                             const LocalTensor<S> &inMax, const Tiling &tiling, const SoftMaxShapeInfo &shape = {}) {
    static_assert(!isDataFormatNZ, "SoftmaxFlashV2: the twin has the ND layout only");
    const LocalTensor<S> *none = nullptr;
    twin_detail::flash_v2<isUpdate, config>(dst, none, expSum, maxTensor, src, expMax, inExpSum, inMax, tiling, shape);
}
TWIN_FLASH_HEAD
TWIN_API void SoftmaxFlashV2(const LocalTensor<D> &dst, const LocalTensor<S> &expSum, const LocalTensor<S> &maxTensor,
                             const LocalTensor<D> &src, const LocalTensor<D> &expMax, const LocalTensor<S> &inExpSum,
                             const LocalTensor<S> &inMax, const LocalTensor<uint8_t> &, const Tiling &tiling,
                             const SoftMaxShapeInfo &shape = {}) {
    SoftmaxFlashV2<TWIN_FLASH_CONFIG>(dst, expSum, maxTensor, src, expMax, inExpSum, inMax, tiling, shape);
}
// Also writes the maxima of the rows of src alone, when it updates.
TWIN_FLASH_HEAD
TWIN_API void SoftmaxFlashV2(const LocalTensor<D> &dst, const LocalTensor<S> &outReduceMax, const LocalTensor<S> &outExpSum,
                             const LocalTensor<S> &outMax, const LocalTensor<D> &src, const LocalTensor<D> &outExpMax,
                             const LocalTensor<S> &inExpSum, const LocalTensor<S> &inMax, const Tiling &tiling,
                             const SoftMaxShapeInfo &shape = {}) {
    TWIN_NOT_ON_310P("SoftmaxFlashV2 with outReduceMax", D);
    static_assert(std::is_same_v<D, S>, "SoftmaxFlashV2 with outReduceMax: all tensors have one element type");
    static_assert(config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC,
                  "SoftmaxFlashV2 with outReduceMax does nothing unless config.mode is SOFTMAX_OUTPUT_WITHOUT_BRC");
    twin_detail::flash_v2<isUpdate, config>(dst, &outReduceMax, outExpSum, outMax, src, outExpMax, inExpSum, inMax, tiling, shape);
}
TWIN_FLASH_HEAD
TWIN_API void SoftmaxFlashV2(const LocalTensor<D> &dst, const LocalTensor<S> &outReduceMax, const LocalTensor<S> &outExpSum,
                             const LocalTensor<S> &outMax, const LocalTensor<D> &src, const LocalTensor<D> &outExpMax,
                             const LocalTensor<S> &inExpSum, const LocalTensor<S> &inMax, const LocalTensor<uint8_t> &, const Tiling &tiling,
                             const SoftMaxShapeInfo &shape = {}) {
    SoftmaxFlashV2<TWIN_FLASH_CONFIG>(dst, outReduceMax, outExpSum, outMax, src, outExpMax, inExpSum, inMax, tiling, shape);
}
#undef TWIN_FLASH_HEAD
#undef TWIN_FLASH_CONFIG

// dim 1: one element to dstShape[0]. dim 2, axis 0: one row to all rows; axis 1: one column to all columns.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
TWIN_API void Broadcast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
                        const uint32_t srcShape[dim]) {
    static_assert(dim == 1 || dim == 2, "Broadcast: one or two dimensions");
    static_assert(axis == 0 || axis == 1, "Broadcast: axis 0 or 1");
    static_cast<void>(srcShape);
    ascendc_twin::Inst inst("Broadcast", ascendc_twin::PipeId::V);
    if (dim == 1) {
        ascendc_twin::vec_broadcast(inst, dst.span(), src.span(), 1, dstShape[0], false);
    } else {
        ascendc_twin::vec_broadcast(inst, dst.span(), src.span(), dstShape[0], dstShape[dim - 1], axis == 0);
    }
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
TWIN_API void Broadcast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
                        const uint32_t srcShape[dim], LocalTensor<uint8_t> &) {
    Broadcast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape);
}

// The name of CANN 8.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
TWIN_API void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
                        const uint32_t srcShape[dim]) {
    Broadcast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
TWIN_API void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
                        const uint32_t srcShape[dim], LocalTensor<uint8_t> &) {
    Broadcast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape);
}

// A zero in the mask takes the first of the two operands.
template <typename T, typename U, bool isReuseMask = true>
TWIN_API void SelectWithBytesMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, T src1, const LocalTensor<U> &mask,
                                  const LocalTensor<uint8_t> &, const SelectWithBytesMaskShapeInfo &info) {
    TWIN_REQUIRE_TYPE("SelectWithBytesMask", T, half, float);
    ascendc_twin::Inst inst("SelectWithBytesMask", ascendc_twin::PipeId::V);
    ascendc_twin::vec_select_bytes(inst, dst.span(), src0.span(), ascendc_twin::scalar_of(src1), mask.span(), info.firstAxis,
                                   info.srcLastAxis, info.maskLastAxis, true);
}
template <typename T, typename U, bool isReuseMask = true>
TWIN_API void SelectWithBytesMask(const LocalTensor<T> &dst, T src0, const LocalTensor<T> &src1, const LocalTensor<U> &mask,
                                  const LocalTensor<uint8_t> &, const SelectWithBytesMaskShapeInfo &info) {
    TWIN_REQUIRE_TYPE("SelectWithBytesMask", T, half, float);
    ascendc_twin::Inst inst("SelectWithBytesMask", ascendc_twin::PipeId::V);
    ascendc_twin::vec_select_bytes(inst, dst.span(), src1.span(), ascendc_twin::scalar_of(src0), mask.span(), info.firstAxis,
                                   info.srcLastAxis, info.maskLastAxis, false);
}
// Newer name.
template <typename T, typename U, bool isReuseMask = true>
TWIN_API void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, T src1, const LocalTensor<U> &mask,
                     const LocalTensor<uint8_t> &tmp, const SelectWithBytesMaskShapeInfo &info) {
    SelectWithBytesMask<T, U, isReuseMask>(dst, src0, src1, mask, tmp, info);
}
template <typename T, typename U, bool isReuseMask = true>
TWIN_API void Select(const LocalTensor<T> &dst, T src0, const LocalTensor<T> &src1, const LocalTensor<U> &mask,
                     const LocalTensor<uint8_t> &tmp, const SelectWithBytesMaskShapeInfo &info) {
    SelectWithBytesMask<T, U, isReuseMask>(dst, src0, src1, mask, tmp, info);
}

}  // namespace AscendC
#undef TWIN_SOFTMAX
#undef TWIN_SOFTMAX_FLAGS
