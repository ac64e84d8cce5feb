// Template arguments as the tiling key, and the utility headers of the CANN 9 operator repositories.
#include "log/log.h"
#include "op_common/op_host/infershape_broadcast_util.h"
#include "op_common/op_host/infershape_reduce_util.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "tiled_template_key.h"
#include "tiling/tiling_api.h"
#include "util/const_util.h"
#include "util/math_util.h"
#include "util/platform_util.h"

namespace optiling {
static ge::graphStatus TiledTemplateTiling(gert::TilingContext *context)
{
    const gert::StorageShape *x = context->GetInputShape(0);
    OP_CHECK_NULL_WITH_CONTEXT(context, x);
    const int64_t size = x->GetStorageShape().GetShapeSize();
    OP_CHECK_IF(size > 1000, OP_LOGE(context, "%ld elements are too many", size), return ge::GRAPH_FAILED);
    const uint32_t tiles = static_cast<uint32_t>(Ops::Base::CeilDiv<int64_t>(size, 100));
    const uint32_t type = static_cast<uint32_t>(context->GetInputDesc(0)->GetDataType());
    ASCENDC_TPL_SEL_PARAM(context, type, tiles, static_cast<uint64_t>(size % 2));
    OP_LOGI(context, "%u tiles", tiles);
    uint32_t sizes[4] = {0};
    AscendC::GetTanhMaxMinTmpSize(ge::Shape({3, 100}), 2, false, sizes[0], sizes[1]);
    AscendC::GetSinMaxMinTmpSize(ge::Shape({8}), 4, true, sizes[2], sizes[3]);
    (void)context->GetRawTilingData()->Append(sizes, 4);
    return context->SetBlockDim(Ops::Base::GetAivCoreNum(context));
}
}  // namespace optiling

namespace ops {
static ge::graphStatus TiledTemplateShape(gert::InferShapeContext *context)
{
    gert::Shape axes;
    if (Ops::Base::GetConstIntToShape(context, 2, axes)) {
        gert::Shape same({7, 7, 7});
        Ops::Base::GetValueToShape<int64_t>(context->GetInputTensor(2), same);
        OP_CHECK_IF(same.GetDimNum() != axes.GetDimNum(), OP_LOGE(context, "other sizes"), return ge::GRAPH_FAILED);
        const int64_t axis[] = {same.GetDim(0)};
        return Ops::Base::ReduceDimsWithKeepDims<int64_t>(context->GetInputShape(0), axis, 1, context->GetOutputShape(0));
    }
    return Ops::Base::InferShape4Broadcast(context);
}

class TiledTemplate : public OpDef {
public:
    explicit TiledTemplate(const char *name) : OpDef(name)
    {
        this->Input("x").DataType({ge::DT_FLOAT16, ge::DT_FLOAT});
        this->Input("other").ParamType(OPTIONAL).DataType({ge::DT_FLOAT16, ge::DT_FLOAT});
        this->Input("axes").ParamType(OPTIONAL).DataType({ge::DT_INT64, ge::DT_INT64}).ValueDepend(OPTIONAL);
        this->Output("y").Follow("x");
        this->SetInferShape(TiledTemplateShape);
        this->AICore().SetTiling(optiling::TiledTemplateTiling).AddConfig("ascend910b");
    }
};
OP_ADD(TiledTemplate);
}  // namespace ops
