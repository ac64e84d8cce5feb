// Tiling of flash_attention:
// out = softmax(scale * q k^T) v, lse = log sum exp(scale * q k^T); causal: query i sees keys 0 to i.
// A vector core has tiles of queries, and goes through the keys in blocks. Where a head has few queries, the tile has
// those of all heads that share its keys, so that keys are read once for them.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tiling_api.h"

#include "../op_kernel/flash_attention_tiling.h"

namespace optiling {
namespace {
constexpr uint64_t KEY_WHOLE = 1;
constexpr uint64_t KEY_BLOCKS = 2;
constexpr uint64_t KEY_SPLIT = 3;
constexpr uint64_t KEY_NO_KEYS = 4;
constexpr int64_t MOST = 2147483647 / 2;  // queries of a segment, keys of a head
constexpr int64_t MOST_SIZE = 512;        // of a head
constexpr int64_t FRACTAL = 16;
constexpr int64_t LANES = 64;  // fp32 elements of one vector repeat
constexpr int64_t BLOCK_ROWS = 8;  // a slice of rows starts at a whole block of 8 maxima
constexpr int64_t MOST_ROWS = 128;  // of a tile
constexpr int64_t SUM_BYTES = 65536;  // of UB for the fp32 results of a tile
constexpr int64_t BLOCK_KEYS = 256;
constexpr int64_t WHOLE_KEYS = 512;  // up to here all keys are one block
constexpr int64_t MOST_PARTS = 64;  // of the keys of a head
constexpr int64_t BASE = 128;  // rows and columns of a block of the cube core: four products have room in L0C
constexpr int64_t FIXED_BYTES = 8192 + 1024;  // what the system reserves of UB, and rounding of buffers
constexpr int64_t BUFFERS = 2;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t AlignUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

matmul_tiling::DataType TypeOf(ge::DataType type)
{
    if (type == ge::DT_FLOAT) {
        return matmul_tiling::DataType::DT_FLOAT;
    }
    return type == ge::DT_FLOAT16 ? matmul_tiling::DataType::DT_FLOAT16 : matmul_tiling::DataType::DT_BFLOAT16;
}

struct Sizes {
    int64_t batch;
    int64_t queryHeads;
    int64_t keyHeads;
    int64_t queries;
    int64_t keys;
    int64_t size;
};

// False when the shapes are not those of attention.
bool GetSizes(gert::TilingContext *context, Sizes &sizes)
{
    const gert::StorageShape *inputs[3] = {context->GetInputShape(0), context->GetInputShape(1),
                                           context->GetInputShape(2)};
    for (const gert::StorageShape *input : inputs) {
        if (input == nullptr || input->GetStorageShape().GetDimNum() != 4) {
            return false;
        }
    }
    const gert::Shape &q = inputs[0]->GetStorageShape();
    const gert::Shape &k = inputs[1]->GetStorageShape();
    sizes = {q.GetDim(0), q.GetDim(1), k.GetDim(1), q.GetDim(2), k.GetDim(2), q.GetDim(3)};
    const bool grouped = sizes.keyHeads == 0 ? sizes.queryHeads == 0 : sizes.queryHeads % sizes.keyHeads == 0;
    return grouped && k.GetDim(0) == sizes.batch && k.GetDim(3) == sizes.size &&
           inputs[2]->GetStorageShape() == k && sizes.size >= 1 && sizes.size <= MOST_SIZE && sizes.keys <= MOST &&
           sizes.queryHeads <= MOST / std::max<int64_t>(sizes.queries, 1);
}

struct Cores {
    int64_t cubes;
    int64_t vectors;
    int64_t ubBytes;
    int64_t l1Bytes;
    int64_t l0cBytes;
};

bool GetCores(const platform_ascendc::PlatformAscendC &platform, Cores &cores)
{
    uint64_t ub = 0;
    uint64_t l1 = 0;
    uint64_t l0c = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::L1, l1);
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::L0_C, l0c);
    cores = {static_cast<int64_t>(platform.GetCoreNumAic()), static_cast<int64_t>(platform.GetCoreNumAiv()),
             static_cast<int64_t>(ub), static_cast<int64_t>(l1), static_cast<int64_t>(l0c)};
    return cores.cubes > 0 && cores.vectors >= cores.cubes && ub > 0 && l1 > 0 && l0c > 0;
}

