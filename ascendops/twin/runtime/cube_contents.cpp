// Fractals that nobody wrote (see cube_contents.h).
#include "cube_contents.h"

#include <algorithm>

#include "checker.h"

namespace ascendc_twin {

namespace {

using ull = unsigned long long;

uint64_t empty_bytes(const Span &span, uint64_t off, uint64_t bytes, Unwritten *seen = nullptr) {
    const Unwritten found = unwritten_in(priv(), span.mem, span.addr + off, bytes);
    if (seen != nullptr && found.bytes != 0) *seen = found;
    return found.bytes;
}

std::string origin(const Unwritten &seen) {
    if (seen.carried_by.pc == nullptr) return "";
    return format("; %s at %s put bytes there that nobody had written", seen.carried_by.api, at(seen.carried_by.pc).c_str());
}

void report(const Unwritten &seen, const std::string &message) {
    Private &p = priv();
    if (known_finding(p, "CUBE-UNINIT")) return;
    ++p.in_runtime;
    finding("CUBE-UNINIT", "%s%s", message.c_str(), origin(seen).c_str());
    if (seen.carried_by.pc != nullptr && !p.findings.empty()) p.findings.back().other = static_cast<char *>(seen.carried_by.pc) - 1;
    --p.in_runtime;
}

// One side of a product as lines (rows of A, columns of B) of `deep` pieces of 32 bytes.
struct Side {
    const Span *span;
    const char *name;
    uint32_t lines, deep, k, c0;
    uint64_t step;              // bytes from one piece of a line to the next
    uint64_t (*start)(const Operands &, uint32_t line);

