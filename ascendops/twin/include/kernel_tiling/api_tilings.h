// The tiling structures of the high-level vector API as plain structs.
#pragma once

#include <cstdint>

#include "api_fields.h"

namespace AscendC {
namespace tiling {

#define ASCENDC_TWIN_FIELD(TYPE, NAME) TYPE NAME = 0;
#define ASCENDC_TWIN_TILING(NAME)                          \
    struct NAME {                                          \
        ASCENDC_TWIN_FIELDS_##NAME(ASCENDC_TWIN_FIELD)     \
    };
ASCENDC_TWIN_API_TILINGS(ASCENDC_TWIN_TILING)
#undef ASCENDC_TWIN_TILING
#undef ASCENDC_TWIN_FIELD

}  // namespace tiling
}  // namespace AscendC
