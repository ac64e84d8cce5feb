// sort:
// values[i, :] = the row x[i, :] in ascending or descending order, x[i, indices[i, j]] = values[i, j].
// Scores are fp32, which holds every 16-bit value. Equal elements keep their order; NaN is greater than all others.
#include "kernel_operator.h"

#include "sort_merge.h"
#include "sort_records.h"
#include "sort_tiling.h"

using namespace AscendC;
using namespace sort_records;

// Rows that fit UB; tile after tile, the next one on its way while one is sorted.
template <typename T>
class KernelSort {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR values, GM_ADDR indices, const SortTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        sorter_.Init(x, tiling, pipe);
        results_.Init(values, indices, pipe, tiling->room);
    }

    __aicore__ inline void Process()
    {
        const RowTiles &tiles = tiling_->tiles;
        const Share share = ShareOfThisCore(tiles.split);
        const int32_t length = tiles.tileColumns;
        if (share.begin < share.end) {
            CopyIn(share.begin);
        }
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
            if (unit + 1 < share.end) {
                CopyIn(unit + 1);
            }
            const int64_t row = unit * tiles.tileRows;
            const int32_t rows = Least(tiles.rows - row, tiles.tileRows);
            sorter_.Sort(rows, length, 0);
            Integers indices;
            Floats values = results_.Begin(sorter_.Spare());
            sorter_.TakeApart(values, indices, rows, length);
            results_.End(values, indices, row * tiling_->results, rows, static_cast<int32_t>(tiling_->results),
                         tiling_->pitch);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t unit)
    {
        const RowTiles &tiles = tiling_->tiles;
        const int64_t row = unit * tiles.tileRows;
        sorter_.CopyIn(row * tiles.columns, Least(tiles.rows - row, tiles.tileRows), tiles.tileColumns);
    }

    Sorter<T> sorter_;
    Results<T> results_;
    const SortTilingData *tiling_ = nullptr;
};

extern "C" __global__ __aicore__ void sort(GM_ADDR x, GM_ADDR values, GM_ADDR indices, GM_ADDR workspace,
                                           GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // vector cores only, which can wait for each other
    REGISTER_TILING_DEFAULT(SortTilingData);
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    // Key 1 (rows) and key 2 (full_load) differ in the rows of a tile only.
    if (TILING_KEY_IS(1) || TILING_KEY_IS(2)) {
        KernelSort<DTYPE_X> kernel;
        kernel.Init(x, values, indices, &tilingData, &pipe);
        kernel.Process();
    } else if (TILING_KEY_IS(3)) {
        LongRows<DTYPE_X> kernel;
        kernel.Init(x, values, indices, GetUserWorkspace(workspace), &tilingData, &pipe);
        kernel.Process();
    }
}
