// gert::KernelContext: untyped access to the values of a call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ascendops_host {
struct Call;  // one call of a host function, defined by the twin's runtime
}

namespace gert {
class KernelContext {
public:
    explicit KernelContext(ascendops_host::Call *call) : call_(call) {}
    KernelContext(const KernelContext &) = delete;
    KernelContext &operator=(const KernelContext &) = delete;

    size_t GetInputNum() const;
    size_t GetOutputNum() const;
    template <typename T>
    const T *GetInputPointer(size_t index) const {
        return static_cast<const T *>(InputAt(index));
    }
    template <typename T>
    T GetInputValue(size_t index) const {
        return reinterpret_cast<T>(const_cast<void *>(InputAt(index)));
    }
    const char *GetInputStrPointer(size_t index) const { return static_cast<const char *>(InputAt(index)); }
    template <typename T>
    T *GetOutputPointer(size_t index) {
        return static_cast<T *>(OutputAt(index));
    }

protected:
    const void *InputAt(size_t index) const;
    void *OutputAt(size_t index);

    ascendops_host::Call *call_;
};
}  // namespace gert
