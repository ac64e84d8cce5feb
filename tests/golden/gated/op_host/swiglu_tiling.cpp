// Tiling of swiglu:
// y = a / (1 + e^-a) * b, a and b the first and the second half of each row of x.
// The tiles are whole rows, several at a time, or parts of a row when rows are too long or too few for the cores.
#include "row_tiling.h"

#include "../op_kernel/swiglu_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_ROWS = 1;
constexpr uint64_t KEY_SPLIT = 2;
constexpr int64_t TENSORS_IN = 2;
constexpr int64_t TENSORS_OUT = 1;
constexpr int64_t TEMPS = 2;  // fp32 temporaries of the kernel
constexpr int64_t TILE_ALIGN = 128;  // elements: whole vector repeats of 256 bytes for 16- and 32-bit types
constexpr int64_t MASK_BYTES = 0;
constexpr int64_t RESERVED = 0;

// Bytes of UB that one element of a tile takes.
int64_t BytesPerElement(int64_t itemSize)
{
    const int64_t queues = (TENSORS_IN + TENSORS_OUT) * BUFFERS * itemSize;
    const int64_t casts = itemSize == 4 ? 0 : TENSORS_IN * 4;
    return queues + casts + TEMPS * 4 + MASK_BYTES;
}
}  // namespace

ge::graphStatus SwigluTiling(gert::TilingContext *context)
{
    SwigluTilingData *tiling = context->GetTilingData<SwigluTilingData>();
    const gert::StorageShape *storage = context->GetInputShape(0);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || storage == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    int64_t rows = 0;
    int64_t columns = 0;
    Machine machine = {};
    if (!GetRows(storage->GetStorageShape(), rows, columns) || !GetMachine(context, machine) || columns % 2 != 0) {
        return ge::GRAPH_FAILED;  // the two halves must be equal
    }
    const int64_t itemSize = ItemSize(desc->GetDataType());
    const int64_t fitting = (machine.ubBytes - RESERVED) / BytesPerElement(itemSize) / TILE_ALIGN * TILE_ALIGN;
    tiling->tiles.rows = rows;
    tiling->tiles.columns = columns / 2;
    tiling->tileElements = static_cast<int32_t>(fitting);
    const bool whole = TileElements(context, tiling->tiles, fitting, BLOCK_BYTES / itemSize, machine.cores);
    context->SetTilingKey(whole ? KEY_ROWS : KEY_SPLIT);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
