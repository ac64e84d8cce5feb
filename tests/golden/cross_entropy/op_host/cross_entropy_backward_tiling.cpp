// Tiling of cross_entropy_backward:
// grad_x[i, j] = (e^(x[i, j] - lse[i]) - (j == target[i])) * grad_loss[i], 0 where target[i] is ignore_index.
// No element needs another one of its row: the tiles are whole rows, several at a time, or parts of a row when rows are
// too long or too few for the cores.
#include "row_tiling.h"

#include "../op_kernel/cross_entropy_backward_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_ROWS = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr int64_t ROW_BYTES = 2 * (BUFFERS * 4 + BLOCK_BYTES);  // per row: lse and grad_loss, queues and over a block
constexpr int64_t TILE_ALIGN = 128;  // elements: whole vector repeats of 256 bytes for 16- and 32-bit types
constexpr int64_t FIXED_BYTES = 2048;  // rounding of buffers

// Bytes of UB that one element of a tile takes: both queues, and the fp32 copy of 16-bit types.
int64_t BytesPerElement(int64_t itemSize) { return 2 * BUFFERS * itemSize + (itemSize == 4 ? 0 : 4); }
}  // namespace

ge::graphStatus CrossEntropyBackwardTiling(gert::TilingContext *context)
{
    CrossEntropyBackwardTilingData *tiling = context->GetTilingData<CrossEntropyBackwardTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(1);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(1);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const int64_t *ignoreIndex = attrs->GetInt(0);
    Machine machine = {};
    if (ignoreIndex == nullptr || !GetRows(storage->GetStorageShape(), tiling->tiles.rows, tiling->tiles.columns) ||
        !GetMachine(context, machine)) {
        return ge::GRAPH_FAILED;
    }
    tiling->ignoreIndex = static_cast<int32_t>(*ignoreIndex);
    const int64_t itemSize = ItemSize(desc->GetDataType());
    const int64_t align = BLOCK_BYTES / itemSize;  // a row of one block has the most bytes per element
    const int64_t perElement = BytesPerElement(itemSize) + CeilDiv(ROW_BYTES, align);
    const int64_t fitting = (machine.ubBytes - FIXED_BYTES) / perElement / TILE_ALIGN * TILE_ALIGN;
    tiling->tileElements = static_cast<int32_t>(fitting);
    const bool whole = TileElements(context, tiling->tiles, fitting, align, machine.cores, MAX_TILE_ROWS);
    context->SetTilingKey(whole ? KEY_ROWS : KEY_SPLIT);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
