// Arithmetic that ends in a conversion: AddReluCast, SubReluCast, MulCast, AddDeqRelu.

#include "vec_cast_blocks.h"
#include "vec_ops.h"

namespace ascendc_twin {

namespace {

// The float kernel between the blocks that load and store, with one rounding.
struct Fused {
    Kernel kernel = nullptr;
    Dt src = Dt::F32, dst = Dt::F32;

    void operator()(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n) const;
};

void Fused::operator()(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n) const {
    const LoadBlock load = load_of(src);
    const StoreBlock store = store_of(dst, RINT);
    float x[CHUNK], y[CHUNK];
    Rows rows;
    for (size_t i = 0; i < n; i += CHUNK) {
        rows.n = std::min(CHUNK, n - i);
        const uint8_t *first = a + extent(src, i), *second = b + extent(src, i);
        if (load) {
            load(first, x, rows.n);
            load(second, y, rows.n);
            first = reinterpret_cast<const uint8_t *>(x);
            second = reinterpret_cast<const uint8_t *>(y);
        }
        kernel(reinterpret_cast<uint8_t *>(x), first, second, rows, Scalar{});
        if (dst == Dt::I8 || dst == Dt::U8) rounding_of(RINT)(x, x, rows.n);
        store(x, d + extent(dst, i), rows.n);
    }
}

void add_deq_relu_loop(uint8_t *d, const uint8_t *a, const uint8_t *b, size_t n) {
    uint16_t *dst = reinterpret_cast<uint16_t *>(d);
    const double scale = static_cast<double>(half_bits_to_float(core().deq_scale_bits));
    for (size_t i = 0; i < n; ++i) {
        const double sum = static_cast<double>(reinterpret_cast<const int32_t *>(a)[i]) + reinterpret_cast<const int32_t *>(b)[i];
        dst[i] = scaled_half(std::max(sum * scale, 0.0));
    }
}

bool is_pair(Dt src, Dt dst) {
    switch (pair(src, dst)) {
        case pair(Dt::F16, Dt::I8): case pair(Dt::F16, Dt::U8): case pair(Dt::I16, Dt::I8): case pair(Dt::F32, Dt::F16): return true;
        default: return false;
    }
}

Kernel kernel_of(VecOp op) {
    switch (op) {
        case VecOp::ADD_RELU: return loop_native<ops::AddRelu, float>;
        case VecOp::SUB_RELU: return loop_native<ops::SubRelu, float>;
        case VecOp::MUL: return loop_native<ops::Mul, float>;
        default: return nullptr;
    }
}

}  // namespace

void vec_binary_cast(Inst &inst, VecOp op, const Span &dst, const Span &src0, const Span &src1, const Lanes &lanes) {
    const bool scales = op == VecOp::ADD_RELU && src0.dt == Dt::I32;
    const Fused loop{is_pair(src0.dt, dst.dt) ? kernel_of(op) : nullptr, src0.dt, dst.dt};
    if (!loop.kernel && !scales) {
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
            uint8_t *d = dst.p + off[0];
            const uint8_t *a = src0.p + off[1], *b = src1.p + off[2];
            scales ? add_deq_relu_loop(d, a, b, n) : loop(d, a, b, n);
        });
        saturate_floats(plan, dst);
    }
}

}  // namespace ascendc_twin
