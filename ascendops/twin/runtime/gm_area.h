// Bytes of global memory that an instruction, or a row of equal instructions, touches.
#pragma once

#include <cstdint>

namespace ascendc_twin {

inline uint64_t offset(uint64_t lo, int64_t by) {
    return lo + static_cast<uint64_t>(by);
}

// Bytes in global memory: n2 x n1 runs, as in Walk.
struct GmArea {
    uint64_t lo = 0, run = 0;
    int64_t s1 = 0, s2 = 0;
    uint32_t n1 = 1, n2 = 1;
    uint64_t hull_lo() const;
    uint64_t hull_hi() const;
};
// Whether two areas have a byte in common; [lo, hi) is then the first piece they share.
bool areas_meet(const GmArea &a, const GmArea &b, uint64_t &lo, uint64_t &hi);

}  // namespace ascendc_twin
