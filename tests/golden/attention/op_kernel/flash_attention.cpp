// flash_attention:
// out = softmax(scale * q k^T) v, lse = log sum exp(scale * q k^T); causal: query i sees keys 0 to i.
// The cube core multiplies for its vector cores: queries and keys to scores, weights and values to products, both as
// fp32 in the workspace. While a vector core turns scores into weights, or adds up products, the cube core has the next
// ones in hand: two buffers of each. Parts of the keys on several cores (split) are merged after SyncAll.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

#include "flash_attention_blocks.h"
#include "flash_attention_tiling.h"
#include "flash_attention_vector.h"
#include "write_equal.h"

using namespace AscendC;
using namespace row_ops;

template <typename T>
class KernelFlashAttention {
public:
    using Rows = MatmulType<TPosition::GM, CubeFormat::ND, T>;
    using Turned = MatmulType<TPosition::GM, CubeFormat::ND, T, true>;  // a key is a column of the product
    using Sums = MatmulType<TPosition::GM, CubeFormat::ND, float>;

    __aicore__ inline void Init(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR out, GM_ADDR lse, GM_ADDR workspace,
                                const FlashAttentionTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        size_ = tiling->size;
        worker_ = GetSubBlockIdx() * GetBlockNum() + GetBlockIdx() / GetTaskRation();
        const int64_t pitch = AlignUp(size_, FRACTAL);
        scoresSlot_ = static_cast<int64_t>(tiling->tileRows) * tiling->blockKeys;
        productSlot_ = tiling->tileRows * pitch;
        __gm__ uint8_t *user = GetUserWorkspace(workspace);
        const int64_t slots = BUFFERS * tiling->workers;
        __gm__ float *products = reinterpret_cast<__gm__ float *>(user) + slots * scoresSlot_;
        __gm__ T *weights = reinterpret_cast<__gm__ T *>(products + slots * productSlot_);
        scoresGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(user) + BUFFERS * worker_ * scoresSlot_);
        productsGm_.SetGlobalBuffer(products + BUFFERS * worker_ * productSlot_);
        weightsGm_.SetGlobalBuffer(weights + BUFFERS * worker_ * scoresSlot_);
        qGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(q));
        kGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(k));
        vGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(v));
        blocks_.Init(tiling, worker_);
        __gm__ T *rest = weights + slots * scoresSlot_;  // whole rows of 64 weights: aligned for floats
        vector_.Init(out, lse, reinterpret_cast<__gm__ float *>(rest), tiling, pipe);
        scores.SetOrgShape(tiling->tileRows, tiling->blockKeys, size_, size_, tiling->blockKeys);
        product.SetOrgShape(tiling->tileRows, size_, tiling->blockKeys, tiling->blockKeys, pitch);
        written_ = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE3_S));
    }

    __aicore__ inline void Process()
    {
        KeyBlock done = {};
        KeyBlock block = {};
        KeyBlock next = {};
        bool collect = false;
        bool more = blocks_.Next(next);
        if (more) {
            StartScores(next);
        }
        while (more || collect) {
            const bool soften = more;
            block = next;
            if (soften) {
                scores.WaitIterateAll();
                more = blocks_.Next(next);
                if (more) {
                    StartScores(next);
                }
                vector_.Soften(block, scoresGm_[block.slot * scoresSlot_], weightsGm_[block.slot * scoresSlot_]);
            }
            if (collect) {
                product.WaitIterateAll();
            }
            if (soften) {
                StartProduct(block);
            }
            if (collect) {
                vector_.Collect(done, productsGm_[done.slot * productSlot_]);
            }
            done = block;
            collect = soften;
        }
        if (tiling_->parts > 1) {
            SyncAll();
            MergeParts();
        }
        scores.End();
        product.End();
    }

    Matmul<Rows, Turned, Sums> scores;  // REGIST_MATMUL_OBJ connects both to the cube core
    Matmul<Rows, Rows, Sums> product;

private:
    static constexpr int32_t FRACTAL = 16;

    // The vector cores share out the tiles in strips of 8 rows.
    __aicore__ inline void MergeParts()
    {
        const int64_t strips = tiling_->tileRows / BLOCK;
        const int64_t cores = GetBlockNum() * GetTaskRation();  // those without a part too
        KeyBlock tile = {};
        for (int64_t i = worker_; i < tiling_->segments * tiling_->tiles * strips; i += cores) {
            blocks_.SetTile(tile, i / strips);
            tile.unit = i / strips * tiling_->parts;
            const int32_t row = static_cast<int32_t>(i % strips) * BLOCK;
            if (row < tile.rows) {
                vector_.Merge(tile, row);
            }
        }
    }

    __aicore__ inline void StartScores(const KeyBlock &block)
    {
        scores.SetTensorA(qGm_[block.query * size_]);
        scores.SetTensorB(kGm_[(block.head * tiling_->keys + block.key) * size_], true);
        scores.SetTail(block.rows, block.keys, size_);
        scores.template IterateAll<false>(scoresGm_[block.slot * scoresSlot_], 0, false, true);
    }

    __aicore__ inline void StartProduct(const KeyBlock &block)
    {
        SetFlag<HardEvent::MTE3_S>(written_);  // the cube core reads the weights
        WaitFlag<HardEvent::MTE3_S>(written_);
        product.SetTensorA(weightsGm_[block.slot * scoresSlot_]);
        product.SetTensorB(vGm_[(block.head * tiling_->keys + block.key) * size_]);
        product.SetTail(block.rows, size_, block.keys);
        product.template IterateAll<false>(productsGm_[block.slot * productSlot_], 0, false, true);
    }

    GlobalTensor<T> qGm_;
    GlobalTensor<T> kGm_;
    GlobalTensor<T> vGm_;
    GlobalTensor<float> scoresGm_;  // in the workspace: two slots each
    GlobalTensor<T> weightsGm_;
    GlobalTensor<float> productsGm_;
    KeyBlocks blocks_;
    FlashAttentionVector<T> vector_;
    const FlashAttentionTilingData *tiling_ = nullptr;
    int64_t worker_ = 0;
    int64_t scoresSlot_ = 0;  // elements
    int64_t productSlot_ = 0;
    int32_t size_ = 0;
    event_t written_ = EVENT_ID0;
};

extern "C" __global__ __aicore__ void flash_attention(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR out, GM_ADDR lse,
                                                      GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    REGISTER_TILING_DEFAULT(FlashAttentionTilingData);
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    if (TILING_KEY_IS(1) || TILING_KEY_IS(2) || TILING_KEY_IS(3)) {
        if (tilingData.sums == 0) {
            return;
        }
        KernelFlashAttention<DTYPE_Q> kernel;
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.scores, &tilingData.scores, kernel.product,
                          &tilingData.product);
        kernel.Init(q, k, v, out, lse, workspace, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(4)) {
        KERNEL_TASK_TYPE(4, KERNEL_TYPE_AIV_ONLY);
        const int64_t halves = tilingData.outputs * sizeof(DTYPE_OUT) / sizeof(uint16_t);
        WriteEqual<uint16_t>(out, halves, 0);  // whatever a half means
        WriteEqual<float>(lse, tilingData.sums, -INFINITE);
    }
}
