// Tiling of embedding:
// y[i, :] = weight[indices[i], :].
// The tiles are whole rows of the result, several at a time, or parts of a row when rows are too long or too few for
// the cores.
#include "row_tiling.h"

#include "../op_kernel/embedding_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_ROWS = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr int64_t TILE_ALIGN = 128;    // elements
constexpr int64_t FIXED_BYTES = 1024;  // rounding of what is below

// Elements of a tile. Two tiles and the indices of two tiles are in UB; a row takes at least one block, and its index
// at most 8 bytes, a quarter of that.
int64_t TileRoom(int64_t ubBytes, int64_t itemSize)
{
    return (ubBytes - FIXED_BYTES) * 4 / 5 / (BUFFERS * itemSize) / TILE_ALIGN * TILE_ALIGN;
}
}  // namespace

ge::graphStatus EmbeddingTiling(gert::TilingContext *context)
{
    EmbeddingTilingData *tiling = context->GetTilingData<EmbeddingTilingData>();
    const gert::StorageShape *table = context->GetInputShape(0);
    const gert::StorageShape *indices = context->GetInputShape(1);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || table == nullptr || indices == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    Machine machine = {};
    const gert::Shape &shape = table->GetStorageShape();
    if (!GetMachine(context, machine) || shape.GetDimNum() != 2) {
        return ge::GRAPH_FAILED;
    }
    const int64_t itemSize = ItemSize(desc->GetDataType());
    const int64_t room = TileRoom(machine.ubBytes, itemSize);
    tiling->tiles.rows = indices->GetStorageShape().GetShapeSize();
    tiling->tiles.columns = shape.GetDim(1);
    tiling->tileElements = static_cast<int32_t>(room);
    const bool whole = TileElements(context, tiling->tiles, room, BLOCK_BYTES / itemSize, machine.cores);
    context->SetTilingKey(whole ? KEY_ROWS : KEY_SPLIT);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
