// Unknown dims and ranks of shapes.
#pragma once

#include "exe_graph/runtime/shape.h"

namespace Ops {
namespace Base {
template <typename T1, typename T2>
bool CheckAxisBounds(const T1 dim_num, const T2 axis) {
    const int64_t rank = dim_num == 0 ? 1 : static_cast<int64_t>(dim_num);
    return static_cast<int64_t>(axis) >= (dim_num == 0 ? 0 : -rank) && static_cast<int64_t>(axis) < rank;
}
inline bool IsUnknownRank(const gert::Shape &shape) { return shape.GetDimNum() == 1 && shape.GetDim(0) == -2; }
inline void SetUnknownRank(gert::Shape &shape) {
    shape.SetDimNum(0);
    (void)shape.AppendDim(-2);
}
inline bool IsUnknownShape(const gert::Shape &shape) {
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        if (shape.GetDim(i) < 0) {
            return true;
        }
    }
    return false;
}
inline void SetUnknownShape(int64_t rank, gert::Shape &shape) {
    shape.SetDimNum(0);
    for (int64_t i = 0; i < rank; ++i) {
        (void)shape.AppendDim(-1);
    }
}
}  // namespace Base
}  // namespace Ops
