// What the methods of an operator's declaration do. They are not in the header, whose every includer would compile them.
#include "register/op_def.h"

namespace ops {
namespace {

// The item of that name: items stay in the order of their first mention, and references to them valid.
template <typename T>
T &named(std::deque<T> &items, const char *name) {
    for (T &item : items) {
        if (item.name == name) {
            return item;
        }
    }
    items.emplace_back(name);
    return items.back();
}

}  // namespace

OpParamDef::OpParamDef(const char *name_) : name(name_) {}
OpParamDef &OpParamDef::ParamType(Option type) { return param_type = type, *this; }
OpParamDef &OpParamDef::DataType(std::vector<ge::DataType> types) { return dtypes = std::move(types), dtype_list = false, *this; }
OpParamDef &OpParamDef::DataTypeList(std::vector<ge::DataType> types) { return dtypes = std::move(types), dtype_list = true, *this; }
OpParamDef &OpParamDef::Format(std::vector<ge::Format> list) { return formats = std::move(list), format_list = false, *this; }
OpParamDef &OpParamDef::FormatList(std::vector<ge::Format> list) { return formats = std::move(list), format_list = true, *this; }
OpParamDef &OpParamDef::DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }
OpParamDef &OpParamDef::FormatForBinQuery(std::vector<ge::Format>) { return *this; }
OpParamDef &OpParamDef::UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
OpParamDef &OpParamDef::ValueDepend(Option depend) { return value_depend = depend, *this; }
OpParamDef &OpParamDef::ValueDepend(Option depend, DependScope scope) { return value_depend = depend, depend_scope = scope, *this; }
OpParamDef &OpParamDef::IgnoreContiguous() { return ignore_contiguous = true, *this; }
OpParamDef &OpParamDef::AutoContiguous() { return auto_contiguous = true, *this; }
OpParamDef &OpParamDef::Scalar() { return scalar = true, *this; }
OpParamDef &OpParamDef::ScalarList() { return scalar_list = true, *this; }
OpParamDef &OpParamDef::To(const ge::DataType type) { return scalar_type = type, *this; }
OpParamDef &OpParamDef::To(const char *param) { return scalar_name = param, *this; }
OpParamDef &OpParamDef::Version(uint32_t number) { return version = number, *this; }
OpParamDef &OpParamDef::InitValue(uint64_t value) { return init_value = {ScalarVar(ScalarType::UINT64, value)}, *this; }
OpParamDef &OpParamDef::InitValue(const ScalarVar &value) { return init_value = {value}, *this; }
OpParamDef &OpParamDef::InitValue(const std::vector<ScalarVar> &values) { return init_value = values, *this; }
OpParamDef &OpParamDef::OutputShapeDependOnCompute() { return shape_depends_on_compute = true, *this; }
OpParamDef &OpParamDef::Follow(const char *param) { return Follow(param, FollowType::ALL); }
OpParamDef &OpParamDef::Follow(const char *param, FollowType type) { return follow = param, follow_type = type, *this; }
OpParamDef &OpParamDef::Comment(const char *) { return *this; }

OpAttrDef::OpAttrDef(const char *name_) : name(name_) {}
OpAttrDef &OpAttrDef::AttrType(Option type) { return required = type == REQUIRED, *this; }
OpAttrDef &OpAttrDef::Bool() { return Kind('b'); }
OpAttrDef &OpAttrDef::Bool(bool value) { return bool_value = value, Default('b'); }
OpAttrDef &OpAttrDef::Float() { return Kind('f'); }
OpAttrDef &OpAttrDef::Float(float value) { return float_value = value, Default('f'); }
OpAttrDef &OpAttrDef::Int() { return Kind('i'); }
OpAttrDef &OpAttrDef::Int(int64_t value) { return int_value = value, Default('i'); }
OpAttrDef &OpAttrDef::String() { return Kind('s'); }
OpAttrDef &OpAttrDef::String(const char *value) { return string_value = value, Default('s'); }
OpAttrDef &OpAttrDef::ListBool() { return Kind('B'); }
OpAttrDef &OpAttrDef::ListBool(std::vector<bool> value) { return list_bool = std::move(value), Default('B'); }
OpAttrDef &OpAttrDef::ListFloat() { return Kind('F'); }
OpAttrDef &OpAttrDef::ListFloat(std::vector<float> value) { return list_float = std::move(value), Default('F'); }
OpAttrDef &OpAttrDef::ListInt() { return Kind('I'); }
OpAttrDef &OpAttrDef::ListInt(std::vector<int64_t> value) { return list_int = std::move(value), Default('I'); }
OpAttrDef &OpAttrDef::ListListInt() { return Kind('L'); }
OpAttrDef &OpAttrDef::ListListInt(std::vector<std::vector<int64_t>> value) { return list_list_int = std::move(value), Default('L'); }
OpAttrDef &OpAttrDef::Version(uint32_t) { return *this; }
OpAttrDef &OpAttrDef::Comment(const char *) { return *this; }
OpAttrDef &OpAttrDef::Kind(char letter) { return kind = letter, *this; }
OpAttrDef &OpAttrDef::Default(char letter) { return kind = letter, has_default = true, *this; }

