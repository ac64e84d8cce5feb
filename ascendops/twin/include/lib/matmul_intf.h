// The Matmul object (high-level API).
#pragma once

#include "kernel_operator.h"

#include "ascendc_twin/matmul/matmul.h"
