#pragma once

#include "exe_graph/runtime/infer_shape_context.h"
#include "op_common/log/log.h"
#include "op_common/op_host/util/shape_util.h"

namespace Ops {
namespace Base {
template <typename T>
ge::graphStatus ReduceDims(const gert::Shape *x, const T *axes, int32_t count, bool keep_dims, gert::Shape *out) {
    if (IsUnknownRank(*x)) {
        SetUnknownRank(*out);
        return ge::GRAPH_SUCCESS;
    }
    const int64_t rank = static_cast<int64_t>(x->GetDimNum());
    uint64_t reduced = 0;
    for (int32_t i = 0; i < count; ++i) {
        const int64_t axis = static_cast<int64_t>(axes[i]);
        OP_CHECK_IF(!CheckAxisBounds(rank, axis), OP_LOGE("reduce", "axis %ld is out of range for rank %ld", axis, rank),
                    return ge::GRAPH_FAILED);
        reduced |= 1ULL << (axis < 0 ? axis + rank : axis);
    }
    out->SetDimNum(0);
    for (int64_t i = 0; i < rank; ++i) {
        const bool gone = ((reduced >> i) & 1U) != 0;
        if (!gone || keep_dims) {
            (void)out->AppendDim(gone ? 1 : x->GetDim(static_cast<size_t>(i)));
        }
    }
    return ge::GRAPH_SUCCESS;
}
template <typename T>
ge::graphStatus ReduceDimsWithKeepDims(const gert::Shape *x, const T *axes, int32_t count, gert::Shape *out) {
    return ReduceDims<T>(x, axes, count, true, out);
}
template <typename T>
ge::graphStatus ReduceDimsWithoutKeepDims(const gert::Shape *x, const T *axes, int32_t count, gert::Shape *out) {
    return ReduceDims<T>(x, axes, count, false, out);
}
template <typename T>
ge::graphStatus ReduceDims(const gert::Shape *x, const gert::Tensor *axes, int32_t count, const bool keep_dims,
                           gert::Shape *out) {
    return ReduceDims<T>(x, axes->GetData<T>(), count, keep_dims, out);
}
// Input 0 over the axes in input 1, with attribute 0 keep_dims.
ge::graphStatus InferShape4Reduce(gert::InferShapeContext *context);
}  // namespace Base
}  // namespace Ops
