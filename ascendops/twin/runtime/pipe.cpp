// TPipe and its buffers, queues and event ids.
#include <algorithm>
#include <cstring>

#include "core.h"

namespace ascendc_twin {

namespace {

constexpr uint64_t kBlock = 32;
constexpr size_t kMaxBuffers = 64;

LocalMemory &memory(Private &p, Mem mem) {
    return p.mem[static_cast<int>(mem)];
}

TensorRef whole(const Private &p, int32_t index) {
    const Buffer &b = p.bufs[index];
    TensorRef ref;
    ref.p = p.mem[static_cast<int>(b.mem)].base + b.addr;
    ref.addr = b.addr;
    ref.bytes = b.bytes;
    ref.buf = index;
    ref.mem = b.mem;
    ref.pos = b.pos;
    return ref;
}

bool ready(const Private &p, const Que &que, const char *what) {
    if (que.first >= 0 && que.epoch == p.epoch) return true;
    finding("QUEUE-INIT", "%s on a %s queue or TBuf that InitBuffer never gave memory%s", what, position_name(que.pos),
            que.first >= 0 ? " since the pipe was initialised or reset" : "");
    return false;
}

const char *state_name(BufState state) {
    static const char *const names[] = {"free", "allocated", "in the queue", "dequeued", "a TBuf"};
    return names[static_cast<int>(state)];
}

bool owned(const Private &p, const Que &que, const TensorRef &tensor, const char *what) {
    if (tensor.buf >= que.first && tensor.buf < que.first + que.num) return true;
    if (tensor.buf < 0 || static_cast<size_t>(tensor.buf) >= p.bufs.size()) {
        finding("QUEUE-STATE", "%s a tensor that no AllocTensor of this %s queue returned", what, position_name(que.pos));
    } else {
        const Buffer &b = p.bufs[tensor.buf];
        finding("QUEUE-STATE", "%s a tensor of another %s: its %s buffer was made by InitBuffer at %s, this queue's by %s", what,
                b.state == BufState::PLAIN ? "TBuf" : "queue", position_name(b.pos), at(b.init_pc).c_str(),
                at(p.bufs[que.first].init_pc).c_str());
    }
    return false;
}

void set_state(Private &p, Buffer &b, BufState state) {
    b.state = state;
    b.state_pc = p.pc;
}

int8_t take_event(Private &p, uint8_t event, const char *what) {
    for (int8_t id = 0; id < kIds; ++id) {
        if (!(p.held[event] >> id & 1)) {
            p.held[event] |= static_cast<uint8_t>(1u << id);
            return id;
        }
    }
    finding("EVENT-IDS", "%s needs an event id of %s, and all %d are in use: too many tensors are outstanding (at most 8 buffers of one direction)",
            what, event_name(event), kIds);
    return -1;
}

void give_event(Private &p, uint8_t event, int8_t id) {
    if (id >= 0) p.held[event] &= static_cast<uint8_t>(~(1u << id));
}

}  // namespace

void flag_set_on(Private &p, uint8_t event, int32_t id, bool queue);
void flag_wait_on(Private &p, uint8_t event, int32_t id, bool queue);

namespace {

void set_queue_flag(Private &p, uint8_t event, int8_t id) {
    if (id >= 0) flag_set_on(p, event, id, true);
}

void wait_queue_flag(Private &p, uint8_t event, int8_t &id) {
    if (id < 0) return;
    flag_wait_on(p, event, id, true);
    give_event(p, event, id);
    id = -1;
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
    hazard_barrier(p, PipeId::ALL);
    trace_sync(p, "PipeBarrier", 3, static_cast<uint8_t>(PipeId::ALL), 0, 0, p.pc);
}

void *pipe_of_core() {
    return t_core->pipe;
}

namespace {

// Grows what may be accessed beyond the hardware's size after a capacity finding, so that one mistake gives one finding.
bool make_room(LocalMemory &m, Mem mem, uint64_t bytes, uint32_t num, uint64_t len) {
    const uint64_t need = m.used + bytes;
    if (need <= m.size) return true;
    using ull = unsigned long long;
    Private &p = priv();
    const bool fits = need <= m.limit;
    finding_at(mem == Mem::UB ? "UB-CAPACITY" : "L1-CAPACITY", p.api, p.pipe, p.pc,
               format("InitBuffer of %u x %llu bytes needs %s up to byte %llu, but it has %llu bytes (%llu were taken before): %llu too many",
                      num, static_cast<ull>(len), mem_name(mem), static_cast<ull>(need), static_cast<ull>(m.size),
                      static_cast<ull>(m.used), static_cast<ull>(need - m.size)),
               !fits);
    return fits;
}

}  // namespace

void grow(LocalMemory &m, uint64_t need);

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
    if (!make_room(m, mem, each * num, num, len)) abandon_block();
    if (m.used + each * num > m.room) grow(m, m.used + each * num);
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
                          static_cast<uint32_t>(m.used + i * each), static_cast<uint32_t>(each), p.queues, i, p.pc, p.pc});
    }
    m.used += each * num;
    m.high = std::max(m.high, m.used);
    --p.in_runtime;
    return true;
}

