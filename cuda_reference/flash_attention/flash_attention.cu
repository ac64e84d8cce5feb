// out = softmax(scale * q k^T) v and the logarithm of the softmax's sums in CUDA C++, as a torch extension:
// torch.ops.ascendops_cuda.flash_attention after torch.ops.load_library.
// float16 and bfloat16: tensor cores with fp32 sums, by wgmma where the file is compiled for sm_90a, elsewhere by mma.sync. Eight warps have
// 128 queries; their scores, their running maximum and sum, and what is added up of v stay in registers. While four warps soften scores, tensor
// cores multiply for others. Keys and values come block by block to shared memory with cp.async, one block ahead.
// float32: the same in fp32 without tensor cores, a square of scores per thread. Head sizes up to 256.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/zeros_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/library.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace {
constexpr int kWarp = 32;
constexpr int kKeys = 64;        // of a block
constexpr int kQueries = 16;     // the rows of one mma
constexpr int kWarps = 8;
constexpr int kGroup = 4;       // warps that wgmma makes one product for
constexpr int kRows = kQueries * kWarps;
constexpr int kThreads = kWarp * kWarps;
constexpr int kVector = 8;       // halves of 16 bytes
constexpr int kBuffers = 2;
constexpr float kLog2e = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;
constexpr int64_t kMostHeads = 65535;  // blockIdx.y

struct Problem {
    const void *q;
    const void *k;
    const void *v;
    void *out;
    float *lse;
    int64_t first_head;  // of this launch
    int heads;
    int group;  // query heads that share a head of keys
    int sq;
    int skv;
    int d;
    float factor;  // scale * log2(e): e^x is 2^(x log2(e))
    bool causal;
    bool vectors;  // rows start at multiples of 16 bytes
};

// Where one head's tensors start.
template <typename T>
struct Head {
    const T *q;
    const T *k;
    const T *v;
    T *out;
    float *lse;

    __device__ explicit Head(const Problem &p)
    {
        const int64_t head = p.first_head + blockIdx.y;
        const int64_t kv = head / p.heads * (p.heads / p.group) + head % p.heads / p.group;
        const int64_t queries = head * p.sq;
        q = static_cast<const T *>(p.q) + queries * p.d;
        k = static_cast<const T *>(p.k) + kv * p.skv * p.d;
        v = static_cast<const T *>(p.v) + kv * p.skv * p.d;
        out = static_cast<T *>(p.out) + queries * p.d;
        lse = p.lse + queries;
    }
};

// Keys that some row below `end` sees.
__device__ int visible_keys(const Problem &p, int end) { return p.causal ? min(p.skv, end) : p.skv; }

// ---- tensor cores ----

constexpr int kColumns = 64;  // of a tile: 128 bytes

// Rows of a head in shared memory, 64 columns of them. Packs of 16 bytes are swapped within a row, row by row in another order, as wgmma reads them:
// eight packs of a column lie in different banks.
template <typename T, int ROWS>
struct Tile {
    T at[ROWS * kColumns];

    __device__ T *pack(int row, int number) { return at + row * kColumns + (number ^ row % 8) * kVector; }
    __device__ const T *pack(int row, int number) const { return at + row * kColumns + (number ^ row % 8) * kVector; }
};

__device__ uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define FOUR(i) "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
#define SUMS \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define SCORES(type) \
    asm volatile("{ .reg .pred add; setp.ne.u32 add, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " " SUMS ", %32, %33, add, 1, 1, 0, 0; }" \
                 : FOUR(0), FOUR(1), FOUR(2), FOUR(3), FOUR(4), FOUR(5), FOUR(6), FOUR(7) : "l"(described(q)), "l"(described(k)), "r"(add))
#define VALUES(type) \
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " " SUMS ", {%32, %33, %34, %35}, %36, add, 1, 1, 1; }" \
                 : FOUR(0), FOUR(1), FOUR(2), FOUR(3), FOUR(4), FOUR(5), FOUR(6), FOUR(7) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(described(v)))

