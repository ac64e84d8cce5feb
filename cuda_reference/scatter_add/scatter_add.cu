// y = x, then y[..., indices[..., j]] += src[..., j] for all j in order, in CUDA C++ as a torch extension:
// torch.ops.ascendops_cuda.scatter_add after torch.ops.load_library. A warp has some columns of one row in shared memory, and goes through
// the indices of the row, 32 at a time. Lanes with one index find each other (__match_any_sync) and take turns in the order of j: there
// are no atomics, and every run has the same bits. The sums are fp32, rounded once on the way out.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>

namespace {
constexpr int kWarp = 32;
constexpr int kSteps = 4;               // groups of 32 places that are on their way at a time
constexpr int64_t kMostColumns = 8192;  // of a warp: 32 KiB of shared memory

__device__ float widen(float x) { return x; }
__device__ float widen(__half x) { return __half2float(x); }
__device__ float widen(__nv_bfloat16 x) { return __bfloat162float(x); }

template <typename T>
__device__ T narrow(float x);
template <>
__device__ float narrow<float>(float x) { return x; }
template <>
__device__ __half narrow<__half>(float x) { return __float2half_rn(x); }
template <>
__device__ __nv_bfloat16 narrow<__nv_bfloat16>(float x) { return __float2bfloat16_rn(x); }

// Groups of 32 places: lane i has the i-th of each, and what is added there.
struct Groups {
    int64_t column[kSteps];
    float value[kSteps];
};

template <typename T, typename Index>
__device__ Groups load(const Index *indices, const T *src, int64_t first, int64_t j, int64_t count)
{
    Groups made;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
        const int64_t at = j + step * kWarp + threadIdx.x;
        made.column[step] = at < count ? static_cast<int64_t>(indices[at]) - first : -1;
        made.value[step] = at < count ? widen(src[at]) : 0.0f;
    }
    return made;
}

// sums[column] += value, for 0 <= column < count, in the order of groups and lanes.
__device__ void add_in_order(float *sums, const Groups &groups, int64_t count)
{
    const int lane = threadIdx.x;
    int key[kSteps];
    int turn[kSteps];  // of this lane among those with its column
    int turns[kSteps];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {  // all at once: each of these takes long, but they do not wait for one another
        const bool inside = groups.column[step] >= 0 && groups.column[step] < count;
        key[step] = inside ? static_cast<int>(groups.column[step]) : -1 - lane;  // unlike all others
        const unsigned alike = __match_any_sync(0xffffffffu, key[step]);
        turn[step] = __popc(alike & ((1u << lane) - 1u));
        turns[step] = __reduce_max_sync(0xffffffffu, __popc(alike));
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
        for (int now = 0; now < turns[step]; ++now) {
            if (key[step] >= 0 && turn[step] == now) {
                sums[key[step]] += groups.value[step];
            }
            __syncwarp();
        }
    }
}

template <typename T, typename Index>
__global__ void __launch_bounds__(kWarp) add_rows(const T *x, const Index *indices, const T *src, T *y, int64_t length, int64_t count, int64_t blocks)
{
    extern __shared__ float sums[];
    const int lane = threadIdx.x;
    const int64_t row = blockIdx.x / blocks;
    const int64_t first = blockIdx.x % blocks * kMostColumns;
    const int64_t columns = min(kMostColumns, length - first);
    x += row * length + first;
    y += row * length + first;
    indices += row * count;
    src += row * count;
    Groups next = load(indices, src, first, 0, count);
#pragma unroll 8
    for (int64_t i = lane; i < columns; i += kWarp) {
        sums[i] = widen(x[i]);
    }
    __syncwarp();
    for (int64_t j = 0; j < count; j += kSteps * kWarp) {
        const Groups now = next;
        next = load(indices, src, first, j + kSteps * kWarp, count);  // on its way while the sums are made
        add_in_order(sums, now, columns);
    }
#pragma unroll 8
    for (int64_t i = lane; i < columns; i += kWarp) {
        y[i] = narrow<T>(sums[i]);
    }
}

template <typename T, typename Index>
void launch(const at::Tensor &x, const at::Tensor &indices, const at::Tensor &src, const at::Tensor &y)
{
    const int64_t length = x.size(-1);
    const int64_t blocks = (length + kMostColumns - 1) / kMostColumns;
    const auto bytes = static_cast<size_t>(std::min(length, kMostColumns)) * sizeof(float);
    add_rows<T, Index><<<static_cast<unsigned>(x.numel() / length * blocks), kWarp, bytes, c10::cuda::getCurrentCUDAStream()>>>(
        static_cast<const T *>(x.const_data_ptr()), static_cast<const Index *>(indices.const_data_ptr()),
        static_cast<const T *>(src.const_data_ptr()), static_cast<T *>(y.mutable_data_ptr()), length, indices.size(-1), blocks);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <typename T>
void launch_indexed(const at::Tensor &x, const at::Tensor &indices, const at::Tensor &src, const at::Tensor &y)
{
    if (indices.scalar_type() == at::kInt) {
        launch<T, int32_t>(x, indices, src, y);
    } else {
        launch<T, int64_t>(x, indices, src, y);
    }
}

at::Tensor scatter_add(const at::Tensor &input, const at::Tensor &places, const at::Tensor &added)
{
    TORCH_CHECK(input.is_cuda() && places.is_cuda() && added.is_cuda() && input.dim() > 0 && places.sizes() == added.sizes() &&
                    input.dim() == places.dim() && input.sizes().slice(0, input.dim() - 1) == places.sizes().slice(0, input.dim() - 1),
                "scatter_add: CUDA tensors x [*batch, n], indices and src [*batch, m]");
    TORCH_CHECK(input.scalar_type() == added.scalar_type(), "scatter_add: x and src of one dtype");
    TORCH_CHECK(places.scalar_type() == at::kInt || places.scalar_type() == at::kLong, "scatter_add: indices are int32 or int64");
    const c10::cuda::CUDAGuard guard(input.device());
    const at::Tensor x = input.contiguous();
    const at::Tensor indices = places.contiguous();
    const at::Tensor src = added.contiguous();
    const at::Tensor y = at::empty_like(x);
    if (x.numel() == 0) {
        return y;
    }
    switch (x.scalar_type()) {
        case at::kFloat: launch_indexed<float>(x, indices, src, y); break;
        case at::kHalf: launch_indexed<__half>(x, indices, src, y); break;
        case at::kBFloat16: launch_indexed<__nv_bfloat16>(x, indices, src, y); break;
        default: TORCH_CHECK(false, "scatter_add: dtype ", x.scalar_type(), " is not supported");
    }
    return y;
}
}  // namespace

TORCH_LIBRARY_FRAGMENT(ascendops_cuda, m) { m.def("scatter_add(Tensor x, Tensor indices, Tensor src) -> Tensor"); }
TORCH_LIBRARY_IMPL(ascendops_cuda, CUDA, m) { m.impl("scatter_add", scatter_add); }
