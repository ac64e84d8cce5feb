// Mmad: fractals of L0A and L0B are unpacked once, then multiplied in blocks of registers.
//
// Every product of two 16-bit or 8-bit elements is exact. Sums are kept in float (int32_t for integers) and rounded after each
// product, in the order of k; products of two floats are rounded together with their sum.
#include <algorithm>
#include <cstring>

#include "checker.h"
#include "cube_contents.h"
#include "order.h"
#include "vec_convert.h"

#if defined(__clang__)
#pragma clang fp contract(fast)
#else
#pragma GCC optimize("fp-contract=fast")
#endif

namespace ascendc_twin {

namespace {

typedef float Floats __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));
#if defined(__AVX512F__)
constexpr uint32_t kRows = 16;  // accumulators: 32 vector registers
#else
constexpr uint32_t kRows = 4;
#endif

// One column block of C, rows r to r + ROWS: c[16 x rows] += a[rows x k] b[k x 16].
template <typename V, typename T, uint32_t ROWS>
inline __attribute__((always_inline)) void multiply_rows(T *c, const T *a, uint32_t a_pitch, const T *b, uint32_t k) {
    V sum[ROWS];
    for (uint32_t r = 0; r < ROWS; ++r) __builtin_memcpy(&sum[r], c + r * kCube, sizeof(V));
    for (uint32_t i = 0; i < k; ++i) {
        V row;
        __builtin_memcpy(&row, b + i * kCube, sizeof(V));
        for (uint32_t r = 0; r < ROWS; ++r) sum[r] += row * a[r * a_pitch + i];
    }
    for (uint32_t r = 0; r < ROWS; ++r) __builtin_memcpy(c + r * kCube, &sum[r], sizeof(V));
}

// c: columns of fractals of C, 16 elements a row, `c_pitch` elements from one column to the next. a: rows of k. b: per column k x 16.
template <typename V, typename T>
void multiply(T *c, uint64_t c_pitch, const T *a, const T *b, uint32_t m, uint32_t columns, uint32_t k) {
    constexpr uint32_t kBand = 256;  // of k: that much of B stays in the first-level cache
    for (uint32_t from = 0; from < k; from += kBand) {
        const uint32_t part = std::min(kBand, k - from);
        for (uint32_t column = 0; column < columns; ++column) {
            const T *at = b + (uint64_t{column} * k + from) * kCube;
            uint32_t row = 0;
            for (; row + kRows <= m; row += kRows) {
                multiply_rows<V, T, kRows>(c + column * c_pitch + row * kCube, a + uint64_t{row} * k + from, k, at, part);
            }
            for (; row < m; ++row) multiply_rows<V, T, 1>(c + column * c_pitch + row * kCube, a + uint64_t{row} * k + from, k, at, part);
        }
    }
}

float hf32(float x, bool to_zero) {
    const uint32_t u = float_bits(x), rest = u & 0xfff;
    if ((u & 0x7f800000u) == 0x7f800000u) return x;
    const bool up = to_zero ? rest > 0x800 : rest > 0x800 || (rest == 0x800 && (u & 0x1000) != 0);
    return bits_float((u & ~0xfffu) + (up ? 0x1000u : 0));
}

// 32 bytes of elements as numbers.
void unpack(const uint8_t *from, Dt dt, float *to) {
    switch (dt) {
        case Dt::F16: return half_to_float(from, to, 16);
        case Dt::BF16: return bf16_to_float(from, to, 16);
        default: memcpy(to, from, kBlock32);
    }
}
void unpack(const uint8_t *from, Dt dt, int32_t *to) {
    for (uint32_t i = 0; i < 32; ++i) {
        switch (dt) {
            case Dt::U8: to[i] = from[i]; break;
            case Dt::I4:
                to[2 * i] = static_cast<int8_t>(from[i] << 4) >> 4;
                to[2 * i + 1] = static_cast<int8_t>(from[i]) >> 4;
                break;
            default: to[i] = static_cast<int8_t>(from[i]);
        }
    }
}

// Rows of A: m x k numbers out of fractals of 16 x c0, `across` of them in a row of fractals; one row of k elements for GEMV.
template <typename T>
void unpack_a(const uint8_t *a, Dt dt, const Mad &p, uint32_t across, bool gemv, std::vector<T> &out) {
    const uint32_t c0 = c0_of(dt);
    out.resize(uint64_t{p.m} * p.k + 64);
    T block[64];
    for (uint32_t row = 0; row < p.m; ++row) {
        for (uint32_t k = 0; k < p.k; k += c0) {
            const uint64_t at = gemv ? uint64_t{k} / c0 * kBlock32
                                     : (uint64_t{row / kCube} * across + k / c0) * kFractal + row % kCube * kBlock32;
            unpack(a + at, dt, block);
            memcpy(out.data() + uint64_t{row} * p.k + k, block, std::min(c0, p.k - k) * sizeof(T));
        }
    }
}

