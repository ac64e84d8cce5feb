// Tiling of softmax:
// y[i, j] = e^(x[i, j] - max_j x) / sum_j e^(x[i, j] - max_j x).
// Rows are split evenly over the vector cores. A tile holds as many whole rows as UB allows, or, if not even one, a
// chunk.
#include <algorithm>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include "../op_kernel/softmax_tiling.h"

namespace optiling {
namespace {
constexpr uint64_t KEY_FULL_LOAD = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr int64_t BUFFERS = 2;  // double buffering of both queues
constexpr int64_t LANES = 64;  // fp32 elements of one vector repeat
constexpr int64_t BLOCK_BYTES = 32;
constexpr int64_t MAX_TILE_ROWS = 2040;  // 255 repeats of 8 values in Brcb
constexpr int64_t ROW_BYTES = 4 + BLOCK_BYTES;  // per row: its maximum or sum, and that value over one block
constexpr int64_t FIXED_BYTES = 2048;  // what does not grow with the tile: accumulators, and rounding of the above

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Bytes of UB that one element of a tile takes: both queues, the fp32 copy of 16-bit inputs, folding (half a row), and
// a buffer for exponentials where the shifted row is still needed.
int64_t BytesPerElement(int64_t itemSize, bool keepsShifted)
{
    return 2 * BUFFERS * itemSize + (itemSize == 4 ? 0 : 4) + 2 + (keepsShifted ? 4 : 0);
}
}  // namespace

ge::graphStatus SoftmaxTiling(gert::TilingContext *context)
{
    SoftmaxTilingData *tiling = context->GetTilingData<SoftmaxTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const gert::Shape &shape = storage->GetStorageShape();
    if (shape.GetDimNum() == 0) {
        return ge::GRAPH_FAILED;
    }
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const int64_t coreNum = static_cast<int64_t>(platform.GetCoreNumAiv());
    const int64_t itemSize = desc->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    const int64_t budget = static_cast<int64_t>(ubBytes) - FIXED_BYTES;
    if (coreNum <= 0 || budget <= 0) {
        return ge::GRAPH_FAILED;
    }

    const int64_t columns = shape.GetDim(shape.GetDimNum() - 1);
    const int64_t rows = columns == 0 ? 0 : shape.GetShapeSize() / columns;
    const int64_t cores = std::max<int64_t>(1, std::min(coreNum, rows));
    tiling->rows = rows;
    tiling->columns = columns;
    tiling->formerRows = CeilDiv(rows, cores);
    tiling->tailRows = rows / cores;
    tiling->formerCores = static_cast<int32_t>(rows % cores);

    // Rows of up to one repeat are padded to blocks, longer ones to whole repeats.
    const int64_t align = columns <= LANES ? BLOCK_BYTES / itemSize : LANES;
    const int64_t pitch = CeilDiv(columns, align) * align;
    const int64_t tileRows = pitch == 0 ? 1 : budget / (pitch * BytesPerElement(itemSize, false) + ROW_BYTES);
    if (tileRows >= 1) {
        const int64_t fitting = std::min(tileRows, MAX_TILE_ROWS);
        tiling->tileRows = static_cast<int32_t>(std::max<int64_t>(1, std::min(fitting, tiling->formerRows)));
        tiling->pitch = static_cast<int32_t>(pitch);
        context->SetTilingKey(KEY_FULL_LOAD);
    } else {
        const bool keepsShifted = itemSize == 4;  // the input queue must not be overwritten
        tiling->chunk = static_cast<int32_t>(budget / BytesPerElement(itemSize, keepsShifted) / LANES * LANES);
        context->SetTilingKey(KEY_SPLIT);
    }
    context->SetBlockDim(static_cast<uint32_t>(cores));  // an empty tensor: one core, which finds nothing to do
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
