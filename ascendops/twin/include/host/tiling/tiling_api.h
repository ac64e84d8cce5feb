// The tiling side of the high-level API.
#pragma once

#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"
