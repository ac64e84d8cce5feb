// The log functions below the macros.
#pragma once

#include "op_common/log/log.h"

#define DLOG_NULL 4
#define DLOG_EVENT 16
#define MSG_LENGTH 1024

enum { SLOG = 0, GE = 45, OP = 63 };

inline int CheckLogLevel(int, int level) { return level >= DLOG_ERROR ? 1 : 0; }
#define DlogSub(module, sub_module, level, ...) ascendops_host::Log(level, std::string(sub_module), ##__VA_ARGS__)
#define DlogRecord(module, level, ...) ascendops_host::Log(level, std::string(), ##__VA_ARGS__)
#define dlog_error(module, ...) ascendops_host::Log(DLOG_ERROR, std::string(), ##__VA_ARGS__)
#define dlog_warn(module, ...) ascendops_host::Log(DLOG_WARN, std::string(), ##__VA_ARGS__)
#define dlog_info(module, ...) ascendops_host::Log(DLOG_INFO, std::string(), ##__VA_ARGS__)
#define dlog_debug(module, ...) ascendops_host::Log(DLOG_DEBUG, std::string(), ##__VA_ARGS__)
#define OpLogSub(module, level, desc, ...) ascendops_host::Log(level, ascendops_host::LogName(desc), ##__VA_ARGS__)
inline int AlogCheckDebugLevel(uint32_t module, int level) { return CheckLogLevel(static_cast<int>(module), level); }
