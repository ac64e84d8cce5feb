// Operators of the laptop `npu` device: a few of its own, and for all others the CPU's, on views of the same memory, counted by name.
#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_cpu_dispatch.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "alias.h"

namespace ascendops_npu {
namespace {

std::mutex countsMutex;
std::map<std::string, int64_t> counts;

void Count(const std::string &name)
{
    const std::lock_guard<std::mutex> lock(countsMutex);
    ++counts[name];
}

c10::IValue ToCpu(const c10::IValue &value, Aliases &aliases)
{
    if (value.isTensor()) {
        return aliases.ToCpu(value.toTensor());
    }
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor &tensor : value.toTensorVector()) {
            list.push_back(aliases.ToCpu(tensor));
        }
        return list;
    }
    if (value.isOptionalTensorList()) {
        c10::List<std::optional<at::Tensor>> list;
        for (const std::optional<at::Tensor> &tensor : value.toOptionalTensorVector()) {
            list.push_back(tensor.has_value() ? std::optional<at::Tensor>(aliases.ToCpu(*tensor)) : std::nullopt);
        }
        return list;
    }
    if (value.isDevice() && value.toDevice().type() == DEVICE) {
        const c10::Device device = value.toDevice();
        aliases.UseDevice(device.has_index() ? device : c10::Device(DEVICE, CurrentDevice()));
        return c10::Device(c10::kCPU);
    }
    if (value.isStorage() && value.toStorage().device_type() == DEVICE) {
        return aliases.CpuStorage(value.toStorage());
    }
    if (value.isGenerator()) {
        return HostGenerator(value.toGenerator());
    }
    return value;
}

c10::IValue ToNpu(const c10::IValue &value, Aliases &aliases)
{
    if (value.isTensor()) {
        return aliases.ToNpu(value.toTensor());
    }
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor &tensor : value.toTensorVector()) {
            list.push_back(aliases.ToNpu(tensor));
        }
        return list;
    }
    return value;
}

bool IsGenerator(const c10::Argument &argument)
{
    const auto optional = argument.type()->cast<c10::OptionalType>();
    return optional != nullptr && optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
}

void OnCpu(const c10::OperatorHandle &op, torch::jit::Stack *stack)
{
    const c10::FunctionSchema &schema = op.schema();
    Count(schema.overload_name().empty() ? schema.name() : schema.name() + "." + schema.overload_name());
    Aliases aliases;
    const size_t count = schema.arguments().size();
    const size_t begin = stack->size() - count;
    for (size_t i = 0; i < count; ++i) {
        (*stack)[begin + i] = ToCpu((*stack)[begin + i], aliases);
    }
    for (size_t i = 0; i < count; ++i) {
        if ((*stack)[begin + i].isNone() && IsGenerator(schema.arguments()[i])) {
            (*stack)[begin + i] = HostGenerator(aliases.device().index());
        }
    }
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    aliases.Return();
    const size_t results = schema.returns().size();
    for (size_t i = stack->size() - results; i < stack->size(); ++i) {
        (*stack)[i] = ToNpu((*stack)[i], aliases);
    }
}

at::Tensor Empty(
    c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>,
    std::optional<at::MemoryFormat> format)
{
    const c10::OptionalDeviceGuard guard(device);
    return at::detail::empty_generic(
        C10_AS_INTARRAYREF_SLOW(size), c10::GetAllocator(DEVICE), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::dtype_or_default(dtype), format);
}

at::Tensor EmptyStrided(
    c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<at::ScalarType> dtype, std::optional<at::Layout>, std::optional<at::Device> device,
    std::optional<bool>)
{
    const c10::OptionalDeviceGuard guard(device);
    return at::detail::empty_strided_generic(
        C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), c10::GetAllocator(DEVICE), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
        c10::dtype_or_default(dtype));
}

at::Tensor CopyFrom(const at::Tensor &from, const at::Tensor &to, bool)
{
    Aliases aliases;
    const at::Tensor target = aliases.ToCpu(to);
    target.copy_(aliases.ToCpu(from));
    return to;
}

at::Tensor CopyFromAndResize(const at::Tensor &from, const at::Tensor &to)
{
    if (to.sizes() != from.sizes()) {
        to.resize_(from.sizes());
    }
    return CopyFrom(from, to, false);
}

at::Tensor AsStrided(const at::Tensor &self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<c10::SymInt> offset)
{
    const std::optional<int64_t> plain = offset.has_value() ? std::optional<int64_t>(offset->guard_int(__FILE__, __LINE__)) : std::nullopt;
    return at::native::as_strided_tensorimpl(self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), plain);
}

at::Tensor View(const at::Tensor &self, c10::SymIntArrayRef size) { return at::native::view(self, C10_AS_INTARRAYREF_SLOW(size)); }

