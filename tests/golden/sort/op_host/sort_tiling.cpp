// Tiling of sort:
// values[i, :] = the row x[i, :] in ascending or descending order, x[i, indices[i, j]] = values[i, j].
// Sort32 sorts runs of 32 records, and MrgSort merges four runs into one: in UB as long as a row fits, then through
// the workspace.
#include "row_tiling.h"

#include "../op_kernel/sort_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_ROWS = 1;
constexpr uint64_t KEY_FULL_LOAD = 2;
constexpr uint64_t KEY_MERGE = 3;
constexpr int64_t SORTED = 32;          // elements that Sort32 sorts
constexpr int64_t WAYS = 4;             // runs that MrgSort merges
constexpr int64_t LONGEST_SHORT = 512;  // of the rows that share a tile
constexpr int64_t ELEMENT_BYTES = 65;   // queues, two records, score, index, place, and a bit
constexpr int64_t FIXED_BYTES = 9216;   // rounding, and the end of UB, which Select uses for itself
constexpr int64_t MAX_RUN = 2048;       // three levels of merging
constexpr int64_t CHUNK_BYTES = 330;    // merge: four queues, the merged records and what is made of them
constexpr int64_t MAX_CHUNK = 1024;
constexpr int64_t RECORD_BYTES = 8;
constexpr uint32_t ALL_AT_ONCE = 1;     // schedule mode: all cores run together, so they can wait for each other

// Short rows are padded to 32, 128 or 512, so that runs of all rows of a tile are merged by the same instructions.
int64_t PitchOfShort(int64_t columns)
{
    int64_t pitch = SORTED;
    while (pitch < columns) {
        pitch *= WAYS;
    }
    return pitch;
}

void PlanTiles(gert::TilingContext *context, SortTilingData &tiling, int64_t cores)
{
    const int64_t fitting = tiling.room / tiling.pitch;
    const int64_t fair = CeilDiv(tiling.tiles.rows, cores);
    const bool shared = tiling.tiles.columns <= LONGEST_SHORT;
    tiling.tiles.tileRows = static_cast<int32_t>(shared ? std::max<int64_t>(1, std::min(fitting, fair)) : 1);
    tiling.tiles.tileColumns = static_cast<int32_t>(tiling.tiles.columns);
    SplitOverCores(context, tiling.tiles.split, CeilDiv(tiling.tiles.rows, tiling.tiles.tileRows), cores);
    context->SetTilingKey(shared ? KEY_ROWS : KEY_FULL_LOAD);
}

// Bytes of the workspace.
int64_t PlanMerge(gert::TilingContext *context, SortTilingData &tiling, const Machine &machine)
{
    tiling.run = static_cast<int32_t>(std::min<int64_t>(tiling.room, MAX_RUN));
    tiling.pitch = tiling.run;
    tiling.room = tiling.run;
    tiling.runs = CeilDiv(tiling.tiles.columns, tiling.run);
    const int64_t chunk = (machine.ubBytes - FIXED_BYTES) / CHUNK_BYTES / LANES * LANES;
    tiling.chunk = static_cast<int32_t>(std::min(chunk, MAX_CHUNK));
    tiling.batchRows = std::min(tiling.tiles.rows, machine.cores);
    SplitOverCores(context, tiling.tiles.split, tiling.batchRows * tiling.runs, machine.cores);
    context->SetTilingKey(KEY_MERGE);
    context->SetScheduleMode(ALL_AT_ONCE);
    return 2 * tiling.batchRows * tiling.runs * tiling.run * RECORD_BYTES;
}
}  // namespace

ge::graphStatus SortTiling(gert::TilingContext *context)
{
    SortTilingData *tiling = context->GetTilingData<SortTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    Machine machine = {};
    RowTiles &tiles = tiling->tiles;
    const bool *descending = attrs->GetBool(0);
    if (!GetMachine(context, machine) || !GetRows(storage->GetStorageShape(), tiles.rows, tiles.columns)) {
        return ge::GRAPH_FAILED;
    }
    tiling->results = tiles.columns;
    tiling->descending = descending != nullptr && *descending ? 1 : 0;
    if (tiling->results == 0) {
        tiles.rows = 0;
    }
    const bool shared = tiles.columns <= LONGEST_SHORT;
    const int64_t pitch = shared ? PitchOfShort(tiles.columns) : AlignUp(tiles.columns, LANES);
    const int64_t room = (machine.ubBytes - FIXED_BYTES) / ELEMENT_BYTES / LANES * LANES;
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    workspaces[0] = platform.GetLibApiWorkSpaceSize();
    tiling->pitch = static_cast<int32_t>(pitch);
    tiling->room = static_cast<int32_t>(room);
    if (pitch <= room || tiles.rows == 0) {
        PlanTiles(context, *tiling, machine.cores);
    } else {
        workspaces[0] += static_cast<size_t>(PlanMerge(context, *tiling, machine));
    }
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
