// What the Ascend C API headers may call in the twin's runtime library (runtime/*.cpp).
//
// An API function in a header is a thin, typed wrapper: it opens an Inst (which instruction, on which pipe), describes its
// operands as Spans and calls the engine. Checking, execution, the cycle model and findings live in the runtime, which is
// compiled once per machine; so a kernel compiles fast and one place decides.
#pragma once

#include <cstddef>
#include <cstdint>

#define TWIN_API inline __attribute__((always_inline))

namespace ascendc_twin {

enum class Mem : uint8_t { GM, UB, L1, L0A, L0B, L0C, BT, FB };
enum class PipeId : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX, ALL };
enum class Dt : uint8_t { I8, U8, I16, U16, F16, BF16, I32, U32, F32, I64, U64, F64, BOOL, I4 };
enum class Rw : uint8_t { READ, WRITE };

// One operand: the memory from an address to the end of its tensor.
struct Span {
    uint8_t *p = nullptr;   // host address of the first byte
    uint64_t addr = 0;      // byte offset inside its memory (UB, L1, ...); host address for GM
    uint64_t bytes = 0;     // bytes from p to the end of the tensor as the kernel sees it
    int32_t buf = -1;       // index of the InitBuffer allocation it belongs to, -1: none (GM, raw address)
    Mem mem = Mem::UB;
    Dt dt = Dt::F32;
};

// The bytes an instruction touches in one operand: a run of contiguous bytes, repeated n1 times every s1 bytes, and all of
// that n2 times every s2 bytes, from byte `off` of the span.
struct Walk {
    int64_t off = 0;
    uint64_t run = 0;
    uint32_t n1 = 1;
    int64_t s1 = 0;
    uint32_t n2 = 1;
    int64_t s2 = 0;
};

// Which lanes of which repeats a vector instruction works on. Strides count 32-byte blocks; [0] is dst, [1] src0, [2] src1.
struct Lanes {
    enum Kind : uint8_t { COUNT, MASK_N, MASK_BITS, COUNTER };
    Kind kind = COUNT;
    uint64_t n = 0;              // COUNT: elements, contiguous; COUNTER: elements, laid out by the strides; MASK_N: lanes per repeat
    uint64_t bits[2] = {0, 0};   // MASK_BITS: one bit per lane
    uint32_t repeat = 1;
    uint32_t blk[3] = {1, 1, 1};
    uint32_t rep[3] = {8, 8, 8};
};

// What a LocalTensor holds besides its element type.
struct TensorRef {
    uint8_t *p = nullptr;  // host address of element 0
    uint32_t addr = 0;     // byte offset inside its memory
    uint32_t bytes = 0;    // size of the tensor as the kernel sees it
    int32_t buf = -1;      // index of the InitBuffer allocation, -1: none
    Mem mem = Mem::UB;
    uint8_t pos = 0;       // TPosition
};

// The instruction being executed. Open one at the start of every API function, in the header (so that the return address
// that its constructor records lies in the kernel, inlined into the user's line). An API built from other APIs (SoftMax, ...)
// nests: the outermost line is the user's.
class Inst {
public:
    __attribute__((noinline)) Inst(const char *api, PipeId pipe);
    __attribute__((noinline)) ~Inst();
    Inst(const Inst &) = delete;
    Inst &operator=(const Inst &) = delete;

    const char *api;
    PipeId pipe;
    void *pc;              // return address in the kernel
    double cycles = 0;     // engine sets it: busy cycles of the pipe
    uint64_t moved = 0;    // engine sets it: bytes moved (copies) or processed (vector)
    uint32_t runs = 1;     // engine sets it: separate runs of a copy, repeats of a vector instruction
};

// Checks one operand: bounds of the tensor and of the memory, alignment (0: none), state of its queue buffer; notes the
// access for the happens-before model and the trace. False: executing it would leave the memory; skip the instruction.
bool touch(Inst &inst, const Span &span, Rw rw, const Walk &walk, uint32_t align = 32);

// One scalar read or write of a local tensor (GetValue, SetValue, operator()) `off` bytes after its start, `size` bytes wide.
// Returns the host address; a scratch location when the access would leave the memory.
uint8_t *scalar_local(const TensorRef &ref, uint64_t off, uint32_t size, Rw rw, const char *api);
// The same for global memory: `p` is the host address of the element, `begin`..`end` what SetGlobalBuffer was told (end null: unknown).
uint8_t *scalar_global(const uint8_t *p, const uint8_t *begin, const uint8_t *end, uint32_t size, Rw rw, const char *api);

