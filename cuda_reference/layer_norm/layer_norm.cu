// Layer norm over the last dim in CUDA C++, as a torch extension: torch.ops.ascendops_cuda.layer_norm after
// torch.ops.load_library. One block per row, any length. A row that fits the registers of a block is read once: its mean,
// then the sum of squared deviations. For longer rows each thread keeps mean and squared deviations of its elements (Chan's
// formula), warp shuffles and then shared memory merge them, and the row is read twice. No difference of squares cancels.
// The arithmetic is fp32, rounded once on the way out.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

namespace {
constexpr int kWarp = 32;
constexpr int kMaxThreads = 1024;
constexpr int kBytes = 16;  // of one load
constexpr int kHeld = 4;    // packs that a thread keeps in registers

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

template <typename T, int N>
struct alignas(N * sizeof(T)) Pack {
    T at[N];
};

// Count, mean and sum of squared deviations of some elements.
struct Moments {
    float count;
    float mean;
    float deviation;
};

__device__ Moments merge(Moments a, Moments b)
{
    const float count = a.count + b.count;
    const float share = count > 0.0f ? b.count / count : 0.0f;
    const float shift = b.mean - a.mean;
    return {count, a.mean + shift * share, a.deviation + b.deviation + shift * shift * a.count * share};
}

__device__ Moments merge_warp(Moments mine)
{
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        const Moments other = {__shfl_xor_sync(0xffffffffu, mine.count, distance),
                               __shfl_xor_sync(0xffffffffu, mine.mean, distance),
                               __shfl_xor_sync(0xffffffffu, mine.deviation, distance)};
        mine = merge(mine, other);
    }
    return mine;
}

__device__ Moments merge_block(Moments mine)
{
    __shared__ Moments of_warp[kMaxThreads / kWarp];
    const int lane = threadIdx.x % kWarp;
    const int warps = blockDim.x / kWarp;
    mine = merge_warp(mine);
    if (lane == 0) {
        of_warp[threadIdx.x / kWarp] = mine;
    }
    __syncthreads();
    // Lane 0's order of merging is the same in all warps, but mean and deviation may differ by rounding between lanes.
    mine = merge_warp(lane < warps ? of_warp[lane] : Moments{0.0f, 0.0f, 0.0f});
    return {mine.count, __shfl_sync(0xffffffffu, mine.mean, 0), __shfl_sync(0xffffffffu, mine.deviation, 0)};
}

__device__ float sum_block(float mine)
{
    __shared__ float of_warp[kMaxThreads / kWarp];
    const int lane = threadIdx.x % kWarp;
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    }
    __syncthreads();  // the sums of the call before were read
    if (lane == 0) {
        of_warp[threadIdx.x / kWarp] = mine;
    }
    __syncthreads();
    mine = lane < blockDim.x / kWarp ? of_warp[lane] : 0.0f;
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    }
    return mine;
}

template <typename T, int N>
__device__ Pack<T, N> scaled(const Pack<T, N> &x, const Pack<T, N> &weight, const Pack<T, N> &bias, float mean, float rstd)
{
    Pack<T, N> result;
#pragma unroll
    for (int k = 0; k < N; ++k) {
        result.at[k] = narrow<T>((widen(x.at[k]) - mean) * rstd * widen(weight.at[k]) + widen(bias.at[k]));
    }
    return result;
}

// In both kernels columns is a multiple of N, and rows start at multiples of N elements.

// Rows that fit the registers of a block: each thread holds up to HELD packs, and the row is read once.
template <typename T, int N, int HELD>
__global__ void layer_norm_held(const T *x, const T *weight, const T *bias, T *y, float *means, float *rstds,
                                int64_t columns, float eps)
{
    using P = Pack<T, N>;
    const P *row = reinterpret_cast<const P *>(x + blockIdx.x * columns);
    P *out = reinterpret_cast<P *>(y + blockIdx.x * columns);
    const int packs = static_cast<int>(columns / N);
    P held[HELD];
    float sum = 0.0f;
#pragma unroll
    for (int h = 0; h < HELD; ++h) {
        const int i = threadIdx.x + h * blockDim.x;
        if (i < packs) {
            held[h] = row[i];
#pragma unroll
            for (int k = 0; k < N; ++k) {
                sum += widen(held[h].at[k]);
            }
        }
    }
    const float mean = sum_block(sum) / static_cast<float>(columns);
    float deviation = 0.0f;
#pragma unroll
    for (int h = 0; h < HELD; ++h) {
        if (threadIdx.x + h * blockDim.x < packs) {
#pragma unroll
            for (int k = 0; k < N; ++k) {
                const float off = widen(held[h].at[k]) - mean;
                deviation += off * off;
            }
        }
    }
    const float rstd = 1.0f / sqrtf(sum_block(deviation) / static_cast<float>(columns) + eps);
#pragma unroll
    for (int h = 0; h < HELD; ++h) {
        const int i = threadIdx.x + h * blockDim.x;
        if (i < packs) {
            out[i] = scaled(held[h], reinterpret_cast<const P *>(weight)[i], reinterpret_cast<const P *>(bias)[i], mean, rstd);
        }
    }
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        rstds[blockIdx.x] = rstd;
    }
}

