#pragma once

#include "platform/soc_spec.h"
#include "register/op_impl_registry.h"

namespace Ops {
namespace Base {
// Whether the SoC has vector registers (Ascend 950 and later).
bool IsRegbaseSocVersion(const gert::TilingParseContext *context);
bool IsRegbaseSocVersion(const gert::TilingContext *context);
// The shape, or [1] for a scalar.
const gert::Shape &EnsureNotScalar(const gert::Shape &shape);
}  // namespace Base
}  // namespace Ops
