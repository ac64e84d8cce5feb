// Kernels for cube and vector cores together.
#include "kernel_operator.h"

using namespace AscendC;

// c = relu(a b^T) in half, 32 x 32 a block: the cube core multiplies into the workspace, each vector core takes half of the rows.
class Mixed {
public:
    __aicore__ inline Mixed(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace) {
        const uint64_t tile = GetBlockIdx() / GetTaskRation() * SIDE * SIDE;
        gmA.SetGlobalBuffer((__gm__ half *)a + tile, SIDE * SIDE);
        gmB.SetGlobalBuffer((__gm__ half *)b + tile, SIDE * SIDE);
        gmC.SetGlobalBuffer((__gm__ half *)c + tile, SIDE * SIDE);
        gmW.SetGlobalBuffer((__gm__ float *)workspace + tile, SIDE * SIDE);
    }
    template <uint16_t SET, uint16_t WAIT, pipe_t PIPE = PIPE_FIX>
    __aicore__ inline void Process() {
        if ASCEND_IS_AIC {
            Cube();
            CrossCoreSetFlag<2, PIPE>(SET);
        }
        if ASCEND_IS_AIV {
            CrossCoreWaitFlag(WAIT);
            Vector();
        }
    }

    // The vector cores meet, and the cube core comes to no meeting.
    __aicore__ inline void ProcessWithoutCube() {
        if ASCEND_IS_AIC {
            Cube();
        }
        if ASCEND_IS_AIV {
            SyncAll();
            Vector();
        }
    }

    __aicore__ inline void ProcessByCompilerNames() {
        if ASCEND_IS_AIC {
            Cube();
            ffts_cross_core_sync(PIPE_FIX, 1 | 2 << 4 | 5 << 8);
        }
        if ASCEND_IS_AIV {
            wait_flag_dev(5);
            Vector();
        }
    }

private:
    static constexpr uint32_t SIDE = 32, ROWS = SIDE / 2;
    __aicore__ inline void Cube() {
        LocalTensor<half> a1(TPosition::A1, 0, SIDE * SIDE), b1(TPosition::B1, SIDE * SIDE * 2, SIDE * SIDE);
        LocalTensor<half> a2(TPosition::A2, 0, SIDE * SIDE), b2(TPosition::B2, 0, SIDE * SIDE);
        LocalTensor<float> c1(TPosition::CO1, 0, SIDE * SIDE);
        DataCopy(a1, gmA, Nd2NzParams(1, SIDE, SIDE, 0, SIDE, SIDE, 1, 0));
        DataCopy(b1, gmB, Nd2NzParams(1, SIDE, SIDE, 0, SIDE, SIDE, 1, 0));
        SetFlag<HardEvent::MTE2_MTE1>(0);
        WaitFlag<HardEvent::MTE2_MTE1>(0);
        for (uint32_t i = 0; i < 2; ++i) LoadData(a2[i * 512], a1[i * 256], LoadData2DParams(0, 2, 2, 0, 0, false, 0));
        LoadData(b2, b1, LoadData2DParams(0, 4, 1, 0, 0, false, 0));
        SetFlag<HardEvent::MTE1_M>(0);
        WaitFlag<HardEvent::MTE1_M>(0);
        Mmad(c1, a2, b2, MmadParams(SIDE, SIDE, SIDE, 3, false, true));  // unit flag 3 orders Mmad and Fixpipe
        FixpipeParamsV220 out(SIDE, SIDE, SIDE, SIDE, false);
        out.unitFlag = 3;
        Fixpipe(gmW, c1, out);
    }
    __aicore__ inline void Vector() {
        LocalTensor<float> x(TPosition::VECIN, 0, ROWS * SIDE);
        LocalTensor<half> y(TPosition::VECOUT, ROWS * SIDE * 4, ROWS * SIDE);
        const uint32_t from = GetSubBlockIdx() * ROWS * SIDE;
        DataCopy(x, gmW[from], ROWS * SIDE);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        Relu(x, x, ROWS * SIDE);
        PipeBarrier<PIPE_V>();
        Cast(y, x, RoundMode::CAST_RINT, ROWS * SIDE);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(gmC[from], y, ROWS * SIDE);
    }
    GlobalTensor<half> gmA, gmB, gmC;
    GlobalTensor<float> gmW;
};

