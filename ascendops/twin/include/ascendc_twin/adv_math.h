// Functions of the high-level math and activation libraries. Each runs as one pass of the engine that rounds once, whatever
// sequence of instructions the hardware's library uses; temporary buffers are accepted and not used.
#pragma once

#include "ascendc_twin/vec_common.h"
#include "ascendc_twin/vec_scalar.h"

namespace ascendc_twin {

// The library computes in a buffer of its own before it writes dst. Where dst overlaps the source by parts, `step(first, count)` is
// called for pieces that do not, in the order in which none is overwritten before it is read.
template <typename T, typename Step>
TWIN_API void in_pieces(const Span &dst, const Span &src, uint32_t count, const Step &step) {
    const int64_t gap = dst.p - src.p;
    const uint64_t apart = static_cast<uint64_t>(gap < 0 ? -gap : gap);
    if (gap == 0 || apart >= uint64_t{count} * sizeof(T) || apart < 32 || dst.p == nullptr || src.p == nullptr) {
        step(0u, count);
        return;
    }
    const uint32_t piece = static_cast<uint32_t>(apart / 32 * 32 / sizeof(T));
    const uint32_t pieces = (count + piece - 1) / piece;
    for (uint32_t i = 0; i < pieces; ++i) {
        const uint32_t first = (gap < 0 ? i : pieces - 1 - i) * piece;
        step(first, first + piece > count ? count - first : piece);
    }
}

template <typename T>
TWIN_API void adv_unary(const char *api, VecOp op, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                        uint32_t count) {
    in_pieces<AscendC::PrimT<T>>(dst.span(), src.span(), count, [&](uint32_t first, uint32_t n) __attribute__((always_inline)) {
        Inst inst(api, PipeId::V);
        vec_unary(inst, op, dst[first].span(), src[first].span(), lanes_of_count(n, true));
    });
}
template <typename T>
TWIN_API void adv_binary(const char *api, VecOp op, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &a,
                         const AscendC::LocalTensor<T> &b, uint32_t count) {
    const bool second = dst.span().p == a.span().p;  // in place of the first source: the second one may overlap
    in_pieces<AscendC::PrimT<T>>(dst.span(), second ? b.span() : a.span(), count, [&](uint32_t first, uint32_t n) __attribute__((always_inline)) {
        Inst inst(api, PipeId::V);
        vec_binary(inst, op, dst[first].span(), a[first].span(), b[first].span(), lanes_of_count(n, true));
    });
}
template <typename T, typename S>
TWIN_API void adv_scalar(const char *api, VecOp op, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                         const S &scalar, uint32_t count) {
    in_pieces<AscendC::PrimT<T>>(dst.span(), src.span(), count, [&](uint32_t first, uint32_t n) __attribute__((always_inline)) {
        Inst inst(api, PipeId::V);
        vec_scalar(inst, op, dst[first].span(), src[first].span(), scalar_of(scalar), lanes_of_count(n, true));
    });
}

}  // namespace ascendc_twin

#define TWIN_ADV_FLOAT(API, T) TWIN_REQUIRE_TYPE(API, T, half, float)

