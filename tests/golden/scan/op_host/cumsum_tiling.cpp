// Tiling of cumsum:
// y[..., j, ...] = sum of x[..., i, ...] over i <= j, along one dim.
// A scan is a chain of additions, so 64 of them run side by side, one in each vector lane: 64 rows, 64 parts of one
// row, or columns.
#include "row_tiling.h"

#include "../op_kernel/cumsum_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_ROWS = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr uint64_t KEY_COLUMNS = 3;
constexpr int64_t ELEMENT_BYTES = 20;     // both queues, the transposed tile, and in 16 bits an fp32 copy
constexpr int64_t FIXED_BYTES = 12288;    // the sums so far of a tile of columns, and the scan over the lanes
constexpr int64_t PART_ALIGN = 16;        // TransDataTo5HD turns 16 rows at a time
constexpr int64_t MAX_PART = 240;         // repeats of one instruction
constexpr int64_t MAX_TILE_COLUMNS = 2048;

// Which dims come before and after the one that is summed; false if it does not exist.
bool GetDims(gert::TilingContext *context, const gert::Shape &shape, CumsumTilingData &tiling)
{
    const int64_t *attr = context->GetAttrs() == nullptr ? nullptr : context->GetAttrs()->GetInt(0);
    const int64_t rank = static_cast<int64_t>(shape.GetDimNum());
    const int64_t span = std::max<int64_t>(rank, 1);
    const int64_t given = attr == nullptr ? -1 : *attr;
    const int64_t dim = given < 0 ? given + span : given;
    if (dim < 0 || dim >= span) {
        return false;
    }
    tiling.outer = 1;
    tiling.length = 1;
    tiling.inner = 1;
    for (int64_t i = 0; i < rank; ++i) {
        int64_t &part = i < dim ? tiling.outer : (i == dim ? tiling.length : tiling.inner);
        part *= shape.GetDim(static_cast<size_t>(i));
    }
    return true;
}
}  // namespace

ge::graphStatus CumsumTiling(gert::TilingContext *context)
{
    CumsumTilingData *tiling = context->GetTilingData<CumsumTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    Machine machine = {};
    const gert::Shape &shape = storage->GetStorageShape();
    if (!GetMachine(context, machine) || !GetDims(context, shape, *tiling)) {
        return ge::GRAPH_FAILED;
    }
    const int64_t laneBlock = LANES * PART_ALIGN;
    const int64_t room = (machine.ubBytes - FIXED_BYTES) / ELEMENT_BYTES / laneBlock * laneBlock;
    const int64_t longest = std::min(room / LANES, MAX_PART);
    const bool empty = tiling->outer * tiling->length * tiling->inner == 0;
    tiling->tileElements = static_cast<int32_t>(room);
    int64_t units = tiling->outer;
    if (tiling->inner != 1) {
        const int64_t tilesForAll = CeilDiv(machine.cores, std::max<int64_t>(tiling->outer, 1));
        const int64_t fair = AlignUp(CeilDiv(tiling->inner, tilesForAll), LANES);
        tiling->tileColumns = static_cast<int32_t>(std::max(LANES, std::min(fair, MAX_TILE_COLUMNS)));
        units *= CeilDiv(tiling->inner, tiling->tileColumns);
        context->SetTilingKey(KEY_COLUMNS);
    } else if (tiling->length <= longest) {
        tiling->part = static_cast<int32_t>(AlignUp(tiling->length, PART_ALIGN));
        units = CeilDiv(tiling->outer, LANES);
        context->SetTilingKey(KEY_ROWS);
    } else {
        const int64_t even = AlignUp(CeilDiv(tiling->length, LANES), PART_ALIGN);
        tiling->part = static_cast<int32_t>(std::min(even, longest));
        context->SetTilingKey(KEY_SPLIT);
    }
    SplitOverCores(context, tiling->split, empty ? 0 : units, machine.cores);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
