// Arithmetic that ends in a conversion: AddReluCast, SubReluCast, MulCast, AddDeqRelu.
#pragma GCC optimize("no-math-errno,no-trapping-math")

#include "vec_cast_blocks.h"
#include "vec_ops.h"

namespace ascendc_twin {

namespace {

template <Dt S, typename F, Dt D>
void fused_loop(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, const Scalar &) {
    float x[CHUNK], y[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = std::min(CHUNK, n - i);
        load_exact<S>(a + extent<S>(i), x, m);
        load_exact<S>(b + extent<S>(i), y, m);
#pragma GCC ivdep
        for (size_t j = 0; j < m; ++j) {
            x[j] = F::template f<float>(0.0f, x[j], y[j], 0.0f);
        }
        store_rounded<D, RINT>(x, d + extent<D>(i), m);
    }
}
void add_deq_relu_loop(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n, const Scalar &) {
    uint16_t *dst = reinterpret_cast<uint16_t *>(d);
    const double scale = static_cast<double>(half_bits_to_float(core().deq_scale_bits));
    for (size_t i = 0; i < n; ++i) {
        const double sum = static_cast<double>(reinterpret_cast<const int32_t *>(a)[i]) + reinterpret_cast<const int32_t *>(b)[i];
        dst[i] = scaled_half(std::max(sum * scale, 0.0));
    }
}
template <typename F>
Loop find_fused(Dt src, Dt dst) {
    switch (pair(src, dst)) {
        case pair(Dt::F16, Dt::I8): return fused_loop<Dt::F16, F, Dt::I8>;
        case pair(Dt::F16, Dt::U8): return fused_loop<Dt::F16, F, Dt::U8>;
        case pair(Dt::I16, Dt::I8): return fused_loop<Dt::I16, F, Dt::I8>;
        case pair(Dt::F32, Dt::F16): return fused_loop<Dt::F32, F, Dt::F16>;
        default: return nullptr;
    }
}

}  // namespace

void vec_binary_cast(Inst &inst, VecOp op, const Span &dst, const Span &src0, const Span &src1, const Lanes &lanes) {
    Loop loop = nullptr;
    if (op == VecOp::ADD_RELU) {
        loop = src0.dt == Dt::I32 ? add_deq_relu_loop : find_fused<ops::AddRelu>(src0.dt, dst.dt);
    } else if (op == VecOp::SUB_RELU) {
        loop = find_fused<ops::SubRelu>(src0.dt, dst.dt);
    } else if (op == VecOp::MUL) {
        loop = find_fused<ops::Mul>(src0.dt, dst.dt);
    }
    if (!loop) {
        finding("UNSUPPORTED-DTYPE", "%s: this pair of element types cannot be converted", inst.api);
        return;
    }
    const uint32_t dst_size = size_of(dst.dt), src_size = size_of(src0.dt);
    Plan plan;
    if (!make_plan(inst, lanes, REPEAT / std::max(dst_size, src_size), plan)) {
        return;
    }
    bool ok = touch_lanes(inst, plan, 1, src0, Rw::READ, src_size);
    ok = touch_lanes(inst, plan, 2, src1, Rw::READ, src_size) && ok;
    ok = touch_lanes(inst, plan, 0, dst, Rw::WRITE, dst_size) && ok;
    charge(inst, plan, 1, dst_size);
    const uint32_t size[3] = {dst_size, src_size, src_size};
    if (ok) {
        for_runs<3>(plan, size, [&](const int64_t(&off)[3], size_t n) {
            loop(dst.p + off[0], src0.p + off[1], src1.p + off[2], n, Scalar{});
        });
    }
}

}  // namespace ascendc_twin