extern "C" __global__ __aicore__ void good_relu(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Mixed(a, b, c, workspace).Process<5, 5>();
}
// The same with the compiler's own names of the flags.
extern "C" __global__ __aicore__ void good_relu_by_compiler_names(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Mixed(a, b, c, workspace).ProcessByCompilerNames();
}
// The flag is set when pipe MTE2 has done its work; Fixpipe may not have.
extern "C" __global__ __aicore__ void bad_flag_of_another_pipe(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Mixed(a, b, c, workspace).Process<5, 5, PIPE_MTE2>();
}
extern "C" __global__ __aicore__ void bad_meeting_without_cube(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Mixed(a, b, c, workspace).ProcessWithoutCube();
}
extern "C" __global__ __aicore__ void bad_wrong_flag(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Mixed(a, b, c, workspace).Process<5, 6>();
}

constexpr uint32_t LINE = 16;  // words of a cache line: cores write scalars that far apart

// What each core says about itself: row = its number, cube cores behind the vector cores.
__aicore__ inline void Describe(GM_ADDR out, uint32_t vectors) {
    GlobalTensor<int32_t> gm;
    gm.SetGlobalBuffer((__gm__ int32_t *)out);
    const uint32_t row = (g_coreType == AIC ? vectors : 0) + GetBlockIdx();
    gm.SetValue(row * LINE, GetBlockIdx());
    gm.SetValue(row * LINE + 1, GetSubBlockIdx());
    gm.SetValue(row * LINE + 2, GetTaskRation());
    gm.SetValue(row * LINE + 3, GetBlockNum());
}
extern "C" __global__ __aicore__ void good_cores_1_2(GM_ADDR out, uint32_t vectors) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    Describe(out, vectors);
}
extern "C" __global__ __aicore__ void good_cores_1_1(GM_ADDR out, uint32_t vectors) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    Describe(out, vectors);
}
extern "C" __global__ __cube__ void good_cores_cube(GM_ADDR out, uint32_t vectors) {
    Describe(out, vectors);
}
extern "C" __global__ __mix__(1, 2) void good_cores_mix_word(GM_ADDR out, uint32_t vectors) {
    Describe(out, vectors);
}
extern "C" __global__ __aicore__ void good_cores_by_key(GM_ADDR out, uint32_t vectors) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    KERNEL_TASK_TYPE(3, KERNEL_TYPE_AIC_ONLY);
    Describe(out, vectors);
}

