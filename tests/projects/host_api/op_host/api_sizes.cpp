// Every tiling function of the high-level vector API: the sizes that it gives, and its structures nested in an operator's own.
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ApiTilingData)
TILING_DATA_FIELD_DEF(uint32_t, first);
TILING_DATA_FIELD_DEF_STRUCT(LayerNormTiling, layerNorm);
TILING_DATA_FIELD_DEF_STRUCT(LayerNormSeparateTiling, separate);
TILING_DATA_FIELD_DEF_STRUCT(LayerNormGradTiling, grad);
TILING_DATA_FIELD_DEF_STRUCT(LayerNormGradBetaTiling, gradBeta);
TILING_DATA_FIELD_DEF_STRUCT(RmsNormTiling, rmsNorm);
TILING_DATA_FIELD_DEF_STRUCT(DeepNormTiling, deepNorm);
TILING_DATA_FIELD_DEF_STRUCT(GroupNormTiling, groupNorm);
TILING_DATA_FIELD_DEF_STRUCT(BatchNormTiling, batchNorm);
TILING_DATA_FIELD_DEF_STRUCT(SoftMaxTiling, softMax);
TILING_DATA_FIELD_DEF_STRUCT(LogSoftMaxTiling, logSoftMax);
TILING_DATA_FIELD_DEF_STRUCT(TopkTiling, topK);
TILING_DATA_FIELD_DEF_STRUCT(PadTiling, pad);
TILING_DATA_FIELD_DEF_STRUCT(UnPadTiling, unPad);
TILING_DATA_FIELD_DEF_STRUCT(ConfusionTransposeTiling, transpose);
TILING_DATA_FIELD_DEF(uint32_t, last);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ApiTilings, ApiTilingData)

static ge::graphStatus ApiTilingsTiling(gert::TilingContext *context)
{
    using namespace AscendC;
    const ge::Shape bsh({2, 15, 64, 60}), stored({2, 15, 64}), original({2, 15, 60}), matrix({30, 64});
    const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    ApiTilingData t;
    t.set_first(1);
    GetLayerNormNDTilingInfo(bsh, 8192, 4, false, t.layerNorm);
    GetLayerNormNDTilingInfo(matrix, 8192, 4, false, true, t.separate);
    GetLayerNormGradNDTilingInfo(bsh, 16384, 4, false, t.grad);
    GetLayerNormGradBetaNDTilingInfo(bsh, 8192, 2, false, t.gradBeta);
    bool good = GetRmsNormTilingInfo(stored, original, 8192, 4, t.rmsNorm);
    good = GetDeepNormTilingInfo(stored, original, 8192, 4, false, false, t.deepNorm) && good;
    GetGroupNormNDTilingInfo(ge::Shape({2, 6, 3, 5}), 8192, 2, false, 3, t.groupNorm);
    good = GetBatchNormNDTilingInfo(stored, stored, 32768, 4, false, t.batchNorm) && good;
    SoftMaxTilingFunc(matrix, 4, 4096, t.softMax);
    LogSoftMaxTilingFunc(matrix, 2, 1 << 20, t.logSoftMax);
    good = TopKTilingFunc(platform, 64, 4, 9, 4, true, TopKMode::TOPK_NORMAL, true, t.topK) && good;
    PadTilingFunc(ge::Shape({32, 15}), ge::Shape({32, 15}), 4096, 2, t.pad);
    UnPadTilingFunc(ge::Shape({32, 16}), 4096, 2, t.unPad);
    GetConfusionTransposeTilingInfo(ge::Shape({2, 3, 32, 16}), 4096, 2, 1, t.transpose);
    AscendC::tiling::SoftMaxTiling plain;
    SoftMaxFlashV2TilingFunc(matrix, 2, 4, 4096, plain, true);
    t.set_last(good && !IsBasicBlockInSoftMax(t.softMax) && plain.srcK == 64 ? 1 : 0);
    t.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(t.GetDataSize());
    return context->SetBlockDim(1);
}

