// The state of a Matmul object and what the runtime computes with it (runtime/matmul.cpp).
#pragma once

#include "ascendc_twin/rt_cube.h"

namespace ascendc_twin {

// Numbering of AscendC::CubeFormat and AscendC::LayoutMode.
enum class MmFormat : uint8_t { ND, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, COLUMN };
enum class MmLayout : uint8_t { NONE, BSNGD, SBNGD, BNGS1S2, NORMAL };

struct MmSide {
    Dt dt = Dt::F16;
    MmFormat format = MmFormat::ND;
    MmLayout layout = MmLayout::NONE;
    Span span;              // of the tensor that was set
    bool set = false, transposed = false;
    uint64_t scalar = 0;    // bits, for CubeFormat::SCALAR
};

// The numbers of a TCubeTiling that decide what is computed.
struct MmTiling {
    int32_t M = 0, N = 0, Ka = 0, Kb = 0, singleCoreM = 0, singleCoreN = 0, singleCoreK = 0, baseM = 0, baseN = 0, baseK = 0;
    int32_t depthA1 = 0, depthB1 = 0, stepM = 0, stepN = 0, isBias = 0, iterateOrder = 0, dbL0A = 0, dbL0B = 0, dbL0C = 0;
    int32_t layout_a[5] = {}, layout_b[5] = {}, layout_c[5] = {};  // B, S, N, G, D
    int32_t BatchNum = 0;
};

// Copies of one base block by the user's functions, in place of the default ones.
struct MmCallbacks {
    void (*copy_out)(const void *gm, const TensorRef &l0c, const void *params, uint64_t tiling, uint64_t data) = nullptr;
    void (*copy_a)(const TensorRef &l1, const void *gm, int row, int col, int m, int k, uint64_t tiling, uint64_t data) = nullptr;
    void (*copy_b)(const TensorRef &l1, const void *gm, int row, int col, int k, int n, uint64_t tiling, uint64_t data) = nullptr;
    uint64_t tiling = 0, data = 0;
};

struct MmBlock;  // a computed base block, and unpacked operands

struct Mm {
    MmSide a, b, c, bias;
    MmTiling t;
    bool ready = false;        // a tiling was given
    int32_t m = 0, n = 0, k = 0;                       // of this core: singleCore* or what SetTail said
    int32_t org_m = 0, org_n = 0, org_ka = 0, org_kb = 0, org_kc = 0;
    bool has_bias = false, bias_per_batch = true;
    bool n_first = false;      // iterate along N first
    bool split_channels = false, relu = false, partial_output = false, hf32 = false, local_only = false;
    int8_t triangle = 0;       // 1: upper, 2: lower blocks only
    Quant quant = Quant::NONE;
    uint64_t quant_scalar = 0;
    Span quant_table;
    Span sparse_index;         // of B with half of k; NZ, fractals of 16 columns and 8 bytes
    bool sparse = false;
    bool has_table = false, has_scalar = false;
    MmCallbacks callbacks;
    int32_t batch_a = 1, batch_b = 1;
    Span workspace;
    bool has_workspace = false;
    // the block that Iterate computed last
    int32_t at_m = -1, at_n = 0, at_k = 0;
    bool running = false;
    uint32_t taken = 0;        // blocks that GetTensorC gave from the workspace (asynchronous)
    MmBlock *block = nullptr;
};

struct MmOut {
    Span dst;
    uint8_t atomic = 0;
    bool sequential = false;
};

void mm_ready(Mm &mm, const char *api);
void mm_free(Mm &mm);
// One base block into the object's result; false: there is none left.
bool mm_iterate(Mm &mm, bool accumulate, const Span *l0c);
// The last block to its place in C, or, `sequential`, to the start of dst.
void mm_get(Mm &mm, const MmOut &out);
void mm_all(Mm &mm, const MmOut &out);
// `first`: number of the first batch, where several calls share one C.
void mm_batch(Mm &mm, const MmOut &out, uint32_t batch_a, uint32_t batch_b, uint32_t stride_a, uint32_t stride_b, uint32_t first);

// Whether this core computes a Matmul call itself: true; or waits for its cube core or leaves it out: `run` has been called there, or not.
enum class MmWhere : uint8_t { HERE, ON_CUBE_CORE, NOWHERE };
MmWhere mm_where(bool cube_only);
// Has the cube core run `run(argument)`; waits for it.
void mm_remote(const char *api, void (*run)(void *), void *argument);
// The same without waiting, for an object: `argument` (of `bytes` bytes) is copied. mm_wait waits for such calls of an object, or (nullptr)
// for all of this core.
void mm_remote_async(const char *api, void (*run)(void *), const void *argument, uint64_t bytes, const Mm *owner);
void mm_wait(const Mm *owner);
// Both cores run the program of a dual-master object: the vector cores wait for the call that the cube core makes at the same place.
void mm_dual(bool cube);

}  // namespace ascendc_twin
