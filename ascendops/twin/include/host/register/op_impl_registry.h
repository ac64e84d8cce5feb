// Registration of InferShape, InferDataType and tiling functions by operator type (IMPL_OP...).
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "exe_graph/runtime/base_type.h"
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/infer_shape_range_context.h"
#include "exe_graph/runtime/op_execute_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "graph/ascend_string.h"
#include "graph/compiler_def.h"
#include "graph/ge_error_codes.h"
#include "graph/types.h"

namespace ascendops_host {
struct OpImpl;  // the functions registered for one operator type
}

namespace gert {
enum TilingPlacement { TILING_ON_HOST = 0, TILING_ON_AICPU = 1 };

class OpImplRegisterV2 {
public:
    using InferShapeKernelFunc = UINT32 (*)(InferShapeContext *);
    using InferShapeRangeKernelFunc = UINT32 (*)(InferShapeRangeContext *);
    using InferDataTypeKernelFunc = UINT32 (*)(InferDataTypeContext *);
    using TilingKernelFunc = UINT32 (*)(TilingContext *);
    using GenSimplifiedKeyKernelFunc = UINT32 (*)(TilingContext *, ge::char_t *);
    using OpExecFunc = UINT32 (*)(OpExecuteContext *);
    using KernelFunc = UINT32 (*)(KernelContext *);
    using TilingParseFunc = UINT32 (*)(TilingParseContext *);
    using CompileInfoCreatorFunc = void *(*)();
    using CompileInfoDeleterFunc = void (*)(void *);
    using OpType = ge::AscendString;

    explicit OpImplRegisterV2(const ge::char_t *op_type);

    OpImplRegisterV2 &InferShape(InferShapeKernelFunc func);
    OpImplRegisterV2 &InferShapeRange(InferShapeRangeKernelFunc func);
    OpImplRegisterV2 &InferDataType(InferDataTypeKernelFunc func);
    OpImplRegisterV2 &InferOutDataTypeSameWithFirstInput();
    OpImplRegisterV2 &Tiling(TilingKernelFunc func, size_t max_tiling_data_size = 2048);
    template <typename T>
    OpImplRegisterV2 &TilingParse(TilingParseFunc func) {
        return TilingParse(reinterpret_cast<KernelFunc>(reinterpret_cast<void *>(func)), true, Create<T>, Delete<T>);
    }
    template <typename T>
    OpImplRegisterV2 &TilingParse(KernelFunc func) {
        return TilingParse(func, false, Create<T>, Delete<T>);
    }
    OpImplRegisterV2 &InputsDataDependency(std::initializer_list<int32_t> inputs);
    OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t> inputs);
    OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t> inputs,
                                                 std::initializer_list<TilingPlacement> placements);

    // Of graph compilation and aclnn execution: accepted, without effect in the twin.
    OpImplRegisterV2 &GenSimplifiedKey(GenSimplifiedKeyKernelFunc) { return *this; }
    OpImplRegisterV2 &OpExecuteFunc(OpExecFunc) { return *this; }
    OpImplRegisterV2 &HostInputs(std::initializer_list<int32_t>) { return *this; }
    OpImplRegisterV2 &OutputShapeDependOnCompute(std::initializer_list<int32_t>) { return *this; }
    OpImplRegisterV2 &NullableOutputs(std::initializer_list<int32_t>) { return *this; }
    OpImplRegisterV2 &PrivateAttr(const ge::char_t *) { return *this; }
    template <typename T>
    OpImplRegisterV2 &PrivateAttr(const ge::char_t *, const T &) {
        return *this;
    }

private:
    OpImplRegisterV2 &TilingParse(KernelFunc func, bool typed, CompileInfoCreatorFunc creator,
                                  CompileInfoDeleterFunc deleter);
    template <typename T>
    static void *Create() {
        return new T();
    }
    template <typename T>
    static void Delete(void *object) {
        delete static_cast<T *>(object);
    }

    ascendops_host::OpImpl *impl_;
};
}  // namespace gert

#define IMPL_OP_JOIN_(name, counter) static gert::OpImplRegisterV2 VAR_UNUSED name##counter
#define IMPL_OP_JOIN(name, counter) IMPL_OP_JOIN_(name, counter)
#define IMPL_OP(op_type) IMPL_OP_JOIN(op_impl_register_##op_type, __COUNTER__) = gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_DEFAULT() IMPL_OP(DefaultImpl)
#define IMPL_OP_INFERSHAPE(op_type) \
    static gert::OpImplRegisterV2 VAR_UNUSED op_impl_register_infershape_##op_type = gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_OPTILING(op_type) \
    static gert::OpImplRegisterV2 VAR_UNUSED op_impl_register_optiling_##op_type = gert::OpImplRegisterV2(#op_type)
