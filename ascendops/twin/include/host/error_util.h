#pragma once

#include "error/ops_error.h"
#include "log/ops_log.h"
#include "op_common/log/log.h"

#define VECTOR_INNER_ERR_REPORT_TILIING(desc, ...) OP_LOGE(desc, ##__VA_ARGS__)
#define VECTOR_INFER_SHAPE_INNER_ERR_REPORT(desc, err) OP_LOGE(desc, "%s", std::string(err).c_str())
#define CUBE_INNER_ERR_REPORT(desc, ...) OP_LOGE(desc, ##__VA_ARGS__)
#define OP_LOGW_IF(condition, opName, ...) OP_CHECK_IF(condition, OP_LOGW(opName, ##__VA_ARGS__), )
#define OP_LOGI_IF_RETURN(condition, return_value, opName, ...) OP_CHECK_IF(condition, OP_LOGI(opName, ##__VA_ARGS__), return return_value)
