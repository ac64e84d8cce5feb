// y = a @ b for each matrix of a batch in CUDA C++, as a torch extension: torch.ops.ascendops_cuda.batched_matmul after
// torch.ops.load_library. A thread block computes a tile of a product from tiles of a and b in shared memory; while it works on one depth
// of them, cp.async brings the next ones. float16 and bfloat16 are multiplied by tensor cores: by wgmma where the file is compiled for
// sm_90a, straight from shared memory, elsewhere by mma.sync. float32 is multiplied by plain FMAs, without TF32, a square of 8 x 8 per
// thread. The sums are fp32, added in the order of k, and rounded once on the way out. Blocks that run at the same time share rows and
// columns, so that most of what they read lies in the L2.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace {
constexpr int kWarp = 32;
constexpr int kTall = 128;  // rows of a tile of results
constexpr int kWide = 128;  // its columns
constexpr int kTurns = 8;   // tiles of rows that take turns before the next columns

template <typename T>
struct alignas(16) Pack {
    static constexpr int kCount = 16 / sizeof(T);
    T at[kCount];
};

template <typename T>
struct alignas(2 * sizeof(T)) Pair {
    T first;
    T second;
};

// A tile in shared memory. Its packs are swapped within groups of eight, row by row in another order, so that eight packs of a column, or of a
// row, lie in different banks.
template <typename T, int ROWS, int COLUMNS>
struct Tile {
    static constexpr int kPacks = COLUMNS / Pack<T>::kCount;  // of a row
    static constexpr int kSwapped = kPacks < 8 ? kPacks : 8;
    Pack<T> packs[ROWS * kPacks];

    __device__ Pack<T> &at(int row, int pack) { return packs[row * kPacks + (pack ^ (row * kSwapped / 8 % kSwapped))]; }
};

__device__ uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Starts to copy the part of a matrix that lies under a tile: `height` rows and `width` columns of it exist, the others become 0. ALIGNED: rows
// start at 16 bytes, and pack after pack is copied while the threads go on.
template <bool ALIGNED, int THREADS, typename T, int ROWS, int COLUMNS>
__device__ void fetch(Tile<T, ROWS, COLUMNS> &tile, const T *from, int64_t stride, int64_t height, int64_t width)
{
    constexpr int packs = Tile<T, ROWS, COLUMNS>::kPacks;
    constexpr int step = THREADS / packs;  // rows at a time
    static_assert(step % 8 == 0 && ROWS % step == 0, "a thread's packs are swapped alike");
    const int column = threadIdx.x % packs * Pack<T>::kCount;
    int row = threadIdx.x / packs;
    Pack<T> *to = &tile.at(row, threadIdx.x % packs);
    const T *at = from + row * stride + column;
#pragma unroll
    for (int i = 0; i < ROWS / step; ++i, row += step, to += step * packs, at += step * stride) {
        if constexpr (ALIGNED) {
            const bool inside = row < height && column < width;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(inside ? at : from), "r"(inside ? 16 : 0));
        } else {
#pragma unroll
            for (int k = 0; k < Pack<T>::kCount; ++k) {
                to->at[k] = row < height && column + k < width ? at[k] : T(0.0f);
            }
        }
    }
}

__device__ void commit() { asm volatile("cp.async.commit_group;"); }

template <int PENDING>
__device__ void wait_for_others()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma reads shared memory another way than threads write it
#endif
    __syncthreads();
}

template <bool ALIGNED, typename T>
__device__ void store(T *to, const Pack<T> &pack, int64_t width)
{
    if (ALIGNED && width >= Pack<T>::kCount) {
        *reinterpret_cast<Pack<T> *>(to) = pack;
        return;
    }
#pragma unroll
    for (int k = 0; k < Pack<T>::kCount; ++k) {
        if (k < width) {
            to[k] = pack.at[k];
        }
    }
}

// Which results a thread block computes, and the matrices that they come from.
template <typename T>
struct Work {
    const T *a;
    const T *b;
    T *y;
    int64_t height;  // rows that are left
    int64_t width;
};

