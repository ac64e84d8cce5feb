// InferShape and InferDataType with unknown dims and ranks.
#include "register/op_def_registry.h"

namespace ge {
static graphStatus SumShape(gert::InferShapeContext *context)
{
    const gert::Shape *x = context->GetInputShape(0);
    gert::Shape *y = context->GetOutputShape(0);
    if (x->GetDimNum() == 1 && x->GetDim(0) == UNKNOWN_DIM_NUM) {
        *y = *x;
        return GRAPH_SUCCESS;
    }
    const int64_t axis = *context->GetAttrs()->GetInt(0);
    if (axis >= static_cast<int64_t>(x->GetDimNum())) {
        return GRAPH_PARAM_INVALID;
    }
    y->SetDimNum(0);
    for (size_t i = 0; i < x->GetDimNum(); ++i) {
        if (static_cast<int64_t>(i) != axis) {
            y->AppendDim(x->GetDim(i));
        }
    }
    return GRAPH_SUCCESS;
}
static graphStatus SumDataType(gert::InferDataTypeContext *context)
{
    const DataType x = context->GetInputDataType(0);
    return context->SetOutputDataType(0, x == DT_FLOAT16 || x == DT_BF16 ? DT_FLOAT : x);
}
}  // namespace ge

namespace ops {
class SumAxis : public OpDef {
public:
    explicit SumAxis(const char *name) : OpDef(name)
    {
        this->Input("x").DataType({ge::DT_FLOAT16, ge::DT_INT32}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y").DataType({ge::DT_FLOAT, ge::DT_INT32}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("axis").AttrType(REQUIRED).Int();
        this->Attr("eps").AttrType(OPTIONAL).Float(1e-5);
        this->SetInferShape(ge::SumShape).SetInferDataType(ge::SumDataType);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(SumAxis);
}  // namespace ops
