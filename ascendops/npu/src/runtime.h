// What the operators of the laptop `npu` device need of its runtime.
#ifndef ASCENDOPS_NPU_RUNTIME_H
#define ASCENDOPS_NPU_RUNTIME_H

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#define ASCENDOPS_EXPORT __attribute__((visibility("default")))

namespace ascendops_npu {

constexpr c10::DeviceType DEVICE = c10::DeviceType::PrivateUse1;
constexpr int MAX_DEVICES = 16;

c10::DeviceIndex DeviceCount();  // $ASCENDOPS_NPU_COUNT, 1 by default
void SetDevice(c10::DeviceIndex device);
c10::DeviceIndex CurrentDevice();

// The CPU generator inside a generator of this device, or inside the default one of a device.
at::Generator HostGenerator(const at::Generator &generator);
at::Generator HostGenerator(c10::DeviceIndex device);

int64_t MemoryNow(c10::DeviceIndex device);
int64_t MemoryPeak(c10::DeviceIndex device);
void ResetPeak(c10::DeviceIndex device);

}  // namespace ascendops_npu

#endif  // ASCENDOPS_NPU_RUNTIME_H
