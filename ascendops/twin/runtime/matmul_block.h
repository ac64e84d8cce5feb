// What the files of the Matmul object share.
#pragma once

#include <vector>

#include "ascendc_twin/rt_matmul.h"
#include "cube_state.h"

namespace ascendc_twin {

// Where a batch starts in its tensor, in elements, and the elements of a row if they differ from those of one matrix.
struct MmSlot {
    uint64_t start = 0, pitch = 0;
};

// One base block of C as in L0C, and the operands that it was computed from.
struct MmBlock {
    uint32_t rows = 0, columns = 0;             // that count
    std::vector<float> c, a, b;
    std::vector<int32_t> ic, ia, ib;
    int64_t b_of = -1, a_of = -1;               // which block b and a hold
    MmSlot slot_a, slot_b, slot_c;              // of the current batch
    uint64_t bias_start = 0;
    int64_t batch = 0;
};

// Whether a tensor lies in global memory or in this core's own memories: else another core has checked the access.
inline bool own(const Span &span) {
    return span.mem == Mem::GM || (core_has(span.mem) && span.p == priv().mem[static_cast<int>(span.mem)].base + span.addr);
}

inline bool integers(const Mm &mm) { return mm.a.dt == Dt::I8 || mm.a.dt == Dt::U8 || mm.a.dt == Dt::I4; }

template <typename T>
bool read_left(Inst &inst, const Mm &mm, const MmSlot &slot, uint32_t row, uint32_t rows, uint32_t from, uint32_t depth, T *to);
template <typename T>
bool read_right(Inst &inst, const Mm &mm, const MmSlot &slot, uint32_t from, uint32_t depth, uint32_t column, uint32_t columns, T *to);
// The same for a sparse B: rows [from, from + depth) of all of K out of half as many stored ones.
bool read_sparse(Inst &inst, const Mm &mm, const MmSlot &slot, uint32_t from, uint32_t depth, uint32_t column, uint32_t columns, int32_t *to);
template <typename T>
bool read_bias(Inst &inst, const Mm &mm, uint64_t start, uint32_t column, uint32_t columns, T *to);

// matmul_callback.cpp: blocks that the user's functions copy to L1 and out of L0C.
template <typename T>
bool left_by_callback(const Mm &mm, uint32_t rows, uint32_t from, uint32_t depth, T *to);
template <typename T>
bool right_by_callback(const Mm &mm, uint32_t columns, uint32_t from, uint32_t depth, T *to);
void copy_out_by_callback(Mm &mm, const MmOut &out);

// matmul_out.cpp
void mm_write(Mm &mm, const MmOut &out, uint32_t row, uint32_t column);

}  // namespace ascendc_twin
