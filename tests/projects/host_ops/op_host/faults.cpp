// Tiling functions that fail, each in its own way (chosen by the attribute `how`).
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "register/op_def_registry.h"

namespace optiling {
struct Huge {
    uint8_t bytes[1 << 20];
};

static int64_t Deep(volatile int64_t depth)
{
    volatile char frame[4096];
    frame[0] = static_cast<char>(depth);
    return depth <= 0 ? frame[0] : Deep(depth + 1) + frame[0];
}

static ge::graphStatus FaultTiling(gert::TilingContext *context)
{
    const int64_t how = *context->GetAttrs()->GetInt(0);
    volatile int64_t zero = context->GetInputShape(0)->GetStorageShape().GetDim(0);
    context->SetBlockDim(1);
    if (how == 1) {
        return ge::GRAPH_FAILED;
    }
    if (how == 2) {
        context->SetBlockDim(static_cast<uint32_t>(context->GetInputShape(5)->GetStorageShape().GetDim(0)));
    }
    if (how == 3) {
        context->SetBlockDim(static_cast<uint32_t>(8 / zero));
    }
    if (how == 4) {
        (void)std::vector<int>(3).at(static_cast<size_t>(how));
    }
    if (how == 5) {
        throw 7;
    }
    if (how == 6) {
        std::abort();
    }
    if (how == 7) {
        for (volatile int64_t i = 1; i > 0; i += zero) {
        }
    }
    if (how == 8) {
        context->SetBlockDim(static_cast<uint32_t>(Deep(1)));
    }
    if (how == 9) {
        context->SetBlockDim(0);
    }
    if (how == 10) {
        context->GetTilingData<Huge>()->bytes[0] = 1;
    }
    if (how == 11) {
        auto *data = static_cast<uint8_t *>(context->GetRawTilingData()->GetData());
        data[context->GetRawTilingData()->GetCapacity() + 3] = 1;
    }
    if (how == 12) {
        context->GetRawTilingData()->SetDataSize(context->GetRawTilingData()->GetCapacity() + 1);
    }
    if (how == 13) {
        (void)*context->GetAttrs()->GetFloat(0);
    }
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
class Faulty : public OpDef {
public:
    explicit Faulty(const char *name) : OpDef(name)
    {
        this->Input("x").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("how").AttrType(OPTIONAL).Int(0);
        this->AICore().SetTiling(optiling::FaultTiling).AddConfig("ascend910b");
    }
};
OP_ADD(Faulty);
}  // namespace ops
