// ge::AscendString: a string that may cross library boundaries.
#pragma once

#include <cstring>
#include <functional>
#include <string>

#include "graph/types.h"

namespace ge {
class AscendString {
public:
    AscendString() = default;
    AscendString(const char_t *name) : text_(name == nullptr ? "" : name) {}
    AscendString(const char_t *name, size_t length) : text_(name == nullptr ? "" : std::string(name, length)) {}

    const char_t *GetString() const { return text_.c_str(); }
    size_t GetLength() const { return text_.size(); }
    size_t Find(const AscendString &other) const { return text_.find(other.text_); }
    size_t Hash() const { return std::hash<std::string>()(text_); }

    bool operator<(const AscendString &other) const { return text_ < other.text_; }
    bool operator>(const AscendString &other) const { return text_ > other.text_; }
    bool operator<=(const AscendString &other) const { return text_ <= other.text_; }
    bool operator>=(const AscendString &other) const { return text_ >= other.text_; }
    bool operator==(const AscendString &other) const { return text_ == other.text_; }
    bool operator!=(const AscendString &other) const { return text_ != other.text_; }
    bool operator==(const char_t *other) const { return text_ == other; }
    bool operator!=(const char_t *other) const { return text_ != other; }

private:
    std::string text_;
};
}  // namespace ge

namespace std {
template <>
struct hash<ge::AscendString> {
    size_t operator()(const ge::AscendString &name) const { return name.Hash(); }
};
}  // namespace std
