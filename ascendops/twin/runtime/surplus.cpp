// Buffers beyond the end of a local memory, or in the part of it that an API keeps for itself. InitBuffer only counts, on the device as
// here: the kernel works until an instruction goes there.
#include <sys/mman.h>

#include <algorithm>

#include "ascendc_twin/enums.h"
#include "checker.h"
#include "pipe_state.h"

namespace ascendc_twin {

namespace {

const char *capacity_id(Mem mem) {
    return mem == Mem::UB ? "UB-CAPACITY" : "L1-CAPACITY";
}

// Lets more of a memory be accessed than the hardware has.
void grow(LocalMemory &m, uint64_t need) {
    if (need <= m.room) return;
    const uint64_t page = 4096, from = (m.room + page - 1) / page * page, to = std::min((need + page - 1) / page * page, m.limit);
    if (to > from && mprotect(m.base + from, to - from, PROT_READ | PROT_WRITE) != 0) abandon_block();
    m.room = need;
}

}  // namespace

__attribute__((noinline)) uint8_t *ub_array(const void *declaration, uint64_t bytes) {
    Private &p = priv();
    LocalMemory &m = p.mem[static_cast<int>(Mem::UB)];
    for (const auto &[known, at] : p.ub_arrays) {
        if (known == declaration) return m.base + at;
    }
    TWIN_SITE("an array of UB", PipeId::S);
    ++p.in_runtime;
    const uint64_t at = (m.used + 31) / 32 * 32;
    take_memory(p, Mem::UB, at + bytes, format("an array of %llu bytes ends at byte %llu of UB, which has %llu", static_cast<unsigned long long>(bytes),
                                               static_cast<unsigned long long>(at + bytes), static_cast<unsigned long long>(m.size)));
    local_at(static_cast<uint8_t>(AscendC::TPosition::VECCALC), at, bytes);
    p.ub_arrays.emplace_back(declaration, at);
    --p.in_runtime;
    return m.base + at;
}

void take_memory(Private &p, Mem mem, uint64_t need, const std::string &message) {
    LocalMemory &m = p.mem[static_cast<int>(mem)];
    if (need > m.limit) {
        finding_at(capacity_id(mem), p.api, p.pipe, p.pc, message, true);
        abandon_block();
    }
    if (need > m.size && !t_core->checks) {
        grow(m, need);
    } else if (need > m.size) {
        ++p.in_runtime;
        p.surplus.push_back({capacity_id(mem), mem, std::max(m.used, m.size), need, p.api, p.pc, message, true, false});
        --p.in_runtime;
    }
    m.used = need;
    m.high = std::max(m.high, m.used);
}

void surplus_touched(Private &p, Mem mem, int64_t lo, int64_t hi) {
    for (Surplus &s : p.surplus) {
        if (!s.live || s.mem != mem || hi <= static_cast<int64_t>(s.lo) || lo >= static_cast<int64_t>(s.hi)) continue;
        if (!s.touched) {
            s.touched = true;
            finding_at(s.id, s.api, PipeId::S, s.pc, s.message + format("; first touched by %s at %s", p.api, at(p.pc).c_str()));
        }
        grow(p.mem[static_cast<int>(mem)], s.hi);
    }
}

void require_reserved_ub(uint64_t bytes) {
    Private &p = priv();
    const LocalMemory &ub = p.mem[static_cast<int>(Mem::UB)];
    order_barrier(p, PipeId::V);  // such an API fills its bytes before, and waits for that
    if (ub.used + bytes <= ub.size || !t_core->checks) return;
    const uint64_t first = ub.size - bytes;
    const auto known = std::find_if(p.surplus.begin(), p.surplus.end(), [&](const Surplus &s) { return s.live && s.pc == p.pc && s.lo == first; });
    if (known != p.surplus.end()) return;
    const std::string message =
        format("%s uses the last %llu bytes of UB for itself, but InitBuffer has taken %llu of %llu bytes: keep %llu bytes free", p.api,
               static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(ub.used), static_cast<unsigned long long>(ub.size),
               static_cast<unsigned long long>(bytes));
    const bool used = local_used(p, Mem::UB, first, ub.size);
    if (used) finding("UB-RESERVED", "%s; an instruction has used them before", message.c_str());
    ++p.in_runtime;
    p.surplus.push_back({"UB-RESERVED", Mem::UB, first, ub.size, p.api, p.pc, message, true, used});
    --p.in_runtime;
}

void surplus_close(Private &p) {
    for (Surplus &s : p.surplus) s.live = false;
}

void surplus_finish(Private &p) {
    for (const Surplus &s : p.surplus) {
        if (!s.touched) finding_at("CAPACITY-UNUSED", s.api, PipeId::S, s.pc, s.message + "; no instruction goes there");
    }
}

}  // namespace ascendc_twin