    // Bytes of piece `d` that the product uses.
    uint64_t used(uint32_t d) const { return std::min<uint64_t>(kBlock32, (uint64_t{k} - uint64_t{d} * c0) * kBlock32 / c0); }
};

uint64_t start_a(const Operands &o, uint32_t row) {
    return o.gemv ? 0 : uint64_t{row / kCube} * o.across * kFractal + row % kCube * kBlock32;
}
uint64_t start_b(const Operands &, uint32_t column) {
    return uint64_t{column / kCube} * kFractal + column % kCube * kBlock32;
}
Side left(const Operands &o) {
    return {o.a, "L0A", o.m, o.deep, o.k, o.c0, o.gemv ? kBlock32 : kFractal, start_a};
}
Side right(const Operands &o) {
    return {o.b, "L0B", o.n, ceil_div(o.k_b, o.c0), o.k_b, o.c0, uint64_t{o.columns} * kFractal, start_b};
}

bool piece_is_empty(const Operands &o, const Side &side, uint32_t line, uint32_t d, Unwritten &seen) {
    const uint64_t used = side.used(d);
    return empty_bytes(*side.span, side.start(o, line) + d * side.step, used, &seen) == used;
}

bool line_is_empty(const Operands &o, const Side &side, uint32_t line) {
    Unwritten seen;
    for (uint32_t d = 0; d < side.deep; ++d) {
        if (!piece_is_empty(o, side, line, d, seen)) return false;
    }
    return true;
}

// Whether nobody wrote a fractal: all of its lines that count.
bool fractal_is_empty(const Operands &o, const Side &side, uint32_t first_line, uint32_t d, Unwritten &seen) {
    for (uint32_t line = first_line; line < std::min(first_line + kCube, side.lines); ++line) {
        if (!piece_is_empty(o, side, line, d, seen)) return false;
    }
    return true;
}

bool judge_side(const Operands &o, const Side &side) {
    const uint32_t all = ceil_div(side.lines, kCube) * side.deep;
    uint32_t none = 0;
    Unwritten seen;
    for (uint32_t line = 0; line < side.lines; line += kCube) {
        uint32_t count = 0, first = 0;
        for (uint32_t d = side.deep; d-- > 0;) {
            if (!fractal_is_empty(o, side, line, d, seen)) continue;
            first = d;
            ++count;
        }
        none += count;
        if (count == 0 || count == side.deep) continue;
        const uint64_t at = side.span->addr + side.start(o, line) + first * side.step;
        report(seen, format("Mmad multiplies fractal %u along K of %s %u, at address %llu of %s, which nobody wrote", first,
                            side.name[2] == 'A' ? "row" : "column", line, static_cast<ull>(at), side.name));
        return false;
    }
    if (none < all) return true;
    report(seen, format("Mmad multiplies %u fractals from address %llu of %s on, none of which anybody wrote", all,
                        static_cast<ull>(side.span->addr), side.name));
    return false;
}

bool bias_is_empty(const Operands &o, uint32_t column, Unwritten &seen) {
    return o.table != nullptr && empty_bytes(*o.table, uint64_t{column} * 4, 4, &seen) != 0;
}

bool judge_bias(const Operands &o) {
    Unwritten seen;
    uint32_t none = 0;
    for (uint32_t column = 0; column < o.n; ++column) none += bias_is_empty(o, column, seen);
    if (none < o.n) return true;
    report(seen, format("Mmad starts with %u biases from address %llu of BT on, none of which anybody wrote", o.n, static_cast<ull>(o.table->addr)));
    return false;
}

uint64_t row_of_c(const Operands &o, uint32_t row, uint32_t column_block) {
    return (uint64_t{column_block} * ceil_div(o.m, kCube) * kCube + row) * kCube * o.c_bytes;
}

bool sums_are_empty(const Operands &o, uint32_t row, uint32_t block, Unwritten &seen) {
    const uint64_t bytes = kCube * o.c_bytes;
    return o.accumulates && empty_bytes(*o.c, row_of_c(o, row, block), bytes, &seen) == bytes;
}

bool judge_sums(const Operands &o) {
    Unwritten seen;
    for (uint32_t block = 0; block < o.columns; ++block) {
        for (uint32_t row = 0; row < o.m; ++row) {
            if (!sums_are_empty(o, row, block, seen)) return true;
        }
    }
    report(seen, format("Mmad adds to %u fractals from address %llu of L0C on, none of which anybody wrote: the first Mmad of a block needs cmatrixInitVal",
                        o.columns * ceil_div(o.m, kCube), static_cast<ull>(o.c->addr)));
    return false;
}

}  // namespace

void carry_unwritten(const Span &src, uint64_t from, uint64_t bytes, const Span &dst, uint64_t to, uint64_t to_bytes, bool rows) {
    const uint64_t empty = empty_bytes(src, from, bytes);
    if (empty == 0) return;
    if (empty == bytes) return mark_unwritten(priv(), dst.mem, dst.addr + to, to_bytes);
    for (uint64_t at = 0; rows && at < bytes; at += kBlock32) {
        if (empty_bytes(src, from + at, kBlock32) == kBlock32) mark_unwritten(priv(), dst.mem, dst.addr + to + at, kBlock32);
    }
}

bool judge_operands(const Operands &o) {
    return judge_side(o, left(o)) && judge_side(o, right(o)) && judge_bias(o) && judge_sums(o);
}

std::vector<uint64_t> unwritten_results(const Operands &o) {
    std::vector<uint64_t> rows;
    Unwritten seen;
    std::vector<bool> no_column(o.columns);
    for (uint32_t block = 0; block < o.columns; ++block) {
        no_column[block] = true;
        for (uint32_t column = block * kCube; column < std::min((block + 1) * kCube, o.n) && no_column[block]; ++column) {
            no_column[block] = line_is_empty(o, right(o), column) || bias_is_empty(o, column, seen);
        }
    }
    for (uint32_t row = 0; row < o.m; ++row) {
        const bool no_row = line_is_empty(o, left(o), row);
        for (uint32_t block = 0; block < o.columns; ++block) {
            if (no_row || no_column[block] || sums_are_empty(o, row, block, seen)) rows.push_back(row_of_c(o, row, block));
        }
    }
    return rows;
}

void mark_results(const Operands &o, const std::vector<uint64_t> &rows) {
    for (uint64_t off : rows) mark_unwritten(priv(), o.c->mem, o.c->addr + off, kCube * o.c_bytes);
}

void judge_results(const Span &src, const Span &dst, uint32_t m, uint32_t n, uint32_t stride, uint64_t element) {
    const uint64_t row_bytes = kCube * element;
    uint32_t empty = 0, all = 0, first_row = 0, first_block = 0;
    Unwritten seen;
    for (uint32_t block = ceil_div(n, kCube); block-- > 0;) {
        for (uint32_t row = (m - 1) / kCube * kCube;; row -= kCube) {
            const uint64_t rows = std::min(kCube, m - row), off = (uint64_t{block} * stride + row) * row_bytes;
            ++all;
            if (empty_bytes(src, off, rows * row_bytes, &seen) == rows * row_bytes) {
                ++empty;
                first_row = row;
                first_block = block;
            }
            if (row == 0) break;
        }
    }
    if (empty == 0) return;
    Private &p = priv();
    const Range *range = dst.mem == Mem::GM ? gm_owner(p, reinterpret_cast<uint64_t>(dst.p)) : nullptr;
    const bool to_caller = range != nullptr && (range->flags & 1) == 0;
    if (empty < all && !to_caller) return;  // padding of a workspace: its reader decides
    const uint64_t off = (uint64_t{first_block} * stride + first_row) * row_bytes;
    report(seen, format("%s stores %u of %u fractals that no Mmad computed to %s: the first has row %u and column %u, at address %llu of L0C", p.api, empty,
                        all, range != nullptr ? range->name : mem_name(dst.mem), first_row, first_block * kCube, static_cast<ull>(src.addr + off)));
}

}  // namespace ascendc_twin