template <typename T>
__device__ Work<T> work_of_block(const T *a, const T *b, T *y, int64_t m, int64_t n, int64_t k)
{
    const auto high = static_cast<unsigned>((m + kTall - 1) / kTall);
    const auto across = static_cast<unsigned>((n + kWide - 1) / kWide);
    const unsigned block = blockIdx.x % (high * across);
    const int64_t product = blockIdx.x / (high * across);
    const unsigned first = block / (kTurns * across) * kTurns;
    const unsigned turns = min(static_cast<unsigned>(kTurns), high - first);
    const int64_t row = static_cast<int64_t>(first + block % (kTurns * across) % turns) * kTall;
    const int64_t column = static_cast<int64_t>(block % (kTurns * across) / turns) * kWide;
    return {a + product * m * k + row * k, b + product * k * n + column, y + product * m * n + row * n + column, m - row, n - column};
}

// For all of k, in order: begin(tile of a, tiles of b side by side), copies for a later step are started, end(the same tiles).
template <bool ALIGNED, int THREADS, typename T, int STAGES, int ROWS, int DEPTH, int COLUMNS, int BESIDE, typename Begin, typename End>
__device__ void for_all_depths(
    Tile<T, ROWS, DEPTH> (&left)[STAGES], Tile<T, DEPTH, COLUMNS> (&right)[STAGES][BESIDE], const Work<T> &work, int64_t n, int64_t k, Begin begin, End end)
{
    const int steps = static_cast<int>((k + DEPTH - 1) / DEPTH);
    const auto start = [&](int step) {
        const int64_t at = static_cast<int64_t>(step) * DEPTH;
        if (step < steps) {
            fetch<ALIGNED, THREADS>(left[step % STAGES], work.a + at, k, work.height, k - at);
#pragma unroll
            for (int i = 0; i < BESIDE; ++i) {
                fetch<ALIGNED, THREADS>(right[step % STAGES][i], work.b + at * n + i * COLUMNS, n, k - at, work.width - i * COLUMNS);
            }
        }
        commit();
    };
    for (int step = 0; step < STAGES - 1; ++step) {
        start(step);
    }
    for (int step = 0; step < steps; ++step) {
        wait_for_others<STAGES - 2>();
        begin(left[step % STAGES], right[step % STAGES]);
        start(step + STAGES - 1);  // to where all have done with the step before this one
        end(left[step % STAGES], right[step % STAGES]);
    }
}

namespace tensor {
constexpr int kDepth = 64;    // 128 bytes, so that eight rows of a tile are what wgmma calls a core matrix, swapped by 128 bytes
constexpr int kColumns = 64;  // of a tile of b, for the same reason
constexpr int kStages = 3;
constexpr int kGroup = 4 * kWarp;
constexpr int kThreads = 2 * kGroup;  // each group has half of the rows

template <typename T>
struct Memory {
    Tile<T, kTall, kDepth> left[kStages];
    Tile<T, kDepth, kColumns> right[kStages][kWide / kColumns];
};

#define TEN(n) "%" #n "0, %" #n "1, %" #n "2, %" #n "3, %" #n "4, %" #n "5, %" #n "6, %" #n "7, %" #n "8, %" #n "9, "
#define EIGHT(i) \
    "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3]), "+f"(sums[i + 1][0]), "+f"(sums[i + 1][1]), "+f"(sums[i + 1][2]), "+f"(sums[i + 1][3])
#define WGMMA(type) \
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" \
                 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60, %61, %62, %63}, %64, %65, add, 1, 1, 0, 1; }" \
                 : EIGHT(0), EIGHT(2), EIGHT(4), EIGHT(6), EIGHT(8), EIGHT(10), EIGHT(12), EIGHT(14) : "l"(a), "l"(b))

