// Blocks taking turns in the order of their numbers, and the marks between kernels of one stream.
#pragma once

#include "ascendc_twin/sync.h"

namespace AscendC {

// A token goes round the blocks; the slot of a block in the workspace is 1 while it has its turn.
TWIN_API void InitDetermineComputeWorkspace(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace) {
    ascendc_twin::Inst inst("InitDetermineComputeWorkspace", ascendc_twin::PipeId::ALL);
    const auto &core = ascendc_twin::core();
    ascendc_twin::Walk words;
    words.run = uint64_t{core.block_dim} * ONE_BLK_SIZE + ONE_BLK_SIZE;
    ascendc_twin::touch(inst, ubWorkspace.span(), ascendc_twin::Rw::WRITE, words);
    if (volatile int32_t *word = twin_detail::ib_word(inst, gmWorkspace, static_cast<int32_t>(core.block_idx), 0)) {
        *word = core.block_idx == 0 ? 1 : 0;
    }
    ascendc_twin::sync_all(0, false);
}
TWIN_API void WaitPreBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &) {
    ascendc_twin::Inst inst("WaitPreBlock", ascendc_twin::PipeId::ALL);
    const auto block = static_cast<int32_t>(ascendc_twin::core().block_idx);
    if (volatile int32_t *word = twin_detail::ib_word(inst, gmWorkspace, block, 0)) ascendc_twin::ib_wait(word, block, 0);
}
TWIN_API void NotifyNextBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &) {
    ascendc_twin::Inst inst("NotifyNextBlock", ascendc_twin::PipeId::ALL);
    const auto &core = ascendc_twin::core();
    const auto next = static_cast<int32_t>((core.block_idx + 1) % core.block_dim);
    if (volatile int32_t *word = twin_detail::ib_word(inst, gmWorkspace, next, 0)) ascendc_twin::ib_set(word);
}

// The events between two pipes by the pipes' names.
constexpr HardEvent event_between(pipe_t from, pipe_t to) {
    struct Pair {
        pipe_t from, to;
        HardEvent event;
    };
    constexpr Pair pairs[] = {
        {PIPE_MTE2, PIPE_V, HardEvent::MTE2_V},    {PIPE_V, PIPE_MTE2, HardEvent::V_MTE2},       {PIPE_MTE3, PIPE_V, HardEvent::MTE3_V},
        {PIPE_V, PIPE_MTE3, HardEvent::V_MTE3},    {PIPE_MTE3, PIPE_MTE2, HardEvent::MTE3_MTE2}, {PIPE_MTE2, PIPE_MTE3, HardEvent::MTE2_MTE3},
        {PIPE_S, PIPE_V, HardEvent::S_V},          {PIPE_V, PIPE_S, HardEvent::V_S},             {PIPE_S, PIPE_MTE2, HardEvent::S_MTE2},
        {PIPE_MTE2, PIPE_S, HardEvent::MTE2_S},    {PIPE_S, PIPE_MTE3, HardEvent::S_MTE3},       {PIPE_MTE3, PIPE_S, HardEvent::MTE3_S},
    };
    for (const Pair &pair : pairs) {
        if (pair.from == from && pair.to == to) return pair.event;
    }
    return HardEvent::MAX;
}
template <pipe_t src, pipe_t dst>
class TQueSync {
public:
    TWIN_API void SetFlag(TEventID id) {
        static_assert(event_between(src, dst) != HardEvent::MAX, "TQueSync: there is no event between these pipes of a vector core");
        AscendC::SetFlag<event_between(src, dst)>(id);
    }
    TWIN_API void WaitFlag(TEventID id) { AscendC::WaitFlag<event_between(src, dst)>(id); }
};

// Stores of the twin are visible at once.
enum class MemDsbT : uint8_t { ALL = 0, DDR, UB, SEQ };
template <MemDsbT arg0>
TWIN_API void DataSyncBarrier() {
    TWIN_NOT_ON_310P_V("DataSyncBarrier", arg0);
}

// One kernel runs at a time here: there is nothing to overlap with.
template <pipe_t AIV_PIPE = PIPE_MTE3, pipe_t AIC_PIPE = PIPE_MTE3, bool FORCE = false>
TWIN_API void SetNextTaskStart() {}
template <bool FORCE = false>
TWIN_API void WaitPreTaskEnd() {}

}  // namespace AscendC
