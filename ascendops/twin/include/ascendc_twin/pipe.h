// TPipe, TQue, TQueBind, TBuf. The state machines are in the runtime (runtime/pipe.cpp).
#pragma once

#include "ascendc_twin/rt_pipe.h"
#include "ascendc_twin/rt_pool.h"
#include "ascendc_twin/tensor.h"

namespace AscendC {

struct TQueConfig {
    bool nd2nz = false;
    bool nz2nd = false;
    bool scmBlockGroup = false;
    uint32_t bufferLen = 0;
    uint32_t bufferNumber = 0;
    uint32_t consumerSize = 0;
    TPosition consumer[8] = {};
    bool enableStaticEvtId = false;
    bool enableLoopQueue = false;
};

constexpr TPosition GetBufferLogicPos(TPosition pos, bool isSrc) {
    switch (pos) {
        case TPosition::A1:
        case TPosition::B1:
        case TPosition::C1:
        case TPosition::VECIN: return isSrc ? TPosition::GM : pos;
        case TPosition::A2: return isSrc ? TPosition::A1 : pos;
        case TPosition::B2: return isSrc ? TPosition::B1 : pos;
        case TPosition::C2: return isSrc ? TPosition::C1 : pos;
        case TPosition::C2PIPE2GM: return isSrc ? TPosition::B1 : pos;
        case TPosition::CO1: return isSrc ? pos : TPosition::CO2;
        case TPosition::CO2:
        case TPosition::VECOUT: return isSrc ? pos : TPosition::GM;
        case TPosition::SPM: return isSrc ? TPosition::VECOUT : TPosition::GM;
        default: return pos;
    }
}

constexpr Hardware GetPhyType(TPosition pos) {
    switch (pos) {
        case TPosition::GM:
        case TPosition::CO2: return Hardware::GM;
        case TPosition::A1:
        case TPosition::B1:
        case TPosition::C1:
        case TPosition::TSCM: return Hardware::L1;
        case TPosition::A2: return Hardware::L0A;
        case TPosition::B2: return Hardware::L0B;
        case TPosition::CO1: return Hardware::L0C;
        case TPosition::C2: return Hardware::BIAS;
        case TPosition::C2PIPE2GM: return Hardware::FIXBUF;
        default: return Hardware::UB;
    }
}

// The event between the pipe that fills a buffer and the one that empties it (forward), or back.
constexpr HardEvent GetQueEvt(Hardware src, Hardware dst, bool forward) {
    if (src == Hardware::GM) {
        if (dst == Hardware::UB) return forward ? HardEvent::MTE2_V : HardEvent::V_MTE2;
        if (dst == Hardware::L1) return forward ? HardEvent::MTE2_MTE1 : HardEvent::MTE1_MTE2;
        return forward ? HardEvent::MTE2_M : HardEvent::M_MTE2;
    }
    if (src == Hardware::UB) {
        if (dst == Hardware::GM) return forward ? HardEvent::V_MTE3 : HardEvent::MTE3_V;
        if (dst == Hardware::L1) return forward ? HardEvent::MTE3_MTE1 : HardEvent::MTE1_MTE3;
        if (dst == Hardware::UB) return forward ? HardEvent::MTE2_MTE3 : HardEvent::MTE3_MTE2;
        return HardEvent::V_V;
    }
    if (src == Hardware::L1) {
        if (dst == Hardware::FIXBUF) return forward ? HardEvent::MTE1_FIX : HardEvent::FIX_MTE1;
        if (dst == Hardware::UB) return forward ? HardEvent::MTE1_V : HardEvent::V_MTE1;
        return forward ? HardEvent::MTE1_M : HardEvent::M_MTE1;
    }
    if (src == Hardware::L0C && dst == Hardware::GM) return forward ? HardEvent::M_FIX : HardEvent::FIX_M;
    return forward ? HardEvent::M_V : HardEvent::V_M;
}

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
public:
    static constexpr bool isTQue = true;
    static constexpr int32_t queDepth = depth;
    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;

