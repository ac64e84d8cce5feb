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
    explicit OpParamDef(const char *name);

    OpParamDef &ParamType(Option type);
    OpParamDef &DataType(std::vector<ge::DataType> types);
    OpParamDef &DataTypeList(std::vector<ge::DataType> types);
    OpParamDef &Format(std::vector<ge::Format> list);
    OpParamDef &FormatList(std::vector<ge::Format> list);
    OpParamDef &DataTypeForBinQuery(std::vector<ge::DataType>);
    OpParamDef &FormatForBinQuery(std::vector<ge::Format>);
    OpParamDef &UnknownShapeFormat(std::vector<ge::Format>);
    OpParamDef &ValueDepend(Option depend);
    OpParamDef &ValueDepend(Option depend, DependScope scope);
    OpParamDef &IgnoreContiguous();
    OpParamDef &AutoContiguous();
    OpParamDef &Scalar();
    OpParamDef &ScalarList();
    OpParamDef &To(const ge::DataType type);
    OpParamDef &To(const char *param);
    OpParamDef &Version(uint32_t number);
    OpParamDef &InitValue(uint64_t value);
    OpParamDef &InitValue(const ScalarVar &value);
    OpParamDef &InitValue(const std::vector<ScalarVar> &values);
    OpParamDef &OutputShapeDependOnCompute();
    OpParamDef &Follow(const char *param);
    OpParamDef &Follow(const char *param, FollowType type);
    OpParamDef &Comment(const char *);

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
    explicit OpAttrDef(const char *name);

    OpAttrDef &AttrType(Option type);
    OpAttrDef &Bool();
    OpAttrDef &Bool(bool value);
    OpAttrDef &Float();
    OpAttrDef &Float(float value);
    OpAttrDef &Int();
    OpAttrDef &Int(int64_t value);
    OpAttrDef &String();
    OpAttrDef &String(const char *value);
    OpAttrDef &ListBool();
    OpAttrDef &ListBool(std::vector<bool> value);
    OpAttrDef &ListFloat();
    OpAttrDef &ListFloat(std::vector<float> value);
    OpAttrDef &ListInt();
    OpAttrDef &ListInt(std::vector<int64_t> value);
    OpAttrDef &ListListInt();
    OpAttrDef &ListListInt(std::vector<std::vector<int64_t>> value);
    OpAttrDef &Version(uint32_t);
    OpAttrDef &Comment(const char *);

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
    OpAttrDef &Kind(char letter);
    OpAttrDef &Default(char letter);
};

class OpAICoreConfig {
public:
    OpAICoreConfig();
    explicit OpAICoreConfig(const char *);
    OpAICoreConfig(const OpAICoreConfig &);
    OpAICoreConfig &operator=(const OpAICoreConfig &);
    ~OpAICoreConfig();

    OpParamDef &Input(const char *name);
    OpParamDef &Output(const char *name);
    OpAICoreConfig &DynamicCompileStaticFlag(bool flag);
    OpAICoreConfig &DynamicFormatFlag(bool flag);
    OpAICoreConfig &DynamicRankSupportFlag(bool flag);
    OpAICoreConfig &DynamicShapeSupportFlag(bool flag);
    OpAICoreConfig &NeedCheckSupportFlag(bool flag);
    OpAICoreConfig &PrecisionReduceFlag(bool flag);
    OpAICoreConfig &ExtendCfgInfo(const char *key, const char *value);

    std::deque<OpParamDef> inputs;
    std::deque<OpParamDef> outputs;
    std::map<std::string, std::string> info;

private:
    OpAICoreConfig &Set(const char *key, bool flag);
};

class OpAICoreDef {
public:
    OpAICoreDef &SetTiling(gert::OpImplRegisterV2::TilingKernelFunc func);
    OpAICoreDef &SetCheckSupport(optiling::OP_CHECK_FUNC func);
    OpAICoreDef &SetOpSelectFormat(optiling::OP_CHECK_FUNC func);
    OpAICoreDef &SetOpSupportInfo(optiling::OP_CHECK_FUNC func);
    OpAICoreDef &SetOpSpecInfo(optiling::OP_CHECK_FUNC func);
    OpAICoreDef &SetParamGeneralize(optiling::PARAM_GENERALIZE_FUNC func);
    gert::OpImplRegisterV2::TilingKernelFunc &GetTiling();
    optiling::OP_CHECK_FUNC &GetCheckSupport();
    optiling::OP_CHECK_FUNC &GetOpSelectFormat();
    optiling::OP_CHECK_FUNC &GetOpSupportInfo();
    optiling::OP_CHECK_FUNC &GetOpSpecInfo();
    optiling::PARAM_GENERALIZE_FUNC &GetParamGeneralize();
    OpAICoreDef &LaunchWithZeroEleOutputTensors(bool);
    OpAICoreDef &AddConfig(const char *unit);
    OpAICoreDef &AddConfig(const char *unit, OpAICoreConfig &config);

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
    OpCpuDef &Engine(const char *);
    OpCpuDef &FlagPartial(bool);
    OpCpuDef &ComputeCost(const char *);
    OpCpuDef &FlagAsync(bool);
    OpCpuDef &OpKernelLib(const char *);
    OpCpuDef &KernelSo(const char *);
    OpCpuDef &FunctionName(const char *);
    OpCpuDef &UserDefined(bool);
    OpCpuDef &ExtendCfgInfo(const char *, const char *);
};
using OpAICPUDef = OpCpuDef;
using OpHostCPUDef = OpCpuDef;

class OpMC2Def {
public:
    OpMC2Def &HcclGroup(const char *value);
    OpMC2Def &HcclGroup(std::vector<const char *> values);
    void  HcclServerType(enum HcclServerType, const char * = nullptr);

    std::vector<std::string> groups;
};

class OpDef {
public:
    explicit OpDef(const char *type);
    OpDef(const OpDef &);
    OpDef(OpDef &&);
    OpDef &operator=(const OpDef &);
    OpDef &operator=(OpDef &&);
    ~OpDef();

    OpParamDef &Input(const char *name);
    OpParamDef &Output(const char *name);
    OpAttrDef &Attr(const char *name);
    OpDef &Comment(CommentSection, const char *);
    OpDef &SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc func);
    OpDef &SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc);
    OpDef &SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc func);
    OpAICoreDef &AICore();
    OpAICPUDef &AICPU();
    OpHostCPUDef &HostCPU();
    OpMC2Def &MC2();
    OpDef &FormatMatchMode(FormatCheckOption);
    OpDef &EnableFallBack();

    std::string type;
    std::deque<OpParamDef> inputs;
    std::deque<OpParamDef> outputs;
    std::deque<OpAttrDef> attrs;
    gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape = nullptr;
    gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_dtype = nullptr;
    OpAICoreDef aicore;
    OpCpuDef cpu;
    OpMC2Def mc2;
};
}  // namespace ops