// Where wgmma finds a matrix: rows of 128 bytes, swapped, in groups of eight.
__device__ uint64_t described(const void *first)
{
    return (shared_address(first) & 0x3ffff) >> 4 | uint64_t{1} << 16 | uint64_t{1024 / 16} << 32 | uint64_t{1} << 62;
}

// sums [64, 64 keys] = or += 16 columns of q and k, from their rows on.
template <typename T>
__device__ void add_scores(float (&sums)[kKeys / 8][4], const T *q, const T *k, int add)
{
    if constexpr (std::is_same_v<T, __half>) {
        SCORES("f16");
    } else {
        SCORES("bf16");
    }
}

// sums [64, 64 columns of v] += weights a of 16 keys, and these keys' rows of v.
template <typename T>
__device__ void add_values(float (&sums)[kColumns / 8][4], const uint32_t (&a)[4], const T *v)
{
    if constexpr (std::is_same_v<T, __half>) {
        VALUES("f16");
    } else {
        VALUES("bf16");
    }
}

__device__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ void wait_for_products() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
#else
template <bool TURNED>
__device__ void load_fragments(uint32_t (&to)[4], const void *row)
{
    if constexpr (TURNED) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)) : "memory");
    }
}

template <typename T>
__device__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    if constexpr (std::is_same_v<T, __half>) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
}

// The row of a tile that starts at a multiple of eight rows, `row` further, and the pack that lies `pack` after the one at `first`.
template <typename T>
__device__ const T *beside(const T *first, int row, int pack)
{
    const auto number = static_cast<int>(shared_address(first) % (kColumns * sizeof(T)) / 16) + pack;
    const T *start = first - shared_address(first) % (kColumns * sizeof(T)) / sizeof(T);
    return start + row * kColumns + (number ^ row % 8) * kVector;
}

template <typename T>
__device__ void add_scores(float (&sums)[kKeys / 8][4], const T *q, const T *k, int add)
{
    const int lane = threadIdx.x % kWarp;
    uint32_t a[4];
    load_fragments<false>(a, beside(q, threadIdx.x / kWarp % kGroup * kQueries + lane % 16, lane / 16));
#pragma unroll
    for (int n = 0; n < kKeys / 16; ++n) {
        uint32_t b[4];
        load_fragments<false>(b, beside(k, n * 16 + lane / 16 * 8 + lane % 8, lane / 8 % 2));
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                sums[2 * n + half][c] = add ? sums[2 * n + half][c] : 0.0f;
            }
            multiply<T>(sums[2 * n + half], a, b[2 * half], b[2 * half + 1]);
        }
    }
}

template <typename T>
__device__ void add_values(float (&sums)[kColumns / 8][4], const uint32_t (&a)[4], const T *v)
{
    const int lane = threadIdx.x % kWarp;
#pragma unroll
    for (int n = 0; n < kColumns / 16; ++n) {
        uint32_t b[4];
        load_fragments<true>(b, beside(v, lane % 16, n * 2 + lane / 16));
        multiply<T>(sums[2 * n], a, b[0], b[1]);
        multiply<T>(sums[2 * n + 1], a, b[2], b[3]);
    }
}

__device__ void begin_products() {}
__device__ void end_products() {}
__device__ void wait_for_products() {}
#endif

template <typename T>
__device__ uint32_t pack(float low, float high)
{
    uint32_t bits;
    if constexpr (std::is_same_v<T, __half>) {
        const __half2 pair = __floats2half2_rn(low, high);
        memcpy(&bits, &pair, sizeof bits);
    } else {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
        memcpy(&bits, &pair, sizeof bits);
    }
    return bits;
}

