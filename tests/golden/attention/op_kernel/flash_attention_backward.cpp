// flash_attention_backward:
// p = exp(scale * q k^T - lse), s = scale * p * (grad_out v^T - delta), grad: q = s k, k = s^T q, v = p^T grad_out.
// First the vector cores find, for each query, what is taken off its slopes. Then each has tiles: keys, which meet the
// queries that see them, for grad_k and grad_v, and queries, which meet the keys that they see, for grad_q. Scores are
// computed for both kinds, so that each result has one core that adds to it, in one order; with enough heads, a core
// has all tiles of keys of some heads, and adds to their grad_q as well. The cube core multiplies for its vector cores,
// two buffers each: while one pair is turned into weights and slopes, the next one's scores are in hand, and the
// products of the one before are added to the tile's sums in the workspace.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

#include "flash_attention_backward_delta.h"
#include "flash_attention_backward_pairs.h"
#include "flash_attention_backward_tiling.h"
#include "flash_attention_backward_vector.h"
#include "write_equal.h"

using namespace AscendC;
using namespace row_ops;

template <typename T, bool HEADS>
class KernelFlashAttentionBackward {
public:
    using Rows = MatmulType<TPosition::GM, CubeFormat::ND, T>;
    using Turned = MatmulType<TPosition::GM, CubeFormat::ND, T, true>;  // a row of the block is a column of the product
    using Columns = MatmulType<TPosition::GM, CubeFormat::ND, T, true>;
    using Sums = MatmulType<TPosition::GM, CubeFormat::ND, float>;

    __aicore__ inline void Init(GM_ADDR grad_out, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR lse, GM_ADDR grad_q,
                                GM_ADDR grad_k, GM_ADDR grad_v, GM_ADDR workspace,
                                const FlashAttentionBackwardTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        size_ = tiling->size;
        const int64_t worker = GetSubBlockIdx() * GetBlockNum() + GetBlockIdx() / GetTaskRation();
        qGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(q));
        kGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(k));
        vGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(v));
        gradOutGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(grad_out));
        gradQGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(grad_q));
        gradKGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(grad_k));
        gradVGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(grad_v));
        SetWorkspace(workspace, worker);
        pairs_.Init(tiling, worker, HEADS);
        vector_.Init(lse, workspace, tiling, pipe);
        const int64_t pitch = AlignUp(size_, FRACTAL);
        scores.SetOrgShape(tiling->tileRows, tiling->block, size_, size_, tiling->block);
        product.SetOrgShape(tiling->tileRows, size_, tiling->block, tiling->block, pitch);
        if constexpr (HEADS) {
            turned.SetOrgShape(tiling->block, size_, tiling->tileRows, tiling->tileRows, pitch);
        }
        written_ = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE3_S));
    }

    __aicore__ inline void Process()
    {
        Pair done = {};
        Pair pair = {};
        Pair next = {};
        bool collect = false;
        bool more = pairs_.Next(next);
        if (more) {
            StartScores(next);
        }
        while (more || collect) {
            const bool soften = more;
            pair = next;
            if (soften) {
                scores.WaitIterateAll();  // once for each of the two products
                scores.WaitIterateAll();
                more = pairs_.Next(next);
                if (more) {
                    StartScores(next);
                }
                const int64_t at = pair.slot * scoresSlot_;
                vector_.Soften(pair, scoresGm_[at], gradsGm_[at], weightsGm_[at], slopesGm_[at]);
            }
            if (collect) {
                WaitProducts(done);
                if (done.ends) {  // before the next segment's products
                    vector_.CollectQueries(done, gradQGm_, queriesGm_);
                }
            }
            if (soften) {
                StartProducts(pair);
            }
            if (collect && done.last) {
                Collect(done);
            }
            done = pair;
            collect = soften;
        }
        scores.End();
        product.End();
        if constexpr (HEADS) {
            turned.End();
        }
    }

    Matmul<Rows, Turned, Sums> scores;  // REGIST_MATMUL_OBJ connects them to the cube core
    Matmul<Rows, Rows, Sums> product;
    Matmul<Columns, Rows, Sums> turned;

