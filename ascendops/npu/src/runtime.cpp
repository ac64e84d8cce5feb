// The laptop `npu` device: PyTorch's PrivateUse1 over host memory. Allocator, devices, streams, events and random generators.
// Everything runs on the calling thread at once, so a stream is always idle and an event has happened when it is recorded.
#include "runtime.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace ascendops_npu {
namespace {

thread_local c10::DeviceIndex currentDevice = 0;
thread_local std::vector<c10::StreamId> currentStreams;
std::atomic<c10::StreamId> lastStream{ 0 };
std::atomic<int64_t> order{ 0 };

struct Memory {
    std::atomic<int64_t> now{ 0 };
    std::atomic<int64_t> peak{ 0 };
};
Memory memories[MAX_DEVICES];

struct Block {
    void *data;
    size_t bytes;
    c10::DeviceIndex device;
};

void Free(void *context)
{
    auto *block = static_cast<Block *>(context);
    memories[block->device].now -= static_cast<int64_t>(block->bytes);
    std::free(block->data);
    delete block;
}

class HostAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(size_t bytes) override
    {
        const c10::Device device(DEVICE, currentDevice);
        if (bytes == 0) {
            return { nullptr, nullptr, &Free0, device };
        }
        void *data = nullptr;
        TORCH_CHECK(posix_memalign(&data, 512, bytes) == 0, "the npu twin cannot allocate ", bytes, " bytes of host memory");
        Memory &memory = memories[currentDevice];
        const int64_t now = memory.now += static_cast<int64_t>(bytes);
        int64_t peak = memory.peak.load();
        while (now > peak && !memory.peak.compare_exchange_weak(peak, now)) {
        }
        return { data, new Block{ data, bytes, currentDevice }, &Free, device };
    }

    void copy_data(void *to, const void *from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

private:
    static void Free0(void *) {}
};

HostAllocator allocator;

struct Event {
    int64_t order;
    std::chrono::steady_clock::time_point time;
};

c10::StreamId &StreamOf(c10::DeviceIndex device)
{
    currentStreams.resize(MAX_DEVICES, 0);
    return currentStreams[device];
}

struct Guard final : public c10::impl::DeviceGuardImplInterface {
    c10::DeviceType type() const override { return DEVICE; }
    c10::Device exchangeDevice(c10::Device device) const override
    {
        const c10::Device before = getDevice();
        setDevice(device);
        return before;
    }
    c10::Device getDevice() const override { return c10::Device(DEVICE, currentDevice); }
    void setDevice(c10::Device device) const override
    {
        if (device.has_index()) {
            SetDevice(device.index());
        }
    }
    void uncheckedSetDevice(c10::Device device) const noexcept override { currentDevice = device.has_index() ? device.index() : currentDevice; }
    c10::DeviceIndex deviceCount() const noexcept override { return DeviceCount(); }

    c10::Stream Make(c10::Device device, c10::StreamId id) const
    {
        return c10::Stream(c10::Stream::UNSAFE, c10::Device(DEVICE, device.has_index() ? device.index() : currentDevice), id);
    }
    c10::Stream getStream(c10::Device device) const override { return Make(device, StreamOf(device.has_index() ? device.index() : currentDevice)); }
    c10::Stream getDefaultStream(c10::Device device) const override { return Make(device, 0); }
    c10::Stream getStreamFromGlobalPool(c10::Device device, bool = false) const override { return Make(device, ++lastStream); }
    c10::Stream getNewStream(c10::Device device, int = 0) const override { return Make(device, ++lastStream); }
    c10::Stream exchangeStream(c10::Stream stream) const override
    {
        const c10::Stream before = getStream(stream.device());
        StreamOf(stream.device_index()) = stream.id();
        return before;
    }
    bool queryStream(const c10::Stream &) const override { return true; }
    void synchronizeStream(const c10::Stream &) const override {}
    void synchronizeDevice(const c10::DeviceIndex) const override {}

    void record(void **event, const c10::Stream &, const c10::DeviceIndex, const c10::EventFlag) const override
    {
        if (*event == nullptr) {
            *event = new Event();
        }
        *static_cast<Event *>(*event) = { ++order, std::chrono::steady_clock::now() };
    }
    void block(void *, const c10::Stream &) const override {}
    bool queryEvent(void *) const override { return true; }
    void synchronizeEvent(void *) const override {}
    void destroyEvent(void *event, const c10::DeviceIndex) const noexcept override { delete static_cast<Event *>(event); }
    double elapsedTime(void *first, void *second, const c10::DeviceIndex) const override
    {
        TORCH_CHECK(first != nullptr && second != nullptr, "both events must be recorded before their time is asked for");
        const auto span = static_cast<Event *>(second)->time - static_cast<Event *>(first)->time;
        return std::chrono::duration<double, std::milli>(span).count();
    }
};

// A generator of this device: draws come from a CPU generator inside it, because operators run on the CPU.
class Generator final : public c10::GeneratorImpl {
public:
    Generator(c10::DeviceIndex device, at::Generator inner)
        : c10::GeneratorImpl(c10::Device(DEVICE, device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)), inner_(std::move(inner)) {}
    at::Generator &inner() { return inner_; }
    void set_current_seed(uint64_t seed) override { inner_.set_current_seed(seed); }
    void set_offset(uint64_t) override { TORCH_CHECK(false, "the npu twin's generator has no offset"); }
    uint64_t get_offset() const override { TORCH_CHECK(false, "the npu twin's generator has no offset"); }
    uint64_t current_seed() const override { return inner_.current_seed(); }
    uint64_t seed() override { return const_cast<at::Generator &>(inner_).seed(); }
    void set_state(const c10::TensorImpl &state) override { inner_.unsafeGetGeneratorImpl()->set_state(state); }
    c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return inner_.unsafeGetGeneratorImpl()->get_state(); }
    static c10::DeviceType device_type() { return DEVICE; }

private:
    Generator *clone_impl() const override { return new Generator(device().index(), inner_.clone()); }
    at::Generator inner_;
};

