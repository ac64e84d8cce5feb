// Two products c[t] = a[t] b^T on one cube core in the same buffers, every step ordered by flags; each faulty kernel leaves one thing out.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t M = 32, N = 32, K = 64, TILES = 2;
constexpr uint32_t FRACTAL = 256, ROWS = M / 16, COLUMNS = N / 16, DEEP = K / 16;

enum Fault {
    NONE,
    // flags that are neither set nor waited for
    MTE2_TO_MTE1, MTE1_TO_M, M_TO_FIX, FIX_TO_M, M_TO_MTE1, MTE1_TO_MTE2,
    // contents
    NO_A, ONE_FRACTAL_OF_A, LAST_COLUMNS_OF_B, NO_L1, HALF_OF_L1, NO_BIAS, HALF_OF_BIAS, NO_FIRST_SUM, MORE_K, MORE_ROWS_STORED,
    // right, though not everything is written
    PADDED_ROWS, PADDED_LOAD, PADDED_STORE, PADDED_BIAS,
};

template <Fault FAULT, HardEvent EVENT, Fault SKIPPED>
__aicore__ inline void Set() {
    if (FAULT != SKIPPED) SetFlag<EVENT>(0);
}
template <Fault FAULT, HardEvent EVENT, Fault SKIPPED>
__aicore__ inline void Wait() {
    if (FAULT != SKIPPED) WaitFlag<EVENT>(0);
}

template <Fault FAULT, bool BIAS = false>
class Products {
public:
    __aicore__ inline Products(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR padded = nullptr) {
        gmA.SetGlobalBuffer((__gm__ half *)a);
        gmB.SetGlobalBuffer((__gm__ half *)b);
        gmBias.SetGlobalBuffer((__gm__ float *)bias);
        gmC.SetGlobalBuffer((__gm__ float *)(padded != nullptr ? padded : c));
    }
    __aicore__ inline void Process() {
        LoadRight();
        for (uint32_t t = 0; t < TILES; ++t) {
            if (t != 0) Wait<FAULT, HardEvent::MTE1_MTE2, MTE1_TO_MTE2>();
            LoadLeft(t);
            if (t != 0) Wait<FAULT, HardEvent::FIX_M, FIX_TO_M>();
            MmadParams mad(FAULT == PADDED_ROWS ? 64 : M, N, FAULT == MORE_K ? K + 16 : K, 0, false, FAULT != NO_FIRST_SUM);
            if (BIAS) {
                Mmad(c1, a2, b2, c2, mad);
            } else {
                Mmad(c1, a2, b2, mad);
            }
            if (t + 1 != TILES) Set<FAULT, HardEvent::M_MTE1, M_TO_MTE1>();
            Set<FAULT, HardEvent::M_FIX, M_TO_FIX>();
            Wait<FAULT, HardEvent::M_FIX, M_TO_FIX>();
            const bool all = FAULT == MORE_ROWS_STORED || FAULT == PADDED_STORE;
            Fixpipe(gmC[t * M * N], c1, FixpipeParamsV220(FAULT == PADDED_BIAS ? N / 2 : N, all ? M + 16 : M, FAULT == PADDED_ROWS ? 64 : M, N, false));
            if (t + 1 != TILES) Set<FAULT, HardEvent::FIX_M, FIX_TO_M>();
        }
        PipeBarrier<PIPE_ALL>();
    }

private:
    __aicore__ inline void LoadRight() {
        if (FAULT != NO_L1) DataCopy(b1, gmB, Nd2NzParams(1, N, FAULT == HALF_OF_L1 ? K / 2 : K, 0, K, N, 1, 0));
        if (BIAS && FAULT != NO_BIAS) DataCopy(bias1, gmBias, FAULT == HALF_OF_BIAS || FAULT == PADDED_BIAS ? N / 2 : N);
        SetFlag<HardEvent::MTE2_MTE1>(1);
        WaitFlag<HardEvent::MTE2_MTE1>(1);
        if (FAULT == LAST_COLUMNS_OF_B) {
            LoadData(b2, b1, LoadData2DParams(0, DEEP, COLUMNS, 0, COLUMNS - 1, false, 0));
        } else {
            LoadData(b2, b1, LoadData2DParams(0, COLUMNS * DEEP, 1, 0, 0, false, 0));
        }
        if (BIAS) DataCopy(c2, bias1, DataCopyParams(1, N * 4 / 64, 0, 0));
    }
    __aicore__ inline void LoadLeft(uint32_t t) {
        DataCopy(a1, gmA[t * M * K], Nd2NzParams(1, M, K, 0, K, FAULT == PADDED_LOAD ? 64 : M, 1, 0));
        Set<FAULT, HardEvent::MTE2_MTE1, MTE2_TO_MTE1>();
        Wait<FAULT, HardEvent::MTE2_MTE1, MTE2_TO_MTE1>();
        if (t != 0) Wait<FAULT, HardEvent::M_MTE1, M_TO_MTE1>();
        const uint32_t rows = FAULT == PADDED_LOAD ? 4 : ROWS;  // of fractals in L1, the last two of them empty
        for (uint32_t i = 0; i < rows && FAULT != NO_A; ++i) {
            const uint32_t deep = FAULT == ONE_FRACTAL_OF_A && i == 1 ? DEEP - 1 : DEEP;
            LoadData(a2[i * DEEP * FRACTAL], a1[i * FRACTAL], LoadData2DParams(0, deep, rows, 0, 0, false, 0));
        }
        if (t + 1 != TILES) Set<FAULT, HardEvent::MTE1_MTE2, MTE1_TO_MTE2>();
        Set<FAULT, HardEvent::MTE1_M, MTE1_TO_M>();
        Wait<FAULT, HardEvent::MTE1_M, MTE1_TO_M>();
    }