// Tiles: as high as UB allows, but lower if there would be too few for the vector cores.
void SplitQueries(const Sizes &sizes, const Cores &cores, FlashAttentionTilingData &tiling)
{
    const int64_t pitch = AlignUp(sizes.size, FRACTAL);
    const int64_t most = std::min(MOST_ROWS, SUM_BYTES / static_cast<int64_t>(sizeof(float)) / pitch);
    const int64_t group = sizes.queryHeads / sizes.keyHeads;
    const bool together = sizes.queries * 2 <= most;  // the heads that share keys
    tiling.segments = sizes.batch * (together ? sizes.keyHeads : sizes.queryHeads);
    tiling.rows = together ? group * sizes.queries : sizes.queries;
    int64_t rows = std::min(most / FRACTAL * FRACTAL, AlignUp(tiling.rows, FRACTAL));
    while (rows > FRACTAL && tiling.segments * CeilDiv(tiling.rows, rows) < cores.vectors) {
        rows = AlignUp(rows / 2, FRACTAL);
    }
    tiling.tiles = CeilDiv(tiling.rows, rows);
    tiling.tileRows = static_cast<int32_t>(AlignUp(CeilDiv(tiling.rows, tiling.tiles), FRACTAL));
    tiling.tiles = CeilDiv(tiling.rows, tiling.tileRows);
    tiling.keyHeads = sizes.batch * sizes.keyHeads;
    tiling.queries = sizes.queries;
    tiling.keys = sizes.keys;
    tiling.size = static_cast<int32_t>(sizes.size);
}

// Slices: two buffers of scores or products, two of what goes out, and half of one to fold rows in.
bool SplitRows(const Cores &cores, int64_t itemSize, FlashAttentionTilingData &tiling)
{
    const int64_t floats = sizeof(float);
    const int64_t pitch = AlignUp(tiling.size, FRACTAL);
    const int64_t keys = AlignUp(tiling.keys, LANES);
    tiling.blockKeys = static_cast<int32_t>(keys <= WHOLE_KEYS ? keys : BLOCK_KEYS);
    const int64_t perRow = (pitch + 8 + 8) * floats;  // results; statistics; and one of them spread over a block
    const int64_t perElement = BUFFERS * (floats + itemSize) + floats / 2;
    const int64_t left = cores.ubBytes - FIXED_BYTES - tiling.tileRows * perRow;
    const int64_t widest = std::max<int64_t>(pitch, tiling.blockKeys);
    const int64_t rows = std::min<int64_t>(tiling.tileRows, left / perElement / widest / BLOCK_ROWS * BLOCK_ROWS);
    if (rows < BLOCK_ROWS) {
        return false;
    }
    tiling.slice = static_cast<int32_t>(rows * widest);
    const int64_t high = tiling.slice / tiling.blockKeys / BLOCK_ROWS * BLOCK_ROWS;
    const int64_t wide = tiling.slice / pitch / BLOCK_ROWS * BLOCK_ROWS;
    tiling.sliceRows = static_cast<int32_t>(std::min<int64_t>(tiling.tileRows, high));
    tiling.outRows = static_cast<int32_t>(std::min<int64_t>(tiling.tileRows, wide));
    return true;
}

// Parts of the keys, where a core for each tile leaves more than half of the cores idle. A causal mask hides most keys
// from few queries, so nothing is gained there.
void SplitKeys(const Cores &cores, int64_t itemSize, FlashAttentionTilingData &tiling)
{
    const int32_t pitch = static_cast<int32_t>(AlignUp(tiling.size, FRACTAL));
    const int64_t blocks = CeilDiv(tiling.keys, tiling.blockKeys);
    const int64_t fair = tiling.causal != 0 ? 1 : cores.vectors / (tiling.segments * tiling.tiles);
    const int64_t each = CeilDiv(blocks, std::max<int64_t>(1, std::min(std::min(fair, blocks), MOST_PARTS)));
    tiling.partKeys = each * tiling.blockKeys;
    tiling.parts = static_cast<int32_t>(CeilDiv(blocks, each));
    if (tiling.parts > 1 && itemSize < static_cast<int64_t>(sizeof(float))) {  // their sums leave UB as fp32
        tiling.outRows = std::min<int32_t>(tiling.outRows, tiling.slice / 2 / pitch / BLOCK_ROWS * BLOCK_ROWS);
    }
}

