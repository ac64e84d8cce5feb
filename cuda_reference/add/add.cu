// y = x1 + x2 in CUDA C++, as a torch extension: torch.ops.ascendops_cuda.add after torch.ops.load_library.
// Contiguous tensors of one shape move 16 bytes per load and store; anything else goes by strides, 0 where an input is
// broadcast. Floating types compute in fp32 and round once, int32 computes as itself.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {
constexpr int kThreads = 256;
constexpr int kMaxDims = 8;

__device__ float widen(float x) { return x; }
__device__ float widen(__half x) { return __half2float(x); }
__device__ float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ int32_t widen(int32_t x) { return x; }

template <typename T, typename C>
__device__ T narrow(C x);
template <>
__device__ float narrow<float>(float x) { return x; }
template <>
__device__ __half narrow<__half>(float x) { return __float2half_rn(x); }
template <>
__device__ __nv_bfloat16 narrow<__nv_bfloat16>(float x) { return __float2bfloat16_rn(x); }
template <>
__device__ int32_t narrow<int32_t>(int32_t x) { return x; }

template <typename T>
struct alignas(16) Pack {
    static constexpr int kCount = 16 / sizeof(T);
    T at[kCount];
};

template <typename T>
__global__ void add_packs(const T *x1, const T *x2, T *y, int64_t n)
{
    const int64_t packs = n / Pack<T>::kCount;
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    const int64_t me = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int64_t i = me; i < packs; i += step) {
        const Pack<T> a = reinterpret_cast<const Pack<T> *>(x1)[i];
        const Pack<T> b = reinterpret_cast<const Pack<T> *>(x2)[i];
        Pack<T> sum;
#pragma unroll
        for (int k = 0; k < Pack<T>::kCount; ++k) {
            sum.at[k] = narrow<T>(widen(a.at[k]) + widen(b.at[k]));
        }
        reinterpret_cast<Pack<T> *>(y)[i] = sum;
    }
    for (int64_t i = packs * Pack<T>::kCount + me; i < n; i += step) {
        y[i] = narrow<T>(widen(x1[i]) + widen(x2[i]));
    }
}

struct Dims {
    int rank;
    int64_t size[kMaxDims];
    int64_t stride1[kMaxDims];
    int64_t stride2[kMaxDims];
};

template <typename T>
__global__ void add_strided(const T *x1, const T *x2, T *y, int64_t n, Dims dims)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        int64_t rest = i;
        int64_t at1 = 0;
        int64_t at2 = 0;
        for (int d = dims.rank - 1; d >= 0; --d) {
            const int64_t index = rest % dims.size[d];
            rest /= dims.size[d];
            at1 += index * dims.stride1[d];
            at2 += index * dims.stride2[d];
        }
        y[i] = narrow<T>(widen(x1[at1]) + widen(x2[at2]));
    }
}

template <typename T>
void launch(const at::Tensor &x1, const at::Tensor &x2, const at::Tensor &y)
{
    const auto *a = static_cast<const T *>(x1.const_data_ptr());
    const auto *b = static_cast<const T *>(x2.const_data_ptr());
    auto *out = static_cast<T *>(y.mutable_data_ptr());
    const int64_t n = y.numel();
    const auto stream = c10::cuda::getCurrentCUDAStream();
    const auto blocks = [](int64_t items) {
        return static_cast<unsigned>(std::min<int64_t>((items + kThreads - 1) / kThreads, 1 << 20));
    };
    const auto aligned = [](const void *p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
    if (x1.sizes() == x2.sizes() && x1.is_contiguous() && x2.is_contiguous() && aligned(a) && aligned(b)) {
        add_packs<T><<<blocks(n / Pack<T>::kCount + 1), kThreads, 0, stream>>>(a, b, out, n);
    } else {
        Dims dims{static_cast<int>(y.dim()), {}, {}, {}};
        const at::Tensor wide1 = x1.expand(y.sizes());
        const at::Tensor wide2 = x2.expand(y.sizes());
        for (int d = 0; d < dims.rank; ++d) {
            dims.size[d] = y.size(d);
            dims.stride1[d] = wide1.stride(d);
            dims.stride2[d] = wide2.stride(d);
        }
        add_strided<T><<<blocks(n), kThreads, 0, stream>>>(a, b, out, n, dims);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

int64_t size_at(const at::Tensor &x, int64_t rank, int64_t d)
{
    const int64_t missing = rank - x.dim();
    return d < missing ? 1 : x.size(d - missing);
}

at::Tensor add(const at::Tensor &x1, const at::Tensor &x2)
{
    TORCH_CHECK(x1.is_cuda() && x2.is_cuda() && x1.scalar_type() == x2.scalar_type(), "add: two CUDA tensors of one dtype");
    const int64_t rank = std::max(x1.dim(), x2.dim());
    TORCH_CHECK(rank <= kMaxDims, "add: at most ", kMaxDims, " dims");
    std::vector<int64_t> shape(rank);
    for (int64_t d = 0; d < rank; ++d) {
        const int64_t a = size_at(x1, rank, d);
        const int64_t b = size_at(x2, rank, d);
        TORCH_CHECK(a == b || a == 1 || b == 1, "add: dim ", d, " is ", a, " and ", b);
        shape[d] = a == 1 ? b : a;
    }
    const c10::cuda::CUDAGuard guard(x1.device());
    const at::Tensor y = at::empty(shape, x1.options());
    if (y.numel() == 0) {
        return y;
    }
    switch (x1.scalar_type()) {
        case at::kFloat: launch<float>(x1, x2, y); break;
        case at::kHalf: launch<__half>(x1, x2, y); break;
        case at::kBFloat16: launch<__nv_bfloat16>(x1, x2, y); break;
        case at::kInt: launch<int32_t>(x1, x2, y); break;
        default: TORCH_CHECK(false, "add: dtype ", x1.scalar_type(), " is not supported");
    }
    return y;
}
}  // namespace

TORCH_LIBRARY_FRAGMENT(ascendops_cuda, m) { m.def("add(Tensor x1, Tensor x2) -> Tensor"); }
TORCH_LIBRARY_IMPL(ascendops_cuda, CUDA, m) { m.impl("add", add); }
