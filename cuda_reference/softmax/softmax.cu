// Softmax over the last dim in CUDA C++, as a torch extension: torch.ops.ascendops_cuda.softmax after torch.ops.load_library.
// Rows that fit the registers of a block are read once, 16 bytes per load. Other rows are cut into parts, so that few long rows keep
// every processor busy: one kernel writes the maximum and the sum of each part, the next joins those of its row and reads the part
// again. Warp shuffles and then shared memory combine what threads have. The arithmetic is fp32, rounded once on the way out. A row of
// -inf, or with a NaN or +inf, is NaN.
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
#include <cfloat>
#include <cstdint>

namespace {
constexpr int kWarp = 32;
constexpr int kMaxThreads = 1024;
constexpr int kPacks = 4;           // 16 bytes each, of a thread
constexpr int kUnroll = 8;          // elements of a thread that are on their way at a time
constexpr int64_t kBlocks = 1056;   // that keep every processor of a large GPU busy
constexpr int64_t kMostRows = 65535;  // blockIdx.y

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
struct alignas(16) Pack {
    static constexpr int kCount = 16 / sizeof(T);
    T at[kCount];
};

// A row of at most N packs for each thread, in registers.
template <typename T, int N>
__global__ void softmax_rows(const T *x, T *y, int packs)
{
    constexpr int count = Pack<T>::kCount;
    const auto *row = reinterpret_cast<const Pack<T> *>(x) + static_cast<int64_t>(blockIdx.x) * packs;
    auto *out = reinterpret_cast<Pack<T> *>(y) + static_cast<int64_t>(blockIdx.x) * packs;
    Pack<T> mine[N];
    Partial part = {-FLT_MAX, 0.0f};
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const int at = i * blockDim.x + threadIdx.x;
        if (at < packs) {
            mine[i] = row[at];
        }
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
        if (i * blockDim.x + threadIdx.x < packs) {
#pragma unroll
            for (int k = 0; k < count; ++k) {
                part.peak = fmaxf(part.peak, widen(mine[i].at[k]));
            }
        }
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
        if (i * blockDim.x + threadIdx.x < packs) {
#pragma unroll
            for (int k = 0; k < count; ++k) {
                part.sum += expf(widen(mine[i].at[k]) - part.peak);
            }
        }
    }
    const Partial all = merge_block(part);
    const float scale = 1.0f / all.sum;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const int at = i * blockDim.x + threadIdx.x;
        if (at < packs) {
            Pack<T> result;
#pragma unroll
            for (int k = 0; k < count; ++k) {
                result.at[k] = narrow<T>(expf(widen(mine[i].at[k]) - all.peak) * scale);
            }
            out[at] = result;
        }
    }
}

template <typename T>
__global__ void part_sums(const T *x, Partial *partials, int64_t columns, int64_t share)
{
    const T *row = x + blockIdx.y * columns;
    const int64_t end = min((blockIdx.x + 1) * share, columns);
    Partial mine = {-FLT_MAX, 0.0f};
    for (int64_t i = blockIdx.x * share + threadIdx.x; i < end; i += kUnroll * blockDim.x) {
        float values[kUnroll];
        float peak = mine.peak;
#pragma unroll
        for (int k = 0; k < kUnroll; ++k) {
            const int64_t at = i + k * static_cast<int64_t>(blockDim.x);
            values[k] = at < end ? widen(row[at]) : -INFINITY;
            peak = fmaxf(peak, values[k]);
        }
        mine.sum *= expf(mine.peak - peak);
        mine.peak = peak;
#pragma unroll
        for (int k = 0; k < kUnroll; ++k) {
            mine.sum += expf(values[k] - peak);
        }
    }
    mine = merge_block(mine);
    if (threadIdx.x == 0) {
        partials[static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x] = mine;
    }
}

template <typename T>
__global__ void part_outputs(const T *x, T *y, const Partial *partials, int64_t columns, int64_t share)
{
    const T *row = x + blockIdx.y * columns;
    T *out = y + blockIdx.y * columns;
    Partial all = {-FLT_MAX, 0.0f};
    for (unsigned i = 0; i < gridDim.x; ++i) {
        all = merge(all, partials[static_cast<int64_t>(blockIdx.y) * gridDim.x + i]);
    }
    const float scale = 1.0f / all.sum;
    const int64_t end = min((blockIdx.x + 1) * share, columns);
#pragma unroll kUnroll
    for (int64_t i = blockIdx.x * share + threadIdx.x; i < end; i += blockDim.x) {
        out[i] = narrow<T>(expf(widen(row[i]) - all.peak) * scale);
    }
}

int threads_for(int64_t items)
{
    return static_cast<int>(std::min<int64_t>(kMaxThreads, (items + kWarp - 1) / kWarp * kWarp));
}

template <typename T>
void launch_parts(const at::Tensor &x, const at::Tensor &y, int64_t rows, int64_t columns)
{
    const int64_t wanted = std::max<int64_t>(1, std::min(kBlocks / rows, columns / (kMaxThreads * kUnroll)));
    const int64_t share = (columns + wanted - 1) / wanted;
    const auto parts = static_cast<unsigned>((columns + share - 1) / share);
    const at::Tensor partials = at::empty({rows, parts, 2}, x.options().dtype(at::kFloat));
    const int threads = threads_for((share + kUnroll - 1) / kUnroll);
    const auto stream = c10::cuda::getCurrentCUDAStream();
    for (int64_t done = 0; done < rows; done += kMostRows) {
        const dim3 grid(parts, static_cast<unsigned>(std::min(kMostRows, rows - done)));
        const T *from = static_cast<const T *>(x.const_data_ptr()) + done * columns;
        auto *sums = reinterpret_cast<Partial *>(partials.mutable_data_ptr<float>()) + done * parts;
        part_sums<T><<<grid, threads, 0, stream>>>(from, sums, columns, share);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        part_outputs<T><<<grid, threads, 0, stream>>>(from, static_cast<T *>(y.mutable_data_ptr()) + done * columns, sums, columns, share);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
}

template <typename T>
void launch(const at::Tensor &x, const at::Tensor &y)
{
    const int64_t columns = x.size(-1);
    const int64_t rows = x.numel() / columns;
    const int64_t packs = columns / Pack<T>::kCount;
    const auto aligned = [](const void *p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
    if (columns % Pack<T>::kCount != 0 || packs > kMaxThreads * kPacks || !aligned(x.const_data_ptr()) || !aligned(y.const_data_ptr())) {
        launch_parts<T>(x, y, rows, columns);
        return;
    }
    softmax_rows<T, kPacks><<<static_cast<unsigned>(rows), threads_for((packs + kPacks - 1) / kPacks), 0, c10::cuda::getCurrentCUDAStream()>>>(
        static_cast<const T *>(x.const_data_ptr()), static_cast<T *>(y.mutable_data_ptr()), static_cast<int>(packs));
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