// A product [m, k] [k, n] from and to GM, with half of the cube core's buffers: there are two.
bool TileProduct(const platform_ascendc::PlatformAscendC &platform, const Cores &cores, matmul_tiling::DataType type,
                 bool turned, const int64_t (&mnk)[3], ::TCubeTiling &to)
{
    const int32_t m = static_cast<int32_t>(mnk[0]);
    const int32_t n = static_cast<int32_t>(mnk[1]);
    const int32_t k = static_cast<int32_t>(mnk[2]);
    matmul_tiling::MatmulApiTiling product(platform);
    product.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type);
    product.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type, turned);
    product.SetCType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
    product.SetShape(m, n, k);
    product.SetOrgShape(m, n, k);
    product.EnableBias(false);
    product.SetFixSplit(static_cast<int32_t>(std::min(BASE, AlignUp(m, FRACTAL))),
                        static_cast<int32_t>(std::min(BASE, AlignUp(n, FRACTAL))), -1);
    product.SetBufferSpace(static_cast<int32_t>(cores.l1Bytes / 2), static_cast<int32_t>(cores.l0cBytes / 2), -1);
    optiling::TCubeTiling cube;
    if (product.GetTiling(cube) == -1) {
        return false;
    }
    cube.SaveToBuffer(&to, sizeof(to));
    return true;
}
}  // namespace

ge::graphStatus FlashAttentionTiling(gert::TilingContext *context)
{
    FlashAttentionTilingData *tiling = context->GetTilingData<FlashAttentionTilingData>();
    const gert::CompileTimeTensorDesc *desc = context->GetInputDesc(0);
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    Sizes sizes = {};
    Cores cores = {};
    if (tiling == nullptr || desc == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const float *scale = attrs->GetFloat(0);
    const bool *causal = attrs->GetBool(1);
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    if (scale == nullptr || causal == nullptr || !GetSizes(context, sizes) || !GetCores(platform, cores)) {
        return ge::GRAPH_FAILED;
    }
    *tiling = FlashAttentionTilingData();
    tiling->sums = sizes.batch * sizes.queryHeads * sizes.queries;
    tiling->outputs = tiling->sums * sizes.size;
    context->SetTilingKey(KEY_WHOLE);
    context->SetBlockDim(1);  // an empty output: one core, which finds nothing to do
    workspaces[0] = platform.GetLibApiWorkSpaceSize();
    if (tiling->sums == 0) {
        return ge::GRAPH_SUCCESS;
    }
    if (sizes.keys == 0) {
        context->SetTilingKey(KEY_NO_KEYS);
        const int64_t useful = std::min(cores.vectors, tiling->outputs / 1024);
        context->SetBlockDim(static_cast<uint32_t>(std::max<int64_t>(1, useful)));
        return ge::GRAPH_SUCCESS;
    }

    const matmul_tiling::DataType type = TypeOf(desc->GetDataType());
    const int64_t itemSize = desc->GetDataType() == ge::DT_FLOAT ? 4 : 2;
    SplitQueries(sizes, cores, *tiling);
    if (!SplitRows(cores, itemSize, *tiling)) {
        return ge::GRAPH_FAILED;
    }
    const int64_t scores[3] = {tiling->tileRows, tiling->blockKeys, sizes.size};
    const int64_t product[3] = {tiling->tileRows, sizes.size, tiling->blockKeys};
    if (!TileProduct(platform, cores, type, true, scores, tiling->scores) ||
        !TileProduct(platform, cores, type, false, product, tiling->product)) {
        return ge::GRAPH_FAILED;
    }
    tiling->causal = *causal ? 1 : 0;
    tiling->scale = *scale != 0.0f ? *scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes.size)));

    SplitKeys(cores, itemSize, *tiling);
    const int64_t units = tiling->segments * tiling->tiles * tiling->parts;
    const int64_t blocks = std::min(cores.cubes, units);  // a second vector core of each joins when there are more
    tiling->workers = static_cast<int32_t>(std::min(units, blocks * (cores.vectors / cores.cubes)));
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    const uint64_t alone = sizes.keys <= tiling->blockKeys ? KEY_WHOLE : KEY_BLOCKS;
    context->SetTilingKey(tiling->parts > 1 ? KEY_SPLIT : alone);
    const int64_t floats = sizeof(float);
    const int64_t pitch = AlignUp(sizes.size, FRACTAL);
    const int64_t perRow = BUFFERS * (tiling->blockKeys * (floats + itemSize) + pitch * floats);
    const int64_t perPart = tiling->parts > 1 ? (pitch + 2) * floats : 0;  // sums, and two statistics
    workspaces[0] += static_cast<size_t>(tiling->tileRows * (tiling->workers * perRow + units * perPart));
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
