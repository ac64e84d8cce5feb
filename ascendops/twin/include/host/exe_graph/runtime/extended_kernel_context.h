// gert::ExtendedKernelContext: what InferShape, InferDataType and tiling contexts have in common.
#pragma once

#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/kernel_context.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"

namespace gert {
class ExtendedKernelContext : protected KernelContext {
public:
    explicit ExtendedKernelContext(ascendops_host::Call *call) : KernelContext(call) {}

    const ComputeNodeInfo *GetComputeNodeInfo() const;
    const CompileTimeTensorDesc *GetInputDesc(const size_t index) const;
    const CompileTimeTensorDesc *GetOptionalInputDesc(const size_t ir_index) const { return GetDynamicInputDesc(ir_index, 0); }
    const CompileTimeTensorDesc *GetRequiredInputDesc(const size_t ir_index) const { return GetDynamicInputDesc(ir_index, 0); }
    const CompileTimeTensorDesc *GetDynamicInputDesc(const size_t ir_index, const size_t relative_index) const;
    const CompileTimeTensorDesc *GetOutputDesc(const size_t index) const;
    const AnchorInstanceInfo *GetIrInputInstanceInfo(const size_t ir_index) const;
    const AnchorInstanceInfo *GetIrOutputInstanceInfo(const size_t ir_index) const;
    size_t GetComputeNodeInputNum() const;
    size_t GetComputeNodeOutputNum() const;
    const RuntimeAttrs *GetAttrs() const;
    const ge::char_t *GetNodeType() const;
    const ge::char_t *GetNodeName() const;
    const ge::char_t *GetKernelName() const { return GetNodeName(); }
    const ge::char_t *GetKernelType() const { return GetNodeType(); }

protected:
    // Index of the given tensor `relative_index` of declared input `ir_index`, or -1.
    int64_t InputInstance(size_t ir_index, size_t relative_index) const;
    const Tensor *InputTensor(int64_t index) const;
    Tensor *OutputTensor(size_t index) const;
};
}  // namespace gert
