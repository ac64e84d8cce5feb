// What the pool header may call in the twin's runtime library.
#pragma once

#include "ascendc_twin/rt_pipe.h"

namespace ascendc_twin {

uint32_t pool_reserve(uint8_t pos, uint64_t bytes);  // takes a part of a memory; its offset
void pool_start(Que &que, uint32_t num);             // the next `num` pool_buffer calls make the buffers of this queue
void pool_buffer(Que &que, uint32_t slot, uint64_t addr, uint64_t bytes, bool plain);
bool pool_init(Que &que, uint32_t num, uint64_t len, bool plain, uint32_t start, uint64_t used, uint64_t size);
void pool_reset(uint8_t pos, uint32_t start, uint64_t bytes);  // ends the events of every buffer in the part

}  // namespace ascendc_twin
