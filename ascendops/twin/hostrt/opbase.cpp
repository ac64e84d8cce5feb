// Functions of the op_host utility headers (op_common/...), and the log that their macros write to.
#include <cstdarg>
#include <cstdio>

#include "hostrt.h"
#include "op_common/log/log.h"
#include "op_common/op_host/infershape_broadcast_util.h"
#include "op_common/op_host/infershape_elewise_util.h"
#include "op_common/op_host/infershape_reduce_util.h"
#include "op_common/op_host/tiling_base_util.h"
#include "tiling/platform/platform_ascendc.h"

namespace ascendops_host {
void Log(int level, const std::string &op, const char *format, ...) {
    if (level != DLOG_ERROR) {
        return;
    }
    char text[400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    Note("log: %s%s%s", op.c_str(), op.empty() ? "" : ": ", text);
}
}  // namespace ascendops_host

namespace Ops {
namespace Base {
std::string ToString(ge::DataType type) { return ascendops_host::DataTypeName(type); }
std::string ToString(ge::Format format) { return ascendops_host::FormatName(format); }
std::string ToString(const gert::Shape &shape) {
    std::string text = "[";
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape.GetDim(i));
    }
    return text + "]";
}
std::string ToString(const std::vector<const gert::Shape *> &shapes) {
    std::string text = "[";
    for (size_t i = 0; i < shapes.size(); ++i) {
        text += (i == 0 ? "" : ", ") + (shapes[i] == nullptr ? std::string("null") : ToString(*shapes[i]));
    }
    return text + "]";
}

ge::graphStatus InferShape4Elewise(gert::InferShapeContext *context) {
    OP_CHECK_NULL_WITH_CONTEXT(context, context->GetInputShape(0));
    OP_CHECK_NULL_WITH_CONTEXT(context, context->GetOutputShape(0));
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}

static bool BroadcastDim(int64_t a, int64_t b, int64_t &out) {
    if (a == 1 || b == 1) {
        out = a == 1 ? b : a;
        return true;
    }
    out = a == -1 ? b : a;
    return a == b || a == -1 || b == -1;
}

bool BroadcastShape(const gert::Shape *a, const gert::Shape *b, gert::Shape *out) {
    if (IsUnknownRank(*a) || IsUnknownRank(*b)) {
        SetUnknownRank(*out);
        return true;
    }
    const size_t rank = a->GetDimNum() > b->GetDimNum() ? a->GetDimNum() : b->GetDimNum();
    gert::Shape result;
    for (size_t i = 0; i < rank; ++i) {
        const size_t skip_a = rank - a->GetDimNum(), skip_b = rank - b->GetDimNum();
        int64_t dim = 0;
        if (!BroadcastDim(i < skip_a ? 1 : a->GetDim(i - skip_a), i < skip_b ? 1 : b->GetDim(i - skip_b), dim)) {
            return false;
        }
        (void)result.AppendDim(dim);
    }
    *out = result;
    return true;
}
bool BroadcastShape(const std::vector<const gert::Shape *> &shapes, gert::Shape *out) {
    if (shapes.empty()) {
        return false;
    }
    *out = *shapes[0];
    for (size_t i = 1; i < shapes.size(); ++i) {
        if (!BroadcastShape(out, shapes[i], out)) {
            return false;
        }
    }
    return true;
}
ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context, size_t input_num) {
    std::vector<const gert::Shape *> shapes;
    for (size_t i = 0; i < input_num; ++i) {
        shapes.push_back(context->GetInputShape(i));
        OP_CHECK_NULL_WITH_CONTEXT(context, shapes.back());
    }
    OP_CHECK_NULL_WITH_CONTEXT(context, context->GetOutputShape(0));
    OP_CHECK_IF(!BroadcastShape(shapes, context->GetOutputShape(0)),
                OP_LOGE(context, "shapes %s do not broadcast", ToString(shapes).c_str()), return ge::GRAPH_FAILED);
    return ge::GRAPH_SUCCESS;
}
ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context) { return InferShape4Broadcast(context, 2); }

ge::graphStatus InferShape4Reduce(gert::InferShapeContext *context) {
    const gert::Shape *x = context->GetInputShape(0);
    const gert::Tensor *axes = context->GetInputTensor(1);
    gert::Shape *out = context->GetOutputShape(0);
    const bool *keep = context->GetAttrs()->GetBool(0);
    OP_CHECK_NULL_WITH_CONTEXT(context, x);
    OP_CHECK_NULL_WITH_CONTEXT(context, axes);
    OP_CHECK_NULL_WITH_CONTEXT(context, out);
    OP_CHECK_NULL_WITH_CONTEXT(context, keep);
    if (axes->GetAddr() == nullptr) {
        *keep ? SetUnknownShape(static_cast<int64_t>(x->GetDimNum()), *out) : SetUnknownRank(*out);
        return ge::GRAPH_SUCCESS;
    }
    const int32_t count = static_cast<int32_t>(axes->GetShapeSize());
    return axes->GetDataType() == ge::DT_INT64 ? ReduceDims<int64_t>(x, axes, count, *keep, out)
                                               : ReduceDims<int32_t>(x, axes, count, *keep, out);
}

template <typename T>
static bool HasVectorRegisters(const T *context) {
    const NpuArch arch = platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCurNpuArch();
    return arch == NpuArch::DAV_3510 || arch == NpuArch::DAV_5102;
}
bool IsRegbaseSocVersion(const gert::TilingParseContext *context) { return HasVectorRegisters(context); }
bool IsRegbaseSocVersion(const gert::TilingContext *context) { return HasVectorRegisters(context); }
const gert::Shape &EnsureNotScalar(const gert::Shape &shape) {
    static const gert::Shape one{1};
    return shape.IsScalar() ? one : shape;
}
}  // namespace Base
}  // namespace Ops
