// Tiling of conv2d:
// y[i, f, :, :] = sum of x[i, c, :, :] correlated with weight[f, c, :, :] over c of the group of f, + bias[f].
// For a group of channels of an image it is a product: filters x depth with depth x pixels. A unit of work is a tile of
// pixels with a part of the filters of the group; the vector cores take the units in turn.
#include <algorithm>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tiling_api.h"

#include "../op_kernel/conv2d_tiling.h"

namespace optiling {
namespace {
constexpr uint64_t KEY_POINTWISE = 1;
constexpr uint64_t KEY_WINDOW = 2;
constexpr size_t BIAS = 2;  // place of the optional input
constexpr size_t GROUPS = 3;  // place of the attribute
constexpr int64_t MOST = 2147483647;
constexpr int64_t FRACTAL = 16;
constexpr int64_t BLOCK_BYTES = 32;
constexpr int64_t TILE_PIXELS = 512;  // of the largest tile
constexpr int64_t LEAST_PIXELS = 128;  // a tile is not cut below this to find work for more cores
constexpr int64_t COLUMNS_BYTES = 2097152;  // of a right matrix; those of all cores stay in the L2
constexpr int64_t LEAST_FILTERS = 64;  // nor a part of the filters: each part has its columns made anew
constexpr int64_t BLOCK_ROWS = 128;  // of the largest block, whose fp32 elements take a third of UB
constexpr int64_t BLOCK_COLUMNS = 128;
constexpr int64_t SLICE = 2048;  // elements of a block that are finished at a time
constexpr int64_t ROOM_BYTES = 16384;  // in UB for rows of an image, and for rows of the right matrix; each twice

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t AlignUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

matmul_tiling::DataType TypeOf(ge::DataType type)
{
    if (type == ge::DT_FLOAT) {
        return matmul_tiling::DataType::DT_FLOAT;
    }
    return type == ge::DT_FLOAT16 ? matmul_tiling::DataType::DT_FLOAT16 : matmul_tiling::DataType::DT_BFLOAT16;
}

// One direction; false when an attribute or a size is not possible.
bool GetSide(const gert::RuntimeAttrs &attrs, size_t place, int64_t in, int64_t window, Conv2dSide &side)
{
    int64_t values[3] = {};
    for (size_t i = 0; i < 3; ++i) {
        const gert::TypedContinuousVector<int64_t> *list = attrs.GetListInt(i);
        if (list == nullptr || list->GetSize() != 2) {
            return false;
        }
        values[i] = list->GetData()[place];
    }
    const int64_t padded = in + 2 * values[1] - values[2] * (window - 1) - 1;
    if (values[0] < 1 || values[1] < 0 || values[2] < 1 || window < 1 || in < 1 || padded < 0 || in > MOST ||
        padded >= MOST || values[0] > MOST || values[1] > MOST || values[2] > MOST) {
        return false;
    }
    side.in = static_cast<int32_t>(in);
    side.out = static_cast<int32_t>(padded / values[0] + 1);
    side.window = static_cast<int32_t>(window);
    side.stride = static_cast<int32_t>(values[0]);
    side.padding = static_cast<int32_t>(values[1]);
    side.dilation = static_cast<int32_t>(values[2]);
    return true;
}

// The rest of the sizes; returns the number of images times that of groups, or -1 when the shapes are not those of a
// convolution.
int64_t GetSizes(gert::TilingContext *context, Conv2dTilingData &tiling)
{
    const gert::StorageShape *input = context->GetInputShape(0);
    const gert::StorageShape *filters = context->GetInputShape(1);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    if (input == nullptr || filters == nullptr || attrs == nullptr) {
        return -1;
    }
    const gert::Shape &x = input->GetStorageShape();
    const gert::Shape &w = filters->GetStorageShape();
    const int64_t *groups = attrs->GetInt(GROUPS);
    if (groups == nullptr || *groups < 1 || *groups > MOST || x.GetDimNum() != 4 || w.GetDimNum() != 4 ||
        x.GetDim(1) != w.GetDim(1) * *groups || x.GetDim(1) < 1 || w.GetDim(0) < 1 || w.GetDim(0) % *groups != 0 ||
        !GetSide(*attrs, 0, x.GetDim(2), w.GetDim(2), tiling.y) ||
        !GetSide(*attrs, 1, x.GetDim(3), w.GetDim(3), tiling.x)) {
        return -1;
    }
    const int64_t depth = w.GetDim(1) * w.GetDim(2) * w.GetDim(3);
    const int64_t pixels = static_cast<int64_t>(tiling.y.out) * tiling.x.out;
    if (depth > MOST || w.GetDim(0) > MOST || pixels > MOST || x.GetDim(2) * x.GetDim(3) > MOST) {
        return -1;
    }
    tiling.groups = static_cast<int32_t>(*groups);
    tiling.channels = static_cast<int32_t>(w.GetDim(1));
    tiling.filters = static_cast<int32_t>(w.GetDim(0) / *groups);
    tiling.depth = static_cast<int32_t>(depth);
    tiling.hasBias = context->GetOptionalInputShape(BIAS) != nullptr ? 1 : 0;
    return x.GetDim(0) * *groups;
}

bool IsPointwise(const Conv2dSide &side)
{
    return side.window == 1 && side.stride == 1 && side.padding == 0;
}

// Elements between two rows of the image in UB: what `columns` windows beside each other cover, and room for padding
// before it, both in whole blocks.
int64_t PitchOf(const Conv2dSide &x, int64_t columns, int64_t itemSize)
{
    const int64_t block = BLOCK_BYTES / itemSize;
    const int64_t covered = (columns - 1) * x.stride + static_cast<int64_t>(x.window - 1) * x.dilation + 1;
    return AlignUp(std::min<int64_t>(x.padding, covered), block) + AlignUp(covered, block);
}

// A tile of at most `pixels` pixels, whose rows of the image fit their room; false when not even one pixel does.
bool TileOf(Conv2dTilingData &tiling, bool pointwise, int64_t pixels, int64_t itemSize)
{
    Conv2dTiles &tiles = tiling.tiles;
    const int64_t room = ROOM_BYTES / itemSize;
    int64_t columns = std::min<int64_t>(pixels, tiling.x.out);
    int64_t rows = columns < tiling.x.out ? 1 : std::min<int64_t>(tiling.y.out, pixels / columns);
    if (pointwise) {  // the pixels of an image are one row
        columns = std::min<int64_t>(pixels, static_cast<int64_t>(tiling.y.out) * tiling.x.out);
        rows = 1;
    } else {
        while (columns > 1 && PitchOf(tiling.x, columns, itemSize) > room) {
            columns = CeilDiv(columns, 2);
            rows = 1;
        }
        const int64_t pitch = PitchOf(tiling.x, columns, itemSize);
        if (pitch > room) {
            return false;
        }
        rows = std::min(rows, room / pitch);
        tiles.pitch = static_cast<int32_t>(pitch);
    }
    tiles.rows = static_cast<int32_t>(rows);
    tiles.columns = static_cast<int32_t>(columns);
    tiles.down = static_cast<int32_t>(pointwise ? 1 : CeilDiv(tiling.y.out, rows));
    const int64_t wide = pointwise ? static_cast<int64_t>(tiling.y.out) * tiling.x.out : tiling.x.out;
    tiles.across = static_cast<int32_t>(CeilDiv(wide, columns));
    tiles.most = static_cast<int32_t>(AlignUp(rows * columns, FRACTAL));
    tiles.lines = static_cast<int32_t>(std::max<int64_t>(1, room / tiles.most));
    return true;
}

// Tiles are made smaller until their right matrices are small enough, and further until each core has a unit; where
// that is not enough, the filters are divided.
bool Divide(Conv2dTilingData &tiling, bool pointwise, int64_t images, int64_t vectors, int64_t itemSize)
{
    int64_t pixels = TILE_PIXELS;
    while (!pointwise && pixels > LEAST_PIXELS && tiling.depth * pixels * itemSize > COLUMNS_BYTES) {
        pixels /= 2;
    }
    int64_t tiles = 0;
    for (; pixels >= LEAST_PIXELS && tiles < vectors; pixels /= 2) {
        if (!TileOf(tiling, pointwise, pixels, itemSize)) {
            return false;
        }
        tiles = images * tiling.tiles.down * tiling.tiles.across;
    }
    const int64_t parts = std::min(vectors / tiles, CeilDiv(tiling.filters, LEAST_FILTERS));
    tiling.parts = static_cast<int32_t>(std::max<int64_t>(1, parts));
    tiling.units = tiles * tiling.parts;
    return true;
}

// The product of a part of the filters with one tile.
bool GetProduct(const platform_ascendc::PlatformAscendC &platform, ge::DataType dtype, bool pointwise,
                Conv2dTilingData &tiling)
{
    using matmul_tiling::CubeFormat;
    using matmul_tiling::TPosition;
    const matmul_tiling::DataType type = TypeOf(dtype);
    const int64_t m = AlignUp(CeilDiv(tiling.filters, tiling.parts), FRACTAL);
    const int32_t n = tiling.tiles.most;
    matmul_tiling::MatmulApiTiling product(platform);
    product.SetAType(TPosition::GM, CubeFormat::ND, type);
    product.SetBType(TPosition::GM, CubeFormat::ND, type);
    product.SetCType(TPosition::VECIN, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
    product.SetShape(static_cast<int32_t>(m), n, tiling.depth);
    product.SetOrgShape(tiling.filters, pointwise ? tiling.y.out * tiling.x.out : n, tiling.depth);
    product.EnableBias(false);
    product.SetTraverse(matmul_tiling::MatrixTraverse::FIRSTM);
    product.SetFixSplit(static_cast<int32_t>(std::min(m, BLOCK_ROWS)),
                        static_cast<int32_t>(std::min<int64_t>(n, BLOCK_COLUMNS)), -1);
    product.SetBufferSpace(-1, -1, -1);
    optiling::TCubeTiling cube;
    if (product.GetTiling(cube) == -1) {
        return false;
    }
    cube.SaveToBuffer(&tiling.cube, sizeof(tiling.cube));
    tiling.parts = static_cast<int32_t>(CeilDiv(tiling.filters, m));  // rounding may have left the last ones empty
    tiling.sliceRows = static_cast<int32_t>(std::min<int64_t>(tiling.cube.baseM, SLICE / tiling.cube.baseN));
    return true;
}
}  // namespace

ge::graphStatus Conv2dTiling(gert::TilingContext *context)
{
    Conv2dTilingData *tiling = context->GetTilingData<Conv2dTilingData>();
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || desc == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    *tiling = Conv2dTilingData();
    const int64_t images = GetSizes(context, *tiling);
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    const int64_t vectors = platform.GetCoreNumAiv();
    const int64_t cubes = platform.GetCoreNumAic();
    if (images < 0 || cubes <= 0 || vectors < cubes) {
        return ge::GRAPH_FAILED;
    }
    const bool pointwise = IsPointwise(tiling->y) && IsPointwise(tiling->x);
    context->SetTilingKey(pointwise ? KEY_POINTWISE : KEY_WINDOW);
    context->SetBlockDim(1);  // an empty output: one core, which finds nothing to do
    workspaces[0] = platform.GetLibApiWorkSpaceSize();
    if (images == 0) {
        return ge::GRAPH_SUCCESS;
    }
    const int64_t itemSize = desc->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    if (!Divide(*tiling, pointwise, images, vectors, itemSize) ||
        !GetProduct(platform, desc->GetDataType(), pointwise, *tiling)) {
        return ge::GRAPH_FAILED;
    }
    const int64_t perCube = vectors / cubes;
    tiling->units = images * tiling->tiles.down * tiling->tiles.across * tiling->parts;
    const int64_t blocks = std::min(cubes, CeilDiv(tiling->units, perCube));
    tiling->cores = static_cast<int32_t>(blocks * perCube);
    if (!pointwise) {  // each core has a right matrix of its own
        workspaces[0] += static_cast<size_t>(tiling->cores * itemSize * tiling->depth * tiling->tiles.most);
    }
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
