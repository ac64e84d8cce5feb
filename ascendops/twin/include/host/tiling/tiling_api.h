// The tiling side of the high-level API: temporary buffer sizes and structures.
#pragma once

#include "register/tilingdata_base.h"
#include "tiling/api_layout.h"
#include "tiling/api_norm.h"
#include "tiling/api_norm_more.h"
#include "tiling/api_sizes.h"
#include "tiling/api_softmax.h"
#include "tiling/api_structs.h"
#include "tiling/hccl/hccl_tiling.h"
#include "tiling/matmul_tiling.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tmp_size.h"
