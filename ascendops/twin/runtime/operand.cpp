// The check of every operand that an instruction touches, and scalar accesses.
#include <algorithm>
#include <cstring>

#include "checker.h"
#include "core.h"
#include "fault.h"
#include "gm_pages.h"

namespace ascendc_twin {

namespace {

const char *verb(Rw rw) {
    return rw == Rw::READ ? "reads" : "writes";
}

struct Extent {
    int64_t lo, hi;
};

Extent extent(const Walk &w) {
    const int64_t d1 = w.n1 > 0 ? static_cast<int64_t>(w.n1 - 1) * w.s1 : 0;
    const int64_t d2 = w.n2 > 0 ? static_cast<int64_t>(w.n2 - 1) * w.s2 : 0;
    return {w.off + std::min<int64_t>(d1, 0) + std::min<int64_t>(d2, 0),
            w.off + static_cast<int64_t>(w.run) + std::max<int64_t>(d1, 0) + std::max<int64_t>(d2, 0)};
}

bool touch_gm(Private &p, const Span &s, Rw rw, const Extent &e) {
    const uint64_t begin = s.addr + static_cast<uint64_t>(e.lo);
    const auto bytes = static_cast<uint64_t>(e.hi - e.lo);
    if (gm_range(p, begin, bytes) == nullptr) {
        const Range *r = gm_owner(p, begin);
        const bool padding = r != nullptr && only_padding(*r, begin + bytes, rw);
        finding(padding ? "GM-PADDING" : "GM-BOUNDS", "%s %s %llu bytes from %s: outside the buffer", p.api, verb(rw),
                static_cast<unsigned long long>(bytes), gm_describe(p, begin).c_str());
        p.gm_clip = true;
        return true;
    }
    if (t_core->checks && e.hi > 0 && static_cast<uint64_t>(e.hi) > s.bytes) {
        finding("GM-TENSOR-SIZE",
                "%s %s up to byte %lld of a GlobalTensor that SetGlobalBuffer gave %llu bytes from here (inside %s)", p.api,
                verb(rw), static_cast<long long>(e.hi), static_cast<unsigned long long>(s.bytes), gm_describe(p, begin).c_str());
    }
    return true;
}

void report_buffer_bounds(Private &p, const Buffer &b, const Span &s, Rw rw, const Extent &e) {
    const auto lo = static_cast<long long>(s.addr) + e.lo - b.addr, hi = static_cast<long long>(s.addr) + e.hi - b.addr;
    finding("UB-BOUNDS", "%s %s bytes %lld to %lld of a buffer of %u bytes (buffer %u of the queue or TBuf made at %s; %s address %u)",
            p.api, verb(rw), lo, hi, b.bytes, b.slot, at(b.init_pc).c_str(), mem_name(b.mem), b.addr);
    p.beyond = true;
}

// Whether the vector unit itself fills the free buffer next, after this instruction of its own. A scalar read takes its element at
// once, and the compiler keeps a later copy behind it.
bool stays_until_reused(const Private &p, const Buffer &b) {
    if (p.pipe == PipeId::S) return t_core->auto_sync;
    return p.pipe == PipeId::V && event_src(b.free_event) == PipeId::MTE3 && event_dst(b.free_event) == PipeId::V;
}

bool touch_local(Private &p, const Span &s, Rw rw, const Extent &e, uint32_t align) {
    const LocalMemory &m = p.mem[static_cast<int>(s.mem)];
    if (!p.surplus.empty()) surplus_touched(p, s.mem, static_cast<int64_t>(s.addr) + e.lo, static_cast<int64_t>(s.addr) + e.hi);
    const int64_t lo = static_cast<int64_t>(s.addr) + e.lo, hi = static_cast<int64_t>(s.addr) + e.hi;
    const bool inside = p.inside(s, e.lo, e.hi);
    if (!t_core->checks) return inside;
    p.beyond = false;
    if (s.p == nullptr || (m.base != nullptr && s.p != m.base + s.addr)) {
        finding("UB-TENSOR", "%s %s a LocalTensor that was never given memory (AllocTensor, DeQue or Get)", p.api, verb(rw));
        return false;
    }
    const Buffer *b = s.buf >= 0 && static_cast<size_t>(s.buf) < p.bufs.size() ? &p.bufs[s.buf] : nullptr;
    if (b != nullptr && (lo < b->addr || hi > static_cast<int64_t>(b->addr) + b->bytes)) {
        report_buffer_bounds(p, *b, s, rw, e);
        return inside;  // the device runs into the neighbouring buffer
    }
    if (!inside) {
        finding("UB-BOUNDS", "%s %s bytes %lld to %lld of %s, which has %llu bytes", p.api, verb(rw), static_cast<long long>(lo),
                static_cast<long long>(hi), mem_name(s.mem), static_cast<unsigned long long>(m.size));
        return false;
    }
    if (static_cast<uint64_t>(std::max<int64_t>(e.hi, 0)) > s.bytes) {
        finding("TENSOR-SIZE", "%s %s %lld bytes of a tensor of %llu bytes; they still lie inside its buffer", p.api, verb(rw),
                static_cast<long long>(e.hi), static_cast<unsigned long long>(s.bytes));
    }
    if (align > 1 && (s.addr % align) != 0) {
        finding("UB-ALIGN", "%s %s at %s address %llu (buffer start + %llu), which must be a multiple of %u bytes: it is %llu past one",
                p.api, verb(rw), mem_name(s.mem), static_cast<unsigned long long>(s.addr),
                static_cast<unsigned long long>(b ? s.addr - b->addr : s.addr), align,
                static_cast<unsigned long long>(s.addr % align));
    }
    if (b != nullptr && b->state == BufState::FREE && rw == Rw::READ && stays_until_reused(p, *b)) {
        finding("QUEUE-USE", "%s reads a tensor after FreeTensor (at %s): it is still there until the next AllocTensor of this queue", p.api,
                at(b->state_pc).c_str());
    } else if (b != nullptr && b->state == BufState::FREE) {
        finding("QUEUE-STATE", "%s %s a tensor that is free: FreeTensor was called at %s", p.api, verb(rw), at(b->state_pc).c_str());
    } else if (b != nullptr && b->state == BufState::ENQUE) {
        finding("QUEUE-USE", "%s %s a tensor between EnQue (at %s) and DeQue: nothing orders it with the other pipe", p.api,
                verb(rw), at(b->state_pc).c_str());
    }
    return true;
}

}  // namespace

bool touch(Inst &inst, const Span &span, Rw rw, const Walk &walk, uint32_t align) {
    if (walk.run == 0 || walk.n1 == 0 || walk.n2 == 0) return true;
    Private &p = priv();
    if (!p.owns(span.mem) && !core_has(span.mem)) return false;
    if (p.plain && span.mem != Mem::GM) {
        const Extent e = extent(walk);
        return p.inside(span, e.lo, e.hi);
    }
    if (fault_here(kSkipInstruction, p.instructions)) return false;
    const Extent e = extent(walk);
    Span start = span;
    if (span.mem == Mem::GM) {
        if (!touch_gm(p, start, rw, e) || (p.gm_clip && !p.may_clip)) return false;
        if (t_core->checks && !p.gm_clip) global_access(p, inst.pipe, span, rw, walk);
    } else {
        if (t_core->checks && inst.pipe == PipeId::V && (span.mem == Mem::L1 || span.mem == Mem::L0A || span.mem == Mem::L0B)) {
            finding("TENSOR-POSITION", "%s %s a tensor in %s (%s): the vector unit reaches only UB", p.api, verb(rw), mem_name(span.mem),
                    span.buf >= 0 && static_cast<size_t>(span.buf) < p.bufs.size() ? position_name(p.bufs[span.buf].pos) : "no queue");
            return false;
        }
        if (walk.off != 0 && align > 1) {  // alignment is that of the first byte touched
            start.addr += static_cast<uint64_t>(walk.off);
            start.p += walk.off;
            start.bytes = start.bytes > static_cast<uint64_t>(std::max<int64_t>(walk.off, 0))
                              ? start.bytes - static_cast<uint64_t>(std::max<int64_t>(walk.off, 0))
                              : 0;
            if (!touch_local(p, start, rw, {e.lo - walk.off, e.hi - walk.off}, align)) return false;
        } else if (!touch_local(p, start, rw, e, align)) {
            return false;
        }
        if (t_core->checks) local_access(p, inst.pipe, span, rw, walk);
    }
    if (t_core->trace) {
        p.accesses.push_back({span.mem, rw, span.buf, span.addr + static_cast<uint64_t>(e.lo), span.addr + static_cast<uint64_t>(e.hi)});
    }
    return true;
}

namespace {
alignas(64) thread_local uint8_t t_scratch[64];

uint8_t *scratch() {
    memset(t_scratch, 0, sizeof t_scratch);
    return t_scratch;
}
}  // namespace

__attribute__((noinline)) uint8_t *scalar_local(const TensorRef &ref, uint64_t off, uint32_t size, Rw rw, const char *api) {
    Private &p = priv();
    const LocalMemory &m = p.mem[static_cast<int>(ref.mem)];
    const bool inside = ref.p == m.base + ref.addr && ref.addr + off + size <= m.room && m.base != nullptr;
    if (!t_core->checks && !t_core->trace && inside) return ref.p + off;
    TWIN_SITE(api, PipeId::S);
    if (p.stop) abandon_block();
    if (t_core->checks) {
        const Buffer *b = ref.buf >= 0 && static_cast<size_t>(ref.buf) < p.bufs.size() ? &p.bufs[ref.buf] : nullptr;
        const bool fits = inside && p.surplus.empty() && off + size <= ref.bytes && (b == nullptr || b->state == BufState::OCCUPIED ||
                                                                b->state == BufState::DEQUE || b->state == BufState::PLAIN);
        Walk w;
        w.off = static_cast<int64_t>(off);
        w.run = size;
        const Span s{ref.p, ref.addr, ref.bytes, ref.buf, ref.mem, Dt::U8};
        p.beyond = false;
        if (!fits && !touch_local(p, s, rw, extent(w), 1)) return scratch();
        if (inside) local_scalar(p, ref.mem, ref.addr + off, size, rw);
    } else if (!inside) {
        return scratch();
    }
    if (t_core->trace) {
        p.accesses.push_back({ref.mem, rw, ref.buf, ref.addr + off, ref.addr + off + size});
        p.events.push_back({api, p.pc, 0, 0, 0, 0, 0, size, 1, static_cast<uint32_t>(p.accesses.size() - 1), 1});
    }
    return ref.p + off;
}

namespace {

uint8_t *global_element(Private &p, const uint8_t *at, const uint8_t *begin, const uint8_t *end, uint32_t size, Rw rw, const char *api) {
    const auto address = reinterpret_cast<uint64_t>(at);
    if (gm_range(p, address, size) == nullptr || (end != nullptr && (at < begin || at + size > end))) {
        const Span s{const_cast<uint8_t *>(at), address, end ? (at < end ? static_cast<uint64_t>(end - at) : 0) : UINT64_MAX >> 1, -1,
                     Mem::GM, Dt::U8};
        p.gm_clip = false;
        if (!touch_gm(p, s, rw, {0, static_cast<int64_t>(size)}) || p.gm_clip) return nullptr;
    }
    if (t_core->checks) global_scalar(p, address, size, rw);
    if (t_core->trace) {
        p.accesses.push_back({Mem::GM, rw, -1, address, address + size});
        p.events.push_back({api, p.pc, 0, 0, 0, 0, 0, size, 1, static_cast<uint32_t>(p.accesses.size() - 1), 1});
    }
    return const_cast<uint8_t *>(at);
}

bool plain_global(Private &p, const uint8_t *at, const uint8_t *begin, const uint8_t *end, uint32_t size) {
    return !t_core->checks && !t_core->trace && gm_range(p, reinterpret_cast<uint64_t>(at), size) != nullptr &&
           (end == nullptr || (at >= begin && at + size <= end));
}

}  // namespace

__attribute__((noinline)) uint8_t *scalar_global(const uint8_t *at, const uint8_t *begin, const uint8_t *end, uint32_t size, Rw rw,
                                                 const char *api) {
    Private &p = priv();
    if (plain_global(p, at, begin, end, size)) return const_cast<uint8_t *>(at);
    TWIN_SITE(api, PipeId::S);
    if (p.stop) abandon_block();
    uint8_t *element = global_element(p, at, begin, end, size, rw, api);
    return element != nullptr ? element : scratch();
}

__attribute__((noinline)) void store_global(uint8_t *at, const uint8_t *begin, const uint8_t *end, uint32_t size, const void *value,
                                            const char *api) {
    Private &p = priv();
    if (plain_global(p, at, begin, end, size)) {
        memcpy(at, value, size);
        return;
    }
    TWIN_SITE(api, PipeId::S);
    if (p.stop) abandon_block();
    uint8_t *element = global_element(p, at, begin, end, size, Rw::WRITE, api);
    if (element == nullptr) return;
    if (t_core->checks) {
        gm_write(p, element, value, size);
    } else {
        memcpy(element, value, size);
    }
}

}  // namespace ascendc_twin
