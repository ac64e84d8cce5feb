// Layout and copying of macro tiling structures.
#include "hostrt.h"

namespace optiling {
size_t TilingDef::Place(size_t alignment, size_t size) {
    const size_t offset = (size_ + alignment - 1) / alignment * alignment;
    size_ = offset + size;
    return offset;
}

size_t TilingDef::AddField(const char *type, const char *name, size_t element, size_t count, bool is_array,
                           const void *member) {
    const size_t offset = Place(element, element * count);
    const ptrdiff_t place = static_cast<const char *>(member) - reinterpret_cast<const char *>(this);
    fields_.push_back({type, name, offset, element * count, count, is_array, place, false});
    return offset;
}

size_t TilingDef::AddStruct(const char *type, const char *name, const TilingDef *nested) {
    const size_t offset = Place(8, nested->size_);
    const ptrdiff_t place = reinterpret_cast<const char *>(nested) - reinterpret_cast<const char *>(this);
    fields_.push_back({type, name, offset, nested->size_, 1, false, place, true});
    return offset;
}

void TilingDef::EndFields() { size_ = (size_ + 7) / 8 * 8; }

const TilingDef &TilingDef::Nested(const TilingField &field) const {
    return *reinterpret_cast<const TilingDef *>(reinterpret_cast<const char *>(this) + field.member);
}

void TilingDef::SetDataPtr(void *buffer) {
    view_ = static_cast<uint8_t *>(buffer);
    for (const TilingField &field : fields_) {
        if (field.is_struct) {
            const_cast<TilingDef &>(Nested(field)).SetDataPtr(view_ + field.offset);
        }
    }
}

void TilingDef::CopyTo(uint8_t *out) const {
    (void)memset(out, 0, size_);
    for (const TilingField &field : fields_) {
        if (field.is_struct) {
            Nested(field).CopyTo(out + field.offset);
        } else {
            (void)memcpy(out + field.offset, reinterpret_cast<const char *>(this) + field.member, field.size);
        }
    }
}

void TilingDef::SaveToBuffer(void *buffer, size_t capacity) const {
    if (view_ != nullptr) {
        return;
    }
    if (buffer == nullptr || size_ > capacity) {
        ascendops_host::Note("SaveToBuffer: %s has %zu bytes, the buffer %zu: nothing was copied", name_, size_, capacity);
        return;
    }
    CopyTo(static_cast<uint8_t *>(buffer));
}
}  // namespace optiling