// `count` rows of a head to tiles side by side, zeros beyond rows and columns. Copies of vectors are asynchronous.
template <typename T, int ROWS, int BESIDE>
__device__ void copy_rows(Tile<T, ROWS> (&to)[BESIDE], const T *from, int count, const Problem &p)
{
    constexpr int packs = BESIDE * kColumns / kVector;  // of a row
    constexpr int step = kThreads / packs;              // rows at a time
    static_assert(step % 8 == 0 && ROWS % step == 0, "a thread's packs are swapped alike");
    const int d = p.d;
    const int column = threadIdx.x % packs * kVector;
    int row = threadIdx.x / packs;
    T *place = to[column / kColumns].pack(row, column % kColumns / kVector);
    const T *source = from + static_cast<int64_t>(row) * d + column;
#pragma unroll
    for (int i = 0; i < ROWS / step; ++i, row += step, place += step * kColumns, source += static_cast<int64_t>(step) * d) {
        if (p.vectors) {
            const bool inside = row < count && column < d;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(place)), "l"(inside ? source : from), "r"(inside ? 16 : 0) : "memory");
        } else {
#pragma unroll
            for (int k = 0; k < kVector; ++k) {
                place[k] = row < count && column + k < d ? source[k] : T(0.0f);
            }
        }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ void wait_for_copies()
{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma reads shared memory another way than threads write it
#endif
    __syncthreads();
}

// Running maximum and sum of the two rows of a tile of 16 that a thread shares with three neighbours: lane / 4 and lane / 4 + 8.
struct Rows {
    float peak[2] = {-FLT_MAX, -FLT_MAX};
    float sum[2] = {0.0f, 0.0f};
};

__device__ float max_of_row(float x)
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ float sum_of_row(float x)
{
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

__device__ float power_of_two(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// The weights of a block of scores, in place; what was added up before shrinks when the maximum of a row grows.
template <int D>
__device__ void soften(float (&scores)[kKeys / 8][4], float (&acc)[D / kColumns][kColumns / 8][4], Rows &state, const Problem &p, int start, int row, bool cut)
{
    const int lane = threadIdx.x % kWarp;
    if (cut) {
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int key = start + n * 8 + lane % 4 * 2 + c % 2;
                scores[n][c] = key >= p.skv || (p.causal && key > row + c / 2 * 8) ? -INFINITY : scores[n][c];
            }
        }
    }
    float peak[2] = {-FLT_MAX, -FLT_MAX};
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            peak[c / 2] = fmaxf(peak[c / 2], scores[n][c]);
        }
    }
    float shrink[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        peak[r] = fmaxf(state.peak[r], max_of_row(peak[r]) * p.factor);  // factor > 0
        shrink[r] = power_of_two(state.peak[r] - peak[r]);
        state.peak[r] = peak[r];
        state.sum[r] *= shrink[r];
    }
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            scores[n][c] = power_of_two(fmaf(scores[n][c], p.factor, -peak[c / 2]));
            state.sum[c / 2] += scores[n][c];  // of this thread's columns: the four neighbours add up at the end
        }
    }
#pragma unroll
    for (int tile = 0; tile < D / kColumns; ++tile) {
#pragma unroll
        for (int n = 0; n < kColumns / 8; ++n) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                acc[tile][n][c] *= shrink[c / 2];
            }
        }
    }
}

template <typename T, int D>
__device__ void write(const Head<T> &head, const float (&acc)[D / kColumns][kColumns / 8][4], const Rows &state, const Problem &p, int row)
{
    const int lane = threadIdx.x % kWarp;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int at = row + r * 8;
        const float sum = sum_of_row(state.sum[r]);
        if (at >= p.sq) {
            continue;
        }
        if (lane % 4 == 0) {
            head.lse[at] = (state.peak[r] + log2f(sum)) * kLn2;
        }
        T *out = head.out + static_cast<int64_t>(at) * p.d;
#pragma unroll
        for (int n = 0; n < D / 8; ++n) {
            const int column = n * 8 + lane % 4 * 2;
            const float(&four)[4] = acc[n * 8 / kColumns][n % (kColumns / 8)];
            if (p.vectors && column < p.d) {
                *reinterpret_cast<uint32_t *>(out + column) = pack<T>(four[2 * r] / sum, four[2 * r + 1] / sum);
                continue;
            }
            for (int c = 0; c < 2; ++c) {
                if (column + c < p.d) {
                    out[column + c] = T(four[2 * r + c] / sum);
                }
            }
        }
    }
}

template <typename T, int D>
struct Memory {
    Tile<T, kRows> queries[D / kColumns];
    Tile<T, kKeys> keys[kBuffers][D / kColumns];
    Tile<T, kKeys> values[kBuffers][D / kColumns];
};

