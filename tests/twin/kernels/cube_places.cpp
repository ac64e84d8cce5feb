// c = a b^T + bias on one cube core, with the place of every buffer, and one fault of one flag, given by the launch.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t SIDE = 32, DEEP = 64, FRACTAL = 256;

struct Places {
    uint32_t a1, b1, bias1, a2, b2, c2, c1;  // bytes
};
enum Fault { NONE, WAITS_FOR_ANOTHER_ID, NO_WAIT, NO_SET, SETS_TWICE };

class Product {
public:
    __aicore__ inline Product(Places p, int32_t event, int32_t fault)
        : event_(event), fault_(fault), a1(TPosition::A1, p.a1, SIDE * DEEP), b1(TPosition::B1, p.b1, SIDE * DEEP), a2(TPosition::A2, p.a2, SIDE * DEEP),
          b2(TPosition::B2, p.b2, SIDE * DEEP), bias1(TPosition::C1, p.bias1, SIDE), c2(TPosition::C2, p.c2, SIDE), c1(TPosition::CO1, p.c1, SIDE * SIDE) {}

    __aicore__ inline void Process(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c) {
        GlobalTensor<half> gmA, gmB;
        GlobalTensor<float> gmBias, gmC;
        gmA.SetGlobalBuffer((__gm__ half *)a);
        gmB.SetGlobalBuffer((__gm__ half *)b);
        gmBias.SetGlobalBuffer((__gm__ float *)bias);
        gmC.SetGlobalBuffer((__gm__ float *)c);
        for (uint32_t t = 0; t < 2; ++t) {
            if (t != 0) Wait<HardEvent::MTE1_MTE2>(0);
            DataCopy(a1, gmA, Nd2NzParams(1, SIDE, DEEP, 0, DEEP, SIDE, 1, 0));
            DataCopy(b1, gmB, Nd2NzParams(1, SIDE, DEEP, 0, DEEP, SIDE, 1, 0));
            DataCopy(bias1, gmBias, SIDE);
            Set<HardEvent::MTE2_MTE1>(1);
            Wait<HardEvent::MTE2_MTE1>(1);
            if (t != 0) Wait<HardEvent::M_MTE1>(2);
            for (uint32_t i = 0; i < 2; ++i) LoadData(a2[i * 4 * FRACTAL], a1[i * FRACTAL], LoadData2DParams(0, 4, 2, 0, 0, false, 0));
            LoadData(b2, b1, LoadData2DParams(0, 8, 1, 0, 0, false, 0));
            DataCopy(c2, bias1, DataCopyParams(1, SIDE * 4 / 64, 0, 0));
            if (t == 0) Set<HardEvent::MTE1_MTE2>(0);
            Set<HardEvent::MTE1_M>(3);
            Wait<HardEvent::MTE1_M>(3);
            if (t != 0) Wait<HardEvent::FIX_M>(4);
            Mmad(c1, a2, b2, c2, MmadParams(SIDE, SIDE, DEEP, 0, false, true));
            if (t == 0) Set<HardEvent::M_MTE1>(2);
            Set<HardEvent::M_FIX>(5);
            Wait<HardEvent::M_FIX>(5);
            Fixpipe(gmC[t * SIDE * SIDE], c1, FixpipeParamsV220(SIDE, SIDE, SIDE, SIDE, false));
            if (t == 0) Set<HardEvent::FIX_M>(4);
        }
        PipeBarrier<PIPE_ALL>();
    }

private:
    template <HardEvent EVENT>
    __aicore__ inline void Set(int32_t id) {
        if (id != event_ || fault_ != NO_SET) SetFlag<EVENT>(id);
        if (id == event_ && fault_ == SETS_TWICE) SetFlag<EVENT>(id);
    }
    template <HardEvent EVENT>
    __aicore__ inline void Wait(int32_t id) {
        if (id == event_ && fault_ == NO_WAIT) return;
        WaitFlag<EVENT>(id == event_ && fault_ == WAITS_FOR_ANOTHER_ID ? id + 1 : id);
    }

    int32_t event_, fault_;
    LocalTensor<half> a1, b1, a2, b2;
    LocalTensor<float> bias1, c2, c1;
};

extern "C" __global__ __cube__ void places(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Places p) {
    Product(p, -1, NONE).Process(a, b, bias, c);
}
extern "C" __global__ __cube__ void flags(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, int32_t event, int32_t fault) {
    Product({0, 8192, 16384, 0, 0, 0, 0}, event, fault).Process(a, b, bias, c);
}

// The same overflow by buffers of a pipe: `bytes` of each memory, the last block of which an instruction uses.
template <TPosition POSITION, typename T>
__aicore__ inline LocalTensor<T> Last(TPipe &pipe, TBuf<POSITION> &buffer, uint32_t bytes, uint32_t used) {
    pipe.InitBuffer(buffer, bytes);
    return buffer.template Get<T>()[(bytes - used) / sizeof(T)];
}
extern "C" __global__ __cube__ void buffers(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t l1, uint32_t l0a, uint32_t l0b, uint32_t l0c) {
    TPipe pipe;
    TBuf<TPosition::A1> in;
    TBuf<TPosition::A2> left;
    TBuf<TPosition::B2> right;
    TBuf<TPosition::CO1> sums;
    constexpr uint32_t BLOCK = FRACTAL * sizeof(half);
    LocalTensor<half> a1 = Last<TPosition::A1, half>(pipe, in, l1, 2 * BLOCK), b1 = a1[FRACTAL];
    LocalTensor<half> a2 = Last<TPosition::A2, half>(pipe, left, l0a, BLOCK), b2 = Last<TPosition::B2, half>(pipe, right, l0b, BLOCK);
    LocalTensor<float> c1 = Last<TPosition::CO1, float>(pipe, sums, l0c, 2 * BLOCK);
    GlobalTensor<half> gmA, gmB;
    GlobalTensor<float> gmC;
    gmA.SetGlobalBuffer((__gm__ half *)a);
    gmB.SetGlobalBuffer((__gm__ half *)b);
    gmC.SetGlobalBuffer((__gm__ float *)c);
    DataCopy(a1, gmA, FRACTAL);
    DataCopy(b1, gmB, FRACTAL);
    SetFlag<HardEvent::MTE2_MTE1>(0);
    WaitFlag<HardEvent::MTE2_MTE1>(0);
    LoadData(a2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    LoadData(b2, b1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    SetFlag<HardEvent::MTE1_M>(0);
    WaitFlag<HardEvent::MTE1_M>(0);
    Mmad(c1, a2, b2, MmadParams(16, 16, 16, 0, false, true));
    SetFlag<HardEvent::M_FIX>(0);
    WaitFlag<HardEvent::M_FIX>(0);
    Fixpipe(gmC, c1, FixpipeParamsV220(16, 16, 16, 16, false));
}
