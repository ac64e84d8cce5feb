// Tiling of cross_entropy:
// lse[i] = ln(sum_j e^x[i, j]), loss[i] = lse[i] - x[i, target[i]], 0 where target[i] is ignore_index.
// Rows are split evenly over the vector cores. A tile holds as many whole rows as UB allows, or, if not even one, a
// chunk.
#include "row_tiling.h"

#include "../op_kernel/cross_entropy_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_FULL_LOAD = 1;
constexpr uint64_t KEY_SPLIT = 2;
// Per row: the queues of target, loss and lse, the target as int32 and as fp32, what is picked, two values and one over
// a block, and where the row lies.
constexpr int64_t ROW_BYTES = BUFFERS * (8 + 4 + 4) + 4 + 4 + 4 + 2 * 4 + BLOCK_BYTES + 4;
constexpr int64_t FIXED_BYTES = 8192;  // what does not grow with the tile: whole repeats of rows, accumulators
constexpr int64_t RESERVED = 8192;  // bytes at the end of UB that Select uses for itself

// Bytes of UB that one element takes: the queue and its fp32 copy, exponentials, folding (half a row).
int64_t BytesPerElement(int64_t itemSize) { return BUFFERS * itemSize + (itemSize == 4 ? 0 : 4) + 4 + 2; }
}  // namespace

ge::graphStatus CrossEntropyTiling(gert::TilingContext *context)
{
    CrossEntropyTilingData *tiling = context->GetTilingData<CrossEntropyTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const int64_t *ignoreIndex = attrs->GetInt(0);
    int64_t rows = 0;
    int64_t columns = 0;
    Machine machine = {};
    if (ignoreIndex == nullptr || !GetRows(storage->GetStorageShape(), rows, columns) ||
        !GetMachine(context, machine) || (columns == 0 && storage->GetStorageShape().GetDim(0) != 0)) {
        return ge::GRAPH_FAILED;  // a row without classes has no loss
    }
    tiling->columns = columns;
    tiling->ignoreIndex = static_cast<int32_t>(*ignoreIndex);
    SplitOverCores(context, tiling->split, rows, machine.cores);

    const int64_t itemSize = ItemSize(desc->GetDataType());
    const int64_t pitch = PitchOf(std::max<int64_t>(columns, 1), itemSize);
    const int64_t budget = machine.ubBytes - FIXED_BYTES - RESERVED;
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
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