// B by columns of 16: k x 16 numbers each, out of fractals of c0 x 16 that hold columns.
template <typename T>
void unpack_b(const uint8_t *b, Dt dt, const Mad &p, uint32_t columns, std::vector<T> &out) {
    const uint32_t c0 = c0_of(dt);
    out.resize(uint64_t{columns} * kCube * p.k + 64);
    T fractal[kCube * 64];
    for (uint32_t k = 0; k < p.k; k += c0) {
        const uint32_t rows = std::min(c0, p.k - k);
        for (uint32_t column = 0; column < columns; ++column) {
            const uint8_t *from = b + (uint64_t{k / c0} * columns + column) * kFractal;
            for (uint32_t n = 0; n < kCube; ++n) unpack(from + n * kBlock32, dt, fractal + n * c0);
            T *to = out.data() + (uint64_t{column} * p.k + k) * kCube;
            for (uint32_t i = 0; i < rows; ++i) {
                for (uint32_t n = 0; n < kCube; ++n) to[i * kCube + n] = fractal[n * c0 + i];
            }
        }
    }
}

// B of half the rows, spread by the indices that came with it: 128 bytes a fractal, one byte for 4 dense elements of a column.
template <typename T>
void unpack_sparse(const Span &b, Mad p, uint32_t columns, std::vector<T> &out) {
    std::vector<T> dense;
    const uint32_t k = p.k;
    p.k = k / 2;
    unpack_b(b.p, b.dt, p, columns, dense);
    out.resize(uint64_t{columns} * kCube * k + 64);
    const std::vector<uint8_t> &indices = cube().sparse;
    spread_sparse(dense.data(), k, columns, out.data(), [&](uint32_t column, uint32_t quad) {
        const uint64_t fractal = b.addr / kFractal + uint64_t{quad / 16} * columns + column / kCube;  // 32 dense elements: 16 quads of A
        const uint64_t at = fractal * 128 + column % kCube * 8 + quad % 16 / 2;
        return at < indices.size() ? uint32_t{indices[at]} >> quad % 2 * 4 & 0xf : 0u;
    });
}

// The start value of C: nothing (it accumulates), zero, or the bias of each column.
template <typename T>
void start_c(T *c, uint64_t pitch, const Mad &p, uint32_t columns, const T *bias) {
    if (!p.clear && bias == nullptr) return;
    for (uint32_t column = 0; column < columns; ++column) {
        for (uint32_t row = 0; row < p.m; ++row) {
            T *to = c + column * pitch + row * kCube;
            if (bias != nullptr) {
                memcpy(to, bias + column * kCube, kCube * sizeof(T));
            } else {
                std::fill_n(to, kCube, T{});
            }
        }
    }
}

template <typename V, typename T>
void run(const Span &dst, const Span &a, const Span &b, const T *bias, const Mad &p, uint32_t across, bool gemv, std::vector<T> &ua,
         std::vector<T> &ub) {
    const uint32_t columns = ceil_div(p.n, kCube);
    const uint64_t pitch = uint64_t{ceil_div(p.m, kCube)} * kCube * kCube;
    unpack_a(a.p, a.dt, p, across, gemv, ua);
    if (p.sparse) {
        unpack_sparse(b, p, columns, ub);
    } else {
        unpack_b(b.p, b.dt, p, columns, ub);
    }
    if constexpr (std::is_same_v<T, float>) {
        if (a.dt == Dt::F32 && cube().hf32) {
            for (float &x : ua) x = hf32(x, cube().hf32_to_zero);
            for (float &x : ub) x = hf32(x, cube().hf32_to_zero);
        }
    }
    if (dst.dt != Dt::F16) {
        auto *c = reinterpret_cast<T *>(dst.p);
        start_c(c, pitch, p, columns, bias);
        multiply<V, T>(c, pitch, ua.data(), ub.data(), p.m, columns, p.k);
        return;
    }
    if constexpr (std::is_same_v<T, float>) {  // half in L0C: rounded once per instruction
        std::vector<float> wide(pitch * columns);
        half_to_float(dst.p, wide.data(), wide.size());
        start_c(wide.data(), pitch, p, columns, bias);
        multiply<V, T>(wide.data(), pitch, ua.data(), ub.data(), p.m, columns, p.k);
        float_to_half(wide.data(), dst.p, wide.size());
    }
}

