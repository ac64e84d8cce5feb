// The running core, the instruction being executed, findings, and the check of every operand.
#include "core.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ascendc_twin {

thread_local Core *t_core = nullptr;

Core &core() {
    return *t_core;
}

Inst::Inst(const char *api_, PipeId pipe_) : api(api_), pipe(pipe_), pc(__builtin_return_address(0)) {
    Private &p = priv();
    if (p.stop) abandon_block();
    outer = p.inst;
    p.inst = this;
    if (p.depth++ == 0) {
        p.gm_clip = false;
        p.api = api;
        p.pipe = pipe;
        p.pc = pc;
    }
    p.inst_access = p.accesses.size();
}

Inst::~Inst() {
    Private &p = priv();
    if (t_core->trace && p.accesses.size() > p.inst_access) {
        const auto first = static_cast<uint32_t>(p.inst_access);
        p.events.push_back({api, p.pc, static_cast<uint8_t>(pipe), 0, 0, 0, cycles, moved, runs, first,
                            static_cast<uint32_t>(p.accesses.size()) - first});
        p.inst_access = p.accesses.size();
    }
    p.inst = outer;
    --p.depth;
}

void abandon_block() {
    siglongjmp(priv().jump, kAbandoned);
}

std::string format(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

std::string at(void *pc) {
    return pc ? format("{pc:%p}", static_cast<void *>(static_cast<char *>(pc) - 1)) : std::string("an unknown line");
}

void finding_at(const char *id, const char *api, PipeId pipe, void *pc, const std::string &message, bool fatal) {
    Private &p = priv();
    if (!t_core->checks && !fatal) return;
    ++p.in_runtime;
    void *inside = pc ? static_cast<char *>(pc) - 1 : nullptr;
    auto same = std::find_if(p.findings.begin(), p.findings.end(), [&](const Finding &f) {
        return !strcmp(f.id, id) && f.pcs.front() == inside;
    });
    if (same != p.findings.end()) {
        ++same->count;
    } else {
        p.findings.push_back({id, message, api, pipe, {inside}, t_core->block_idx, t_core->sub_block_idx, 1, {}});
    }
    --p.in_runtime;
}

void finding(const char *id, const char *format, ...) {
    Private &p = priv();
    if (!t_core->checks) return;
    ++p.in_runtime;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    finding_at(id, p.api, p.pipe, p.pc, text);
    --p.in_runtime;
}

const void *keep(const void *data, uint64_t bytes) {
    Private &p = priv();
    ++p.in_runtime;
    p.kept.emplace_back(new uint8_t[bytes]);
    memcpy(p.kept.back().get(), data, bytes);
    --p.in_runtime;
    return p.kept.back().get();
}

// ---- local memories ----

const char *mem_name(Mem mem) {
    static const char *const names[kMems] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
    return names[static_cast<int>(mem)];
}

const char *position_name(uint8_t pos) {
    static const char *const names[] = {"GM", "A1", "A2", "B1", "B2", "C1", "C2", "CO1", "CO2", "VECIN", "VECOUT", "VECCALC",
                                        "SPM", "TSCM", "C2PIPE2GM", "C2PIPE2LOCAL"};
    return pos < sizeof names / sizeof *names ? names[pos] : "?";
}

Mem mem_of_position(uint8_t pos) {
    static const Mem mems[] = {Mem::GM, Mem::L1, Mem::L0A, Mem::L1, Mem::L0B, Mem::L1, Mem::BT, Mem::L0C,
                               Mem::UB, Mem::UB, Mem::UB,  Mem::UB, Mem::UB,  Mem::L1, Mem::FB, Mem::FB};
    return pos < sizeof mems / sizeof *mems ? mems[pos] : Mem::UB;
}

const char *pipe_name(PipeId pipe) {
    static const char *const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
    return names[static_cast<int>(pipe)];
}

namespace {

constexpr uint64_t kGap = 1 << 16;

uint64_t page_up(uint64_t bytes) {
    const uint64_t page = 4096;
    return (bytes + page - 1) / page * page;
}

void *reserve(uint64_t bytes) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#ifdef MAP_32BIT
    // below 2 GB, so that kernels which keep a UB address in 32 bits still point into it
    void *low = mmap(nullptr, bytes, PROT_NONE, flags | MAP_32BIT, -1, 0);
    if (low != MAP_FAILED) return low;
#endif
    void *any = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
    return any == MAP_FAILED ? nullptr : any;
}

}  // namespace