OpAICoreConfig::OpAICoreConfig() = default;
OpAICoreConfig::OpAICoreConfig(const char *) {}
OpAICoreConfig::OpAICoreConfig(const OpAICoreConfig &) = default;
OpAICoreConfig &OpAICoreConfig::operator=(const OpAICoreConfig &) = default;
OpAICoreConfig::~OpAICoreConfig() = default;
OpParamDef &OpAICoreConfig::Input(const char *name) { return named(inputs, name); }
OpParamDef &OpAICoreConfig::Output(const char *name) { return named(outputs, name); }
OpAICoreConfig &OpAICoreConfig::DynamicCompileStaticFlag(bool flag) { return Set("dynamicCompileStatic.flag", flag); }
OpAICoreConfig &OpAICoreConfig::DynamicFormatFlag(bool flag) { return Set("dynamicFormat.flag", flag); }
OpAICoreConfig &OpAICoreConfig::DynamicRankSupportFlag(bool flag) { return Set("dynamicRankSupport.flag", flag); }
OpAICoreConfig &OpAICoreConfig::DynamicShapeSupportFlag(bool flag) { return Set("dynamicShapeSupport.flag", flag); }
OpAICoreConfig &OpAICoreConfig::NeedCheckSupportFlag(bool flag) { return Set("needCheckSupport.flag", flag); }
OpAICoreConfig &OpAICoreConfig::PrecisionReduceFlag(bool flag) { return Set("precision_reduce.flag", flag); }
OpAICoreConfig &OpAICoreConfig::ExtendCfgInfo(const char *key, const char *value) { return info[key] = value, *this; }
OpAICoreConfig &OpAICoreConfig::Set(const char *key, bool flag) { return info[key] = flag ? "true" : "false", *this; }

OpAICoreDef &OpAICoreDef::SetTiling(gert::OpImplRegisterV2::TilingKernelFunc func) { return tiling = func, *this; }
OpAICoreDef &OpAICoreDef::SetCheckSupport(optiling::OP_CHECK_FUNC func) { return check_support = func, *this; }
OpAICoreDef &OpAICoreDef::SetOpSelectFormat(optiling::OP_CHECK_FUNC func) { return select_format = func, *this; }
OpAICoreDef &OpAICoreDef::SetOpSupportInfo(optiling::OP_CHECK_FUNC func) { return support_info = func, *this; }
OpAICoreDef &OpAICoreDef::SetOpSpecInfo(optiling::OP_CHECK_FUNC func) { return spec_info = func, *this; }
OpAICoreDef &OpAICoreDef::SetParamGeneralize(optiling::PARAM_GENERALIZE_FUNC func) { return param_generalize = func, *this; }
gert::OpImplRegisterV2::TilingKernelFunc &OpAICoreDef::GetTiling() { return tiling; }
optiling::OP_CHECK_FUNC &OpAICoreDef::GetCheckSupport() { return check_support; }
optiling::OP_CHECK_FUNC &OpAICoreDef::GetOpSelectFormat() { return select_format; }
optiling::OP_CHECK_FUNC &OpAICoreDef::GetOpSupportInfo() { return support_info; }
optiling::OP_CHECK_FUNC &OpAICoreDef::GetOpSpecInfo() { return spec_info; }
optiling::PARAM_GENERALIZE_FUNC &OpAICoreDef::GetParamGeneralize() { return param_generalize; }
OpAICoreDef &OpAICoreDef::LaunchWithZeroEleOutputTensors(bool) { return *this; }
OpAICoreDef &OpAICoreDef::AddConfig(const char *unit) { return configs[unit] = OpAICoreConfig(), *this; }
OpAICoreDef &OpAICoreDef::AddConfig(const char *unit, OpAICoreConfig &config) { return configs[unit] = config, *this; }

OpCpuDef &OpCpuDef::Engine(const char *) { return *this; }
OpCpuDef &OpCpuDef::FlagPartial(bool) { return *this; }
OpCpuDef &OpCpuDef::ComputeCost(const char *) { return *this; }
OpCpuDef &OpCpuDef::FlagAsync(bool) { return *this; }
OpCpuDef &OpCpuDef::OpKernelLib(const char *) { return *this; }
OpCpuDef &OpCpuDef::KernelSo(const char *) { return *this; }
OpCpuDef &OpCpuDef::FunctionName(const char *) { return *this; }
OpCpuDef &OpCpuDef::UserDefined(bool) { return *this; }
OpCpuDef &OpCpuDef::ExtendCfgInfo(const char *, const char *) { return *this; }

OpMC2Def &OpMC2Def::HcclGroup(const char *value) { return groups = {value}, *this; }
OpMC2Def &OpMC2Def::HcclGroup(std::vector<const char *> values) { return groups.assign(values.begin(), values.end()), *this; }
void OpMC2Def::HcclServerType(enum HcclServerType, const char *) {}

OpDef::OpDef(const char *type_) : type(type_) {}
OpDef::OpDef(const OpDef &) = default;
OpDef::OpDef(OpDef &&) = default;
OpDef &OpDef::operator=(const OpDef &) = default;
OpDef &OpDef::operator=(OpDef &&) = default;
OpDef::~OpDef() = default;
OpParamDef &OpDef::Input(const char *name) { return named(inputs, name); }
OpParamDef &OpDef::Output(const char *name) { return named(outputs, name); }
OpAttrDef &OpDef::Attr(const char *name) { return named(attrs, name); }
OpDef &OpDef::Comment(CommentSection, const char *) { return *this; }
OpDef &OpDef::SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc func) { return infer_shape = func, *this; }
OpDef &OpDef::SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc) { return *this; }
OpDef &OpDef::SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc func) { return infer_dtype = func, *this; }
OpAICoreDef &OpDef::AICore() { return aicore; }
OpAICPUDef &OpDef::AICPU() { return cpu; }
OpHostCPUDef &OpDef::HostCPU() { return cpu; }
OpMC2Def &OpDef::MC2() { return mc2; }
OpDef &OpDef::FormatMatchMode(FormatCheckOption) { return *this; }
OpDef &OpDef::EnableFallBack() { return *this; }

}  // namespace ops
