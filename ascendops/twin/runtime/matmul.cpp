// The Matmul object: base blocks in the order of its tiling, each computed with the numerics of Mmad and written like Fixpipe does.
#include <algorithm>
#include <cstring>

#include "matmul_block.h"

namespace ascendc_twin {

namespace {

void check_size(const char *what, uint64_t bytes, Mem mem) {
    const uint64_t have = priv().mem[static_cast<int>(mem)].size;
    if (bytes <= have) return;
    finding("MATMUL-TILING", "%s of the tiling needs %llu bytes of %s, which has %llu", what, static_cast<unsigned long long>(bytes), mem_name(mem),
            static_cast<unsigned long long>(have));
}

void check_tiling_fits(const Mm &mm) {
    const MmTiling &t = mm.t;
    const uint64_t a = mm.a.dt == Dt::I4 ? 1 : 2 * kBlock32 / c0_of(mm.a.dt), b = mm.b.dt == Dt::I4 ? 1 : 2 * kBlock32 / c0_of(mm.b.dt);  // half bytes
    const auto block = [](int32_t x, int32_t y) { return static_cast<uint64_t>(x) * static_cast<uint64_t>(y); };
    const auto times = [](int32_t db) { return static_cast<uint64_t>(std::max(db, 1)); };
    check_size("baseM x baseK", block(t.baseM, t.baseK) * a / 2 * times(t.dbL0A), Mem::L0A);
    check_size("baseK x baseN", block(t.baseK, t.baseN) * b / 2 * times(t.dbL0B), Mem::L0B);
    check_size("baseM x baseN", block(t.baseM, t.baseN) * 4 * times(t.dbL0C), Mem::L0C);
    const uint64_t left = mm.a.span.mem == Mem::L1 ? 0 : block(t.baseM, t.baseK) * times(t.depthA1) * a / 2;
    const uint64_t right = mm.b.span.mem == Mem::L1 ? 0 : block(t.baseK, t.baseN) * times(t.depthB1) * b / 2;
    check_size("depthA1 and depthB1", left + right, Mem::L1);
}

}  // namespace

void mm_ready(Mm &mm, const char *api) {
    if (!mm.ready || mm.t.baseM <= 0 || mm.t.baseN <= 0 || mm.t.baseK <= 0) {
        finding("MATMUL-TILING", "%s: baseM %d, baseN %d, baseK %d: the object has no tiling (REGIST_MATMUL_OBJ with one, or Init)", api, mm.t.baseM,
                mm.t.baseN, mm.t.baseK);
        abandon_block();
    }
    if (!mm.a.set || !mm.b.set) {
        finding("MATMUL-USE", "%s before %s", api, mm.a.set ? "SetTensorB" : "SetTensorA");
        abandon_block();
    }
    if (t_core->checks) check_tiling_fits(mm);
    if (mm.block == nullptr) mm.block = new MmBlock();
}

void mm_free(Mm &mm) {
    delete mm.block;
    mm.block = nullptr;
}

namespace {

int32_t blocks(int32_t whole, int32_t base) {
    return (whole + base - 1) / base;
}

bool wanted(const Mm &mm) {
    return mm.triangle == 0 || (mm.triangle == 1 ? mm.at_m <= mm.at_n : mm.at_m >= mm.at_n);
}

// Goes on to the next block; false: the last one was reached.
bool advance(Mm &mm) {
    const int32_t rows = blocks(mm.m, mm.t.baseM), columns = blocks(mm.n, mm.t.baseN);
    const int32_t steps = mm.partial_output ? blocks(mm.k, mm.t.baseK) : 1;
    if (rows <= 0 || columns <= 0 || mm.k <= 0) return false;
    do {
        if (!mm.running) {
            mm.running = true;
            mm.at_m = mm.at_n = mm.at_k = 0;
        } else if (++mm.at_k >= steps) {
            mm.at_k = 0;
            int32_t &inner = mm.n_first ? mm.at_n : mm.at_m, &outer = mm.n_first ? mm.at_m : mm.at_n;
            if (++inner >= (mm.n_first ? columns : rows)) {
                inner = 0;
                ++outer;
            }
        }
        if (mm.at_m >= rows || mm.at_n >= columns) {
            mm.running = false;
            return false;
        }
    } while (!wanted(mm));
    return true;
}

template <typename T>
bool sparse_right(Inst &inst, const Mm &mm, uint32_t from, uint32_t depth, uint32_t column, uint32_t columns, T *to) {
    if constexpr (std::is_same_v<T, int32_t>) {
        return read_sparse(inst, mm, mm.block->slot_b, from, depth, column, columns, to);
    } else {
        finding("MATMUL-USE", "SetSparseIndex: only int8_t matrices may be sparse");
        return false;
    }
}

template <typename T>
bool compute(Mm &mm, std::vector<T> &c, std::vector<T> &a, std::vector<T> &b, bool accumulate) {
    MmBlock &block = *mm.block;
    const auto row = static_cast<uint32_t>(mm.at_m * mm.t.baseM), column = static_cast<uint32_t>(mm.at_n * mm.t.baseN);
    const uint32_t rows = std::min<uint32_t>(mm.t.baseM, mm.m - row), columns = std::min<uint32_t>(mm.t.baseN, mm.n - column);
    const uint32_t from = mm.partial_output ? static_cast<uint32_t>(mm.at_k * mm.t.baseK) : 0;
    const uint32_t depth = mm.partial_output ? std::min<uint32_t>(mm.t.baseK, mm.k - from) : static_cast<uint32_t>(mm.k);
    const uint32_t wide = ceil_div(columns, kCube);
    const uint64_t pitch = uint64_t{ceil_div(rows, kCube)} * kCube * kCube;
    block.rows = rows;
    block.columns = columns;
    Inst inst("Matmul", PipeId::MTE2);
    priv().gm_clip = false;
    if (!accumulate) c.assign(pitch * wide, T{});
    c.resize(pitch * wide);
    a.resize(uint64_t{rows} * depth + 64);
    const bool good_a = mm.callbacks.copy_a != nullptr ? left_by_callback(mm, rows, from, depth, a.data())
                                                       : read_left(inst, mm, block.slot_a, row, rows, from, depth, a.data());
    const int64_t b_of = (block.batch * 4096 + mm.at_n) * 4096 + mm.at_k;
    bool good_b = true;
    if (block.b_of != b_of || b.size() < uint64_t{wide} * kCube * depth) {
        b.resize(uint64_t{wide} * kCube * depth + 64);
        good_b = mm.sparse ? sparse_right(inst, mm, from, depth, column, columns, b.data())
                 : mm.callbacks.copy_b != nullptr ? right_by_callback(mm, columns, from, depth, b.data())
                                                  : read_right(inst, mm, block.slot_b, from, depth, column, columns, b.data());
        block.b_of = good_b ? b_of : -1;
    }
    if (!good_a || !good_b) return false;
    if constexpr (std::is_same_v<T, float>) {
        if (mm.hf32 && mm.a.dt == Dt::F32) {
            for (T &x : a) x = as_hf32(x);
            for (T &x : b) x = as_hf32(x);
        }
    }
    if (!accumulate && mm.has_bias && mm.at_k == 0) {
        std::vector<T> bias(wide * kCube);
        if (!read_bias(inst, mm, block.bias_start, column, columns, bias.data())) return false;
        for (uint32_t w = 0; w < wide; ++w) {
            for (uint32_t r = 0; r < rows; ++r) memcpy(c.data() + w * pitch + r * kCube, bias.data() + w * kCube, kCube * sizeof(T));
        }
    }
    ++priv().in_runtime;
    multiply_blocks(c.data(), pitch, a.data(), b.data(), rows, wide, depth);
    --priv().in_runtime;
    inst.moved = uint64_t{ceil_div(rows, kCube)} * wide * ceil_div(depth, c0_of(mm.a.dt));
    return true;
}

// The user's own L0C tensor holds the result: taken from there to accumulate, and put there.
template <typename T>
bool exchange_l0c(const Mm &mm, const Span &l0c, std::vector<T> &c, Rw rw) {
    Inst inst("Iterate", PipeId::M);
    const uint64_t bytes = c.size() * sizeof(T);
    (void)mm;
    if (!touch(inst, l0c, rw, walk(bytes), 64)) return false;
    if (rw == Rw::WRITE) {
        memcpy(l0c.p, c.data(), bytes);
    } else {
        memcpy(c.data(), l0c.p, bytes);
    }
    return true;
}

template <typename T>
bool compute_into(Mm &mm, std::vector<T> &c, std::vector<T> &a, std::vector<T> &b, bool accumulate, const Span *l0c) {
    if (l0c != nullptr && accumulate) {
        const uint32_t rows = std::min<uint32_t>(mm.t.baseM, mm.m - mm.at_m * mm.t.baseM), columns = std::min<uint32_t>(mm.t.baseN, mm.n - mm.at_n * mm.t.baseN);
        c.resize(uint64_t{ceil_div(rows, kCube)} * kCube * ceil_div(columns, kCube) * kCube);
        if (!exchange_l0c(mm, *l0c, c, Rw::READ)) return true;
    }
    if (!compute(mm, c, a, b, accumulate)) return true;
    if (l0c != nullptr) exchange_l0c(mm, *l0c, c, Rw::WRITE);
    return true;
}

}  // namespace

bool mm_iterate(Mm &mm, bool accumulate, const Span *l0c) {
    mm_ready(mm, "Iterate");
    if (!mm.running) mm.block->b_of = -1;
    if (!advance(mm)) return false;
    MmBlock &block = *mm.block;
    return integers(mm) ? compute_into(mm, block.ic, block.ia, block.ib, accumulate, l0c) : compute_into(mm, block.c, block.a, block.b, accumulate, l0c);
}

void mm_get(Mm &mm, const MmOut &out) {
    if (mm.block == nullptr || !mm.running) {
        finding("MATMUL-USE", "GetTensorC without an Iterate that returned true");
        return;
    }
    if (mm.callbacks.copy_out == nullptr) return mm_write(mm, out, static_cast<uint32_t>(mm.at_m * mm.t.baseM), static_cast<uint32_t>(mm.at_n * mm.t.baseN));
    copy_out_by_callback(mm, out);
}

void mm_all(Mm &mm, const MmOut &out) {
    mm.running = false;
    uint64_t done = 0;
    while (mm_iterate(mm, false, nullptr)) {
        MmOut place = out;
        if (out.sequential) {  // base blocks follow each other
            const uint64_t step = done * static_cast<uint64_t>(mm.t.baseM) * static_cast<uint64_t>(mm.t.baseN) * (kBlock32 / c0_of(mm.c.dt));
            place.dst.p += step;
            place.dst.addr += step;
            place.dst.bytes -= std::min(place.dst.bytes, step);
        }
        mm_get(mm, place);
        ++done;
    }
}

namespace {

// Batch number `batch` of a tensor with the given layout. `rows` x `columns`: the stored matrix.
MmSlot slot_of(MmLayout layout, const int32_t (&info)[5], uint64_t rows, uint64_t columns, uint64_t batch, uint64_t stride) {
    const auto heads = static_cast<uint64_t>(std::max(info[2] * info[3], 1)), depth = static_cast<uint64_t>(info[4]), length = static_cast<uint64_t>(info[1]);
    switch (layout) {
        case MmLayout::BSNGD: return {batch / heads * length * heads * depth + batch % heads * depth, heads * depth};
        case MmLayout::SBNGD: return {batch * depth, static_cast<uint64_t>(info[0]) * heads * depth};
        default: return {batch * (stride != 0 ? stride : rows * columns), 0};
    }
}

}  // namespace

void mm_batch(Mm &mm, const MmOut &out, uint32_t batch_a, uint32_t batch_b, uint32_t stride_a, uint32_t stride_b, uint32_t first) {
    mm_ready(mm, "IterateBatch");
    const uint32_t batches = std::max(batch_a, batch_b);
    const auto m = static_cast<uint64_t>(mm.m), n = static_cast<uint64_t>(mm.n), k = static_cast<uint64_t>(mm.k);
    const Mm saved = mm;
    mm.org_m = mm.m;
    mm.org_n = mm.n;
    mm.org_ka = mm.org_kb = mm.k;
    for (uint32_t i = 0; i < batches; ++i) {
        MmBlock &block = *mm.block;
        block.batch = i;
        const uint32_t ia = first / batches * batch_a + i / (batches / std::max(batch_a, 1u)), ib = first / batches * batch_b + i / (batches / std::max(batch_b, 1u));
        block.slot_a = slot_of(mm.a.layout, mm.t.layout_a, m, k, ia, stride_a);
        block.slot_b = slot_of(mm.b.layout, mm.t.layout_b, k, n, ib, stride_b);
        block.slot_c = slot_of(mm.c.layout, mm.t.layout_c, m, n, first + i, 0);
        block.bias_start = mm.bias_per_batch ? (first + i) * n : 0;
        mm_all(mm, out);
    }
    *mm.block = MmBlock();
    const MmBlock *kept = mm.block;
    mm = saved;
    mm.block = const_cast<MmBlock *>(kept);
    mm.running = false;
}

}  // namespace ascendc_twin
