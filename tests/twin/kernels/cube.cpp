// Matrix multiplication with the instructions of the cube unit: c[m, n] = a[m, k] b[k, n] on one cube core, one base block.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t CUBE = 16;

__aicore__ inline uint32_t Up(uint32_t x, uint32_t to) { return (x + to - 1) / to * to; }

// The parts that a faulty kernel leaves out or gets wrong.
struct Steps {
    bool loadB = true, flagBeforeMmad = true, fixFlag = true;
    uint32_t rowsOfB = 0;  // 0: all
};

template <typename T, typename L0C, typename Out>
class Multiply {
public:
    __aicore__ inline Multiply(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k, bool transA, bool transB)
        : m(m), n(n), k(k), transA(transA), transB(transB), hasBias(bias != nullptr) {
        gmA.SetGlobalBuffer((__gm__ T *)a, m * k);
        gmB.SetGlobalBuffer((__gm__ T *)b, n * k);
        gmBias.SetGlobalBuffer((__gm__ L0C *)bias, n);
        gmC.SetGlobalBuffer((__gm__ Out *)c, m * n);
    }
    __aicore__ inline void Process(const Steps &steps = {}, const FixpipeParamsV220 &out = {}) {
        constexpr uint32_t C0 = 32 / sizeof(T);
        const uint32_t side = C0 > CUBE ? C0 : CUBE;  // what LoadDataWithTranspose turns
        TPipe pipe;
        TBuf<TPosition::A1> bufA1;
        TBuf<TPosition::B1> bufB1;
        TBuf<TPosition::C1> bufC1;
        TBuf<TPosition::A2> bufA2;
        TBuf<TPosition::B2> bufB2;
        TBuf<TPosition::CO1> bufC;
        TBuf<TPosition::C2> bufBias;
        pipe.InitBuffer(bufA1, Up(m, side) * Up(k, side) * sizeof(T));
        pipe.InitBuffer(bufB1, Up(n, side) * Up(k, side) * sizeof(T));
        pipe.InitBuffer(bufC1, Up(n, CUBE) * sizeof(L0C));
        pipe.InitBuffer(bufA2, Up(m, side) * Up(k, side) * sizeof(T));
        pipe.InitBuffer(bufB2, Up(n, side) * Up(k, side) * sizeof(T));
        pipe.InitBuffer(bufC, Up(m, CUBE) * Up(n, CUBE) * sizeof(L0C));
        pipe.InitBuffer(bufBias, Up(n, CUBE) * sizeof(L0C));
        LocalTensor<T> a1 = bufA1.Get<T>(), b1 = bufB1.Get<T>(), a2 = bufA2.Get<T>(), b2 = bufB2.Get<T>();
        LocalTensor<L0C> c1 = bufC1.Get<L0C>(), c2 = bufBias.Get<L0C>(), c = bufC.Get<L0C>();

        if (transA) {
            DataCopy(a1, gmA, Nd2NzParams(1, k, m, 0, m, Up(k, side), 1, 0));
        } else {
            DataCopy(a1, gmA, Nd2NzParams(1, m, k, 0, k, Up(m, CUBE), 1, 0));
        }
        if (transB) {
            DataCopy(b1, gmB, Nd2NzParams(1, n, k, 0, k, Up(n, CUBE), 1, 0));
        } else {
            DataCopy(b1, gmB, Nd2NzParams(1, k, n, 0, n, Up(k, side), 1, 0));
        }
        if (hasBias) DataCopyPad(c1, gmBias, DataCopyExtParams(1, n * sizeof(L0C), 0, 0, 0), DataCopyPadExtParams<L0C>());
        SetFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
        LoadA(a2, a1, side);
        if (steps.loadB) LoadB(b2, b1, side, steps.rowsOfB == 0 ? Up(k, C0) : steps.rowsOfB);
        if (hasBias) DataCopy(c2, c1, DataCopyParams(1, Up(n, CUBE) * sizeof(L0C) / 64, 0, 0));
        if (steps.flagBeforeMmad) {
            SetFlag<HardEvent::MTE1_M>(EVENT_ID0);
            WaitFlag<HardEvent::MTE1_M>(EVENT_ID0);
        }
        MmadParams mad;
        mad.m = m;
        mad.n = n;
        mad.k = k;
        mad.kDirectionAlign = transA && C0 == 8;
        if (hasBias) {
            Mmad(c, a2, b2, c2, mad);
        } else {
            Mmad(c, a2, b2, mad);
        }
        if (steps.fixFlag) {
            SetFlag<HardEvent::M_FIX>(EVENT_ID0);
            WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
        }
        FixpipeParamsV220 fix = out;
        fix.nSize = n;
        fix.mSize = m;
        fix.srcStride = Up(m, CUBE);
        fix.dstStride = n;
        Fixpipe(gmC, c, fix);
        PipeBarrier<PIPE_ALL>();
    }

private:
    __aicore__ inline void LoadA(const LocalTensor<T> &a2, const LocalTensor<T> &a1, uint32_t side) {
        constexpr uint32_t C0 = 32 / sizeof(T), FRACTAL = CUBE * C0;
        const uint32_t deep = Up(k, C0) / C0;
        if (!transA) {
            for (uint32_t i = 0; i < Up(m, CUBE) / CUBE; ++i) {
                LoadData(a2[i * deep * FRACTAL], a1[i * FRACTAL], LoadData2DParams(0, deep, Up(m, CUBE) / CUBE, 0, 0, false, 0));
            }
            return;
        }
        // NZ of k x m: squares along k, turned, become a row of fractals
        const uint32_t squares = Up(k, side) / side, perSquare = side * side / FRACTAL;
        if (sizeof(T) == 4) {
            LoadData3DParamsV2<T> image;
            image.l1H = Up(k, side);
            image.l1W = 1;
            image.channelSize = Up(m, C0);
            image.kExtension = Up(m, C0);
            image.mExtension = Up(k, side);
            image.enTranspose = true;
            LoadData(a2, a1, image);
            return;
        }
        for (uint32_t i = 0; i < Up(m, side) / side; ++i) {
            const uint32_t across = Up(k, C0) / C0;
            LoadDataWithTranspose(a2[i * across * perSquare * FRACTAL], a1[i * squares * perSquare * FRACTAL],
                                  LoadData2dTransposeParams(0, squares, 1, 0, perSquare > 1 ? across - 1 : 0));
        }
    }
    __aicore__ inline void LoadB(const LocalTensor<T> &b2, const LocalTensor<T> &b1, uint32_t side, uint32_t rows) {
        constexpr uint32_t C0 = 32 / sizeof(T), FRACTAL = CUBE * C0;
        const uint32_t across = Up(n, CUBE) / CUBE;
        if (transB) {  // NZ of n x k is what L0B wants
            LoadData(b2, b1, LoadData2DParams(0, across * rows / C0, 1, 0, 0, false, 0));
            return;
        }
        const uint32_t perSquare = side * side / FRACTAL;
        if (sizeof(T) == 4) {
            LoadData3DParamsV2<T> image;
            image.l1H = Up(k, side);
            image.l1W = 1;
            image.channelSize = Up(n, C0);
            image.kExtension = Up(n, C0);
            image.mExtension = Up(k, C0);
            LoadData(b2, b1, image);
            return;
        }
        const uint32_t squares = Up(n, side) / side, down = Up(k, side) / side;
        for (uint32_t i = 0; i < Up(rows, side) / side; ++i) {
            LoadDataWithTranspose(b2[i * across * FRACTAL], b1[i * perSquare * FRACTAL],
                                  LoadData2dTransposeParams(0, squares, down, perSquare - 1, 0));
        }
    }

