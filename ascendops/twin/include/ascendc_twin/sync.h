// Flags, barriers between pipes, and the barrier between blocks.
#pragma once

#include "ascendc_twin/pipe.h"

namespace ascendc_twin {
constexpr PipeId pipe_id(pipe_t pipe) {
    switch (pipe) {
        case PIPE_V:
        case PIPE_V2: return PipeId::V;
        case PIPE_M: return PipeId::M;
        case PIPE_MTE1: return PipeId::MTE1;
        case PIPE_MTE2: return PipeId::MTE2;
        case PIPE_MTE3: return PipeId::MTE3;
        case PIPE_FIX: return PipeId::FIX;
        case PIPE_S: return PipeId::S;
        default: return PipeId::ALL;
    }
}

// The HardEvent of a pair of pipes (HardEvent::MAX: there is none).
constexpr AscendC::HardEvent event_of(pipe_t src, pipe_t dst) {
    using E = AscendC::HardEvent;
    constexpr struct {
        pipe_t src, dst;
        E event;
    } table[] = {
        {PIPE_MTE2, PIPE_MTE1, E::MTE2_MTE1}, {PIPE_MTE1, PIPE_MTE2, E::MTE1_MTE2}, {PIPE_MTE1, PIPE_M, E::MTE1_M},
        {PIPE_M, PIPE_MTE1, E::M_MTE1},       {PIPE_MTE2, PIPE_V, E::MTE2_V},       {PIPE_V, PIPE_MTE2, E::V_MTE2},
        {PIPE_MTE3, PIPE_V, E::MTE3_V},       {PIPE_V, PIPE_MTE3, E::V_MTE3},       {PIPE_M, PIPE_V, E::M_V},
        {PIPE_V, PIPE_M, E::V_M},             {PIPE_V, PIPE_V, E::V_V},             {PIPE_MTE3, PIPE_MTE1, E::MTE3_MTE1},
        {PIPE_MTE1, PIPE_MTE3, E::MTE1_MTE3}, {PIPE_MTE1, PIPE_V, E::MTE1_V},       {PIPE_MTE2, PIPE_M, E::MTE2_M},
        {PIPE_M, PIPE_MTE2, E::M_MTE2},       {PIPE_V, PIPE_MTE1, E::V_MTE1},       {PIPE_M, PIPE_FIX, E::M_FIX},
        {PIPE_FIX, PIPE_M, E::FIX_M},         {PIPE_MTE3, PIPE_MTE2, E::MTE3_MTE2}, {PIPE_MTE2, PIPE_MTE3, E::MTE2_MTE3},
        {PIPE_S, PIPE_V, E::S_V},             {PIPE_V, PIPE_S, E::V_S},             {PIPE_S, PIPE_MTE2, E::S_MTE2},
        {PIPE_MTE2, PIPE_S, E::MTE2_S},       {PIPE_S, PIPE_MTE3, E::S_MTE3},       {PIPE_MTE3, PIPE_S, E::MTE3_S},
        {PIPE_MTE2, PIPE_FIX, E::MTE2_FIX},   {PIPE_FIX, PIPE_MTE2, E::FIX_MTE2},   {PIPE_FIX, PIPE_S, E::FIX_S},
        {PIPE_M, PIPE_S, E::M_S},             {PIPE_FIX, PIPE_MTE3, E::FIX_MTE3},   {PIPE_MTE1, PIPE_FIX, E::MTE1_FIX},
        {PIPE_FIX, PIPE_MTE1, E::FIX_MTE1},   {PIPE_FIX, PIPE_FIX, E::FIX_FIX},
    };
    for (const auto &row : table) {
        if (row.src == src && row.dst == dst) return row.event;
    }
    return E::MAX;
}
}  // namespace ascendc_twin

TWIN_API void set_flag(pipe_t src, pipe_t dst, int32_t id) {
    ascendc_twin::flag_set(static_cast<uint8_t>(ascendc_twin::event_of(src, dst)), id);
}
TWIN_API void wait_flag(pipe_t src, pipe_t dst, int32_t id) {
    ascendc_twin::flag_wait(static_cast<uint8_t>(ascendc_twin::event_of(src, dst)), id);
}
TWIN_API void pipe_barrier(pipe_t pipe) {
    ascendc_twin::pipe_barrier_on(ascendc_twin::pipe_id(pipe));
}