TensorRef que_alloc(Que &que) {
    Private &p = priv();
    TWIN_SITE("AllocTensor", PipeId::S);
    if (p.stop) abandon_block();
    if (!ready(p, que, "AllocTensor")) return {};
    for (uint32_t i = 0; i < que.num; ++i) {
        const int32_t index = que.first + (que.cursor + i) % que.num;
        Buffer &b = p.bufs[index];
        if (b.state != BufState::FREE) continue;
        que.cursor = static_cast<uint8_t>((que.cursor + i + 1) % que.num);
        wait_queue_flag(p, b.free_event, b.free_id);
        set_state(p, b, BufState::OCCUPIED);
        return whole(p, index);
    }
    const Buffer &b = p.bufs[que.first];
    finding_at("QUEUE-STATE", p.api, p.pipe, p.pc,
               format("AllocTensor hangs: all %u buffers of this %s queue are taken (buffer 0 is %s since %s); FreeTensor is missing",
                      que.num, position_name(que.pos), state_name(b.state), at(b.state_pc).c_str()),
               true);
    abandon_block();
}

void que_enque(Que &que, const TensorRef &tensor, int user_event) {
    Private &p = priv();
    TWIN_SITE("EnQue", PipeId::S);
    if (!ready(p, que, "EnQue") || !owned(p, que, tensor, "EnQue of")) return;
    Buffer &b = p.bufs[tensor.buf];
    if (b.state != BufState::OCCUPIED && b.state != BufState::DEQUE) {
        finding("QUEUE-STATE", "EnQue of a tensor that is %s since %s", b.state == BufState::ENQUE ? "already in the queue" : "free",
                at(b.state_pc).c_str());
        return;
    }
    if (que.depth > 0 && que.count >= que.depth) {
        finding("QUEUE-STATE", "EnQue: the queue has depth %d and already holds %u; DeQue first, or declare the TQue with a greater depth",
                que.depth, que.count);
        if (que.count >= que.num) return;
    }
    que.fifo[(que.head + que.count) % Que::kMax] = static_cast<int16_t>(tensor.buf - que.first);
    ++que.count;
    set_state(p, b, BufState::ENQUE);
    b.enque_event = user_event >= 0 ? static_cast<uint8_t>(user_event) : que.enque_event;
    b.enque_id = take_event(p, b.enque_event, "EnQue");
    set_queue_flag(p, b.enque_event, b.enque_id);
}

TensorRef que_deque(Que &que, int user_event) {
    (void)user_event;  // EnQue has recorded it
    Private &p = priv();
    TWIN_SITE("DeQue", PipeId::S);
    if (p.stop) abandon_block();
    if (!ready(p, que, "DeQue")) return {};
    if (que.count == 0) {
        finding("QUEUE-STATE", "DeQue of an empty %s queue: no EnQue came before (%u of its %u buffers are allocated)", position_name(que.pos),
                static_cast<unsigned>(std::count_if(p.bufs.begin() + que.first, p.bufs.begin() + que.first + que.num,
                                                    [](const Buffer &b) { return b.state == BufState::OCCUPIED; })),
                que.num);
        int32_t index = que.first;
        for (int32_t i = que.first; i < que.first + que.num; ++i) {
            if (p.bufs[i].state == BufState::OCCUPIED) index = i;
        }
        set_state(p, p.bufs[index], BufState::DEQUE);
        return whole(p, index);
    }
    const int32_t index = que.first + que.fifo[que.head];
    que.head = static_cast<uint8_t>((que.head + 1) % Que::kMax);
    --que.count;
    Buffer &b = p.bufs[index];
    wait_queue_flag(p, b.enque_event, b.enque_id);
    set_state(p, b, BufState::DEQUE);
    return whole(p, index);
}