private:
    static constexpr int32_t FRACTAL = 16;

    // After the deltas: two slots of everything for each worker, floats first.
    __aicore__ inline void SetWorkspace(GM_ADDR workspace, int64_t worker)
    {
        const int64_t queries = tiling_->segments * tiling_->rows;
        const int64_t slots = BUFFERS * tiling_->workers;
        const int64_t mine = BUFFERS * worker;
        scoresSlot_ = static_cast<int64_t>(tiling_->tileRows) * tiling_->block;
        sumsSlot_ = static_cast<int64_t>(tiling_->tileRows) * AlignUp(size_, FRACTAL);
        __gm__ float *scoresAt = reinterpret_cast<__gm__ float *>(workspace) + (queries + LANES - 1) / LANES * LANES;
        __gm__ float *gradsAt = scoresAt + slots * scoresSlot_;
        __gm__ float *sumsAt = gradsAt + slots * scoresSlot_;
        __gm__ T *weightsAt = reinterpret_cast<__gm__ T *>(sumsAt + 2 * slots * sumsSlot_);
        scoresGm_.SetGlobalBuffer(scoresAt + mine * scoresSlot_);
        gradsGm_.SetGlobalBuffer(gradsAt + mine * scoresSlot_);
        sumsGm_.SetGlobalBuffer(sumsAt + 2 * mine * sumsSlot_);
        weightsGm_.SetGlobalBuffer(weightsAt + mine * scoresSlot_);
        slopesGm_.SetGlobalBuffer(weightsAt + (slots + mine) * scoresSlot_);
        if constexpr (HEADS) {
            const int64_t most = tiling_->rows * AlignUp(size_, FRACTAL);
            __gm__ T *queriesAt = weightsAt + 2 * slots * scoresSlot_;  // whole rows of 64 weights: aligned for floats
            queriesGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(queriesAt) + worker * most);
        }
    }

    __aicore__ inline void StartScores(const Pair &pair)
    {
        const int64_t tile = pair.tile * size_;
        const int64_t other = pair.other * size_;
        const int64_t at = pair.slot * scoresSlot_;
        if (pair.keys) {
            MultiplyRows(scoresGm_[at], kGm_[tile], qGm_[other], pair);
            MultiplyRows(gradsGm_[at], vGm_[tile], gradOutGm_[other], pair);
        } else {
            MultiplyRows(scoresGm_[at], qGm_[tile], kGm_[other], pair);
            MultiplyRows(gradsGm_[at], gradOutGm_[tile], vGm_[other], pair);
        }
    }

    __aicore__ inline void MultiplyRows(const GlobalTensor<float> &to, const GlobalTensor<T> &tile,
                                        const GlobalTensor<T> &block, const Pair &pair)
    {
        scores.SetTensorA(tile);
        scores.SetTensorB(block, true);
        scores.SetTail(pair.rows, pair.columns, size_);
        scores.template IterateAll<false>(to, 0, false, true);
    }

    __aicore__ inline void StartProducts(const Pair &pair)
    {
        SetFlag<HardEvent::MTE3_S>(written_);  // the cube core reads weights and slopes
        WaitFlag<HardEvent::MTE3_S>(written_);
        const int64_t other = pair.other * size_;
        const int64_t at = pair.slot * scoresSlot_;
        if (pair.keys) {
            AddProduct(SumsOf(pair, 0), slopesGm_[at], qGm_[other], pair);
            AddProduct(SumsOf(pair, 1), weightsGm_[at], gradOutGm_[other], pair);
            if constexpr (HEADS) {
                AddTurned(slopesGm_[at], pair);
            }
        } else {
            AddProduct(SumsOf(pair, 0), slopesGm_[at], kGm_[other], pair);
        }
    }

    // The first product of a tile is its sums; the cube core adds the others to them, in the order of the blocks.
    __aicore__ inline void AddProduct(const GlobalTensor<float> &to, const GlobalTensor<T> &weights,
                                      const GlobalTensor<T> &block, const Pair &pair)
    {
        product.SetTensorA(weights);
        product.SetTensorB(block);
        product.SetTail(pair.rows, size_, pair.columns);
        product.template IterateAll<false>(to, pair.first ? 0 : 1, false, true);
    }

    // The blocks of the first tile of keys are all queries once; those of other tiles are added to them.
    __aicore__ inline void AddTurned(const GlobalTensor<T> &slopes, const Pair &pair)
    {
        turned.SetTensorA(slopes, true);
        turned.SetTensorB(kGm_[pair.tile * size_]);
        turned.SetTail(pair.columns, size_, pair.rows);
        const int64_t pitch = AlignUp(size_, FRACTAL);
        turned.template IterateAll<false>(queriesGm_[pair.start * pitch], pair.row == 0 ? 0 : 1, false, true);
    }

    __aicore__ inline void WaitProducts(const Pair &pair)
    {
        product.WaitIterateAll();
        if (pair.keys) {
            product.WaitIterateAll();
        }
        if constexpr (HEADS) {
            turned.WaitIterateAll();
        }
    }

    __aicore__ inline void Collect(const Pair &pair)
    {
        if (pair.keys) {
            vector_.Collect(pair, gradKGm_, SumsOf(pair, 0), tiling_->scale);
            vector_.Collect(pair, gradVGm_, SumsOf(pair, 1), 1.0f);
        } else {
            vector_.Collect(pair, gradQGm_, SumsOf(pair, 0), tiling_->scale);
        }
    }

    __aicore__ inline GlobalTensor<float> SumsOf(const Pair &pair, int32_t which)
    {
        return sumsGm_[(2 * pair.sums + which) * sumsSlot_];
    }

    GlobalTensor<T> qGm_;
    GlobalTensor<T> kGm_;
    GlobalTensor<T> vGm_;
    GlobalTensor<T> gradOutGm_;
    GlobalTensor<T> gradQGm_;
    GlobalTensor<T> gradKGm_;
    GlobalTensor<T> gradVGm_;
    GlobalTensor<float> scoresGm_;  // in the workspace: two slots each
    GlobalTensor<float> gradsGm_;   // of the weights
    GlobalTensor<float> sumsGm_;    // two results of a tile
    GlobalTensor<float> queriesGm_;  // heads: grad_q of a segment
    GlobalTensor<T> weightsGm_;
    GlobalTensor<T> slopesGm_;
    Pairs pairs_;
    FlashAttentionBackwardVector<T> vector_;
    const FlashAttentionBackwardTilingData *tiling_ = nullptr;
    int64_t scoresSlot_ = 0;  // elements
    int64_t sumsSlot_ = 0;
    int32_t size_ = 0;
    event_t written_ = EVENT_ID0;
};