// Where wgmma finds a matrix: core matrices of 1024 bytes, the next of them in the other direction `beside` bytes away.
__device__ uint64_t described(const void *first, uint64_t beside)
{
    return (shared_address(first) & 0x3ffff) >> 4 | beside / 16 << 16 | uint64_t{1024 / 16} << 32 | uint64_t{1} << 62;
}

// sums [64, 128] += 64 rows of left from `down` on @ right, spread over the threads of a group: thread t has in row t / 32 * 16 + t % 32 / 4 the
// columns t % 4 * 2 and one more of every eight, and the same eight rows below. finish waits for what is still being made.
template <typename T>
__device__ void add_product(float (&sums)[kWide / 8][4], Tile<T, kTall, kDepth> &left, Tile<T, kDepth, kColumns> *right, int down)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int at = 0; at < kDepth; at += 16) {
        const uint64_t a = described(&left.packs[down * (kDepth / Pack<T>::kCount)], 16) + at * sizeof(T) / 16;
        const uint64_t b = described(&right->packs[at * (kColumns / Pack<T>::kCount)], sizeof(*right));
        if constexpr (std::is_same_v<T, __half>) {
            WGMMA("f16");
        } else {
            WGMMA("bf16");
        }
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
    const int lane = threadIdx.x % kWarp;
    const int row = down + threadIdx.x % kGroup / kWarp * 16 + lane % 16;
#pragma unroll
    for (int at = 0; at < kDepth; at += 16) {
        uint32_t a[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(shared_address(&left.at(row, at / Pack<T>::kCount + lane / 16))) : "memory");
#pragma unroll
        for (int j = 0; j < kWide / 8; ++j) {
            uint32_t b[2];
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                         : "=r"(b[0]), "=r"(b[1]) : "r"(shared_address(&right[j * 8 / kColumns].at(at + lane % 16, j % (kColumns / 8)))) : "memory");
            if constexpr (std::is_same_v<T, __half>) {
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
            } else {
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
            }
        }
    }
#endif
}

__device__ void finish()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}

template <typename T, bool ALIGNED>
__global__ void __launch_bounds__(kThreads, 2) product(const T *a, const T *b, T *y, int64_t m, int64_t n, int64_t k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    auto &tiles = *reinterpret_cast<Memory<T> *>(memory);
    const Work<T> work = work_of_block(a, b, y, m, n, k);
    const int down = threadIdx.x / kGroup * (kTall / 2);
    constexpr int count = Pack<T>::kCount;
    float sums[kWide / 8][4] = {};
    for_all_depths<ALIGNED, kThreads>(
        tiles.left, tiles.right, work, n, k, [&](auto &left, auto &right) { add_product(sums, left, right, down); }, [](auto &, auto &) { finish(); });
    wait_for_others<0>();
    auto &out = *reinterpret_cast<Tile<T, kTall, kWide> *>(memory);  // a thread has two neighbours of a row: whole packs are stored from here
    static_assert(sizeof(out) <= sizeof(tiles));
    const int lane = threadIdx.x % kWarp;
    const int row = down + threadIdx.x % kGroup / kWarp * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < kWide / 8; ++j) {
        for (int below = 0; below < 2; ++below) {
            *reinterpret_cast<Pair<T> *>(&out.at(row + below * 8, j * 8 / count).at[lane % 4 * 2]) = {T(sums[j][below * 2]), T(sums[j][below * 2 + 1])};
        }
    }
    __syncthreads();
#pragma unroll 4
    for (int i = threadIdx.x; i < kTall * kWide / count; i += kThreads) {
        const int from = i / (kWide / count);
        const int column = i % (kWide / count) * count;
        if (from < work.height) {
            store<ALIGNED>(work.y + from * n + column, out.at(from, column / count), work.width - column);
        }
    }
}
}  // namespace tensor

