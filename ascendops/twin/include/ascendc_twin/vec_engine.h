// The vector unit of the runtime (runtime/vec_*.cpp), as the typed wrappers in vec_*.h call it.
#pragma once

#include "ascendc_twin/rt.h"

namespace ascendc_twin {

// Element operations. d: old value of dst, a and b: sources, s: scalar.
enum class VecOp : uint8_t {
    ADD,
    SUB,
    MUL,
    DIV,
    MAX,
    MIN,
    AND,
    OR,
    XOR,
    ADD_RELU,
    SUB_RELU,
    ABS_SUB,
    MUL_ADD_DST,          // a * b + d
    FUSED_MUL_ADD,        // a * d + b
    FUSED_MUL_ADD_RELU,   // max(a * d + b, 0)
    MOD,
    POW,
    ATAN2,
    HYPOT,
    GEGLU,  // a * gelu(b)
    REGLU,  // a * relu(b)
    ADDS,
    MULS,
    MAXS,
    MINS,
    LEAKY_RELU,  // a > 0 ? a : a * s
    AXPY,        // a * s + d
    SHL,
    SHR,
    SHR_ROUND,
    POWS,        // a ^ s
    SPOW,        // s ^ a
    RSUBS,       // s - a
    RDIVS,       // s / a
    SWISH,       // a / (1 + exp(-s * a))
    ABS,
    EXP,
    LN,
    SQRT,
    RSQRT,
    RECIPROCAL,
    RELU,
    NOT,
    NEG,
    LOG2,
    LOG10,
    TANH,
    SIGMOID,
    SILU,
    GELU,
    FAST_GELU,
    FAST_GELU_V2,
    ERF,
    ERFC,
    SIN,
    COS,
    TAN,
    SINH,
    COSH,
    ASIN,
    ACOS,
    ATAN,
    ASINH,
    ACOSH,
    ATANH,
    SIGN,
    CEIL,
    FLOOR,
    ROUND,
    RINT,
    TRUNC,
    FRAC,
    LGAMMA,
    DIGAMMA,
    ISNAN,
    ISINF,
    COUNT_,
};

// A scalar operand: floating types in f, integers in i.
struct Scalar {
    float f = 0;
    int64_t i = 0;
};

void vec_unary(Inst &inst, VecOp op, const Span &dst, const Span &src, const Lanes &lanes);
void vec_binary(Inst &inst, VecOp op, const Span &dst, const Span &src0, const Span &src1, const Lanes &lanes);
void vec_scalar(Inst &inst, VecOp op, const Span &dst, const Span &src, const Scalar &scalar, const Lanes &lanes);
// A scalar rounded to an integral float; mode: numbering of AscendC::RoundMode.
float round_scalar(float value, int mode);
void vec_cast(Inst &inst, const Span &dst, const Span &src, int round_mode, const Lanes &lanes);
// dst = cast(relu(a + b)), cast(relu(a - b)) or cast(a * b), with one rounding; int32 sources are also scaled (SetDeqScale).
void vec_binary_cast(Inst &inst, VecOp op, const Span &dst, const Span &src0, const Span &src1, const Lanes &lanes);
void vec_fill(Inst &inst, const Span &dst, const Scalar &value, const Lanes &lanes);
// dst[lane] = first + lane index, counted over the lanes of all repeats.
void vec_index(Inst &inst, const Span &dst, const Scalar &first, const Scalar &step, const Lanes &lanes);
void vec_copy(Inst &inst, const Span &dst, const Span &src, const Lanes &lanes);
void vec_brcb(Inst &inst, const Span &dst, const Span &src, uint32_t repeat, uint32_t dst_blk, uint32_t dst_rep);

// Bit results, one bit per element, packed over all repeats. to_register: only the 128-bit CMPMASK register is written.
void vec_compare(Inst &inst, int mode, const Span &dst, const Span &src0, const Span &src1, const Lanes &lanes,
                 bool to_register);
void vec_compare_scalar(Inst &inst, int mode, const Span &dst, const Span &src, const Scalar &scalar, const Lanes &lanes);
// mode: numbering of AscendC::SELMODE. src1 null: the scalar. mask null: the CMPMASK register.
void vec_select(Inst &inst, int mode, const Span &dst, const Span *mask, const Span &src0, const Span *src1,
                const Scalar &scalar, const Lanes &lanes);
void vec_set_cmp_mask(Inst &inst, const Span &src);
void vec_get_cmp_mask(Inst &inst, const Span &dst);

enum class Reduce : uint8_t { SUM, MAX, MIN };
// One result per repeat (order: numbering of AscendC::ReduceOrder), one per 32-byte block, or one per pair of lanes.
void vec_reduce_repeat(Inst &inst, Reduce op, const Span &dst, const Span &src, const Lanes &lanes, int order);
void vec_reduce_block(Inst &inst, Reduce op, const Span &dst, const Span &src, const Lanes &lanes);
void vec_reduce_pair(Inst &inst, const Span &dst, const Span &src, const Lanes &lanes);
// The sum of the repeats, added in order, into the accumulator (Core::acc_val).
void vec_accumulate(Inst &inst, const Span &src, const Lanes &lanes);
// A single result. Count form of a sum: repeats are added in order; everything else is a tree over work.
void vec_reduce_all(Inst &inst, Reduce op, const Span &dst, const Span &src, const Span &work, const Lanes &lanes,
                    bool with_index);
// Sums of the rows of a matrix (rows of `stride` elements, of which n count), times scale.
void vec_reduce_rows(Inst &inst, const Span &dst, const Span &src, uint32_t rows, uint32_t stride, uint32_t n, float scale);
// dst = a * b / (1 + exp(-beta * b))
void vec_swiglu(Inst &inst, const Span &dst, const Span &a, const Span &b, float beta, uint64_t count);

// Rows of k elements of which the first n count. Statistics (sum, max, ...) fill one 32-byte block per row, or are one element each.
struct SoftmaxArgs {
    enum Kind : uint8_t {
        SOFTMAX,       // exp(x - max) / sum
        SIMPLE,        // the same with given sum and max
        FLASH,         // exp(x - max), sum, max
        FLASH_UPDATE,  // with the sum and max of earlier columns
        FLASH_V1,      // SOFTMAX
        FLASH_V1_UPDATE,  // divided by the new sum; exp_max is the share of the earlier columns in it
    };
    Kind kind = SOFTMAX;
    Span dst, src;
    uint32_t m = 0, k = 0, n = 0;
    const Span *sum = nullptr, *max = nullptr, *exp_max = nullptr, *in_sum = nullptr, *in_max = nullptr;
    const Span *row_max = nullptr;  // of an update: the maxima of these columns alone
    bool dense_stats = false;
};
void vec_softmax(Inst &inst, const SoftmaxArgs &args);
// dst of rows x columns from one row (along_rows) or one column.
void vec_broadcast(Inst &inst, const Span &dst, const Span &src, uint32_t rows, uint32_t columns, bool along_rows);
// One mask element per element; rows of the mask may be longer.
void vec_select_bytes(Inst &inst, const Span &dst, const Span &src, const Scalar &scalar, const Span &mask, uint32_t rows,
                      uint32_t columns, uint32_t mask_columns, bool zero_takes_tensor);

// Offsets are bytes from src (gather) or dst (scatter).
void vec_gather(Inst &inst, const Span &dst, const Span &src, const Span &offset, uint32_t base, const Lanes &lanes);
void vec_scatter(Inst &inst, const Span &dst, const Span &src, const Span &offset, uint32_t base, const Lanes &lanes);
void vec_gatherb(Inst &inst, const Span &dst, const Span &src, const Span &offset, uint32_t repeat, uint32_t dst_blk,
                 uint32_t dst_rep);
struct GatherMaskArgs {
    const Span *pattern = nullptr;  // user bits, or null: the fixed pattern
    uint8_t fixed = 0;
    bool counter = false;
    uint32_t mask = 0;
    uint32_t blk = 1;
    uint32_t repeat = 1;
    uint32_t src_rep = 8;
    uint32_t pattern_rep = 8;
};
uint64_t vec_gather_mask(Inst &inst, const Span &dst, const Span &src, const GatherMaskArgs &args);

void vec_sort32(Inst &inst, const Span &dst, const Span &src, const Span &index, uint32_t repeat);
struct MergeArgs {
    Span src[4];
    uint16_t length[4] = {0, 0, 0, 0};
    uint32_t valid = 0;
    uint32_t repeat = 1;
    bool suspend = false;    // stop when one queue is exhausted
    bool proposals = false;  // the records are region proposals
};
// taken[q]: elements used of each queue.
void vec_merge(Inst &inst, const Span &dst, const MergeArgs &args, uint32_t taken[4]);
void vec_extract(Inst &inst, const Span &value, const Span &index, const Span &sorted, uint32_t repeat);
// Sorts n records in place, as merging all repeats of Sort32 (RpSort16) would.
void vec_full_sort(Inst &inst, const Span &dst, uint32_t n, bool proposals);
// Region proposals: 8 elements each (x1, y1, x2, y2, score, label and two that are not used), 16 in a repeat.
void vec_sort16(Inst &inst, const Span &dst, const Span &src, uint32_t repeat);
void vec_put_field(Inst &inst, const Span &proposals, const Span &src, uint32_t repeat, uint32_t field);
void vec_take_field(Inst &inst, const Span &dst, const Span &proposals, uint32_t repeat, uint32_t field);
void vec_proposal_index(Inst &inst, const Span &proposals, const Span &index, uint32_t repeat, bool put);

struct BilinearArgs {
    Span dst, src, offset, weight, work;
    uint64_t work_bytes = 0;
    uint32_t horizontal = 1, vertical = 1;
    uint32_t dst_blk = 1;
    uint32_t row_step = 0;    // elements from a row of dst to the next
    bool each_block = false;  // a weight for each block, not for each repeat
};
void vec_bilinear(Inst &inst, const BilinearArgs &args, Lanes lanes);

void vec_transpose16(Inst &inst, const Span &dst, const Span &src);
void vec_trans_5hd(Inst &inst, const Span dst[16], const Span src[16], bool dst_high, bool src_high, uint32_t repeat,
                   uint32_t dst_rep, uint32_t src_rep);
// Swaps the last two axes of a [shape[0], shape[1], shape[2]] array.
void vec_transpose_axes(Inst &inst, const Span &dst, const Span &src, const uint32_t shape[3]);

// Lanes of the call forms, which also set the mask register and mode of the core as the call does on the hardware.
// set_mask false (isSetMask = false): the register decides. `per`: elements of one repeat (a mask array has 2 words above 64).
Lanes lanes_of_count(uint64_t count, bool set_mask);
Lanes lanes_of_register(uint32_t repeat);
Lanes lanes_of_mask(uint64_t mask, uint32_t repeat, bool set_mask);
Lanes lanes_of_bits(const uint64_t *mask, uint32_t per, uint32_t repeat, bool set_mask);

}  // namespace ascendc_twin
