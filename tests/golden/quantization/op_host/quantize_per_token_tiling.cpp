// Tiling of quantize_per_token:
// scale[i] = max_j |x[i, j]| / 127, y[i, j] = round(x[i, j] / scale[i]), ties to even; a row of zeros has scale 0.
// Rows are split evenly over the vector cores. A tile holds as many whole rows as UB allows, or, if not even one, a
// chunk.
#include "row_tiling.h"

#include "../op_kernel/quantize_per_token_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_FULL_LOAD = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr uint64_t KEY_NOTHING = 3;
constexpr int64_t ROW_BYTES = BUFFERS * 4 + BLOCK_BYTES;  // per row: the queue of its scale, and it over a block
constexpr int64_t FIXED_BYTES = 2048;  // what does not grow with the tile

// Bytes of UB that one element takes: the queues, fp32 copies of x and |x|, the way to int8, and folding (half a row).
int64_t BytesPerElement(int64_t itemSize) { return BUFFERS * (itemSize + 1) + (itemSize == 4 ? 0 : 4) + 4 + 2 + 2; }
}  // namespace

ge::graphStatus QuantizePerTokenTiling(gert::TilingContext *context)
{
    QuantizePerTokenTilingData *tiling = context->GetTilingData<QuantizePerTokenTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    int64_t rows = 0;
    int64_t columns = 0;
    Machine machine = {};
    if (!GetRows(storage->GetStorageShape(), rows, columns) || !GetMachine(context, machine)) {
        return ge::GRAPH_FAILED;
    }
    tiling->columns = columns;
    workspaces[0] = 0;
    if (columns == 0) {
        tiling->rows = CountRows(storage->GetStorageShape());
        SplitOverCores(context, tiling->split, tiling->rows, machine.cores);
        context->SetTilingKey(KEY_NOTHING);
        return ge::GRAPH_SUCCESS;
    }
    SplitOverCores(context, tiling->split, rows, machine.cores);

    const int64_t itemSize = ItemSize(desc->GetDataType());
    const int64_t pitch = AlignUp(columns, columns <= LANES ? BLOCK_BYTES : LANES);  // blocks of int8, or repeats
    const int64_t budget = machine.ubBytes - FIXED_BYTES;
    const int64_t fitting = budget / (pitch * BytesPerElement(itemSize) + ROW_BYTES);
    if (fitting >= 1) {
        const int64_t tileRows = std::min(std::min(fitting, MAX_TILE_ROWS), tiling->split.formerUnits);
        tiling->tileRows = static_cast<int32_t>(std::max<int64_t>(1, tileRows));
        tiling->pitch = static_cast<int32_t>(pitch);
        context->SetTilingKey(KEY_FULL_LOAD);
    } else {
        tiling->chunk = static_cast<int32_t>(budget / BytesPerElement(itemSize) / LANES * LANES);
        context->SetTilingKey(KEY_SPLIT);
    }
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
