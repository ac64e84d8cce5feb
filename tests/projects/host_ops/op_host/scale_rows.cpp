// Plain-struct tiling, the platform, an optional input and an attribute.
#include "register/op_def_registry.h"
#include "scale_rows_tiling.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus ScaleRowsTiling(gert::TilingContext *context)
{
    const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    const gert::Shape &shape = context->GetInputShape(0)->GetStorageShape();
    auto *tiling = context->GetTilingData<ScaleRowsTilingData>();
    tiling->rows = static_cast<uint64_t>(shape.GetShapeSize() / shape.GetDim(shape.GetDimNum() - 1));
    tiling->columns = static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1));
    tiling->factor = *context->GetAttrs()->GetFloat(0);
    tiling->ubBytes = static_cast<uint32_t>(ubBytes);
    context->SetTilingKey(context->GetOptionalInputShape(1) == nullptr ? 1 : 2);
    context->SetBlockDim(platform.GetCoreNum());
    context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus ScaleRowsInferShape(gert::InferShapeContext *context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
static graphStatus ScaleRowsInferDataType(gert::InferDataTypeContext *context)
{
    return context->SetOutputDataType(0, context->GetInputDataType(0));
}
}  // namespace ge

namespace ops {
class ScaleRows : public OpDef {
public:
    explicit ScaleRows(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("bias")
            .ParamType(OPTIONAL)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("factor").AttrType(OPTIONAL).Float(0.5);
        this->SetInferShape(ge::ScaleRowsInferShape).SetInferDataType(ge::ScaleRowsInferDataType);
        this->AICore().SetTiling(optiling::ScaleRowsTiling);
        this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
    }
};
OP_ADD(ScaleRows);
}  // namespace ops