template <typename T, int D>
__global__ void __launch_bounds__(kThreads, D <= 128 ? 2 : 1) attend(const Problem p)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    auto &tensors = *reinterpret_cast<Memory<T, D> *>(memory);
    const Head<T> head(p);
    const int first = (gridDim.x - 1 - blockIdx.x) * kRows;  // with a causal mask the last rows take longest: they start first
    const int warp = threadIdx.x / kWarp;
    const int top = first + warp * kQueries;  // first row of this warp
    const int row = top + threadIdx.x % kWarp / 4;
    const int end = visible_keys(p, first + kRows);
    const int blocks = (end + kKeys - 1) / kKeys;

    copy_rows(tensors.queries, head.q + static_cast<int64_t>(first) * p.d, p.sq - first, p);
    copy_rows(tensors.keys[0], head.k, p.skv, p);
    copy_rows(tensors.values[0], head.v, p.skv, p);

    float acc[D / kColumns][kColumns / 8][4] = {};
    Rows state;
    for (int block = 0; block < blocks; ++block) {
        const int start = block * kKeys;
        const auto &keys = tensors.keys[block % kBuffers];
        const auto &values = tensors.values[block % kBuffers];
        wait_for_copies();  // and all warps have done with the other buffers
        float scores[kKeys / 8][4];
        begin_products();
#pragma unroll
        for (int i = 0; i < D / 16; ++i) {
            const int at = i * 16 % kColumns;
            add_scores(scores, tensors.queries[i * 16 / kColumns].at + warp / kGroup * (kGroup * kQueries * kColumns) + at, keys[i * 16 / kColumns].at + at, i);
        }
        end_products();
        if (block + 1 < blocks) {
            const int64_t from = static_cast<int64_t>(start + kKeys) * p.d;
            copy_rows(tensors.keys[(block + 1) % kBuffers], head.k + from, p.skv - start - kKeys, p);
            copy_rows(tensors.values[(block + 1) % kBuffers], head.v + from, p.skv - start - kKeys, p);
        }
        wait_for_products();
        const bool cut = start + kKeys > p.skv || (p.causal && start + kKeys > top + 1);
        soften<D>(scores, acc, state, p, start, row, cut);
        uint32_t weights[kKeys / 16][4];
#pragma unroll
        for (int i = 0; i < kKeys / 16; ++i) {  // scores lie in registers as the left matrix of the next product wants them
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                weights[i][c] = pack<T>(scores[2 * i + c / 2][c % 2 * 2], scores[2 * i + c / 2][c % 2 * 2 + 1]);
            }
        }
        begin_products();
#pragma unroll
        for (int i = 0; i < kKeys / 16; ++i) {
#pragma unroll
            for (int n = 0; n < D / kColumns; ++n) {
                add_values(acc[n], weights[i], values[n].at + i * 16 * kColumns);
            }
        }
        end_products();
        wait_for_products();
    }
    write<T, D>(head, acc, state, p, row);
}

// ---- fp32 ----

constexpr int kWideRows = 64;  // of a block
constexpr int kSide = 4;       // rows, and keys, of a thread
constexpr int kAcross = 16;    // threads next to each other: they share rows
constexpr int kWideThreads = (kWideRows / kSide) * kAcross;

__device__ void copy_floats(float *to, const float *from, int count, int d, int pitch)
{
    for (int i = threadIdx.x; i < kKeys * d; i += kWideThreads) {
        const int row = i / d;
        to[row * pitch + i % d] = row < count ? from[static_cast<int64_t>(row) * d + i % d] : 0.0f;
    }
}

