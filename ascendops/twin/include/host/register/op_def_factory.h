#pragma once

#include "register/op_def.h"

namespace ops {
class OpDefFactory {
public:
    using Creator = OpDef (*)(const char *);

    // Adds the operator to the library that is being loaded.
    static int OpDefRegister(const char *name, Creator creator);
};
}  // namespace ops
