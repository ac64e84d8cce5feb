// The Matmul object. What it computes is in the runtime (runtime/matmul.cpp); here its types become the runtime's state.
//
// In a kernel on cube and vector cores the object of a vector core has its cube core compute, as on the device; REGIST_MATMUL_OBJ makes the
// cube core serve. With ASCENDC_CUBE_ONLY, and in MatmulImpl, the cube core computes its own objects and vector cores leave calls out.
#pragma once

#include "ascendc_twin/matmul/static_tiling.h"
#include "ascendc_twin/sys.h"

namespace AscendC {

namespace twin_detail {

template <typename Type>
constexpr ascendc_twin::MmSide side_of() {
    ascendc_twin::MmSide side;
    side.dt = ascendc_twin::dt_of<PrimT<typename Type::T>>;
    side.format = static_cast<ascendc_twin::MmFormat>(Type::format);
    side.layout = static_cast<ascendc_twin::MmLayout>(Type::layout);
    side.transposed = Type::isTrans;
    return side;
}

template <typename Type, typename = void>
inline constexpr bool is_sparse = false;
template <typename Type>
inline constexpr bool is_sparse<Type, std::void_t<decltype(Type::indexPosition)>> = true;

template <class CB>
ascendc_twin::MmCallbacks callbacks_of() {
    ascendc_twin::MmCallbacks calls;
    if constexpr (CB::DataCopyOut != nullptr) {
        calls.copy_out = [](const void *gm, const ascendc_twin::TensorRef &l0c, const void *params, uint64_t tiling, uint64_t data) {
            CB::DataCopyOut(gm, LocalTensor<int8_t>(l0c), params, tiling, data);
        };
    }
    if constexpr (CB::CopyA != nullptr) {
        calls.copy_a = [](const ascendc_twin::TensorRef &l1, const void *gm, int row, int col, int m, int k, uint64_t tiling, uint64_t data) {
            CB::CopyA(LocalTensor<int8_t>(l1), gm, row, col, m, k, tiling, data);
        };
    }
    if constexpr (CB::CopyB != nullptr) {
        calls.copy_b = [](const ascendc_twin::TensorRef &l1, const void *gm, int row, int col, int k, int n, uint64_t tiling, uint64_t data) {
            CB::CopyB(LocalTensor<int8_t>(l1), gm, row, col, k, n, tiling, data);
        };
    }
    return calls;
}

}  // namespace twin_detail

template <bool CUBE_ONLY, class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE, const auto &MM_CFG, class MM_CB,
          template <const auto &, typename...> class MATMUL_POLICY>
class TwinMatmul {
    static constexpr MatmulConfig config = ToMatmulConfig(MM_CFG);
    static_assert(!config.intraBlockPartSum, "Matmul: intraBlockPartSum (two vector cores adding up in L0C) is not simulated");

public:
    using AType = A_TYPE;
    using BType = B_TYPE;
    using CType = C_TYPE;
    using BiasType = BIAS_TYPE;
    using SrcT = typename A_TYPE::T;
    using SrcAT = typename A_TYPE::T;
    using SrcBT = typename B_TYPE::T;
    using DstT = typename C_TYPE::T;
    using BiasT = typename BIAS_TYPE::T;
    using L0cT = std::conditional_t<std::is_integral_v<PrimT<SrcT>> || std::is_same_v<PrimT<SrcT>, int4b_t>, int32_t, float>;
    using CallBack = MM_CB;

    static constexpr bool twin_matmul = true;
    static constexpr bool twin_serves = !CUBE_ONLY && !config.enableMixDualMaster;

    TwinMatmul() {
        mm_.a = twin_detail::side_of<A_TYPE>();
        mm_.b = twin_detail::side_of<B_TYPE>();
        mm_.c = twin_detail::side_of<C_TYPE>();
        mm_.bias = twin_detail::side_of<BIAS_TYPE>();
        mm_.callbacks = twin_detail::callbacks_of<MM_CB>();
        mm_.split_channels = config.isEnableChannelSplit;
        mm_.relu = config.enableRelu;
        mm_.partial_output = config.isPartialOutput;
        mm_.bias_per_batch = config.isBiasBatch;
        using Policy = MATMUL_POLICY<MM_CFG, void, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE>;
        mm_.triangle = Policy::POLICY_TYPE == PolicyType::MATMUL_UPPER_TRIANGULAR ? 1 : Policy::POLICY_TYPE == PolicyType::MATMUL_LOWER_TRIANGULAR ? 2 : 0;
    }
    ~TwinMatmul() {
        ascendc_twin::mm_wait();
        ascendc_twin::mm_free(mm_);
    }
    TwinMatmul(const TwinMatmul &other) : mm_(other.mm_), sub_block_(other.sub_block_) { mm_.block = nullptr; }
    TwinMatmul &operator=(const TwinMatmul &other) {
        ascendc_twin::MmBlock *const own = mm_.block;
        mm_ = other.mm_;
        mm_.block = own;
        sub_block_ = other.sub_block_;
        return *this;
    }

