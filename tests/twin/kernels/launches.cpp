// Kernels that crash, hang, read tiling data, print, take scalars by value, or ask who they are.
#include "kernel_operator.h"
using namespace AscendC;

struct LaunchTiling {
    uint32_t n;
    float f;
    uint64_t list[2];
};
struct OtherTiling {
    uint32_t n;
};

#define OUT(T)       \
    GlobalTensor<T> y; \
    y.SetGlobalBuffer((__gm__ T *)yAddr)

extern "C" __global__ __aicore__ void bad_null(GM_ADDR yAddr, int32_t which) {
    if (GetBlockIdx() == which) {
        __gm__ int32_t *p = nullptr;
        *p = 1;  // finds: CRASH
    }
    OUT(int32_t);
    y.SetValue(GetBlockIdx() * 16, 1);
}

extern "C" __global__ __aicore__ void bad_ub_pointer(GM_ADDR yAddr) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 1024);
    volatile __ubuf__ float *p = (__ubuf__ float *)buf.Get<float>().GetPhyAddr();
    for (uint32_t i = 0; i < 100000; i++) {
        p[i] = 1.0f;  // finds: CRASH
    }
}

// The buffer reaches beyond UB; a pointer that goes there faults, as on the device.
extern "C" __global__ __aicore__ void bad_pointer_beyond(GM_ADDR yAddr) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 200 * 1024);
    auto *p = reinterpret_cast<__ubuf__ float *>(buf.Get<float>().GetPhyAddr());
    p[50 * 1024 - 1] = 1.0f;  // finds: CRASH
}

extern "C" __global__ __aicore__ void bad_division(GM_ADDR yAddr, int32_t zero) {
    OUT(int32_t);
    int32_t quotient = 7 / zero;  // finds: SCALAR-DIVISION
    y.SetValue(0, quotient);
}

extern "C" __global__ __aicore__ void bad_remainder(GM_ADDR yAddr, int32_t zero) {
    OUT(int32_t);
    const auto remainder = [](uint64_t of, uint64_t by) {
        return of % by;  // finds: SCALAR-DIVISION
    };
    y.SetValue(0, static_cast<int32_t>(remainder(1ull << 40, static_cast<uint64_t>(zero))));
}

extern "C" __global__ __aicore__ void bad_assert(GM_ADDR yAddr, int32_t one) {
    assert(one == 2);  // finds: CRASH
}

__aicore__ __attribute__((noinline)) void Spin(volatile int32_t *go) {
    while (*go) {
    }
}

extern "C" __global__ __aicore__ void bad_endless(GM_ADDR yAddr) {
    int32_t go = 1;
    Spin(&go);
}

extern "C" __global__ __aicore__ void bad_endless_copy(GM_ADDR yAddr) {
    OUT(float);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 1024);
    Duplicate(buf.Get<float>(), 0.0f, 64);
    PipeBarrier<PIPE_ALL>();
    while (true) {
        DataCopy(y, buf.Get<float>(), 64);
    }
}

extern "C" __global__ __aicore__ void bad_wait_for_the_spinner(GM_ADDR yAddr) {
    if (GetBlockIdx() == 0) {
        int32_t go = 1;
        Spin(&go);
    }
    SyncAll();
}

extern "C" __global__ __aicore__ void bad_flag_hang(GM_ADDR yAddr) {
    WaitFlag<HardEvent::V_S>(0);
}

extern "C" __global__ __aicore__ void reads_tiling(GM_ADDR yAddr, GM_ADDR workspace, GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(LaunchTiling);
    OUT(float);
    if (TILING_KEY_IS(1)) {
        GET_TILING_DATA(t, tiling);
        y.SetValue(0, (float)t.n);
        y.SetValue(1, t.f);
        y.SetValue(2, (float)t.list[1]);
    } else if (TILING_KEY_IS(2)) {
        GET_TILING_DATA_WITH_STRUCT(OtherTiling, t, tiling);
        y.SetValue(0, (float)t.n);
    } else if (TILING_KEY_IS(3)) {
        GET_TILING_DATA_MEMBER(LaunchTiling, f, value, tiling);
        y.SetValue(1, value);
        COPY_TILING_WITH_ARRAY(uint64_t, 2, ((__gm__ LaunchTiling *)tiling)->list, list);
        y.SetValue(2, (float)list[1]);
    }
}

