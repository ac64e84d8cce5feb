// Sizes of the temporary buffer that functions of the high-level API work in.
//
// A function needs `factor` buffers as large as its input (at least 256 bytes each), where the factor depends on the element
// size. Max is the size that does the whole input at once, Min the size that does one repeat of 256 bytes at a time.
#pragma once

#include <cstdint>

#include "graph/tensor.h"
#include "graph/types.h"

namespace AscendC {
using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;

namespace twin_tmp {
struct Factors {
    uint32_t half, single, reused;   // for 16-bit elements, for float, for float when the source may be overwritten
    uint32_t Of(uint32_t type_size, bool reuse) const {
        return type_size != sizeof(float) ? half : reuse ? reused : single;
    }
};
inline void Sizes(const Factors &factors, const TensorShape &shape, uint32_t type_size, bool reuse, uint32_t &max,
                  uint32_t &min) {
    const uint32_t factor = factors.Of(type_size, reuse);
    const uint32_t bytes = static_cast<uint32_t>(shape.GetShapeSize()) * type_size;
    min = factor * 256U;
    max = factor * (bytes > 256U ? bytes : 256U);
}
inline uint32_t Align(uint32_t n, uint32_t unit) { return (n + unit - 1U) / unit * unit; }
inline uint32_t Dim(const TensorShape &shape, size_t index) { return static_cast<uint32_t>(shape.GetDim(index)); }
inline uint32_t LastDim(const TensorShape &shape) { return shape.GetDimNum() == 0 ? 0U : Dim(shape, shape.GetDimNum() - 1); }
inline uint32_t Count(const TensorShape &shape) { return static_cast<uint32_t>(shape.GetShapeSize()); }
// `buffers` of floats as large as the input, or as one row of it (at least 256 bytes), and `fixed` bytes besides.
inline void Rows(const TensorShape &shape, uint32_t row, uint32_t buffers, uint32_t fixed, uint32_t &max, uint32_t &min) {
    min = buffers * Align(row * 4U, 256U) + fixed;
    max = buffers * Align(Count(shape) * 4U, 256U) + fixed;
    max = max > min ? max : min;
}
}  // namespace twin_tmp

#define ASCENDOPS_TMP_SIZE(Name, half, single, reused)                                                                      \
    inline void Get##Name##MaxMinTmpSize(const TensorShape &shape, const uint32_t type_size, const bool reuse,              \
                                         uint32_t &max, uint32_t &min) {                                                    \
        twin_tmp::Sizes({half, single, reused}, shape, type_size, reuse, max, min);                                         \
    }                                                                                                                       \
    inline void Get##Name##TmpBufferFactorSize(const uint32_t type_size, uint32_t &live_nodes, uint32_t &extra) {           \
        live_nodes = type_size == sizeof(float) ? single : half;                                                            \
        extra = 0;                                                                                                          \
    }

ASCENDOPS_TMP_SIZE(Acos, 6, 2, 2)
ASCENDOPS_TMP_SIZE(Acosh, 2, 1, 1)
ASCENDOPS_TMP_SIZE(Asin, 6, 2, 2)
ASCENDOPS_TMP_SIZE(Asinh, 3, 3, 3)
ASCENDOPS_TMP_SIZE(Atan, 12, 5, 5)
ASCENDOPS_TMP_SIZE(Atanh, 4, 1, 1)
ASCENDOPS_TMP_SIZE(Axpy, 4, 1, 1)
ASCENDOPS_TMP_SIZE(Ceil, 2, 1, 1)
ASCENDOPS_TMP_SIZE(Cos, 8, 3, 2)
ASCENDOPS_TMP_SIZE(Cosh, 6, 2, 2)
ASCENDOPS_TMP_SIZE(Digamma, 16, 7, 6)
ASCENDOPS_TMP_SIZE(Erf, 8, 3, 3)
ASCENDOPS_TMP_SIZE(Erfc, 16, 7, 7)
ASCENDOPS_TMP_SIZE(Floor, 2, 1, 1)
ASCENDOPS_TMP_SIZE(Frac, 4, 0, 0)
ASCENDOPS_TMP_SIZE(Log, 0, 0, 0)
ASCENDOPS_TMP_SIZE(Log10, 0, 0, 0)
ASCENDOPS_TMP_SIZE(Log2, 2, 0, 0)
ASCENDOPS_TMP_SIZE(Round, 1, 1, 1)
ASCENDOPS_TMP_SIZE(Sigmoid, 1, 1, 1)
ASCENDOPS_TMP_SIZE(Sign, 3, 3, 3)
ASCENDOPS_TMP_SIZE(Sin, 8, 3, 2)
ASCENDOPS_TMP_SIZE(Sinh, 4, 1, 1)
ASCENDOPS_TMP_SIZE(Tan, 10, 4, 4)
ASCENDOPS_TMP_SIZE(Tanh, 4, 1, 1)
ASCENDOPS_TMP_SIZE(Trunc, 2, 1, 1)
ASCENDOPS_TMP_SIZE(Xor, 1, 1, 1)
#undef ASCENDOPS_TMP_SIZE

// Power of two tensors, or of a tensor and a scalar (a shape of one element).
inline void GetPowerTmpBufferFactorSize(const bool base_is_tensor, const bool exp_is_tensor, const bool is_int,
                                        const uint32_t type_size, uint32_t &live_nodes, uint32_t &extra) {
    const bool both = base_is_tensor && exp_is_tensor;
    live_nodes = is_int ? (both ? 6 : 7) : type_size == sizeof(float) ? (both ? 4 : 5) : 14;
    extra = is_int ? 0 : 256;
}
inline void GetPowerMaxMinTmpSize(const TensorShape &base, const TensorShape &exponent, const bool is_int,
                                  const uint32_t type_size, const bool, uint32_t &max, uint32_t &min) {
    const int64_t base_size = base.GetShapeSize(), exp_size = exponent.GetShapeSize();
    uint32_t live_nodes = 0, extra = 0;
    GetPowerTmpBufferFactorSize(base_size != 1, exp_size != 1, is_int, type_size, live_nodes, extra);
    const uint32_t bytes = static_cast<uint32_t>(base_size > exp_size ? base_size : exp_size) * type_size;
    min = live_nodes * 256U / (type_size == sizeof(float) ? 1U : 2U) + extra;
    max = live_nodes * (bytes > 256U ? bytes : 256U) + extra;
}
}  // namespace AscendC
