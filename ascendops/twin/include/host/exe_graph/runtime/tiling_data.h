// gert::TilingData: the raw tiling buffer that the kernel receives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "graph/ge_error_codes.h"
#include "securec.h"

namespace gert {
class TilingData {
public:
    TilingData(void *data, size_t capacity) : data_(static_cast<uint8_t *>(data)), capacity_(capacity) {}
    TilingData(const TilingData &) = delete;
    TilingData &operator=(const TilingData &) = delete;

    size_t GetCapacity() const { return capacity_; }
    size_t GetDataSize() const { return data_size_; }
    void SetDataSize(const size_t size) { data_size_ = size; }
    void *GetData() { return data_; }
    const void *GetData() const { return data_; }

    template <typename T, typename std::enable_if<std::is_standard_layout<T>::value, int>::type = 0>
    ge::graphStatus Append(const T &data) {
        return Append(&data, 1);
    }
    template <typename T, typename std::enable_if<std::is_standard_layout<T>::value, int>::type = 0>
    ge::graphStatus Append(const T *data, size_t count) {
        void *place = Expand(sizeof(T) * count);
        if (place == nullptr) {
            return ge::GRAPH_FAILED;
        }
        (void)memcpy(place, data, sizeof(T) * count);
        return ge::GRAPH_SUCCESS;
    }
    // Makes the data `size` bytes longer and returns the new part, or null if the capacity does not allow it.
    void *Expand(size_t size) {
        if (size > capacity_ || data_size_ > capacity_ - size) {
            return nullptr;
        }
        uint8_t *place = data_ + data_size_;
        data_size_ += size;
        return place;
    }

private:
    uint8_t *data_;
    size_t capacity_;
    size_t data_size_ = 0;
};

template <typename T>
TilingData &operator<<(TilingData &out, const T &data) {
    (void)out.Append(data);
    return out;
}
}  // namespace gert
