// What the pipe, copy and system headers may call in the twin's runtime library: queues, flags, copies, barriers, tiling.
#pragma once

#include "ascendc_twin/rt.h"

namespace ascendc_twin {

// The state of a TQue, TQueBind or TBuf, kept inside that object.
struct Que {
    static constexpr int kMax = 64;  // buffers of one kernel
    int32_t first = -1;              // index of its first buffer, -1: InitBuffer was not called
    uint8_t num = 0;                 // buffers
    uint8_t cursor = 0;              // next buffer that AllocTensor looks at
    uint8_t head = 0, count = 0;     // tensors in the queue
    int32_t depth = 0;
    uint8_t pos = 0;                      // TPosition that decides the memory
    uint8_t enque_event = 0, free_event = 0;  // HardEvent
    uint32_t epoch = 0;              // of the TPipe when InitBuffer ran
    int16_t fifo[kMax] = {};
};

void pipe_init(void *pipe);
void pipe_reset();
void pipe_destroy();
void *pipe_of_core();
bool que_init(Que &que, uint32_t num, uint64_t len, bool plain);  // plain: a TBuf, which has no queue states
TensorRef que_alloc(Que &que);
void que_enque(Que &que, const TensorRef &tensor, int user_event = -1);
TensorRef que_deque(Que &que, int user_event = -1);
void que_free(Que &que, const TensorRef &tensor);
void que_free_all_events(Que &que);
bool que_has_idle(const Que &que);
uint8_t que_state(const TensorRef &tensor);
TensorRef buffer_of(const void *handle);  // what LocalTensor::GetBufferHandle gave
TensorRef stack_buffer(uint8_t pos);
TensorRef buf_get(const Que &que, uint64_t bytes, uint64_t offset, bool whole);

// Event ids of SetFlag/WaitFlag: `event` is a HardEvent.
int8_t event_alloc(uint8_t event);
int8_t event_fetch(uint8_t event);
void event_release(uint8_t event, int8_t id);
void flag_set(uint8_t event, int32_t id);
void flag_wait(uint8_t event, int32_t id);
void pipe_barrier_on(PipeId pipe);
// One arrival of this core at the barrier of all cores of its kind, or of all cores; `used` 0: all of them.
void sync_all(uint32_t used, bool hardware, bool vectors_only = true);

// IBSet and IBWait on a word of global memory: set it to 1 and let one waiting block go on; wait until it is 1 and clear it.
void ib_set(volatile int32_t *word);
void ib_wait(volatile int32_t *word, int32_t block, int32_t event);

// CrossCoreSetFlag<mode> and CrossCoreWaitFlag: 0 all cores of one kind, 1 the vector cores of a block, 2 its cube core and they.
void cross_set(uint32_t mode, uint32_t flag);
void cross_wait(uint32_t flag);

// A copy of `count` runs of `run` bytes; gaps between runs in bytes. Both operands are touched, atomics are honoured when dst is GM.
struct Burst {
    uint32_t count = 1;
    uint64_t run = 0;
    uint64_t src_gap = 0, dst_gap = 0;
};
void copy_count(Inst &inst, const Span &dst, const Span &src, uint64_t bytes);
void copy_blocks(Inst &inst, const Span &dst, const Span &src, uint32_t count, uint32_t len, uint32_t src_gap, uint32_t dst_gap);
// GM to UB with padding: `value` holds the padding element's bits.
struct Pad {
    bool is_pad = false;
    uint32_t left = 0, right = 0;  // elements
    uint64_t value = 0;
    uint32_t element = 1;          // bytes
};
void copy_pad_in(Inst &inst, const Span &dst, const Span &src, const Burst &burst, const Pad &pad);
void copy_pad_out(Inst &inst, const Span &dst, const Span &src, const Burst &burst, uint32_t element);
struct Slice {
    uint32_t start, end, stride, burst, shape;
};
void copy_slices(Inst &inst, const Span &dst, const Span &src, const Slice *dst_slices, const Slice *src_slices, uint32_t dims,
                 uint32_t element);
void set_pad_value(uint64_t bits);
uint64_t pad_value();  // 0 until it is set
void set_atomic(uint8_t kind, Dt dt);

// Copies a tiling struct of `bytes` bytes out of the tiling argument; checks the sizes when it is this launch's tiling.
void read_tiling(void *out, uint64_t bytes, const void *from, const char *type);
void check_tiling(const void *base, uint64_t bytes, const char *type);
bool tiling_key_is(uint64_t key);
void task_type(int type);
uint8_t *system_workspace();
uint8_t *user_workspace(uint8_t *workspace);
void set_system_workspace(uint8_t *workspace);
int64_t system_cycle();

void kernel_print(const char *format, ...);
void dump_tensor(const Span &span, const void *begin, uint64_t elements, uint32_t description);

}  // namespace ascendc_twin
