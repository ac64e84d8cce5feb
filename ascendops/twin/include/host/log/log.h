#pragma once

#include "op_common/log/log.h"
