// gert::RuntimeAttrs: attribute values by their index in the OpDef.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/tensor.h"

namespace gert {
class RuntimeAttrs {
public:
    // The stored value (Int: int64_t, Float: float, Bool: bool, String: char[], lists: a TypedContinuousVector), or null
    // if there is no such attribute.
    template <typename T>
    const T *GetAttrPointer(size_t index) const {
        return static_cast<const T *>(At(index, Tag<T>::value));
    }
    const int64_t *GetInt(const size_t index) const { return GetAttrPointer<int64_t>(index); }
    const float *GetFloat(const size_t index) const { return GetAttrPointer<float>(index); }
    const bool *GetBool(const size_t index) const { return GetAttrPointer<bool>(index); }
    const char *GetStr(const size_t index) const { return GetAttrPointer<char>(index); }
    const TypedContinuousVector<int64_t> *GetListInt(const size_t index) const {
        return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
    }
    const TypedContinuousVector<float> *GetListFloat(const size_t index) const {
        return GetAttrPointer<TypedContinuousVector<float>>(index);
    }
    const ContinuousVectorVector *GetListListInt(const size_t index) const {
        return GetAttrPointer<ContinuousVectorVector>(index);
    }
    const Tensor *GetTensor(const size_t) const { return nullptr; }
    size_t GetAttrNum() const { return slots_.size(); }

    // The kind of attribute that T reads, as one letter; '?' for types that read several kinds.
    template <typename T, typename Enable = void>
    struct Tag {
        static constexpr char value = '?';
    };
    struct Slot {
        char tag;
        std::unique_ptr<uint8_t[]> bytes;
    };
    void Add(char tag, std::unique_ptr<uint8_t[]> bytes) { slots_.push_back(Slot{tag, std::move(bytes)}); }

private:
    const void *At(size_t index, char wanted) const;

    std::vector<Slot> slots_;
};

template <typename T>
struct RuntimeAttrs::Tag<T, typename std::enable_if<std::is_integral<T>::value && (sizeof(T) > 1)>::type> {
    static constexpr char value = 'i';
};
template <typename T>
struct RuntimeAttrs::Tag<T, typename std::enable_if<std::is_floating_point<T>::value>::type> {
    static constexpr char value = sizeof(T) == sizeof(float) ? 'f' : 'd';
};
template <>
struct RuntimeAttrs::Tag<bool> {
    static constexpr char value = 'b';
};
template <>
struct RuntimeAttrs::Tag<char> {
    static constexpr char value = 's';
};
template <>
struct RuntimeAttrs::Tag<TypedContinuousVector<int64_t>> {
    static constexpr char value = 'I';
};
template <>
struct RuntimeAttrs::Tag<TypedContinuousVector<float>> {
    static constexpr char value = 'F';
};
template <>
struct RuntimeAttrs::Tag<TypedContinuousVector<bool>> {
    static constexpr char value = 'B';
};
template <>
struct RuntimeAttrs::Tag<ContinuousVectorVector> {
    static constexpr char value = 'L';
};
}  // namespace gert
