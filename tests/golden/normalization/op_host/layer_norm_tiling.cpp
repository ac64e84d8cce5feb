// Tiling of layer_norm:
// y[i, j] = (x[i, j] - mean[i]) * rstd[i] * weight[j] + bias[j], rstd[i] = 1 / sqrt(variance of row i + eps).
// Rows are split evenly over the vector cores. A tile holds as many whole rows as UB allows, or, if not even one, a
// chunk.
#include "row_tiling.h"

#include "../op_kernel/layer_norm_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_FULL_LOAD = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr uint64_t KEY_NOTHING = 3;
constexpr int64_t ROWS_IN = 1;     // tensors that are read by rows
constexpr int64_t ROWS_OUT = 1;    // and written
constexpr int64_t PARAMETERS = 2;  // rows that all rows share: weight and bias

constexpr int64_t STATISTICS = 2;  // per row
// Per row: the queues of the statistics, a value, and that value over a block.
constexpr int64_t ROW_BYTES = STATISTICS * BUFFERS * 4 + 4 + BLOCK_BYTES;
constexpr int64_t FIXED_BYTES = 2048;  // what does not grow with the tile: accumulators, and rounding of the above

// Bytes of UB that one element takes: the queues and, for 16-bit types, the fp32 copies of what is read; a scratch for
// squares (fp32 tensors use a buffer of a queue for them); folding (half a row).
int64_t BytesPerElement(int64_t itemSize)
{
    return ROWS_IN * (BUFFERS * itemSize + (itemSize == 4 ? 0 : 4)) + ROWS_OUT * BUFFERS * itemSize +
           (itemSize == 4 ? 0 : 4) + 2;
}

// Of a parameter that is read chunk by chunk; one that stays in UB takes 4.
int64_t BytesPerChunked(int64_t itemSize) { return BUFFERS * itemSize + (itemSize == 4 ? 0 : 4); }
}  // namespace

ge::graphStatus LayerNormTiling(gert::TilingContext *context)
{
    LayerNormTilingData *tiling = context->GetTilingData<LayerNormTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const float *eps = attrs->GetFloat(0);
    int64_t rows = 0;
    int64_t columns = 0;
    Machine machine = {};
    if (eps == nullptr || !GetRows(storage->GetStorageShape(), rows, columns) || !GetMachine(context, machine)) {
        return ge::GRAPH_FAILED;
    }
    tiling->columns = columns;
    tiling->eps = *eps;
    workspaces[0] = 0;
    if (columns == 0) {
        tiling->rows = CountRows(storage->GetStorageShape());
        SplitOverCores(context, tiling->split, tiling->rows, machine.cores);
        context->SetTilingKey(KEY_NOTHING);
        return ge::GRAPH_SUCCESS;
    }
    SplitOverCores(context, tiling->split, rows, machine.cores);

    const int64_t itemSize = ItemSize(desc->GetDataType());
    const int64_t pitch = PitchOf(columns, itemSize);
    const int64_t budget = machine.ubBytes - FIXED_BYTES;
    const int64_t perRow = pitch * BytesPerElement(itemSize) + ROW_BYTES;
    const int64_t fitting = (budget - PARAMETERS * pitch * 4) / perRow;
    if (fitting >= 1) {
        const int64_t tileRows = std::min(std::min(fitting, MAX_TILE_ROWS), tiling->split.formerUnits);
        tiling->tileRows = static_cast<int32_t>(std::max<int64_t>(1, tileRows));
        tiling->pitch = static_cast<int32_t>(pitch);
        context->SetTilingKey(KEY_FULL_LOAD);
    } else {
        const int64_t perElement = BytesPerElement(itemSize) + 4 + PARAMETERS * BytesPerChunked(itemSize);
        tiling->chunk = static_cast<int32_t>(budget / perElement / LANES * LANES);
        context->SetTilingKey(KEY_SPLIT);
    }
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
