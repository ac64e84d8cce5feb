// Tiling of sum:
// y = sum of x along dim.
// The input is seen as outer x length x inner, where length is the dim to be reduced. No two cores share a result, so
// the order of additions does not depend on the number of cores.
#include <algorithm>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include "../op_kernel/sum_tiling.h"

namespace optiling {
namespace {
constexpr uint64_t KEY_ROWS = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr uint64_t KEY_COLUMNS = 3;
constexpr int64_t BUFFERS = 2;  // double buffering of the input queue
constexpr int64_t LANES = 64;  // fp32 elements of one vector repeat
constexpr int64_t BLOCK_BYTES = 32;
constexpr int64_t MAX_TILE_ROWS = 4095;  // blocks of one DataCopyPad
constexpr int64_t MAX_TILE_COLUMNS = 2048;
constexpr int64_t MAX_GAP_BYTES = 0xffffffffLL;  // from one block of a DataCopyPad to the next
constexpr int64_t RESERVED = 4096;  // bytes: small buffers and rounding
constexpr int64_t FLAG_BYTES = 0;
constexpr int64_t RESULT_BYTES = 24;  // per row: the result in fp32 and twice in the output queue, and its NaN flag

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Problem {
    int64_t outer;
    int64_t length;
    int64_t inner;
    int64_t itemSize;
    int64_t budget;  // bytes of UB
    int64_t cores;
};

// Bytes of UB that one element of a tile takes: the input queue, the fp32 copy of 16-bit inputs, folding (half a row),
// and flags.
int64_t BytesPerElement(int64_t itemSize) { return BUFFERS * itemSize + (itemSize == 4 ? 0 : 4) + 2 + FLAG_BYTES; }

void SplitOverCores(gert::TilingContext *context, SumTilingData *tiling, int64_t units, int64_t cores)
{
    const int64_t used = std::max<int64_t>(1, std::min(cores, units));
    tiling->units = units;
    tiling->formerUnits = CeilDiv(units, used);
    tiling->tailUnits = units / used;
    tiling->formerCores = static_cast<int32_t>(units % used);
    context->SetBlockDim(static_cast<uint32_t>(used));  // an empty result: one core, which finds nothing to do
}

void TileRows(gert::TilingContext *context, SumTilingData *tiling, const Problem &problem)
{
    SplitOverCores(context, tiling, problem.outer, problem.cores);
    // Rows of up to one repeat are padded to blocks, longer ones to whole repeats.
    const int64_t align = problem.length <= LANES ? BLOCK_BYTES / problem.itemSize : LANES;
    const int64_t pitch = CeilDiv(problem.length, align) * align;
    const int64_t perElement = BytesPerElement(problem.itemSize);
    const int64_t fitting = std::min(MAX_TILE_ROWS, problem.budget / (pitch * perElement + RESULT_BYTES));
    if (fitting >= 1) {
        tiling->tileRows = static_cast<int32_t>(std::max<int64_t>(1, std::min(fitting, tiling->formerUnits)));
        tiling->pitch = static_cast<int32_t>(pitch);
        context->SetTilingKey(KEY_ROWS);
    } else {
        tiling->chunk = static_cast<int32_t>(problem.budget / perElement / LANES * LANES);
        context->SetTilingKey(KEY_SPLIT);
    }
}

void TileColumns(gert::TilingContext *context, SumTilingData *tiling, const Problem &problem)
{
    // As wide as is good for copies, but narrow enough to give every core some columns.
    const int64_t tilesPerOuter = CeilDiv(problem.cores, std::max<int64_t>(1, problem.outer));
    const int64_t fair = CeilDiv(CeilDiv(problem.inner, tilesPerOuter), LANES) * LANES;
    const int64_t columns = std::max<int64_t>(1, std::min(std::min(problem.inner, MAX_TILE_COLUMNS), fair));
    const int64_t align = BLOCK_BYTES / problem.itemSize;
    const int64_t pitch = CeilDiv(columns, align) * align;
    const int64_t fitting = (problem.budget - pitch * RESULT_BYTES) / (pitch * BytesPerElement(problem.itemSize));
    const bool strided = (problem.inner - columns) * problem.itemSize <= MAX_GAP_BYTES;
    const int64_t rows = strided ? std::min(std::min(fitting, MAX_TILE_ROWS), problem.length) : 1;
    tiling->tileRows = static_cast<int32_t>(std::max<int64_t>(1, rows));
    tiling->pitch = static_cast<int32_t>(pitch);
    tiling->chunk = static_cast<int32_t>(columns);
    SplitOverCores(context, tiling, problem.outer * CeilDiv(problem.inner, columns), problem.cores);
    context->SetTilingKey(KEY_COLUMNS);
}

// Sees the shape as outer x length x inner. False when the dim is out of range.
bool View(const gert::Shape &shape, int64_t dim, Problem &problem)
{
    const int64_t rank = static_cast<int64_t>(shape.GetDimNum());
    const int64_t axis = dim < 0 ? dim + std::max<int64_t>(rank, 1) : dim;
    if (axis < 0 || axis >= std::max<int64_t>(rank, 1)) {
        return false;
    }
    problem.outer = problem.length = problem.inner = 1;
    for (int64_t i = 0; i < rank; ++i) {
        int64_t &part = i < axis ? problem.outer : (i == axis ? problem.length : problem.inner);
        part *= shape.GetDim(static_cast<size_t>(i));
    }
    return true;
}
}  // namespace

ge::graphStatus SumTiling(gert::TilingContext *context)
{
    SumTilingData *tiling = context->GetTilingData<SumTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const int64_t *dim = attrs->GetInt(0);
    Problem problem = {};
    if (dim == nullptr || !View(storage->GetStorageShape(), *dim, problem)) {
        return ge::GRAPH_FAILED;
    }
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    problem.cores = static_cast<int64_t>(platform.GetCoreNumAiv());
    problem.itemSize = desc->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    problem.budget = static_cast<int64_t>(ubBytes) - RESERVED;
    if (problem.cores <= 0 || problem.budget <= 0) {
        return ge::GRAPH_FAILED;
    }
    if (problem.length == 0) {
        problem.inner *= problem.outer;  // results without elements: one long row of columns
        problem.outer = 1;
    }
    tiling->length = problem.length;
    tiling->inner = problem.inner;
    if (problem.inner == 1 && problem.length != 0) {
        TileRows(context, tiling, problem);
    } else {
        TileColumns(context, tiling, problem);
    }
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
