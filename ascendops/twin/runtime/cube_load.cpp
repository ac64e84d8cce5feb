// Copies into L1 that make fractals, and loads of fractals from L1 into L0A and L0B.
#include <algorithm>
#include <cstring>

#include "checker.h"
#include "cube_contents.h"

namespace ascendc_twin {

void cube_reset(Private &p) {
    if (p.cube == nullptr) p.cube = new CubeState();
    std::vector<float> a = std::move(p.cube->a), b = std::move(p.cube->b);
    *p.cube = CubeState();
    p.cube->a = std::move(a);
    p.cube->b = std::move(b);
}

bool check_memory(const Span &span, const char *what, std::initializer_list<Mem> allowed) {
    if (span.p == nullptr && span.mem != Mem::GM) return true;  // touch() reports a tensor without memory
    std::string names;
    for (Mem mem : allowed) {
        if (mem == span.mem) return true;
        names += (names.empty() ? "" : " or ") + std::string(mem_name(mem));
    }
    finding("CUBE-POSITION", "%s: %s lies in %s; it must lie in %s", priv().api, what, mem_name(span.mem), names.c_str());
    return false;
}

FixRegisters &fix_registers() {
    return cube().fix;
}
void set_fmatrix(uint32_t h, uint32_t w, const uint8_t pad[4], bool right) {
    CubeState &s = cube();
    s.image_h[right] = h;
    s.image_w[right] = w;
    memcpy(s.image_pad[right], pad, 4);
}
void set_load_padding(uint64_t bits) {
    cube().load_padding = bits;
}
void set_load_boundary(uint32_t bytes) {
    cube().boundary = bytes;
}
void set_load_repeat(uint32_t stride, uint32_t times, uint32_t mode) {
    CubeState &s = cube();
    s.repeat_stride = stride;
    s.repeat_times = times;
    s.repeat_mode = mode;
}
void set_hf32(bool on) {
    cube().hf32 = on;
}
void set_hf32_rounding(bool to_zero) {
    cube().hf32_to_zero = to_zero;
}

namespace {

// Bytes of a row of global memory that may be read; the rest of an access that leaves its buffer is undefined.
void read_row(uint8_t *to, const uint8_t *from, uint64_t bytes, bool clipped) {
    if (!clipped) {
        memcpy(to, from, bytes);
        return;
    }
    const uint64_t inside = gm_inside(priv(), reinterpret_cast<uint64_t>(from), bytes);
    memcpy(to, from, inside);
    memset(to + inside, 0x7f, bytes - inside);
}

bool touch_source(Inst &inst, const Span &src, const Walk &w) {
    Private &p = priv();
    p.may_clip = true;
    const bool good = touch_cube(inst, src, Rw::READ, w);
    p.may_clip = false;
    return good;
}

// One row of the fractal matrix: its elements lie in 32-byte blocks, a column of fractals apart; the last block is filled up with 0.
void scatter_row(uint8_t *dst, const uint8_t *row, uint64_t bytes, uint64_t column) {
    uint64_t at = 0;
    for (; at + kBlock32 <= bytes; at += kBlock32, dst += column) memcpy(dst, row + at, kBlock32);
    if (at == bytes) return;
    memcpy(dst, row + at, bytes - at);
    memset(dst + (bytes - at), 0, kBlock32 - (bytes - at));
}

void gather_columns(const Span &src, const ToNz &p, uint64_t matrix, uint32_t row, uint8_t *out, bool clipped) {
    const uint64_t e = p.element;
    for (uint32_t d = 0; d < p.d; ++d) {
        read_row(out + d * e, src.p + (matrix * p.src_matrix + d * p.src_pitch + row) * e, e, clipped);
    }
}

}  // namespace

void copy_to_nz(Inst &inst, const Span &dst, const Span &src, const ToNz &p) {
    if (p.count == 0 || p.n == 0 || p.d == 0) return;
    if (!check_memory(dst, "the destination", {Mem::L1}) || !core_has(dst.mem)) return;
    const uint64_t e = p.element, bytes = p.d * e;
    const uint32_t columns = static_cast<uint32_t>((bytes + kBlock32 - 1) / kBlock32);
    const uint64_t across = p.transposed ? p.n * e : bytes;
    if (!touch_source(inst, src, walk(across, p.transposed ? p.d : p.n, static_cast<int64_t>(p.src_pitch * e), p.count,
                                      static_cast<int64_t>(p.src_matrix * e)))) {
        return;
    }
    const bool clipped = priv().gm_clip, dense = p.dst_n == 1;
    for (uint32_t i = 0; i < p.count; ++i) {
        const auto off = static_cast<int64_t>(i * p.dst_matrix * e);
        const Walk w = dense ? walk(kBlock32 * p.n, columns, static_cast<int64_t>(p.dst_c0 * kBlock32), 1, 0, off)
                             : walk(kBlock32, p.n, static_cast<int64_t>(p.dst_n * kBlock32), columns,
                                    static_cast<int64_t>(p.dst_c0 * kBlock32), off);
        if (!touch_cube(inst, dst, Rw::WRITE, w)) return;
    }
    std::vector<uint8_t> row;
    if (clipped || p.transposed) row.resize(bytes);
    for (uint32_t i = 0; i < p.count; ++i) {
        uint8_t *to = dst.p + i * p.dst_matrix * e;
        for (uint32_t n = 0; n < p.n; ++n, to += p.dst_n * kBlock32) {
            const uint8_t *from = src.p + (i * p.src_matrix + n * p.src_pitch) * e;
            if (p.transposed) {
                gather_columns(src, p, i, n, row.data(), clipped);
            } else if (clipped) {
                read_row(row.data(), from, bytes, true);
            }
            scatter_row(to, row.empty() ? from : row.data(), bytes, p.dst_c0 * kBlock32);
        }
    }
    inst.moved = bytes * p.n * p.count;
    inst.runs = p.n * p.count;
}

namespace {

template <typename T>
void transpose_16(uint8_t *dst, const uint8_t *src) {
    const auto *in = reinterpret_cast<const T *>(src);
    auto *out = reinterpret_cast<T *>(dst);
    for (uint32_t r = 0; r < kCube; ++r) {
        for (uint32_t c = 0; c < kCube; ++c) out[c * kCube + r] = in[r * kCube + c];
    }
}

}  // namespace

void load_2d(Inst &inst, const Span &dst, const Span &src, const Load2d &p) {
    if (p.repeat == 0) return;
    if (!check_memory(dst, "the destination", {Mem::L0A, Mem::L0B, Mem::L1}) || !core_has(dst.mem)) return;
    if (p.transpose && (c0_of(src.dt) != kCube || src.mem == Mem::GM)) {
        finding("CUBE-RANGE", "LoadData: ifTranspose is for 16-bit elements on their way out of L1; use LoadDataWithTranspose");
        return;
    }
    const auto step = static_cast<int64_t>(p.src_stride * kFractal) * (p.backward ? -1 : 1);
    const auto out_step = static_cast<int64_t>((1 + p.dst_gap) * kFractal);
    const auto start = static_cast<int64_t>(p.start * kFractal);
    Judge judge(priv());
    if (!touch_cube(inst, src, Rw::READ, walk(kFractal, p.repeat, step, 1, 0, start))) return;
    const bool holes = judge.found();
    if (!touch_cube(inst, dst, Rw::WRITE, walk(kFractal, p.repeat, out_step))) return;
    for (uint32_t i = 0; i < p.repeat; ++i) {
        const uint8_t *from = src.p + start + step * i;
        uint8_t *to = dst.p + out_step * i;
        if (holes) carry_unwritten(src, static_cast<uint64_t>(start + step * i), kFractal, dst, static_cast<uint64_t>(out_step * i), kFractal, !p.transpose);
        if (p.transpose) {
            transpose_16<uint16_t>(to, from);
        } else {
            memcpy(to, from, kFractal);
        }
    }
    inst.moved = kFractal * p.repeat;
    inst.runs = p.repeat;
}

namespace {

// Element (row, column) of `side` x `side` squares made of fractals: 32-bit fractals lie side by side, others below each other.
uint32_t at_square(uint32_t row, uint32_t column, uint32_t c0) {
    return c0 == 8 ? (column / 8) * 128 + row * 8 + column % 8 : row * c0 + column;
}

template <typename T>
void turn_square(uint8_t *dst, const uint8_t *src, uint32_t c0, uint64_t step) {
    const uint32_t side = std::max(c0, kCube), fractals = side * side / (kCube * c0);
    const auto *in = reinterpret_cast<const T *>(src);
    for (uint32_t f = 0; f < fractals; ++f) {
        auto *out = reinterpret_cast<T *>(dst + f * step);
        for (uint32_t r = 0; r < kCube; ++r) {
            for (uint32_t c = 0; c < c0; ++c) {
                const uint32_t row = c0 == 8 ? r : f * kCube + r, column = c0 == 8 ? f * 8 + c : c;
                out[r * c0 + c] = in[at_square(column, row, c0)];
            }
        }
    }
}

void turn_square_int4(uint8_t *dst, const uint8_t *src, uint64_t step) {
    const auto nibble = [src](uint32_t row, uint32_t column) { return src[row * 32 + column / 2] >> (column % 2 * 4) & 0xf; };
    for (uint32_t row = 0; row < 64; ++row) {
        uint8_t *out = dst + row / kCube * step + row % kCube * 32;
        for (uint32_t c = 0; c < 64; c += 2) out[c / 2] = static_cast<uint8_t>(nibble(c, row) | nibble(c + 1, row) << 4);
    }
}

}  // namespace

void load_square(Inst &inst, const Span &dst, const Span &src, const LoadSquare &p) {
    if (p.repeat == 0) return;
    if (!check_memory(dst, "the destination", {Mem::L0A, Mem::L0B}) || !check_memory(src, "the source", {Mem::L1}) || !core_has(dst.mem)) return;
    const uint32_t c0 = c0_of(src.dt), fractals = c0 == 64 ? 4 : c0 == kCube ? 1 : 2;
    const uint64_t square = fractals * kFractal, inner = (1 + p.dst_fractal_gap) * kFractal;
    const auto step = static_cast<int64_t>(p.src_stride * square) * (p.backward ? -1 : 1);
    const auto out_step = static_cast<int64_t>((1 + p.dst_gap) * kFractal);
    const auto start = static_cast<int64_t>(p.start * square);
    Judge judge(priv());
    if (!touch_cube(inst, src, Rw::READ, walk(square, p.repeat, step, 1, 0, start))) return;
    const bool holes = judge.found();
    if (!touch_cube(inst, dst, Rw::WRITE, walk(kFractal, fractals, static_cast<int64_t>(inner), p.repeat, out_step))) return;
    for (uint32_t i = 0; i < p.repeat; ++i) {
        const uint8_t *from = src.p + start + step * i;
        uint8_t *to = dst.p + out_step * i;
        for (uint32_t f = 0; holes && f < fractals; ++f) {
            carry_unwritten(src, static_cast<uint64_t>(start + step * i), square, dst, static_cast<uint64_t>(out_step * i) + f * inner, kFractal, false);
        }
        switch (c0) {
            case 64: turn_square_int4(to, from, inner); break;
            case 32: turn_square<uint8_t>(to, from, c0, inner); break;
            case 16: turn_square<uint16_t>(to, from, c0, inner); break;
            default: turn_square<uint32_t>(to, from, c0, inner);
        }
    }
    inst.moved = square * p.repeat;
    inst.runs = p.repeat;
}

void load_sparse(Inst &inst, const Span &dst, const Span &src, const Span &index, uint32_t start, uint32_t repeat) {
    constexpr uint64_t kIndices = 128;  // of one fractal
    if (repeat == 0) return;
    if (!check_memory(dst, "the destination", {Mem::L0B}) || !check_memory(src, "the source", {Mem::L1}) || !check_memory(index, "the index", {Mem::L1})) return;
    Load2d dense;
    dense.start = start;
    dense.repeat = repeat;
    dense.src_stride = 1;
    const auto off = static_cast<int64_t>(start * kIndices);
    if (!touch_cube(inst, index, Rw::READ, walk(kIndices * repeat, 1, 0, 1, 0, off))) return;
    load_2d(inst, dst, src, dense);
    std::vector<uint8_t> &indices = cube().sparse;
    const uint64_t to = dst.addr / kFractal * kIndices;
    indices.resize(std::max<uint64_t>(indices.size(), to + kIndices * repeat));
    memcpy(indices.data() + to, index.p + off, kIndices * repeat);
}

void fill_blocks(Inst &inst, const Span &dst, uint32_t repeat, uint32_t blocks, uint32_t gap, uint64_t bits, uint32_t element) {
    if (repeat == 0 || blocks == 0) return;
    if (!check_memory(dst, "the destination", {Mem::L1, Mem::L0A, Mem::L0B}) || !core_has(dst.mem)) return;
    const uint64_t unit = dst.mem == Mem::L1 ? kBlock32 : kFractal, run = blocks * unit, step = run + gap * unit;
    if (!touch_cube(inst, dst, Rw::WRITE, walk(run, repeat, static_cast<int64_t>(step)))) return;
    for (uint32_t i = 0; i < repeat; ++i) {
        for (uint64_t at = 0; at < run; at += element) memcpy(dst.p + i * step + at, &bits, element);
    }
    inst.moved = run * repeat;
    inst.runs = repeat;
}

void copy_to_table(Inst &inst, const Span &dst, const Span &src, uint32_t count, uint32_t len, uint32_t src_gap, uint32_t dst_gap) {
    if (!check_memory(src, "the source", {Mem::L1}) || !core_has(dst.mem)) return;
    const bool widen = dst.mem == Mem::BT && dst.dt == Dt::F32 && src.dt == Dt::F16;
    const uint64_t unit = dst.mem == Mem::BT ? 64 : 128, read = len * unit, wider = widen ? 2 : 1, run = read * wider;  // units of what is read
    // Into the bias table gaps are between blocks, into the Fixpipe buffer from start to start.
    const uint64_t dst_step = dst.mem == Mem::BT ? run + dst_gap * unit : dst_gap * unit;
    const uint64_t src_step = dst.mem == Mem::BT ? read + src_gap * kBlock32 : src_gap * kBlock32;
    Judge judge(priv());
    if (!touch_cube(inst, src, Rw::READ, walk(read, count, static_cast<int64_t>(src_step)))) return;
    const bool holes = judge.found();
    std::vector<uint8_t> block(run);
    const auto prepare = [&](uint32_t i) {
        const uint8_t *from = src.p + i * src_step;
        if (!widen) memcpy(block.data(), from, run);
        for (uint64_t k = 0; widen && k < run / 4; ++k) reinterpret_cast<float *>(block.data())[k] = static_cast<float>(reinterpret_cast<const half *>(from)[k]);
    };
    // Kernels load the same biases for each part of K: whether Mmad reads them before or after makes no difference.
    bool again = !holes && core_has(dst.mem) && dst.addr + dst_step * count <= priv().mem[static_cast<int>(dst.mem)].size;
    for (uint32_t i = 0; again && i < count; ++i) {
        prepare(i);
        again = memcmp(dst.p + i * dst_step, block.data(), run) == 0;
    }
    if (!touch_cube(inst, dst, again ? Rw::READ : Rw::WRITE, walk(run, count, static_cast<int64_t>(dst_step)))) return;
    for (uint32_t i = 0; i < count; ++i) {
        for (uint64_t at = 0; holes && at < read; at += kBlock32) {
            carry_unwritten(src, i * src_step + at, kBlock32, dst, i * dst_step + at * wider, kBlock32 * wider, false);
        }
        prepare(i);
        memcpy(dst.p + i * dst_step, block.data(), run);
    }
    inst.moved = run * count;
    inst.runs = count;
}

void broadcast_to_l0c(Inst &inst, const Span &dst, const Span &src, uint32_t count, uint32_t len, uint32_t src_gap, uint32_t dst_gap) {
    if (!check_memory(dst, "the destination", {Mem::L0C}) || !core_has(dst.mem)) return;
    const uint64_t e = kBlock32 / c0_of(src.dt), row = kCube * e, run = len * row;
    const uint64_t src_step = run + src_gap * kBlock32, dst_step = (len + uint64_t{dst_gap}) * 256 * e;
    if (!touch_cube(inst, src, Rw::READ, walk(run, count, static_cast<int64_t>(src_step)))) return;
    if (!touch_cube(inst, dst, Rw::WRITE, walk(len * 256 * e, count, static_cast<int64_t>(dst_step)))) return;
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t b = 0; b < len * kCube; ++b) {
            memcpy(dst.p + i * dst_step + b * row, src.p + i * src_step + b / kCube * row, row);
        }
    }
    inst.moved = run * count;
}

}  // namespace ascendc_twin
