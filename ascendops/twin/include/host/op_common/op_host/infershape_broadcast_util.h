#pragma once

#include <vector>

#include "exe_graph/runtime/infer_shape_context.h"

namespace Ops {
namespace Base {
// NumPy broadcasting; an unknown dim broadcasts with 1 and with itself, and yields to a known one. False if shapes do not fit.
bool BroadcastShape(const gert::Shape *a, const gert::Shape *b, gert::Shape *out);
bool BroadcastShape(const std::vector<const gert::Shape *> &shapes, gert::Shape *out);
ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context);
ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context, size_t input_num);
}  // namespace Base
}  // namespace Ops