// Longer rows are read twice.
template <typename T, int N>
__global__ void layer_norm_rows(const T *x, const T *weight, const T *bias, T *y, float *means, float *rstds,
                                int64_t columns, float eps)
{
    using P = Pack<T, N>;
    const P *row = reinterpret_cast<const P *>(x + blockIdx.x * columns);
    P *out = reinterpret_cast<P *>(y + blockIdx.x * columns);
    const int64_t packs = columns / N;
    Moments mine = {0.0f, 0.0f, 0.0f};
    for (int64_t i = threadIdx.x; i < packs; i += blockDim.x) {
        const P pack = row[i];
        float mean = 0.0f;
        float deviation = 0.0f;
#pragma unroll
        for (int k = 0; k < N; ++k) {
            mean += widen(pack.at[k]) / N;
        }
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const float off = widen(pack.at[k]) - mean;
            deviation += off * off;
        }
        mine = merge(mine, {static_cast<float>(N), mean, deviation});
    }
    const Moments all = merge_block(mine);
    const float rstd = 1.0f / sqrtf(all.deviation / static_cast<float>(columns) + eps);
    for (int64_t i = threadIdx.x; i < packs; i += blockDim.x) {
        out[i] = scaled(row[i], reinterpret_cast<const P *>(weight)[i], reinterpret_cast<const P *>(bias)[i], all.mean, rstd);
    }
    if (threadIdx.x == 0) {
        means[blockIdx.x] = all.mean;
        rstds[blockIdx.x] = rstd;
    }
}

bool aligned(const at::Tensor &t) { return reinterpret_cast<uintptr_t>(t.const_data_ptr()) % kBytes == 0; }

template <typename T>
void launch(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias, const at::Tensor &y,
            const at::Tensor &mean, const at::Tensor &rstd, float eps)
{
    constexpr int wide = kBytes / sizeof(T);
    const int64_t columns = x.size(-1);
    const int64_t rows = x.numel() / columns;
    const bool packed = columns % wide == 0 && aligned(x) && aligned(weight) && aligned(bias) && aligned(y);
    const int64_t items = packed ? columns / wide : columns;
    // About four packs per thread, so that a block holds few warps; more threads when the row is longer.
    const int64_t wanted = items <= kMaxThreads * kHeld ? (items + kHeld - 1) / kHeld : kMaxThreads;
    const int threads = static_cast<int>(std::max<int64_t>(4 * kWarp, (wanted + kWarp - 1) / kWarp * kWarp));
    const bool held = items <= static_cast<int64_t>(threads) * kHeld;
    const auto kernel = packed ? (held ? layer_norm_held<T, wide, kHeld> : layer_norm_rows<T, wide>)
                               : (held ? layer_norm_held<T, 1, kHeld> : layer_norm_rows<T, 1>);
    kernel<<<static_cast<unsigned>(rows), threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        static_cast<const T *>(x.const_data_ptr()), static_cast<const T *>(weight.const_data_ptr()),
        static_cast<const T *>(bias.const_data_ptr()), static_cast<T *>(y.mutable_data_ptr()),
        static_cast<float *>(mean.mutable_data_ptr()), static_cast<float *>(rstd.mutable_data_ptr()), columns, eps);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm(const at::Tensor &input, const at::Tensor &weight,
                                                          const at::Tensor &bias, double eps)
{
    TORCH_CHECK(input.is_cuda() && input.dim() > 0, "layer_norm: a CUDA tensor of at least one dim");
    const c10::cuda::CUDAGuard guard(input.device());
    const at::Tensor x = input.contiguous();
    const at::Tensor w = weight.contiguous();
    const at::Tensor b = bias.contiguous();
    TORCH_CHECK(w.numel() == x.size(-1) && b.numel() == x.size(-1), "layer_norm: weight and bias have one element per column");
    TORCH_CHECK(w.scalar_type() == x.scalar_type() && b.scalar_type() == x.scalar_type(), "layer_norm: one dtype");
    const at::Tensor y = at::empty_like(x);
    auto sizes = x.sizes().vec();
    sizes.back() = 1;
    const at::Tensor mean = at::empty(sizes, x.options().dtype(at::kFloat));
    const at::Tensor rstd = at::empty_like(mean);
    if (x.numel() == 0) {
        return {y, mean.zero_(), rstd.fill_(std::numeric_limits<double>::quiet_NaN())};
    }
    const float small = static_cast<float>(eps);
    switch (x.scalar_type()) {
        case at::kFloat: launch<float>(x, w, b, y, mean, rstd, small); break;
        case at::kHalf: launch<__half>(x, w, b, y, mean, rstd, small); break;
        case at::kBFloat16: launch<__nv_bfloat16>(x, w, b, y, mean, rstd, small); break;
        default: TORCH_CHECK(false, "layer_norm: dtype ", x.scalar_type(), " is not supported");
    }
    return {y, mean, rstd};
}
}  // namespace

TORCH_LIBRARY_FRAGMENT(ascendops_cuda, m)
{
    m.def("layer_norm(Tensor x, Tensor weight, Tensor bias, float eps=1e-5) -> (Tensor, Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(ascendops_cuda, CUDA, m) { m.impl("layer_norm", layer_norm); }
