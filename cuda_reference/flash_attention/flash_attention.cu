// out = softmax(scale * q k^T) v and the logarithm of the softmax's sums in CUDA C++, as a torch extension:
// torch.ops.ascendops_cuda.flash_attention after torch.ops.load_library.
// float16 and bfloat16: tensor cores (mma m16n8k16, fp32 sums). A warp has 32 queries (16 of large heads); their scores, their running maximum and
// sum, and what is added up of v stay in its registers. Keys and values come block by block to shared memory with cp.async, one block ahead.
// float32: the same in fp32 without tensor cores, a square of scores per thread. Head sizes up to 256.
#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
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

namespace {
constexpr int kWarp = 32;
constexpr int kKeys = 64;        // of a block
constexpr int kQueries = 16;     // the rows of one mma
constexpr int kWarps = 4;
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

__device__ uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void load_fragments(uint32_t (&to)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row)));
}

__device__ void load_fragments_turned(uint32_t (&to)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row)));
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

// `count` rows to `rows` rows of D + kVector elements in shared memory, zeros beyond rows and columns. Copies of vectors are asynchronous.
template <typename T, int D>
__device__ void copy_rows(T *to, const T *from, int count, int rows, const Problem &p)
{
    constexpr int pitch = D + kVector;
    const int d = p.d;
    if (p.vectors) {
        for (int i = threadIdx.x; i < rows * (D / kVector); i += kThreads) {
            const int row = i / (D / kVector);
            const int column = i % (D / kVector) * kVector;
            const bool inside = row < count && column < d;
            const T *source = inside ? from + static_cast<int64_t>(row) * d + column : from;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to + row * pitch + column)),
                         "l"(source), "r"(inside ? 16 : 0)
                         : "memory");
        }
    } else {
        for (int i = threadIdx.x; i < rows * D; i += kThreads) {
            const int row = i / D;
            const int column = i % D;
            to[row * pitch + column] = row < count && column < d ? from[static_cast<int64_t>(row) * d + column] : T(0.0f);
        }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int LEFT>
__device__ void wait_for_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
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

// Tiles of 16 queries of a warp: keys and values from shared memory are used by all of them.
template <int D>
constexpr int tiles_of = D <= 128 ? 2 : 1;
template <int D>
constexpr int rows_of = kQueries * kWarps * tiles_of<D>;

// The weights of a block of scores, in place; what was added up before shrinks when the maximum of a row grows.
template <int D>
__device__ void soften(float (&scores)[kKeys / 8][4], float (&acc)[D / 8][4], Rows &state, const Problem &p, int start, int row, bool cut)
{
    const int lane = threadIdx.x % kWarp;
    float peak[2] = {state.peak[0], state.peak[1]};
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const int key = start + n * 8 + lane % 4 * 2 + c % 2;
            const bool hidden = cut && (key >= p.skv || (p.causal && key > row + c / 2 * 8));
            scores[n][c] = hidden ? -INFINITY : scores[n][c] * p.factor;
            peak[c / 2] = fmaxf(peak[c / 2], scores[n][c]);
        }
    }
    float shrink[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        peak[r] = max_of_row(peak[r]);
        shrink[r] = exp2f(state.peak[r] - peak[r]);
        state.peak[r] = peak[r];
        state.sum[r] *= shrink[r];
    }
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            scores[n][c] = exp2f(scores[n][c] - peak[c / 2]);
            state.sum[c / 2] += scores[n][c];  // of this thread's columns: the four neighbours add up at the end
        }
    }
#pragma unroll
    for (int n = 0; n < D / 8; ++n) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            acc[n][c] *= shrink[c / 2];
        }
    }
}

template <typename T, int D>
__device__ void write(const Head<T> &head, const float (&acc)[D / 8][4], const Rows &state, const Problem &p, int row)
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
            if (column < p.d) {
                out[column] = T(acc[n][2 * r] / sum);
            }
            if (column + 1 < p.d) {
                out[column + 1] = T(acc[n][2 * r + 1] / sum);
            }
        }
    }
}

