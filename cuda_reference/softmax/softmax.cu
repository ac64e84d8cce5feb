// Softmax over the last dim in CUDA C++, as a torch extension: torch.ops.ascendops_cuda.softmax after torch.ops.load_library.
// One block per row, any length. Each thread keeps a running maximum and sum of its elements; warp shuffles and then shared
// memory combine them. The arithmetic is fp32, rounded once on the way out. A row of -inf, or with a NaN or +inf, is NaN.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/library.h>

#include <algorithm>
#include <cfloat>
#include <cstdint>

namespace {
constexpr int kWarp = 32;
constexpr int kMaxThreads = 1024;

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

// sum = sum of e^(x - peak) over some elements. The peak is never below -FLT_MAX, so that -inf adds 0 and not NaN.
struct Partial {
    float peak;
    float sum;
};

__device__ Partial merge(Partial a, Partial b)
{
    const float peak = fmaxf(a.peak, b.peak);
    return {peak, a.sum * expf(a.peak - peak) + b.sum * expf(b.peak - peak)};
}

__device__ Partial merge_warp(Partial mine)
{
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        const Partial other = {__shfl_xor_sync(0xffffffffu, mine.peak, distance),
                               __shfl_xor_sync(0xffffffffu, mine.sum, distance)};
        mine = merge(mine, other);
    }
    return mine;
}

__device__ Partial merge_block(Partial mine)
{
    __shared__ Partial of_warp[kMaxThreads / kWarp];
    const int lane = threadIdx.x % kWarp;
    const int warps = blockDim.x / kWarp;
    mine = merge_warp(mine);
    if (lane == 0) {
        of_warp[threadIdx.x / kWarp] = mine;
    }
    __syncthreads();
    return merge_warp(lane < warps ? of_warp[lane] : Partial{-FLT_MAX, 0.0f});
}

template <typename T>
__global__ void softmax_rows(const T *x, T *y, int64_t columns)
{
    const T *row = x + blockIdx.x * columns;
    T *out = y + blockIdx.x * columns;
    Partial mine = {-FLT_MAX, 0.0f};
    for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
        const float value = widen(row[i]);
        const float peak = fmaxf(mine.peak, value);
        mine = {peak, mine.sum * expf(mine.peak - peak) + expf(value - peak)};
    }
    const Partial all = merge_block(mine);
    for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
        out[i] = narrow<T>(expf(widen(row[i]) - all.peak) / all.sum);
    }
}

template <typename T>
void launch(const at::Tensor &x, const at::Tensor &y)
{
    const int64_t columns = x.size(-1);
    const int64_t rows = x.numel() / columns;
    const int64_t wanted = (columns + 3) / 4;  // about four elements per thread
    const int threads = static_cast<int>(std::min<int64_t>(kMaxThreads, (wanted + kWarp - 1) / kWarp * kWarp));
    softmax_rows<T><<<static_cast<unsigned>(rows), threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        static_cast<const T *>(x.const_data_ptr()), static_cast<T *>(y.mutable_data_ptr()), columns);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

at::Tensor softmax(const at::Tensor &input)
{
    TORCH_CHECK(input.is_cuda() && input.dim() > 0, "softmax: a CUDA tensor of at least one dim");
    const c10::cuda::CUDAGuard guard(input.device());
    const at::Tensor x = input.contiguous();
    const at::Tensor y = at::empty_like(x);
    if (x.numel() == 0) {
        return y;
    }
    switch (x.scalar_type()) {
        case at::kFloat: launch<float>(x, y); break;
        case at::kHalf: launch<__half>(x, y); break;
        case at::kBFloat16: launch<__nv_bfloat16>(x, y); break;
        default: TORCH_CHECK(false, "softmax: dtype ", x.scalar_type(), " is not supported");
    }
    return y;
}
}  // namespace

TORCH_LIBRARY_FRAGMENT(ascendops_cuda, m) { m.def("softmax(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(ascendops_cuda, CUDA, m) { m.impl("softmax", softmax); }
