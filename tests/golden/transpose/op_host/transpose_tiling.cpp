// Tiling of transpose:
// y[..., j, i] = x[..., i, j].
// Tiles are as square as the matrix allows, so that reading and writing both have long runs of neighbours.
#include "row_tiling.h"

#include "../op_kernel/transpose_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_TILES = 1;
constexpr uint64_t KEY_COPY = 2;
constexpr int64_t GROUP = 16;      // TransDataTo5HD turns 16 rows at a time
constexpr int64_t MAX_SIDE = 4080;  // blocks of one DataCopyPad
constexpr int64_t MIN_SIDE = 64;   // smaller tiles are not worth another core
constexpr int64_t TENSORS = 2;     // x and y

int64_t Tiles(int64_t rows, int64_t columns, int64_t tileRows, int64_t tileColumns)
{
    return CeilDiv(rows, tileRows) * CeilDiv(columns, tileColumns);
}

// Sides of a tile of up to `room` elements, multiples of 16; what a short side leaves free goes to the other one.
void ChooseTile(TransposeTilingData &tiling, int64_t matrices, int64_t room, int64_t cores)
{
    int64_t side = GROUP;
    while ((side + GROUP) * (side + GROUP) <= room) {
        side += GROUP;
    }
    const int64_t rows = AlignUp(tiling.rows, GROUP);
    const int64_t columns = AlignUp(tiling.columns, GROUP);
    int64_t tileColumns = std::min(columns, side);
    const int64_t tileRows = std::min(std::min(rows, MAX_SIDE), room / tileColumns / GROUP * GROUP);
    tileColumns = std::min(std::min(columns, MAX_SIDE), room / tileRows / GROUP * GROUP);
    int64_t height = tileRows;
    while (matrices * Tiles(tiling.rows, tiling.columns, height, tileColumns) < cores &&
           (height > MIN_SIDE || tileColumns > MIN_SIDE)) {
        int64_t &larger = height > tileColumns ? height : tileColumns;
        larger = AlignUp(larger / 2, GROUP);
    }
    tiling.tileRows = static_cast<int32_t>(height);
    tiling.tileColumns = static_cast<int32_t>(tileColumns);
}
}  // namespace

ge::graphStatus TransposeTiling(gert::TilingContext *context)
{
    TransposeTilingData *tiling = context->GetTilingData<TransposeTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    Machine machine = {};
    const gert::Shape &shape = storage->GetStorageShape();
    const size_t rank = shape.GetDimNum();
    if (!GetMachine(context, machine) || rank < 2) {
        return ge::GRAPH_FAILED;
    }
    const ge::DataType type = desc->GetDataType();
    const int64_t itemSize = type == ge::DT_FLOAT || type == ge::DT_INT32 ? 4 : 2;
    const int64_t room = machine.ubBytes / (TENSORS * BUFFERS * itemSize) / LANES * LANES;
    tiling->rows = shape.GetDim(rank - 2);
    tiling->columns = shape.GetDim(rank - 1);
    tiling->elements = shape.GetShapeSize();
    tiling->tileElements = static_cast<int32_t>(room);
    int64_t units = 0;
    if (tiling->rows == 1 || tiling->columns == 1) {
        const int64_t fair = AlignUp(CeilDiv(tiling->elements, machine.cores), 8 * LANES);
        tiling->tileColumns = static_cast<int32_t>(std::max<int64_t>(1, std::min(fair, room)));
        units = CeilDiv(tiling->elements, tiling->tileColumns);
        context->SetTilingKey(KEY_COPY);
    } else {
        if (tiling->elements > 0) {
            const int64_t matrices = tiling->elements / (tiling->rows * tiling->columns);
            ChooseTile(*tiling, matrices, room, machine.cores);
            units = matrices * Tiles(tiling->rows, tiling->columns, tiling->tileRows, tiling->tileColumns);
        }
        context->SetTilingKey(KEY_TILES);
    }
    SplitOverCores(context, tiling->split, units, machine.cores);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