    void Init(const TCubeTiling *__restrict tiling, TPipe * = nullptr) {
        if (tiling != nullptr) mm_.t = twin_detail::runtime_tiling(*tiling);
        twin_detail::merge_config(mm_.t, config);
        twin_detail::merge(mm_.t, MM_CFG);
        mm_.ready = true;
        mm_.n_first = config.iterateOrder == IterateOrder::UNDEF ? mm_.t.iterateOrder == 1 : config.iterateOrder == IterateOrder::ORDER_N;
        SetOrgShape(mm_.t.M, mm_.t.N, mm_.t.Ka, mm_.t.Kb);
        SetSingleShape(mm_.t.singleCoreM, mm_.t.singleCoreN, mm_.t.singleCoreK);
        mm_.batch_a = mm_.batch_b = mm_.t.BatchNum;
    }
    void SetSubBlockIdx(uint8_t index) { sub_block_ = index; }
    uint8_t GetSubBlockIdx() { return sub_block_; }

    void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK, 0); }
    void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
        mm_.org_m = orgM;
        mm_.org_n = orgN;
        mm_.org_ka = orgKa;
        mm_.org_kb = orgKb;
        mm_.org_kc = orgKc;
    }
    void SetSingleShape(int singleM, int singleN, int singleK) { SetTail(singleM, singleN, singleK); }
    void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
        if (tailM != -1) mm_.m = tailM;
        if (tailN != -1) mm_.n = tailN;
        if (tailK != -1) mm_.k = tailK;
        mm_.running = false;
    }

    TWIN_API void SetTensorA(const GlobalTensor<SrcAT> &gm, bool isTransposeA = false) { set(mm_.a, gm.span(), isTransposeA); }
    TWIN_API void SetTensorB(const GlobalTensor<SrcBT> &gm, bool isTransposeB = false) { set(mm_.b, gm.span(), isTransposeB); }
    TWIN_API void SetTensorA(const LocalTensor<SrcAT> &leftMatrix, bool isTransposeA = false) { set_local("SetTensorA", mm_.a, leftMatrix.span(), isTransposeA); }
    TWIN_API void SetTensorB(const LocalTensor<SrcBT> &rightMatrix, bool isTransposeB = false) { set_local("SetTensorB", mm_.b, rightMatrix.span(), isTransposeB); }
    void SetTensorA(SrcAT aScalar) { set_scalar(mm_.a, aScalar); }
    void SetTensorB(SrcBT bScalar) { set_scalar(mm_.b, bScalar); }
    TWIN_API void SetBias(const GlobalTensor<BiasT> &biasGlobal) {
        mm_.bias.span = biasGlobal.span();
        mm_.has_bias = true;
    }
    TWIN_API void SetBias(const LocalTensor<BiasT> &inputBias) {
        set_local("SetBias", mm_.bias, inputBias.span(), false);
        mm_.has_bias = true;
    }
    void DisableBias() { mm_.has_bias = false; }
    void ClearBias() { mm_.has_bias = false; }
    void SetBatchNum(int32_t batchA, int32_t batchB) {
        mm_.batch_a = batchA;
        mm_.batch_b = batchB;
    }
    template <class T>
    void SetSelfDefineData(T dataPtr) {
        if constexpr (std::is_pointer_v<T>) {
            mm_.callbacks.data = reinterpret_cast<uint64_t>(dataPtr);
        } else {
            mm_.callbacks.data = static_cast<uint64_t>(dataPtr);
        }
    }
    void SetUserDefInfo(const uint64_t tilingPtr) { mm_.callbacks.tiling = tilingPtr; }
    void SetQuantScalar(const uint64_t quantScalar) {
        mm_.quant_scalar = quantScalar;
        mm_.has_scalar = true;
        mm_.has_table = false;
    }
    TWIN_API void SetQuantVector(const GlobalTensor<uint64_t> &quantTensor) { set_table(quantTensor.span()); }
    TWIN_API void SetQuantVector(const LocalTensor<uint64_t> &quantTensor) { set_table(quantTensor.span()); }
    TWIN_API void SetSparseIndex(const GlobalTensor<uint8_t> &indexGlobal) {
        static_assert(twin_detail::is_sparse<B_TYPE>, "SetSparseIndex: B must be a SparseMatmulType");
        mm_.sparse_index = indexGlobal.span();
        mm_.sparse = true;
    }
    void SetHF32(bool enableHF32 = false, int32_t transMode = 0) {
        mm_.hf32 = enableHF32;
        ascendc_twin::set_hf32_rounding(transMode != 0);
    }
    template <class T>
    void SetWorkspace(__gm__ const T *addr, int size) {
        GlobalTensor<T> tensor;
        if (size > 0) {
            tensor.SetGlobalBuffer(const_cast<__gm__ T *>(addr), static_cast<uint64_t>(size));
        } else {
            tensor.SetGlobalBuffer(const_cast<__gm__ T *>(addr));
        }
        SetWorkspace(tensor);
    }
    template <class T>
    void SetWorkspace(GlobalTensor<T> &addr) {
        mm_.workspace = addr.span();
        mm_.workspace.dt = ascendc_twin::dt_of<PrimT<DstT>>;
        mm_.has_workspace = true;
    }
    void SetLocalWorkspace(const LocalTensor<uint8_t> &) {}

    template <bool sync = true>
    TWIN_API bool Iterate(bool enPartialSum = false) {
        if constexpr (!sync) {  // the blocks are computed when GetTensorC takes them
            mm_.running = false;
            mm_.taken = 0;
            return true;
        } else {
            return iterate(enPartialSum, nullptr);
        }
    }
    template <bool sync = true, typename T>
    TWIN_API bool Iterate(bool enPartialSum, const LocalTensor<T> &localCmatrix) {
        const ascendc_twin::Span l0c = localCmatrix.span();
        return iterate(enPartialSum, &l0c);
    }
    template <bool sync = true>
    TWIN_API void IterateAll(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool enSequentialWrite = false, bool waitIterateAll = false,
                             bool fakeMsg = false) {
        (void)waitIterateAll;
        if (fakeMsg) return;
        all<sync>({gm.span(), enAtomic, enSequentialWrite});
    }
    template <bool sync = true>
    TWIN_API void IterateAll(const LocalTensor<DstT> &ubCmatrix, uint8_t enAtomic = 0) {
        touch_local("IterateAll", ubCmatrix.span(), ascendc_twin::Rw::WRITE);
        all<true>({ubCmatrix.span(), enAtomic, false});
    }
    template <bool sync = true>
    TWIN_API void GetTensorC(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool enSequentialWrite = false) {
        get<sync>({gm.span(), enAtomic, enSequentialWrite});
    }
    // A local tensor takes the block itself, row by row.
    template <bool sync = true>
    TWIN_API void GetTensorC(const LocalTensor<DstT> &co2Local, uint8_t enAtomic = 0, bool enSequentialWrite = false, uint32_t = 0, uint32_t = 0,
                             uint32_t = 0, uint32_t = 0) {
        touch_local("GetTensorC", co2Local.span(), ascendc_twin::Rw::WRITE);
        const bool whole = !enSequentialWrite && sync && holds_all(co2Local.span());
        get<sync>({co2Local.span(), enAtomic, !whole});
    }
    template <bool sync = true>
    TWIN_API void GetTensorC(const GlobalTensor<DstT> &gm, const LocalTensor<DstT> &co2Local, uint8_t enAtomic = 0, bool enSequentialWrite = false) {
        get<sync>({gm.span(), enAtomic, enSequentialWrite});
        touch_local("GetTensorC", co2Local.span(), ascendc_twin::Rw::WRITE);
        call<Get>("GetTensorC", {&mm_, {co2Local.span(), 0, true}, false, nullptr, true});
    }
    // Asynchronous: the next block in the workspace.
    template <bool sync = true>
    TWIN_API GlobalTensor<DstT> GetTensorC(uint8_t enAtomic = 0, bool enSequentialWrite = false) {
        (void)enSequentialWrite;
        const uint64_t step = static_cast<uint64_t>(mm_.t.baseM) * static_cast<uint64_t>(mm_.t.baseN);
        GlobalTensor<DstT> block;
        block.SetGlobalBuffer(reinterpret_cast<__gm__ PrimT<DstT> *>(mm_.workspace.p) + mm_.taken * step, step);
        ++mm_.taken;
        get<false>({block.span(), enAtomic, true});
        return block;
    }
    template <bool isTurnOnDebug = true>
    MatrixOffset GetOffsetC() {
        const int32_t row = mm_.at_m * mm_.t.baseM, column = mm_.at_n * mm_.t.baseN;
        const int32_t height = mm_.m - row < mm_.t.baseM ? mm_.m - row : mm_.t.baseM, width = mm_.n - column < mm_.t.baseN ? mm_.n - column : mm_.t.baseN;
        return {row * mm_.org_n + column, row, column, height, width};
    }

    template <bool sync = true, bool waitIterateBatch = false>
    TWIN_API void IterateBatch(const GlobalTensor<DstT> &gm, uint32_t batchA, uint32_t batchB, bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                               const uint32_t matrixStrideB = 0, const uint32_t = 0, const bool = false, const uint8_t enAtomic = 0) {
        batch({gm.span(), enAtomic, enSequentialWrite}, batchA, batchB, matrixStrideA, matrixStrideB, 0);
    }
    template <bool sync = true, bool waitIterateBatch = false>
    TWIN_API void IterateBatch(const LocalTensor<DstT> &ubCmatrix, uint32_t batchA, uint32_t batchB, bool, const uint32_t matrixStrideA = 0,
                               const uint32_t matrixStrideB = 0, const uint32_t = 0, const bool = false, const uint8_t enAtomic = 0) {
        touch_local("IterateBatch", ubCmatrix.span(), ascendc_twin::Rw::WRITE);
        batch({ubCmatrix.span(), enAtomic, false}, batchA, batchB, matrixStrideA, matrixStrideB, 0);
    }
    TWIN_API void IterateBatch(const GlobalTensor<DstT> &gm, bool, uint8_t enAtomic, bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                               const uint32_t matrixStrideB = 0, const uint32_t = 0) {
        batch({gm.span(), enAtomic, enSequentialWrite}, static_cast<uint32_t>(mm_.batch_a), static_cast<uint32_t>(mm_.batch_b), matrixStrideA, matrixStrideB, 0);
    }
    template <bool sync = true, bool waitIterateBatch = false>
    TWIN_API void IterateNBatch(const uint32_t batchLoop, uint32_t batchA, uint32_t batchB, bool enSequentialWrite, const uint32_t matrixStrideA = 0,
                                const uint32_t matrixStrideB = 0, const uint32_t = 0) {
        const uint32_t each = batchA > batchB ? batchA : batchB;
        for (uint32_t i = 0; i < batchLoop; ++i) batch({mm_.workspace, 0, enSequentialWrite}, batchA, batchB, matrixStrideA, matrixStrideB, i * each);
        mm_.taken = 0;
    }
    template <bool sync = true>
    TWIN_API GlobalTensor<DstT> GetBatchTensorC(uint32_t batchA, uint32_t batchB, bool = false) {
        const uint64_t step = static_cast<uint64_t>(batchA > batchB ? batchA : batchB) * static_cast<uint64_t>(mm_.m) * static_cast<uint64_t>(mm_.n);
        GlobalTensor<DstT> part;
        part.SetGlobalBuffer(reinterpret_cast<__gm__ PrimT<DstT> *>(mm_.workspace.p) + mm_.taken++ * step, step);
        return part;
    }
    template <bool sync = true>
    TWIN_API void GetBatchTensorC(const LocalTensor<DstT> &c, uint32_t batchA, uint32_t batchB, bool = false) {
        const GlobalTensor<DstT> part = GetBatchTensorC(batchA, batchB);
        DataCopy(c, part, static_cast<uint32_t>(part.GetSize()));
    }
    template <bool sync = true>
    TWIN_API GlobalTensor<DstT> GetBatchC(uint32_t batchA, uint32_t batchB, bool = false) {
        return GetBatchTensorC(batchA, batchB);
    }

    void WaitIterateAll() { ascendc_twin::mm_wait(); }
    void WaitIterateBatch() { ascendc_twin::mm_wait(); }
    void WaitGetTensorC() { ascendc_twin::mm_wait(); }
    void AsyncGetTensorC(const LocalTensor<DstT> &c) { GetTensorC<false>(c); }
    void End() { ascendc_twin::mm_wait(); }

    // What REGIST_MATMUL_OBJ found to be on its cube core: set by it, used when the object is a member of a class that asks.
    TPipe *tpipe = nullptr;

