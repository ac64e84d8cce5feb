// TBufPool and pools of a kernel's own (EXTERN_IMPL_BUFPOOL): buffers out of a part of a memory that other pools may share.
#pragma once

#include "ascendc_twin/pipe.h"
#include "ascendc_twin/rt_pool.h"

namespace AscendC {

constexpr uint32_t defaultBufIDSize = 4;

// Offset and size of the part; TPipe::InitBufPool and TBufPool::InitBufPool fill it in.
struct TBufPoolPart {
    uint32_t start = 0;
    uint32_t size = 0;
    uint32_t used = 0;
};

template <TPosition pos, uint32_t bufIDSize = defaultBufIDSize>
class TBufPool {
public:
    static constexpr TPosition poolPos = pos;
    static_assert(bufIDSize <= 16, "TBufPool: at most 16 buffers");

    template <class T>
    TWIN_API bool InitBuffer(T &que, uint8_t num, uint32_t len) {
        static_assert(T::isTQue, "InitBuffer(buf, num, len) is for TQue and TQueBind; a TBuf takes InitBuffer(buf, len)");
        return Take(que.que_, num, len, false);
    }
    template <TPosition bufPos>
    TWIN_API bool InitBuffer(TBuf<bufPos> &buf, uint32_t len) {
        return Take(buf.que_, 1, len, true);
    }
    template <class T>
    bool InitBufPool(T &bufPool, uint32_t len) {
        bufPool.part = {part.start + part.used, len, 0};
        part.used += Rounded(len);
        return true;
    }
    template <class T, class U>
    bool InitBufPool(T &bufPool, uint32_t len, U &shareBuf) {
        bufPool.part = {shareBuf.part.start, len, 0};
        return true;
    }
    TWIN_API void Reset() { ascendc_twin::pool_reset(static_cast<uint8_t>(pos), part.start, part.size); }

    TBufPoolPart part;

private:
    static uint32_t Rounded(uint32_t bytes) { return (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE; }
    TWIN_API bool Take(ascendc_twin::Que &que, uint8_t num, uint32_t len, bool plain) {
        const bool done = ascendc_twin::pool_init(que, num, len, plain, part.start, part.used, part.size);
        part.used += num * Rounded(len);
        return done;
    }
};

template <class T>
TWIN_API bool TPipe::InitBufPool(T &bufPool, uint32_t len) {
    bufPool.part = {ascendc_twin::pool_reserve(static_cast<uint8_t>(T::poolPos), len), len, 0};
    return true;
}
template <class T, class U>
TWIN_API bool TPipe::InitBufPool(T &bufPool, uint32_t len, U &shareBuf) {
    static_assert(GetPhyType(T::poolPos) == GetPhyType(U::poolPos), "InitBufPool: pools that share lie in one memory");
    bufPool.part = {shareBuf.part.start, len, 0};
    return true;
}

}  // namespace AscendC

// Members of a pool class of the kernel's own: where its part starts and how many buffers it has made.
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE)                                                       \
public:                                                                                                              \
    static constexpr AscendC::TPosition poolPos = POSITION;                                                          \
    AscendC::TBufPoolPart part;                                                                                      \
    void Reset() { ascendc_twin::pool_reset(static_cast<uint8_t>(POSITION), part.start, part.size); }                \
    void Init() { twinCount = 0; }                                                                                   \
    AscendC::TBufHandle GetBufHandle(uint8_t offset) { return reinterpret_cast<AscendC::TBufHandle>(uintptr_t{offset}); } \
    void SetCurAddr(uint32_t curAddr) { part.used = curAddr - part.start; }                                          \
    uint32_t GetCurAddr() { return part.start + part.used; }                                                         \
    void SetCurBufSize(uint8_t curBufSize) { twinCount = curBufSize; }                                               \
    uint8_t GetCurBufSize() { return twinCount; }                                                                    \
                                                                                                                     \
private:                                                                                                             \
    uint8_t twinCount = 0
