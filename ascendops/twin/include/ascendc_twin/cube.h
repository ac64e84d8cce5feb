// The instructions of the cube unit: loads into L0A and L0B, Mmad, Fixpipe, and copies of and to the memories around it.
#pragma once

#include "ascendc_twin/cube_fixpipe.h"
#include "ascendc_twin/cube_load.h"
#include "ascendc_twin/cube_mmad.h"
#include "ascendc_twin/cube_raw.h"