// Each memory lies at the end of readable pages with unreadable ones behind it, so that a raw pointer that runs over faults.
void arena_prepare(Private &p, const TwinLaunch &launch) {
    const uint64_t sizes[kMems] = {0,
                                   launch.ub_bytes,
                                   launch.l1_bytes,
                                   launch.l0a_bytes,
                                   launch.l0b_bytes,
                                   launch.l0c_bytes,
                                   launch.bt_bytes,
                                   launch.fb_bytes};
    for (int i = 1; i < kMems; ++i) {
        LocalMemory &m = p.mem[i];
        if (m.base == nullptr || m.size != sizes[i]) {
            if (m.base != nullptr) munmap(m.base - kGap, m.limit + 2 * kGap);
            m.size = sizes[i];
            m.limit = page_up(2 * sizes[i]);
            auto *start = static_cast<uint8_t *>(reserve(m.limit + 2 * kGap));
            m.base = start ? start + kGap : nullptr;
            if (start && mprotect(m.base, page_up(m.size), PROT_READ | PROT_WRITE) != 0) m.base = nullptr;
        } else if (m.room > m.size && page_up(m.room) > page_up(m.size)) {
            mprotect(m.base + page_up(m.size), page_up(m.room) - page_up(m.size), PROT_NONE);
        }
        m.room = m.size;
        m.used = m.high = 0;
        m.poisoned = false;
    }
}

void poison(LocalMemory &memory) {
    if (memory.poisoned || memory.base == nullptr) return;
    memory.poisoned = true;
    std::fill_n(reinterpret_cast<uint16_t *>(memory.base), memory.size / 2, kPoison);
}

bool is_local(const Private &p, uint64_t host, Mem &mem) {
    for (int i = 1; i < kMems; ++i) {
        const auto base = reinterpret_cast<uint64_t>(p.mem[i].base);
        if (base != 0 && host >= base && host < base + p.mem[i].limit) {
            mem = static_cast<Mem>(i);
            return true;
        }
    }
    return false;
}

TensorRef local_at(uint8_t pos, uint64_t addr, uint64_t bytes) {
    Private &p = priv();
    Mem mem = mem_of_position(pos);
    if (is_local(p, addr, mem)) addr -= reinterpret_cast<uint64_t>(p.mem[static_cast<int>(mem)].base);
    LocalMemory &m = p.mem[static_cast<int>(mem)];
    if (t_core->checks) poison(m);
    TensorRef ref;
    ref.p = m.base + addr;
    ref.addr = static_cast<uint32_t>(addr);
    ref.bytes = static_cast<uint32_t>(bytes);
    ref.mem = mem;
    ref.pos = pos;
    m.high = std::max(m.high, std::min(addr + bytes, m.size));
    return ref;
}

Span span_at(uint64_t phy_addr, Dt dt) {
    Private &p = priv();
    Span span;
    span.dt = dt;
    span.p = reinterpret_cast<uint8_t *>(phy_addr);
    if (!is_local(p, phy_addr, span.mem)) {
        span.mem = Mem::UB;
        span.addr = UINT32_MAX;
        return span;
    }
    LocalMemory &m = p.mem[static_cast<int>(span.mem)];
    span.addr = phy_addr - reinterpret_cast<uint64_t>(m.base);
    span.bytes = m.room > span.addr ? m.room - span.addr : 0;
    for (size_t i = 0; i < p.bufs.size(); ++i) {
        const Buffer &b = p.bufs[i];
        if (b.mem == span.mem && span.addr >= b.addr && span.addr < uint64_t{b.addr} + b.bytes) {
            span.buf = static_cast<int32_t>(i);
            span.bytes = uint64_t{b.addr} + b.bytes - span.addr;
        }
    }
    return span;
}

void require_reserved_ub(uint64_t bytes) {
    Private &p = priv();
    const LocalMemory &ub = p.mem[static_cast<int>(Mem::UB)];
    if (ub.used + bytes > ub.size) {
        finding("UB-RESERVED",
                "%s uses the last %llu bytes of UB for itself, but InitBuffer has taken %llu of %llu bytes: keep %llu bytes free",
                p.api, static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(ub.used),
                static_cast<unsigned long long>(ub.size), static_cast<unsigned long long>(bytes));
    }
}

// ---- global memory ----

const Range *gm_range(Private &p, uint64_t begin, uint64_t bytes) {
    const auto &ranges = launch_ranges(*p.launch);
    if (p.last_range < ranges.size()) {
        const Range &r = ranges[p.last_range];
        if (begin >= r.begin && begin + bytes <= r.end && begin + bytes >= begin) return &r;
    }
    for (size_t i = 0; i < ranges.size(); ++i) {
        if (begin >= ranges[i].begin && begin + bytes <= ranges[i].end && begin + bytes >= begin) {
            p.last_range = i;
            return &ranges[i];
        }
    }
    return nullptr;
}

namespace {

// Device memory comes in larger pieces than a tensor asks for: 32 bytes from aclrtMalloc, 512 from torch_npu's allocator.
constexpr uint64_t kWritePadding = 32, kReadPadding = 512;

const Range *gm_owner(Private &p, uint64_t address) {
    for (const Range &r : launch_ranges(*p.launch)) {
        if (address >= r.begin && address < r.end) return &r;
    }
    return nullptr;
}

// Whether an access that ends behind a buffer stays in its padding.
bool only_padding(const Range &r, uint64_t end, Rw rw) {
    const uint64_t piece = rw == Rw::WRITE ? kWritePadding : kReadPadding;
    const bool block = rw == Rw::READ && end < r.end + kWritePadding;
    return block || end <= r.begin + (r.end - r.begin + piece - 1) / piece * piece;
}

}  // namespace

