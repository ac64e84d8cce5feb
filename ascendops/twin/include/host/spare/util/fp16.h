#pragma once
#include "../op_host/util/fp16.h"
