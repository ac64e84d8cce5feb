// Softmax over the last dim in CUDA C++, as a torch extension: torch.ops.ascendops_cuda.softmax after torch.ops.load_library.
// Rows that fit the registers of a block are read once, 16 bytes per load. Longer ones, and those that start or end between 16 bytes, are
// cut into parts, so that few long rows keep every processor busy: one kernel writes the maximum and the sum of each part, the next joins
// those of its row and reads the part again. Warp shuffles and then shared memory combine what threads have. The arithmetic is fp32, rounded once on the way out. A row of
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
constexpr int kPartThreads = 256;   // of a part of a row
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

// Consecutive packs of a row: `from` lies at 16 bytes, and elements begin to end from there are the row's. Rows need not start or end at 16
// bytes, so that the first and the last pack may lie partly in their neighbours.
template <typename T>
struct Part {
    const T *from;
    T *to;
    int begin;
    int end;
    bool together;  // `to` lies at 16 bytes, too

    __device__ bool has(int i) const { return i >= begin && i < end; }
};

template <typename T>
__device__ Part<T> part_of_row(const T *x, T *y, int64_t columns, int elements)
{
    const auto before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(x) % 16 / sizeof(T));
    const int64_t start = static_cast<int64_t>(blockIdx.x) * elements - before;
    return {x + start, y + start, static_cast<int>(max(-start, int64_t{0})), static_cast<int>(min(columns - start, static_cast<int64_t>(elements))),
            reinterpret_cast<uintptr_t>(y + start) % 16 == 0};
}

// The pack that begins at element i in float32, -inf where it is not the row's.
template <typename T>
__device__ void load(float (&to)[Pack<T>::kCount], const Part<T> &part, int i)
{
    if (part.has(i) && part.has(i + Pack<T>::kCount - 1)) {
        const auto pack = *reinterpret_cast<const Pack<T> *>(part.from + i);
#pragma unroll
        for (int k = 0; k < Pack<T>::kCount; ++k) {
            to[k] = widen(pack.at[k]);
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < Pack<T>::kCount; ++k) {
        to[k] = part.has(i + k) ? widen(part.from[i + k]) : -INFINITY;
    }
}

template <typename T>
__device__ void store(const Part<T> &part, int i, const float (&from)[Pack<T>::kCount])
{
    if (part.together && part.has(i) && part.has(i + Pack<T>::kCount - 1)) {
        Pack<T> pack;
#pragma unroll
        for (int k = 0; k < Pack<T>::kCount; ++k) {
            pack.at[k] = narrow<T>(from[k]);
        }
        __stcg(reinterpret_cast<uint4 *>(part.to + i), *reinterpret_cast<const uint4 *>(&pack));  // an assignment is compiled as several stores
        return;
    }
#pragma unroll
    for (int k = 0; k < Pack<T>::kCount; ++k) {
        if (part.has(i + k)) {
            part.to[i + k] = narrow<T>(from[k]);
        }
    }
}

// kPacks packs for each thread, in registers. The first kernel (SUMS) writes the maximum and the sum of a part, the second one its outputs.
template <typename T, bool SUMS>
__global__ void __launch_bounds__(kPartThreads) softmax_part(const T *x, T *y, Partial *partials, int64_t columns)
{
    constexpr int count = Pack<T>::kCount;
    constexpr int stride = kPartThreads * count;
    const int64_t at = blockIdx.y * columns;
    const Part<T> part = part_of_row(x + at, y + at, columns, stride * kPacks);
    const int mine = threadIdx.x * count;
    float values[kPacks][count];
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        load(values[i], part, mine + i * stride);
    }
    partials += static_cast<int64_t>(blockIdx.y) * gridDim.x;
    Partial all = {-FLT_MAX, 0.0f};
    if constexpr (SUMS) {
#pragma unroll
        for (int i = 0; i < kPacks; ++i) {
#pragma unroll
            for (int k = 0; k < count; ++k) {
                all.peak = fmaxf(all.peak, values[i][k]);
            }
        }
#pragma unroll
        for (int i = 0; i < kPacks; ++i) {
#pragma unroll
            for (int k = 0; k < count; ++k) {
                all.sum += expf(values[i][k] - all.peak);
            }
        }
        all = merge_block(all);
        if (threadIdx.x == 0) {
            partials[blockIdx.x] = all;
        }
    } else {
        for (unsigned i = threadIdx.x % kWarp; i < gridDim.x; i += kWarp) {
            all = merge(all, partials[i]);
        }
        all = merge_warp(all);
        const float scale = 1.0f / all.sum;
#pragma unroll
        for (int i = 0; i < kPacks; ++i) {
#pragma unroll
            for (int k = 0; k < count; ++k) {
                values[i][k] = expf(values[i][k] - all.peak) * scale;
            }
            store(part, mine + i * stride, values[i]);
        }
    }
}

template <typename T>
void launch_parts(const at::Tensor &x, const at::Tensor &y, int64_t rows, int64_t columns)
{
    const int64_t share = kPartThreads * kPacks * Pack<T>::kCount;
    const auto parts = static_cast<unsigned>((columns + Pack<T>::kCount - 1 + share - 1) / share);  // with what lies before the row in its first pack
    const at::Tensor partials = at::empty({rows, parts, 2}, x.options().dtype(at::kFloat));
    const auto stream = c10::cuda::getCurrentCUDAStream();
    for (int64_t done = 0; done < rows; done += kMostRows) {
        const dim3 grid(parts, static_cast<unsigned>(std::min(kMostRows, rows - done)));
        const T *from = static_cast<const T *>(x.const_data_ptr()) + done * columns;
        T *to = static_cast<T *>(y.mutable_data_ptr()) + done * columns;
        auto *sums = reinterpret_cast<Partial *>(partials.mutable_data_ptr<float>()) + done * parts;
        softmax_part<T, true><<<grid, kPartThreads, 0, stream>>>(from, to, sums, columns);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        softmax_part<T, false><<<grid, kPartThreads, 0, stream>>>(from, to, sums, columns);
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
    const auto threads = static_cast<unsigned>(((packs + kPacks - 1) / kPacks + kWarp - 1) / kWarp * kWarp);
    softmax_rows<T, kPacks><<<static_cast<unsigned>(rows), threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
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
