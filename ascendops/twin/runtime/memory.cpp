// Local memories as ranges of reserved address space, and the buffers of global memory.
#include <sys/mman.h>

#include <algorithm>

#include "core.h"

namespace ascendc_twin {

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
    const LocalMemory &ub = p.mem[static_cast<int>(Mem::UB)];
    if (phy_addr < ub.size) {  // an address of UB as on the device, such as TMP_UB_OFFSET
        phy_addr += reinterpret_cast<uint64_t>(ub.base);
    }
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

}  // namespace ascendc_twin
