// The declaration of an operator in C++: inputs, outputs, attributes, supported SoCs and the host functions.
#pragma once

#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/operator_reg.h"
#include "graph/types.h"
#include "register/op_impl_registry.h"

#define FUNC_CHECK_SUPPORTED "check_supported"
#define FUNC_OP_SELECT_FORMAT "op_select_format"
#define FUNC_GET_OP_SUPPORT_INFO "get_op_support_info"
#define FUNC_GET_SPECIFIC_INFO "get_op_specific_info"

namespace optiling {
using OP_CHECK_FUNC = ge::graphStatus (*)(const ge::Operator &op, ge::AscendString &result);
using PARAM_GENERALIZE_FUNC = ge::graphStatus (*)(const ge::Operator &op, const ge::AscendString &generalize_config,
                                                  ge::AscendString &generalized_op_params);

// Registers a function of the graph engine by hand. The twin never calls those functions.
class OpCheckFuncHelper {
public:
    OpCheckFuncHelper(const ge::AscendString &, const ge::AscendString &, OP_CHECK_FUNC) {}
    OpCheckFuncHelper(const ge::AscendString &, PARAM_GENERALIZE_FUNC) {}
};
}  // namespace optiling

namespace ops {
enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class FormatCheckOption : uint32_t { DEFAULT = 0, STRICT = 1, MAX };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE };
enum class CommentSection : uint32_t {
    CATEGORY = 0,
    BRIEF = 1,
    CONSTRAINTS = 2,
    RESTRICTIONS = 3,
    SEE = 4,
    THIRDPARTYFWKCOMPAT = 5,
    SECTION_MAX
};
enum class HcclServerType : uint32_t { AICPU = 0, AICORE = 1, CCU = 2, MAX };
enum class ScalarType : uint32_t {
    UINT64 = 0,
    INT64 = 1,
    UINT32 = 2,
    INT32 = 3,
    UINT16 = 4,
    INT16 = 5,
    UINT8 = 6,
    INT8 = 7,
    FLOAT32 = 8,
    FLOAT16 = 9,
    INVALID_DTYPE = static_cast<uint32_t>(-1),
};

// A number that an output is filled with before the kernel runs (InitValue).
struct ScalarVar {
    ScalarType scalar_type = ScalarType::INVALID_DTYPE;
    double value = 0;

    ScalarVar() = default;
    template <typename T>
    ScalarVar(ScalarType type, T number) : scalar_type(type), value(static_cast<double>(number)) {}
    bool operator==(const ScalarVar &other) const { return scalar_type == other.scalar_type && value == other.value; }
};

// One input or output. Fields are read by the twin; operator sources only call the methods.
class OpParamDef {
public:
    explicit OpParamDef(const char *name_) : name(name_) {}

    OpParamDef &ParamType(Option type) { return param_type = type, *this; }
    OpParamDef &DataType(std::vector<ge::DataType> types) { return dtypes = std::move(types), dtype_list = false, *this; }
    OpParamDef &DataTypeList(std::vector<ge::DataType> types) { return dtypes = std::move(types), dtype_list = true, *this; }
    OpParamDef &Format(std::vector<ge::Format> list) { return formats = std::move(list), format_list = false, *this; }
    OpParamDef &FormatList(std::vector<ge::Format> list) { return formats = std::move(list), format_list = true, *this; }
    OpParamDef &DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }
    OpParamDef &FormatForBinQuery(std::vector<ge::Format>) { return *this; }
    OpParamDef &UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
    OpParamDef &ValueDepend(Option depend) { return value_depend = depend, *this; }
    OpParamDef &ValueDepend(Option depend, DependScope scope) { return value_depend = depend, depend_scope = scope, *this; }
    OpParamDef &IgnoreContiguous() { return ignore_contiguous = true, *this; }
    OpParamDef &AutoContiguous() { return auto_contiguous = true, *this; }
    OpParamDef &Scalar() { return scalar = true, *this; }
    OpParamDef &ScalarList() { return scalar_list = true, *this; }
    OpParamDef &To(const ge::DataType type) { return scalar_type = type, *this; }
    OpParamDef &To(const char *param) { return scalar_name = param, *this; }
    OpParamDef &Version(uint32_t number) { return version = number, *this; }
    OpParamDef &InitValue(uint64_t value) { return init_value = {ScalarVar(ScalarType::UINT64, value)}, *this; }
    OpParamDef &InitValue(const ScalarVar &value) { return init_value = {value}, *this; }
    OpParamDef &InitValue(const std::vector<ScalarVar> &values) { return init_value = values, *this; }
    OpParamDef &OutputShapeDependOnCompute() { return shape_depends_on_compute = true, *this; }
    OpParamDef &Follow(const char *param) { return Follow(param, FollowType::ALL); }
    OpParamDef &Follow(const char *param, FollowType type) { return follow = param, follow_type = type, *this; }
    OpParamDef &Comment(const char *) { return *this; }

    std::string name;
    Option param_type = REQUIRED;
    std::vector<ge::DataType> dtypes;
    std::vector<ge::Format> formats;
    bool dtype_list = false;   // DataTypeList: combined with every column, instead of one entry per column
    bool format_list = false;
    Option value_depend = IGNORE;
    DependScope depend_scope = DependScope::ALL;
    bool ignore_contiguous = false;
    bool auto_contiguous = false;
    bool scalar = false;
    bool scalar_list = false;
    ge::DataType scalar_type = ge::DT_UNDEFINED;
    std::string scalar_name;
    uint32_t version = 0;
    std::vector<ScalarVar> init_value;
    bool shape_depends_on_compute = false;
    std::string follow;
    FollowType follow_type = FollowType::INVALID_TYPE;
};

