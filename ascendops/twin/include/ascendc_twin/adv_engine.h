// The runtime side of the high-level vector functions (runtime/adv_*.cpp). Sizes count elements; tensors are dense unless a
// stride is given.
#pragma once

#include "ascendc_twin/vec_engine.h"

namespace ascendc_twin {

// A span that a function may do without.
struct Operand : Span {
    Operand() = default;
    Operand(const Span &span) : Span(span), given(true) {}

    bool given = false;
};

// y = (x - mean) * rstd * gamma + beta over rows. A row has `segments` pieces, `stride` elements apart, of which n count.
struct NormArgs {
    enum Kind : uint8_t {
        LAYER,
        RMS,    // y = x * gamma / sqrt(mean(x^2) + epsilon)
        GIVEN,  // mean and variance are inputs
    };
    Kind kind = LAYER;
    Span dst, src;
    Operand add;  // alpha * src + add takes the place of src
    Operand gamma, beta;
    Operand mean, variance, rstd;  // one element per row
    uint32_t rows = 0, stride = 0, n = 0;
    uint32_t segments = 1;
    uint32_t groups = 0;   // not 0: gamma and beta have one element per segment of each of `groups` rows, else one per column
    bool pad = false;      // the elements between n and stride are computed as well
    float alpha = 1, epsilon = 0;
};
void vec_norm(Inst &inst, const NormArgs &args);

// The same over the first axis: mean and variance have one element per column, gamma and beta one per row.
struct BatchNormArgs {
    Span dst, mean, variance, src, gamma, beta;
    uint32_t rows = 0, columns = 0;
    float epsilon = 0;
};
void vec_batch_norm(Inst &inst, const BatchNormArgs &args);

struct LayerNormGradArgs {
    Span dx, for_gamma;
    Span dy, x, variance, mean, gamma;
    uint32_t rows = 0, stride = 0, n = 0;
    float epsilon = 0;
};
void vec_layer_norm_grad(Inst &inst, const LayerNormGradArgs &args);
void vec_layer_norm_grad_beta(Inst &inst, const Span &d_gamma, const Span &d_beta, const Span &for_gamma, const Span &dy,
                              uint32_t rows, uint32_t stride);

struct WelfordUpdateArgs {
    Span mean, variance;
    Span in_mean, in_variance, x;
    uint32_t length = 0, computed = 0;
    float reciprocal = 1;
    bool in_place = false;  // the elements after `computed` keep their values of in_mean and in_variance
};
void vec_welford_update(Inst &inst, const WelfordUpdateArgs &args);
struct WelfordFinalizeArgs {
    Span mean, variance;
    Span in_mean, in_variance;
    Operand counts;
    uint32_t length = 0, updates = 0;
    uint32_t head = 0, head_length = 0, tail = 0, tail_length = 0;
    float length_reciprocal = 0, total_reciprocal = 0;
};
void vec_welford_finalize(Inst &inst, const WelfordFinalizeArgs &args);

// Rows of k elements of which the first n count; statistics fill one 32-byte block per row.
struct SoftmaxGradArgs {
    Span dst, grad, src;
    uint32_t m = 0, k = 0, n = 0;
    bool front = false;  // dst is the sum of each row of grad * src
};
void vec_softmax_grad(Inst &inst, const SoftmaxGradArgs &args);
void vec_log_softmax(Inst &inst, const Span &dst, const Span &sum, const Span &max, const Span &src, uint32_t m, uint32_t k,
                     uint32_t n);
// Rows of res whose max has the bits `from` become `to`. True: there was one.
bool vec_adjust_softmax(Inst &inst, const Span &res, const Span &max, uint32_t from, float to, uint32_t m, uint32_t k,
                        bool dense_max);
struct SoftmaxV3Args {
    Span dst, mean, sum, max, src;
    Operand exp_max, in_mean, in_sum, in_max;
    uint32_t m = 0, k = 0, parts = 8, loop = 1, base = 0;
    float alpha = 0;
    bool update = false;
};
void vec_softmax_v3(Inst &inst, const SoftmaxV3Args &args);

enum class Fold : uint8_t { SUM, MEAN, MAX, MIN, PROD, ANY, ALL };
// One result per row of `columns` elements (which are `stride` apart), or one per column.
void vec_fold(Inst &inst, Fold fold, const Span &dst, const Span &src, uint32_t rows, uint32_t columns, uint32_t stride,
              bool by_row);
void vec_xor_sum(Inst &inst, const Span &dst, const Span &a, const Span &b, uint32_t n);
// Running sums along rows or down columns; last (if given) is the last row.
void vec_cumsum(Inst &inst, const Span &dst, const Operand &last, const Span &src, uint32_t rows, uint32_t columns,
                bool along_row);

// A quantisation parameter: one scalar, or element (i / every) % period of a tensor.
struct QuantValue {
    Operand tensor;
    float scalar = 0;
    uint64_t period = 1, every = 1;
};
void vec_quant(Inst &inst, const Span &dst, const Span &src, const QuantValue &scale, const QuantValue &offset, uint64_t n);
// dst rows of `dst_stride`, src rows of `stride` elements, of which n count.
void vec_dequant(Inst &inst, const Span &dst, const Span &src, const QuantValue &scale, uint32_t rows, uint32_t stride,
                 uint32_t dst_stride, uint32_t n);
// dst = scale * (src + offset) over a matrix; scale and offset have `rows / height` or `columns / width` elements.
struct AntiQuantArgs {
    Span dst, src;
    QuantValue scale, offset;  // period and every are not used
    uint32_t rows = 0, columns = 0;
    uint32_t scale_rows = 1, scale_columns = 1, offset_rows = 1, offset_columns = 1;
};
void vec_anti_quant(Inst &inst, const AntiQuantArgs &args);
// int16 to 8 bits: src * scale + offset. per_lane: 16 sets of parameters in turn. half_block: dst fills only that half (0 or 1) of
// each 32-byte block.
void vec_cast_dequant(Inst &inst, const Span &dst, const Span &src, bool per_lane, int half_block, uint64_t count);

struct TopKArgs {
    Span value, index, src;
    Operand src_index, finish;
    uint32_t outer = 0, inner = 0, n = 0, k = 0;
    bool largest = true;
    bool small = false;  // an index per element of all rows, and results in rows of k elements without padding
};
void vec_top_k(Inst &inst, const TopKArgs &args);

// Copies `width` elements of each row to column `left` of rows of dst_width, the rest becomes `value`.
struct PadArgs {
    Span dst, src;
    uint32_t rows = 0, src_stride = 0, width = 0, dst_stride = 0, left = 0;
    int32_t value = 0;
};
void vec_pad(Inst &inst, const PadArgs &args);
// Layout changes of [B, N, S, D] (D = H / N), numbered as AscendC::TransposeType; 7 turns [B, N] into [N, B]. NZ layouts have
// fractals of 16 x 16, column by column.
struct ReorderArgs {
    Span dst, src;
    uint32_t type = 7;
    uint32_t b = 0, n = 0, s = 1, d = 1;
};
void vec_reorder(Inst &inst, const ReorderArgs &args);
// NCDHW and NDC1HWC0 or FRACTAL_Z_3D (fractal), 16-bit elements; planes of NCDHW are padded to whole blocks. Channels and batches
// that the other layout adds become 0.
struct TransDataArgs {
    Span dst, src;
    uint32_t n = 0, c = 0, d = 0, hw = 0;
    bool fractal = false;
    bool to_planes = false;  // dst is NCDHW
};
void vec_trans_data(Inst &inst, const TransDataArgs &args);
// dst = src / keep where the mask (bytes or bits) is not 0, else 0. Mask rows are mask_columns bytes long.
void vec_drop_out(Inst &inst, const Span &dst, const Span &src, const Span &mask, float keep, uint32_t rows, uint32_t columns,
                  uint32_t mask_columns, bool bits);

}  // namespace ascendc_twin
