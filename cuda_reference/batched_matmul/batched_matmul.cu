// y = a @ b for each matrix of a batch in CUDA C++, as a torch extension: torch.ops.ascendops_cuda.batched_matmul after
// torch.ops.load_library. A thread block computes a square of 64 x 64 results from squares of a and b in shared memory, a thread 4 x 4
// of them. The sums are fp32, added in the order of k, and rounded once on the way out.
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>

namespace {
constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kSide = 4;  // results of a thread, in each direction
constexpr int kThreads = (kTile / kSide) * (kTile / kSide);
constexpr int64_t kMostProducts = 65535;  // blockIdx.z

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

template <typename T>
__global__ void product(const T *a, const T *b, T *y, int64_t m, int64_t n, int64_t k)
{
    __shared__ float left[kDepth][kTile + 1];
    __shared__ float right[kDepth][kTile];
    a += blockIdx.z * m * k;
    b += blockIdx.z * k * n;
    y += blockIdx.z * m * n;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * kTile;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * kTile;
    const int down = threadIdx.x / (kTile / kSide) * kSide;
    const int across = threadIdx.x % (kTile / kSide) * kSide;
    float sums[kSide][kSide] = {};
    for (int64_t start = 0; start < k; start += kDepth) {
        for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
            const int64_t r = row + i / kDepth;
            const int64_t at = start + i % kDepth;
            left[i % kDepth][i / kDepth] = r < m && at < k ? widen(a[r * k + at]) : 0.0f;
        }
        for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
            const int64_t c = column + i % kTile;
            const int64_t at = start + i / kTile;
            right[i / kTile][i % kTile] = c < n && at < k ? widen(b[at * n + c]) : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < kDepth; ++d) {
#pragma unroll
            for (int i = 0; i < kSide; ++i) {
#pragma unroll
                for (int j = 0; j < kSide; ++j) {
                    sums[i][j] = fmaf(left[d][down + i], right[d][across + j], sums[i][j]);
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < kSide; ++i) {
        for (int j = 0; j < kSide; ++j) {
            if (row + down + i < m && column + across + j < n) {
                y[(row + down + i) * n + column + across + j] = narrow<T>(sums[i][j]);
            }
        }
    }
}

template <typename T>
void launch(const at::Tensor &a, const at::Tensor &b, const at::Tensor &y)
{
    const int64_t m = a.size(-2);
    const int64_t k = a.size(-1);
    const int64_t n = b.size(-1);
    const int64_t products = y.numel() / (m * n);
    const auto blocks = [](int64_t size) { return static_cast<unsigned>((size + kTile - 1) / kTile); };
    for (int64_t done = 0; done < products; done += kMostProducts) {
        const dim3 grid(blocks(n), blocks(m), static_cast<unsigned>(std::min(kMostProducts, products - done)));
        product<T><<<grid, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
            static_cast<const T *>(a.const_data_ptr()) + done * m * k, static_cast<const T *>(b.const_data_ptr()) + done * k * n,
            static_cast<T *>(y.mutable_data_ptr()) + done * m * n, m, n, k);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
}

at::Tensor batched_matmul(const at::Tensor &left, const at::Tensor &right)
{
    TORCH_CHECK(left.is_cuda() && right.is_cuda() && left.dim() >= 2 && right.dim() == left.dim(),
                "batched_matmul: CUDA tensors of at least two dims");
    TORCH_CHECK(left.size(-1) == right.size(-2) && left.scalar_type() == right.scalar_type(),
                "batched_matmul: columns of a against rows of b, of one dtype");
    const c10::cuda::CUDAGuard guard(left.device());
    const at::Tensor a = left.contiguous();
    const at::Tensor b = right.contiguous();
    auto shape = a.sizes().vec();
    shape.back() = b.size(-1);
    const at::Tensor y = at::zeros(shape, a.options());
    if (y.numel() == 0 || a.size(-1) == 0) {
        return y;
    }
    switch (a.scalar_type()) {
        case at::kFloat: launch<float>(a, b, y); break;
        case at::kHalf: launch<__half>(a, b, y); break;
        case at::kBFloat16: launch<__nv_bfloat16>(a, b, y); break;
        default: TORCH_CHECK(false, "batched_matmul: dtype ", a.scalar_type(), " is not supported");
    }
    return y;
}
}  // namespace

TORCH_LIBRARY_FRAGMENT(ascendops_cuda, m) { m.def("batched_matmul(Tensor a, Tensor b) -> Tensor"); }
TORCH_LIBRARY_IMPL(ascendops_cuda, CUDA, m) { m.impl("batched_matmul", batched_matmul); }