private:
    struct Job {
        ascendc_twin::Mm *mm;
        ascendc_twin::MmOut out;
        bool accumulate = false;
        const ascendc_twin::Span *l0c = nullptr;
        bool keep = false;
        uint32_t numbers[5] = {};
        bool more = false;
    };
    static void Iter(void *job) {
        auto &j = *static_cast<Job *>(job);
        j.more = ascendc_twin::mm_iterate(*j.mm, j.accumulate, j.l0c);
    }
    static void Get(void *job) {
        auto &j = *static_cast<Job *>(job);
        if (j.keep || ascendc_twin::mm_iterate(*j.mm, false, nullptr)) ascendc_twin::mm_get(*j.mm, j.out);
    }
    static void All(void *job) {
        auto &j = *static_cast<Job *>(job);
        ascendc_twin::mm_all(*j.mm, j.out);
    }
    static void Batch(void *job) {
        auto &j = *static_cast<Job *>(job);
        ascendc_twin::mm_batch(*j.mm, j.out, j.numbers[0], j.numbers[1], j.numbers[2], j.numbers[3], j.numbers[4]);
    }
    // An object whose state is its own copy, for a call that nobody waits for.
    struct Detached {
        Job job;
        ascendc_twin::Mm mm;
    };
    static void AllDetached(void *job) {
        auto &d = *static_cast<Detached *>(job);
        d.mm.block = nullptr;
        ascendc_twin::mm_all(d.mm, d.job.out);
        ascendc_twin::mm_free(d.mm);
    }

    template <void (*run)(void *)>
    TWIN_API Job call(const char *api, Job job) {
        ascendc_twin::Inst inst(api, ascendc_twin::PipeId::M);
        switch (ascendc_twin::mm_where(CUBE_ONLY || config.enableMixDualMaster)) {
            case ascendc_twin::MmWhere::HERE: run(&job); break;
            case ascendc_twin::MmWhere::ON_CUBE_CORE: ascendc_twin::mm_remote(api, run, &job); break;
            default: break;
        }
        if constexpr (config.enableMixDualMaster) {
            if (ascendc_twin::core().mixed) ascendc_twin::mm_dual(ascendc_twin::core().type == ascendc_twin::Core::AIC);
        }
        return job;
    }
    TWIN_API bool iterate(bool accumulate, const ascendc_twin::Span *l0c) {
        return call<Iter>("Iterate", {&mm_, {}, accumulate, l0c}).more;
    }
    template <bool sync>
    TWIN_API void all(const ascendc_twin::MmOut &out) {
        if constexpr (!sync && !CUBE_ONLY && !config.enableMixDualMaster) {
            if (ascendc_twin::mm_where(false) == ascendc_twin::MmWhere::ON_CUBE_CORE) {
                ascendc_twin::Inst inst("IterateAll", ascendc_twin::PipeId::M);
                Detached detached{{nullptr, out}, mm_};
                ascendc_twin::mm_remote_async("IterateAll", AllDetached, &detached, sizeof detached);
                return;
            }
        }
        call<All>("IterateAll", {&mm_, out});
        mm_.running = false;
    }
    template <bool sync>
    TWIN_API void get(const ascendc_twin::MmOut &out) {
        call<Get>("GetTensorC", {&mm_, out, false, nullptr, sync});
    }
    TWIN_API void batch(const ascendc_twin::MmOut &out, uint32_t a, uint32_t b, uint32_t stride_a, uint32_t stride_b, uint32_t first) {
        Job job{&mm_, out};
        const uint32_t numbers[5] = {a, b, stride_a, stride_b, first};
        for (int i = 0; i < 5; ++i) job.numbers[i] = numbers[i];
        call<Batch>("IterateBatch", job);
    }

    void set(ascendc_twin::MmSide &side, const ascendc_twin::Span &span, bool transposed) {
        side.span = span;
        side.transposed = transposed;
        side.set = true;
        mm_.running = false;
        mm_.taken = 0;
    }
    TWIN_API void set_local(const char *api, ascendc_twin::MmSide &side, const ascendc_twin::Span &span, bool transposed) {
        touch_local(api, span, ascendc_twin::Rw::READ);
        set(side, span, transposed);
    }
    template <typename T>
    void set_scalar(ascendc_twin::MmSide &side, T value) {
        side.scalar = 0;
        __builtin_memcpy(&side.scalar, &value, sizeof value);
        side.set = true;
        mm_.running = false;
    }
    void set_table(const ascendc_twin::Span &span) {
        mm_.quant_table = span;
        mm_.has_table = true;
        mm_.has_scalar = false;
    }
    // The vector core's side of an access to its own memory, which the cube core makes for it.
    TWIN_API void touch_local(const char *api, const ascendc_twin::Span &span, ascendc_twin::Rw rw) {
        if (span.mem != ascendc_twin::Mem::UB || ascendc_twin::core().type == ascendc_twin::Core::AIC) return;
        ascendc_twin::Inst inst(api, rw == ascendc_twin::Rw::READ ? ascendc_twin::PipeId::MTE3 : ascendc_twin::PipeId::MTE2);
        ascendc_twin::Walk all;
        all.run = span.bytes < most(rw) ? span.bytes : most(rw);
        ascendc_twin::touch(inst, span, rw, all);
    }
    uint64_t most(ascendc_twin::Rw rw) const {
        if (rw == ascendc_twin::Rw::READ) return UINT64_MAX;
        return static_cast<uint64_t>(mm_.m) * static_cast<uint64_t>(mm_.n) * sizeof(PrimT<DstT>);
    }
    bool holds_all(const ascendc_twin::Span &span) const {
        const bool one_block = mm_.m <= mm_.t.baseM && mm_.n <= mm_.t.baseN;
        return !one_block && span.bytes >= static_cast<uint64_t>(mm_.m) * static_cast<uint64_t>(mm_.n) * sizeof(PrimT<DstT>);
    }

    ascendc_twin::Mm mm_;
    uint8_t sub_block_ = 0;
};

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>, template <const auto &, typename...> class MATMUL_POLICY = Impl::Detail::MatmulPolicy>
using MatmulImpl = TwinMatmul<true, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;
#ifdef ASCENDC_CUBE_ONLY
constexpr bool twin_cube_only = true;
#else
constexpr bool twin_cube_only = false;
#endif
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>, template <const auto &, typename...> class MATMUL_POLICY = Impl::Detail::MatmulPolicy>
using Matmul = TwinMatmul<twin_cube_only, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;

