// TQue: the state of every buffer from AllocTensor to FreeTensor.
#include <algorithm>

#include "pipe_state.h"

namespace ascendc_twin {

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

namespace {

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

}  // namespace

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

}  // namespace ascendc_twin
