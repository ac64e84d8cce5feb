// Reading the operands of a Matmul object: any format and position, unpacked to numbers.
#include <algorithm>
#include <cstring>

#include "matmul_block.h"
#include "vec_convert.h"

namespace ascendc_twin {

namespace {

uint32_t align(uint32_t x, uint32_t to) {
    return (x + to - 1) / to * to;
}

// Where element (row, column) of a stored matrix lies, in elements.
struct Stored {
    MmFormat format;
    uint32_t c0;
    uint64_t pitch;   // ND: elements of a row; NZ: rows of a column of fractals
    uint64_t start = 0;

    uint64_t at(uint64_t row, uint64_t column) const {
        switch (format) {
            case MmFormat::NZ: return start + column / c0 * pitch * c0 + row * c0 + column % c0;
            case MmFormat::ZN: return start + (row / c0 * (pitch / 16) + column / 16) * 16 * c0 + column % 16 * c0 + row % c0;
            case MmFormat::ZZ: return start + (row / 16 * (pitch / c0) + column / c0) * 16 * c0 + row % 16 * c0 + column % c0;
            default: return start + row * pitch + column;
        }
    }
    bool rows_are_runs() const { return format != MmFormat::NZ && format != MmFormat::ZN && format != MmFormat::ZZ; }
};

template <typename T>
T element(const uint8_t *p, Dt dt, uint64_t i) {
    switch (dt) {
        case Dt::F16: return static_cast<T>(half_value(p + 2 * i));
        case Dt::BF16: {
            uint16_t bits;
            memcpy(&bits, p + 2 * i, 2);
            return static_cast<T>(bits_float(static_cast<uint32_t>(bits) << 16));
        }
        case Dt::F32: return static_cast<T>(reinterpret_cast<const float *>(p)[i]);
        case Dt::I32: return static_cast<T>(reinterpret_cast<const int32_t *>(p)[i]);
        case Dt::U8: return static_cast<T>(p[i]);
        case Dt::I4: return static_cast<T>(static_cast<int8_t>(p[i / 2] >> (i % 2 * 4) << 4) >> 4);
        default: return static_cast<T>(static_cast<int8_t>(p[i]));
    }
}

template <typename T>
void run_of(const uint8_t *p, Dt dt, uint64_t from, uint32_t n, T *to) {
    if constexpr (std::is_same_v<T, float>) {
        if (dt == Dt::F16) return half_to_float(p + 2 * from, to, n);
        if (dt == Dt::BF16) return bf16_to_float(p + 2 * from, to, n);
        if (dt == Dt::F32) {
            memcpy(to, p + 4 * from, n * sizeof(float));
            return;
        }
    }
    for (uint32_t i = 0; i < n; ++i) to[i] = element<T>(p, dt, from + i);
}

uint64_t bytes_for(Dt dt, uint64_t elements) {
    return dt == Dt::I4 ? (elements + 1) / 2 : elements * (kBlock32 / c0_of(dt));
}

// Reports what of the stored block [row, row + rows) x [column, column + columns) lies outside, and notes the access.
bool touch_stored(Inst &inst, const MmSide &side, const Stored &s, uint32_t row, uint32_t rows, uint32_t column, uint32_t columns) {
    if (!own(side.span)) return true;  // the vector core's own memory: checked when it was set
    const uint64_t e8 = bytes_for(side.dt, 8);  // bytes of 8 elements
    Walk w;
    if (s.rows_are_runs()) {
        w = walk(bytes_for(side.dt, columns), rows, static_cast<int64_t>(s.pitch * e8 / 8), 1, 0, static_cast<int64_t>(s.at(row, column) * e8 / 8));
    } else {
        const uint64_t lo = s.at(row, column), hi = s.at(row + rows - 1, column + columns - 1) + 1;
        w = walk((hi - lo) * e8 / 8, 1, 0, 1, 0, static_cast<int64_t>(lo * e8 / 8));
    }
    return touch(inst, side.span, Rw::READ, w, side.span.mem == Mem::GM ? 0 : 32);
}

Stored stored(const MmSide &side, uint32_t rows, uint32_t columns, uint32_t own_rows, uint32_t own_columns, const MmSlot &slot) {
    Stored s{side.format, c0_of(side.dt), columns};
    const bool fits = side.span.mem == Mem::GM || bytes_for(side.dt, uint64_t{rows} * columns) <= side.span.bytes;
    if (!fits) {  // a local tensor of this core's part only
        rows = own_rows;
        columns = own_columns;
    }
    if (side.format == MmFormat::NZ) s.pitch = align(rows, side.transposed ? std::max(16u, s.c0) : 16);
    if (side.format == MmFormat::NZ && !side.transposed) s.pitch = align(rows, 16);
    if (side.format == MmFormat::ZN || side.format == MmFormat::ZZ) s.pitch = align(columns, side.format == MmFormat::ZN ? 16 : s.c0);
    if (side.format == MmFormat::ND || side.format == MmFormat::VECTOR) s.pitch = columns;
    if (side.format == MmFormat::ND_ALIGN) s.pitch = align(columns, s.c0);
    if (slot.pitch != 0) s.pitch = slot.pitch;
    s.start = slot.start;
    return s;
}

template <typename T>
bool fill_scalar(const MmSide &side, T *to, uint64_t n) {
    if (side.format != MmFormat::SCALAR) return false;
    const T value = element<T>(reinterpret_cast<const uint8_t *>(&side.scalar), side.dt, 0);
    std::fill_n(to, n, value);
    return true;
}

}  // namespace

// rows x depth numbers, row by row.
template <typename T>
bool read_left(Inst &inst, const Mm &mm, const MmSlot &slot, uint32_t row, uint32_t rows, uint32_t from, uint32_t depth, T *to) {
    const MmSide &a = mm.a;
    if (fill_scalar(a, to, uint64_t{rows} * depth)) return true;
    const bool turned = a.transposed;
    const auto m = static_cast<uint32_t>(mm.org_m), k = static_cast<uint32_t>(mm.org_ka);
    const Stored s = stored(a, turned ? k : m, turned ? m : k, static_cast<uint32_t>(turned ? mm.k : mm.m), static_cast<uint32_t>(turned ? mm.m : mm.k), slot);
    if (!touch_stored(inst, a, s, turned ? from : row, turned ? depth : rows, turned ? row : from, turned ? rows : depth)) return false;
    if (!turned && s.rows_are_runs()) {
        for (uint32_t r = 0; r < rows; ++r) run_of(a.span.p, a.dt, s.at(row + r, from), depth, to + uint64_t{r} * depth);
        return true;
    }
    for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t i = 0; i < depth; ++i) {
            to[uint64_t{r} * depth + i] = element<T>(a.span.p, a.dt, turned ? s.at(from + i, row + r) : s.at(row + r, from + i));
        }
    }
    return true;
}

