// A CPU kernel without Python: a call like an earlier one goes from the plan that was kept for it straight to the twin.
//
// What is new (shapes, dtypes, attributes), unusual (strided or empty tensors) or wrong goes to the operator's Python kernel, which makes the
// plan, copies, counts or raises. So there is one place that decides, and this file only repeats what was decided.
#ifndef ASCENDOPS_TORCHLIB_TWIN_KERNEL_H
#define ASCENDOPS_TORCHLIB_TWIN_KERNEL_H

#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <sys/mman.h>

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>
#include <c10/util/SmallVector.h>

#include "ascendc_twin/launch_abi.h"

namespace ascendops_cpu {

constexpr size_t MOST_PLANS = 1024;

using Key = c10::SmallVector<int64_t, 32>;
using Launcher = int (*)(const TwinLaunch *);
using Reporter = const char *(*)();

struct KeyHash {
    size_t operator()(const Key &key) const
    {
        uint64_t hash = 0xcbf29ce484222325;
        for (const int64_t word : key) {
            hash = (hash ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15;
            hash ^= hash >> 29;
        }
        return hash;
    }
};

// What op_host decided for a call, and the launch that follows from it.
struct Plan {
    Launcher launch = nullptr;
    Reporter report = nullptr;
    TwinLaunch call{};
    std::vector<uint8_t> tiling;
    struct Output {
        std::vector<int64_t> sizes;
        at::ScalarType dtype;
    };
    std::vector<Output> outputs;
};

// One operator of the library: its plans, and how findings call its buffers.
class Operator {
public:
    Operator(const char *qualified, std::vector<const char *> inputs, std::vector<const char *> outputs)
        : qualified(qualified), inputs(std::move(inputs)), outputs(std::move(outputs)) {}

    std::shared_ptr<const Plan> Find(const Key &key) const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = plans_.find(key);
        return found == plans_.end() ? nullptr : found->second;
    }
    void Keep(const Key &key, std::shared_ptr<const Plan> plan)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (plans_.size() >= MOST_PLANS) {
            plans_.clear();
        }
        plans_[key] = std::move(plan);
    }
    void Forget()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        plans_.clear();
    }
    size_t Plans() const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        return plans_.size();
    }

    const char *const qualified;
    const std::vector<const char *> inputs, outputs;

private:
    mutable std::mutex mutex_;
    std::unordered_map<Key, std::shared_ptr<const Plan>, KeyHash> plans_;
};

// The plan that the Python kernel of the running call hands over (ascendops_cpu_keep), if it does.
inline thread_local std::shared_ptr<Plan> *pending = nullptr;

// The arguments of one call: the key of its plan, and its tensors.
class Call {
public:
    explicit Call(Operator &op) : op_(op) {}

    void Input(const at::Tensor &tensor)
    {
        counts_.push_back(ONE);
        Add(tensor);
    }
    void Input(const std::optional<at::Tensor> &tensor)
    {
        counts_.push_back(tensor.has_value() ? ONE : ABSENT);
        if (tensor.has_value()) {
            Add(*tensor);
        } else {
            key_.push_back(ABSENT);
        }
    }
    void Input(at::TensorList tensors)
    {
        counts_.push_back(static_cast<int64_t>(tensors.size()));
        key_.push_back(static_cast<int64_t>(tensors.size()));
        for (const at::Tensor &tensor : tensors) {
            Add(tensor);
        }
    }
    void Attr(int64_t value) { key_.push_back(value); }
    void Attr(bool value) { key_.push_back(value ? 1 : 0); }
    void Attr(double value)
    {
        int64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        key_.push_back(bits);
    }
    void Attr(const std::string &value)
    {
        key_.push_back(static_cast<int64_t>(value.size()));
        for (size_t at = 0; at < value.size(); at += sizeof(int64_t)) {
            int64_t word = 0;
            std::memcpy(&word, value.data() + at, std::min(sizeof word, value.size() - at));
            key_.push_back(word);
        }
    }
    void Attr(at::IntArrayRef values) { List(values); }
    void Attr(c10::ArrayRef<double> values) { List(values); }
    void Attr(const c10::List<bool> &values)
    {
        key_.push_back(static_cast<int64_t>(values.size()));
        for (const bool value : values) {
            Attr(value);
        }
    }
    template <typename T>
    void Attr(const std::optional<T> &value)
    {
        key_.push_back(value.has_value() ? 1 : 0);
        if (value.has_value()) {
            Attr(*value);
        }
    }
    void Attr(const at::OptionalIntArrayRef &value) { Attr(value.has_value() ? std::optional<at::IntArrayRef>(*value) : std::nullopt); }

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

    // Runs `python` and keeps the plan that it hands over.
    template <typename Python>
    auto Learn(Python python) const
    {
        std::shared_ptr<Plan> made;
        const at::AutoDispatchBelowADInplaceOrView below;
        struct Waiting {
            std::shared_ptr<Plan> *before = pending;
            ~Waiting() { pending = before; }
        } waiting;
        pending = plain_ ? &made : nullptr;
        auto result = python();
        if (made != nullptr) {
            SetOutputs(*made, result);
            op_.Keep(key_, std::move(made));
        }
        return result;
    }

private:
    static constexpr int64_t ONE = -1, ABSENT = -2;

