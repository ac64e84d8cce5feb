// What different cores did to the same bytes of global memory.
#pragma once

#include <vector>

#include "core.h"
#include "gm_log.h"
#include "gm_pages.h"

namespace ascendc_twin {

// Findings about pairs of accesses of different cores that nothing orders, in the order of the buffers.
std::vector<Finding> races_between_cores(std::vector<CoreLog> &logs, const std::vector<Range> &ranges);

}  // namespace ascendc_twin
