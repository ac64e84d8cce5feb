// The tiling of communication tasks. The fields are where a device's server reads them (asc-devkit, hccl_tiling_msg.h); the twin runs as one
// rank and looks at none of them.
#pragma once

#include <cstring>
#include <string>

#include "../../../kernel_tiling/kernel_tiling.h"

namespace AscendC {

class Mc2CcTilingConfig {
public:
    explicit Mc2CcTilingConfig(const std::string &groupName, uint32_t opType, const std::string &algConfig, uint32_t reduceType = 0,
                               uint8_t dstDataType = 0, uint8_t srcDataType = 0, uint8_t commEngine = 0)
        : group_(groupName), algorithm_(algConfig), op_(opType), reduce_(reduceType), dst_(dstDataType), src_(srcDataType), engine_(commEngine) {}
    virtual ~Mc2CcTilingConfig() = default;

    uint32_t SetOpType(uint32_t opType) { return op_ = opType, 0; }
    uint32_t SetGroupName(const std::string &groupName) { return group_ = groupName, 0; }
    uint32_t SetAlgConfig(const std::string &algConfig) { return algorithm_ = algConfig, 0; }
    uint32_t SetReduceType(uint32_t reduceType, uint8_t dstDataType = 0, uint8_t srcDataType = 0) {
        reduce_ = reduceType;
        dst_ = dstDataType;
        src_ = srcDataType;
        return 0;
    }
    uint32_t SetStepSize(uint8_t stepSize) { return step_ = stepSize, 0; }
    uint32_t SetSkipLocalRankCopy(uint8_t skipLocalRankCopy) { return skip_rank_ = skipLocalRankCopy, 0; }
    uint32_t SetSkipBufferWindowCopy(uint8_t skipBufferWindowCopy) { return skip_window_ = skipBufferWindowCopy, 0; }
    uint32_t SetDebugMode(uint8_t debugMode) { return debug_ = debugMode, 0; }
    uint32_t SetQueueNum(uint16_t num) { return queues_ = num, 0; }
    uint32_t SetCommBlockNum(uint16_t num) { return blocks_ = num, 0; }
    uint32_t SetCommEngine(uint8_t commEngine) { return engine_ = commEngine, 0; }

    // 0, or 1 where the group or the algorithm has no name or too long a one.
    uint32_t GetTiling(::Mc2InitTiling &tiling) {
        const uint32_t head[2] = {100, 0};  // version, tasks so far
        std::memset(tiling.reserved, 0, sizeof tiling.reserved);
        std::memcpy(tiling.reserved, head, sizeof head);
        tiling.reserved[40] = debug_;
        std::memcpy(tiling.reserved + 42, &queues_, 2);
        std::memcpy(tiling.reserved + 44, &blocks_, 2);
        init_ = &tiling;
        return Good() ? 0 : 1;
    }
    uint32_t GetTiling(::Mc2CcTiling &tiling) {
        if (!Good() || init_ == nullptr) return 1;
        uint8_t *const to = tiling.reserved;
        std::memset(to, 0, sizeof tiling.reserved);
        const uint8_t head[3] = {skip_rank_, skip_window_, step_}, types[3] = {engine_, src_, dst_};
        std::memcpy(to, head, sizeof head);
        std::memcpy(to + 13, types, sizeof types);
        std::memcpy(to + 16, group_.data(), group_.size());
        std::memcpy(to + 144, algorithm_.data(), algorithm_.size());
        std::memcpy(to + 272, &op_, 4);
        std::memcpy(to + 276, &reduce_, 4);
        uint32_t tasks = 0;
        std::memcpy(&tasks, init_->reserved + 4, 4);
        if (tasks == 8) return 1;
        const auto offset = static_cast<uint32_t>(to - init_->reserved);
        std::memcpy(init_->reserved + 8 + 4 * tasks, &offset, 4);
        ++tasks;
        std::memcpy(init_->reserved + 4, &tasks, 4);
        return 0;
    }

private:
    bool Good() const { return !group_.empty() && group_.size() < 128 && !algorithm_.empty() && algorithm_.size() < 128; }

    std::string group_, algorithm_;
    uint32_t op_, reduce_;
    uint8_t dst_, src_, engine_, step_ = 0, skip_rank_ = 0, skip_window_ = 0, debug_ = 0;
    uint16_t queues_ = 0, blocks_ = 0;
    ::Mc2InitTiling *init_ = nullptr;
};

}  // namespace AscendC
