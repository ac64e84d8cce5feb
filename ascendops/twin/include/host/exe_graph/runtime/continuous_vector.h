// Lists as attributes and workspace sizes carry them: a header, then the elements in the same memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "graph/ge_error_codes.h"

namespace gert {
class ContinuousVector {
public:
    template <typename T>
    static std::unique_ptr<uint8_t[]> Create(size_t capacity, size_t &total_size) {
        total_size = sizeof(ContinuousVector) + capacity * sizeof(T);
        std::unique_ptr<uint8_t[]> holder(new uint8_t[total_size]());
        reinterpret_cast<ContinuousVector *>(holder.get())->Init(capacity);
        return holder;
    }
    template <typename T>
    static std::unique_ptr<uint8_t[]> Create(const size_t capacity) {
        size_t total_size = 0;
        return Create<T>(capacity, total_size);
    }

    void Init(const size_t capacity) {
        capacity_ = capacity;
        size_ = 0;
    }
    size_t GetSize() const { return size_; }
    size_t GetCapacity() const { return capacity_; }
    ge::graphStatus SetSize(const size_t size) {
        if (size > capacity_) {
            return ge::GRAPH_PARAM_OUT_OF_RANGE;
        }
        size_ = size;
        return ge::GRAPH_SUCCESS;
    }
    const void *GetData() const { return this + 1; }
    void *MutableData() { return this + 1; }

private:
    size_t capacity_;
    size_t size_;
};

template <typename T>
class TypedContinuousVector : private ContinuousVector {
public:
    using ContinuousVector::GetCapacity;
    using ContinuousVector::GetSize;
    using ContinuousVector::SetSize;
    T *MutableData() { return static_cast<T *>(ContinuousVector::MutableData()); }
    const T *GetData() const { return static_cast<const T *>(ContinuousVector::GetData()); }
};

// A list of lists: a header, the byte offset of each inner vector from `this`, then the inner vectors.
class ContinuousVectorVector {
public:
    size_t GetSize() const { return size_; }
    const ContinuousVector *Get(const size_t index) const {
        return reinterpret_cast<const ContinuousVector *>(reinterpret_cast<const uint8_t *>(this) + Offsets()[index]);
    }
    // For whoever fills the memory: the header and the place of the offsets.
    void Init(const size_t size) { size_ = size; }
    size_t *Offsets() { return reinterpret_cast<size_t *>(this + 1); }
    const size_t *Offsets() const { return reinterpret_cast<const size_t *>(this + 1); }

private:
    size_t size_ = 0;
};
}  // namespace gert
