// Element-wise instructions: dst[i] = op(dst[i], src0[i], src1[i], scalar).

#include <cstring>

#include "vec_carry.h"
#include "vec_lanes.h"
#include "vec_loops.h"
#include "vec_ops.h"

namespace ascendc_twin {

template <>
inline constexpr bool by_repeats<ops::Add> = true;
template <>
inline constexpr bool by_repeats<ops::Sub> = true;
template <>
inline constexpr bool by_repeats<ops::Mul> = true;
template <>
inline constexpr bool by_repeats<ops::Div> = true;
template <>
inline constexpr bool by_repeats<ops::Max> = true;
template <>
inline constexpr bool by_repeats<ops::Min> = true;
template <>
inline constexpr bool in_pairs<ops::Swish> = true;
template <>
inline constexpr bool in_pairs<ops::Geglu> = true;
template <>
inline constexpr bool in_pairs<ops::Swiglu> = true;

namespace {

Loop binary_loop(VecOp op, Dt dst, Dt src) {
    switch (op) {
        case VecOp::ADD: return number_loops<ops::Add>(dst, src);
        case VecOp::SUB: return number_loops<ops::Sub>(dst, src);
        case VecOp::MUL: return number_loops<ops::Mul>(dst, src);
        case VecOp::DIV: return float_loops<ops::Div>(dst, src);
        case VecOp::MAX: return number_loops<ops::Max>(dst, src);
        case VecOp::MIN: return number_loops<ops::Min>(dst, src);
        case VecOp::AND: return integer_loops<ops::And>(dst, src);
        case VecOp::OR: return integer_loops<ops::Or>(dst, src);
        case VecOp::XOR: return integer_loops<ops::Xor>(dst, src);
        case VecOp::ADD_RELU: return number_loops<ops::AddRelu>(dst, src);
        case VecOp::SUB_RELU: return number_loops<ops::SubRelu>(dst, src);
        case VecOp::ABS_SUB: return float_loops<ops::AbsSub>(dst, src);
        case VecOp::MUL_ADD_DST: return mixed_loops<ops::MulAddDst>(dst, src);
        case VecOp::FUSED_MUL_ADD: return float_loops<ops::FusedMulAdd>(dst, src);
        case VecOp::FUSED_MUL_ADD_RELU: return float_loops<ops::FusedMulAddRelu>(dst, src);
        case VecOp::POW: return number_loops<ops::Pow>(dst, src);
        case VecOp::MOD: return float_loops<ops::Mod>(dst, src);
        case VecOp::ATAN2: return float_loops<ops::Atan2>(dst, src);
        case VecOp::HYPOT: return float_loops<ops::Hypot>(dst, src);
        case VecOp::GEGLU: return float_loops<ops::Geglu>(dst, src);
        case VecOp::REGLU: return float_loops<ops::Reglu>(dst, src);
        default: return {};
    }
}

Loop scalar_loop(VecOp op, Dt dst, Dt src) {
    switch (op) {
        case VecOp::ADDS: return number_loops<ops::Adds>(dst, src);
        case VecOp::MULS: return number_loops<ops::Muls>(dst, src);
        case VecOp::MAXS: return number_loops<ops::Maxs>(dst, src);
        case VecOp::MINS: return number_loops<ops::Mins>(dst, src);
        case VecOp::LEAKY_RELU: return float_loops<ops::LeakyRelu>(dst, src);
        case VecOp::AXPY: return mixed_loops<ops::Axpy>(dst, src);
        case VecOp::SHL: return integer_loops<ops::Shl>(dst, src);
        case VecOp::SHR: return integer_loops<ops::Shr>(dst, src);
        case VecOp::SHR_ROUND: return integer_loops<ops::ShrRound>(dst, src);
        case VecOp::POWS: return number_loops<ops::Pows>(dst, src);
        case VecOp::SPOW: return number_loops<ops::Spow>(dst, src);
        case VecOp::RSUBS: return number_loops<ops::Rsubs>(dst, src);
        case VecOp::RDIVS: return float_loops<ops::Rdivs>(dst, src);
        case VecOp::SWISH: return float_loops<ops::Swish>(dst, src);
        default: return {};
    }
}

Loop with_half(VecOp op, Loop loop) {
    if (loop.dst == Dt::F16 && loop.src == Dt::F16) loop.half = half_kernel(op);
    return loop;
}

// Cycles of one 256-byte repeat on a 910B vector core without bank conflicts; the functions that the hardware does not have
// count the instructions of their usual formula.
double cycles_per_repeat(VecOp op, Dt dt) {
    const bool half = dt == Dt::F16;
    switch (op) {
        case VecOp::EXP: case VecOp::LN: case VecOp::SQRT: return half ? 4 : 2;
        case VecOp::DIV: return 4;
        case VecOp::FUSED_MUL_ADD: case VecOp::FUSED_MUL_ADD_RELU: case VecOp::MUL_ADD_DST: case VecOp::AXPY: return 2;
        case VecOp::SIGMOID: case VecOp::SILU: case VecOp::SWISH: case VecOp::FAST_GELU: return 8;
        case VecOp::TANH: case VecOp::FAST_GELU_V2: case VecOp::GELU: case VecOp::GEGLU: case VecOp::SINH: case VecOp::COSH: return 12;
        case VecOp::LOG2: case VecOp::LOG10: return 3;
        case VecOp::POW: case VecOp::POWS: case VecOp::SPOW: case VecOp::ERF: case VecOp::ERFC: return 40;
        case VecOp::SIN: case VecOp::COS: case VecOp::TAN: case VecOp::ASIN: case VecOp::ACOS: case VecOp::ATAN: return 30;
        case VecOp::ASINH: case VecOp::ACOSH: case VecOp::ATANH: case VecOp::LGAMMA: case VecOp::DIGAMMA: return 30;
        case VecOp::CEIL: case VecOp::FLOOR: case VecOp::ROUND: case VecOp::TRUNC: case VecOp::FRAC: return 2;
        default: return 1;
    }
}

// A loop over one row of half or bfloat16, converted block by block.
void run_rounded(const Loop &loop, uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, const Scalar &scalar) {
    float x[CHUNK], y[CHUNK], old[CHUNK];
    const size_t dst_size = size_of(loop.dst), src_size = size_of(loop.src);
    const auto load = [](Dt dt, const uint8_t *from, float *to, size_t m) {
        dt == Dt::F16 ? half_to_float(from, to, m) : bf16_to_float(from, to, m);
    };
    Rows rows;
    const size_t done = loop.half != nullptr ? loop.half(d, a, b, n, scalar.f) : 0;
    for (size_t i = done; i < n; i += CHUNK) {
        const size_t m = std::min(CHUNK, n - i);
        uint8_t *out = d + i * dst_size;
        rows.n = m;
        load(loop.src, a + i * src_size, x, m);
        if (loop.reads_b) load(loop.src, b + i * src_size, y, m);
        const auto *first = reinterpret_cast<const uint8_t *>(x), *second = reinterpret_cast<const uint8_t *>(y);
        if (loop.dst == Dt::F32) {
            loop.kernel(out, first, second, rows, scalar);
            continue;
        }
        if (loop.reads_d) load(loop.dst, out, old, m);
        loop.kernel(reinterpret_cast<uint8_t *>(old), first, second, rows, scalar);
        loop.dst == Dt::F16 ? float_to_half(old, out, m) : float_to_bf16(old, out, m);
    }
}

// The usual way to combine rows with one value per row: src1 has block stride 0, so its block serves a whole repeat.
bool repeats_one_block(const Lanes::Kind kind, const uint32_t (&blk)[3]) {
    return kind == Lanes::MASK_N && blk[0] == 1 && blk[1] == 1 && blk[2] == 0;
}

bool overlap(const uint8_t *a, uint64_t a_bytes, const uint8_t *b, uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

// all.step[2] leads from the block of a repeat to that of the next.
void run_with_one_block(const Loop &loop, uint8_t *dst, const uint8_t *src0, const uint8_t *src1, const Rows &all, const Scalar &scalar) {
    constexpr uint32_t MOST = 8;  // repeats whose blocks are spread at once
    alignas(64) uint8_t blocks[MOST][REPEAT];
    const auto src1_step = static_cast<uint64_t>(all.step[2]);
    Rows rows = all;
    rows.step[2] = REPEAT;
    const auto spread = [](const uint8_t *block, uint8_t *repeat) {
        for (uint32_t b = 0; b < REPEAT; b += BLOCK) std::memcpy(repeat + b, block, BLOCK);
    };
    // A block that an earlier repeat writes is read after that.
    const bool apart = !overlap(dst, static_cast<uint64_t>(all.step[0]) * (all.count - 1) + REPEAT, src1, src1_step * (all.count - 1) + BLOCK);
    if (apart && src1_step == 0) {  // the same block for all repeats
        spread(src1, blocks[0]);
        rows.step[2] = 0;
        run_loop(loop, dst, src0, blocks[0], rows, scalar);
        return;
    }
    for (uint32_t r = 0; r < all.count; r += rows.count) {
        rows.count = apart ? std::min(MOST, all.count - r) : 1;
        for (uint32_t i = 0; i < rows.count; ++i) spread(src1 + (r + i) * src1_step, blocks[i]);
        run_loop(loop, dst + r * rows.step[0], src0 + r * rows.step[1], blocks[0], rows, scalar);
    }
}

// What an instruction does without checks, trace and planted faults, where its lanes are contiguous in each repeat: all its operands must
// lie in their memories, and no plan is made. False: it is not such an instruction.
bool run_plain(const Loop &loop, const Span &dst, const Span &src0, const Span *src1, const Scalar &scalar, const Lanes &lanes) {
    const Private &p = priv();
    const Span *spans[3] = {&dst, &src0, src1};
    const uint32_t size[3] = {size_of(dst.dt), size_of(src0.dt), size_of(src0.dt)};
    const bool counted = lanes.kind == Lanes::COUNT, one_block = src1 != nullptr && size[0] == size[1] && repeats_one_block(lanes.kind, lanes.blk);
    if (!p.plain || lanes.n == 0 || saturates(dst.dt) || (!counted && lanes.kind != Lanes::MASK_N)) return false;
    const uint64_t per = REPEAT / std::max(size[0], size[1]);
    if (!counted && (lanes.n > per || lanes.repeat == 0)) return false;
    Rows rows;
    rows.n = static_cast<size_t>(lanes.n);
    rows.count = counted ? 1 : lanes.repeat;
    bool whole = lanes.n == per;
    for (int k = 0; k < (src1 != nullptr ? 3 : 2); ++k) {
        const bool repeated = one_block && k == 2;
        if (!p.owns(spans[k]->mem) || (!counted && lanes.blk[k] != 1 && !repeated)) return false;
        const uint64_t bytes = repeated ? std::min<uint64_t>(lanes.n * size[k], BLOCK) : lanes.n * size[k];
        rows.step[k] = counted ? 0 : int64_t{lanes.rep[k]} * BLOCK;
        if (!p.inside(*spans[k], 0, rows.step[k] * (rows.count - 1) + static_cast<int64_t>(bytes))) return true;
        whole = whole && rows.step[k] == static_cast<int64_t>(per * size[k]);
    }
    const uint8_t *second = src1 != nullptr ? src1->p : nullptr;
    if (one_block) {
        run_with_one_block(loop, dst.p, src0.p, second, rows, scalar);
        return true;
    }
    if (whole) rows = {rows.n * rows.count, 1, {0, 0, 0}};
    run_loop(loop, dst.p, src0.p, second, rows, scalar);
    return true;
}

}  // namespace

void run_loop(const Loop &loop, uint8_t *d, const uint8_t *a, const uint8_t *b, const Rows &rows, const Scalar &scalar) {
    if (loop.src != Dt::F16 && loop.src != Dt::BF16) {
        loop.kernel(d, a, b, rows, scalar);
        return;
    }
    for (uint32_t r = 0; r < rows.count; ++r) {
        run_rounded(loop, d + r * rows.step[0], a + r * rows.step[1], b + r * rows.step[2], rows.n, scalar);
    }
}

void run_elementwise(Inst &inst, VecOp op, const Loop &loop, const Span &dst, const Span &src0, const Span *src1, bool reads_dst,
                     const Scalar &scalar, const Lanes &lanes) {
    const uint32_t dst_size = size_of(dst.dt), src_size = size_of(src0.dt);
    Plan plan;
    if (!loop.kernel) {
        finding("UNSUPPORTED-DTYPE", "%s: no instruction for this element type", inst.api);
        return;
    }
    if (run_plain(loop, dst, src0, src1, scalar, lanes) || !make_plan(inst, lanes, REPEAT / std::max(dst_size, src_size), plan)) {
        return;
    }
    Carry carry;
    bool ok = touch_lanes(inst, plan, 1, src0, Rw::READ, src_size);
    ok = (!src1 || touch_lanes(inst, plan, 2, *src1, Rw::READ, src_size)) && ok;
    ok = (!reads_dst || touch_lanes(inst, plan, 0, dst, Rw::READ, dst_size)) && ok;
    carry.collect(plan, dst, dst_size, src0, src1, src_size, op == VecOp::MUL || op == VecOp::AND || op == VecOp::OR);
    ok = touch_lanes(inst, plan, 0, dst, Rw::WRITE, dst_size) && ok;
    carry.mark();
    charge(inst, plan, cycles_per_repeat(op, dst.dt), dst_size);
    note_overlap(inst, plan, dst, dst_size, src0, src_size);
    if (src1) {
        note_overlap(inst, plan, dst, dst_size, *src1, src_size);
    }
    if (!ok) {
        return;
    }
    if (src1 && dst_size == src_size && repeats_one_block(plan.kind, {plan.blk[0], plan.blk[1], plan.blk[2]})) {
        const Rows rows{static_cast<size_t>(plan.n), plan.repeat, {int64_t{plan.rep[0]} * BLOCK, int64_t{plan.rep[1]} * BLOCK, int64_t{plan.rep[2]} * BLOCK}};
        run_with_one_block(loop, dst.p, src0.p, src1->p, rows, scalar);
    } else if (src1) {
        const uint32_t size[3] = {dst_size, src_size, src_size};
        for_rows<3>(plan, size, [&](const int64_t(&off)[3], size_t n, uint32_t count, const int64_t(&step)[3]) {
            const Rows rows{n, count, {step[0], step[1], step[2]}};
            run_loop(loop, dst.p + off[0], src0.p + off[1], src1->p + off[2], rows, scalar);
        });
    } else {
        const uint32_t size[2] = {dst_size, src_size};
        for_rows<2>(plan, size, [&](const int64_t(&off)[2], size_t n, uint32_t count, const int64_t(&step)[2]) {
            run_loop(loop, dst.p + off[0], src0.p + off[1], nullptr, Rows{n, count, {step[0], step[1], 0}}, scalar);
        });
    }
    saturate_floats(plan, dst);
}

void vec_binary(Inst &inst, VecOp op, const Span &dst, const Span &src0, const Span &src1, const Lanes &lanes) {
    const bool reads_dst =
        op == VecOp::MUL_ADD_DST || op == VecOp::FUSED_MUL_ADD || op == VecOp::FUSED_MUL_ADD_RELU;
    run_elementwise(inst, op, with_half(op, binary_loop(op, dst.dt, src0.dt)), dst, src0, &src1, reads_dst, Scalar{}, lanes);
}

void vec_swiglu(Inst &inst, const Span &dst, const Span &a, const Span &b, float beta, uint64_t count) {
    Lanes lanes;
    lanes.n = count;
    run_elementwise(inst, VecOp::SWISH, float_loops<ops::Swiglu>(dst.dt, a.dt), dst, a, &b, false, Scalar{beta, 0}, lanes);
}

void vec_scalar(Inst &inst, VecOp op, const Span &dst, const Span &src, const Scalar &scalar, const Lanes &lanes) {
    run_elementwise(inst, op, with_half(op, scalar_loop(op, dst.dt, src.dt)), dst, src, nullptr, op == VecOp::AXPY, scalar, lanes);
}

}  // namespace ascendc_twin
