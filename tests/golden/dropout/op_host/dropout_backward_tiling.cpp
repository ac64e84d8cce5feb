// Tiling of dropout_backward:
// grad_x[i] = grad_y[i] / (1 - p) where u[i] >= p, else 0; u is made again from seed and offset.
// A run of 1024 elements takes the four words of 256 counters; runs are split evenly over the cores. The random numbers
// belong to elements, so they do not depend on the tiles.
#include "row_tiling.h"

#include "../op_kernel/dropout_backward_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_TILES = 1;
constexpr int64_t RUN = 1024;        // elements that share 256 counters
constexpr int64_t RESERVED = 8192;   // bytes at the end of UB that Select uses for itself
constexpr int64_t RUN_BYTES = 30 * 1024;  // 9 words for each of 256 counters, and 21 bytes for each element
constexpr int64_t MAX_ELEMENTS = int64_t(1) << 33;  // the counters fit int32
constexpr float UNIFORM = 16777216.0f;  // 2^24: the numbers have 24 bits
}  // namespace

ge::graphStatus DropoutBackwardTiling(gert::TilingContext *context)
{
    DropoutBackwardTilingData *tiling = context->GetTilingData<DropoutBackwardTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    Machine machine = {};
    const float *p = attrs->GetFloat(0);
    const int64_t *seed = attrs->GetInt(1);
    const int64_t *offset = attrs->GetInt(2);
    const int64_t elements = storage->GetStorageShape().GetShapeSize();
    const bool complete = p != nullptr && seed != nullptr && offset != nullptr;
    if (!complete || !(*p >= 0.0f && *p <= 1.0f) || elements > MAX_ELEMENTS || !GetMachine(context, machine)) {
        return ge::GRAPH_FAILED;
    }
    const int64_t fitting = (machine.ubBytes - RESERVED) / RUN_BYTES;
    if (fitting < 1) {
        return ge::GRAPH_FAILED;
    }
    tiling->elements = elements;
    tiling->tileRuns = static_cast<int32_t>(fitting);
    tiling->key[0] = static_cast<uint32_t>(*seed);
    tiling->key[1] = static_cast<uint32_t>(static_cast<uint64_t>(*seed) >> 32);
    tiling->offset[0] = static_cast<uint32_t>(*offset);
    tiling->offset[1] = static_cast<uint32_t>(static_cast<uint64_t>(*offset) >> 32);
    tiling->threshold = static_cast<float>(static_cast<int64_t>(*p * UNIFORM + 0.5f));
    tiling->scale = *p < 1.0f ? 1.0f / (1.0f - *p) : 0.0f;
    SplitOverCores(context, tiling->split, CeilDiv(elements, RUN), machine.cores);
    context->SetTilingKey(KEY_TILES);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
