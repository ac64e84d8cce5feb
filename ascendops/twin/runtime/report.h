// What a launch found, merged over its blocks, and its JSON form.
#pragma once

#include <string>
#include <vector>

#include "core.h"

namespace ascendc_twin {

enum class BlockResult { OK, ABANDONED, CRASH, HANG };

class Report {
public:
    void add(const Core &core, BlockResult result);
    void merge(const Finding &finding);
    bool clean() const { return worst_ == BlockResult::OK && findings_.empty(); }
    std::string json() const;
    double seconds = 0;
    uint32_t block_dim = 0;

private:
    struct Block {
        uint32_t index;
        uint64_t ub_high;
        std::vector<Event> events;
        std::vector<Access> accesses;
    };

    std::vector<Finding> findings_;
    std::vector<Block> blocks_;
    BlockResult worst_ = BlockResult::OK;
    uint64_t high_[kMems] = {};
};

}  // namespace ascendc_twin
