// The header that Ascend C kernels include. On this machine it is the CPU twin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <tuple>
#include <type_traits>

#include "ascendc_twin/macros.h"
#include "ascendc_twin/half.h"
#include "ascendc_twin/tensor.h"
#include "ascendc_twin/layout.h"
#include "ascendc_twin/list_tensor.h"
#include "ascendc_twin/pipe.h"
#include "ascendc_twin/buf_pool.h"
#include "ascendc_twin/sync.h"
#include "ascendc_twin/copy.h"
#include "ascendc_twin/cube.h"
#include "ascendc_twin/sys.h"
#include "ascendc_twin/tiling.h"
#include "ascendc_twin/debug.h"
#include "ascendc_twin/launch.h"
#include "ascendc_twin/vec.h"
#include "ascendc_twin/reduce_names.h"
#include "ascendc_twin/sync_order.h"
#include "ascendc_twin/group_barrier.h"
#include "ascendc_twin/hccl_context.h"
#include "ascendc_twin/sys_access.h"
#include "ascendc_twin/sys_query.h"
#include "ascendc_twin/vec_constants.h"
#include "ascendc_twin/api_raw.h"
#include "ascendc_twin/debug_raw.h"
#include "ascendc_twin/cce_copy.h"
#include "ascendc_twin/cce_cross.h"
#include "ascendc_twin/cce_transpose.h"
#include "ascendc_twin/cce_vector.h"
#include "ascendc_twin/cce_reduce.h"

#define __bf16 bfloat16_t  // the device compiler's own name, also that of another type of newer GCC: only here, behind every header

#ifndef ASCENDC_TWIN_QUALIFIED  // set for a source with a global type that has the name of an Ascend C one
using namespace AscendC;
#else
using AscendC::GetTPipePtr;  // outside of AscendC in the public header, too
using AscendC::g_coreType;  // the compiler's own
#endif
