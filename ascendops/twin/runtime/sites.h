// Lines of a kernel as small numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace ascendc_twin {

class Sites {
public:
    struct Site {
        void *pc = nullptr;
        const char *api = "";
    };

    uint16_t number(void *pc, const char *api) {
        if (pc == last_.pc && api == last_.api) return last_number_;
        last_ = {pc, api};
        return last_number_ = find(pc, api);
    }
    const Site &operator[](uint16_t number) const { return sites_[number]; }

private:
    uint16_t find(void *pc, const char *api) {
        if (slots_.empty()) clear();
        for (size_t i = reinterpret_cast<uintptr_t>(pc) * 0x9e3779b97f4a7c15ull >> 50;; i = (i + 1) % kSlots) {
            if (slots_[i] == 0) {
                if (sites_.size() == kMost) return kMost - 1;  // lines beyond share the last number
                sites_.push_back({pc, api});
                slots_[i] = static_cast<uint16_t>(sites_.size());
                return slots_[i] - 1;
            }
            const Site &site = sites_[slots_[i] - 1];
            if (site.pc == pc && site.api == api) return slots_[i] - 1;
        }
    }
    void clear() { slots_.assign(kSlots, 0); }

    static constexpr size_t kSlots = 1 << 14, kMost = kSlots / 2;
    std::vector<Site> sites_;
    std::vector<uint16_t> slots_;
    Site last_;
    uint16_t last_number_ = 0;
};

}  // namespace ascendc_twin
