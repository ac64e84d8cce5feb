// The values of a kernel's parameters, and the memory behind them, for one launch of the twin.
#ifndef ASCENDOPS_TORCHLIB_ARGUMENTS_H
#define ASCENDOPS_TORCHLIB_ARGUMENTS_H

#include <cstdint>
#include <vector>

#include <sys/mman.h>

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include "ascendc_twin/launch_abi.h"

namespace ascendops_cpu {

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

}  // namespace ascendops_cpu

#endif  // ASCENDOPS_TORCHLIB_ARGUMENTS_H