    TQueBind() {
        que_.depth = depth;
        que_.pos = static_cast<uint8_t>(buffer_position());
        que_.enque_event = static_cast<uint8_t>(GetQueEvt(GetPhyType(src), GetPhyType(dst), true));
        que_.free_event = static_cast<uint8_t>(GetQueEvt(GetPhyType(src), GetPhyType(dst), false));
    }

    template <typename T>
    TWIN_API LocalTensor<T> AllocTensor() {
        return LocalTensor<T>(ascendc_twin::que_alloc(que_));
    }
    template <typename T>
    TWIN_API void AllocTensor(LocalTensor<T> &tensor) {
        tensor = LocalTensor<T>(ascendc_twin::que_alloc(que_));
    }
    template <typename T>
    TWIN_API void FreeTensor(const LocalTensor<T> &tensor) {
        ascendc_twin::que_free(que_, tensor.ref());
    }
    template <typename T>
    TWIN_API bool EnQue(const LocalTensor<T> &tensor) {
        ascendc_twin::que_enque(que_, tensor.ref());
        return true;
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    TWIN_API bool EnQue(const LocalTensor<T> &tensor) {
        ascendc_twin::que_enque(que_, tensor.ref(), user_event<srcUserPos, dstUserPos>());
        return true;
    }
    template <typename T>
    TWIN_API LocalTensor<T> DeQue() {
        return LocalTensor<T>(ascendc_twin::que_deque(que_));
    }
    template <typename T>
    TWIN_API void DeQue(LocalTensor<T> &tensor) {
        tensor = LocalTensor<T>(ascendc_twin::que_deque(que_));
    }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    TWIN_API LocalTensor<T> DeQue() {
        return LocalTensor<T>(ascendc_twin::que_deque(que_, user_event<srcUserPos, dstUserPos>()));
    }

    // The forms that pass a buffer's handle instead of a tensor.
    TWIN_API TBufHandle DeQue() { return DeQue<uint8_t>().GetBufferHandle(); }
    TWIN_API bool EnQue(TBufHandle handle) {
        ascendc_twin::que_enque(que_, ascendc_twin::buffer_of(handle));
        return true;
    }
    TWIN_API void FreeBuffer(TBufHandle handle) { ascendc_twin::que_free(que_, ascendc_twin::buffer_of(handle)); }

    bool VacantInQue() { return que_.count < (depth > 0 ? depth : 1); }
    bool HasTensorInQue() { return que_.count != 0; }
    int32_t GetTensorCountInQue() { return que_.count; }
    bool HasIdleBuffer() { return ascendc_twin::que_has_idle(que_); }
    void FreeAllEvent() { ascendc_twin::que_free_all_events(que_); }
    // For pools of a kernel's own: the buffers of this queue are made one by one, at addresses that the pool gives.
    TWIN_API void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t) { ascendc_twin::pool_start(que_, num); }
    template <typename T>
    TWIN_API void InitBufHandle(T *, uint32_t index, TBufHandle, uint32_t curPoolAddr, uint32_t len) {
        ascendc_twin::pool_buffer(que_, index, curPoolAddr, len, depth == 0 && src == dst);
    }
    template <typename T>
    TBufState GetState(const LocalTensor<T> &tensor) const {
        return static_cast<TBufState>(ascendc_twin::que_state(tensor.ref()));
    }

protected:
    friend class TPipe;
    template <TPosition pos, uint32_t bufIDSize>
    friend class TBufPool;

    template <TPosition srcUserPos, TPosition dstUserPos>
    static constexpr int user_event() {
        return static_cast<int>(GetQueEvt(GetPhyType(srcUserPos), GetPhyType(dstUserPos), true));
    }
    static constexpr TPosition buffer_position() {
        if (src == TPosition::GM) return dst;
        if (dst == TPosition::GM || src == TPosition::CO1) return src;
        if (dst == TPosition::TSCM || GetPhyType(dst) != Hardware::UB) return dst;
        return src;
    }