    GlobalTensor<T> gmA, gmB;
    GlobalTensor<L0C> gmBias;
    GlobalTensor<Out> gmC;
    uint32_t m, n, k;
    bool transA, transB, hasBias;
};

extern "C" __global__ __aicore__ void good_half(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k, bool ta, bool tb) {
    Multiply<half, float, float>(a, b, bias, c, m, n, k, ta, tb).Process();
}
extern "C" __global__ __aicore__ void good_bf16(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k, bool ta, bool tb) {
    Multiply<bfloat16_t, float, float>(a, b, bias, c, m, n, k, ta, tb).Process();
}
extern "C" __global__ __aicore__ void good_float(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k, bool ta, bool tb) {
    Multiply<float, float, float>(a, b, bias, c, m, n, k, ta, tb).Process();
}
extern "C" __global__ __aicore__ void good_int8(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k, bool ta, bool tb) {
    Multiply<int8_t, int32_t, int32_t>(a, b, bias, c, m, n, k, ta, tb).Process();
}
extern "C" __global__ __aicore__ void good_relu_half(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    FixpipeParamsV220 out;
    out.quantPre = QuantMode_t::F322F16;
    out.reluEn = true;
    Multiply<half, float, half>(a, b, nullptr, c, m, n, k, false, true).Process({}, out);
}
extern "C" __global__ __aicore__ void good_dequant(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k, float scale) {
    FixpipeParamsV220 out;
    out.quantPre = QuantMode_t::DEQF16;
    out.deqScalar = *reinterpret_cast<uint32_t *>(&scale);
    Multiply<int8_t, int32_t, half>(a, b, nullptr, c, m, n, k, false, true).Process({}, out);
}
extern "C" __global__ __aicore__ void good_requant(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k, float scale) {
    FixpipeParamsV220 out;
    out.quantPre = QuantMode_t::REQ8;
    out.deqScalar = *reinterpret_cast<uint32_t *>(&scale) | (uint64_t{1} << 46);
    Multiply<int8_t, int32_t, int8_t>(a, b, nullptr, c, m, n, k, false, true).Process({}, out);
}