extern "C" __global__ __aicore__ void scalars(GM_ADDR yAddr, int8_t a, uint64_t b, float c, half d, bool e, LaunchTiling f) {
    OUT(float);
    y.SetValue(0, (float)a);
    y.SetValue(1, (float)b);
    y.SetValue(2, c);
    y.SetValue(3, (float)d);
    y.SetValue(4, e ? 1.0f : 0.0f);
    y.SetValue(5, (float)f.list[1]);
}

extern "C" __global__ __aicore__ void identity(GM_ADDR yAddr, GM_ADDR workspace) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    OUT(int64_t);
    __gm__ uint8_t *user = GetUserWorkspace(workspace);
    y = y[GetBlockIdx() * 8];
    y.SetValue(0, GetBlockIdx() * 100 + GetBlockNum());
    y.SetValue(1, user - workspace);
    y.SetValue(2, GetSysWorkSpacePtr() == workspace ? 1 : 0);
    if ASCEND_IS_AIV {
        y.SetValue(3, GetSubBlockIdx() + 10 * GetSubBlockNum());
    }
}

extern "C" __global__ __aicore__ void uses_workspace(GM_ADDR yAddr, GM_ADDR workspace) {
    OUT(float);
    GlobalTensor<float> w;
    w.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(workspace), 8);
    w.SetValue(7, 3.0f);
    y.SetValue(0, w.GetValue(7));
}

extern "C" __global__ __aicore__ void prints(GM_ADDR yAddr) {
    OUT(float);
    printf("");
    AscendC::printf("block %d half %f %s\n", (int)GetBlockIdx(), (half)1.5f, "text");
    PRINTF("value %f\n", 2.5f);
    DumpTensor(y, 5, 3);
}

extern "C" __global__ __aicore__ void too_many_blocks(GM_ADDR yAddr) {
    SyncAll();  // finds: SYNC-CORES
}

extern "C" __global__ __aicore__ void soft_barrier(GM_ADDR yAddr, GM_ADDR sync) {
    OUT(int32_t);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 32 * 64);
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer((__gm__ int32_t *)sync, 8 * GetBlockNum());
    y.SetValue(GetBlockIdx() * 16, 1);
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(y[GetBlockIdx() * 16]);
    SyncAll(words, buf.Get<int32_t>());
    int32_t sum = 0;
    for (int i = 0; i < GetBlockNum(); i++) sum += y.GetValue(i * 16);
    y.SetValue((64 + GetBlockIdx()) * 16, sum);
}

extern "C" __global__ __aicore__ void barrier_of_vector_kernel(GM_ADDR yAddr) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    SyncAll();  // finds: SYNC-TASK-TYPE
}

extern "C" __global__ __aicore__ void list_sum(GM_ADDR list, GM_ADDR yAddr) {
    OUT(float);
    __gm__ uint64_t *words = (__gm__ uint64_t *)list;
    __gm__ uint64_t *pointers = words + (*words >> 3);
    float sum = 0;
    for (int t = 0; t < 2; t++) {
        GlobalTensor<float> x;
        x.SetGlobalBuffer((__gm__ float *)pointers[t], 4);
        for (int i = 0; i < 4; i++) sum += x.GetValue(i);
    }
    y.SetValue(0, sum);
    y.SetValue(1, (float)(words[1] & 0xffffffff));
    y.SetValue(2, (float)words[2]);
}

extern "C" __global__ __aicore__ void list_desc(GM_ADDR list, GM_ADDR yAddr) {
    OUT(float);
    ListTensorDesc all((__gm__ void *)list);
    uint64_t shape[8];
    TensorDesc<float> desc;
    desc.SetShapeAddr(shape);
    all.GetDesc(desc, 1);
    y.SetValue(0, (float)all.GetSize());
    y.SetValue(1, (float)(desc.GetDim() * 10 + desc.GetIndex()));
    y.SetValue(2, (float)(desc.GetShape(0) * 10 + desc.GetShape(1)));
    y.SetValue(3, desc.GetDataObj().GetValue(5));
    y.SetValue(4, *all.GetDataPtr<float>(0));
    constexpr auto layout = MakeLayout(MakeShape(MakeShape(2, 4), MakeShape(3, 5)), MakeStride(MakeStride(3, 6), MakeStride(1, 24)));
    static_assert(Crd2Idx(MakeCoord(11, 12), layout) == 129);
    static_assert(layout(MakeCoord(MakeCoord(1, 5), MakeCoord(0, 4))) == 129);
    y.SetValue(5, (float)Crd2Idx(MakeCoord(1, 2, 3), MakeShape(3, 4, 5), MakeStride(20, 5, 1)));
}
