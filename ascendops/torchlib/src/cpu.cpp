// CPU and Autograd kernels without Python for every operator that torchlib/native.py registers. They are boxed: one library serves all schemas.
#include <c10/core/GradMode.h>
#include <torch/library.h>

#include "call.h"

namespace ascendops_cpu {
namespace {

using torch::jit::Stack;

void RunCpu(Operator &op, Stack &stack)
{
    const Call call(op, torch::jit::last(stack, op.kinds.size()));
    const std::shared_ptr<const Plan> plan = call.Find();
    if (plan == nullptr) {
        call.Learn(stack);
        return;
    }
    std::vector<at::Tensor> outputs = call.Run(*plan);
    torch::jit::drop(stack, op.kinds.size());
    for (at::Tensor &output : outputs) {
        stack.emplace_back(std::move(output));
    }
}

// Whether a call needs a gradient for this input: backward, or forward (which is an error that Python raises).
bool Requires(const at::Tensor &tensor)
{
    return (tensor.requires_grad() && c10::GradMode::is_enabled()) || (tensor.defined() && tensor._fw_grad(0).defined());
}

bool Requires(const Operator &op, Values values)
{
    for (size_t i = 0; i < values.size(); ++i) {
        if (op.kinds[i] != 't' || values[i].isNone()) {
            continue;
        }
        const Values tensors = values[i].isTensor() ? Values(values[i]) : values[i].toListRef();
        for (const c10::IValue &tensor : tensors) {
            if (Requires(tensor.toTensor())) {
                return true;
            }
        }
    }
    return false;
}

class Cpu final : public c10::OperatorKernel {
public:
    explicit Cpu(Operator &op) : op_(op) {}
    void operator()(const c10::OperatorHandle &, c10::DispatchKeySet, Stack *stack) { RunCpu(op_, *stack); }

private:
    Operator &op_;
};

class Autograd final : public c10::OperatorKernel {
public:
    explicit Autograd(Operator &op) : op_(op) {}
    void operator()(const c10::OperatorHandle &handle, c10::DispatchKeySet keys, Stack *stack)
    {
        if (Requires(op_, torch::jit::last(*stack, op_.kinds.size()))) {
            c10::Dispatcher::singleton().findSchemaOrThrow(op_.python.c_str(), "gradient").callBoxed(stack);
            return;
        }
        const c10::DispatchKeySet below = keys & c10::after_ADInplaceOrView_keyset;
        if (below.highestPriorityTypeId() == c10::DispatchKey::CPU) {
            RunCpu(op_, *stack);
        } else {
            handle.redispatchBoxed(below, stack);
        }
    }

private:
    Operator &op_;
};

// All registered operators by qualified name; they stay as long as the process, as their kernels do.
std::unordered_map<std::string, std::unique_ptr<Operator>> &Operators()
{
    static auto *const all = new std::unordered_map<std::string, std::unique_ptr<Operator>>();
    return *all;
}

torch::Library &Kernels(const std::string &space, c10::DispatchKey key)
{
    static auto *const all = new std::vector<std::unique_ptr<torch::Library>>();
    return *all->emplace_back(std::make_unique<torch::Library>(torch::Library::IMPL, space, key, __FILE__, __LINE__));
}

void Register(const std::string &space, const char *name, std::unique_ptr<Operator> op, bool gradient)
{
    Operator &kept = *(Operators()[op->qualified] = std::move(op));
    Kernels(space, c10::DispatchKey::CPU).impl(name, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Cpu>(kept)));
    if (gradient) {
        Kernels(space, c10::DispatchKey::Autograd).impl(name, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Autograd>(kept)));
    }
}

std::vector<std::string> Names(const char *const *names, size_t count) { return { names, names + count }; }

}  // namespace
}  // namespace ascendops_cpu

// For torchlib/native.py.
extern "C" {

// Registers the kernels of `space::name`; returns what went wrong, or null.
__attribute__((visibility("default"))) const char *ascendops_cpu_register(const char *space, const char *name, const char *kinds,
    const char *const *inputs, size_t inputCount, const char *const *outputs, size_t outputCount, int gradient)
{
    using namespace ascendops_cpu;
    static thread_local std::string problem;
    try {
        auto op = std::make_unique<Operator>(space, name, kinds, Names(inputs, inputCount), Names(outputs, outputCount));
        Register(space, name, std::move(op), gradient != 0);
        return nullptr;
    } catch (const std::exception &error) {
        problem = error.what();
        return problem.c_str();
    }
}

// The Python kernel of a call that is new hands over its plan.
__attribute__((visibility("default"))) void ascendops_cpu_keep(
    const TwinLaunch *call, ascendops_cpu::Launcher launch, ascendops_cpu::Reporter report, const uint8_t *tiling)
{
    if (ascendops_cpu::pending == nullptr) {
        return;
    }
    auto plan = std::make_shared<ascendops_cpu::Plan>();
    plan->call = *call;
    plan->launch = launch;
    plan->report = report;
    plan->tiling.assign(tiling, tiling + call->tiling_bytes);
    *ascendops_cpu::pending = std::move(plan);
}

// A new build of an operator has no plans yet.
__attribute__((visibility("default"))) void ascendops_cpu_forget(const char *qualified) { ascendops_cpu::Operators().at(qualified)->Forget(); }

__attribute__((visibility("default"))) uint64_t ascendops_cpu_plans(const char *qualified)
{
    return ascendops_cpu::Operators().at(qualified)->Plans();
}
}
