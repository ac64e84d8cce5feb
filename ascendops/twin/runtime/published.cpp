// A line of global memory carries what its writers had finished and knew to those who read it past their data cache.
#include "published.h"

#include "checker.h"
#include "launch_state.h"

namespace ascendc_twin {

void publish_line(Private &p, uint64_t line) {
    const std::shared_ptr<const CoresView> mine = p.checker->gm.publishes(p, line);
    if (mine == nullptr) return;
    Published::Part &part = p.launch->published.part(line);
    std::lock_guard<std::mutex> lock(part.mutex);
    std::shared_ptr<const CoresView> &all = part.lines[line];
    all = all == nullptr ? mine : merged(*all, *mine);
}

void take_published(Private &p) {
    GmLog &log = p.checker->gm;
    const uint64_t line = log.looked_at();
    if (line == 0) return;
    Published::Part &part = p.launch->published.part(line);
    std::shared_ptr<const CoresView> found;
    {
        std::lock_guard<std::mutex> lock(part.mutex);
        const auto at = part.lines.find(line);
        if (at == part.lines.end()) return;
        found = at->second;
    }
    if (found->size() > p.number) p.checker->order.acquire(PipeId::S, (*found)[p.number].data());
    log.learn(*found);
}

}  // namespace ascendc_twin
