// Results of an element-wise instruction that come from bytes nobody wrote.
#include "vec_carry.h"

namespace ascendc_twin {

namespace {

constexpr size_t kMostParts = 1024;  // of one instruction; the others count as written

// Elements [first, last) that have bytes of a part, counted from byte `start`.
struct Elements {
    uint64_t first, last;
    Elements(const ByteRange &part, uint64_t start, uint32_t size)
        : first((part.at - start) / size), last((part.at + part.bytes - start + size - 1) / size) {}
    uint64_t count() const { return last - first; }
};

}  // namespace

void Carry::find(const Plan &plan, const Span &dst, uint32_t dst_size, const Span &src0, const Span *src1, uint32_t src_size, bool all) {
    Private &p = priv();
    ++p.in_runtime;
    const uint32_t size[3] = {dst_size, src_size, src_size};
    for_runs<3>(plan, size, [&](const int64_t(&off)[3], size_t n) {
        const Span *const sources[2] = {&src0, src1};
        for (int k = 0; k < (src1 != nullptr && !all ? 2 : 1); ++k) {
            const uint64_t start = sources[k]->addr + static_cast<uint64_t>(off[k + 1]);
            for (const ByteRange &part : unwritten_parts(p, sources[k]->mem, start, n * src_size)) {
                const Elements lanes(part, start, src_size);
                if (all && src1 != nullptr) {
                    const uint64_t other = src1->addr + static_cast<uint64_t>(off[2]) + lanes.first * src_size;
                    if (unwritten_in(p, src1->mem, other, lanes.count() * src_size).bytes != lanes.count() * src_size) continue;
                }
                if (lanes_.size() == kMostParts) return;
                lanes_.push_back({dst.addr + static_cast<uint64_t>(off[0]) + lanes.first * dst_size, lanes.count() * dst_size});
            }
        }
    });
    --p.in_runtime;
}

void Carry::all_of(const Plan &plan, const Span &dst, uint32_t dst_size) {
    Private &p = priv();
    ++p.in_runtime;
    const uint32_t size[1] = {dst_size};
    for_runs<1>(plan, size, [&](const int64_t(&off)[1], size_t n) { lanes_.push_back({dst.addr + static_cast<uint64_t>(off[0]), n * dst_size}); });
    --p.in_runtime;
}

void Carry::mark_all() const {
    Private &p = priv();
    ++p.in_runtime;
    for (const ByteRange &range : lanes_) mark_unwritten(p, Mem::UB, range.at, range.bytes);
    --p.in_runtime;
}

}  // namespace ascendc_twin