uint64_t gm_inside(Private &p, uint64_t begin, uint64_t bytes) {
    const Range *r = gm_owner(p, begin);
    return r == nullptr ? 0 : std::min(bytes, r->end - begin);
}

std::string gm_describe(Private &p, uint64_t address) {
    const Range *near = nullptr;
    for (const Range &r : launch_ranges(*p.launch)) {
        if (r.begin <= address && (!near || r.begin > near->begin)) near = &r;
    }
    if (!near) return format("address %p, which lies before every buffer of this launch", reinterpret_cast<void *>(address));
    return format("byte %llu of %s (%llu bytes)", static_cast<unsigned long long>(address - near->begin), near->name,
                  static_cast<unsigned long long>(near->end - near->begin));
}

// ---- the check of an operand ----

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
}

bool touch_local(Private &p, const Span &s, Rw rw, const Extent &e, uint32_t align) {
    const LocalMemory &m = p.mem[static_cast<int>(s.mem)];
    const int64_t lo = static_cast<int64_t>(s.addr) + e.lo, hi = static_cast<int64_t>(s.addr) + e.hi;
    const bool inside = lo >= 0 && hi <= static_cast<int64_t>(m.room) && m.base != nullptr && s.p == m.base + s.addr;
    if (!t_core->checks) return inside;
    if (s.p == nullptr || (m.base != nullptr && s.p != m.base + s.addr)) {
        finding("UB-TENSOR", "%s %s a LocalTensor that was never given memory (AllocTensor, DeQue or Get)", p.api, verb(rw));
        return false;
    }
    const Buffer *b = s.buf >= 0 && static_cast<size_t>(s.buf) < p.bufs.size() ? &p.bufs[s.buf] : nullptr;
    if (b != nullptr && (lo < b->addr || hi > static_cast<int64_t>(b->addr) + b->bytes)) {
        report_buffer_bounds(p, *b, s, rw, e);
        return false;
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
    if (b != nullptr && b->state == BufState::FREE) {
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
    const Extent e = extent(walk);
    Span start = span;
    if (span.mem == Mem::GM) {
        if (!touch_gm(p, start, rw, e) || (p.gm_clip && !p.may_clip)) return false;
    } else {
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
        if (t_core->checks) hazard_access(p, inst.pipe, span, rw, walk);
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
    const Buffer *b = ref.buf >= 0 && static_cast<size_t>(ref.buf) < p.bufs.size() ? &p.bufs[ref.buf] : nullptr;
    const bool inside = ref.p == m.base + ref.addr && ref.addr + off + size <= m.room && m.base != nullptr;
    const bool fits = inside && off + size <= ref.bytes && (b == nullptr || b->state != BufState::FREE);
    if (fits && !t_core->trace && t_core->auto_sync) return ref.p + off;
    TWIN_SITE(api, PipeId::S);
    if (p.stop) abandon_block();
    if (!t_core->checks) return inside ? ref.p + off : scratch();
    Span s{ref.p, ref.addr, ref.bytes, ref.buf, ref.mem, Dt::U8};
    Walk w;
    w.off = static_cast<int64_t>(off);
    w.run = size;
    if (!touch_local(p, s, rw, extent(w), 1)) return scratch();
    hazard_access(p, PipeId::S, s, rw, w);
    if (t_core->trace) {
        p.accesses.push_back({ref.mem, rw, ref.buf, ref.addr + off, ref.addr + off + size});
        p.events.push_back({api, p.pc, 0, 0, 0, 0, 0, size, 1, static_cast<uint32_t>(p.accesses.size() - 1), 1});
    }
    return ref.p + off;
}

__attribute__((noinline)) uint8_t *scalar_global(const uint8_t *at, const uint8_t *begin, const uint8_t *end, uint32_t size, Rw rw,
                                                 const char *api) {
    Private &p = priv();
    const auto address = reinterpret_cast<uint64_t>(at);
    if (gm_range(p, address, size) != nullptr && !t_core->trace && (end == nullptr || (at >= begin && at + size <= end))) {
        return const_cast<uint8_t *>(at);
    }
    TWIN_SITE(api, PipeId::S);
    if (p.stop) abandon_block();
    const Span s{const_cast<uint8_t *>(at), address, end ? (at < end ? static_cast<uint64_t>(end - at) : 0) : UINT64_MAX >> 1, -1,
                 Mem::GM, Dt::U8};
    if (!touch_gm(p, s, rw, {0, static_cast<int64_t>(size)}) || p.gm_clip) return scratch();
    if (t_core->trace) {
        p.accesses.push_back({Mem::GM, rw, -1, address, address + size});
        p.events.push_back({api, p.pc, 0, 0, 0, 0, 0, size, 1, static_cast<uint32_t>(p.accesses.size() - 1), 1});
    }
    return const_cast<uint8_t *>(at);
}

void trace_sync(Private &p, const char *api, uint8_t kind, uint8_t pipe, uint8_t event, int id, void *pc) {
    if (!t_core->trace) return;
    p.events.push_back({api, pc, pipe, kind, event, static_cast<int8_t>(id), 0, 0, 0, 0, 0});
}

}  // namespace ascendc_twin