    ascendc_twin::Que que_;
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<GetBufferLogicPos(pos, true), GetBufferLogicPos(pos, false), depth, mask> {};

template <TPosition pos, int32_t depth = 1, auto mask = 0>
using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

template <TPosition pos = TPosition::LCM>
class TBuf : public TQueBind<pos, pos, 0, 0> {
public:
    static constexpr bool isTQue = false;

    template <typename T>
    TWIN_API LocalTensor<T> Get() {
        return LocalTensor<T>(ascendc_twin::buf_get(this->que_, 0, 0, true));
    }
    template <typename T>
    TWIN_API LocalTensor<T> Get(uint32_t len) {
        return LocalTensor<T>(ascendc_twin::buf_get(this->que_, ascendc_twin::bytes_of<PrimT<T>>(len), 0, false));
    }
    template <typename T>
    TWIN_API LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset) {
        return LocalTensor<T>(ascendc_twin::buf_get(this->que_, ascendc_twin::bytes_of<PrimT<T>>(size), bufOffset, false));
    }
    // A TBuf has no queue: these exist so that code written for a TQue compiles, and do nothing but hand out the buffer.
    template <typename T>
    TWIN_API LocalTensor<T> AllocTensor() {
        return Get<T>();
    }
    template <typename T>
    void FreeTensor(const LocalTensor<T> &) {}
    template <typename T>
    void EnQue(const LocalTensor<T> &) {}
    template <typename T>
    TWIN_API LocalTensor<T> DeQue() {
        return Get<T>();
    }
};

class TPipe {
public:
    TWIN_API TPipe() { ascendc_twin::pipe_init(this); }
    TWIN_API ~TPipe() { ascendc_twin::pipe_destroy(); }
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) { return *this; }  // a core has one pipe, which every object stands for

    TWIN_API void Init() { ascendc_twin::pipe_init(this); }
    template <class T>
    TWIN_API bool InitBuffer(T &que, uint8_t num, uint32_t len) {
        static_assert(T::isTQue, "InitBuffer(buf, num, len) is for TQue and TQueBind; a TBuf takes InitBuffer(buf, len)");
        return ascendc_twin::que_init(que.que_, num, len, false);
    }
    template <TPosition pos>
    TWIN_API bool InitBuffer(TBuf<pos> &buf, uint32_t len) {
        return ascendc_twin::que_init(buf.que_, 1, len, true);
    }
    template <HardEvent evt>
    TWIN_API TEventID AllocEventID() {
        return ascendc_twin::event_alloc(static_cast<uint8_t>(evt));
    }
    template <HardEvent evt>
    TWIN_API void ReleaseEventID(TEventID id) {
        ascendc_twin::event_release(static_cast<uint8_t>(evt), id);
    }
    template <HardEvent evt>
    TWIN_API TEventID FetchEventID() {
        return ascendc_twin::event_fetch(static_cast<uint8_t>(evt));
    }
    TWIN_API TEventID FetchEventID(HardEvent evt) { return ascendc_twin::event_fetch(static_cast<uint8_t>(evt)); }
    template <TPosition pos, typename T>
    LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size) const {
        return LocalTensor<T>(pos, static_cast<uint32_t>(offset), static_cast<uint32_t>(size));
    }
    template <class T>
    bool InitBufPool(T &bufPool, uint32_t len);  // buf_pool.h
    template <class T, class U>
    bool InitBufPool(T &bufPool, uint32_t len, U &shareBuf);
    TWIN_API void Reset() { ascendc_twin::pipe_reset(); }
    TWIN_API void Destroy() { ascendc_twin::pipe_destroy(); }
    TWIN_API void DestroyWithoutPipeAll() { ascendc_twin::pipe_destroy(); }
};

TWIN_API TPipe *GetTPipePtr() {
    return static_cast<TPipe *>(ascendc_twin::pipe_of_core());
}

// Rest of UB behind the last InitBuffer, as the high-level APIs take it for temporaries.
template <typename T, TPosition pos>
TWIN_API bool PopStackBuffer(LocalTensor<T> &popBuffer) {
    popBuffer = LocalTensor<T>(ascendc_twin::stack_buffer(static_cast<uint8_t>(pos)));
    return popBuffer.GetSize() != 0;
}

}  // namespace AscendC