// One row: the matrix unit reads A as one run of k elements.
extern "C" __global__ __aicore__ void good_gemv(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t n, uint32_t k) {
    GlobalTensor<half> gmA, gmB;
    GlobalTensor<float> gmC;
    gmA.SetGlobalBuffer((__gm__ half *)a, k);
    gmB.SetGlobalBuffer((__gm__ half *)b, n * k);
    gmC.SetGlobalBuffer((__gm__ float *)c, n);
    LocalTensor<half> a1(TPosition::A1, 0, Up(k, 256)), b1(TPosition::B1, 4096, n * k), a2(TPosition::A2, 0, Up(k, 256)), b2(TPosition::B2, 0, n * k);
    LocalTensor<float> c1(TPosition::CO1, 0, Up(n, CUBE) * CUBE);
    DataCopy(a1, gmA, k);
    DataCopy(b1, gmB, Nd2NzParams(1, n, k, 0, k, Up(n, CUBE), 1, 0));
    PipeBarrier<PIPE_ALL>();
    LoadData(a2, a1, LoadData2DParams(0, Up(k, 256) / 256, 1, 0, 0, false, 0));
    LoadData(b2, b1, LoadData2DParams(0, n * k / 256, 1, 0, 0, false, 0));
    PipeBarrier<PIPE_ALL>();
    Mmad(c1, a2, b2, MmadParams(1, n, k, false, 0, false, false, false));
    PipeBarrier<PIPE_ALL>();
    Fixpipe(gmC, c1, FixpipeParamsV220(n, 1, CUBE, n, false));
}
// An image 6 x 5 of 16 channels, filter 3 x 3, padding 1: c[30, n] = windows w[144, n].
extern "C" __global__ __aicore__ void good_image(GM_ADDR x, GM_ADDR w, GM_ADDR y) {
    constexpr uint32_t H = 6, W = 5, C = 16, N = 32, K = 9 * C, M = H * W;
    GlobalTensor<half> gmX, gmW;
    GlobalTensor<float> gmY;
    gmX.SetGlobalBuffer((__gm__ half *)x, H * W * C);
    gmW.SetGlobalBuffer((__gm__ half *)w, N * K);
    gmY.SetGlobalBuffer((__gm__ float *)y, M * N);
    LocalTensor<half> a1(TPosition::A1, 0, H * W * C), b1(TPosition::B1, 4096, N * K), a2(TPosition::A2, 0, Up(M, CUBE) * K), b2(TPosition::B2, 0, N * K);
    LocalTensor<float> c1(TPosition::CO1, 0, Up(M, CUBE) * N);
    DataCopy(a1, gmX, H * W * C);
    DataCopy(b1, gmW, Nd2NzParams(1, N, K, 0, K, N, 1, 0));
    PipeBarrier<PIPE_ALL>();
    const uint8_t pads[PAD_SIZE] = {1, 1, 1, 1};
    LoadData(a2, a1, LoadData3DParamsV2<half>(pads, H, W, C, K, M, 0, 0, 1, 1, 3, 3, 1, 1, false, false, 0));
    LoadData(b2, b1, LoadData2DParams(0, N * K / 256, 1, 0, 0, false, 0));
    PipeBarrier<PIPE_ALL>();
    Mmad(c1, a2, b2, MmadParams(M, N, K, false, 0, false, false, false));
    PipeBarrier<PIPE_ALL>();
    Fixpipe(gmY, c1, FixpipeParamsV220(N, M, Up(M, CUBE), N, false));
}