// Writes one element of global memory (SetValue).
void store_global(uint8_t *p, const uint8_t *begin, const uint8_t *end, uint32_t size, const void *value, const char *api);
// Copies bytes to global memory whose operand was touched.
void put_global(uint8_t *dst, const void *src, uint64_t bytes);
// DataCacheCleanAndInvalid of the line that holds an address, or of all.
void cache_flush(const void *address, bool entire);

// A tensor at a byte offset of a local memory that no InitBuffer made (LocalTensor(pos, addr, size), LocalMemAllocator).
TensorRef local_at(uint8_t pos, uint64_t addr, uint64_t bytes);
// Where an array of UB lies that the kernel declares without TPipe; `declaration`: an address that stands for it.
uint8_t *ub_array(const void *declaration, uint64_t bytes);
template <typename Array>
__attribute__((always_inline)) inline Array &ub_array(const void *declaration) {
    return *reinterpret_cast<Array *>(ub_array(declaration, sizeof(Array)));
}
// The span from a host address inside a local memory of this core (what GetPhyAddr returned) to the end of its buffer.
Span span_at(uint64_t phy_addr, Dt dt);
// An API that uses the last `bytes` of UB behind the kernel's back (Select modes 1 and 2: 8192): reports a UB that is too full.
void require_reserved_ub(uint64_t bytes);

// A copy of some bytes that lives until the block ends.
const void *keep(const void *data, uint64_t bytes);

// Reports a finding of the catalogue (ascendops/twin/findings.py) at the current instruction; printf-style message. An
// error-level finding does not stop the kernel.
void finding(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Ends this block of the kernel now (a wait that would hang, an assertion): unwinds to the launcher. Report why first.
[[noreturn]] void abandon_block();

// State of one running core: the cube core or one of the vector cores of a logical block. block_idx is what GetBlockIdx gives.
struct Core {
    enum Type : uint8_t { AIV, AIC, AICORE };  // vector core, cube core, or (on 310P and 910) both in one
    Type type = AIV;
    bool mixed = false;        // cube and vector cores run this launch together
    uint32_t group = 0;        // logical block
    uint32_t task_ratio = 1;   // cores of this type per logical block
    uint32_t block_idx = 0, block_dim = 1, sub_block_idx = 0, sub_block_num = 1;
    bool checks = true;        // false with checks="off": touch() only guards the memory of the host
    bool auto_sync = true;
    bool trace = false;
    uint32_t npu_arch = 2201;  // 2201: Ascend 910B and 910_93; 2002: 310P
    uint64_t tiling_key = 0;
    const uint8_t *tiling = nullptr;
    uint64_t tiling_size = 0;
    uint8_t *ub = nullptr;
    uint64_t ub_size = 0;
    // mask registers and modes of the vector unit
    bool counter_mode = false;
    uint64_t mask_reg[2] = {~0ull, ~0ull};
    // CTRL register. Bit 48: infinities and NaN of 16-bit floats stay (the CANN runtime sets it); bit 59: casts to integers that overflow
    // keep the low bits.
    int64_t control = int64_t{1} << 48;
    uint16_t deq_scale_bits = 0x3c00;  // SetDeqScale(half), 1.0
    struct Deq {                       // SetDeqScale(float, ...); a tensor gives 16 of them
        float scale = 1;
        int16_t offset = 0;
        bool sign = false;
    } deq[16];
    uint64_t cmp_mask[2] = {0, 0};     // CMPMASK register (SetCmpMask, VSEL_CMPMASK_SPR)
    float acc_val = 0;                 // GetAccVal
    int64_t rsvd_cnt = 0;              // GatherMask
    float peak_val = 0;                // GetReduceMaxMinCount: extreme over the repeats of the last WholeReduceMax/Min
    uint32_t peak_idx = 0;
    uint16_t merged[4] = {0, 0, 0, 0}; // GetMrgSortResult
    uint8_t atomic = 0;                // 0 none, 1 add, 2 max, 3 min
    Dt atomic_dt = Dt::F32;
    void *pipe = nullptr;              // the TPipe object of the kernel
    struct Private *priv = nullptr;    // owned by the runtime
};
Core &core();

}  // namespace ascendc_twin
