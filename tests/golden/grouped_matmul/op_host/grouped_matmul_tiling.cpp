// Tiling of grouped_matmul:
// y[i, :] = x[i, :] @ weight[g] for the rows i of group g, which ends before row group_list[g]; else 0.
// The sizes of the groups are not known here, only how many rows there are in all. So the size of a block is chosen
// for groups of equal sizes, and the kernel counts the blocks.
#include <algorithm>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tiling_api.h"

#include "../op_kernel/grouped_matmul_tiling.h"

namespace optiling {
namespace {
constexpr uint64_t KEY_BLOCKS = 1;
constexpr uint64_t KEY_ZEROS = 2;
constexpr int64_t MOST = 2147483647;  // of a size of a matrix
constexpr int64_t FRACTAL = 16;
constexpr int64_t BLOCK_ROWS = 128;  // with as many columns as here, the fp32 sums of a block fill L0C
constexpr int64_t BLOCK_COLUMNS = 256;
constexpr int64_t LEAST_COLUMNS = 64;  // below, a block reads more of x than it is worth
constexpr int64_t VECTOR_SHARE = 1024;  // zeros that are worth a vector core

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

matmul_tiling::DataType TypeOf(ge::DataType type)
{
    if (type == ge::DT_FLOAT) {
        return matmul_tiling::DataType::DT_FLOAT;
    }
    return type == ge::DT_FLOAT16 ? matmul_tiling::DataType::DT_FLOAT16 : matmul_tiling::DataType::DT_BFLOAT16;
}

// False when the shapes are not those of products of groups.
bool GetSizes(gert::TilingContext *context, GroupedMatmulTilingData &tiling)
{
    const gert::StorageShape *x = context->GetInputShape(0);
    const gert::StorageShape *weight = context->GetInputShape(1);
    const gert::StorageShape *ends = context->GetInputShape(2);
    if (x == nullptr || weight == nullptr || ends == nullptr) {
        return false;
    }
    const gert::Shape &left = x->GetStorageShape();
    const gert::Shape &right = weight->GetStorageShape();
    if (left.GetDimNum() != 2 || right.GetDimNum() != 3) {
        return false;
    }
    tiling.rows = left.GetDim(0);
    tiling.depth = left.GetDim(1);
    tiling.groups = right.GetDim(0);
    tiling.columns = right.GetDim(2);
    return right.GetDim(1) == tiling.depth && tiling.rows <= MOST && tiling.depth <= MOST &&
           tiling.columns <= MOST && ends->GetStorageShape().GetShapeSize() == tiling.groups;
}

// The rows of a block are those of an average group. Columns are halved until there is a block for each core.
void BlockOf(const GroupedMatmulTilingData &tiling, int64_t cores, int64_t &rows, int64_t &columns)
{
    const int64_t average = CeilDiv(tiling.rows, tiling.groups);
    rows = std::min(BLOCK_ROWS, CeilDiv(average, FRACTAL) * FRACTAL);
    columns = std::min(BLOCK_COLUMNS, CeilDiv(tiling.columns, FRACTAL) * FRACTAL);
    const int64_t down = std::min(tiling.rows, tiling.groups) * CeilDiv(average, rows);
    while (columns >= 2 * LEAST_COLUMNS && down * CeilDiv(tiling.columns, columns) < cores) {
        columns = CeilDiv(columns / 2, FRACTAL) * FRACTAL;
    }
}
}  // namespace

ge::graphStatus GroupedMatmulTiling(gert::TilingContext *context)
{
    GroupedMatmulTilingData *tiling = context->GetTilingData<GroupedMatmulTilingData>();
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    *tiling = GroupedMatmulTilingData();
    if (!GetSizes(context, *tiling)) {
        return ge::GRAPH_FAILED;
    }
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    const int64_t elements = tiling->rows * tiling->columns;
    context->SetTilingKey(KEY_BLOCKS);
    context->SetBlockDim(1);  // an empty output: one core, which finds nothing to do
    workspaces[0] = platform.GetLibApiWorkSpaceSize();
    if (elements == 0) {
        return ge::GRAPH_SUCCESS;
    }
    if (tiling->depth == 0 || tiling->groups == 0) {
        const int64_t vectors = platform.GetCoreNumAiv();
        context->SetTilingKey(KEY_ZEROS);
        context->SetBlockDim(static_cast<uint32_t>(std::max<int64_t>(1, std::min(vectors, elements / VECTOR_SHARE))));
        return ge::GRAPH_SUCCESS;
    }
    const int64_t cores = platform.GetCoreNumAic();
    if (cores <= 0) {
        return ge::GRAPH_FAILED;
    }

    int64_t rows = 0;
    int64_t columns = 0;
    BlockOf(*tiling, cores, rows, columns);
    const matmul_tiling::DataType type = TypeOf(desc->GetDataType());
    matmul_tiling::MatmulApiTiling block(platform);
    block.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type);
    block.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type);
    block.SetCType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type);
    block.SetShape(static_cast<int32_t>(rows), static_cast<int32_t>(columns), static_cast<int32_t>(tiling->depth));
    block.SetOrgShape(static_cast<int32_t>(tiling->rows), static_cast<int32_t>(tiling->columns),
                      static_cast<int32_t>(tiling->depth));
    block.EnableBias(false);
    block.SetBufferSpace(-1, -1, -1);
    optiling::TCubeTiling cube;
    if (block.GetTiling(cube) == -1) {
        return ge::GRAPH_FAILED;
    }
    cube.SaveToBuffer(&tiling->cube, sizeof(tiling->cube));
    const int64_t most = (CeilDiv(tiling->rows, rows) + tiling->groups) * CeilDiv(tiling->columns, columns);
    context->SetBlockDim(static_cast<uint32_t>(std::min(cores, most)));
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
