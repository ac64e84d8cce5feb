// Logging macros of op_host code. Errors reach the caller: they are shown with the failure of the function that logged them.
#pragma once

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "graph/types.h"

#define DLOG_DEBUG 0
#define DLOG_INFO 1
#define DLOG_WARN 2
#define DLOG_ERROR 3

#ifndef unlikely
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif
#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#endif

namespace ascendops_host {
void Log(int level, const std::string &op, const char *format, ...) __attribute__((format(printf, 3, 4)));
inline void Log(int level, const std::string &op) { Log(level, op, "%s", ""); }

inline std::string LogName(const std::string &name) { return name; }
inline std::string LogName(const char *name) { return name == nullptr ? "nil" : name; }
template <typename T>
std::string LogName(const T *context) {
    return context == nullptr ? "nil" : std::string(context->GetNodeType()) + ":" + context->GetNodeName();
}
template <typename T>
std::string LogName(const std::unique_ptr<T> &context) {
    return LogName(context.get());
}

// The texts of a report, joined by ", ".
inline void LogJoin(std::ostringstream &) {}
template <typename First, typename... Rest>
void LogJoin(std::ostringstream &out, const First &first, const Rest &...rest) {
    out << (out.tellp() > 0 ? ", " : "") << first;
    LogJoin(out, rest...);
}
template <typename Name, typename... Texts>
void LogInvalid(const char *what, const Name &name, const Texts &...texts) {
    std::ostringstream out;
    LogJoin(out, texts...);
    Log(DLOG_ERROR, LogName(name), "%s: %s", what, out.str().c_str());
}
}  // namespace ascendops_host

namespace Ops {
namespace Base {
std::string ToString(ge::DataType type);
std::string ToString(ge::Format format);
std::string ToString(const gert::Shape &shape);
std::string ToString(const std::vector<const gert::Shape *> &shapes);

template <typename T>
std::string GetOpInfo(const T &name) {
    return ascendops_host::LogName(name);
}
}  // namespace Base
}  // namespace Ops

#define OP_LOGE(opName, ...) ascendops_host::Log(DLOG_ERROR, ascendops_host::LogName(opName), ##__VA_ARGS__)
#define OP_LOGW(opName, ...) ascendops_host::Log(DLOG_WARN, ascendops_host::LogName(opName), ##__VA_ARGS__)
#define OP_LOGI(opName, ...) ascendops_host::Log(DLOG_INFO, ascendops_host::LogName(opName), ##__VA_ARGS__)
#define OP_LOGD(opName, ...) ascendops_host::Log(DLOG_DEBUG, ascendops_host::LogName(opName), ##__VA_ARGS__)
#define OP_LOGV(opName, ...) OP_LOGD(opName, ##__VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(opName, ...) OP_LOGE(opName, ##__VA_ARGS__)
#define OP_EVENT(opName, ...) OP_LOGI(opName, ##__VA_ARGS__)

#define OP_CHECK_IF(condition, log, return_expr) \
    do {                                         \
        if (unlikely(condition)) {               \
            log;                                 \
            return_expr;                         \
        }                                        \
    } while (0)
#define OP_TILING_CHECK(condition, log, return_expr) OP_CHECK_IF(condition, log, return_expr)
#define OP_LOGE_IF(condition, return_value, opName, ...) OP_CHECK_IF(condition, OP_LOGE(opName, ##__VA_ARGS__), return return_value)
#define OP_CHECK_NULL_WITH_CONTEXT(context, ptr) \
    OP_CHECK_IF((ptr) == nullptr, OP_LOGE(context, "%s is null", #ptr), return ge::GRAPH_FAILED)
#define OP_CHECK_NULL_WITH_CONTEXT_RET(context, ptr, ret) \
    OP_CHECK_IF((ptr) == nullptr, OP_LOGE(context, "%s is null", #ptr), return ret)

#define OP_LOGE_WITH_INVALID_INPUT(...) ascendops_host::LogInvalid("invalid input", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPE(...) ascendops_host::LogInvalid("invalid input shape", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPESIZE(...) ascendops_host::LogInvalid("invalid input size", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_FORMAT(...) ascendops_host::LogInvalid("invalid input format", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(...) ascendops_host::LogInvalid("invalid input dtype", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR(...) ascendops_host::LogInvalid("invalid attribute", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(...) ascendops_host::LogInvalid("invalid attribute length", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE(...) ascendops_host::LogInvalid("invalid shape", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(...) ascendops_host::LogInvalid("invalid shape", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(...) ascendops_host::LogInvalid("invalid shapes", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(...) ascendops_host::LogInvalid("invalid rank", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(...) ascendops_host::LogInvalid("invalid rank", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(...) ascendops_host::LogInvalid("invalid ranks", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(...) ascendops_host::LogInvalid("invalid size", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(...) ascendops_host::LogInvalid("invalid size", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(...) ascendops_host::LogInvalid("invalid sizes", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT(...) ascendops_host::LogInvalid("invalid format", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(...) ascendops_host::LogInvalid("invalid format", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(...) ascendops_host::LogInvalid("invalid formats", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE(...) ascendops_host::LogInvalid("invalid dtype", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(...) ascendops_host::LogInvalid("invalid dtype", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(...) ascendops_host::LogInvalid("invalid dtypes", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE(...) ascendops_host::LogInvalid("invalid value", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(...) ascendops_host::LogInvalid("invalid value", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(...) ascendops_host::LogInvalid("invalid values", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(...) ascendops_host::LogInvalid("invalid configuration", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_ARGUMENT_WITH_REASON(...) ascendops_host::LogInvalid("invalid argument", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_GRAPH_NODE(...) ascendops_host::LogInvalid("invalid graph node", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_STRIDE(...) ascendops_host::LogInvalid("invalid stride", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_LISTSIZE(...) ascendops_host::LogInvalid("invalid list length", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUM(...) ascendops_host::LogInvalid("invalid number of tensors", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(...) ascendops_host::LogInvalid("invalid numbers of tensors", __VA_ARGS__)