namespace {

// A tensor freed while it is still queued leaves the queue, so that one mistake gives one finding.
void unqueue(Private &p, Que &que, int32_t buf) {
    for (uint8_t i = 0; i < que.count; ++i) {
        if (que.first + que.fifo[(que.head + i) % Que::kMax] != buf) continue;
        for (uint8_t k = i; k + 1 < que.count; ++k) que.fifo[(que.head + k) % Que::kMax] = que.fifo[(que.head + k + 1) % Que::kMax];
        --que.count;
        break;
    }
    wait_queue_flag(p, p.bufs[buf].enque_event, p.bufs[buf].enque_id);
}

}  // namespace

void que_free(Que &que, const TensorRef &tensor) {
    Private &p = priv();
    TWIN_SITE("FreeTensor", PipeId::S);
    if (!ready(p, que, "FreeTensor") || !owned(p, que, tensor, "FreeTensor of")) return;
    Buffer &b = p.bufs[tensor.buf];
    if (b.state == BufState::FREE) {
        finding("QUEUE-STATE", "FreeTensor of a tensor that is free already, since %s", at(b.state_pc).c_str());
        return;
    }
    if (b.state == BufState::ENQUE) {
        finding("QUEUE-STATE", "FreeTensor of a tensor that is still in the queue: EnQue was at %s and no DeQue followed",
                at(b.state_pc).c_str());
        unqueue(p, que, tensor.buf);
    }
    set_state(p, b, BufState::FREE);
    b.free_id = take_event(p, b.free_event, "FreeTensor");
    set_queue_flag(p, b.free_event, b.free_id);
}

void que_free_all_events(Que &que) {
    Private &p = priv();
    TWIN_SITE("FreeAllEvent", PipeId::S);
    if (que.first < 0 || que.epoch != p.epoch) return;
    for (int32_t i = que.first; i < que.first + que.num; ++i) {
        if (p.bufs[i].state == BufState::FREE) wait_queue_flag(p, p.bufs[i].free_event, p.bufs[i].free_id);
    }
}

bool que_has_idle(const Que &que) {
    const Private &p = priv();
    if (que.first < 0 || que.epoch != p.epoch) return false;
    return std::any_of(p.bufs.begin() + que.first, p.bufs.begin() + que.first + que.num,
                       [](const Buffer &b) { return b.state == BufState::FREE; });
}

uint8_t que_state(const TensorRef &tensor) {
    const Private &p = priv();
    if (tensor.buf < 0 || static_cast<size_t>(tensor.buf) >= p.bufs.size()) return 0;
    const auto state = static_cast<uint8_t>(p.bufs[tensor.buf].state);
    return state > 3 ? 1 : state;
}

TensorRef buf_get(const Que &que, uint64_t bytes, uint64_t offset, bool whole_buffer) {
    Private &p = priv();
    TWIN_SITE("Get", PipeId::S);
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

TensorRef stack_buffer(uint8_t pos) {
    Private &p = priv();
    const LocalMemory &m = memory(p, mem_of_position(pos));
    const uint64_t reserved = mem_of_position(pos) == Mem::UB ? 8192 : 0;  // the high-level APIs keep this much for themselves
    const uint64_t end = m.size > reserved ? m.size - reserved : 0;
    TensorRef ref = local_at(pos, m.used, end > m.used ? end - m.used : 0);
    return ref;
}

// ---- event ids ----

int8_t event_alloc(uint8_t event) {
    Private &p = priv();
    TWIN_SITE("AllocEventID", PipeId::S);
    return std::max<int8_t>(take_event(p, event, "AllocEventID"), 0);
}

int8_t event_fetch(uint8_t event) {
    Private &p = priv();
    TWIN_SITE("FetchEventID", PipeId::S);
    const int8_t id = take_event(p, event, "FetchEventID");
    give_event(p, event, id);
    return std::max<int8_t>(id, 0);
}

void event_release(uint8_t event, int8_t id) {
    Private &p = priv();
    TWIN_SITE("ReleaseEventID", PipeId::S);
    if (id < 0 || id >= kIds || !(p.held[event] >> id & 1)) {
        finding("EVENT-IDS", "ReleaseEventID of id %d of %s, which AllocEventID did not give out", id, event_name(event));
        return;
    }
    give_event(p, event, id);
}

void pipes_close(Private &p) {
    close_pipe(p);
}

}  // namespace ascendc_twin
