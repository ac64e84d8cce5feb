// Macro tiling with every kind of field, through SaveToBuffer or, for tiling key 1, written in place. IMPL_OP registration.
#include "macro_layout_tiling.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"

namespace optiling {
struct MacroLayoutCompileInfo {
    uint32_t cores = 0;
};

static void Fill(MacroLayoutTiling &tiling, int64_t total)
{
    int32_t strides[3] = {10, -20, 30};
    uint8_t bytes[5] = {1, 2, 3, 4, 5};
    tiling.set_flag(0xAB);
    tiling.set_total(total);
    tiling.set_mode(7);
    tiling.set_width(0x1234);
    tiling.set_scale(1.5f);
    tiling.set_bytes(bytes);
    tiling.inner.set_steps(99);
    tiling.inner.set_strides(strides);
    tiling.inner.get_strides()[1] += 1;
    tiling.set_last(tiling.get_total() > 4);
}

static ge::graphStatus MacroLayoutTilingFunc(gert::TilingContext *context)
{
    gert::TilingData *raw = context->GetRawTilingData();
    const int64_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    MacroLayoutTiling tiling;
    if (total % 2 == 1) {
        tiling.SetDataPtr(raw->GetData());
        context->SetTilingKey(1);
    }
    Fill(tiling, total);
    MacroLayoutTiling copy(tiling);
    copy.SaveToBuffer(raw->GetData(), raw->GetCapacity());
    raw->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(context->GetCompileInfo<MacroLayoutCompileInfo>()->cores);
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus MacroLayoutParse(gert::TilingParseContext *context)
{
    context->GetCompiledInfo<MacroLayoutCompileInfo>()->cores = context->GetPlatformInfo() == nullptr ? 0 : 11;
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(MacroLayout).Tiling(MacroLayoutTilingFunc).TilingParse<MacroLayoutCompileInfo>(MacroLayoutParse);
}  // namespace optiling

namespace ops {
static ge::graphStatus MacroLayoutInferShape(gert::InferShapeContext *context)
{
    context->GetOutputShape(0)->AppendDim(context->GetInputShape(0)->GetShapeSize());
    return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(MacroLayout).InferShape(MacroLayoutInferShape).InferOutDataTypeSameWithFirstInput();

class MacroLayout : public OpDef {
public:
    explicit MacroLayout(const char *name) : OpDef(name)
    {
        this->Input("x").DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->Output("y").DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(MacroLayout, MacroLayoutCompileInfo);
}  // namespace ops
