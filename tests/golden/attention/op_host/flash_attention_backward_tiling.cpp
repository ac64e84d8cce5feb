// Tiling of flash_attention_backward:
// p = exp(scale * q k^T - lse), s = scale * p * (grad_out v^T - delta), grad: q = s k, k = s^T q, v = p^T grad_out.
// A vector core has tiles of keys, and goes through the queries of all heads that see them in blocks; and tiles of
// these queries, and goes through the keys; or, with enough heads, all tiles of keys of some. Before that, the vector
// cores share out the queries.
#include <cmath>

#include "row_tiling.h"
#include "tiling/tiling_api.h"

#include "../op_kernel/flash_attention_backward_tiling.h"

namespace optiling {
namespace {
using namespace row_tiling;

constexpr uint64_t KEY_TILES = 1;
constexpr uint64_t KEY_NO_PAIRS = 2;
constexpr uint64_t KEY_HEADS = 3;
constexpr int64_t MOST = 2147483647 / 2;  // queries of a segment, keys of a head
constexpr int64_t MOST_SIZE = 512;        // of a head
constexpr int64_t FRACTAL = 16;
constexpr int64_t BLOCK_ROWS = 8;   // a slice of rows starts at a whole block of 8 values
constexpr int64_t MOST_ROWS = 128;  // of a tile
constexpr int64_t MOST_BLOCK = 256;
constexpr int64_t BASE = 128;  // rows and columns of a block of the cube core
constexpr int64_t FIXED_BYTES = 8192 + 1024;  // what the system reserves of UB, and rounding of buffers
constexpr int64_t FLOAT = 4;
constexpr int64_t MOST_SUMS = 536870912;  // bytes of the workspace for grad_q of whole segments
constexpr uint32_t ALL_AT_ONCE = 1;  // schedule mode: cores that wait for each other must all run

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
    const gert::StorageShape *inputs[3] = {context->GetInputShape(2), context->GetInputShape(3),
                                           context->GetInputShape(4)};
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

// Tiles of up to 128 rows, but lower if there would be too few for the vector cores.
void SplitTiles(const Sizes &sizes, const Cores &cores, FlashAttentionBackwardTilingData &tiling)
{
    tiling.segments = sizes.batch * sizes.keyHeads;
    tiling.rows = sizes.queryHeads / sizes.keyHeads * sizes.queries;
    tiling.queries = sizes.queries;
    tiling.keys = sizes.keys;
    tiling.size = static_cast<int32_t>(sizes.size);
    int64_t most = MOST_ROWS;
    while (most > FRACTAL &&
           tiling.segments * (CeilDiv(tiling.rows, most) + CeilDiv(tiling.keys, most)) < cores.vectors) {
        most /= 2;
    }
    tiling.queryTiles = CeilDiv(tiling.rows, most);
    tiling.keyTiles = CeilDiv(tiling.keys, most);
    tiling.tileQueries = static_cast<int32_t>(AlignUp(CeilDiv(tiling.rows, tiling.queryTiles), FRACTAL));
    tiling.tileKeys = static_cast<int32_t>(AlignUp(CeilDiv(tiling.keys, tiling.keyTiles), FRACTAL));
    tiling.queryTiles = CeilDiv(tiling.rows, tiling.tileQueries);
    tiling.keyTiles = CeilDiv(tiling.keys, tiling.tileKeys);
    tiling.tileRows = std::max(tiling.tileQueries, tiling.tileKeys);
    tiling.block = static_cast<int32_t>(std::min(MOST_BLOCK, AlignUp(std::max(tiling.rows, tiling.keys), LANES)));
}

// Slices: two buffers each of scores and their gradients, and of the weights and slopes that go out. Besides them two
// statistics, side by side and over blocks.
bool SplitRows(const Cores &cores, int64_t itemSize, FlashAttentionBackwardTilingData &tiling)
{
    const int64_t pitch = AlignUp(tiling.size, FRACTAL);
    const int64_t statistics = 2 * (std::max(tiling.tileRows, tiling.block) * FLOAT + tiling.tileRows * BLOCK_BYTES);
    const int64_t perElement = 2 * BUFFERS * (FLOAT + itemSize);
    const int64_t widest = std::max<int64_t>(pitch, tiling.block);
    const int64_t left = (cores.ubBytes - FIXED_BYTES - statistics) / perElement / widest;
    const int64_t rows = std::min<int64_t>(tiling.tileRows, left / BLOCK_ROWS * BLOCK_ROWS);
    if (rows < BLOCK_ROWS) {
        return false;
    }
    tiling.slice = static_cast<int32_t>(rows * widest);
    tiling.sliceRows = std::min(tiling.tileRows, tiling.slice / tiling.block / 8 * 8);
    tiling.outRows = std::min(tiling.tileRows, static_cast<int32_t>(tiling.slice / pitch));
    return true;
}

// The queries of all heads over the vector cores; out and grad_out in two buffers each, for 16-bit types with fp32
// copies, half of one to fold rows in, and two buffers each of a value that comes in and one that goes out.
bool SplitDeltas(const Cores &cores, int64_t itemSize, int64_t vectors, FlashAttentionBackwardTilingData &tiling)
{
    const int64_t queries = tiling.segments * tiling.rows;
    tiling.deltas.formerUnits = CeilDiv(queries, vectors);
    tiling.deltas.tailUnits = queries / vectors;
    tiling.deltas.formerCores = queries % vectors;
    const int64_t perElement = 2 * (BUFFERS * itemSize + (itemSize == FLOAT ? 0 : FLOAT)) + FLOAT / 2;
    const int64_t perRow = PitchOf(tiling.size, itemSize) * perElement + 2 * BUFFERS * FLOAT;
    const int64_t fitting = std::min((cores.ubBytes - FIXED_BYTES) / perRow, MAX_TILE_ROWS);
    tiling.deltaRows = static_cast<int32_t>(std::min(fitting, tiling.deltas.formerUnits));
    return tiling.deltaRows > 0;
}

// A product [m, k] [k, n] from and to GM; each of its blocks has up to BASE rows and baseN columns.
struct Product {
    int64_t m;
    int64_t n;
    int64_t k;
    bool turnedA;
    bool turnedB;
    int64_t baseN;
};

bool TileProduct(const platform_ascendc::PlatformAscendC &platform, const Cores &cores, matmul_tiling::DataType type,
                 const Product &of, int64_t share, ::TCubeTiling &to)
{
    const int32_t m = static_cast<int32_t>(of.m);
    const int32_t n = static_cast<int32_t>(of.n);
    const int32_t k = static_cast<int32_t>(of.k);
    const int64_t sums = cores.l0cBytes / 2 * of.baseN / BASE;  // bytes
    matmul_tiling::MatmulApiTiling product(platform);
    product.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type, of.turnedA);
    product.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type, of.turnedB);
    product.SetCType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
    product.SetShape(m, n, k);
    product.SetOrgShape(m, n, k);
    product.EnableBias(false);
    product.SetFixSplit(static_cast<int32_t>(std::min(BASE, AlignUp(m, FRACTAL))),
                        static_cast<int32_t>(std::min(of.baseN, AlignUp(n, FRACTAL))), -1);
    product.SetBufferSpace(static_cast<int32_t>(cores.l1Bytes / share), static_cast<int32_t>(sums), -1);
    optiling::TCubeTiling cube;
    if (product.GetTiling(cube) == -1) {
        return false;
    }
    cube.SaveToBuffer(&to, sizeof(to));
    return true;
}

