// Tiling of permute:
// y[i_0, i_1, ...] = x[j_0, j_1, ...] with j[dims[k]] = i[k].
// What is read together has to be neighbours in x, and what is written together neighbours in y.
#include "row_tiling.h"

#include "permute_axes.h"

namespace optiling {
namespace {
using namespace row_tiling;
using namespace permute_axes;

constexpr uint64_t KEY_COPY = 1;
constexpr uint64_t KEY_TILES = 2;
constexpr uint64_t KEY_GATHER = 3;
constexpr int64_t GROUP = 16;          // TransDataTo5HD turns 16 rows at a time
constexpr int64_t MAX_SIDE = 4080;     // blocks of one DataCopyPad
constexpr int64_t MIN_SIDE = 64;       // smaller tiles are not worth another core
constexpr int64_t TILE_ALIGN = 128;    // elements
constexpr int64_t TABLE_BYTES = 16;    // gather: for each element of a tile, where it comes from, and how that is found

// The first `count` dims.
Axes Head(const Axes &axes, int32_t count)
{
    Axes head = axes;
    head.rank = count;
    return head;
}

// The last dim stays the last one: rows of it.
void PlanCopy(gert::TilingContext *context, PermuteTilingData &tiling, const Axes &axes, const Machine &machine,
              int64_t itemSize, int64_t elements)
{
    const int64_t room = machine.ubBytes / (BUFFERS * itemSize) / TILE_ALIGN * TILE_ALIGN;
    tiling.outer = Head(axes, axes.rank - 1);
    tiling.rows.columns = axes.size[axes.rank - 1];
    tiling.rows.rows = elements == 0 ? 0 : elements / tiling.rows.columns;
    tiling.tileElements = static_cast<int32_t>(room);
    TileElements(context, tiling.rows, room, BLOCK_BYTES / itemSize, machine.cores);
    context->SetTilingKey(KEY_COPY);
}

// The last `count` dims are a row, in which elements change places.
void PlanGather(gert::TilingContext *context, PermuteTilingData &tiling, const Axes &axes, const Machine &machine,
                int64_t room, int32_t count)
{
    int64_t rows = 1;
    for (int32_t i = 0; i < axes.rank - count; ++i) {
        rows *= axes.size[i];
    }
    tiling.outer = Head(axes, axes.rank - count);
    tiling.inner.rank = 0;
    int64_t columns = 1;
    for (int32_t i = axes.rank - count; i < axes.rank; ++i) {
        Append(tiling.inner, axes.size[i], axes.from[i], axes.to[i]);
        columns *= axes.size[i];
    }
    tiling.rows.rows = rows;
    tiling.rows.columns = columns;
    tiling.rows.tileColumns = static_cast<int32_t>(columns);
    const int64_t fitting = std::min<int64_t>(room / AlignUp(columns, BLOCK_BYTES / 2), 4095);
    tiling.rows.tileRows = static_cast<int32_t>(std::max<int64_t>(1, std::min(fitting, CeilDiv(rows, machine.cores))));
    tiling.tileElements = static_cast<int32_t>(room);
    SplitOverCores(context, tiling.rows.split, CeilDiv(rows, tiling.rows.tileRows), machine.cores);
    context->SetTilingKey(KEY_GATHER);
}

int64_t Tiles(const PermuteTilingData &tiling)
{
    return CeilDiv(tiling.inner.size[0], tiling.tileRows) * CeilDiv(tiling.inner.size[1], tiling.tileColumns);
}

// Sides of a tile of up to `room` elements, multiples of 16; what a short side leaves free goes to the other one.
void ChooseTile(PermuteTilingData &tiling, int64_t planes, int64_t room, int64_t cores)
{
    int64_t side = GROUP;
    while ((side + GROUP) * (side + GROUP) <= room) {
        side += GROUP;
    }
    const int64_t rows = AlignUp(tiling.inner.size[0], GROUP);
    const int64_t columns = AlignUp(tiling.inner.size[1], GROUP);
    const int64_t wide = std::min(columns, side);
    const int64_t tall = std::min(std::min(rows, MAX_SIDE), room / wide / GROUP * GROUP);
    tiling.tileRows = static_cast<int32_t>(tall);
    tiling.tileColumns = static_cast<int32_t>(std::min(std::min(columns, MAX_SIDE), room / tall / GROUP * GROUP));
    while (planes * Tiles(tiling) < cores && (tiling.tileRows > MIN_SIDE || tiling.tileColumns > MIN_SIDE)) {
        int32_t &larger = tiling.tileRows > tiling.tileColumns ? tiling.tileRows : tiling.tileColumns;
        larger = static_cast<int32_t>(AlignUp(larger / 2, GROUP));
    }
}

// Planes of the last dim of the result and that of x, which is at place `at`.
void PlanTiles(gert::TilingContext *context, PermuteTilingData &tiling, const Axes &axes, const Machine &machine,
               int64_t itemSize, int32_t at)
{
    constexpr int64_t TENSORS = 2;  // x and y
    const int32_t last = axes.rank - 1;
    tiling.inner.rank = 0;
    Append(tiling.inner, axes.size[last], axes.from[last], axes.to[last]);
    Append(tiling.inner, axes.size[at], axes.from[at], axes.to[at]);
    tiling.outer.rank = 0;
    int64_t planes = 1;
    for (int32_t i = 0; i < last; ++i) {
        if (i != at) {
            Append(tiling.outer, axes.size[i], axes.from[i], axes.to[i]);
            planes *= axes.size[i];
        }
    }
    const int64_t room = machine.ubBytes / (TENSORS * BUFFERS * itemSize) / TILE_ALIGN * TILE_ALIGN;
    tiling.tileElements = static_cast<int32_t>(room);
    ChooseTile(tiling, planes, room, machine.cores);
    SplitOverCores(context, tiling.split, planes * Tiles(tiling), machine.cores);
    context->SetTilingKey(KEY_TILES);
}
}  // namespace

ge::graphStatus PermuteTiling(gert::TilingContext *context)
{
    PermuteTilingData *tiling = context->GetTilingData<PermuteTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    Machine machine = {};
    Axes axes = {};
    const gert::TypedContinuousVector<int64_t> *dims = attrs->GetListInt(0);
    const gert::Shape &shape = storage->GetStorageShape();
    if (dims == nullptr || !GetMachine(context, machine) || !Merge(shape, *dims, axes)) {
        return ge::GRAPH_FAILED;
    }
    const ge::DataType type = desc->GetDataType();
    const int64_t itemSize = type == ge::DT_FLOAT || type == ge::DT_INT32 ? 4 : 2;
    const int64_t elements = shape.GetShapeSize();
    const int32_t last = axes.rank - 1;
    int32_t at = last;  // the last dim of x
    while (at > 0 && axes.from[at] != 1) {
        --at;
    }
    workspaces[0] = 0;
    if (at == last || elements == 0) {
        PlanCopy(context, *tiling, axes, machine, itemSize, elements);
        return ge::GRAPH_SUCCESS;
    }
    const int32_t count = ClosedBlock(axes);
    const int64_t block = axes.size[axes.rank - count] * axes.to[axes.rank - count];
    const int64_t room = machine.ubBytes / (2 * BUFFERS * itemSize + TABLE_BYTES) / TILE_ALIGN * TILE_ALIGN;
    if (std::min(axes.size[last], axes.size[at]) < GROUP && AlignUp(block, GROUP) <= room) {
        PlanGather(context, *tiling, axes, machine, room, count);
    } else {
        PlanTiles(context, *tiling, axes, machine, itemSize, at);
    }
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
