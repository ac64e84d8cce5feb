#pragma once

#include "op_common/op_host/util/const_util.h"