// The workspace after the library's: deltas; scores, their gradients, weights and slopes; two results of a tile; grad_q
// of a segment.
int64_t WorkspaceBytes(int64_t itemSize, bool heads, const FlashAttentionBackwardTilingData &tiling)
{
    const int64_t pitch = AlignUp(tiling.size, FRACTAL);
    const int64_t deltas = AlignUp(tiling.segments * tiling.rows, LANES) * FLOAT;
    const int64_t perRow = 2 * (tiling.block * (FLOAT + itemSize) + pitch * FLOAT);
    const int64_t queries = heads ? tiling.rows * pitch * FLOAT : 0;
    return deltas + tiling.workers * (BUFFERS * tiling.tileRows * perRow + queries);
}

// Whole heads cost five products for a pair of a tile and a block, tiles seven; but some cores may have a head less.
bool HasWholeHeads(const Cores &cores, const FlashAttentionBackwardTilingData &tiling)
{
    const int64_t busy = CeilDiv(tiling.segments, cores.vectors) * cores.vectors;
    const int64_t sums = cores.vectors * tiling.rows * AlignUp(tiling.size, FRACTAL) * FLOAT;
    return busy * 5 <= tiling.segments * 7 && sums <= MOST_SUMS;
}

// The products of tiles and blocks; grad_q of whole heads needs a third one, and they share the cube core's buffers.
bool TileProducts(const platform_ascendc::PlatformAscendC &platform, const Cores &cores, matmul_tiling::DataType type,
                  bool heads, FlashAttentionBackwardTilingData &tiling)
{
    const Product scores = {tiling.tileRows, tiling.block, tiling.size, false, true, BASE};
    const Product product = {tiling.tileRows, tiling.size, tiling.block, false, false, heads ? BASE / 2 : BASE};
    const Product turned = {tiling.block, tiling.size, tiling.tileRows, true, false, BASE / 2};
    const int64_t share = heads ? 3 : 2;
    return TileProduct(platform, cores, type, scores, share, tiling.scores) &&
           TileProduct(platform, cores, type, product, share, tiling.product) &&
           (!heads || TileProduct(platform, cores, type, turned, share, tiling.turned));
}

