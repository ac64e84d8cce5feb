// Tiling of rope_backward:
// grad_x = grad_y * cos - rotated(grad_y * sin); rotated(a, b) = (-b, a) for the halves of a head, or for neighbours.
// A tile has some heads of one position, or all heads of several positions. Work items with the same positions follow
// each other, so that a core reads their cos and sin once.
#include "row_tiling.h"

#include "../op_kernel/rope_backward_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_HALF = 1;
constexpr uint64_t KEY_INTERLEAVED = 2;
constexpr int64_t MAX_COPIED_ROWS = 4095;  // blocks of one DataCopyPad
constexpr int64_t FIXED_BYTES = 1024;  // rounding of buffers

// Bytes of UB that one element of a tile takes: both queues, the fp32 copy of 16-bit inputs, the rotated tile, and
// (interleaved) the offsets of its neighbours.
int64_t BytesPerElement(int64_t itemSize, bool interleaved)
{
    return 2 * BUFFERS * itemSize + (itemSize == 4 ? 0 : 4) + 4 + (interleaved ? 4 : 0);
}

// Of an element of both cos and sin.
int64_t BytesPerAngle(int64_t itemSize) { return 2 * (BUFFERS * itemSize + (itemSize == 4 ? 0 : 4)); }
}  // namespace

ge::graphStatus RopeBackwardTiling(gert::TilingContext *context)
{
    RopeBackwardTilingData *tiling = context->GetTilingData<RopeBackwardTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const gert::Shape &shape = storage->GetStorageShape();
    const bool *interleaved = attrs->GetBool(0);
    const size_t rank = shape.GetDimNum();
    Machine machine = {};
    if (interleaved == nullptr || rank < 3 || !GetMachine(context, machine)) {
        return ge::GRAPH_FAILED;
    }
    const int64_t size = shape.GetDim(rank - 1);
    const int64_t heads = shape.GetDim(rank - 2);
    const int64_t positions = shape.GetDim(rank - 3);
    const int64_t rows = size == 0 ? 0 : shape.GetShapeSize() / size;
    const int64_t itemSize = ItemSize(desc->GetDataType());
    const int64_t parts = *interleaved ? 1 : 2;
    const int64_t pitch = AlignUp(size / parts, BLOCK_BYTES / itemSize);
    const int64_t perHead = std::max<int64_t>(1, parts * pitch * BytesPerElement(itemSize, *interleaved));
    const int64_t perPosition = parts * pitch * BytesPerAngle(itemSize);
    const int64_t budget = machine.ubBytes - FIXED_BYTES;
    const int64_t fitting = std::min((budget - perPosition) / perHead, MAX_COPIED_ROWS / parts);
    if (size % 2 != 0 || fitting < 1) {
        return ge::GRAPH_FAILED;  // pairs are rotated, and a head must fit UB
    }
    tiling->batch = rows == 0 ? 0 : rows / heads / positions;
    tiling->positions = positions;
    tiling->heads = static_cast<int32_t>(heads);
    tiling->width = static_cast<int32_t>(size / parts);
    tiling->pitch = static_cast<int32_t>(pitch);
    tiling->parts = static_cast<int32_t>(parts);
    tiling->tileHeads = static_cast<int32_t>(std::max<int64_t>(1, std::min(heads, fitting)));
    tiling->tilePositions = 1;
    if (heads >= 1 && heads <= fitting) {
        const int64_t whole = std::min(budget / (heads * perHead + perPosition), MAX_COPIED_ROWS / (heads * parts));
        const int64_t fair = CeilDiv(tiling->batch * positions, machine.cores);
        tiling->tilePositions =
            static_cast<int32_t>(std::max<int64_t>(1, std::min(std::min(whole, fair), positions)));
    }
    const int64_t tiles = CeilDiv(positions, tiling->tilePositions) * CeilDiv(heads, tiling->tileHeads);
    SplitOverCores(context, tiling->split, tiles * tiling->batch, machine.cores);
    context->SetTilingKey(*interleaved ? KEY_INTERLEAVED : KEY_HALF);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
