// Declarations only: dtype columns, lists, Follow, and a different declaration for one compute unit.
#include "register/op_def_registry.h"

namespace ops {
class Lists : public OpDef {
public:
    explicit Lists(const char *name) : OpDef(name)
    {
        this->Input("x").DataTypeList({ge::DT_FLOAT, ge::DT_FLOAT16});
        this->Input("w").DataType({ge::DT_INT8, ge::DT_INT32}).FormatList({ge::FORMAT_ND, ge::FORMAT_FRACTAL_NZ});
        this->Output("y").Follow("x");
        this->Output("s").DataTypeList({ge::DT_FLOAT}).Follow("w", FollowType::SHAPE);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Lists);

class PerUnit : public OpDef {
public:
    explicit PerUnit(const char *name) : OpDef(name)
    {
        this->Input("x").DataType({ge::DT_FLOAT, ge::DT_BF16}).Format({ge::FORMAT_ND, ge::FORMAT_ND}).AutoContiguous();
        this->Output("x").DataType({ge::DT_FLOAT, ge::DT_BF16}).Format({ge::FORMAT_ND, ge::FORMAT_ND}).InitValue(0);
        OpAICoreConfig old;
        old.Input("x").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        old.Output("x").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        old.DynamicShapeSupportFlag(true).ExtendCfgInfo("opFile.value", "per_unit");
        this->AICore().AddConfig("ascend910b").AddConfig("ascend310p", old);
    }
};
OP_ADD(PerUnit);
}  // namespace ops
