// Event ids: eight per direction between two pipes, shared by queues and kernel code.
#include <algorithm>

#include "pipe_state.h"

namespace ascendc_twin {

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

void set_queue_flag(Private &p, uint8_t event, int8_t id) {
    if (id >= 0) flag_set_on(p, event, id, true);
}

void wait_queue_flag(Private &p, uint8_t event, int8_t &id) {
    if (id < 0) return;
    flag_wait_on(p, event, id, true);
    give_event(p, event, id);
    id = -1;
}

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

}  // namespace ascendc_twin