template <int D>
__global__ void __launch_bounds__(kWideThreads) attend_floats(const Problem p)
{
    static_assert(kWideRows == kKeys, "copy_floats copies both");
    constexpr int pitch = D + 1;
    constexpr int weights_pitch = kKeys + 1;
    extern __shared__ __align__(1024) unsigned char memory[];
    float *queries = reinterpret_cast<float *>(memory);
    float *keys = queries + kWideRows * pitch;
    float *values = keys + kKeys * pitch;
    float *weights = values + kKeys * pitch;
    const Head<float> head(p);
    const int first = (gridDim.x - 1 - blockIdx.x) * kWideRows;
    const int down = threadIdx.x / kAcross * kSide;
    const int across = threadIdx.x % kAcross;
    const int end = visible_keys(p, first + kWideRows);
    copy_floats(queries, head.q + static_cast<int64_t>(first) * p.d, p.sq - first, p.d, pitch);

    float acc[kSide][D / kAcross] = {};
    float peak[kSide];
    float sum[kSide] = {};
    for (float &x : peak) {
        x = -FLT_MAX;
    }
    for (int start = 0; start < end; start += kKeys) {
        __syncthreads();  // the last block has been used
        copy_floats(keys, head.k + static_cast<int64_t>(start) * p.d, p.skv - start, p.d, pitch);
        copy_floats(values, head.v + static_cast<int64_t>(start) * p.d, p.skv - start, p.d, pitch);
        __syncthreads();
        float scores[kSide][kSide] = {};
        for (int i = 0; i < p.d; ++i) {
#pragma unroll
            for (int r = 0; r < kSide; ++r) {
#pragma unroll
                for (int c = 0; c < kSide; ++c) {
                    scores[r][c] = fmaf(queries[(down + r) * pitch + i], keys[(across + c * kAcross) * pitch + i], scores[r][c]);
                }
            }
        }
#pragma unroll
        for (int r = 0; r < kSide; ++r) {
            float higher = peak[r];
#pragma unroll
            for (int c = 0; c < kSide; ++c) {
                const int key = start + across + c * kAcross;
                const bool hidden = key >= p.skv || (p.causal && key > first + down + r);
                scores[r][c] = hidden ? -INFINITY : scores[r][c] * p.factor;
                higher = fmaxf(higher, scores[r][c]);
            }
            for (int distance = kAcross / 2; distance > 0; distance /= 2) {
                higher = fmaxf(higher, __shfl_xor_sync(0xffffffffu, higher, distance));
            }
            const float shrink = exp2f(peak[r] - higher);
            peak[r] = higher;
            sum[r] *= shrink;
#pragma unroll
            for (int c = 0; c < kSide; ++c) {
                const float weight = exp2f(scores[r][c] - higher);
                sum[r] += weight;
                weights[(down + r) * weights_pitch + across + c * kAcross] = weight;
            }
#pragma unroll
            for (float &x : acc[r]) {
                x *= shrink;
            }
        }
        __syncwarp();  // the 16 threads of a row are in one warp
        for (int key = 0; key < kKeys; ++key) {
#pragma unroll
            for (int r = 0; r < kSide; ++r) {
#pragma unroll
                for (int j = 0; j < D / kAcross; ++j) {
                    const int column = across + j * kAcross;
                    if (column < p.d) {
                        acc[r][j] = fmaf(weights[(down + r) * weights_pitch + key], values[key * pitch + column], acc[r][j]);
                    }
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < kSide; ++r) {
        const int row = first + down + r;
        for (int distance = kAcross / 2; distance > 0; distance /= 2) {
            sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], distance);
        }
        if (row >= p.sq) {
            continue;
        }
        if (across == 0) {
            head.lse[row] = (peak[r] + log2f(sum[r])) * kLn2;
        }
#pragma unroll
        for (int j = 0; j < D / kAcross; ++j) {
            const int column = across + j * kAcross;
            if (column < p.d) {
                head.out[static_cast<int64_t>(row) * p.d + column] = acc[r][j] / sum[r];
            }
        }
    }
}

// ---- host ----

template <typename T, int D>
void launch(Problem p, int64_t heads)
{
    constexpr bool wide = std::is_same_v<T, float>;
    constexpr int rows = wide ? kWideRows : kRows;
    const auto [kernel, bytes] = [] {
        if constexpr (wide) {
            return std::pair(attend_floats<D>, static_cast<int>(((rows + 2 * kKeys) * (D + 1) + rows * (kKeys + 1)) * sizeof(T)));
        } else {
            return std::pair(attend<T, D>, static_cast<int>(sizeof(Memory<T, D>)));
        }
    }();
    C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    for (int64_t done = 0; done < heads; done += kMostHeads) {
        p.first_head = done;
        const dim3 grid(static_cast<unsigned>((p.sq + rows - 1) / rows), static_cast<unsigned>(std::min(kMostHeads, heads - done)));
        kernel<<<grid, wide ? kWideThreads : kThreads, bytes, c10::cuda::getCurrentCUDAStream()>>>(p);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
}

template <typename T>
void launch_sized(const Problem &p, int64_t heads)
{
    if (p.d <= 64) {
        launch<T, 64>(p, heads);
    } else if (p.d <= 128) {
        launch<T, 128>(p, heads);
    } else {
        launch<T, 256>(p, heads);
    }
}

bool in_vectors(std::initializer_list<at::Tensor> tensors)
{
    return std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor &x) {
        return x.size(3) % kVector == 0 && reinterpret_cast<uintptr_t>(x.const_data_ptr()) % (kVector * x.element_size()) == 0;
    });
}

