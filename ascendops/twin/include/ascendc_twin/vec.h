// Everything of the vector unit.
#pragma once

#include "ascendc_twin/vec_mask.h"
#include "ascendc_twin/vec_binary.h"
#include "ascendc_twin/vec_unary.h"
#include "ascendc_twin/vec_scalar.h"
#include "ascendc_twin/vec_cast.h"
#include "ascendc_twin/vec_fill.h"
#include "ascendc_twin/vec_select.h"
#include "ascendc_twin/vec_reduce.h"
#include "ascendc_twin/vec_gather.h"
#include "ascendc_twin/vec_sort.h"
#include "ascendc_twin/vec_transpose.h"
#include "ascendc_twin/vec_operators.h"
#include "ascendc_twin/vec_intrinsics.h"
#include "ascendc_twin/adv_math.h"
#include "ascendc_twin/adv_rows.h"
