// Tiling of gelu:
// y = x * Phi(x), Phi the normal distribution function (the exact form, with erf).
// The tensors are one row of elements, split evenly over the vector cores and then into tiles as large as UB allows.
#include <algorithm>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include "../op_kernel/gelu_tiling.h"

// What `ascendops tune` may change; see [tune] in op.toml.
#ifndef MIN_CORE_BYTES
#define MIN_CORE_BYTES 4096  // less than this is not worth another core
#endif
#ifndef MAX_TILE_BYTES
#define MAX_TILE_BYTES 65536  // of one tensor: smaller tiles start the pipeline earlier
#endif

namespace optiling {
namespace {
constexpr uint64_t KEY_CONTIGUOUS = 1;
constexpr int64_t BUFFERS = 2;  // double buffering of every queue
constexpr int64_t TENSORS = 2;
constexpr int64_t TEMPS = 3;  // fp32 temporaries of the kernel
constexpr int64_t TILE_ALIGN = 128;  // elements: whole vector repeats of 256 bytes for 16- and 32-bit types
constexpr int64_t SPLIT_ALIGN = 256;  // elements: cores start at multiples of 512 bytes or more
constexpr int64_t SELECT_RESERVED = 8192;  // bytes at the end of UB that Select uses for itself

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Bytes of UB that one element of a tile takes.
int64_t BytesPerElement(int64_t itemSize)
{
    const int64_t queues = TENSORS * BUFFERS * itemSize;
    const int64_t casts = itemSize == 4 ? 0 : TENSORS * 4;
    return queues + casts + TEMPS * 4 + 1;  // 1: the bit mask of Compare, rounded up
}
}  // namespace

ge::graphStatus GeluTiling(gert::TilingContext *context)
{
    GeluTilingData *tiling = context->GetTilingData<GeluTilingData>();
    const gert::StorageShape *shape = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || shape == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }

    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const int64_t coreNum = static_cast<int64_t>(platform.GetCoreNumAiv());
    const int64_t itemSize = desc->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    const int64_t budget = static_cast<int64_t>(ubBytes) - SELECT_RESERVED;
    const int64_t room = std::min<int64_t>(budget / BytesPerElement(itemSize), MAX_TILE_BYTES / itemSize);
    const int64_t tileLength = room / TILE_ALIGN * TILE_ALIGN;
    if (coreNum <= 0 || tileLength <= 0) {
        return ge::GRAPH_FAILED;
    }

    const int64_t total = shape->GetStorageShape().GetShapeSize();
    const int64_t units = CeilDiv(total, SPLIT_ALIGN);
    const int64_t useful = std::max<int64_t>(1, CeilDiv(total * itemSize, int64_t(MIN_CORE_BYTES)));
    const int64_t cores = std::max<int64_t>(1, std::min(std::min(coreNum, useful), units));
    tiling->total = total;
    tiling->formerLength = CeilDiv(units, cores) * SPLIT_ALIGN;
    tiling->tailLength = units / cores * SPLIT_ALIGN;
    tiling->formerCores = static_cast<int32_t>(units % cores);
    tiling->tileLength = static_cast<int32_t>(tileLength);

    context->SetBlockDim(static_cast<uint32_t>(cores));  // an empty tensor: one core, which finds nothing to do
    context->SetTilingKey(KEY_CONTIGUOUS);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
