// Tiling of layer_norm_backward:
// g = grad_y * weight, h = (x - mean) * rstd, grad_x = (g - mean(g) - h * mean(g * h)) * rstd; sums over rows.
// Rows are split evenly over the vector cores. A tile holds as many whole rows as UB allows, or, if not even one, a
// chunk. The sums over rows go through the workspace, where every core has a row of its own.
#include "row_tiling.h"

#include "../op_kernel/layer_norm_backward_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_FULL_LOAD = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr int64_t TENSORS_IN = 2;  // that are read by rows
constexpr int64_t SUMS = 2;        // over rows: the gradients of the parameters
constexpr int64_t STATISTICS = 2;  // per row
constexpr int64_t ROW_BYTES = STATISTICS * BUFFERS * 4 + 4 + 2 * BLOCK_BYTES;  // queues, a value, and two over a block
constexpr int64_t FIXED_BYTES = 4096;  // what does not grow with the tile: accumulators, and rounding of the above
constexpr uint32_t ALL_AT_ONCE = 1;  // schedule mode: cores that wait for each other must all run

// Bytes of UB that one element takes: the queues and, for 16-bit types, the fp32 copies of what is read; grad_y *
// weight and products; folding (half a row).
int64_t BytesPerElement(int64_t itemSize)
{
    return TENSORS_IN * (BUFFERS * itemSize + (itemSize == 4 ? 0 : 4)) + BUFFERS * itemSize + 2 * 4 + 2;
}

// Of a column: the weight and the sums, which stay in UB; or, chunk by chunk, the queues of the weight and of the sums.
int64_t BytesPerColumn() { return 4 + SUMS * 4; }

int64_t BytesPerChunked(int64_t itemSize) { return BUFFERS * itemSize + (itemSize == 4 ? 0 : 4) + SUMS * BUFFERS * 4; }
}  // namespace

ge::graphStatus LayerNormBackwardTiling(gert::TilingContext *context)
{
    LayerNormBackwardTilingData *tiling = context->GetTilingData<LayerNormBackwardTilingData>();
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
    const int64_t cores = SplitOverCores(context, tiling->split, rows, machine.cores);

    const int64_t itemSize = ItemSize(desc->GetDataType());
    const int64_t pitch = PitchOf(columns, itemSize);
    const int64_t budget = machine.ubBytes - FIXED_BYTES;
    const int64_t fitting = (budget - pitch * BytesPerColumn()) / (pitch * BytesPerElement(itemSize) + ROW_BYTES);
    if (fitting >= 1) {
        const int64_t tileRows = std::min(std::min(fitting, MAX_TILE_ROWS), tiling->split.formerUnits);
        tiling->tileRows = static_cast<int32_t>(std::max<int64_t>(1, tileRows));
        tiling->pitch = static_cast<int32_t>(pitch);
        context->SetTilingKey(KEY_FULL_LOAD);
    } else {
        const int64_t perElement = BytesPerElement(itemSize) + BytesPerChunked(itemSize);
        tiling->chunk = static_cast<int32_t>(budget / perElement / LANES * LANES);
        context->SetTilingKey(KEY_SPLIT);
    }
    context->SetScheduleMode(ALL_AT_ONCE);
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    const int64_t parts = cores * SUMS * columns * 4;
    workspaces[0] = platform.GetLibApiWorkSpaceSize() + static_cast<size_t>(parts);
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
