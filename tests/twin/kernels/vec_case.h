// Many small cases in one launch: each case brings its tensors from GM, runs one instruction and takes dst back.
#pragma once
#include "kernel_operator.h"
using namespace AscendC;

enum Form : int32_t { COUNT, MASK_N, MASK_BITS, REGISTER_N, REGISTER_BITS, COUNTER, REGISTER_COUNTER };

// Mirrored by vec_support.Case: 32-bit fields in this order.
struct Case {
    int32_t op, dtype, dtype2, form, n, repeat, extra, pad;
    uint64_t bits[2];
    int32_t blk[3], rep[3];
    float f;
    int32_t i;
    uint32_t offset[4], bytes[4];  // dst, a, b, c in GM
};

struct Tensors {
    LocalTensor<uint8_t> t[4];

    template <typename T>
    LocalTensor<T> get(int k) const {
        return t[k].template ReinterpretCast<T>();
    }
};

constexpr uint32_t ROOM = 40 * 1024;

template <typename F>
inline void run_cases(GM_ADDR data, GM_ADDR params, int32_t count, F run) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf[4];
    for (int k = 0; k < 4; ++k) pipe.InitBuffer(buf[k], ROOM);
    __gm__ Case *cases = reinterpret_cast<__gm__ Case *>(params);
    for (int32_t i = 0; i < count; ++i) {
        const Case &c = cases[i];
        Tensors tensors;
        for (int k = 0; k < 4; ++k) {
            tensors.t[k] = buf[k].Get<uint8_t>(c.bytes[k] == 0 ? 32 : (c.bytes[k] + 31) / 32 * 32);  // DataCopyPad fills whole blocks
            if (c.bytes[k] == 0) continue;
            GlobalTensor<uint8_t> source;
            source.SetGlobalBuffer(data + c.offset[k], c.bytes[k]);
            DataCopyPad(tensors.t[k], source, DataCopyExtParams{1, c.bytes[k], 0, 0, 0}, DataCopyPadExtParams<uint8_t>{false, 0, 0, 0});
        }
        PipeBarrier<PIPE_ALL>();
        run(c, tensors);
        PipeBarrier<PIPE_ALL>();
        GlobalTensor<uint8_t> result;
        result.SetGlobalBuffer(data + c.offset[0], c.bytes[0]);
        DataCopyPad(result, tensors.t[0], DataCopyExtParams{1, c.bytes[0], 0, 0, 0});
        PipeBarrier<PIPE_ALL>();
    }
}

// Sets the mask register and mode for the forms with isSetMask = false, and undoes it.
template <typename T>
inline void set_register(const Case &c) {
    if (c.form == REGISTER_N) SetVectorMask<T>(c.n);
    if (c.form == REGISTER_BITS) SetVectorMask<T>(c.bits[1], c.bits[0]);
    if (c.form == COUNTER || c.form == REGISTER_COUNTER) SetMaskCount();
    if (c.form == REGISTER_COUNTER) SetVectorMask<T, MaskMode::COUNTER>(0, c.n);
}
inline void reset_register(const Case &) {
    SetMaskNorm();
    ResetMask();
}