// dst = f(src): with and without a temporary buffer, with and without a count.
#define TWIN_ADV_UNARY(API, OP)                                                                                             \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &,                   \
                      const uint32_t calCount) {                                                                            \
        TWIN_ADV_FLOAT(#API, T);                                                                                            \
        ascendc_twin::adv_unary(#API, ascendc_twin::VecOp::OP, dst, src, calCount);                                         \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &) {                 \
        TWIN_ADV_FLOAT(#API, T);                                                                                            \
        ascendc_twin::adv_unary(#API, ascendc_twin::VecOp::OP, dst, src, src.GetSize());                                    \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t calCount) {                      \
        TWIN_ADV_FLOAT(#API, T);                                                                                            \
        ascendc_twin::adv_unary(#API, ascendc_twin::VecOp::OP, dst, src, calCount);                                         \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src) {                                               \
        TWIN_ADV_FLOAT(#API, T);                                                                                            \
        ascendc_twin::adv_unary(#API, ascendc_twin::VecOp::OP, dst, src, src.GetSize());                                    \
    }
// Activations whose second template parameters choose precision and speed on the hardware.
#define TWIN_ADV_GELU(API, OP)                                                                                              \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                                         \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &,                   \
                      const uint32_t dataSize) {                                                                            \
        TWIN_ADV_FLOAT(#API, T);                                                                                            \
        ascendc_twin::adv_unary(#API, ascendc_twin::VecOp::OP, dst, src, dataSize);                                         \
    }                                                                                                                       \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                                         \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dataSize) {                      \
        TWIN_ADV_FLOAT(#API, T);                                                                                            \
        ascendc_twin::adv_unary(#API, ascendc_twin::VecOp::OP, dst, src, dataSize);                                         \
    }

// dst = f(src0, src1)
#define TWIN_ADV_BINARY(API, OP, ...)                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                    \
                      const LocalTensor<uint8_t> &, const uint32_t calCount) {                                              \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                            \
        ascendc_twin::adv_binary(#API, ascendc_twin::VecOp::OP, dst, src0, src1, calCount);                                 \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                    \
                      const LocalTensor<uint8_t> &) {                                                                       \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                            \
        ascendc_twin::adv_binary(#API, ascendc_twin::VecOp::OP, dst, src0, src1, src0.GetSize());                           \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                    \
                      const uint32_t calCount) {                                                                            \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                            \
        ascendc_twin::adv_binary(#API, ascendc_twin::VecOp::OP, dst, src0, src1, calCount);                                 \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1) {                  \
        TWIN_REQUIRE_TYPE(#API, T, __VA_ARGS__);                                                                            \
        ascendc_twin::adv_binary(#API, ascendc_twin::VecOp::OP, dst, src0, src1, src0.GetSize());                           \
    }

// A tensor and a scalar, in the order of the parameters: FIRST and SECOND declare them, TENSOR and SCALAR name them.
#define TWIN_ADV_POWER(FIRST, SECOND, TENSOR, SCALAR, OP)                                                                   \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void Power(const LocalTensor<T> &dst, FIRST, SECOND, const LocalTensor<uint8_t> &, uint32_t calCount) {        \
        TWIN_REQUIRE_TYPE("Power", T, half, float, int32_t);                                                                \
        ascendc_twin::adv_scalar("Power", ascendc_twin::VecOp::OP, dst, TENSOR, SCALAR, calCount);                          \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void Power(const LocalTensor<T> &dst, FIRST, SECOND, const LocalTensor<uint8_t> &) {                           \
        TWIN_REQUIRE_TYPE("Power", T, half, float, int32_t);                                                                \
        ascendc_twin::adv_scalar("Power", ascendc_twin::VecOp::OP, dst, TENSOR, SCALAR, TENSOR.GetSize());                  \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void Power(const LocalTensor<T> &dst, FIRST, SECOND, uint32_t calCount) {                                      \
        TWIN_REQUIRE_TYPE("Power", T, half, float, int32_t);                                                                \
        ascendc_twin::adv_scalar("Power", ascendc_twin::VecOp::OP, dst, TENSOR, SCALAR, calCount);                          \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void Power(const LocalTensor<T> &dst, FIRST, SECOND) {                                                         \
        TWIN_REQUIRE_TYPE("Power", T, half, float, int32_t);                                                                \
        ascendc_twin::adv_scalar("Power", ascendc_twin::VecOp::OP, dst, TENSOR, SCALAR, TENSOR.GetSize());                  \
    }

// dst = min or max of src and a bound.
#define TWIN_ADV_CLAMP(API, OP)                                                                                             \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &, const T scalar,   \
                      const uint32_t calCount) {                                                                            \
        TWIN_ADV_FLOAT(#API, T);                                                                                            \
        ascendc_twin::adv_scalar(#API, ascendc_twin::VecOp::OP, dst, src, scalar, calCount);                                \
    }                                                                                                                       \
    template <typename T, bool isReuseSource = false>                                                                       \
    TWIN_API void API(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T scalar, const uint32_t calCount) {      \
        TWIN_ADV_FLOAT(#API, T);                                                                                            \
        ascendc_twin::adv_scalar(#API, ascendc_twin::VecOp::OP, dst, src, scalar, calCount);                                \
    }

namespace AscendC {

TWIN_ADV_UNARY(Log, LN)
TWIN_ADV_UNARY(Log2, LOG2)
TWIN_ADV_UNARY(Log10, LOG10)
TWIN_ADV_UNARY(Tanh, TANH)
TWIN_ADV_UNARY(Sigmoid, SIGMOID)
TWIN_ADV_UNARY(Erf, ERF)
TWIN_ADV_UNARY(Erfc, ERFC)
TWIN_ADV_UNARY(Sin, SIN)
TWIN_ADV_UNARY(Cos, COS)
TWIN_ADV_UNARY(Tan, TAN)
TWIN_ADV_UNARY(Sinh, SINH)
TWIN_ADV_UNARY(Cosh, COSH)
TWIN_ADV_UNARY(Asin, ASIN)
TWIN_ADV_UNARY(Acos, ACOS)
TWIN_ADV_UNARY(Atan, ATAN)
TWIN_ADV_UNARY(Asinh, ASINH)
TWIN_ADV_UNARY(Acosh, ACOSH)
TWIN_ADV_UNARY(Atanh, ATANH)
TWIN_ADV_UNARY(Sign, SIGN)
TWIN_ADV_UNARY(Ceil, CEIL)
TWIN_ADV_UNARY(Floor, FLOOR)
TWIN_ADV_UNARY(Round, ROUND)
TWIN_ADV_UNARY(Trunc, TRUNC)
TWIN_ADV_UNARY(Frac, FRAC)
TWIN_ADV_UNARY(Lgamma, LGAMMA)
TWIN_ADV_UNARY(Digamma, DIGAMMA)
TWIN_ADV_GELU(Gelu, GELU)
TWIN_ADV_GELU(FasterGelu, FAST_GELU)
TWIN_ADV_GELU(FasterGeluV2, FAST_GELU_V2)
TWIN_ADV_BINARY(Power, POW, half, float, int32_t)
TWIN_ADV_BINARY(Xor, XOR, int16_t, uint16_t)
TWIN_ADV_BINARY(Fmod, MOD, half, float)
TWIN_ADV_POWER(const LocalTensor<T> &src0, const T &src1, src0, src1, POWS)
TWIN_ADV_POWER(const T &src0, const LocalTensor<T> &src1, src1, src0, SPOW)
TWIN_ADV_CLAMP(ClampMax, MINS)
TWIN_ADV_CLAMP(ClampMin, MAXS)

// The Taylor form of Exp: same function, more accurate on the hardware.
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
TWIN_API void Exp(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &, const uint32_t calCount) {
    TWIN_ADV_FLOAT("Exp", T);
    ascendc_twin::adv_unary("Exp", ascendc_twin::VecOp::EXP, dst, src, calCount);
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
TWIN_API void Exp(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t calCount) {
    TWIN_ADV_FLOAT("Exp", T);
    ascendc_twin::adv_unary("Exp", ascendc_twin::VecOp::EXP, dst, src, calCount);
}

template <typename T, typename U, bool isReuseSource = false>
TWIN_API void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U scalarValue, const LocalTensor<uint8_t> &,
                   const uint32_t calCount) {
    Axpy(dst, src, scalarValue, static_cast<int32_t>(calCount));
}

template <typename T, bool isReuseSource = false>
TWIN_API void Silu(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t dataSize) {
    TWIN_ADV_FLOAT("Silu", T);
    ascendc_twin::adv_unary("Silu", ascendc_twin::VecOp::SILU, dst, src, dataSize);
}
// x / (1 + exp(-scalar * x))
template <typename T, bool isReuseSource = false>
TWIN_API void Swish(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t dataSize, const T scalarValue) {
    TWIN_ADV_FLOAT("Swish", T);
    ascendc_twin::adv_scalar("Swish", ascendc_twin::VecOp::SWISH, dst, src, scalarValue, dataSize);
}

}  // namespace AscendC

namespace AscendC {

// dst = src0 * activation(src1), rounded once.
TWIN_ADV_BINARY(GeGLU, GEGLU, half, float)
TWIN_ADV_BINARY(ReGlu, REGLU, half, float)

// dst = src0 * src1 / (1 + exp(-beta * src1))
template <typename T, bool isReuseSource = false>
TWIN_API void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const float &beta,
                     const uint32_t calCount) {
    TWIN_ADV_FLOAT("SwiGLU", T);
    ascendc_twin::Inst inst("SwiGLU", ascendc_twin::PipeId::V);
    ascendc_twin::vec_swiglu(inst, dst.span(), src0.span(), src1.span(), beta, calCount);
}
template <typename T, bool isReuseSource = false>
TWIN_API void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const float &beta,
                     const LocalTensor<uint8_t> &, const uint32_t calCount) {
    SwiGLU(dst, src0, src1, beta, calCount);
}
template <typename T, bool isReuseSource = false>
TWIN_API void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const float &beta,
                     const LocalTensor<uint8_t> &) {
    SwiGLU(dst, src0, src1, beta, src0.GetSize());
}
template <typename T, bool isReuseSource = false>
TWIN_API void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const float &beta) {
    SwiGLU(dst, src0, src1, beta, src0.GetSize());
}

// Rows of a matrix: `outter` rows of `inner` padded elements, of which n count.
struct SumParams {
    uint32_t outter = 1;
    uint32_t inner = 0;
    uint32_t n = 0;
};
struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner = 0;
    uint32_t n = 0;
};
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
TWIN_API void Sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const SumParams &params) {
    TWIN_ADV_FLOAT("Sum", T);
    ascendc_twin::Inst inst("Sum", ascendc_twin::PipeId::V);
    ascendc_twin::vec_reduce_rows(inst, dst.span(), src.span(), params.outter, params.inner, params.n, 1.0f);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
TWIN_API void Sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &, const SumParams &params) {
    Sum<T, reduceDim, isReuseSource, isBasicBlock>(dst, src, params);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
TWIN_API void Mean(const LocalTensor<T> &dst, const LocalTensor<T> &src, const MeanParams &params) {
    TWIN_ADV_FLOAT("Mean", T);
    ascendc_twin::Inst inst("Mean", ascendc_twin::PipeId::V);
    ascendc_twin::vec_reduce_rows(inst, dst.span(), src.span(), params.outter, params.inner, params.n,
                                  1.0f / static_cast<float>(params.n));
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
TWIN_API void Mean(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &,
                   const MeanParams &params) {
    Mean<T, accType, isReuseSource, isBasicBlock, reduceDim>(dst, src, params);
}

}  // namespace AscendC
#undef TWIN_ADV_UNARY
#undef TWIN_ADV_GELU
#undef TWIN_ADV_BINARY
#undef TWIN_ADV_POWER
#undef TWIN_ADV_CLAMP
