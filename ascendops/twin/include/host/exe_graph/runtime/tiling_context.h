// gert::TilingContext: inputs of a tiling function and where it leaves its results.
#pragma once

#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/storage_shape.h"
#include "exe_graph/runtime/tensor.h"
#include "exe_graph/runtime/tiling_data.h"
#include "graph/ge_error_codes.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {
struct Dim3 {
    Dim3(const uint32_t x_, const uint32_t y_ = 1, const uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
    uint32_t x, y, z;
};

class TilingContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;

    const void *GetCompileInfo() const;
    template <typename T>
    const T *GetCompileInfo() const {
        return static_cast<const T *>(GetCompileInfo());
    }
    fe::PlatFormInfos *GetPlatformInfo() const;
    int32_t GetDeterministic() const;
    int32_t GetDeterministicLevel() const { return GetDeterministic(); }

    // `index` counts given tensors, `ir_index` declared inputs: they differ after an absent optional or a dynamic input.
    const StorageShape *GetInputShape(const size_t index) const;
    const StorageShape *GetOptionalInputShape(const size_t ir_index) const { return GetDynamicInputShape(ir_index, 0); }
    const StorageShape *GetRequiredInputShape(const size_t ir_index) const { return GetDynamicInputShape(ir_index, 0); }
    const StorageShape *GetDynamicInputShape(const size_t ir_index, const size_t relative_index) const;
    const Tensor *GetInputTensor(const size_t index) const;
    const Tensor *GetOptionalInputTensor(const size_t ir_index) const { return GetDynamicInputTensor(ir_index, 0); }
    const Tensor *GetRequiredInputTensor(const size_t ir_index) const { return GetDynamicInputTensor(ir_index, 0); }
    const Tensor *GetDynamicInputTensor(const size_t ir_index, const size_t relative_index) const;
    const StorageShape *GetOutputShape(const size_t index) const;

    // Tensors reach the twin's kernels contiguous, so no input or output is a view.
    bool InputIsView(const size_t) const { return false; }
    bool OptionalInputIsView(const size_t) const { return false; }
    bool RequiredInputIsView(const size_t) const { return false; }
    bool DynamicInputIsView(const size_t, const size_t) const { return false; }
    bool OutputIsView(const size_t) const { return false; }
    const Stride *GetInputStride(const size_t) const { return nullptr; }
    const Stride *GetOptionalInputStride(const size_t) const { return nullptr; }
    const Stride *GetRequiredInputStride(const size_t) const { return nullptr; }
    const Stride *GetDynamicInputStride(const size_t, const size_t) const { return nullptr; }
    const Stride *GetOutputStride(const size_t) const { return nullptr; }
    int64_t GetInputOffset(const size_t) const { return -1; }
    int64_t GetOutputOffset(const size_t) const { return -1; }

    ge::graphStatus SetTilingKey(const uint64_t tiling_key);
    uint64_t GetTilingKey() const;
    ge::graphStatus SetBlockDim(const uint32_t block_dim);
    uint32_t GetBlockDim() const;
    ge::graphStatus SetSimdNumBlocks(const uint32_t num_blocks) { return SetBlockDim(num_blocks); }
    uint32_t GetSimdNumBlocks() const { return GetBlockDim(); }
    ge::graphStatus SetAicpuBlockDim(uint32_t) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetAicpuNumBlocks(uint32_t) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetScheduleMode(const uint32_t schedule_mode);
    uint32_t GetScheduleMode() const;
    ge::graphStatus SetTilingCond(int32_t tiling_cond);
    int32_t GetTilingCond() const;
    ge::graphStatus SetNeedAtomic(const bool atomic);
    bool NeedAtomic() const;
    ge::graphStatus SetLocalMemorySize(const uint32_t local_memory_size);
    uint32_t GetLocalMemorySize() const;
    ge::graphStatus SetDynUBufSize(const uint32_t size) { return SetLocalMemorySize(size); }
    uint32_t GetDynUBufSize() const { return GetLocalMemorySize(); }
    ge::graphStatus SetSimtBlockDim(const Dim3 &) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetSimtGridDim(const Dim3 &) { return ge::GRAPH_SUCCESS; }

    TilingData *GetRawTilingData();
    // The tiling buffer as a T, with the data size set to sizeof(T); null if T is larger than the buffer.
    template <typename T>
    T *GetTilingData() {
        TilingData *raw = GetRawTilingData();
        if (raw->GetCapacity() < sizeof(T)) {
            NoteTooLarge(sizeof(T), raw->GetCapacity());
            return nullptr;
        }
        raw->SetDataSize(sizeof(T));
        return static_cast<T *>(raw->GetData());
    }
    size_t *GetWorkspaceSizes(const size_t workspace_count);
    size_t GetWorkspaceNum() const;

private:
    void NoteTooLarge(size_t size, size_t capacity) const;
};
}  // namespace gert
