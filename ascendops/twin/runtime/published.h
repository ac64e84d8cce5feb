// Flags in global memory: what a core that finds a value there past its data cache may rely on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "order.h"

namespace ascendc_twin {

// By line: what the cores that wrote to it had finished and knew. Lines of different pages mostly have different locks.
struct Published {
    struct Part {
        std::mutex mutex;
        std::unordered_map<uint64_t, std::shared_ptr<const CoresView>> lines;
    };
    Part parts[64];
    Part &part(uint64_t line) { return parts[line / 4096 % 64]; }
};

// The scalar unit is about to write to a line.
void publish_line(Private &p, uint64_t line);
// What a scalar read past the data cache may have found, taken in before the next access: the value is loaded behind the read's own check.
void take_published(Private &p);

}  // namespace ascendc_twin