namespace twin_detail {

// Objects and tilings in turn: an object without a tiling is given one later by Init.
inline void regist() {}
template <typename Object, typename... Rest>
void regist(Object &object, Rest &&...rest);
template <typename Object, typename Tiling, typename... Rest>
void regist_pair(Object &object, Tiling &tiling, Rest &&...rest) {
    if constexpr (std::is_pointer_v<std::decay_t<Tiling>>) {
        object.Init(reinterpret_cast<const TCubeTiling *>(tiling));
        regist(rest...);
    } else if constexpr (std::is_null_pointer_v<std::decay_t<Tiling>>) {
        object.Init(nullptr);
        regist(rest...);
    } else {
        object.Init(nullptr);
        regist(tiling, rest...);
    }
}
template <typename Object, typename... Rest>
void regist(Object &object, Rest &&...rest) {
    if constexpr (sizeof...(Rest) == 0) {
        object.Init(nullptr);
    } else {
        regist_pair(object, rest...);
    }
}

// True: this is a cube core that has served its vector cores, and the kernel ends here.
template <typename Object, typename... Rest>
bool regist_objects(TPipe *, __gm__ uint8_t *, Object &object, Rest &&...rest) {
    const ascendc_twin::Core &core = ascendc_twin::core();
    if (Object::twin_serves && core.mixed && core.type == ascendc_twin::Core::AIC) {
        ascendc_twin::cube_serve();
        return true;
    }
    regist(object, rest...);
    return false;
}

}  // namespace twin_detail
}  // namespace AscendC

#define REGIST_MATMUL_OBJ(pipe, workspace, ...) \
    if (AscendC::twin_detail::regist_objects(pipe, workspace, __VA_ARGS__)) return
#define REGIST_MATMUL_OBJ_STATIC REGIST_MATMUL_OBJ
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ
