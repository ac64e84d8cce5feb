#include "twice.h"
#include "acl/acl.h"
#include "aclrtlaunch_twice_custom.h"
#include <pybind11/pybind11.h>
#include <torch/extension.h>
extern "C" __global__ __aicore__ void twice_custom(GM_ADDR x, GM_ADDR y) { Twice op; op.Run(x, y); }
namespace my_add {
at::Tensor run_twice(const at::Tensor &x)
{
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    at::Tensor y = at::empty_like(x);
    ACLRT_LAUNCH_KERNEL(twice_custom)(8, stream, const_cast<void *>(x.storage().data()), const_cast<void *>(y.storage().data()));
    return y;
}
}  // namespace my_add
PYBIND11_MODULE(twice_custom_mod, m)
{
    m.def("run_twice", &my_add::run_twice, "");
}
