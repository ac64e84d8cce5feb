// GroupBarrier: blocks of one group wait until every block of another has arrived.
#pragma once

#include "ascendc_twin/sync.h"

namespace AscendC {

enum class PipeMode : uint8_t { SCALAR_MODE = 0, MTE3_MODE = 1, MAX };

// The workspace holds 512 bytes for each waiting block, zero before the first use; word i of a part is set by arriving block i.
template <PipeMode pipeMode>
class GroupBarrier {
public:
    static constexpr uint32_t kPart = 512;

    GroupBarrier(GM_ADDR groupWorkspace, uint32_t arriveSizeIn, uint32_t waitSizeIn)
        : workspace_(groupWorkspace), arrive_(arriveSizeIn), wait_(waitSizeIn) {}

    TWIN_API void Arrive(uint32_t arriveIndex) {
        ascendc_twin::Inst inst("GroupBarrier::Arrive", ascendc_twin::PipeId::ALL);
        for (uint32_t i = 0; i < wait_; ++i) {
            if (volatile int32_t *word = Word(inst, i, arriveIndex)) ascendc_twin::ib_set(word);
        }
    }
    TWIN_API void Wait(uint32_t waitIndex) {
        ascendc_twin::Inst inst("GroupBarrier::Wait", ascendc_twin::PipeId::ALL);
        for (uint32_t i = 0; i < arrive_; ++i) {
            if (volatile int32_t *word = Word(inst, waitIndex, i)) {
                ascendc_twin::ib_wait(word, static_cast<int32_t>(waitIndex), static_cast<int32_t>(i));
            }
        }
    }
    uint64_t GetWorkspaceLen() { return uint64_t{wait_} * kPart; }

private:
    TWIN_API volatile int32_t *Word(ascendc_twin::Inst &inst, uint32_t waiting, uint32_t arriving) {
        GlobalTensor<int32_t> words;
        words.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t *>(workspace_), wait_ * kPart / sizeof(int32_t));
        ascendc_twin::Walk word;
        word.off = int64_t{waiting} * kPart + arriving * sizeof(int32_t);
        word.run = sizeof(int32_t);
        const ascendc_twin::Span span = words.span();
        if (!ascendc_twin::touch(inst, span, ascendc_twin::Rw::WRITE, word, 0)) return nullptr;
        return reinterpret_cast<volatile int32_t *>(span.p + word.off);
    }

    GM_ADDR workspace_;
    uint32_t arrive_, wait_;
};

}  // namespace AscendC