class OpAttrDef {
public:
    explicit OpAttrDef(const char *name_) : name(name_) {}

    OpAttrDef &AttrType(Option type) { return required = type == REQUIRED, *this; }
    OpAttrDef &Bool() { return Kind('b'); }
    OpAttrDef &Bool(bool value) { return bool_value = value, Default('b'); }
    OpAttrDef &Float() { return Kind('f'); }
    OpAttrDef &Float(float value) { return float_value = value, Default('f'); }
    OpAttrDef &Int() { return Kind('i'); }
    OpAttrDef &Int(int64_t value) { return int_value = value, Default('i'); }
    OpAttrDef &String() { return Kind('s'); }
    OpAttrDef &String(const char *value) { return string_value = value, Default('s'); }
    OpAttrDef &ListBool() { return Kind('B'); }
    OpAttrDef &ListBool(std::vector<bool> value) { return list_bool = std::move(value), Default('B'); }
    OpAttrDef &ListFloat() { return Kind('F'); }
    OpAttrDef &ListFloat(std::vector<float> value) { return list_float = std::move(value), Default('F'); }
    OpAttrDef &ListInt() { return Kind('I'); }
    OpAttrDef &ListInt(std::vector<int64_t> value) { return list_int = std::move(value), Default('I'); }
    OpAttrDef &ListListInt() { return Kind('L'); }
    OpAttrDef &ListListInt(std::vector<std::vector<int64_t>> value) { return list_list_int = std::move(value), Default('L'); }
    OpAttrDef &Version(uint32_t) { return *this; }
    OpAttrDef &Comment(const char *) { return *this; }

    std::string name;
    bool required = true;
    char kind = '?';  // b, i, f, s; capitals are lists; L is a list of lists of int
    bool has_default = false;
    bool bool_value = false;
    int64_t int_value = 0;
    float float_value = 0;
    std::string string_value;
    std::vector<bool> list_bool;
    std::vector<float> list_float;
    std::vector<int64_t> list_int;
    std::vector<std::vector<int64_t>> list_list_int;

private:
    OpAttrDef &Kind(char letter) { return kind = letter, *this; }
    OpAttrDef &Default(char letter) { return kind = letter, has_default = true, *this; }
};

// Items by name, in the order of their first mention; references to them stay valid.
template <typename T>
class OpNamedList {
public:
    T &Get(const char *name) {
        for (T &item : items) {
            if (item.name == name) {
                return item;
            }
        }
        items.emplace_back(name);
        return items.back();
    }

    std::deque<T> items;
};

class OpAICoreConfig {
public:
    OpAICoreConfig() = default;
    explicit OpAICoreConfig(const char *) {}

    OpParamDef &Input(const char *name) { return inputs.Get(name); }
    OpParamDef &Output(const char *name) { return outputs.Get(name); }
    OpAICoreConfig &DynamicCompileStaticFlag(bool flag) { return Set("dynamicCompileStatic.flag", flag); }
    OpAICoreConfig &DynamicFormatFlag(bool flag) { return Set("dynamicFormat.flag", flag); }
    OpAICoreConfig &DynamicRankSupportFlag(bool flag) { return Set("dynamicRankSupport.flag", flag); }
    OpAICoreConfig &DynamicShapeSupportFlag(bool flag) { return Set("dynamicShapeSupport.flag", flag); }
    OpAICoreConfig &NeedCheckSupportFlag(bool flag) { return Set("needCheckSupport.flag", flag); }
    OpAICoreConfig &PrecisionReduceFlag(bool flag) { return Set("precision_reduce.flag", flag); }
    OpAICoreConfig &ExtendCfgInfo(const char *key, const char *value) { return info[key] = value, *this; }

    OpNamedList<OpParamDef> inputs;
    OpNamedList<OpParamDef> outputs;
    std::map<std::string, std::string> info;

private:
    OpAICoreConfig &Set(const char *key, bool flag) { return info[key] = flag ? "true" : "false", *this; }
};

