#include "register/op_def_registry.h"
#include "../op_kernel/scale_tpl_tiling.h"
#include "../op_kernel/scale_tpl_tiling_key.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    ScaleTplTilingData *data = context->GetTilingData<ScaleTplTilingData>();
    data->length = static_cast<uint32_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    const int64_t factor = *context->GetAttrs()->GetInt(0);
    const bool negate = *context->GetAttrs()->GetBool(1);
    context->SetBlockDim(1);
    context->SetTilingKey(GET_TPL_TILING_KEY(static_cast<uint64_t>(factor), static_cast<uint64_t>(negate)));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
static ge::graphStatus InferShape(gert::InferShapeContext *context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class ScaleTpl : public OpDef {
public:
    explicit ScaleTpl(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("factor").AttrType(REQUIRED).Int();
        this->Attr("negate").AttrType(OPTIONAL).Bool(false);
        this->SetInferShape(optiling::InferShape);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ScaleTpl);
}  // namespace ops
