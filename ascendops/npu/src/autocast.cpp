// torch.autocast("npu"): PyTorch's own lists of operators for lower precision, float32 and promotion.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace at::autocast {
namespace {

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m)
{
#define ASCENDOPS_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define ASCENDOPS_FLOAT(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define ASCENDOPS_OPT(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define ASCENDOPS_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
    AT_FORALL_LOWER_PRECISION_FP(ASCENDOPS_LOWER)
    AT_FORALL_FP32(ASCENDOPS_FLOAT)
    AT_FORALL_FP32_SET_OPT_DTYPE(ASCENDOPS_OPT)
    AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
    AT_FORALL_PROMOTE(ASCENDOPS_PROMOTE)
}

}  // namespace
}  // namespace at::autocast