// Per 16 columns: depth x 16 numbers; columns behind the last are 0.
template <typename T>
bool read_right(Inst &inst, const Mm &mm, const MmSlot &slot, uint32_t from, uint32_t depth, uint32_t column, uint32_t columns, T *to) {
    const MmSide &b = mm.b;
    const uint32_t blocks = ceil_div(columns, kCube);
    if (fill_scalar(b, to, uint64_t{blocks} * kCube * depth)) return true;
    const bool turned = b.transposed;
    const auto k = static_cast<uint32_t>(mm.org_kb), n = static_cast<uint32_t>(mm.org_n);
    const Stored s = stored(b, turned ? n : k, turned ? k : n, static_cast<uint32_t>(turned ? mm.n : mm.k), static_cast<uint32_t>(turned ? mm.k : mm.n), slot);
    if (!touch_stored(inst, b, s, turned ? column : from, turned ? columns : depth, turned ? from : column, turned ? depth : columns)) return false;
    std::fill_n(to + uint64_t{blocks - 1} * kCube * depth, uint64_t{kCube} * depth, T{});
    std::vector<T> line(turned ? depth : columns);
    if (!turned && s.rows_are_runs()) {
        for (uint32_t i = 0; i < depth; ++i) {
            run_of(b.span.p, b.dt, s.at(from + i, column), columns, line.data());
            for (uint32_t c = 0; c < columns; c += kCube) {
                memcpy(to + (uint64_t{c / kCube} * depth + i) * kCube, line.data() + c, std::min(kCube, columns - c) * sizeof(T));
            }
        }
        return true;
    }
    for (uint32_t c = 0; c < columns; ++c) {
        T *block = to + uint64_t{c / kCube} * depth * kCube + c % kCube;
        if (turned && s.rows_are_runs()) {
            run_of(b.span.p, b.dt, s.at(column + c, from), depth, line.data());
            for (uint32_t i = 0; i < depth; ++i) block[uint64_t{i} * kCube] = line[i];
            continue;
        }
        for (uint32_t i = 0; i < depth; ++i) {
            block[uint64_t{i} * kCube] = element<T>(b.span.p, b.dt, turned ? s.at(column + c, from + i) : s.at(from + i, column + c));
        }
    }
    return true;
}