bool good_shape(const Mad &p) {
    if (p.m <= 4095 && p.n <= 4095 && p.k <= 4095) return true;
    finding("CUBE-RANGE", "Mmad with m %u, n %u, k %u: each may be 0 to 4095", p.m, p.n, p.k);
    return false;
}

// Unit flags order Mmad and Fixpipe fractal by fractal, in place of M_FIX and FIX_M events.
constexpr uint8_t kMToFix = 17, kFixToM = 18;

}  // namespace

void mmad(Inst &inst, const Span &dst, const Span &a, const Span &b, const Span *bias, const Mad &p) {
    if (p.m == 0 || p.n == 0 || p.k == 0 || !core_has(dst.mem) || !good_shape(p)) return;
    if (!check_memory(dst, "the result", {Mem::L0C}) || !check_memory(a, "the left matrix", {Mem::L0A}) || !check_memory(b, "the right matrix", {Mem::L0B})) return;
    const uint32_t c0 = c0_of(a.dt), columns = ceil_div(p.n, kCube), rows = ceil_div(p.m, kCube), deep = ceil_div(p.k, c0);
    const bool gemv = p.m == 1 && !p.sparse;
    const uint32_t k_b = p.sparse ? p.k / 2 : p.k;
    const uint32_t across = p.align_k && a.dt == Dt::F32 ? ceil_div(p.k, 16) * 2 : deep;
    const uint64_t c_bytes = dst.dt == Dt::F16 ? 2 : 4;
    if (p.unit_flag != 0) order_wait(priv(), kFixToM, cube().unit_free);
    Judge judge(priv());
    const Walk read_a = gemv ? walk(uint64_t{deep} * kBlock32) : walk(uint64_t{deep} * kFractal, rows, static_cast<int64_t>(across * kFractal));
    if (!touch_cube(inst, a, Rw::READ, read_a)) return;
    if (!touch_cube(inst, b, Rw::READ, walk(uint64_t{ceil_div(k_b, c0)} * columns * kFractal))) return;
    const Walk all_c = walk(c_bytes * kCube * p.m, columns, static_cast<int64_t>(c_bytes * kCube * kCube * rows));
    Span table{};
    if (p.from_bias) {
        table = bias != nullptr ? *bias : span_at(reinterpret_cast<uint64_t>(priv().mem[static_cast<int>(Mem::BT)].base), dst.dt);
        if (!touch_cube(inst, table, Rw::READ, walk(uint64_t{p.n} * 4))) return;
    } else if (!p.clear && !touch_cube(inst, dst, Rw::READ, all_c)) {
        return;
    }
    const Operands used{&a, &b, &dst, p.from_bias ? &table : nullptr, p.m, p.n, p.k, columns, deep, across, k_b, c0, c_bytes, gemv,
                        !p.from_bias && !p.clear};
    std::vector<uint64_t> holes;
    if (judge.found() && judge_operands(used)) holes = unwritten_results(used);
    if (!touch_cube(inst, dst, Rw::WRITE, all_c)) return;
    mark_results(used, holes);
    CubeState &s = cube();
    ++priv().in_runtime;
    alignas(64) uint8_t start[4096 * 4 + 64] = {};
    if (p.from_bias) memcpy(start, table.p, std::min<uint64_t>(uint64_t{p.n} * 4, sizeof start));
    if (a.dt == Dt::I8 || a.dt == Dt::U8 || a.dt == Dt::I4) {
        run<Ints, int32_t>(dst, a, b, p.from_bias ? reinterpret_cast<int32_t *>(start) : nullptr, p, across, gemv, s.ia, s.ib);
    } else {
        run<Floats, float>(dst, a, b, p.from_bias ? reinterpret_cast<float *>(start) : nullptr, p, across, gemv, s.a, s.b);
    }
    --priv().in_runtime;
    if (p.unit_flag != 0) order_set(priv(), kMToFix, s.unit_done);
    inst.moved = uint64_t{rows} * columns * deep;  // fractal products
}

void multiply_blocks(float *c, uint64_t c_pitch, const float *a, const float *b, uint32_t m, uint32_t columns, uint32_t k) {
    multiply<Floats, float>(c, c_pitch, a, b, m, columns, k);
}
void multiply_blocks(int32_t *c, uint64_t c_pitch, const int32_t *a, const int32_t *b, uint32_t m, uint32_t columns, uint32_t k) {
    multiply<Ints, int32_t>(c, c_pitch, a, b, m, columns, k);
}
float as_hf32(float x) {
    return hf32(x, cube().hf32_to_zero);
}

void unit_flag_wait_for_mmad() {
    order_wait(priv(), kMToFix, cube().unit_done);
}
void unit_flag_free() {
    order_set(priv(), kFixToM, cube().unit_free);
}

}  // namespace ascendc_twin
