// A tiling function that hands all questions to the Matmul tiling classes: the attributes say which.
#include "register/op_def_registry.h"
#include "tiling/tiling_api.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context) {
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    const auto number = [attrs](size_t i) { return static_cast<int32_t>(*attrs->GetAttrPointer<int64_t>(i)); };
    const int32_t m = number(0), n = number(1), k = number(2), cores = number(3), type = number(4), flags = number(5);
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    static_assert(sizeof(matmul_tiling::half) == sizeof(double), "the toolkit's own choice on a host");
    matmul_tiling::MultiCoreMatmulTiling multi(platform);
    matmul_tiling::MatmulApiTiling single(platform);
    matmul_tiling::MatmulApiTilingBase *api = &multi;
    if (cores == 0) {
        api = &single;
    } else {
        multi.SetDim(cores);
        multi.EnableMultiCoreSplitK((flags & 8) != 0);
    }
    using matmul_tiling::CubeFormat;
    using matmul_tiling::DataType;
    using matmul_tiling::TPosition;
    const DataType in = static_cast<DataType>(type), out = in == DataType::DT_INT8 || in == DataType::DT_INT4 ? DataType::DT_INT32 : DataType::DT_FLOAT;
    const auto place = [flags](int32_t in_l1) { return (flags & in_l1) != 0 ? TPosition::TSCM : TPosition::GM; };
    const auto format = [flags](int32_t in_l1) { return (flags & in_l1) != 0 ? CubeFormat::NZ : CubeFormat::ND; };
    api->SetAType(place(128), format(128), in, (flags & 1) != 0);
    api->SetBType(place(256), format(256), in, (flags & 2) != 0);
    api->SetCType((flags & 16) != 0 ? TPosition::VECIN : TPosition::GM, CubeFormat::ND, out);
    api->SetBiasType(TPosition::GM, CubeFormat::ND, out);
    const bool whole = (flags & 32) != 0;
    api->SetShape(whole ? -1 : m, whole ? -1 : n, k);
    if ((flags & 64) != 0) api->SetFixSplit(128, 64, 128);
    api->SetOrgShape(m, n, k);
    api->EnableBias((flags & 4) != 0);
    api->SetBufferSpace(-1, -1, -1);
    TCubeTiling tiling;
    if (api->GetTiling(tiling) == -1) return ge::GRAPH_FAILED;
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(tiling.get_usedCoreNum()));
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class MatmulApi : public OpDef {
public:
    explicit MatmulApi(const char *name) : OpDef(name) {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        for (const char *attr : {"m", "n", "k", "cores", "type", "flags"}) this->Attr(attr).AttrType(REQUIRED).Int();
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(MatmulApi);
}  // namespace ops
