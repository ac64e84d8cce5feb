// gert::ExpandDimsType: which axes of the full shape were added when a short shape was expanded.
#pragma once

#include <cstdint>
#include <cstring>

namespace gert {
class ExpandDimsType {
public:
    using AxisIndex = uint64_t;

    ExpandDimsType() = default;
    explicit ExpandDimsType(const char *text) {
        const size_t length = text == nullptr ? 0 : strlen(text);
        if (length <= 56) {
            size_ = length;
            for (AxisIndex i = 0; i < length; ++i) {
                mask_ |= text[i] == '1' ? 1ULL << i : 0ULL;
            }
        }
    }
    bool operator==(const ExpandDimsType &other) const { return size_ == other.size_ && mask_ == other.mask_; }
    AxisIndex GetFullSize() const { return size_; }
    void SetExpandIndex(const AxisIndex index) { mask_ |= 1ULL << index; }
    bool IsExpandIndex(const AxisIndex index) const { return ((mask_ >> index) & 1ULL) != 0; }

private:
    uint64_t size_ = 0;
    uint64_t mask_ = 0;
};
}  // namespace gert
