// Tiling of linear:
// y = x @ weight^T + bias.
// The product is split over the vector cores. Blocks are small enough for UB, where bias and activation are applied.
#include <algorithm>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tiling_api.h"

#include "../op_kernel/linear_tiling.h"

namespace optiling {
namespace {
constexpr uint64_t KEY_BLOCKS = 1;
constexpr int64_t MOST = 2147483647;  // of a size of a matrix
constexpr int64_t FRACTAL = 16;
constexpr int64_t BLOCK_ROWS = 128;  // of the largest block, whose fp32 elements take a third of UB
constexpr int64_t BLOCK_COLUMNS = 128;
constexpr int64_t SLICE = 2048;  // elements of a block that are finished at a time
constexpr int64_t SLICE_ROWS = 4;  // as many rows of 16 elements are a vector repeat

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int32_t BaseOf(int64_t size, int64_t most)
{
    return static_cast<int32_t>(std::min(most, CeilDiv(size, FRACTAL) * FRACTAL));
}

matmul_tiling::DataType TypeOf(ge::DataType type)
{
    if (type == ge::DT_FLOAT) {
        return matmul_tiling::DataType::DT_FLOAT;
    }
    return type == ge::DT_FLOAT16 ? matmul_tiling::DataType::DT_FLOAT16 : matmul_tiling::DataType::DT_BFLOAT16;
}
}  // namespace

ge::graphStatus LinearTiling(gert::TilingContext *context)
{
    LinearTilingData *tiling = context->GetTilingData<LinearTilingData>();
    const gert::StorageShape *input = context->GetInputShape(0);
    const gert::StorageShape *weight = context->GetInputShape(1);
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || input == nullptr || weight == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const gert::Shape &x = input->GetStorageShape();
    const gert::Shape &w = weight->GetStorageShape();
    if (x.GetDimNum() == 0 || w.GetDimNum() != 2 || w.GetDim(1) != x.GetDim(x.GetDimNum() - 1)) {
        return ge::GRAPH_FAILED;
    }
    const int64_t n = w.GetDim(0);
    const int64_t k = w.GetDim(1);
    int64_t m = 1;
    for (size_t i = 0; i + 1 < x.GetDimNum(); ++i) {
        m *= x.GetDim(i);
    }
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    const int64_t vectors = platform.GetCoreNumAiv();
    const int64_t cubes = platform.GetCoreNumAic();
    if (cubes <= 0 || vectors < cubes || m > MOST || n > MOST || k > MOST) {
        return ge::GRAPH_FAILED;
    }
    *tiling = LinearTilingData();
    context->SetTilingKey(KEY_BLOCKS);
    context->SetBlockDim(1);  // an empty output: one core, which finds nothing to do
    workspaces[0] = platform.GetLibApiWorkSpaceSize();
    if (m == 0 || n == 0) {
        return ge::GRAPH_SUCCESS;
    }

    const matmul_tiling::DataType type = TypeOf(desc->GetDataType());
    matmul_tiling::MultiCoreMatmulTiling product(platform);
    product.SetDim(static_cast<int32_t>(vectors));
    product.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type);
    product.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type, true);
    product.SetCType(matmul_tiling::TPosition::VECIN, matmul_tiling::CubeFormat::ND,
                     matmul_tiling::DataType::DT_FLOAT);
    const int32_t depth = static_cast<int32_t>(std::max<int64_t>(k, 1));  // without k there is only the bias
    product.SetShape(static_cast<int32_t>(m), static_cast<int32_t>(n), depth);
    product.SetOrgShape(static_cast<int32_t>(m), static_cast<int32_t>(n), depth);
    product.EnableBias(false);
    product.SetTraverse(matmul_tiling::MatrixTraverse::FIRSTM);
    product.SetFixSplit(BaseOf(m, BLOCK_ROWS), BaseOf(n, BLOCK_COLUMNS), -1);
    product.SetBufferSpace(-1, -1, -1);
    optiling::TCubeTiling cube;
    if (product.GetTiling(cube) == -1) {
        return ge::GRAPH_FAILED;
    }
    cube.SaveToBuffer(&tiling->cube, sizeof(tiling->cube));
    tiling->depth = k;
    tiling->rows = static_cast<int32_t>(CeilDiv(m, tiling->cube.singleCoreM));
    tiling->units = static_cast<int32_t>(tiling->rows * CeilDiv(n, tiling->cube.singleCoreN));
    const int64_t sliceRows = SLICE / tiling->cube.baseN / SLICE_ROWS * SLICE_ROWS;
    tiling->sliceRows = static_cast<int32_t>(std::min<int64_t>(tiling->cube.baseM, sliceRows));
    const int64_t perCube = vectors / cubes;
    context->SetBlockDim(static_cast<uint32_t>(CeilDiv(tiling->units, perCube)));
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
