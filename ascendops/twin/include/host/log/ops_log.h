// The OPS_... names of the logging macros, used by projects of the CANN 8 operator repository.
#pragma once

#include "op_common/log/log.h"
#include "toolchain/slog.h"

#define OPS_LOG_D(desc, ...) OP_LOGD(desc, ##__VA_ARGS__)
#define OPS_LOG_I(desc, ...) OP_LOGI(desc, ##__VA_ARGS__)
#define OPS_LOG_W(desc, ...) OP_LOGW(desc, ##__VA_ARGS__)
#define OPS_LOG_E(desc, ...) OP_LOGE(desc, ##__VA_ARGS__)
#define OPS_LOG_E_WITHOUT_REPORT(desc, ...) OP_LOGE(desc, ##__VA_ARGS__)
#define OPS_LOG_EVENT(desc, ...) OP_LOGI(desc, ##__VA_ARGS__)
#define OPS_LOG_FULL(level, desc, ...) ascendops_host::Log(level, ascendops_host::LogName(desc), ##__VA_ARGS__)
#define OPS_LOG_D_FULL(desc, ...) OP_LOGD(desc, ##__VA_ARGS__)
#define OPS_LOG_I_FULL(desc, ...) OP_LOGI(desc, ##__VA_ARGS__)
#define OPS_LOG_W_FULL(desc, ...) OP_LOGW(desc, ##__VA_ARGS__)
#define OPS_LOG_D_IF(condition, desc, expr, ...) OP_CHECK_IF(condition, OP_LOGD(desc, ##__VA_ARGS__), expr)
#define OPS_LOG_I_IF(condition, desc, expr, ...) OP_CHECK_IF(condition, OP_LOGI(desc, ##__VA_ARGS__), expr)
#define OPS_LOG_W_IF(condition, desc, expr, ...) OP_CHECK_IF(condition, OP_LOGW(desc, ##__VA_ARGS__), expr)
#define OPS_LOG_E_IF(condition, desc, expr, ...) OP_CHECK_IF(condition, OP_LOGE(desc, ##__VA_ARGS__), expr)
#define OPS_LOG_EVENT_IF(condition, desc, expr, ...) OP_CHECK_IF(condition, OP_LOGI(desc, ##__VA_ARGS__), expr)
// Sources write these with and without a semicolon behind them.
#define OP_CHECK(condition, log, expr) \
    if (condition) {                   \
        log;                           \
        expr;                          \
    }
#define OPS_LOG_E_IF_NULL(desc, ptr, expr)     \
    if ((ptr) == nullptr) {                    \
        OP_LOGE(desc, "%s is null", #ptr);     \
        expr;                                  \
    }
#define OPS_CHECK(condition, log, expr) OP_CHECK_IF(condition, log, expr)
#define OPS_CHECK_NULL_WITH_CONTEXT(context, ptr) OP_CHECK_NULL_WITH_CONTEXT(context, ptr)
#define OPS_CHECK_NULL_WITH_CONTEXT_RET(context, ptr, ret) OP_CHECK_NULL_WITH_CONTEXT_RET(context, ptr, ret)