namespace AscendC {

template <HardEvent event>
TWIN_API void SetFlag(int32_t eventID) {
    ascendc_twin::flag_set(static_cast<uint8_t>(event), eventID);
}
template <HardEvent event>
TWIN_API void WaitFlag(int32_t eventID) {
    ascendc_twin::flag_wait(static_cast<uint8_t>(event), eventID);
}
template <pipe_t pipe>
TWIN_API void PipeBarrier() {
    static_assert(pipe != PIPE_S, "PipeBarrier<PIPE_S> does not exist: the scalar unit runs in order");
    ascendc_twin::pipe_barrier_on(ascendc_twin::pipe_id(pipe));
}

// An event that one class member sets and another waits for.
template <HardEvent event>
class TEventWrap {
public:
    TWIN_API explicit TEventWrap(TEventID id) : id_(id) {}
    TWIN_API void Set() const { SetFlag<event>(id_); }
    TWIN_API void Wait() const { WaitFlag<event>(id_); }

private:
    TEventID id_;
};

template <bool isAIVOnly = true>
TWIN_API void SyncAll(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
                      const int32_t usedCores = 0) {
    ascendc_twin::Inst inst("SyncAll", ascendc_twin::PipeId::ALL);
    const uint32_t all = ascendc_twin::core().block_dim * ascendc_twin::core().task_ratio;
    const uint32_t cores = usedCores > 0 ? static_cast<uint32_t>(usedCores) : all;
    ascendc_twin::Walk words;
    words.run = uint64_t{cores} * ONE_BLK_SIZE;
    ascendc_twin::touch(inst, gmWorkspace.span(), ascendc_twin::Rw::WRITE, words, 0);
    ascendc_twin::touch(inst, ubWorkspace.span(), ascendc_twin::Rw::WRITE, words);
    ascendc_twin::sync_all(static_cast<uint32_t>(usedCores > 0 ? usedCores : 0), false);
}
template <bool isAIVOnly = true, const SyncAllConfig &config = DEFAULT_SYNC_ALL_CONFIG>
TWIN_API void SyncAll() {
    ascendc_twin::Inst inst("SyncAll", ascendc_twin::PipeId::ALL);
    ascendc_twin::sync_all(0, true, isAIVOnly);
}

namespace twin_detail {
// The 32-byte slot of (block, event) in the workspace of IBSet and IBWait; null when it lies outside.
TWIN_API volatile int32_t *ib_word(ascendc_twin::Inst &inst, const GlobalTensor<int32_t> &workspace, int32_t block, int32_t event) {
    ascendc_twin::Walk slot;
    slot.off = (static_cast<int64_t>(ascendc_twin::core().block_dim) * event + block) * ONE_BLK_SIZE;
    slot.run = ONE_BLK_SIZE;
    const ascendc_twin::Span span = workspace.span();
    if (!ascendc_twin::touch(inst, span, ascendc_twin::Rw::WRITE, slot, 0)) return nullptr;
    return reinterpret_cast<volatile int32_t *>(span.p + slot.off);
}
}  // namespace twin_detail

template <bool isAIVOnly = true>
TWIN_API void IBSet(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &, int32_t blockIdx, int32_t eventID) {
    ascendc_twin::Inst inst("IBSet", ascendc_twin::PipeId::ALL);
    if (volatile int32_t *word = twin_detail::ib_word(inst, gmWorkspace, blockIdx, eventID)) ascendc_twin::ib_set(word);
}
template <bool isAIVOnly = true>
TWIN_API void IBWait(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &, int32_t blockIdx, int32_t eventID) {
    ascendc_twin::Inst inst("IBWait", ascendc_twin::PipeId::ALL);
    if (volatile int32_t *word = twin_detail::ib_word(inst, gmWorkspace, blockIdx, eventID)) {
        ascendc_twin::ib_wait(word, blockIdx, eventID);
    }
}

// Flags between cores (runtime/cross.cpp).
template <uint8_t modeId, pipe_t pipe>
TWIN_API void CrossCoreSetFlag(uint16_t flagId) {
    TWIN_NOT_ON_310P_V("CrossCoreSetFlag", modeId);
    static_assert(pipe != PIPE_ALL && pipe != PIPE_S, "CrossCoreSetFlag: the pipe may not be PIPE_ALL or PIPE_S");
    ascendc_twin::Inst inst("CrossCoreSetFlag", ascendc_twin::pipe_id(pipe));
    ascendc_twin::cross_set(modeId, flagId);
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
TWIN_API void CrossCoreWaitFlag(uint16_t flagId) {
    TWIN_NOT_ON_310P_V("CrossCoreWaitFlag", modeId);
    ascendc_twin::Inst inst("CrossCoreWaitFlag", ascendc_twin::pipe_id(pipe));
    ascendc_twin::cross_wait(flagId);
}
template <pipe_t pipe = PIPE_S, uint8_t mode = 0>
TWIN_API void WaitEvent(uint16_t flagId) {
    CrossCoreWaitFlag<mode, pipe>(flagId);
}
template <uint8_t modeId, pipe_t pipe>
TWIN_API void NotifyEvent(uint16_t flagId) {
    CrossCoreSetFlag<modeId, pipe>(flagId);
}
TWIN_API void SetSyncBaseAddr(uint64_t) {}
// Keeps the compiler from moving accesses across it. A template, so that a kernel's own function wins.
template <int = 0>
TWIN_API void Barrier() {
    __asm__ __volatile__("" ::: "memory");
}

}  // namespace AscendC
