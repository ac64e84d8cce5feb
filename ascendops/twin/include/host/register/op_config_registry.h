// REGISTER_OP_AICORE_CONFIG: an OpAICoreConfig for one SoC, given apart from the OpDef.
#pragma once

#include "register/op_def.h"

namespace ops {
using OpAICoreConfigCreator = OpAICoreConfig (*)();
int RegisterAICoreConfig(const char *op_type, const char *unit, OpAICoreConfigCreator creator);
}  // namespace ops

#define REGISTER_OP_AICORE_CONFIG(opType, socVersion, configFunc) \
    static int VAR_UNUSED g_##opType##_##socVersion##_config = ops::RegisterAICoreConfig(#opType, #socVersion, configFunc)