template <typename T, int D>
__global__ void __launch_bounds__(kThreads) attend(const Problem p)
{
    constexpr int pitch = D + kVector;  // rows start in different banks
    constexpr int tiles = tiles_of<D>;
    constexpr int rows = rows_of<D>;
    constexpr bool keep = tiles * D <= 128;  // queries stay in registers
    extern __shared__ __align__(16) unsigned char memory[];
    T *queries = reinterpret_cast<T *>(memory);
    T *keys = queries + rows * pitch;
    T *values = keys + kBuffers * kKeys * pitch;
    const Head<T> head(p);
    const int first = (gridDim.x - 1 - blockIdx.x) * rows;  // with a causal mask the last rows take longest: they start first
    const int lane = threadIdx.x % kWarp;
    const int mine = threadIdx.x / kWarp * kQueries * tiles;  // first row of this warp in the block
    const int row = first + mine + lane / 4;
    const int end = visible_keys(p, first + rows);
    const int blocks = (end + kKeys - 1) / kKeys;

    copy_rows<T, D>(queries, head.q + static_cast<int64_t>(first) * p.d, p.sq - first, rows, p);
    copy_rows<T, D>(keys, head.k, p.skv, kKeys, p);
    copy_rows<T, D>(values, head.v, p.skv, kKeys, p);

    uint32_t kept[tiles][keep ? D / 16 : 1][4];
    const T *row_of_lane = queries + (mine + lane % 16) * pitch + lane / 16 * kVector;
    float acc[tiles][D / 8][4] = {};
    Rows state[tiles];
    for (int block = 0; block < blocks; ++block) {
        const int start = block * kKeys;
        const T *k = keys + block % kBuffers * kKeys * pitch;
        const T *v = values + block % kBuffers * kKeys * pitch;
        wait_for_copies<0>();  // and all warps have done with the other buffers
        if (block + 1 < blocks) {
            const int next = start + kKeys;
            const int64_t from = static_cast<int64_t>(next) * p.d;
            copy_rows<T, D>(keys + (block + 1) % kBuffers * kKeys * pitch, head.k + from, p.skv - next, kKeys, p);
            copy_rows<T, D>(values + (block + 1) % kBuffers * kKeys * pitch, head.v + from, p.skv - next, kKeys, p);
        }
        if (keep && block == 0) {
#pragma unroll
            for (int i = 0; i < D / 16; ++i) {
#pragma unroll
                for (int tile = 0; tile < tiles; ++tile) {
                    load_fragments(kept[tile][keep ? i : 0], row_of_lane + tile * kQueries * pitch + i * 16);
                }
            }
        }

        float scores[tiles][kKeys / 8][4] = {};
#pragma unroll
        for (int i = 0; i < D / 16; ++i) {
            if (!keep) {
#pragma unroll
                for (int tile = 0; tile < tiles; ++tile) {
                    load_fragments(kept[tile][0], row_of_lane + tile * kQueries * pitch + i * 16);
                }
            }
#pragma unroll
            for (int n = 0; n < kKeys / 16; ++n) {
                uint32_t b[4];
                load_fragments(b, k + (n * 16 + lane / 16 * 8 + lane % 8) * pitch + i * 16 + lane / 8 % 2 * 8);
#pragma unroll
                for (int tile = 0; tile < tiles; ++tile) {
                    multiply<T>(scores[tile][2 * n], kept[tile][keep ? i : 0], b[0], b[1]);
                    multiply<T>(scores[tile][2 * n + 1], kept[tile][keep ? i : 0], b[2], b[3]);
                }
            }
        }

#pragma unroll
        for (int tile = 0; tile < tiles; ++tile) {
            const int top = mine + tile * kQueries;
            const bool cut = start + kKeys > p.skv || (p.causal && start + kKeys > first + top + 1);
            soften<D>(scores[tile], acc[tile], state[tile], p, start, row + tile * kQueries, cut);
        }
#pragma unroll
        for (int i = 0; i < kKeys / 16; ++i) {  // the scores lie in registers as the left matrix of the next product wants them
            uint32_t a[tiles][4];
#pragma unroll
            for (int tile = 0; tile < tiles; ++tile) {
                const float(&left)[4] = scores[tile][2 * i];
                const float(&right)[4] = scores[tile][2 * i + 1];
                a[tile][0] = pack<T>(left[0], left[1]);
                a[tile][1] = pack<T>(left[2], left[3]);
                a[tile][2] = pack<T>(right[0], right[1]);
                a[tile][3] = pack<T>(right[2], right[3]);
            }
#pragma unroll
            for (int n = 0; n < D / 16; ++n) {
                uint32_t b[4];
                load_fragments_turned(b, v + (i * 16 + lane % 16) * pitch + n * 16 + lane / 16 * 8);
#pragma unroll
                for (int tile = 0; tile < tiles; ++tile) {
                    multiply<T>(acc[tile][2 * n], a[tile], b[0], b[1]);
                    multiply<T>(acc[tile][2 * n + 1], a[tile], b[2], b[3]);
                }
            }
        }
    }

#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
        write<T, D>(head, acc[tile], state[tile], p, row + tile * kQueries);
    }
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
    extern __shared__ __align__(16) unsigned char memory[];
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
    constexpr int rows = wide ? kWideRows : rows_of<D>;
    constexpr int elements = wide ? (rows + 2 * kKeys) * (D + 1) + rows * (kKeys + 1) : (rows + 2 * kBuffers * kKeys) * (D + kVector);
    constexpr int bytes = elements * static_cast<int>(sizeof(T));
    const auto kernel = [] {
        if constexpr (wide) {
            return attend_floats<D>;
        } else {
            return attend<T, D>;
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
    } else if (p.d <= 96) {
        launch<T, 96>(p, heads);
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
    TORCH_CHECK(queries.size(2) <= INT32_MAX - rows_of<64> && keys.size(2) <= INT32_MAX - kKeys, "flash_attention: lengths below 2^31");
    const c10::cuda::CUDAGuard guard(queries.device());
    const at::Tensor q = queries.contiguous();
    const at::Tensor k = keys.contiguous();
    const at::Tensor v = values.contiguous();
    const at::Tensor out = at::zeros_like(q);
    const at::Tensor lse = at::full(q.sizes().slice(0, 3), -std::numeric_limits<float>::infinity(), q.options().dtype(at::kFloat));
    if (q.numel() == 0 || k.numel() == 0) {
        return {out, lse};
    }
    const double factor = (scale != 0.0 ? scale : 1.0 / std::sqrt(static_cast<double>(q.size(3)))) * static_cast<double>(kLog2e);
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
