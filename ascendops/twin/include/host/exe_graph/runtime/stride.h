// gert::Stride: element strides of a view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace gert {
struct Stride {
public:
    static constexpr size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidStrideValue = std::numeric_limits<int64_t>::min();

    Stride() : dim_num_(0), strides_{0} {}
    Stride(const std::initializer_list<int64_t> &strides) : Stride() {
        if (strides.size() <= kMaxDimNum) {
            for (int64_t stride : strides) {
                strides_[dim_num_++] = stride;
            }
        }
    }

    size_t GetDimNum() const { return dim_num_; }
    void SetDimNum(const size_t dim_num) { dim_num_ = dim_num; }
    int64_t GetStride(const size_t idx) const { return idx < kMaxDimNum ? strides_[idx] : kInvalidStrideValue; }
    const int64_t &operator[](const size_t idx) const { return strides_[idx]; }
    int64_t &operator[](const size_t idx) { return strides_[idx]; }

private:
    size_t dim_num_;
    int64_t strides_[kMaxDimNum];
};
}  // namespace gert