    void Add(const at::Tensor &tensor)
    {
        plain_ = plain_ && tensor.is_contiguous() && tensor.device().is_cpu() && tensor.layout() == at::kStrided;
        tensors_.push_back(&tensor);
        key_.push_back(static_cast<int64_t>(tensor.scalar_type()) << 8 | tensor.dim());
        key_.append(tensor.sizes().begin(), tensor.sizes().end());
    }
    template <typename T>
    void List(c10::ArrayRef<T> values)
    {
        key_.push_back(static_cast<int64_t>(values.size()));
        for (const T value : values) {
            Attr(value);
        }
    }
    static void SetOutputs(Plan &plan, const at::Tensor &result) { plan.outputs.push_back({ result.sizes().vec(), result.scalar_type() }); }
    template <typename... Results>
    static void SetOutputs(Plan &plan, const std::tuple<Results...> &results)
    {
        std::apply([&](const auto &...each) { (SetOutputs(plan, each), ...); }, results);
    }

    void Launch(const Plan &plan, const std::vector<at::Tensor> &outputs) const;

    Operator &op_;
    Key key_;
    c10::SmallVector<const at::Tensor *, 8> tensors_;
    c10::SmallVector<int64_t, 8> counts_;  // tensors of each input's list; ONE or ABSENT where it is no list
    bool plain_ = true;
};

// Memory for a workspace; pages that are never touched cost nothing.
class Workspace {
public:
    explicit Workspace(uint64_t bytes) : bytes_(bytes)
    {
        if (bytes != 0) {
            data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            TORCH_CHECK(data_ != MAP_FAILED, "no memory for a workspace of ", bytes, " bytes");
        }
    }
    ~Workspace()
    {
        if (data_ != nullptr) {
            munmap(data_, bytes_);
        }
    }
    Workspace(const Workspace &) = delete;
    Workspace &operator=(const Workspace &) = delete;
    uint8_t *data() const { return static_cast<uint8_t *>(data_); }

private:
    void *data_ = nullptr;
    uint64_t bytes_;
};

// The values of a kernel's parameters, which are all pointers, and the buffers that they point to.
class Arguments {
public:
    explicit Arguments(size_t parameters, size_t buffers)
    {
        cells_.reserve(parameters);
        rows_.reserve(buffers);
    }
    void Null() { cells_.push_back(0); }
    void Buffer(const void *data, uint64_t bytes, const char *name, uint64_t flags = 0)
    {
        cells_.push_back(reinterpret_cast<uint64_t>(data));
        rows_.push_back({ cells_.back(), bytes, name, flags, &cells_.back() });
    }
    // What ListTensorDesc reads: the offset of the addresses, for each tensor its number, rank and sizes, then the addresses.
    void List(const at::Tensor *const *tensors, size_t count, const char *name)
    {
        std::vector<uint64_t> &words = lists_.emplace_back(1);
        for (size_t i = 0; i < count; ++i) {
            words.push_back(uint64_t{ i } << 32 | static_cast<uint64_t>(tensors[i]->dim()));
            words.insert(words.end(), tensors[i]->sizes().begin(), tensors[i]->sizes().end());
        }
        const size_t first = words.size();
        words[0] = 8 * first;
        words.resize(first + count);
        cells_.push_back(reinterpret_cast<uint64_t>(words.data()));
        rows_.push_back({ cells_.back(), 8 * words.size(), name, 0, nullptr });
        for (size_t i = 0; i < count; ++i) {
            words[first + i] = reinterpret_cast<uint64_t>(tensors[i]->const_data_ptr());
            rows_.push_back({ words[first + i], tensors[i]->nbytes(), name, 0, &words[first + i] });
        }
    }
    const std::vector<TwinBuffer> &rows() const { return rows_; }
    std::vector<void *> pointers()
    {
        std::vector<void *> found;
        for (uint64_t &cell : cells_) {
            found.push_back(&cell);
        }
        return found;
    }

private:
    c10::SmallVector<uint64_t, 16> cells_;
    std::vector<TwinBuffer> rows_;
    std::vector<std::vector<uint64_t>> lists_;
};

inline void Call::Launch(const Plan &plan, const std::vector<at::Tensor> &outputs) const
{
    Arguments arguments(counts_.size() + outputs.size() + 2, tensors_.size() + counts_.size() + outputs.size() + 2);
    size_t next = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] == ABSENT) {
            arguments.Null();
        } else if (counts_[i] == ONE) {
            arguments.Buffer(tensors_[next]->const_data_ptr(), tensors_[next]->nbytes(), op_.inputs[i]);
            ++next;
        } else {
            arguments.List(tensors_.data() + next, static_cast<size_t>(counts_[i]), op_.inputs[i]);
            next += static_cast<size_t>(counts_[i]);
        }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        arguments.Buffer(outputs[i].mutable_data_ptr(), outputs[i].nbytes(), op_.outputs[i], TWIN_BUFFER_UNDEFINED);
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

// The operators of this library by name, for the functions that Python calls.
inline std::unordered_map<std::string, Operator *> &Operators()
{
    static std::unordered_map<std::string, Operator *> all;
    return all;
}

// Whether a call needs a gradient for this input: backward, or forward (which is an error that Python raises).
inline bool Requires(const at::Tensor &tensor)
{
    return (tensor.requires_grad() && c10::GradMode::is_enabled()) || (tensor.defined() && tensor._fw_grad(0).defined());
}
inline bool Requires(const std::optional<at::Tensor> &tensor) { return tensor.has_value() && Requires(*tensor); }
inline bool Requires(at::TensorList tensors)
{
    for (const at::Tensor &tensor : tensors) {
        if (Requires(tensor)) {
            return true;
        }
    }
    return false;
}

}  // namespace ascendops_cpu

#endif  // ASCENDOPS_TORCHLIB_TWIN_KERNEL_H