// Every core adds 1 to its own word, then sums all of them after a barrier of the kind that is tested.
template <typename Barrier>
__aicore__ inline void SumAfter(GM_ADDR words, GM_ADDR sums, uint32_t first, uint32_t count, uint32_t own, Barrier barrier) {
    GlobalTensor<int32_t> gm, out;
    gm.SetGlobalBuffer((__gm__ int32_t *)words);
    out.SetGlobalBuffer((__gm__ int32_t *)sums);
    gm.SetValue(own * LINE, 1);
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(gm[own * LINE]);
    barrier();
    int32_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += gm.GetValue((first + i) * LINE);
    out.SetValue(own * LINE, sum);
}
extern "C" __global__ __aicore__ void good_sync_all_cores(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    const uint32_t own = (g_coreType == AIC ? 2 * GetBlockNum() : 0) + GetBlockIdx();
    SumAfter(words, sums, 0, 3 * GetBlockNum(), own, [] { SyncAll<false>(); });
}
extern "C" __global__ __aicore__ void good_sync_vectors(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC {
        return;
    }
    SumAfter(words, sums, 0, 2 * GetBlockNum(), GetBlockIdx(), [] { SyncAll(); });
}
extern "C" __global__ __aicore__ void good_flags_between_vectors(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC {
        return;
    }
    SumAfter(words, sums, GetBlockIdx() / 2 * 2, 2, GetBlockIdx(), [] {
        CrossCoreSetFlag<1, PIPE_MTE3>(2);
        CrossCoreWaitFlag(2);
    });
}
extern "C" __global__ __aicore__ void good_flags_between_cubes(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_0);
    SumAfter(words, sums, 0, GetBlockNum(), GetBlockIdx(), [] {
        CrossCoreSetFlag<0, PIPE_FIX>(2);
        CrossCoreWaitFlag(2);
    });
}
// The cube core goes on when both vector cores have set the flag.
extern "C" __global__ __aicore__ void good_vectors_to_cube(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIV {
        GlobalTensor<int32_t> gm;
        gm.SetGlobalBuffer((__gm__ int32_t *)words);
        gm.SetValue(GetBlockIdx() * LINE, 1);
        DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(gm[GetBlockIdx() * LINE]);
        CrossCoreSetFlag<2, PIPE_MTE3>(9);
        return;
    }
    SumAfter(words, sums, GetBlockIdx() * 2, 2, 2 * GetBlockNum() + GetBlockIdx(), [] { CrossCoreWaitFlag(9); });
}

extern "C" __global__ __aicore__ void bad_mode_without_cube(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    CrossCoreSetFlag<2, PIPE_MTE3>(1);
}
extern "C" __global__ __aicore__ void bad_flag_left(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC {
        CrossCoreSetFlag<2, PIPE_FIX>(4);
    }
}
extern "C" __global__ __aicore__ void bad_flag_too_often(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    for (int i = 0; i < 16; ++i) {
        if ASCEND_IS_AIC {
            CrossCoreSetFlag<2, PIPE_FIX>(4);
        }
    }
    if ASCEND_IS_AIC {
        CrossCoreWaitFlag(1);
    }
    if ASCEND_IS_AIV {
        CrossCoreSetFlag<2, PIPE_MTE3>(1);
        for (int i = 0; i < 16; ++i) CrossCoreWaitFlag(4);
    }
}
extern "C" __global__ __aicore__ void bad_l1_on_vector(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GlobalTensor<int32_t> gm;
    gm.SetGlobalBuffer((__gm__ int32_t *)words);
    LocalTensor<int32_t> a1(TPosition::A1, 0, 8);
    DataCopy(a1, gm, 8);
}

// The vector core writes its buffer over after a signal to the cube core and back: the copy out of it was complete before the signal.
template <pipe_t PIPE>
__aicore__ inline void ThereAndBack(GM_ADDR words, GM_ADDR sums) {
    if ASCEND_IS_AIC {
        CrossCoreWaitFlag(3);
        CrossCoreSetFlag<2, PIPE_FIX>(4);
    }
    if ASCEND_IS_AIV {
        GlobalTensor<int32_t> from, to;
        from.SetGlobalBuffer((__gm__ int32_t *)words, 8);
        to.SetGlobalBuffer((__gm__ int32_t *)sums + GetBlockIdx() * 8, 8);
        LocalTensor<int32_t> x(TPosition::VECOUT, 0, 8);
        Duplicate(x, 3, 8);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(to, x, 8);
        CrossCoreSetFlag<2, PIPE>(3);
        CrossCoreWaitFlag(4);
        DataCopy(x, from, 8);
    }
}
extern "C" __global__ __aicore__ void good_there_and_back(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    ThereAndBack<PIPE_MTE3>(words, sums);
}
extern "C" __global__ __aicore__ void bad_there_and_back(GM_ADDR words, GM_ADDR sums) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    ThereAndBack<PIPE_V>(words, sums);
}