std::tuple<at::Tensor, at::Tensor> flash_attention(const at::Tensor &queries, const at::Tensor &keys, const at::Tensor &values, double scale,
                                                   bool causal)
{
    TORCH_CHECK(queries.is_cuda() && queries.dim() == 4 && keys.dim() == 4 && keys.sizes() == values.sizes(),
                "flash_attention: CUDA tensors of 4 dims, k and v of one shape");
    TORCH_CHECK(queries.size(0) == keys.size(0) && queries.size(3) == keys.size(3) && queries.size(3) <= 256,
                "flash_attention: one batch and head size of q, k and v, at most 256");
    TORCH_CHECK(keys.size(1) > 0 && queries.size(1) % keys.size(1) == 0, "flash_attention: heads of q are a multiple of those of k");
    TORCH_CHECK(queries.scalar_type() == keys.scalar_type() && queries.scalar_type() == values.scalar_type(), "flash_attention: one dtype");
    TORCH_CHECK(queries.size(2) <= INT32_MAX - kRows && keys.size(2) <= INT32_MAX - kKeys, "flash_attention: lengths below 2^31");
    const c10::cuda::CUDAGuard guard(queries.device());
    double factor = (scale != 0.0 ? scale : 1.0 / std::sqrt(static_cast<double>(queries.size(3)))) * static_cast<double>(kLog2e);
    const at::Tensor q = factor < 0 ? at::neg(queries).contiguous() : queries.contiguous();  // the largest score shall belong to the largest product
    factor = std::abs(factor);
    const at::Tensor k = keys.contiguous();
    const at::Tensor v = values.contiguous();
    const at::Tensor lse = at::full(q.sizes().slice(0, 3), -std::numeric_limits<float>::infinity(), q.options().dtype(at::kFloat));
    if (q.numel() == 0 || k.numel() == 0) {
        return {at::zeros_like(q), lse};
    }
    const at::Tensor out = at::empty_like(q);
    const Problem p = {q.const_data_ptr(), k.const_data_ptr(), v.const_data_ptr(), out.mutable_data_ptr(), lse.mutable_data_ptr<float>(), 0,
                       static_cast<int>(q.size(1)), static_cast<int>(q.size(1) / k.size(1)), static_cast<int>(q.size(2)),
                       static_cast<int>(k.size(2)), static_cast<int>(q.size(3)), static_cast<float>(factor), causal, in_vectors({q, k, v})};
    const int64_t heads = q.size(0) * q.size(1);
    switch (q.scalar_type()) {
        case at::kFloat: launch_sized<float>(p, heads); break;
        case at::kHalf: launch_sized<__half>(p, heads); break;
        case at::kBFloat16: launch_sized<__nv_bfloat16>(p, heads); break;
        default: TORCH_CHECK(false, "flash_attention: dtype ", q.scalar_type(), " is not supported");
    }
    return {out, lse};
}
}  // namespace

TORCH_LIBRARY_FRAGMENT(ascendops_cuda, m)
{
    m.def("flash_attention(Tensor q, Tensor k, Tensor v, float scale=0.0, bool causal=False) -> (Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(ascendops_cuda, CUDA, m) { m.impl("flash_attention", flash_attention); }
