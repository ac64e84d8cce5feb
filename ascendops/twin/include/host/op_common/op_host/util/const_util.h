// Integers from value-depend inputs.
#pragma once

#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "op_common/log/log.h"

namespace Ops {
namespace Base {
// Calls `take` for each element, widened to int64_t; false if the input has no readable integers.
template <typename Take>
bool ForEachConstInt(const gert::Tensor *tensor, Take take) {
    if (tensor == nullptr || tensor->GetAddr() == nullptr) {
        return false;
    }
    const int64_t count = tensor->GetShapeSize();
    for (int64_t i = 0; i < count; ++i) {
        switch (tensor->GetDataType()) {
            case ge::DT_INT32: take(static_cast<int64_t>(tensor->GetData<int32_t>()[i])); break;
            case ge::DT_UINT32: take(static_cast<int64_t>(tensor->GetData<uint32_t>()[i])); break;
            case ge::DT_INT64: take(tensor->GetData<int64_t>()[i]); break;
            case ge::DT_UINT64: take(static_cast<int64_t>(tensor->GetData<uint64_t>()[i])); break;
            default: return false;
        }
    }
    return true;
}
template <typename Context, typename T>
bool GetConstInt(const Context *context, int64_t index, T &value) {
    bool found = false;
    const bool readable = ForEachConstInt(context->GetInputTensor(static_cast<size_t>(index)), [&](int64_t number) {
        value = found ? value : static_cast<T>(number);
        found = true;
    });
    return readable && found;
}
template <typename Context>
bool GetConstIntToShape(const Context *context, int64_t index, gert::Shape &shape) {
    shape.SetDimNum(0);
    return ForEachConstInt(context->GetInputTensor(static_cast<size_t>(index)),
                           [&](int64_t number) { (void)shape.AppendDim(number); });
}
// Sizes from the elements of a tensor, whose type is T; nothing where its contents are not known.
template <typename T>
void GetValueToShape(const gert::Tensor *tensor, gert::Shape &shape) {
    if (tensor == nullptr || tensor->GetData<T>() == nullptr) {
        return;
    }
    shape.SetDimNum(0);
    for (int64_t i = 0; i < tensor->GetShapeSize(); ++i) (void)shape.AppendDim(static_cast<int64_t>(tensor->GetData<T>()[i]));
}
}  // namespace Base
}  // namespace Ops
