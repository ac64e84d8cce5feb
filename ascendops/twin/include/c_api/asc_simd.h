// The C interface of Ascend C: its functions for Ascend 910B's vector cores.
#pragma once

#include "kernel_operator.h"

#include "ascendc_twin/c_api.h"
#include "ascendc_twin/c_api_cast.h"
#include "ascendc_twin/c_api_compute.h"
#include "ascendc_twin/c_api_vector.h"
