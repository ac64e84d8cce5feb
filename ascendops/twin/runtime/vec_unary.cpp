// Element-wise functions of one source.

#include "vec_loops.h"
#include "vec_ops.h"

namespace ascendc_twin {

template <>
inline constexpr bool in_pairs<ops::Exp> = true;
template <>
inline constexpr bool in_pairs<ops::Silu> = true;
template <>
inline constexpr bool in_pairs<ops::Gelu> = true;
template <>
inline constexpr bool in_pairs<ops::FastGelu> = true;

namespace {

Loop unary_loop(VecOp op, Dt dst, Dt src) {
    switch (op) {
        case VecOp::ABS: return float_loops<ops::Abs>(dst, src);
        case VecOp::EXP: return float_loops<ops::Exp>(dst, src);
        case VecOp::LN: return float_loops<ops::Ln>(dst, src);
        case VecOp::SQRT: return float_loops<ops::Sqrt>(dst, src);
        case VecOp::RSQRT: return float_loops<ops::Rsqrt>(dst, src);
        case VecOp::RECIPROCAL: return float_loops<ops::Reciprocal>(dst, src);
        case VecOp::RELU: return number_loops<ops::Relu>(dst, src);
        case VecOp::NOT: return integer_loops<ops::Not>(dst, src);
        case VecOp::NEG: return src == Dt::F32 || src == Dt::F16 ? float_loops<ops::NegF>(dst, src)
                                                                 : integer_loops<ops::Neg>(dst, src);
        case VecOp::LOG2: return float_loops<ops::Log2>(dst, src);
        case VecOp::LOG10: return float_loops<ops::Log10>(dst, src);
        case VecOp::TANH: return float_loops<ops::Tanh>(dst, src);
        case VecOp::SIGMOID: return float_loops<ops::Sigmoid>(dst, src);
        case VecOp::SILU: return float_loops<ops::Silu>(dst, src);
        case VecOp::GELU: return float_loops<ops::Gelu>(dst, src);
        case VecOp::FAST_GELU: return float_loops<ops::FastGelu>(dst, src);
        case VecOp::FAST_GELU_V2: return float_loops<ops::FastGeluV2>(dst, src);
        case VecOp::ERF: return float_loops<ops::Erf>(dst, src);
        case VecOp::ERFC: return float_loops<ops::Erfc>(dst, src);
        case VecOp::SIN: return float_loops<ops::Sin>(dst, src);
        case VecOp::COS: return float_loops<ops::Cos>(dst, src);
        case VecOp::TAN: return float_loops<ops::Tan>(dst, src);
        case VecOp::SINH: return float_loops<ops::Sinh>(dst, src);
        case VecOp::COSH: return float_loops<ops::Cosh>(dst, src);
        case VecOp::ASIN: return float_loops<ops::Asin>(dst, src);
        case VecOp::ACOS: return float_loops<ops::Acos>(dst, src);
        case VecOp::ATAN: return float_loops<ops::Atan>(dst, src);
        case VecOp::ASINH: return float_loops<ops::Asinh>(dst, src);
        case VecOp::ACOSH: return float_loops<ops::Acosh>(dst, src);
        case VecOp::ATANH: return float_loops<ops::Atanh>(dst, src);
        case VecOp::SIGN: return float_loops<ops::Sign>(dst, src);
        case VecOp::CEIL: return float_loops<ops::Ceil>(dst, src);
        case VecOp::FLOOR: return float_loops<ops::Floor>(dst, src);
        case VecOp::ROUND: return float_loops<ops::Round>(dst, src);
        case VecOp::TRUNC: return float_loops<ops::Trunc>(dst, src);
        case VecOp::FRAC: return float_loops<ops::Frac>(dst, src);
        case VecOp::LGAMMA: return float_loops<ops::Lgamma>(dst, src);
        case VecOp::DIGAMMA: return float_loops<ops::Digamma>(dst, src);
        case VecOp::ISNAN: return float_loops<ops::IsNan>(dst, src);
        case VecOp::ISINF: return float_loops<ops::IsInf>(dst, src);
        default: return {};
    }
}

}  // namespace

void vec_unary(Inst &inst, VecOp op, const Span &dst, const Span &src, const Lanes &lanes) {
    run_elementwise(inst, op, unary_loop(op, dst.dt, src.dt), dst, src, nullptr, false, Scalar{}, lanes);
}

}  // namespace ascendc_twin
