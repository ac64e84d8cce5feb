#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/shape.h"
#include "exe_graph/runtime/tensor.h"

namespace gert {
class InferShapeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;

    // `index` counts given tensors, `ir_index` declared inputs: they differ after an absent optional or a dynamic input.
    const Shape *GetInputShape(const size_t index) const;
    const Shape *GetOptionalInputShape(const size_t ir_index) const { return GetDynamicInputShape(ir_index, 0); }
    const Shape *GetRequiredInputShape(const size_t ir_index) const { return GetDynamicInputShape(ir_index, 0); }
    const Shape *GetDynamicInputShape(const size_t ir_index, const size_t relative_index) const;
    // Elements only for inputs declared ValueDepend.
    const Tensor *GetInputTensor(const size_t index) const;
    const Tensor *GetOptionalInputTensor(const size_t ir_index) const { return GetDynamicInputTensor(ir_index, 0); }
    const Tensor *GetRequiredInputTensor(const size_t ir_index) const { return GetDynamicInputTensor(ir_index, 0); }
    const Tensor *GetDynamicInputTensor(const size_t ir_index, const size_t relative_index) const;
    Shape *GetOutputShape(const size_t index);
};
}  // namespace gert
