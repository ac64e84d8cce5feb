// Fractals that nobody wrote. Loads carry them on without a word, as kernels load padding all the time; Mmad and Fixpipe decide.
#pragma once

#include "cube_state.h"

namespace ascendc_twin {

// A load has copied `bytes` from `from` to `to` in their memories' addresses: what was unwritten there is unwritten here. Rows of 32
// bytes where `rows` holds, otherwise only if all of it is.
void carry_unwritten(const Span &src, uint64_t from, uint64_t bytes, const Span &dst, uint64_t to, uint64_t to_bytes, bool rows);

// What Mmad is about to read, in fractals. `columns` of B and C, `deep` fractals along K, `across` fractals from one row of A to the next.
struct Operands {
    const Span *a, *b, *c, *table;  // table: of biases, or null
    uint32_t m, n, k, columns, deep, across;
    uint32_t k_b;                   // of B, less than k where it is sparse
    uint32_t c0;
    uint64_t c_bytes;               // of an element of C
    bool gemv, accumulates;
};
// Reports fractals that are multiplied although nobody wrote them: some along K of a row or column of fractals that has others, or all of
// A, of B, of the biases or of the sums. What else is empty is padding. False: a finding was reported.
bool judge_operands(const Operands &o);
// Where 16 results lie (offsets in C) that come from padding: rows of A, or columns of B, biases or sums that nobody wrote. Before the
// results are written; after that, mark_results makes them unwritten again.
std::vector<uint64_t> unwritten_results(const Operands &o);
void mark_results(const Operands &o, const std::vector<uint64_t> &rows);

// Fixpipe takes m x n results, `stride` rows from one column of fractals to the next: reports whole fractals that nobody computed and that
// go to a tensor of the caller.
void judge_results(const Span &src, const Span &dst, uint32_t m, uint32_t n, uint32_t stride, uint64_t element);

}  // namespace ascendc_twin
