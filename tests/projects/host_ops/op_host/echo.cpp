// Writes what the contexts say into the tiling data: all kinds of attributes, and how inputs map to instances.
#include <cstring>
#include <string>

#include "register/op_def_registry.h"

namespace optiling {
static void Put(gert::TilingContext *context, const std::string &text)
{
    (void)context->GetRawTilingData()->Append(text.data(), text.size());
}
template <typename T>
static std::string Join(const gert::TypedContinuousVector<T> *values)
{
    std::string text;
    for (size_t i = 0; i < values->GetSize(); ++i) {
        text += (i == 0 ? "" : ",") + std::to_string(values->GetData()[i]);
    }
    return text + ";";
}

static ge::graphStatus EchoAttrsTiling(gert::TilingContext *context)
{
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    Put(context, std::to_string(attrs->GetAttrNum()) + ";" + (*attrs->GetBool(0) ? "yes" : "no") + ";");
    Put(context, std::to_string(*attrs->GetInt(1)) + ";" + std::to_string(*attrs->GetFloat(2)) + ";" + attrs->GetStr(3) + ";");
    Put(context, Join(attrs->GetAttrPointer<gert::TypedContinuousVector<bool>>(4)) + Join(attrs->GetListInt(5)));
    Put(context, Join(attrs->GetListFloat(6)));
    const gert::ContinuousVectorVector *rows = attrs->GetListListInt(7);
    for (size_t i = 0; i < rows->GetSize(); ++i) {
        const gert::ContinuousVector *row = rows->Get(i);
        for (size_t j = 0; j < row->GetSize(); ++j) {
            Put(context, std::to_string(static_cast<const int64_t *>(row->GetData())[j]) + " ");
        }
        Put(context, "|");
    }
    Put(context, attrs->GetInt(8) == nullptr ? "null" : "?");
    context->SetBlockDim(1);
    return ge::GRAPH_SUCCESS;
}

static std::string Describe(const gert::StorageShape *shape, const gert::CompileTimeTensorDesc *desc)
{
    if (shape == nullptr || desc == nullptr) {
        return "none;";
    }
    std::string text = std::to_string(static_cast<int>(desc->GetDataType())) + "@" + std::to_string(desc->GetStorageFormat()) + ":";
    for (size_t i = 0; i < shape->GetOriginShape().GetDimNum(); ++i) {
        text += std::to_string(shape->GetOriginShape().GetDim(i)) + " ";
    }
    return text + ";";
}

static ge::graphStatus EchoInputsTiling(gert::TilingContext *context)
{
    Put(context, std::to_string(context->GetComputeNodeInputNum()) + ";");
    Put(context, Describe(context->GetOptionalInputShape(0), context->GetOptionalInputDesc(0)));
    const size_t count = context->GetIrInputInstanceInfo(1)->GetInstanceNum();
    for (size_t i = 0; i <= count; ++i) {
        Put(context, Describe(context->GetDynamicInputShape(1, i), context->GetDynamicInputDesc(1, i)));
    }
    Put(context, Describe(context->GetRequiredInputShape(2), context->GetRequiredInputDesc(2)));
    Put(context, Describe(context->GetInputShape(0), context->GetInputDesc(0)));
    const gert::Tensor *sizes = context->GetRequiredInputTensor(2);
    Put(context, sizes->GetAddr() == nullptr ? "unreadable" : std::to_string(sizes->GetData<int64_t>()[1]));
    Put(context, std::string(";") + context->GetNodeType() + (context->GetDeterministic() != 0 ? ";fixed" : ";free"));
    context->SetBlockDim(2);
    context->SetScheduleMode(1);
    size_t *workspaces = context->GetWorkspaceSizes(2);
    workspaces[0] = 32;
    workspaces[1] = context->GetWorkspaceSizes(100) == nullptr ? 64 : 0;
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus EchoInputsShape(gert::InferShapeContext *context)
{
    const gert::Tensor *sizes = context->GetRequiredInputTensor(2);
    gert::Shape *out = context->GetOutputShape(0);
    for (int64_t i = 0; sizes->GetAddr() != nullptr && i < sizes->GetShapeSize(); ++i) {
        out->AppendDim(sizes->GetData<int64_t>()[i]);
    }
    if (context->GetDynamicInputShape(1, 0) != nullptr) {
        *context->GetOutputShape(1) = *context->GetDynamicInputShape(1, 0);
    }
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class EchoAttrs : public OpDef {
public:
    explicit EchoAttrs(const char *name) : OpDef(name)
    {
        this->Input("x").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("flag").AttrType(OPTIONAL).Bool(true);
        this->Attr("count").Int();
        this->Attr("eps").AttrType(OPTIONAL).Float(1);
        this->Attr("mode").AttrType(OPTIONAL).String("none");
        this->Attr("flags").AttrType(OPTIONAL).ListBool({true, false});
        this->Attr("dims").AttrType(OPTIONAL).ListInt({-1, 2});
        this->Attr("scales").AttrType(OPTIONAL).ListFloat({0.5, 2});
        this->Attr("rows").AttrType(OPTIONAL).ListListInt({{1, 2}, {}, {3}});
        this->AICore().SetTiling(optiling::EchoAttrsTiling).AddConfig("ascend910b");
    }
};
OP_ADD(EchoAttrs);

class EchoInputs : public OpDef {
public:
    explicit EchoInputs(const char *name) : OpDef(name)
    {
        this->Input("mask").ParamType(OPTIONAL).DataType({ge::DT_BOOL}).Format({ge::FORMAT_ND});
        this->Input("parts").ParamType(DYNAMIC).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_NCHW});
        this->Input("sizes").ParamType(REQUIRED).DataType({ge::DT_INT64}).Format({ge::FORMAT_ND}).ValueDepend(OPTIONAL);
        this->Output("y").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("z").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->SetInferShape(optiling::EchoInputsShape);
        this->AICore().SetTiling(optiling::EchoInputsTiling).AddConfig("ascend910b");
    }
};
OP_ADD(EchoInputs);

class EchoTilingDepend : public OpDef {
public:
    explicit EchoTilingDepend(const char *name) : OpDef(name)
    {
        this->Input("mask").ParamType(OPTIONAL).DataType({ge::DT_BOOL}).Format({ge::FORMAT_ND});
        this->Input("parts").ParamType(DYNAMIC).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_NCHW});
        this->Input("sizes").DataType({ge::DT_INT64}).Format({ge::FORMAT_ND}).ValueDepend(REQUIRED, DependScope::TILING);
        this->Output("y").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("z").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->SetInferShape(optiling::EchoInputsShape);
        this->AICore().SetTiling(optiling::EchoInputsTiling).AddConfig("ascend910b");
    }
};
OP_ADD(EchoTilingDepend);
}  // namespace ops
