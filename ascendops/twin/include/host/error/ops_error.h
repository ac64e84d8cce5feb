#pragma once

#include "log/ops_log.h"

#define OPS_REPORT_VECTOR_INNER_ERR(desc, ...) OP_LOGE(desc, ##__VA_ARGS__)
#define OPS_REPORT_CUBE_INNER_ERR(desc, ...) OP_LOGE(desc, ##__VA_ARGS__)
#define OPS_ERR_IF(condition, log, expr) OP_CHECK_IF(condition, log, expr)
