// Tiling of batched_matmul:
// y = a @ b, for each matrix of the batch.
// A product is cut into blocks of rows and columns; the cube cores take the blocks of all products in turn.
#include <algorithm>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tiling_api.h"

#include "../op_kernel/batched_matmul_tiling.h"

namespace optiling {
namespace {
constexpr uint64_t KEY_PRODUCT = 1;
constexpr uint64_t KEY_ZEROS = 2;
constexpr int64_t MOST = 2147483647;  // of a size of a matrix
constexpr bool TRANSPOSED = false;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

matmul_tiling::DataType TypeOf(ge::DataType type)
{
    if (type == ge::DT_FLOAT) {
        return matmul_tiling::DataType::DT_FLOAT;
    }
    return type == ge::DT_FLOAT16 ? matmul_tiling::DataType::DT_FLOAT16 : matmul_tiling::DataType::DT_BFLOAT16;
}

struct Sizes {
    int64_t batch;
    int64_t m;
    int64_t k;
    int64_t n;
};

// False when the shapes are not those of products.
bool GetSizes(gert::TilingContext *context, Sizes &sizes)
{
    const gert::StorageShape *left = context->GetInputShape(0);
    const gert::StorageShape *right = context->GetInputShape(1);
    if (left == nullptr || right == nullptr) {
        return false;
    }
    const gert::Shape &a = left->GetStorageShape();
    const gert::Shape &b = right->GetStorageShape();
    const size_t dims = a.GetDimNum();
    if (dims < 2 || b.GetDimNum() != dims) {
        return false;
    }
    sizes.batch = 1;
    for (size_t i = 0; i + 2 < dims; ++i) {
        if (a.GetDim(i) != b.GetDim(i)) {
            return false;
        }
        sizes.batch *= a.GetDim(i);
    }
    sizes.m = a.GetDim(dims - 2);
    sizes.k = a.GetDim(dims - 1);
    sizes.n = b.GetDim(TRANSPOSED ? dims - 2 : dims - 1);
    const int64_t k = b.GetDim(TRANSPOSED ? dims - 1 : dims - 2);
    return k == sizes.k && sizes.m <= MOST && sizes.k <= MOST && sizes.n <= MOST;
}
}  // namespace

ge::graphStatus BatchedMatmulTiling(gert::TilingContext *context)
{
    BatchedMatmulTilingData *tiling = context->GetTilingData<BatchedMatmulTilingData>();
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    Sizes sizes = {};
    if (tiling == nullptr || desc == nullptr || workspaces == nullptr || !GetSizes(context, sizes)) {
        return ge::GRAPH_FAILED;
    }
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    *tiling = BatchedMatmulTilingData();
    tiling->elements = sizes.batch * sizes.m * sizes.n;
    context->SetTilingKey(KEY_PRODUCT);
    context->SetBlockDim(1);  // an empty output: one core, which finds nothing to do
    workspaces[0] = platform.GetLibApiWorkSpaceSize();
    if (tiling->elements == 0) {
        return ge::GRAPH_SUCCESS;
    }
    if (sizes.k == 0) {
        const int64_t vectors = platform.GetCoreNumAiv();
        context->SetTilingKey(KEY_ZEROS);
        context->SetBlockDim(static_cast<uint32_t>(std::max<int64_t>(1, std::min(vectors, tiling->elements / 1024))));
        return ge::GRAPH_SUCCESS;
    }
    const int64_t cores = platform.GetCoreNumAic();
    if (cores <= 0) {
        return ge::GRAPH_FAILED;
    }

    const matmul_tiling::DataType type = TypeOf(desc->GetDataType());
    const int32_t m = static_cast<int32_t>(sizes.m);
    const int32_t n = static_cast<int32_t>(sizes.n);
    const int32_t k = static_cast<int32_t>(sizes.k);
    matmul_tiling::MultiCoreMatmulTiling product(platform);
    product.SetDim(static_cast<int32_t>(std::max<int64_t>(1, cores / sizes.batch)));  // cores for each product
    product.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type);
    product.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type, TRANSPOSED);
    product.SetCType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type);
    product.SetShape(m, n, k);
    product.SetOrgShape(m, n, k);
    product.EnableBias(false);
    product.SetBufferSpace(-1, -1, -1);
    optiling::TCubeTiling cube;
    if (product.GetTiling(cube) == -1) {
        return ge::GRAPH_FAILED;
    }
    cube.SaveToBuffer(&tiling->cube, sizeof(tiling->cube));
    tiling->rows = CeilDiv(m, tiling->cube.singleCoreM);
    tiling->blocks = tiling->rows * CeilDiv(n, tiling->cube.singleCoreN);
    tiling->units = sizes.batch * tiling->blocks;
    context->SetBlockDim(static_cast<uint32_t>(std::min(cores, tiling->units)));
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
