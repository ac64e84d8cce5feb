// Tiling of gather:
// y[..., j] = x[..., indices[..., j]].
// A tile of y needs whole rows of x in UB; where they do not fit, they pass it part by part.
#include "row_tiling.h"

#include "../op_kernel/gather_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_ROWS = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr int64_t TILE_ALIGN = 128;    // elements
constexpr int64_t ELEMENT_BYTES = 49;  // three queues, offsets, numbers to compare, and what a part gives
constexpr int64_t FIXED_BYTES = 9216;  // rounding, and the end of UB, which Select uses for itself
}  // namespace

ge::graphStatus GatherTiling(gert::TilingContext *context)
{
    GatherTilingData *tiling = context->GetTilingData<GatherTilingData>();
    const gert::StorageShape *x = context->GetInputShape(0);
    const gert::StorageShape *indices = context->GetInputShape(1);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || x == nullptr || indices == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    Machine machine = {};
    int64_t rows = 0;
    int64_t length = 0;
    int64_t indexRows = 0;
    int64_t count = 0;
    if (!GetMachine(context, machine) || !GetRows(x->GetStorageShape(), rows, length) ||
        !GetRows(indices->GetStorageShape(), indexRows, count)) {
        return ge::GRAPH_FAILED;
    }
    const int64_t room = (machine.ubBytes - FIXED_BYTES) / ELEMENT_BYTES / TILE_ALIGN * TILE_ALIGN;
    RowTiles &tiles = tiling->tiles;
    tiling->tileElements = static_cast<int32_t>(room);
    tiles.rows = indexRows;
    tiles.columns = count;
    tiling->others = length;
    const bool whole = length <= room;
    const int64_t fitting = whole ? room / AlignUp(std::max<int64_t>(length, 1), TILE_ALIGN) : 1;
    TileElements(context, tiles, room, TILE_ALIGN, machine.cores, std::max<int64_t>(fitting, 1));
    context->SetTilingKey(whole ? KEY_ROWS : KEY_SPLIT);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
