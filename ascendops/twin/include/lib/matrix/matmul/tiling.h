// The tiling structures of the high-level API.
#pragma once

#include "kernel_operator.h"

#include "kernel_tiling/kernel_tiling.h"
