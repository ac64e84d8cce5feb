// Tensors of the laptop `npu` device seen as CPU tensors and back, without copying: both lie in host memory.
#ifndef ASCENDOPS_NPU_ALIAS_H
#define ASCENDOPS_NPU_ALIAS_H

#include <unordered_map>
#include <vector>

#include <ATen/ATen.h>

#include "runtime.h"

namespace ascendops_npu {

inline bool OnNpu(const at::Tensor &tensor) { return tensor.defined() && tensor.device().type() == DEVICE; }

// A storage on `device` over the memory of `source`, which it keeps alive.
inline c10::Storage StorageOver(const c10::Storage &source, c10::Device device, c10::Allocator *allocator)
{
    auto *keep = new c10::Storage(source);
    c10::DataPtr data(
        source.mutable_data(), keep, [](void *context) { delete static_cast<c10::Storage *>(context); }, device);
    return c10::Storage(c10::Storage::use_byte_size_t(), source.nbytes(), std::move(data), allocator, /*resizable=*/true);
}

inline at::Tensor TensorOver(const c10::Storage &storage, const at::Tensor &like, c10::DispatchKey key)
{
    at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), c10::DispatchKeySet(key), like.dtype());
    made.unsafeGetTensorImpl()->set_storage_offset(like.storage_offset());
    made.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
    made._set_conj(like.is_conj());
    made._set_neg(like.is_neg());
    return made;
}

// The CPU views of one call's tensors. Tensors that share a storage get views that share one, so that views stay views; `Return`
// carries back what the CPU operator did to them: a new size, a new memory, another storage.
class Aliases {
public:
    at::Tensor ToCpu(const at::Tensor &tensor)
    {
        if (!OnNpu(tensor)) {
            return tensor;
        }
        device_ = tensor.device();
        for (const Pair &pair : pairs_) {
            if (pair.npu.unsafeGetTensorImpl() == tensor.unsafeGetTensorImpl()) {
                return pair.cpu;
            }
        }
        const c10::Storage storage = CpuStorage(tensor.storage());
        at::Tensor cpu = TensorOver(storage, tensor, c10::DispatchKey::CPU);
        pairs_.push_back({ tensor, cpu, storage.mutable_data(), storage.nbytes() });
        return cpu;
    }

    c10::Storage CpuStorage(const c10::Storage &npu)
    {
        auto found = storages_.find(npu.unsafeGetStorageImpl());
        if (found == storages_.end()) {
            c10::Storage cpu = StorageOver(npu, c10::Device(c10::kCPU), c10::GetCPUAllocator());
            found = storages_.emplace(npu.unsafeGetStorageImpl(), std::make_pair(npu, cpu)).first;
        }
        return found->second.second;
    }

    // The npu tensor for a CPU result: the original of a view that was passed in, a view of an original, or a new tensor.
    at::Tensor ToNpu(const at::Tensor &tensor)
    {
        if (!tensor.defined() || tensor.device().type() != c10::kCPU) {
            return tensor;
        }
        for (const Pair &pair : pairs_) {
            if (pair.cpu.unsafeGetTensorImpl() == tensor.unsafeGetTensorImpl()) {
                return pair.npu;
            }
        }
        return TensorOver(NpuStorage(tensor.storage()), tensor, c10::DispatchKey::PrivateUse1);
    }

    // Brings sizes and memory of the originals up to date with their views.
    void Return()
    {
        for (Pair &pair : pairs_) {
            c10::TensorImpl *npu = pair.npu.unsafeGetTensorImpl();
            const c10::Storage &now = pair.cpu.storage();
            const bool same = storages_.at(npu->storage().unsafeGetStorageImpl()).second.unsafeGetStorageImpl() == now.unsafeGetStorageImpl();
            if (!same) {
                npu->set_storage_keep_dtype(NpuStorage(now));
            } else if (now.data() != pair.data || now.nbytes() != pair.bytes) {
                c10::StorageImpl *storage = npu->storage().unsafeGetStorageImpl();
                auto *keep = new c10::Storage(now);
                storage->set_data_ptr_noswap(c10::DataPtr(
                    now.mutable_data(), keep, [](void *context) { delete static_cast<c10::Storage *>(context); }, pair.npu.device()));
                storage->set_nbytes(now.nbytes());
            }
            if (pair.npu.sizes() != pair.cpu.sizes() || pair.npu.strides() != pair.cpu.strides()
                || pair.npu.storage_offset() != pair.cpu.storage_offset()) {
                npu->set_storage_offset(pair.cpu.storage_offset());
                npu->set_sizes_and_strides(pair.cpu.sizes(), pair.cpu.strides());
            }
        }
    }

    void UseDevice(c10::Device device) { device_ = device; }
    c10::Device device() const { return device_; }
    bool empty() const { return pairs_.empty(); }

private:
    struct Pair {
        at::Tensor npu;
        at::Tensor cpu;
        const void *data;
        size_t bytes;
    };

    c10::Storage NpuStorage(const c10::Storage &cpu)
    {
        for (const auto &entry : storages_) {
            if (entry.second.second.unsafeGetStorageImpl() == cpu.unsafeGetStorageImpl()) {
                return entry.second.first;
            }
        }
        c10::Storage npu = StorageOver(cpu, device_, c10::GetAllocator(DEVICE));
        storages_.emplace(npu.unsafeGetStorageImpl(), std::make_pair(npu, cpu));
        return npu;
    }

    std::vector<Pair> pairs_;
    std::unordered_map<c10::StorageImpl *, std::pair<c10::Storage, c10::Storage>> storages_;  // npu storage, and its CPU view
    c10::Device device_{ DEVICE, 0 };
};

}  // namespace ascendops_npu

#endif  // ASCENDOPS_NPU_ALIAS_H
