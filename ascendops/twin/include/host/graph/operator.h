// ge::Operator, named by the signatures of CheckSupport and OpSelectFormat. The twin never calls those functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/ge_error_codes.h"
#include "graph/tensor.h"

namespace ge {
class Operator {
public:
    Operator() = default;
    explicit Operator(const char_t *) {}

    graphStatus GetName(AscendString &name) const { return name = AscendString(""), GRAPH_SUCCESS; }
    TensorDesc GetInputDesc(uint32_t) const { return TensorDesc(); }
    TensorDesc GetInputDesc(const std::string &) const { return TensorDesc(); }
    TensorDesc GetInputDescByName(const char_t *) const { return TensorDesc(); }
    TensorDesc GetOutputDesc(uint32_t) const { return TensorDesc(); }
    TensorDesc GetOutputDesc(const std::string &) const { return TensorDesc(); }
    TensorDesc GetOutputDescByName(const char_t *) const { return TensorDesc(); }
    size_t GetInputsSize() const { return 0; }
    size_t GetOutputsSize() const { return 0; }
    template <typename T>
    graphStatus GetAttr(const char_t *, T &) const {
        return GRAPH_FAILED;
    }
};
}  // namespace ge
