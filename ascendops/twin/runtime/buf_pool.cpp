// TBufPool: a part of a local memory that buffers are taken from, possibly shared with other pools.
#include <algorithm>

#include "ascendc_twin/rt_pool.h"
#include "pipe_state.h"

namespace ascendc_twin {

namespace {

constexpr uint64_t kBlock = 32;

uint64_t rounded(uint64_t bytes) {
    return (bytes + kBlock - 1) / kBlock * kBlock;
}

void add_buffer(Private &p, const Que &que, uint32_t slot, uint64_t addr, uint64_t bytes, bool plain) {
    p.bufs.push_back({mem_of_position(que.pos), que.pos, plain ? BufState::PLAIN : BufState::FREE, que.free_event, -1, -1,
                      que.enque_event, static_cast<uint32_t>(addr), static_cast<uint32_t>(bytes), p.queues, slot, p.pc, p.pc});
}

}  // namespace

uint32_t pool_reserve(uint8_t pos, uint64_t bytes) {
    Private &p = priv();
    TWIN_SITE("InitBufPool", PipeId::S);
    const Mem mem = mem_of_position(pos);
    LocalMemory &m = p.mem[static_cast<int>(mem)];
    const uint64_t start = m.used;
    const uint64_t need = start + rounded(bytes);
    using ull = unsigned long long;
    take_memory(p, mem, need, format("InitBufPool of %llu bytes needs %s up to byte %llu, but it has %llu bytes", static_cast<ull>(bytes),
                                     mem_name(mem), static_cast<ull>(need), static_cast<ull>(m.size)));
    if (t_core->checks) poison(m);
    return static_cast<uint32_t>(start);
}

void pool_start(Que &que, uint32_t num) {
    Private &p = priv();
    que.first = static_cast<int32_t>(p.bufs.size());
    que.num = static_cast<uint8_t>(num);
    que.cursor = que.head = que.count = 0;
    que.epoch = p.epoch;
    ++p.queues;
}

void pool_buffer(Que &que, uint32_t slot, uint64_t addr, uint64_t bytes, bool plain) {
    Private &p = priv();
    TWIN_SITE("InitBufHandle", PipeId::S);
    ++p.in_runtime;
    add_buffer(p, que, slot, addr, rounded(bytes), plain);
    --p.in_runtime;
}

bool pool_init(Que &que, uint32_t num, uint64_t len, bool plain, uint32_t start, uint64_t used, uint64_t size) {
    Private &p = priv();
    TWIN_SITE("InitBuffer", PipeId::S);
    const uint64_t each = rounded(len);
    if (used + each * num > size) {
        using ull = unsigned long long;
        finding("POOL-CAPACITY", "InitBuffer of %u x %llu bytes in a pool of %llu bytes of which %llu are taken", num, static_cast<ull>(len),
                static_cast<ull>(size), static_cast<ull>(used));
    }
    ++p.in_runtime;
    pool_start(que, num);
    for (uint32_t i = 0; i < num; ++i) add_buffer(p, que, i, start + used + i * each, each, plain);
    --p.in_runtime;
    return true;
}

void pool_reset(uint8_t pos, uint32_t start, uint64_t bytes) {
    Private &p = priv();
    TWIN_SITE("TBufPool::Reset", PipeId::S);
    const Mem mem = mem_of_position(pos);
    for (size_t i = p.epoch_first; i < p.bufs.size(); ++i) {
        Buffer &b = p.bufs[i];
        if (b.mem != mem || b.addr < start || b.addr >= start + bytes) continue;
        wait_queue_flag(p, b.free_event, b.free_id);
        wait_queue_flag(p, b.enque_event, b.enque_id);
        if (b.state != BufState::PLAIN) b.state = BufState::FREE;
    }
}

}  // namespace ascendc_twin
