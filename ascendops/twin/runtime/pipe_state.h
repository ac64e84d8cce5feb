// What the files about pipes, queues and event ids share.
#pragma once

#include "core.h"

namespace ascendc_twin {

TensorRef whole(const Private &p, int32_t index);                    // the tensor over a whole buffer
bool ready(const Private &p, const Que &que, const char *what);      // InitBuffer was called; else reports
const char *state_name(BufState state);
int8_t take_event(Private &p, uint8_t event, const char *what);      // a free event id; -1, reported, when there is none
void give_event(Private &p, uint8_t event, int8_t id);
void set_queue_flag(Private &p, uint8_t event, int8_t id);
void wait_queue_flag(Private &p, uint8_t event, int8_t &id);         // and gives the id back
void flag_set_on(Private &p, uint8_t event, int32_t id, bool queue);
void flag_wait_on(Private &p, uint8_t event, int32_t id, bool queue);
void pipes_close(Private &p);                                        // what TPipe::Destroy does
// Buffers up to byte `need` of a memory, made now; `message` says what for. Ends the block where the twin has no room for them.
void take_memory(Private &p, Mem mem, uint64_t need, const std::string &message);
void surplus_close(Private &p);                                      // the buffers made so far are gone
void surplus_finish(Private &p);                                     // end of a block: what lay beyond a memory and was never touched

}  // namespace ascendc_twin