// The deltas of all queries, at the beginning of the workspace; no core goes on before all are there.
template <typename T>
__aicore__ inline void FindDeltas(GM_ADDR out, GM_ADDR gradOut, GM_ADDR gradLse, GM_ADDR workspace,
                                  const FlashAttentionBackwardTilingData &tiling)
{
    if ASCEND_IS_AIV {
        TPipe pipe;
        FlashAttentionBackwardDelta<T> deltas;
        deltas.Init(out, gradOut, gradLse, GetUserWorkspace(workspace), &tiling, &pipe);
        deltas.Process();
        PipeBarrier<PIPE_ALL>();
        SyncAll();
        pipe.Destroy();
    }
}

extern "C" __global__ __aicore__ void flash_attention_backward(GM_ADDR grad_out, GM_ADDR grad_lse, GM_ADDR q, GM_ADDR k,
                                                               GM_ADDR v, GM_ADDR out, GM_ADDR lse, GM_ADDR grad_q,
                                                               GM_ADDR grad_k, GM_ADDR grad_v, GM_ADDR workspace,
                                                               GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(FlashAttentionBackwardTilingData);
    GET_TILING_DATA(tilingData, tiling);
    using T = DTYPE_GRAD_OUT;
    if (TILING_KEY_IS(1)) {
        FindDeltas<T>(out, grad_out, grad_lse, workspace, tilingData);
        TPipe pipe;
        KernelFlashAttentionBackward<T, false> kernel;
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.scores, &tilingData.scores, kernel.product,
                          &tilingData.product);
        kernel.Init(grad_out, q, k, v, lse, grad_q, grad_k, grad_v, GetUserWorkspace(workspace), &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(3)) {
        FindDeltas<T>(out, grad_out, grad_lse, workspace, tilingData);
        TPipe pipe;
        KernelFlashAttentionBackward<T, true> kernel;
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.scores, &tilingData.scores, kernel.product,
                          &tilingData.product, kernel.turned, &tilingData.turned);
        kernel.Init(grad_out, q, k, v, lse, grad_q, grad_k, grad_v, GetUserWorkspace(workspace), &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(2)) {
        KERNEL_TASK_TYPE(2, KERNEL_TYPE_AIV_ONLY);
        constexpr int64_t halves = sizeof(T) / sizeof(uint16_t);
        WriteEqual<uint16_t>(grad_q, tilingData.queryElements * halves, 0);  // whatever a half means
        WriteEqual<uint16_t>(grad_k, tilingData.keyElements * halves, 0);
        WriteEqual<uint16_t>(grad_v, tilingData.keyElements * halves, 0);
    }
}