class OpAICoreDef {
public:
    OpAICoreDef &SetTiling(gert::OpImplRegisterV2::TilingKernelFunc func) { return tiling = func, *this; }
    OpAICoreDef &SetCheckSupport(optiling::OP_CHECK_FUNC func) { return check_support = func, *this; }
    OpAICoreDef &SetOpSelectFormat(optiling::OP_CHECK_FUNC func) { return select_format = func, *this; }
    OpAICoreDef &SetOpSupportInfo(optiling::OP_CHECK_FUNC func) { return support_info = func, *this; }
    OpAICoreDef &SetOpSpecInfo(optiling::OP_CHECK_FUNC func) { return spec_info = func, *this; }
    OpAICoreDef &SetParamGeneralize(optiling::PARAM_GENERALIZE_FUNC func) { return param_generalize = func, *this; }
    gert::OpImplRegisterV2::TilingKernelFunc &GetTiling() { return tiling; }
    optiling::OP_CHECK_FUNC &GetCheckSupport() { return check_support; }
    optiling::OP_CHECK_FUNC &GetOpSelectFormat() { return select_format; }
    optiling::OP_CHECK_FUNC &GetOpSupportInfo() { return support_info; }
    optiling::OP_CHECK_FUNC &GetOpSpecInfo() { return spec_info; }
    optiling::PARAM_GENERALIZE_FUNC &GetParamGeneralize() { return param_generalize; }
    OpAICoreDef &LaunchWithZeroEleOutputTensors(bool) { return *this; }
    OpAICoreDef &AddConfig(const char *unit) { return configs[unit] = OpAICoreConfig(), *this; }
    OpAICoreDef &AddConfig(const char *unit, OpAICoreConfig &config) { return configs[unit] = config, *this; }

    gert::OpImplRegisterV2::TilingKernelFunc tiling = nullptr;
    std::map<std::string, OpAICoreConfig> configs;

private:
    optiling::OP_CHECK_FUNC check_support = nullptr;
    optiling::OP_CHECK_FUNC select_format = nullptr;
    optiling::OP_CHECK_FUNC support_info = nullptr;
    optiling::OP_CHECK_FUNC spec_info = nullptr;
    optiling::PARAM_GENERALIZE_FUNC param_generalize = nullptr;
};

// AI CPU and host CPU kernels are outside of the twin: their declarations are accepted and ignored.
class OpCpuDef {
public:
    OpCpuDef &Engine(const char *) { return *this; }
    OpCpuDef &FlagPartial(bool) { return *this; }
    OpCpuDef &ComputeCost(const char *) { return *this; }
    OpCpuDef &FlagAsync(bool) { return *this; }
    OpCpuDef &OpKernelLib(const char *) { return *this; }
    OpCpuDef &KernelSo(const char *) { return *this; }
    OpCpuDef &FunctionName(const char *) { return *this; }
    OpCpuDef &UserDefined(bool) { return *this; }
    OpCpuDef &ExtendCfgInfo(const char *, const char *) { return *this; }
};
using OpAICPUDef = OpCpuDef;
using OpHostCPUDef = OpCpuDef;

class OpMC2Def {
public:
    OpMC2Def &HcclGroup(const char *value) { return groups = {value}, *this; }
    OpMC2Def &HcclGroup(std::vector<const char *> values) { return groups.assign(values.begin(), values.end()), *this; }
    void HcclServerType(enum HcclServerType, const char * = nullptr) {}

    std::vector<std::string> groups;
};

class OpDef {
public:
    explicit OpDef(const char *type_) : type(type_) {}

    OpParamDef &Input(const char *name) { return inputs.Get(name); }
    OpParamDef &Output(const char *name) { return outputs.Get(name); }
    OpAttrDef &Attr(const char *name) { return attrs.Get(name); }
    OpDef &Comment(CommentSection, const char *) { return *this; }
    OpDef &SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc func) { return infer_shape = func, *this; }
    OpDef &SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc) { return *this; }
    OpDef &SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc func) { return infer_dtype = func, *this; }
    OpAICoreDef &AICore() { return aicore; }
    OpAICPUDef &AICPU() { return cpu; }
    OpHostCPUDef &HostCPU() { return cpu; }
    OpMC2Def &MC2() { return mc2; }
    OpDef &FormatMatchMode(FormatCheckOption) { return *this; }
    OpDef &EnableFallBack() { return *this; }

    std::string type;
    OpNamedList<OpParamDef> inputs;
    OpNamedList<OpParamDef> outputs;
    OpNamedList<OpAttrDef> attrs;
    gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape = nullptr;
    gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_dtype = nullptr;
    OpAICoreDef aicore;
    OpCpuDef cpu;
    OpMC2Def mc2;
};
}  // namespace ops