bool TilePairs(gert::TilingContext *context, const Sizes &sizes, const Cores &cores,
               FlashAttentionBackwardTilingData &tiling)
{
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    const ge::DataType type = context->GetInputDesc(0)->GetDataType();
    const int64_t itemSize = ItemSize(type);
    SplitTiles(sizes, cores, tiling);
    const bool heads = HasWholeHeads(cores, tiling);
    const int64_t units = tiling.segments * (heads ? 1 : tiling.queryTiles + tiling.keyTiles);
    const int64_t ratio = cores.vectors / cores.cubes;
    const int64_t blocks = std::min(cores.cubes, units);  // a second vector core of each joins when there are more
    tiling.workers = static_cast<int32_t>(std::min(units, blocks * ratio));
    if (!SplitRows(cores, itemSize, tiling) || !SplitDeltas(cores, itemSize, blocks * ratio, tiling) ||
        !TileProducts(platform, cores, TypeOf(type), heads, tiling)) {
        return false;
    }
    context->SetTilingKey(heads ? KEY_HEADS : KEY_TILES);
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    context->SetScheduleMode(ALL_AT_ONCE);
    context->GetWorkspaceSizes(1)[0] += static_cast<size_t>(WorkspaceBytes(itemSize, heads, tiling));
    return true;
}
}  // namespace

ge::graphStatus FlashAttentionBackwardTiling(gert::TilingContext *context)
{
    FlashAttentionBackwardTilingData *tiling = context->GetTilingData<FlashAttentionBackwardTilingData>();
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    size_t *workspaces = context->GetWorkspaceSizes(1);
    if (tiling == nullptr || context->GetInputDesc(0) == nullptr || attrs == nullptr || workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const float *scale = attrs->GetFloat(0);
    const bool *causal = attrs->GetBool(1);
    Sizes sizes = {};
    Cores cores = {};
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    if (scale == nullptr || causal == nullptr || !GetSizes(context, sizes) || !GetCores(platform, cores)) {
        return ge::GRAPH_FAILED;
    }
    *tiling = FlashAttentionBackwardTilingData();
    tiling->queryElements = sizes.batch * sizes.queryHeads * sizes.queries * sizes.size;
    tiling->keyElements = sizes.batch * sizes.keyHeads * sizes.keys * sizes.size;
    tiling->causal = *causal ? 1 : 0;
    tiling->scale = *scale != 0.0f ? *scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes.size)));
    workspaces[0] = platform.GetLibApiWorkSpaceSize();
    if (tiling->queryElements == 0 || tiling->keyElements == 0) {
        context->SetTilingKey(KEY_NO_PAIRS);
        const int64_t useful = std::min(cores.vectors, (tiling->queryElements + tiling->keyElements) / 1024);
        context->SetBlockDim(static_cast<uint32_t>(std::max<int64_t>(1, useful)));
        return ge::GRAPH_SUCCESS;
    }
    return TilePairs(context, sizes, cores, *tiling) ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}
}  // namespace optiling
