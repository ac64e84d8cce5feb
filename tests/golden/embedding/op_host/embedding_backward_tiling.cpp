// Tiling of embedding_backward:
// grad_weight[k, :] = sum of grad_y[i, :] over all i with indices[i] = k, in the order of i.
// The tiles are rows of the gradient, or parts of a row. Each is owned by one core, which goes through all indices and
// adds up, in their order, what belongs to the tile: no atomics, and the same bits for any number of cores.
#include "row_tiling.h"

#include "../op_kernel/embedding_backward_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_ROWS = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr int64_t TILE_ALIGN = 128;             // elements
constexpr int64_t CHUNK = 1024;                 // indices that are looked at together
constexpr int64_t CHUNK_BYTES = BUFFERS * 8 + 5 * 4 + 1;  // of UB for each of them
constexpr int64_t FIXED_BYTES = CHUNK * CHUNK_BYTES + 1024;
constexpr int64_t ELEMENT_BYTES = 16;  // both queues, and fp32 copies of both tiles where the elements have 16 bits
}  // namespace

ge::graphStatus EmbeddingBackwardTiling(gert::TilingContext *context)
{
    EmbeddingBackwardTilingData *tiling = context->GetTilingData<EmbeddingBackwardTilingData>();
    const gert::StorageShape *indices = context->GetInputShape(1);
    const gert::StorageShape *table = context->GetInputShape(2);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || table == nullptr || indices == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    Machine machine = {};
    const gert::Shape &shape = table->GetStorageShape();
    if (!GetMachine(context, machine) || shape.GetDimNum() != 2 || shape.GetDim(0) > INT32_MAX) {
        return ge::GRAPH_FAILED;  // rows are compared as int32
    }
    const int64_t itemSize = ItemSize(desc->GetDataType());
    const int64_t room = (machine.ubBytes - FIXED_BYTES) / ELEMENT_BYTES / TILE_ALIGN * TILE_ALIGN;
    tiling->tiles.rows = shape.GetDim(0);
    tiling->tiles.columns = shape.GetDim(1);
    tiling->indices = indices->GetStorageShape().GetShapeSize();
    tiling->tileElements = static_cast<int32_t>(room);
    const bool whole = TileElements(context, tiling->tiles, room, BLOCK_BYTES / itemSize, machine.cores);
    context->SetTilingKey(whole ? KEY_ROWS : KEY_SPLIT);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
