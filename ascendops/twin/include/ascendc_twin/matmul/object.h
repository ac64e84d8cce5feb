// The calls of a Matmul object that compute. Each runs here, on the cube core of the block, or nowhere.
#pragma once

#include "ascendc_twin/matmul/state.h"

namespace AscendC {

template <bool CUBE_ONLY, class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE, const auto &MM_CFG, class MM_CB,
          template <const auto &, typename...> class MATMUL_POLICY>
class TwinMatmul : public TwinMatmulState<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY> {
    using State = TwinMatmulState<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;
    using State::config;
    using State::mm_;
    using State::touch_local;

public:
    using typename State::DstT;

    static constexpr bool twin_serves = !CUBE_ONLY && !config.enableMixDualMaster;

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
    // The numbers of SetBatchNum. Only for a bool: integers are the numbers of matrices of the call above.
    template <typename Bool, std::enable_if_t<std::is_same_v<Bool, bool>, int> = 0>
    TWIN_API void IterateBatch(const GlobalTensor<DstT> &gm, Bool, uint8_t enAtomic, bool enSequentialWrite, const uint32_t matrixStrideA = 0,
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

    void WaitIterateAll() { ascendc_twin::mm_wait(&mm_); }
    void WaitIterateBatch() { ascendc_twin::mm_wait(&mm_); }
    void WaitGetTensorC() { ascendc_twin::mm_wait(&mm_); }
    void AsyncGetTensorC(const LocalTensor<DstT> &c) { GetTensorC<false>(c); }
    void End() { ascendc_twin::mm_wait(&mm_); }

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
                ascendc_twin::mm_remote_async("IterateAll", AllDetached, &detached, sizeof detached, &mm_);
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

    bool holds_all(const ascendc_twin::Span &span) const {
        const bool one_block = mm_.m <= mm_.t.baseM && mm_.n <= mm_.t.baseN;
        return !one_block && span.bytes >= static_cast<uint64_t>(mm_.m) * static_cast<uint64_t>(mm_.n) * sizeof(PrimT<DstT>);
    }
};

}  // namespace AscendC
