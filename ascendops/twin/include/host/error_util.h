#pragma once

#include "op_common/log/log.h"

#define VECTOR_INNER_ERR_REPORT_TILIING(desc, ...) OP_LOGE(desc, __VA_ARGS__)
#define VECTOR_INFER_SHAPE_INNER_ERR_REPORT(desc, err) OP_LOGE(desc, "%s", std::string(err).c_str())
#define CUBE_INNER_ERR_REPORT(desc, ...) OP_LOGE(desc, __VA_ARGS__)
