// The gert contexts: views of one Call.
#include <cstdarg>
#include <cstdio>
#include <limits>

#include "hostrt.h"

namespace ascendops_host {
thread_local Call *g_call = nullptr;
static thread_local std::vector<std::string> g_notes;

void Note(const char *format, ...) {
    char buffer[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(buffer, sizeof(buffer), format, args);
    va_end(args);
    if (g_notes.size() < 20) {
        g_notes.emplace_back(buffer);
    }
}
std::vector<std::string> TakeNotes() {
    std::vector<std::string> notes;
    notes.swap(g_notes);
    return notes;
}

static const char *AttrKind(char tag) {
    switch (tag) {
        case 'b': return "Bool";
        case 'i': return "Int";
        case 'f': return "Float";
        case 'd': return "double";
        case 's': return "String";
        case 'B': return "ListBool";
        case 'I': return "ListInt";
        case 'F': return "ListFloat";
        default: return "ListListInt";
    }
}
}  // namespace ascendops_host

using ascendops_host::Call;
using ascendops_host::Note;

namespace gert {
constexpr size_t Shape::kMaxDimNum;
constexpr int64_t Shape::kInvalidDimValue;
constexpr size_t Stride::kMaxDimNum;
constexpr int64_t Stride::kInvalidStrideValue;

const void *RuntimeAttrs::At(size_t index, char wanted) const {
    if (index >= slots_.size()) {
        Note("attribute %zu was asked for, the operator has %zu: the pointer is null", index, slots_.size());
        return nullptr;
    }
    if (wanted != '?' && wanted != slots_[index].tag) {
        Note("attribute %zu is declared %s and was read as %s", index, ascendops_host::AttrKind(slots_[index].tag),
             ascendops_host::AttrKind(wanted));
    }
    return slots_[index].bytes.get();
}

// In the contexts of host functions the untyped values are the tensors; in a TilingParse context they are the compile-time
// information (output 0) and the platform (input 1).
size_t KernelContext::GetInputNum() const { return call_->inputs.size(); }
size_t KernelContext::GetOutputNum() const { return call_->outputs.size(); }
const void *KernelContext::InputAt(size_t index) const {
    if (index < call_->inputs.size()) {
        return &call_->inputs[index];
    }
    return index == 0 ? static_cast<const void *>("{}") : index == 1 ? &call_->platform->infos : nullptr;
}
void *KernelContext::OutputAt(size_t index) { return index == 0 ? call_->compile_info : nullptr; }

const ComputeNodeInfo *ExtendedKernelContext::GetComputeNodeInfo() const { return &call_->node; }
const CompileTimeTensorDesc *ExtendedKernelContext::GetInputDesc(const size_t index) const {
    return call_->node.GetInputTdInfo(index);
}
const CompileTimeTensorDesc *ExtendedKernelContext::GetDynamicInputDesc(const size_t ir_index, const size_t relative) const {
    const int64_t index = InputInstance(ir_index, relative);
    return index < 0 ? nullptr : call_->node.GetInputTdInfo(static_cast<size_t>(index));
}
const CompileTimeTensorDesc *ExtendedKernelContext::GetOutputDesc(const size_t index) const {
    return call_->node.GetOutputTdInfo(index);
}
const AnchorInstanceInfo *ExtendedKernelContext::GetIrInputInstanceInfo(const size_t ir_index) const {
    return call_->node.GetInputInstanceInfo(ir_index);
}
const AnchorInstanceInfo *ExtendedKernelContext::GetIrOutputInstanceInfo(const size_t ir_index) const {
    return call_->node.GetOutputInstanceInfo(ir_index);
}
size_t ExtendedKernelContext::GetComputeNodeInputNum() const { return call_->node.GetInputsNum(); }
size_t ExtendedKernelContext::GetComputeNodeOutputNum() const { return call_->node.GetOutputsNum(); }
const RuntimeAttrs *ExtendedKernelContext::GetAttrs() const { return call_->node.GetAttrs(); }
const ge::char_t *ExtendedKernelContext::GetNodeType() const { return call_->node.GetNodeType(); }
const ge::char_t *ExtendedKernelContext::GetNodeName() const { return call_->node.GetNodeName(); }

int64_t ExtendedKernelContext::InputInstance(size_t ir_index, size_t relative) const {
    const AnchorInstanceInfo *info = call_->node.GetInputInstanceInfo(ir_index);
    if (info == nullptr || relative >= info->GetInstanceNum()) {
        return -1;
    }
    return static_cast<int64_t>(info->GetInstanceStart() + relative);
}
const Tensor *ExtendedKernelContext::InputTensor(int64_t index) const {
    const size_t place = static_cast<size_t>(index);
    return index < 0 || place >= call_->inputs.size() ? nullptr : &call_->inputs[place];
}
Tensor *ExtendedKernelContext::OutputTensor(size_t index) const {
    return index < call_->outputs.size() ? &call_->outputs[index] : nullptr;
}

const Shape *InferShapeContext::GetInputShape(const size_t index) const {
    const Tensor *tensor = GetInputTensor(index);
    return tensor == nullptr ? nullptr : &tensor->GetOriginShape();
}
const Shape *InferShapeContext::GetDynamicInputShape(const size_t ir_index, const size_t relative) const {
    const Tensor *tensor = GetDynamicInputTensor(ir_index, relative);
    return tensor == nullptr ? nullptr : &tensor->GetOriginShape();
}
const Tensor *InferShapeContext::GetInputTensor(const size_t index) const { return InputTensor(static_cast<int64_t>(index)); }
const Tensor *InferShapeContext::GetDynamicInputTensor(const size_t ir_index, const size_t relative) const {
    return InputTensor(InputInstance(ir_index, relative));
}
Shape *InferShapeContext::GetOutputShape(const size_t index) {
    Tensor *tensor = OutputTensor(index);
    return tensor == nullptr ? nullptr : &tensor->MutableOriginShape();
}

ge::DataType InferDataTypeContext::GetInputDataType(const size_t index) const {
    const Tensor *tensor = InputTensor(static_cast<int64_t>(index));
    return tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType();
}
ge::DataType InferDataTypeContext::GetDynamicInputDataType(const size_t ir_index, const size_t relative) const {
    const Tensor *tensor = InputTensor(InputInstance(ir_index, relative));
    return tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType();
}
ge::DataType InferDataTypeContext::GetOutputDataType(const size_t index) const {
    const Tensor *tensor = OutputTensor(index);
    return tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType();
}
ge::graphStatus InferDataTypeContext::SetOutputDataType(const size_t index, const ge::DataType dtype) {
    Tensor *tensor = OutputTensor(index);
    if (tensor == nullptr) {
        Note("SetOutputDataType(%zu, ..): there is no such output", index);
        return ge::GRAPH_FAILED;
    }
    tensor->SetDataType(dtype);
    return ge::GRAPH_SUCCESS;
}

fe::PlatFormInfos *TilingParseContext::GetPlatformInfo() const { return &call_->platform->infos; }

const void *TilingContext::GetCompileInfo() const { return call_->compile_info; }
fe::PlatFormInfos *TilingContext::GetPlatformInfo() const { return &call_->platform->infos; }
int32_t TilingContext::GetDeterministic() const { return call_->deterministic; }
const StorageShape *TilingContext::GetInputShape(const size_t index) const {
    const Tensor *tensor = GetInputTensor(index);
    return tensor == nullptr ? nullptr : &tensor->GetShape();
}
const StorageShape *TilingContext::GetDynamicInputShape(const size_t ir_index, const size_t relative) const {
    const Tensor *tensor = GetDynamicInputTensor(ir_index, relative);
    return tensor == nullptr ? nullptr : &tensor->GetShape();
}
const Tensor *TilingContext::GetInputTensor(const size_t index) const { return InputTensor(static_cast<int64_t>(index)); }
const Tensor *TilingContext::GetDynamicInputTensor(const size_t ir_index, const size_t relative) const {
    return InputTensor(InputInstance(ir_index, relative));
}
const StorageShape *TilingContext::GetOutputShape(const size_t index) const {
    const Tensor *tensor = OutputTensor(index);
    return tensor == nullptr ? nullptr : &tensor->GetShape();
}

ge::graphStatus TilingContext::SetTilingKey(const uint64_t tiling_key) {
    call_->key = tiling_key;
    return ge::GRAPH_SUCCESS;
}
uint64_t TilingContext::GetTilingKey() const { return call_->key; }
ge::graphStatus TilingContext::SetBlockDim(const uint32_t block_dim) {
    call_->block_dim = block_dim;
    call_->block_dim_set = true;
    return ge::GRAPH_SUCCESS;
}
uint32_t TilingContext::GetBlockDim() const { return call_->block_dim; }
ge::graphStatus TilingContext::SetScheduleMode(const uint32_t schedule_mode) {
    call_->schedule_mode = schedule_mode;
    return ge::GRAPH_SUCCESS;
}
uint32_t TilingContext::GetScheduleMode() const { return call_->schedule_mode; }
ge::graphStatus TilingContext::SetTilingCond(int32_t tiling_cond) {
    call_->tiling_cond = tiling_cond;
    return ge::GRAPH_SUCCESS;
}
int32_t TilingContext::GetTilingCond() const { return call_->tiling_cond; }
ge::graphStatus TilingContext::SetNeedAtomic(const bool atomic) {
    call_->need_atomic = atomic;
    return ge::GRAPH_SUCCESS;
}
bool TilingContext::NeedAtomic() const { return call_->need_atomic; }
ge::graphStatus TilingContext::SetLocalMemorySize(const uint32_t local_memory_size) {
    call_->local_memory = local_memory_size;
    return ge::GRAPH_SUCCESS;
}
uint32_t TilingContext::GetLocalMemorySize() const { return call_->local_memory; }
TilingData *TilingContext::GetRawTilingData() { return call_->tiling.get(); }

size_t *TilingContext::GetWorkspaceSizes(const size_t workspace_count) {
    if (workspace_count > call_->workspaces.size()) {
        Note("GetWorkspaceSizes(%zu): at most %zu workspaces are possible", workspace_count, call_->workspaces.size());
        return nullptr;
    }
    call_->workspace_num = workspace_count;
    return call_->workspaces.data();
}
size_t TilingContext::GetWorkspaceNum() const { return call_->workspace_num; }
void TilingContext::NoteTooLarge(size_t size, size_t capacity) const {
    Note("the tiling structure has %zu bytes, the tiling buffer %zu: GetTilingData returned null", size, capacity);
}
}  // namespace gert
