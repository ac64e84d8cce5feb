// gert::Shape: up to 25 dims; -1 is an unknown dim, a single -2 an unknown rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <vector>

#include "utils/extern_math_util.h"

namespace gert {
struct Shape {
public:
    static constexpr size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

    Shape() : dim_num_(0), dims_{0} {}
    Shape(const Shape &) = default;
    Shape &operator=(const Shape &other) {
        dim_num_ = other.dim_num_;
        for (size_t i = 0; i < kMaxDimNum; ++i) {
            dims_[i] = other.dims_[i];
        }
        touched_ = true;
        return *this;
    }
    Shape(const std::initializer_list<int64_t> &dims) : Shape() {
        if (dims.size() <= kMaxDimNum) {
            for (int64_t dim : dims) {
                dims_[dim_num_++] = dim;
            }
        }
    }

    bool operator==(const Shape &other) const {
        if (dim_num_ != other.dim_num_) {
            return false;
        }
        for (size_t i = 0; i < dim_num_; ++i) {
            if (dims_[i] != other.dims_[i]) {
                return false;
            }
        }
        return true;
    }
    bool operator!=(const Shape &other) const { return !(*this == other); }

    // Number of elements (1 for a scalar); kInvalidDimValue on overflow. Unknown dims count as they are written.
    int64_t GetShapeSize() const {
        int64_t size = 1;
        for (size_t i = 0; i < dim_num_; ++i) {
            if (ge::MulOverflow(size, dims_[i], size)) {
                return kInvalidDimValue;
            }
        }
        return size;
    }
    bool IsScalar() const { return dim_num_ == 0; }
    void SetScalar() { SetDimNum(0); }
    size_t GetDimNum() const { return dim_num_; }
    void SetDimNum(const size_t dim_num) {
        dim_num_ = dim_num;
        touched_ = true;
    }
    int64_t GetDim(const size_t idx) const { return idx < kMaxDimNum ? dims_[idx] : kInvalidDimValue; }
    const int64_t &operator[](const size_t idx) const { return dims_[idx]; }
    int64_t &operator[](const size_t idx) {
        touched_ = true;
        return dims_[idx];
    }
    // Does not make dim `idx` part of the shape: set the rank with SetDimNum first, as on the device toolchain.
    void SetDim(size_t idx, const int64_t dim_value) {
        if (idx >= kMaxDimNum) {
            return;
        }
        dims_[idx] = dim_value;
        dim_num_ = dim_num_ < idx ? idx : dim_num_;
        touched_ = true;
    }
    Shape &AppendDim(const int64_t value) {
        if (dim_num_ < kMaxDimNum) {
            dims_[dim_num_++] = value;
        }
        touched_ = true;
        return *this;
    }

    // For the twin: whether a host function has set this output's shape, if only to what it was.
    bool TwinTouched() const { return touched_; }
    void TwinForget() { touched_ = false; }

private:
    size_t dim_num_;
    int64_t dims_[kMaxDimNum];
    bool touched_ = false;
};
}  // namespace gert
