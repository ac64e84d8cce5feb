// Tiling structures declared with macros. A structure knows its layout; the kernel sees a plain struct of the same layout.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/ascend_string.h"
#include "securec.h"

namespace optiling {
// A field of a tiling structure: a number, an array (count > 1 or is_array), or a nested structure.
struct TilingField {
    const char *type;
    const char *name;
    size_t offset;   // in the tiling data
    size_t size;     // bytes of the whole field
    size_t count;
    bool is_array;
    ptrdiff_t member;   // place of the value in the object, from the TilingDef base
    bool is_struct;
};

class TilingDef {
public:
    // Copies the data to `buffer`; reports and copies nothing if it is larger than `capacity`.
    void SaveToBuffer(void *buffer, size_t capacity) const;
    size_t GetDataSize() const { return size_; }
    const char *GetTilingClassName() const { return name_; }
    // From now on the set_ methods write into `buffer` and SaveToBuffer has nothing to do.
    void SetDataPtr(void *buffer);

    const std::vector<TilingField> &Fields() const { return fields_; }
    const TilingDef &Nested(const TilingField &field) const;

protected:
    explicit TilingDef(const char *name) : name_(name) {}

    // Layout: a number or array lies at a multiple of its element's size, a structure at a multiple of 8.
    size_t AddField(const char *type, const char *name, size_t element, size_t count, bool is_array, const void *member);
    size_t AddStruct(const char *type, const char *name, const TilingDef *nested);
    void EndFields();
    void Write(size_t offset, const void *value, size_t size) {
        if (view_ != nullptr) {
            (void)memcpy(view_ + offset, value, size);
        }
    }
    void *View(size_t offset) { return view_ == nullptr ? nullptr : view_ + offset; }

private:
    void CopyTo(uint8_t *out) const;
    size_t Place(size_t alignment, size_t size);

    const char *name_;
    std::vector<TilingField> fields_;
    size_t size_ = 0;
    uint8_t *view_ = nullptr;
};

using TilingDataConstructor = std::shared_ptr<TilingDef> (*)();
// Adds the structure to the library that is being loaded.
int RegisterTilingClass(const char *op_type, TilingDataConstructor constructor);
}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name)                                             \
    class class_name : public TilingDef {                                             \
    public:                                                                           \
        class_name() : TilingDef(#class_name) { EndFields(); }                        \
        explicit class_name(void *ascendops_buffer) : TilingDef(#class_name) {        \
            EndFields();                                                              \
            if (ascendops_buffer != nullptr) {                                        \
                SetDataPtr(ascendops_buffer);                                         \
            }                                                                         \
        }

#define TILING_DATA_FIELD_DEF(data_type, field_name)                                                       \
public:                                                                                                    \
    void set_##field_name(data_type field_name) {                                                          \
        field_name##_ = field_name;                                                                        \
        Write(field_name##_offset_, &field_name##_, sizeof(data_type));                                    \
    }                                                                                                      \
    data_type get_##field_name() const { return field_name##_; }                                           \
                                                                                                           \
private:                                                                                                   \
    data_type field_name##_ = data_type();                                                                 \
    size_t field_name##_offset_ = AddField(#data_type, #field_name, sizeof(data_type), 1, false, &field_name##_);

#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name)                                          \
public:                                                                                                    \
    void set_##field_name(const arr_type *ascendops_values) {                                              \
        arr_type *ascendops_place = get_##field_name();                                                    \
        if (ascendops_place != ascendops_values) {                                                         \
            (void)memcpy(ascendops_place, ascendops_values, sizeof(field_name##_));                        \
        }                                                                                                  \
    }                                                                                                      \
    arr_type *get_##field_name() {                                                                         \
        void *ascendops_view = View(field_name##_offset_);                                                 \
        return ascendops_view == nullptr ? field_name##_ : static_cast<arr_type *>(ascendops_view);        \
    }                                                                                                      \
                                                                                                           \
private:                                                                                                   \
    arr_type field_name##_[arr_size] = {};                                                                 \
    size_t field_name##_offset_ =                                                                          \
        AddField(#arr_type, #field_name, sizeof(arr_type), (arr_size), true, field_name##_);

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name) \
public:                                                       \
    struct_type field_name{nullptr};                          \
                                                              \
private:                                                      \
    size_t field_name##_offset_ = AddStruct(#struct_type, #field_name, &field_name);

#define END_TILING_DATA_DEF \
    }                       \
    ;

#define REGISTER_TILING_DATA_CLASS(op_type, class_name)                                                   \
    namespace {                                                                                           \
    int __attribute__((unused)) g_tiling_class_##op_type##class_name =                                    \
        optiling::RegisterTilingClass(#op_type, []() -> std::shared_ptr<optiling::TilingDef> {            \
            return std::make_shared<class_name>();                                                        \
        });                                                                                               \
    }