extern "C" __global__ __aicore__ void bad_b_never_loaded(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    Steps steps;
    steps.loadB = false;
    Multiply<half, float, float>(a, b, nullptr, c, m, n, k, false, true).Process(steps);
}
extern "C" __global__ __aicore__ void bad_b_half_loaded(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    Steps steps;
    steps.rowsOfB = k / 2;
    Multiply<half, float, float>(a, b, nullptr, c, m, n, k, false, true).Process(steps);
}
extern "C" __global__ __aicore__ void bad_no_flag_before_mmad(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    Steps steps;
    steps.flagBeforeMmad = false;
    Multiply<half, float, float>(a, b, nullptr, c, m, n, k, false, true).Process(steps);
}
extern "C" __global__ __aicore__ void bad_no_flag_before_fixpipe(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    Steps steps;
    steps.fixFlag = false;
    Multiply<half, float, float>(a, b, nullptr, c, m, n, k, false, true).Process(steps);
}
extern "C" __global__ __aicore__ void bad_quant(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    FixpipeParamsV220 out;
    out.quantPre = QuantMode_t::NoQuant;  // float results do not fit half
    Multiply<half, float, half>(a, b, nullptr, c, m, n, k, false, true).Process({}, out);
}
extern "C" __global__ __aicore__ void bad_m(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    TPipe pipe;
    TBuf<TPosition::A2> a2;
    TBuf<TPosition::B2> b2;
    TBuf<TPosition::CO1> co1;
    pipe.InitBuffer(a2, 512);
    pipe.InitBuffer(b2, 512);
    pipe.InitBuffer(co1, 1024);
    Mmad(co1.Get<float>(), a2.Get<half>(), b2.Get<half>(), MmadParams(4096, 16, 16, false, 0, false, false, false));
}
extern "C" __global__ __aicore__ void bad_position(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    TPipe pipe;
    TBuf<TPosition::A1> a1;  // A2 is meant
    TBuf<TPosition::B2> b2;
    TBuf<TPosition::CO1> co1;
    pipe.InitBuffer(a1, 512);
    pipe.InitBuffer(b2, 512);
    pipe.InitBuffer(co1, 1024);
    Mmad(co1.Get<float>(), a1.Get<half>(), b2.Get<half>(), MmadParams(16, 16, 16, false, 0, false, false, false));
}
extern "C" __global__ __aicore__ void bad_l0c_overflow(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    TPipe pipe;
    TBuf<TPosition::CO1> co1;
    pipe.InitBuffer(co1, 256 * 144 * 4);  // L0C has 128 KB
}
extern "C" __global__ __aicore__ void bad_l1_overflow(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t n, uint32_t k) {
    TPipe pipe;
    TBuf<TPosition::A1> a1;
    pipe.InitBuffer(a1, 600 * 1024);  // L1 has 512 KB
    GlobalTensor<half> from;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ half *>(a));
    const LocalTensor<half> whole = a1.Get<half>();
    DataCopy(whole[whole.GetSize() - 1024], from, 1024);
}
