#pragma once
#include "../op_host/util/bfloat16.h"
