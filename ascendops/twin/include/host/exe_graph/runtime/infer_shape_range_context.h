#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/range.h"
#include "exe_graph/runtime/shape.h"
#include "exe_graph/runtime/tensor.h"

namespace gert {
using TensorRange = Range<Tensor>;

// Ranges belong to graph compilation, which the twin does not do: no range function is ever called.
class InferShapeRangeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;

    const Range<Shape> *GetInputShapeRange(const size_t) const { return nullptr; }
    const Range<Shape> *GetOptionalInputShapeRange(const size_t) const { return nullptr; }
    const Range<Shape> *GetRequiredInputShapeRange(const size_t) const { return nullptr; }
    const Range<Shape> *GetDynamicInputShapeRange(const size_t, const size_t) const { return nullptr; }
    const TensorRange *GetInputTensorRange(const size_t) const { return nullptr; }
    const TensorRange *GetOptionalInputTensorRange(const size_t) const { return nullptr; }
    const TensorRange *GetRequiredInputTensorRange(const size_t) const { return nullptr; }
    const TensorRange *GetDynamicInputTensorRange(const size_t, const size_t) const { return nullptr; }
    Range<Shape> *GetOutputShapeRange(const size_t) { return nullptr; }
};
}  // namespace gert
