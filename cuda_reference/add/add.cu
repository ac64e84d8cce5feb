// y = x1 + x2 in CUDA C++, as a torch extension: torch.ops.ascendops_cuda.add after torch.ops.load_library.
// Dims that broadcast alike are merged. A thread moves 16 bytes per load and store where rows allow it, and goes by strides, 0 where an
// input is broadcast. Floating types compute in fp32 and round once, int32 computes as itself.
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

template <typename T, int N>
struct alignas(N * sizeof(T)) Pack {
    T at[N];
};

struct Dims {
    int rank;
    int64_t size[kMaxDims];  // the last in packs
    int64_t stride1[kMaxDims];
    int64_t stride2[kMaxDims];
};

// N elements from x, or N times one element where the last dim is broadcast.
template <typename T, int N>
__device__ Pack<T, N> load(const T *x, bool moves)
{
    if (moves) {
        return *reinterpret_cast<const Pack<T, N> *>(x);
    }
    Pack<T, N> pack;
#pragma unroll
    for (int k = 0; k < N; ++k) {
        pack.at[k] = *x;
    }
    return pack;
}

template <typename T, int N, typename Index>
__global__ void add_packs(const T *x1, const T *x2, T *y, Index packs, Dims dims)
{
    const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
    const int last = dims.rank - 1;
    for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < packs; i += step) {
        Index rest = i;
        int64_t at1 = 0;
        int64_t at2 = 0;
        for (int d = last; d > 0; --d) {
            const Index size = static_cast<Index>(dims.size[d]);
            const Index index = rest % size * (d == last ? N : 1);
            rest /= size;
            at1 += index * dims.stride1[d];
            at2 += index * dims.stride2[d];
        }
        rest *= last == 0 ? N : 1;
        const Pack<T, N> a = load<T, N>(x1 + at1 + rest * dims.stride1[0], dims.stride1[last] != 0);
        const Pack<T, N> b = load<T, N>(x2 + at2 + rest * dims.stride2[0], dims.stride2[last] != 0);
        Pack<T, N> sum;
#pragma unroll
        for (int k = 0; k < N; ++k) {
            sum.at[k] = narrow<T>(widen(a.at[k]) + widen(b.at[k]));
        }
        reinterpret_cast<Pack<T, N> *>(y)[i] = sum;
    }
}

// The dims of y that are not 1, those that broadcast alike as one.
Dims merged(const at::Tensor &x1, const at::Tensor &x2, const at::Tensor &y)
{
    Dims dims{};
    const at::Tensor wide1 = x1.expand(y.sizes());
    const at::Tensor wide2 = x2.expand(y.sizes());
    for (int64_t d = 0; d < y.dim(); ++d) {
        const int64_t size = y.size(d);
        const int before = dims.rank - 1;
        if (size == 1) {
            continue;
        }
        if (before >= 0 && dims.stride1[before] == size * wide1.stride(d) && dims.stride2[before] == size * wide2.stride(d)) {
            dims.size[before] *= size;
            dims.stride1[before] = wide1.stride(d);
            dims.stride2[before] = wide2.stride(d);
            continue;
        }
        dims.size[dims.rank] = size;
        dims.stride1[dims.rank] = wide1.stride(d);
        dims.stride2[dims.rank] = wide2.stride(d);
        ++dims.rank;
    }
    if (dims.rank == 0) {
        dims = {1, {1}, {1}, {1}};
    }
    return dims;
}

template <typename T, int N>
void launch_packs(const T *x1, const T *x2, T *y, int64_t n, Dims dims)
{
    dims.size[dims.rank - 1] /= N;
    const int64_t packs = n / N;
    const auto blocks = static_cast<unsigned>(std::min<int64_t>((packs + kThreads - 1) / kThreads, 1 << 20));
    const auto stream = c10::cuda::getCurrentCUDAStream();
    if (packs + static_cast<int64_t>(blocks) * kThreads <= UINT32_MAX) {  // divisions of 32 bits are several times faster
        add_packs<T, N, uint32_t><<<blocks, kThreads, 0, stream>>>(x1, x2, y, static_cast<uint32_t>(packs), dims);
    } else {
        add_packs<T, N, int64_t><<<blocks, kThreads, 0, stream>>>(x1, x2, y, packs, dims);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// Whether every pack of N elements that is read starts at a multiple of its size.
template <typename T, int N>
bool aligned(const void *x, const int64_t *strides, int rank)
{
    bool fits = strides[rank - 1] == 0 || (strides[rank - 1] == 1 && reinterpret_cast<uintptr_t>(x) % (N * sizeof(T)) == 0);
    for (int d = 0; d < rank - 1 && strides[rank - 1] != 0; ++d) {
        fits = fits && strides[d] % N == 0;
    }
    return fits;
}

template <typename T>
void launch(const at::Tensor &x1, const at::Tensor &x2, const at::Tensor &y)
{
    constexpr int kCount = 16 / sizeof(T);
    const auto *a = static_cast<const T *>(x1.const_data_ptr());
    const auto *b = static_cast<const T *>(x2.const_data_ptr());
    auto *out = static_cast<T *>(y.mutable_data_ptr());
    const Dims dims = merged(x1, x2, y);
    const bool packs = dims.size[dims.rank - 1] % kCount == 0 && aligned<T, kCount>(a, dims.stride1, dims.rank) &&
                       aligned<T, kCount>(b, dims.stride2, dims.rank) && reinterpret_cast<uintptr_t>(out) % 16 == 0;
    if (packs) {
        launch_packs<T, kCount>(a, b, out, y.numel(), dims);
    } else {
        launch_packs<T, 1>(a, b, out, y.numel(), dims);
    }
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