namespace plain {
constexpr int kDepth = 32;
constexpr int kStages = 2;
constexpr int kThreads = 256;
constexpr int kSide = 8;  // results of a thread in each direction: every 16th row, and four neighbours in each half of the columns

struct Memory {
    Tile<float, kTall, kDepth> left[kStages];
    Tile<float, kDepth, kWide> right[kStages][1];
};

template <bool ALIGNED>
__global__ void __launch_bounds__(kThreads, 2) product(const float *a, const float *b, float *y, int64_t m, int64_t n, int64_t k)
{
    extern __shared__ Pack<float> memory[];
    auto &tiles = *reinterpret_cast<Memory *>(memory);
    const Work<float> work = work_of_block(a, b, y, m, n, k);
    const int warp = threadIdx.x / kWarp;  // of 4 x 8 threads
    const int down = warp / 2 * 4 + threadIdx.x % kWarp / 8;
    const int across = warp % 2 * 8 + threadIdx.x % 8;
    float sums[kSide][kSide] = {};
    const auto multiply = [&](auto &left, auto &right) {
#pragma unroll
        for (int at = 0; at < kDepth; at += 4) {
            Pack<float> of_a[kSide];
#pragma unroll
            for (int i = 0; i < kSide; ++i) {
                of_a[i] = left.at(down + i * 16, at / 4);
            }
#pragma unroll
            for (int d = 0; d < 4; ++d) {
                const Pack<float> of_b[2] = {right[0].at(at + d, across), right[0].at(at + d, 16 + across)};
#pragma unroll
                for (int i = 0; i < kSide; ++i) {
#pragma unroll
                    for (int j = 0; j < kSide; ++j) {
                        sums[i][j] = fmaf(of_a[i].at[d], of_b[j / 4].at[j % 4], sums[i][j]);
                    }
                }
            }
        }
    };
    for_all_depths<ALIGNED, kThreads>(tiles.left, tiles.right, work, n, k, [](auto &, auto &) {}, multiply);
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
        const int row = down + i * 16;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int column = half * 64 + across * 4;
            if (row < work.height) {
                store<ALIGNED>(work.y + row * n + column, {sums[i][half * 4], sums[i][half * 4 + 1], sums[i][half * 4 + 2], sums[i][half * 4 + 3]}, work.width - column);
            }
        }
    }
}
}  // namespace plain

template <typename T, typename Kernel>
void launch(Kernel kernel, int threads, size_t bytes, const at::Tensor &a, const at::Tensor &b, const at::Tensor &y)
{
    const int64_t m = a.size(-2);
    const int64_t n = b.size(-1);
    const int64_t blocks = (m + kTall - 1) / kTall * ((n + kWide - 1) / kWide) * (y.numel() / (m * n));
    TORCH_CHECK(blocks <= std::numeric_limits<int32_t>::max(), "batched_matmul: ", blocks, " tiles of results are more than a launch has blocks");
    C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    kernel<<<static_cast<unsigned>(blocks), threads, bytes, c10::cuda::getCurrentCUDAStream()>>>(
        static_cast<const T *>(a.const_data_ptr()), static_cast<const T *>(b.const_data_ptr()), static_cast<T *>(y.mutable_data_ptr()), m, n, a.size(-1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <typename T>
void launch(const at::Tensor &a, const at::Tensor &b, const at::Tensor &y)
{
    const auto whole = [](int64_t size) { return size * sizeof(T) % 16 == 0; };
    const auto starts = [](const at::Tensor &t) { return reinterpret_cast<uintptr_t>(t.const_data_ptr()) % 16 == 0; };
    const bool aligned = whole(a.size(-1)) && whole(b.size(-1)) && starts(a) && starts(b) && starts(y);
    if constexpr (std::is_same_v<T, float>) {
        launch<T>(aligned ? plain::product<true> : plain::product<false>, plain::kThreads, sizeof(plain::Memory), a, b, y);
    } else {
        launch<T>(aligned ? tensor::product<T, true> : tensor::product<T, false>, tensor::kThreads, sizeof(tensor::Memory<T>), a, b, y);
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
    if (a.size(-1) == 0) {
        return at::zeros(shape, a.options());
    }
    const at::Tensor y = at::empty(shape, a.options());
    if (y.numel() == 0) {
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