const at::Generator &DefaultGenerator(c10::DeviceIndex device)
{
    static std::vector<at::Generator> made = [] {
        std::vector<at::Generator> all;
        for (c10::DeviceIndex i = 0; i < DeviceCount(); ++i) {
            all.push_back(at::make_generator<Generator>(i, at::detail::createCPUGenerator(c10::default_rng_seed_val)));
        }
        return all;
    }();
    const c10::DeviceIndex index = device < 0 ? currentDevice : device;
    TORCH_CHECK(index < DeviceCount(), "there is no npu:", static_cast<int>(index));
    return made[index];
}

struct Hooks final : public at::PrivateUse1HooksInterface {
    // Newer versions of PyTorch declare these as virtual in this class, older ones in its base.
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    void init() const override {}
    c10::DeviceIndex deviceCount() const override { return DeviceCount(); }
    void setCurrentDevice(c10::DeviceIndex device) const override { SetDevice(device); }
    c10::DeviceIndex getCurrentDevice() const override { return currentDevice; }
    c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override
    {
        const c10::DeviceIndex before = currentDevice;
        SetDevice(device);
        return before;
    }
    c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override { return device < 0 ? currentDevice : exchangeDevice(device); }
    c10::Allocator *getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
    bool isPinnedPtr(const void *) const override { return false; }
    c10::Device getDeviceFromPtr(void *) const override { return c10::Device(DEVICE, currentDevice); }
    const at::Generator &getDefaultGenerator(c10::DeviceIndex device = -1) const override { return DefaultGenerator(device); }
    at::Generator getNewGenerator(c10::DeviceIndex device = -1) const override
    {
        return at::make_generator<Generator>(device < 0 ? currentDevice : device, at::detail::createCPUGenerator(c10::default_rng_seed_val));
    }
    void resizePrivateUse1Bytes(const c10::Storage &storage, size_t bytes) const override
    {
        c10::StorageImpl *impl = storage.unsafeGetStorageImpl();
        c10::DataPtr fresh = allocator.allocate(bytes);
        if (impl->data() != nullptr && fresh.get() != nullptr) {
            std::memcpy(fresh.get(), impl->data(), std::min(bytes, impl->nbytes()));
        }
        impl->set_data_ptr_noswap(std::move(fresh));
        impl->set_nbytes(bytes);
    }
};

REGISTER_ALLOCATOR(DEVICE, &allocator)
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct RegisterHooks {
    RegisterHooks() { at::RegisterPrivateUse1HooksInterface(new Hooks()); }
} registerHooks;

}  // namespace

c10::DeviceIndex DeviceCount()
{
    static const c10::DeviceIndex count = [] {
        const char *text = std::getenv("ASCENDOPS_NPU_COUNT");
        const int wanted = text == nullptr ? 1 : std::atoi(text);
        return static_cast<c10::DeviceIndex>(wanted < 1 ? 1 : wanted > MAX_DEVICES ? MAX_DEVICES : wanted);
    }();
    return count;
}

void SetDevice(c10::DeviceIndex device)
{
    TORCH_CHECK(device >= 0 && device < DeviceCount(), "there is no npu:", static_cast<int>(device), ", only ", static_cast<int>(DeviceCount()), " device(s)");
    currentDevice = device;
}

c10::DeviceIndex CurrentDevice() { return currentDevice; }

at::Generator HostGenerator(const at::Generator &generator)
{
    return generator.device().type() == DEVICE ? generator.get<Generator>()->inner() : generator;
}

at::Generator HostGenerator(c10::DeviceIndex device) { return DefaultGenerator(device).get<Generator>()->inner(); }

int64_t MemoryNow(c10::DeviceIndex device) { return memories[device].now; }
int64_t MemoryPeak(c10::DeviceIndex device) { return memories[device].peak; }
void ResetPeak(c10::DeviceIndex device) { memories[device].peak = memories[device].now.load(); }

}  // namespace ascendops_npu

// For Python's ctypes: what needs no tensor.
extern "C" {
ASCENDOPS_EXPORT int ascendops_npu_device_count() { return ascendops_npu::DeviceCount(); }
ASCENDOPS_EXPORT int ascendops_npu_current_device() { return ascendops_npu::CurrentDevice(); }
ASCENDOPS_EXPORT int64_t ascendops_npu_memory(int device, int peak)
{
    return peak != 0 ? ascendops_npu::MemoryPeak(static_cast<c10::DeviceIndex>(device)) : ascendops_npu::MemoryNow(static_cast<c10::DeviceIndex>(device));
}
ASCENDOPS_EXPORT void ascendops_npu_reset_peak(int device) { ascendops_npu::ResetPeak(static_cast<c10::DeviceIndex>(device)); }
}
