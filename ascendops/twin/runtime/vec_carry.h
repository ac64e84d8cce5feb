// Results of an element-wise instruction that come from bytes nobody wrote: they count as unwritten, too.
#pragma once

#include <vector>

#include "checker.h"
#include "vec_lanes.h"

namespace ascendc_twin {

class Carry {
public:
    Carry() {
        Private &p = priv();
        p.holes = p.put_off = false;
        p.carries = true;
    }
    ~Carry() { priv().carries = false; }
    Carry(const Carry &) = delete;
    Carry &operator=(const Carry &) = delete;
    // Between the reads of the sources and the write of dst. `all`: a lane counts only where every source has nothing there
    // (a product with a mask, bits that a mask takes away).
    void collect(const Plan &plan, const Span &dst, uint32_t dst_size, const Span &src0, const Span *src1, uint32_t src_size, bool all) {
        if (!priv().holes || dst.mem != Mem::UB) return;
        if (priv().put_off) return all_of(plan, dst, dst_size);
        find(plan, dst, dst_size, src0, src1, src_size, all);
    }
    // Behind the write of dst.
    void mark() const {
        if (!lanes_.empty()) mark_all();
    }

private:
    void find(const Plan &plan, const Span &dst, uint32_t dst_size, const Span &src0, const Span *src1, uint32_t src_size, bool all);
    void all_of(const Plan &plan, const Span &dst, uint32_t dst_size);
    void mark_all() const;

    std::vector<ByteRange> lanes_;  // bytes of dst
};

}  // namespace ascendc_twin
