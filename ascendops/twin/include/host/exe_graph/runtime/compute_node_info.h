// What is fixed about a node before it runs: its inputs' dtypes and formats, and how declared inputs map to given ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/storage_format.h"
#include "graph/types.h"

namespace gert {
// The given tensors ("instances") of one declared input or output: an absent optional one has none, a dynamic one any number.
class AnchorInstanceInfo {
public:
    AnchorInstanceInfo() = default;
    AnchorInstanceInfo(const uint32_t start, const uint32_t num) : start_(start), num_(num) {}

    size_t GetInstanceNum() const { return num_; }
    size_t GetInstanceStart() const { return start_; }

private:
    uint32_t start_ = 0;
    uint32_t num_ = 0;
};

class CompileTimeTensorDesc {
public:
    ge::DataType GetDataType() const { return data_type_; }
    const StorageFormat &GetFormat() const { return storage_format_; }
    ge::Format GetOriginFormat() const { return storage_format_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return storage_format_.GetStorageFormat(); }
    ExpandDimsType GetExpandDimsType() const { return storage_format_.GetExpandDimsType(); }
    void SetDataType(const ge::DataType dtype) { data_type_ = dtype; }
    void SetOriginFormat(const ge::Format format) { storage_format_.SetOriginFormat(format); }
    void SetStorageFormat(const ge::Format format) { storage_format_.SetStorageFormat(format); }
    bool IsExist() const { return true; }

private:
    ge::DataType data_type_ = ge::DT_UNDEFINED;
    StorageFormat storage_format_;
};

class ComputeNodeInfo {
public:
    const ge::char_t *GetNodeType() const { return type.c_str(); }
    const ge::char_t *GetNodeName() const { return name.c_str(); }
    size_t GetIrInputsNum() const { return ir_inputs.size(); }
    size_t GetIrOutputsNum() const { return ir_outputs.size(); }
    size_t GetInputsNum() const { return inputs.size(); }
    size_t GetOutputsNum() const { return outputs.size(); }
    const AnchorInstanceInfo *GetInputInstanceInfo(const size_t ir_index) const { return At(ir_inputs, ir_index); }
    const AnchorInstanceInfo *GetOutputInstanceInfo(const size_t ir_index) const { return At(ir_outputs, ir_index); }
    const CompileTimeTensorDesc *GetInputTdInfo(const size_t index) const { return At(inputs, index); }
    const CompileTimeTensorDesc *GetOutputTdInfo(const size_t index) const { return At(outputs, index); }
    const RuntimeAttrs *GetAttrs() const { return &attrs; }

    // Filled by the twin before a call.
    std::string type;
    std::string name;
    std::vector<AnchorInstanceInfo> ir_inputs;
    std::vector<AnchorInstanceInfo> ir_outputs;
    std::vector<CompileTimeTensorDesc> inputs;
    std::vector<CompileTimeTensorDesc> outputs;
    RuntimeAttrs attrs;

private:
    template <typename T>
    static const T *At(const std::vector<T> &items, size_t index) {
        return index < items.size() ? &items[index] : nullptr;
    }
};
}  // namespace gert
