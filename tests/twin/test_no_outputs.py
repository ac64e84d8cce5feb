"""An operator that registers no output writes into its inputs."""

import torch

import ascendops

_HOST = """\
#include "register/op_def_registry.h"
namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context) {
    context->SetBlockDim(1);
    context->GetRawTilingData()->SetDataSize(0);
    return ge::GRAPH_SUCCESS;
}
}
namespace ops {
class Fill3 : public OpDef {
public:
    explicit Fill3(const char *name) : OpDef(name) {
        this->Input("a").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("b").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Fill3);
}
"""

_KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void fill3(GM_ADDR a, GM_ADDR b, GM_ADDR workspace, GM_ADDR tiling) {
    AscendC::TPipe pipe;
    AscendC::GlobalTensor<float> gm;
    gm.SetGlobalBuffer((__gm__ float *)b);
    AscendC::InitGlobalMemory(gm, 24, 3.0f);
}
"""


def test_no_outputs(tmp_path):
    (tmp_path / "op_host").mkdir()
    (tmp_path / "op_kernel").mkdir()
    (tmp_path / "op_host" / "fill3.cpp").write_text(_HOST)
    (tmp_path / "op_kernel" / "fill3.cpp").write_text(_KERNEL)
    op = next(iter(ascendops.open_project(tmp_path).build(backend="twin").ops.values()))
    a, b = torch.zeros(5, 7), torch.zeros(3, 8)  # they do not broadcast
    assert op.run(a, b).outputs == ()
    assert b.eq(3).all()