bool read_sparse(Inst &inst, const Mm &mm, const MmSlot &slot, uint32_t from, uint32_t depth, uint32_t column, uint32_t columns, int32_t *to) {
    Mm half = mm;
    half.org_kb = mm.org_kb / 2;
    half.k = mm.k / 2;
    std::vector<int32_t> dense(uint64_t{ceil_div(columns, kCube)} * kCube * (depth / 2));
    if (!read_right(inst, half, slot, from / 2, depth / 2, column, columns, dense.data())) return false;
    const uint64_t high = align(static_cast<uint32_t>(mm.org_n), kCube) * uint64_t{8};  // bytes of 16 quads of K
    const auto at = [&](uint32_t c, uint32_t quad) { return quad / 16 * high + c * uint64_t{8} + quad % 16 / 2; };
    const uint32_t first = from / 4, quads = depth / 4;
    if (!touch(inst, mm.sparse_index, Rw::READ,
               walk(uint64_t{columns} * 8, ceil_div(quads, 16), static_cast<int64_t>(high), 1, 0, static_cast<int64_t>(at(column, first))), 0)) {
        return false;
    }
    spread_sparse(dense.data(), depth, ceil_div(columns, kCube), to, [&](uint32_t c, uint32_t quad) {
        return c < columns ? uint32_t{mm.sparse_index.p[at(column + c, first + quad)]} >> (first + quad) % 2 * 4 & 0xf : 0u;
    });
    return true;
}

// The bias of columns [column, column + columns).
template <typename T>
bool read_bias(Inst &inst, const Mm &mm, uint64_t start, uint32_t column, uint32_t columns, T *to) {
    const MmSide &bias = mm.bias;
    const uint64_t e = kBlock32 / c0_of(bias.dt);
    if (own(bias.span) &&
        !touch(inst, bias.span, Rw::READ, walk(columns * e, 1, 0, 1, 0, static_cast<int64_t>((start + column) * e)), bias.span.mem == Mem::GM ? 0 : 32)) {
        return false;
    }
    run_of(bias.span.p, bias.dt, start + column, columns, to);
    return true;
}

template bool read_left<float>(Inst &, const Mm &, const MmSlot &, uint32_t, uint32_t, uint32_t, uint32_t, float *);
template bool read_left<int32_t>(Inst &, const Mm &, const MmSlot &, uint32_t, uint32_t, uint32_t, uint32_t, int32_t *);
template bool read_right<float>(Inst &, const Mm &, const MmSlot &, uint32_t, uint32_t, uint32_t, uint32_t, float *);
template bool read_right<int32_t>(Inst &, const Mm &, const MmSlot &, uint32_t, uint32_t, uint32_t, uint32_t, int32_t *);
template bool read_bias<float>(Inst &, const Mm &, uint64_t, uint32_t, uint32_t, float *);
template bool read_bias<int32_t>(Inst &, const Mm &, uint64_t, uint32_t, uint32_t, int32_t *);

}  // namespace ascendc_twin
