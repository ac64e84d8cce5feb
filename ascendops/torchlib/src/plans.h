// What is kept between calls of an operator: for each kind of call, what op_host decided, and the launch that follows from it.
#ifndef ASCENDOPS_TORCHLIB_PLANS_H
#define ASCENDOPS_TORCHLIB_PLANS_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <ATen/core/Tensor.h>
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

// One registered operator: its plans, where its arguments lie, and how findings call its buffers.
class Operator {
public:
    Operator(std::string space, std::string name, std::string kinds, std::vector<std::string> inputs, std::vector<std::string> outputs)
        : qualified(space + "::" + name), python(space + "_python::" + name), kinds(std::move(kinds)), inputs(std::move(inputs)),
          outputs(std::move(outputs)) {}

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

    const std::string qualified, python;  // `python`: the operator whose kernels are in Python
    const std::string kinds;  // of the arguments, in the schema's order: `t` a tensor, an optional one or a list of them, `a` an attribute
    const std::vector<std::string> inputs, outputs;

private:
    mutable std::mutex mutex_;
    std::unordered_map<Key, std::shared_ptr<const Plan>, KeyHash> plans_;
};

}  // namespace ascendops_cpu

#endif  // ASCENDOPS_TORCHLIB_PLANS_H