    GlobalTensor<half> gmA, gmB;
    GlobalTensor<float> gmBias, gmC;
    LocalTensor<half> a1{TPosition::A1, 0, 64 * K}, b1{TPosition::B1, 16384, N * K}, a2{TPosition::A2, 0, 64 * (K + 16)}, b2{TPosition::B2, 0, N *(K + 16)};
    LocalTensor<float> bias1{TPosition::C1, 32768, N}, c2{TPosition::C2, 0, N}, c1{TPosition::CO1, 0, 64 * N};
};

extern "C" __global__ __cube__ void good_products(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<NONE>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void good_bias(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<NONE, true>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void good_padded_bias(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<PADDED_BIAS, true>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void good_padded_rows(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<PADDED_ROWS>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void good_padded_load(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<PADDED_LOAD>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void good_padded_store(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<PADDED_STORE>(a, b, bias, c, workspace).Process();
}
extern "C" __global__ __cube__ void bad_mte2_to_mte1(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<MTE2_TO_MTE1>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_mte1_to_m(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<MTE1_TO_M>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_m_to_fix(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<M_TO_FIX>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_fix_to_m(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<FIX_TO_M>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_m_to_mte1(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<M_TO_MTE1>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_mte1_to_mte2(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<MTE1_TO_MTE2>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_no_a(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<NO_A>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_one_fractal_of_a(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<ONE_FRACTAL_OF_A>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_last_columns_of_b(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<LAST_COLUMNS_OF_B>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_no_l1(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<NO_L1>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_half_of_l1(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<HALF_OF_L1>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_no_bias(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<NO_BIAS, true>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_half_of_bias(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<HALF_OF_BIAS, true>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_no_first_sum(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<NO_FIRST_SUM>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_more_k(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<MORE_K>(a, b, bias, c).Process();
}
extern "C" __global__ __cube__ void bad_more_rows_stored(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace) {
    Products<MORE_ROWS_STORED>(a, b, bias, c).Process();
}

// ---- several cores and one block of C ----

enum Way { FIXPIPE, DATA_COPY };

// Every core computes the product of its own 16 rows and stores it `step` rows behind the core before.
template <Way WAY, bool ATOMIC>
__aicore__ inline void Shared(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t step) {
    constexpr uint32_t SIDE = 16;
    GlobalTensor<half> gmA, gmB;
    GlobalTensor<float> gmC;
    gmA.SetGlobalBuffer((__gm__ half *)a + GetBlockIdx() * SIDE * SIDE, SIDE * SIDE);
    gmB.SetGlobalBuffer((__gm__ half *)b, SIDE * SIDE);
    gmC.SetGlobalBuffer((__gm__ float *)c + GetBlockIdx() * step * SIDE, SIDE * SIDE);
    LocalTensor<half> a1(TPosition::A1, 0, FRACTAL), b1(TPosition::B1, 512, FRACTAL), a2(TPosition::A2, 0, FRACTAL), b2(TPosition::B2, 0, FRACTAL);
    LocalTensor<float> c1(TPosition::CO1, 0, FRACTAL);
    DataCopy(a1, gmA, FRACTAL);
    DataCopy(b1, gmB, FRACTAL);
    SetFlag<HardEvent::MTE2_MTE1>(0);
    WaitFlag<HardEvent::MTE2_MTE1>(0);
    LoadData(a2, a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    LoadData(b2, b1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    SetFlag<HardEvent::MTE1_M>(0);
    WaitFlag<HardEvent::MTE1_M>(0);
    Mmad(c1, a2, b2, MmadParams(SIDE, SIDE, SIDE, 0, false, true));
    SetFlag<HardEvent::M_FIX>(0);
    WaitFlag<HardEvent::M_FIX>(0);
    if (ATOMIC) SetAtomicAdd<float>();
    if (WAY == FIXPIPE) {
        Fixpipe(gmC, c1, FixpipeParamsV220(SIDE, SIDE, SIDE, SIDE, false));
    } else {
        DataCopyCO12DstParams out(SIDE, SIDE, SIDE, SIDE, QuantMode_t::NoQuant, 0, false, true);
        SetFixpipeNz2ndFlag(1, 0, 0);
        DataCopy(gmC, c1, out);
    }
    if (ATOMIC) SetAtomicNone();
}
extern "C" __global__ __cube__ void fixpipe(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t step) {
    Shared<FIXPIPE, false>(a, b, c, step);
}
extern "C" __global__ __cube__ void fixpipe_atomic(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t step) {
    Shared<FIXPIPE, true>(a, b, c, step);
}
extern "C" __global__ __cube__ void data_copy(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t step) {
    Shared<DATA_COPY, false>(a, b, c, step);
}
extern "C" __global__ __cube__ void data_copy_atomic(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t step) {
    Shared<DATA_COPY, true>(a, b, c, step);
}
