// The descriptor of a list of tensors (a dynamic input): byte offset of the address table, then per tensor its number of
// dimensions (low word) and index (high word) and its dimensions, then the addresses.
#pragma once

#include "ascendc_twin/tensor.h"

namespace AscendC {

class ListTensorDesc;

template <class T>
class TensorDesc {
public:
    void SetShapeAddr(uint64_t *shapePtr) { shape_ = shapePtr; }
    uint64_t GetDim() { return dim_; }
    uint64_t GetIndex() { return index_; }
    uint64_t GetShape(uint32_t offset) { return shape_[offset]; }
    __gm__ T *GetDataPtr() { return data_; }
    GlobalTensor<T> GetDataObj() {
        uint64_t elements = 1;
        for (uint64_t i = 0; i < dim_; ++i) elements *= shape_[i];
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer(data_, elements);
        return tensor;
    }

private:
    friend class ListTensorDesc;
    uint64_t *shape_ = nullptr;
    uint64_t dim_ = 0, index_ = 0;
    __gm__ T *data_ = nullptr;
};

class ListTensorDesc {
public:
    ListTensorDesc() = default;
    ListTensorDesc(__gm__ void *data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff) { Init(data, length, shapeSize); }

    void Init(__gm__ void *data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff) {
        (void)length;
        (void)shapeSize;
        words_ = static_cast<__gm__ uint64_t *>(data);
        table_ = words_ + words_[0] / sizeof(uint64_t);
        size_ = 0;
        for (__gm__ uint64_t *desc = words_ + 1; desc < table_; desc += 1 + (desc[0] & 0xffffffff)) ++size_;
    }
    template <class T>
    void GetDesc(TensorDesc<T> &desc, uint32_t index) {
        __gm__ uint64_t *at = words_ + 1;
        for (uint32_t i = 0; i < index; ++i) at += 1 + (at[0] & 0xffffffff);
        desc.dim_ = at[0] & 0xffffffff;
        desc.index_ = at[0] >> 32;
        desc.data_ = GetDataPtr<T>(index);
        for (uint64_t i = 0; desc.shape_ != nullptr && i < desc.dim_; ++i) desc.shape_[i] = at[1 + i];
    }
    template <class T>
    __gm__ T *GetDataPtr(uint32_t index) {
        return reinterpret_cast<__gm__ T *>(table_[index]);
    }
    uint32_t GetSize() { return size_; }

private:
    __gm__ uint64_t *words_ = nullptr;
    __gm__ uint64_t *table_ = nullptr;
    uint32_t size_ = 0;
};

}  // namespace AscendC
