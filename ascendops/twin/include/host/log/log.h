#pragma once

#include "op_common/log/log.h"
#include "toolchain/slog.h"

#define REPORT_INNER_ERR_MSG(code, ...) ascendops_host::Log(DLOG_ERROR, std::string(code), ##__VA_ARGS__)
