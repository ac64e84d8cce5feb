// TPipe: InitBuffer, TBuf, and what is checked when a pipe ends.
#include <algorithm>

#include "order.h"
#include "pipe_state.h"

namespace ascendc_twin {

namespace {

constexpr uint64_t kBlock = 32;
constexpr size_t kMaxBuffers = 64;

LocalMemory &memory(Private &p, Mem mem) {
    return p.mem[static_cast<int>(mem)];
}

void check_leaks(Private &p) {
    for (const Buffer &b : p.bufs) {
        if (b.state != BufState::OCCUPIED && b.state != BufState::ENQUE && b.state != BufState::DEQUE) continue;
        finding_at("QUEUE-LEAK", "TPipe", PipeId::S, b.state_pc,
                   format("buffer %u of the %s queue made at %s is still %s when the kernel ends: %s is missing", b.slot,
                          position_name(b.pos), at(b.init_pc).c_str(), state_name(b.state),
                          b.state == BufState::ENQUE ? "DeQue and FreeTensor" : "FreeTensor"));
    }
}

void close_pipe(Private &p) {
    if (!p.pipe_open) return;
    p.pipe_open = false;
    if (t_core->checks) check_leaks(p);
    for (Buffer &b : p.bufs) {
        wait_queue_flag(p, b.free_event, b.free_id);
        wait_queue_flag(p, b.enque_event, b.enque_id);
        if (b.state != BufState::PLAIN) b.state = BufState::FREE;
    }
}

void restart(Private &p) {
    ++p.epoch;
    p.pipe_open = true;
    for (LocalMemory &m : p.mem) m.used = 0;
    surplus_close(p);
    // Buffers of before stay in the list, so that a tensor kept over a reset does not pass for one of a new buffer.
    for (Buffer &b : p.bufs) b.state = BufState::PLAIN;
    p.epoch_first = p.bufs.size();
}

}  // namespace

void pipe_init(void *pipe) {
    Private &p = priv();
    TWIN_SITE("TPipe", PipeId::S);
    close_pipe(p);
    t_core->pipe = pipe;
    restart(p);
}

void pipe_reset() {
    Private &p = priv();
    TWIN_SITE("TPipe::Reset", PipeId::S);
    close_pipe(p);
    restart(p);
}

void pipe_destroy() {
    Private &p = priv();
    TWIN_SITE("TPipe::Destroy", PipeId::S);
    close_pipe(p);
    order_barrier(p, PipeId::ALL);
    trace_sync(p, "PipeBarrier", 3, static_cast<uint8_t>(PipeId::ALL), 0, 0, p.pc);
}

void *pipe_of_core() {
    return t_core->pipe;
}

bool que_init(Que &que, uint32_t num, uint64_t len, bool plain) {
    Private &p = priv();
    TWIN_SITE("InitBuffer", PipeId::S);
    if (p.stop) abandon_block();
    if (!p.pipe_open) restart(p);
    if (num == 0 || len == 0) {
        finding("BUFFER-LENGTH", "InitBuffer with %u buffers of %llu bytes: both must be more than 0", num,
                static_cast<unsigned long long>(len));
        if (num == 0) num = 1;
    }
    const Mem mem = mem_of_position(que.pos);
    LocalMemory &m = memory(p, mem);
    const uint64_t each = (len + kBlock - 1) / kBlock * kBlock;
    const uint64_t first = m.used, need = first + each * num;
    std::string message;
    if (need > m.size) {
        using ull = unsigned long long;
        message = format("InitBuffer of %u x %llu bytes needs %s up to byte %llu, but it has %llu bytes (%llu were taken before): %llu too many",
                         num, static_cast<ull>(len), mem_name(mem), static_cast<ull>(need), static_cast<ull>(m.size), static_cast<ull>(first),
                         static_cast<ull>(need - m.size));
    }
    take_memory(p, mem, need, message);
    const size_t made = p.bufs.size() - p.epoch_first;
    if (made <= kMaxBuffers && made + num > kMaxBuffers) {
        finding("BUFFER-COUNT", "InitBuffer makes buffer number %zu: a pipe has at most %zu", made + num, kMaxBuffers);
    }
    ++p.in_runtime;
    if (t_core->checks) poison(m);
    que.first = static_cast<int32_t>(p.bufs.size());
    que.num = static_cast<uint8_t>(num);
    que.cursor = que.head = que.count = 0;
    que.epoch = p.epoch;
    ++p.queues;
    for (uint32_t i = 0; i < num; ++i) {
        p.bufs.push_back({mem, que.pos, plain ? BufState::PLAIN : BufState::FREE, que.free_event, -1, -1, que.enque_event,
                          static_cast<uint32_t>(first + i * each), static_cast<uint32_t>(each), p.queues, i, p.pc, p.pc});
    }
    --p.in_runtime;
    return true;
}

TensorRef buf_get(const Que &que, uint64_t bytes, uint64_t offset, bool whole_buffer) {
    Private &p = priv();
    TWIN_SITE("Get", PipeId::S);
    if (que.first < 0) return {};  // kernels get a buffer that only another dtype's branch uses; using this one is UB-TENSOR
    if (!ready(p, que, "Get")) return {};
    TensorRef ref = whole(p, que.first);
    if (whole_buffer) return ref;
    if (offset + bytes > ref.bytes) {
        finding("TBUF-SIZE", "Get of %llu bytes at byte %llu of a TBuf of %u bytes (made at %s)", static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(offset), ref.bytes, at(p.bufs[que.first].init_pc).c_str());
    }
    ref.p += offset;
    ref.addr += static_cast<uint32_t>(offset);
    ref.bytes = static_cast<uint32_t>(bytes);
    return ref;
}

TensorRef buffer_of(const void *handle) {
    const Private &p = priv();
    const auto index = static_cast<int64_t>(reinterpret_cast<intptr_t>(handle)) - 1;
    return index >= 0 && static_cast<size_t>(index) < p.bufs.size() ? whole(p, static_cast<int32_t>(index)) : TensorRef();
}

TensorRef stack_buffer(uint8_t pos) {
    Private &p = priv();
    const LocalMemory &m = memory(p, mem_of_position(pos));
    const uint64_t reserved = mem_of_position(pos) == Mem::UB ? 8192 : 0;  // the high-level APIs keep this much for themselves
    const uint64_t end = m.size > reserved ? m.size - reserved : 0;
    TensorRef ref = local_at(pos, m.used, end > m.used ? end - m.used : 0);
    return ref;
}

void pipes_close(Private &p) {
    close_pipe(p);
}

}  // namespace ascendc_twin
