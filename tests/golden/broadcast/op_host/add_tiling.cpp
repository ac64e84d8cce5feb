// Tiling of add:
// y = x1 + x2.
// Neighbouring dims that broadcast alike are merged. What remains is either one row of elements (flat), or outer dims
// x rows x columns (general), where a tile is a part of the rows and columns.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include "../op_kernel/add_tiling.h"

namespace optiling {
namespace {
constexpr uint64_t KEY_FLAT = 1;
constexpr uint64_t KEY_GENERAL = 2;
constexpr int64_t BUFFERS = 2;  // double buffering of every queue
constexpr int64_t TENSORS = 3;
constexpr int64_t TILE_ALIGN = 128;  // elements: whole vector repeats of 256 bytes for 16- and 32-bit types
constexpr int64_t SPLIT_ALIGN = 256;  // elements: cores start at multiples of 512 bytes or more
constexpr int64_t MIN_CORE_BYTES = 4096;  // less than this is not worth another core
constexpr int64_t MAX_TILE_ROWS = 2040;  // 255 repeats of 8 values in Brcb
constexpr int64_t BLOCK_BYTES = 32;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A dim of the output after merging; an input that is broadcast along it has 0 in its flag.
struct Dim {
    int64_t size;
    bool first;
    bool second;
};

int64_t SizeAt(const gert::Shape &shape, size_t rank, size_t i)
{
    const size_t missing = rank - shape.GetDimNum();
    return i < missing ? 1 : shape.GetDim(i - missing);
}

// False when the shapes cannot be broadcast.
bool Merge(const gert::Shape &first, const gert::Shape &second, std::vector<Dim> &dims)
{
    const size_t rank = std::max(first.GetDimNum(), second.GetDimNum());
    for (size_t i = 0; i < rank; ++i) {
        const int64_t a = SizeAt(first, rank, i);
        const int64_t b = SizeAt(second, rank, i);
        if (a != b && a != 1 && b != 1) {
            return false;
        }
        if (a == 1 && b == 1) {
            continue;
        }
        const Dim dim = {a == 1 ? b : a, a != 1, b != 1};
        if (!dims.empty() && dims.back().first == dim.first && dims.back().second == dim.second) {
            dims.back().size *= dim.size;
        } else {
            dims.push_back(dim);
        }
    }
    return true;
}

AddOperand Strides(const std::vector<Dim> &dims, bool isFirst)
{
    AddOperand operand = {};
    const size_t outers = dims.size() - 2;
    int64_t step = 1;
    for (size_t i = dims.size(); i-- > 0;) {
        const bool moves = isFirst ? dims[i].first : dims[i].second;
        const int64_t stride = moves ? step : 0;
        if (i == outers + 1) {
            operand.column = stride;
        } else if (i == outers) {
            operand.row = stride;
        } else {
            operand.outer[ADD_OUTER_DIMS - outers + i] = stride;
        }
        step = moves ? step * dims[i].size : step;
    }
    return operand;
}

// Bytes of UB that one element of a tile takes: queues, fp32 copies, and expanded inputs of the general case (with the
// 32 bytes per row that Brcb fills, at most 4 bytes per element).
int64_t BytesPerElement(int64_t itemSize, bool expands)
{
    const int64_t queues = TENSORS * BUFFERS * itemSize;
    const int64_t casts = itemSize == 4 ? 0 : TENSORS * 4;
    const int64_t expanded = expands ? (itemSize == 4 ? 3 : 2) * 4 : 0;
    return queues + casts + expanded;
}

void SplitOverCores(gert::TilingContext *context, AddTilingData *tiling, int64_t units, int64_t unitSize,
                    int64_t cores)
{
    const int64_t used = std::max<int64_t>(1, std::min(cores, units));
    tiling->formerUnits = CeilDiv(units, used) * unitSize;
    tiling->tailUnits = units / used * unitSize;
    tiling->formerCores = static_cast<int32_t>(units % used);
    context->SetBlockDim(static_cast<uint32_t>(used));  // an empty tensor: one core, which finds nothing to do
}

void TileFlat(gert::TilingContext *context, AddTilingData *tiling, const std::vector<Dim> &dims,
              int64_t itemSize, int64_t cores)
{
    const int64_t total = dims.empty() ? 1 : dims[0].size;
    tiling->units = total;
    tiling->firstIsScalar = dims.empty() || !dims[0].first ? 1 : 0;
    tiling->secondIsScalar = dims.empty() || !dims[0].second ? 1 : 0;
    const int64_t useful = std::max<int64_t>(1, CeilDiv(total * itemSize, MIN_CORE_BYTES));
    SplitOverCores(context, tiling, CeilDiv(total, SPLIT_ALIGN), SPLIT_ALIGN, std::min(cores, useful));
    context->SetTilingKey(KEY_FLAT);
}

void TileGeneral(gert::TilingContext *context, AddTilingData *tiling, const std::vector<Dim> &dims,
                 int64_t itemSize, int64_t cores)
{
    const size_t outers = dims.size() - 2;
    int64_t outerTotal = 1;
    for (int32_t i = 0; i < ADD_OUTER_DIMS; ++i) {
        const size_t unused = ADD_OUTER_DIMS - outers;
        tiling->outer[i] = static_cast<size_t>(i) < unused ? 1 : dims[i - unused].size;
        outerTotal *= tiling->outer[i];
    }
    tiling->rows = dims[outers].size;
    tiling->columns = dims[outers + 1].size;
    tiling->first = Strides(dims, true);
    tiling->second = Strides(dims, false);

    const int64_t blockLength = BLOCK_BYTES / itemSize;
    const int64_t paddedColumns = CeilDiv(tiling->columns, blockLength) * blockLength;
    int64_t tileRows = 1;
    int64_t tileColumns = tiling->tileLength;
    if (paddedColumns <= tiling->tileLength) {
        const int64_t fair = std::max<int64_t>(1, CeilDiv(outerTotal * tiling->rows, cores));
        const int64_t fitting = std::min(MAX_TILE_ROWS, tiling->tileLength / paddedColumns);
        tileRows = std::min(std::min(tiling->rows, fitting), fair);
        tileColumns = tiling->columns;
    }
    tiling->tileRows = static_cast<int32_t>(tileRows);
    tiling->tileColumns = static_cast<int32_t>(tileColumns);
    tiling->units = outerTotal * CeilDiv(tiling->rows, tileRows) * CeilDiv(tiling->columns, tileColumns);
    SplitOverCores(context, tiling, tiling->units, 1, cores);
    context->SetTilingKey(KEY_GENERAL);
}
}  // namespace

ge::graphStatus AddTiling(gert::TilingContext *context)
{
    AddTilingData *tiling = context->GetTilingData<AddTilingData>();
    const gert::StorageShape *first = context->GetInputShape(0);
    const gert::StorageShape *second = context->GetInputShape(1);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || first == nullptr || second == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    std::vector<Dim> dims;
    if (!Merge(first->GetStorageShape(), second->GetStorageShape(), dims) ||
        dims.size() > ADD_OUTER_DIMS + 2) {
        return ge::GRAPH_FAILED;
    }

    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const int64_t cores = static_cast<int64_t>(platform.GetCoreNumAiv());
    const ge::DataType dtype = desc->GetDataType();
    const int64_t itemSize = dtype == ge::DT_FLOAT || dtype == ge::DT_INT32 ? 4 : 2;
    int64_t total = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
        total *= dims[i].size;
    }
    if (total == 0) {
        dims.assign(1, Dim{0, true, true});
    }
    const bool flat = dims.size() < 2;
    const bool expands = !flat || dims.empty() || !dims[0].first || !dims[0].second;
    const int64_t budget = static_cast<int64_t>(ubBytes);
    const int64_t tileLength = budget / BytesPerElement(itemSize, expands) / TILE_ALIGN * TILE_ALIGN;
    if (cores <= 0 || tileLength <= 0) {
        return ge::GRAPH_FAILED;
    }
    tiling->tileLength = static_cast<int32_t>(tileLength);
    if (flat) {
        TileFlat(context, tiling, dims, itemSize, cores);
    } else {
        TileGeneral(context, tiling, dims, itemSize, cores);
    }
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
