// Prototypes for graphs: REG_OP(Name).INPUT(x, TensorType({...})).ATTR(...).OP_END_FACTORY_REG(Name). An operator's OpDef says the same
// here, so a prototype declares nothing.
#pragma once

#include "graph/operator.h"

namespace ge {
struct TwinPrototype {
    TwinPrototype &Next() { return *this; }
};
}  // namespace ge

#define REG_OP(name)                  \
    namespace op {                    \
    struct name##TwinPrototype {      \
        static void Declare() { ge::TwinPrototype()
#define INPUT(name, ...) Next()
#define OPTIONAL_INPUT(name, ...) Next()
#define DYNAMIC_INPUT(name, ...) Next()
#define OUTPUT(name, ...) Next()
#define OPTIONAL_OUTPUT(name, ...) Next()
#define DYNAMIC_OUTPUT(name, ...) Next()
#define ATTR(name, ...) Next()
#define REQUIRED_ATTR(name, ...) Next()
#define DATATYPE(name, ...) Next()
#define GRAPH(name) Next()
#define DYNAMIC_GRAPH(name) Next()
#define OP_END_FACTORY_REG(name) Next(); } };  } /* namespace op */
