// Collective communication of kernels (high-level API).
#pragma once

#include "kernel_operator.h"

#include "ascendc_twin/hccl.h"
