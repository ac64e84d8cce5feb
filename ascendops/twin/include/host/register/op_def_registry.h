// The header that every op_host source includes: OpDef, OP_ADD and the gert contexts.
#pragma once

// Sources count on these coming along.
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "register/op_def.h"
#include "register/op_def_factory.h"

#define OP_ADD(opType, ...)                            \
    static int VAR_UNUSED g_##opType##_added =         \
        ops::OpDefFactory::OpDefRegister(#opType, [](const char *name) -> ops::OpDef { return opType(name); })

// Sources say `using namespace AscendC;` whatever else they include.
namespace AscendC {}
