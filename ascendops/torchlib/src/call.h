// One call of an operator whose arguments lie on the dispatcher's stack.
//
// A call like an earlier one goes from the plan that was kept for it straight to the twin. What is new (shapes, dtypes, attributes), unusual
// (strided or empty tensors) or wrong goes to the operator's Python kernel, which makes the plan, copies, counts or raises. So there is one
// place that decides, and this file only repeats what was decided.
#ifndef ASCENDOPS_TORCHLIB_CALL_H
#define ASCENDOPS_TORCHLIB_CALL_H

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "arguments.h"
#include "plans.h"

namespace ascendops_cpu {

using Values = c10::ArrayRef<c10::IValue>;

// The plan that the Python kernel of the running call hands over (ascendops_cpu_keep), if it does.
inline thread_local std::shared_ptr<Plan> *pending = nullptr;

class Call {
public:
    Call(Operator &op, Values values) : op_(op)
    {
        for (size_t i = 0; i < values.size(); ++i) {
            op.kinds[i] == 't' ? Input(values[i]) : Attr(values[i]);
        }
    }

    // The plan for these arguments, or null: Python's turn.
    std::shared_ptr<const Plan> Find() const { return plain_ ? op_.Find(key_) : nullptr; }

    // Allocates the outputs and runs the twin.
    std::vector<at::Tensor> Run(const Plan &plan) const
    {
        std::vector<at::Tensor> outputs;
        outputs.reserve(plan.outputs.size());
        for (const Plan::Output &output : plan.outputs) {
            outputs.emplace_back(at::detail::empty_cpu(output.sizes, output.dtype));
        }
        Launch(plan, outputs);
        return outputs;
    }

    // Runs the Python kernel on the arguments of the stack, leaves its results there, and keeps the plan that it hands over.
    void Learn(torch::jit::Stack &stack) const
    {
        std::shared_ptr<Plan> made;
        const at::AutoDispatchBelowADInplaceOrView below;
        struct Waiting {
            std::shared_ptr<Plan> *before = pending;
            ~Waiting() { pending = before; }
        } waiting;
        pending = plain_ ? &made : nullptr;
        c10::Dispatcher::singleton().findSchemaOrThrow(op_.python.c_str(), "").callBoxed(stack);
        if (made == nullptr) {
            return;
        }
        for (const c10::IValue &result : torch::jit::last(stack, op_.outputs.size())) {
            made->outputs.push_back({ result.toTensor().sizes().vec(), result.toTensor().scalar_type() });
        }
        op_.Keep(key_, std::move(made));
    }

private:
    static constexpr int64_t ONE = -1, ABSENT = -2;
    enum Kind : int64_t { NONE, NUMBER, TEXT, LIST };  // so that values of different kinds have different keys

    void Input(const c10::IValue &value)
    {
        if (value.isTensor()) {
            counts_.push_back(ONE);
            Add(value.toTensor());
        } else if (value.isNone()) {
            counts_.push_back(ABSENT);
            key_.push_back(ABSENT);
        } else {
            const Values tensors = value.toListRef();
            counts_.push_back(static_cast<int64_t>(tensors.size()));
            key_.push_back(static_cast<int64_t>(tensors.size()));
            for (const c10::IValue &tensor : tensors) {
                Add(tensor.toTensor());
            }
        }
    }
    void Add(const at::Tensor &tensor)
    {
        plain_ = plain_ && tensor.is_contiguous() && tensor.device().is_cpu() && tensor.layout() == at::kStrided;
        tensors_.push_back(&tensor);
        key_.push_back(static_cast<int64_t>(tensor.scalar_type()) << 8 | tensor.dim());
        key_.append(tensor.sizes().begin(), tensor.sizes().end());
    }
    void Attr(const c10::IValue &value)
    {
        if (value.isInt() || value.isBool()) {
            Number(value.isInt() ? value.toInt() : int64_t{ value.toBool() });
        } else if (value.isDouble()) {
            const double number = value.toDouble();
            int64_t bits = 0;
            std::memcpy(&bits, &number, sizeof bits);
            Number(bits);
        } else if (value.isString()) {
            Text(value.toStringRef());
        } else if (value.isNone()) {
            key_.push_back(NONE);
        } else if (value.isList()) {
            key_.push_back(LIST);
            key_.push_back(static_cast<int64_t>(value.toListRef().size()));
            for (const c10::IValue &each : value.toListRef()) {
                Attr(each);
            }
        } else {
            plain_ = false;
        }
    }
    void Number(int64_t bits)
    {
        key_.push_back(NUMBER);
        key_.push_back(bits);
    }
    void Text(const std::string &value)
    {
        key_.push_back(TEXT);
        key_.push_back(static_cast<int64_t>(value.size()));
        for (size_t at = 0; at < value.size(); at += sizeof(int64_t)) {
            int64_t word = 0;
            std::memcpy(&word, value.data() + at, std::min(sizeof word, value.size() - at));
            key_.push_back(word);
        }
    }

    void Launch(const Plan &plan, const std::vector<at::Tensor> &outputs) const;

    Operator &op_;
    Key key_;
    c10::SmallVector<const at::Tensor *, 8> tensors_;
    c10::SmallVector<int64_t, 8> counts_;  // tensors of each input's list; ONE or ABSENT where it is no list
    bool plain_ = true;
};

inline void Call::Launch(const Plan &plan, const std::vector<at::Tensor> &outputs) const
{
    Arguments arguments(counts_.size() + outputs.size() + 2, tensors_.size() + counts_.size() + outputs.size() + 2);
    size_t next = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] == ABSENT) {
            arguments.Null();
        } else if (counts_[i] == ONE) {
            arguments.Buffer(tensors_[next]->const_data_ptr(), tensors_[next]->nbytes(), op_.inputs[i].c_str());
            ++next;
        } else {
            arguments.List(tensors_.data() + next, static_cast<size_t>(counts_[i]), op_.inputs[i].c_str());
            next += static_cast<size_t>(counts_[i]);
        }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        arguments.Buffer(outputs[i].mutable_data_ptr(), outputs[i].nbytes(), op_.outputs[i].c_str(), TWIN_BUFFER_UNDEFINED);
    }
    TwinLaunch call = plan.call;
    const Workspace workspace(call.workspace_bytes);
    std::vector<uint64_t> tiling(plan.tiling.size() / 8 + 1);  // of its own, because a kernel may write there
    std::memcpy(tiling.data(), plan.tiling.data(), plan.tiling.size());
    arguments.Buffer(workspace.data(), call.workspace_bytes, "workspace", TWIN_BUFFER_UNDEFINED | TWIN_BUFFER_BLANK);
    arguments.Buffer(tiling.data(), plan.tiling.size(), "tiling", TWIN_BUFFER_PADDED);
    const std::vector<void *> pointers = arguments.pointers();
    call.args = const_cast<void **>(pointers.data());
    call.workspace = workspace.data();
    call.tiling = reinterpret_cast<const uint8_t *>(tiling.data());
    call.buffers = arguments.rows().data();
    call.buffer_count = static_cast<uint32_t>(arguments.rows().size());
    if (plan.launch(&call) != 0) {
        static const auto judge =
            c10::Dispatcher::singleton().findSchemaOrThrow("ascendops_twin::judge", "").typed<void(c10::string_view, c10::string_view)>();
        judge.call(op_.qualified, plan.report());  // raises where a finding is an error
    }
}

}  // namespace ascendops_cpu

#endif  // ASCENDOPS_TORCHLIB_CALL_H
