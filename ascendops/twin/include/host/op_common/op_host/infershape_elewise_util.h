#pragma once

#include "exe_graph/runtime/infer_shape_context.h"

namespace Ops {
namespace Base {
// Output 0 has the shape of input 0.
ge::graphStatus InferShape4Elewise(gert::InferShapeContext *context);
}  // namespace Base
}  // namespace Ops
