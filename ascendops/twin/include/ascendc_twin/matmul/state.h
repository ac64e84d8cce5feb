// The state of a Matmul object: its types, configuration and tensors become what the runtime computes with (rt_matmul.h).
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

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE, const auto &MM_CFG, class MM_CB,
          template <const auto &, typename...> class MATMUL_POLICY>
class TwinMatmulState {
protected:
    static constexpr MatmulConfig config = ToMatmulConfig(MM_CFG);
    static_assert(!config.intraBlockPartSum, "Matmul: this SoC does not have intraBlockPartSum (two vector cores adding up in L0C)");

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

    TwinMatmulState() {
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
    ~TwinMatmulState() {
        ascendc_twin::mm_wait(&mm_);
        ascendc_twin::mm_free(mm_);
    }
    TwinMatmulState(const TwinMatmulState &other) : mm_(other.mm_), sub_block_(other.sub_block_) { mm_.block = nullptr; }
    TwinMatmulState &operator=(const TwinMatmulState &other) {
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

    TWIN_API void SetTensorA(const GlobalTensor<SrcAT> &gm, bool isTransposeA = false) { set<A_TYPE>(mm_.a, gm.span(), isTransposeA); }
    TWIN_API void SetTensorB(const GlobalTensor<SrcBT> &gm, bool isTransposeB = false) { set<B_TYPE>(mm_.b, gm.span(), isTransposeB); }
    TWIN_API void SetTensorA(const LocalTensor<SrcAT> &leftMatrix, bool isTransposeA = false) { set_local<A_TYPE>("SetTensorA", mm_.a, leftMatrix.span(), isTransposeA); }
    TWIN_API void SetTensorB(const LocalTensor<SrcBT> &rightMatrix, bool isTransposeB = false) { set_local<B_TYPE>("SetTensorB", mm_.b, rightMatrix.span(), isTransposeB); }
    void SetTensorA(SrcAT aScalar) { set_scalar(mm_.a, aScalar); }
    void SetTensorB(SrcBT bScalar) { set_scalar(mm_.b, bScalar); }
    TWIN_API void SetBias(const GlobalTensor<BiasT> &biasGlobal) {
        mm_.bias.span = biasGlobal.span();
        mm_.has_bias = true;
    }
    TWIN_API void SetBias(const LocalTensor<BiasT> &inputBias) {
        set_local<BIAS_TYPE>("SetBias", mm_.bias, inputBias.span(), false);
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

    // What REGIST_MATMUL_OBJ found to be on its cube core: set by it, used when the object is a member of a class that asks.
    TPipe *tpipe = nullptr;

protected:
    template <class TYPE>
    void set(ascendc_twin::MmSide &side, const ascendc_twin::Span &span, bool transposed) {
        const bool both = TYPE::isTrans && (side.dt == ascendc_twin::Dt::F16 || side.dt == ascendc_twin::Dt::BF16);
        if (transposed != TYPE::isTrans && !both) {
            ascendc_twin::finding("MATMUL-TRANSPOSE", "a matrix is set %stransposed, but ISTRANS of its MatmulType is %s", transposed ? "" : "not ",
                                  TYPE::isTrans ? "true, and only half and bfloat16_t may be either" : "false");
        }
        side.span = span;
        side.transposed = transposed;
        side.set = true;
        mm_.running = false;
        mm_.taken = 0;
    }
    template <class TYPE>
    TWIN_API void set_local(const char *api, ascendc_twin::MmSide &side, const ascendc_twin::Span &span, bool transposed) {
        touch_local(api, span, ascendc_twin::Rw::READ);
        set<TYPE>(side, span, transposed);
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
    ascendc_twin::Mm mm_;
    uint8_t sub_block_ = 0;
};

}  // namespace AscendC
