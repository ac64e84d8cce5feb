// Operators on whole tensors: `dst = a + b` works on all of dst, `dst = a < b` on all of a.
#pragma once

#include "ascendc_twin/vec_binary.h"
#include "ascendc_twin/vec_select.h"

namespace ascendc_twin {

template <typename T, typename Op>
struct BinaryExpression {
    using twin_tensor_expression = void;
    const AscendC::LocalTensor<T> &a;
    const AscendC::LocalTensor<T> &b;

    TWIN_API void store(const AscendC::LocalTensor<T> &dst) const { Op::run(dst, a, b, static_cast<int32_t>(dst.GetSize())); }
};
template <typename T, AscendC::CMPMODE MODE>
struct CompareExpression {
    using twin_tensor_expression = void;
    const AscendC::LocalTensor<T> &a;
    const AscendC::LocalTensor<T> &b;

    template <typename U>
    TWIN_API void store(const AscendC::LocalTensor<U> &dst) const {
        AscendC::Compare(dst, a, b, MODE, a.GetSize());
    }
};

}  // namespace ascendc_twin

#define TWIN_OPERATOR(SYMBOL, API)                                                                                           \
    struct API##Operator {                                                                                                   \
        template <typename T>                                                                                                \
        TWIN_API static void run(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, int32_t count) { \
            API(dst, a, b, count);                                                                                           \
        }                                                                                                                    \
    };                                                                                                                       \
    template <typename T>                                                                                                    \
    TWIN_API ascendc_twin::BinaryExpression<T, API##Operator> operator SYMBOL(const LocalTensor<T> &a, const LocalTensor<T> &b) { \
        return {a, b};                                                                                                       \
    }
#define TWIN_COMPARISON(SYMBOL, MODE)                                                                                        \
    template <typename T>                                                                                                    \
    TWIN_API ascendc_twin::CompareExpression<T, CMPMODE::MODE> operator SYMBOL(const LocalTensor<T> &a, const LocalTensor<T> &b) { \
        return {a, b};                                                                                                       \
    }

namespace AscendC {

TWIN_OPERATOR(+, Add)
TWIN_OPERATOR(-, Sub)
TWIN_OPERATOR(*, Mul)
TWIN_OPERATOR(/, Div)
TWIN_OPERATOR(&, And)
TWIN_OPERATOR(|, Or)
TWIN_COMPARISON(<, LT)
TWIN_COMPARISON(>, GT)
TWIN_COMPARISON(<=, LE)
TWIN_COMPARISON(>=, GE)
TWIN_COMPARISON(==, EQ)
TWIN_COMPARISON(!=, NE)

}  // namespace AscendC
#undef TWIN_OPERATOR
#undef TWIN_COMPARISON
