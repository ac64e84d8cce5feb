// embedding:
// y[i, :] = weight[indices[i], :].
// Rows go from the table to UB one by one and from there to the result together; nothing is computed. An index outside
// the table reads memory that is not the table's.
#include "kernel_operator.h"

#include "row_io.h"
#include "embedding_tiling.h"

using namespace AscendC;
using namespace row_ops;

template <typename T, typename Index>
class KernelEmbedding {
public:
    __aicore__ inline void Init(GM_ADDR weight, GM_ADDR indices, GM_ADDR y, const EmbeddingTilingData *tiling,
                                TPipe *pipe)
    {
        tiles_ = &tiling->tiles;
        share_ = ShareOfThisCore(tiles_->split);
        weightGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(weight));
        indexGm_.SetGlobalBuffer(reinterpret_cast<__gm__ Index *>(indices));
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(y));
        pipe->InitBuffer(rows_, BUFFERS, tiling->tileElements * sizeof(T));
        indexRoom_ = AlignUp(tiles_->tileRows, BLOCK_BYTES / sizeof(Index));
        pipe->InitBuffer(indices_, BUFFERS * indexRoom_ * sizeof(Index));
        for (int32_t slot = 0; slot < BUFFERS; ++slot) {
            loaded_[slot] = pipe->AllocEventID<HardEvent::MTE2_S>();
            read_[slot] = pipe->AllocEventID<HardEvent::S_MTE2>();
        }
        pipe_ = pipe;
    }

    // The indices of a tile are on their way while the rows of the tile before it are copied.
    __aicore__ inline void Process()
    {
        if (share_.begin < share_.end) {
            LoadIndices(share_.begin);
        }
        for (int64_t unit = share_.begin; unit < share_.end; ++unit) {
            if (unit + 1 < share_.end) {
                LoadIndices(unit + 1);
            }
            const Tile tile = TileOf(*tiles_, unit, BLOCK_BYTES / sizeof(T));
            CopyIn(unit, tile);
            LocalTensor<T> rows = rows_.template DeQue<T>();
            CopyRowsOut(yGm_[tile.row * tiles_->columns + tile.column], rows, tile.rows, tile.width, tile.pitch,
                        tiles_->columns - tile.width);
            rows_.FreeTensor(rows);
        }
        for (int32_t slot = 0; slot < BUFFERS; ++slot) {
            pipe_->ReleaseEventID<HardEvent::MTE2_S>(loaded_[slot]);
            pipe_->ReleaseEventID<HardEvent::S_MTE2>(read_[slot]);
        }
    }

private:
    __aicore__ inline LocalTensor<Index> IndicesOf(int64_t unit)
    {
        return indices_.template Get<Index>()[unit % BUFFERS * indexRoom_];
    }

    __aicore__ inline void LoadIndices(int64_t unit)
    {
        const Tile tile = TileOf(*tiles_, unit, BLOCK_BYTES / sizeof(T));
        if (unit - share_.begin >= BUFFERS) {
            WaitFlag<HardEvent::S_MTE2>(read_[unit % BUFFERS]);
        }
        CopyRowsIn(IndicesOf(unit), indexGm_[tile.row], 1, tile.rows, indexRoom_);
        SetFlag<HardEvent::MTE2_S>(loaded_[unit % BUFFERS]);
    }

    __aicore__ inline void CopyIn(int64_t unit, const Tile &tile)
    {
        LocalTensor<T> rows = rows_.template AllocTensor<T>();
        LocalTensor<Index> indices = IndicesOf(unit);
        WaitFlag<HardEvent::MTE2_S>(loaded_[unit % BUFFERS]);
        for (int32_t row = 0; row < tile.rows; ++row) {
            const int64_t from = static_cast<int64_t>(indices.GetValue(row)) * tiles_->columns + tile.column;
            CopyRowsIn(rows[row * tile.pitch], weightGm_[from], 1, tile.width, tile.pitch);
        }
        if (unit + BUFFERS < share_.end) {
            SetFlag<HardEvent::S_MTE2>(read_[unit % BUFFERS]);
        }
        rows_.EnQue(rows);
    }

    GlobalTensor<T> weightGm_;
    GlobalTensor<Index> indexGm_;
    GlobalTensor<T> yGm_;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, BUFFERS> rows_;
    TBuf<TPosition::VECCALC> indices_;
    TEventID loaded_[BUFFERS];  // the indices of a slot are in UB
    TEventID read_[BUFFERS];    // and have been used
    TPipe *pipe_ = nullptr;
    const RowTiles *tiles_ = nullptr;
    Share share_ = {};
    int32_t indexRoom_ = 0;
};

extern "C" __global__ __aicore__ void embedding(GM_ADDR weight, GM_ADDR indices, GM_ADDR y, GM_ADDR workspace,
                                                GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    REGISTER_TILING_DEFAULT(EmbeddingTilingData);
    GET_TILING_DATA(tilingData, tiling);
    // Key 1 (rows) and key 2 (split) differ in the tiles only.
    if (TILING_KEY_IS(1) || TILING_KEY_IS(2)) {
        TPipe pipe;
        KernelEmbedding<DTYPE_WEIGHT, DTYPE_INDICES> kernel;
        kernel.Init(weight, indices, y, &tilingData, &pipe);
        kernel.Process();
    }
}