// Pairs of the largest and smallest size.
static ge::graphStatus ApiSizesTiling(gert::TilingContext *context)
{
    using namespace AscendC;
    uint32_t sizes[64] = {0}, n = 0;
    const ge::Shape bsh({2, 15, 64, 60}), stored({2, 15, 64}), matrix({30, 64}), image({2, 6, 3, 5});
    const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const auto put = [&](uint32_t max, uint32_t min) {
        sizes[n++] = max;
        sizes[n++] = min;
    };
    uint32_t max = 0, min = 0;
#define SIZE(CALL) CALL; put(max, min)
    SIZE(GetLayerNormMaxMinTmpSize(bsh, 4, false, max, min));
    SIZE(GetLayerNormMaxMinTmpSize(matrix, 4, false, true, false, max, min));
    SIZE(GetLayerNormGradMaxMinTmpSize(bsh, 4, false, max, min));
    SIZE(GetLayerNormGradBetaMaxMinTmpSize(bsh, 4, false, max, min));
    SIZE(GetRmsNormMaxMinTmpSize(stored, 2, max, min));
    SIZE(GetDeepNormMaxMinTmpSize(stored, 4, false, false, max, min));
    SIZE(GetGroupNormMaxMinTmpSize(image, 2, false, 3, max, min));
    SIZE(GetBatchNormMaxMinTmpSize(stored, stored, 4, false, max, min));
    SIZE(GetNormalizeMaxMinTmpSize(matrix, 4, 4, false, true, false, max, min));
    SIZE(GetWelfordUpdateMaxMinTmpSize(matrix, 4, 4, false, false, max, min));
    SIZE(GetWelfordFinalizeMaxMinTmpSize(matrix, 4, false, max, min));
    put(GetSoftMaxMaxTmpSize(matrix, 4, false), GetSoftMaxMinTmpSize(matrix, 4, false));
    put(GetSoftMaxGradMaxTmpSize(matrix, 4, false, false), GetSoftMaxGradMinTmpSize(matrix, 4, false, false));
    SIZE(GetReduceSumMaxMinTmpSize(matrix, ge::DT_FLOAT, ReducePattern::AR, true, false, max, min));
    SIZE(GetTopKMaxMinTmpSize(platform, 64, 4, false, false, TopKMode::TOPK_NORMAL, true, 4, max, min));
    put(GetSortTmpSize(platform, 64, 4) + 1, GetConcatTmpSize(platform, 64, 4) + 1);
    GetSortMaxMinTmpSize(matrix, ge::DT_FLOAT, ge::DT_UINT32, false, SortConfig{SortType::MERGE_SORT, true}, max, min);
    put(max + 1, min + 1);
    SIZE(GetAscendQuantMaxMinTmpSize(matrix, 4, max, min));
    SIZE(GetAscendDequantMaxMinTmpSize(matrix, 4, max, min));
    SIZE(GetAscendAntiQuantMaxMinTmpSize(matrix, ge::Shape({1, 64}), false, ge::DT_INT8, ge::DT_FLOAT16, max, min));
    SIZE(GetDropOutMaxMinTmpSize(matrix, 4, false, max, min));
    SIZE(GetSelectWithBytesMaskMaxMinTmpSize(matrix, ge::Shape({1}), 4, matrix, 1, false, max, min));
    SIZE(GetBroadCastMaxMinTmpSize(platform, ge::Shape({30, 1}), matrix, 4, false, max, min));
    SIZE(GetPadMaxMinTmpSize(matrix, 2, max, min));
    SIZE(GetUnPadMaxMinTmpSize(platform, matrix, 2, max, min));
    SIZE(GetTransposeMaxMinTmpSize(matrix, 2, 7, max, min));
    SIZE(GetCumSumMaxMinTmpSize(matrix, 2, true, false, max, min));
    SIZE(GetGeluMaxMinTmpSize(matrix, 4, max, min));
    SIZE(GetSiluTmpSize(matrix, 4, false, max, min));
    SIZE(GetTransDataMaxMinTmpSize(platform, ge::Shape({1, 16, 2, 3, 5}), ge::Shape({1, 2, 1, 3, 5, 16}), ge::DT_FLOAT16,
                                   TransDataConfig{DataFormat::NCDHW, DataFormat::NDC1HWC0}, max, min));
    SIZE(GetMeanMaxMinTmpSize(64, 2, 4, false, max, min));
#undef SIZE
    (void)context->GetRawTilingData()->Append(sizes, n);
    return context->SetBlockDim(1);
}
}  // namespace optiling

namespace ops {
class ApiTilings : public OpDef {
public:
    explicit ApiTilings(const char *name) : OpDef(name)
    {
        this->Input("x").DataType({ge::DT_FLOAT});
        this->Output("y").DataType({ge::DT_FLOAT});
        this->AICore().SetTiling(optiling::ApiTilingsTiling).AddConfig("ascend910b");
    }
};
OP_ADD(ApiTilings);

class ApiSizes : public OpDef {
public:
    explicit ApiSizes(const char *name) : OpDef(name)
    {
        this->Input("x").DataType({ge::DT_FLOAT});
        this->Output("y").DataType({ge::DT_FLOAT});
        this->AICore().SetTiling(optiling::ApiSizesTiling).AddConfig("ascend910b");
    }
};
OP_ADD(ApiSizes);
}  // namespace ops