at::Tensor ReshapeAlias(const at::Tensor &self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride)
{
    return at::native::_reshape_alias(self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}

at::Tensor &SetStorage(at::Tensor &self, c10::Storage source) { return at::cpu::set_(self, std::move(source)); }

at::Tensor &SetStorageOffset(at::Tensor &self, c10::Storage source, c10::SymInt offset, c10::SymIntArrayRef size, c10::SymIntArrayRef stride)
{
    return at::cpu::set_(
        self, std::move(source), offset.guard_int(__FILE__, __LINE__), C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}

// PyTorch sends convolutions of PrivateUse1 here; they have no CPU kernel of this name.
at::Tensor Convolution(
    const at::Tensor &input, const at::Tensor &weight, const std::optional<at::Tensor> &bias, c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
    c10::SymIntArrayRef dilation, bool transposed, c10::SymIntArrayRef outputPadding, c10::SymInt groups)
{
    Count("aten::convolution");
    Aliases aliases;
    const std::optional<at::Tensor> add = bias.has_value() ? std::optional<at::Tensor>(aliases.ToCpu(*bias)) : std::nullopt;
    return aliases.ToNpu(at::convolution(
        aliases.ToCpu(input), aliases.ToCpu(weight), add, C10_AS_INTARRAYREF_SLOW(stride), C10_AS_INTARRAYREF_SLOW(padding),
        C10_AS_INTARRAYREF_SLOW(dilation), transposed, C10_AS_INTARRAYREF_SLOW(outputPadding), groups.guard_int(__FILE__, __LINE__)));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> ConvolutionBackward(
    const at::Tensor &grad, const at::Tensor &input, const at::Tensor &weight, c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
    c10::SymIntArrayRef dilation, bool transposed, c10::SymIntArrayRef outputPadding, c10::SymInt groups, std::array<bool, 3> mask)
{
    Count("aten::convolution_backward");
    Aliases aliases;
    const std::vector<int64_t> biasSizes{ weight.size(transposed ? 1 : 0) * (transposed ? groups.guard_int(__FILE__, __LINE__) : 1) };
    auto [x, w, b] = at::convolution_backward(
        aliases.ToCpu(grad), aliases.ToCpu(input), aliases.ToCpu(weight), at::OptionalIntArrayRef(biasSizes), C10_AS_INTARRAYREF_SLOW(stride),
        C10_AS_INTARRAYREF_SLOW(padding), C10_AS_INTARRAYREF_SLOW(dilation), transposed, C10_AS_INTARRAYREF_SLOW(outputPadding),
        groups.guard_int(__FILE__, __LINE__), mask);
    return { aliases.ToNpu(x), aliases.ToNpu(w), aliases.ToNpu(b) };
}

// For kit operators: the same memory as a CPU tensor, and a CPU tensor's memory as one of this device.
at::Tensor HostView(const at::Tensor &tensor)
{
    Aliases aliases;
    return aliases.ToCpu(tensor);
}

at::Tensor DeviceView(const at::Tensor &tensor, int64_t device)
{
    Aliases aliases;
    aliases.UseDevice(c10::Device(DEVICE, static_cast<c10::DeviceIndex>(device)));
    return aliases.ToNpu(tensor);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&OnCpu>()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("empty.memory_format", &Empty);
    m.impl("empty_strided", &EmptyStrided);
    m.impl("_copy_from", &CopyFrom);
    m.impl("_copy_from_and_resize", &CopyFromAndResize);
    m.impl("as_strided", &AsStrided);
    m.impl("view", &View);
    m.impl("_reshape_alias", &ReshapeAlias);
    m.impl("set_.source_Storage", &SetStorage);
    m.impl("set_.source_Storage_storage_offset", &SetStorageOffset);
    m.impl("convolution_overrideable", &Convolution);
    m.impl("convolution_backward_overrideable", &ConvolutionBackward);
}

// Copies resolve these bits themselves; resolving them first would copy again, without end.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY(ascendops_npu, m)
{
    m.def("host_view(Tensor x) -> Tensor");
    m.def("device_view(Tensor x, int device) -> Tensor");
    m.def("manual_seed(int seed, int device) -> ()", [](int64_t seed, int64_t device) {
        HostGenerator(static_cast<c10::DeviceIndex>(device)).set_current_seed(static_cast<uint64_t>(seed));
    });
    m.def("initial_seed(int device) -> int", [](int64_t device) {
        return static_cast<int64_t>(HostGenerator(static_cast<c10::DeviceIndex>(device)).current_seed());
    });
    m.def("rng_state(int device) -> Tensor", [](int64_t device) { return HostGenerator(static_cast<c10::DeviceIndex>(device)).get_state(); });
    m.def("set_rng_state(Tensor state, int device) -> ()", [](const at::Tensor &state, int64_t device) {
        HostGenerator(static_cast<c10::DeviceIndex>(device)).set_state(state);
    });
}
TORCH_LIBRARY_IMPL(ascendops_npu, PrivateUse1, m) { m.impl("host_view", &HostView); }
TORCH_LIBRARY_IMPL(ascendops_npu, CPU, m) { m.impl("device_view", &DeviceView); }

}  // namespace
}  // namespace ascendops_npu

extern "C" {
// The operators that ran on the CPU so far, one `name count` per line; the text lives until the next call.
ASCENDOPS_EXPORT const char *ascendops_npu_fallbacks()
{
    static std::string text;
    const std::lock_guard<std::mutex> lock(ascendops_npu::countsMutex);
    text.clear();
    for (const auto &entry : ascendops_npu::counts) {
        text += entry.first + " " + std::to_string(entry.second) + "\n";
    }
    return text.c_str();
}
ASCENDOPS_EXPORT void ascendops_npu_reset_fallbacks()
{
    const std::lock_guard<std::mutex> lock(ascendops_npu::countsMutex);
    ascendops_npu::counts.clear();
}
}
