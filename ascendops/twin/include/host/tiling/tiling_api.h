// The tiling side of the high-level API: temporary buffer sizes and structures.
#pragma once

#include "register/tilingdata_base.h"
#include "tiling/api_structs.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tmp_size.h"
