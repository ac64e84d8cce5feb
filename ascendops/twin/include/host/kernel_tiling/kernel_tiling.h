// The same plain structs as in kernels.
#pragma once

#include "../../kernel_tiling/kernel_tiling.h"
