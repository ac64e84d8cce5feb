// Where a gert::Tensor's elements lie. In the twin only value-depend inputs have an address that host code may read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gert {
using TensorAddress = void *;
using ConstTensorAddressPtr = const void *;

enum TensorPlacement : int32_t { kOnDeviceHbm, kOnHost, kFollowing, kOnDeviceP2p, kTensorPlacementEnd };

class TensorPlacementUtils {
public:
    static bool IsOnDevice(TensorPlacement placement) { return placement == kOnDeviceHbm || placement == kOnDeviceP2p; }
    static bool IsOnHost(TensorPlacement placement) { return placement == kOnHost || placement == kFollowing; }
};

class TensorData {
public:
    explicit TensorData(TensorAddress addr = nullptr) : addr_(addr) {}
    TensorData(TensorAddress addr, size_t size, TensorPlacement placement)
        : addr_(addr), size_(size), placement_(placement) {}

    TensorAddress GetAddr() const { return addr_; }
    void SetAddr(TensorAddress addr) { addr_ = addr; }
    size_t GetSize() const { return size_; }
    void SetSize(size_t size) { size_ = size; }
    TensorPlacement GetPlacement() const { return placement_; }
    void SetPlacement(TensorPlacement placement) { placement_ = placement; }

private:
    TensorAddress addr_ = nullptr;
    size_t size_ = 0;
    TensorPlacement placement_ = kTensorPlacementEnd;
};
}  // namespace gert
