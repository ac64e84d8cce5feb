// Tiling of custom.
// custom(Tensor x) -> Tensor y
// The elements of y are split evenly over the vector cores, then into tiles as large as UB allows.
#include <algorithm>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include "../op_kernel/custom_tiling.h"

namespace optiling {
namespace {
constexpr uint64_t KEY_SPLIT = 1;
constexpr int64_t BUFFERS = 2;            // double buffering of every queue
constexpr int64_t QUEUES = 2;             // one in, one out: count the queues and TBufs of your kernel here
constexpr int64_t TILE_BYTES = 256;       // tiles are whole vector repeats
constexpr int64_t MIN_CORE_BYTES = 4096;  // less than this is not worth another core

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
}  // namespace

ge::graphStatus CustomTiling(gert::TilingContext *context)
{
    CustomTilingData *tiling = context->GetTilingData<CustomTilingData>();
    const gert::StorageShape *shape = context->GetOutputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetOutputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || shape == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }

    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const int64_t coreNum = static_cast<int64_t>(platform.GetCoreNumAiv());
    const int64_t itemSize = static_cast<int64_t>(ge::GetSizeByDataType(desc->GetDataType()));
    if (coreNum <= 0 || itemSize <= 0) {
        return ge::GRAPH_FAILED;
    }
    const int64_t tileBytes = static_cast<int64_t>(ubBytes) / (QUEUES * BUFFERS) / TILE_BYTES * TILE_BYTES;
    const int64_t total = shape->GetStorageShape().GetShapeSize();
    const int64_t cores = std::max<int64_t>(1, std::min<int64_t>(coreNum, CeilDiv(total * itemSize, MIN_CORE_BYTES)));
    const int64_t align = TILE_BYTES / itemSize;
    tiling->total = total;
    tiling->coreLength = CeilDiv(CeilDiv(total, cores), align) * align;
    tiling->tileLength = tileBytes / itemSize;

    context->SetBlockDim(static_cast<uint32_t>(cores));
    context->SetTilingKey(KEY_SPLIT);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
