// What OP_ADD, IMPL_OP... and REGISTER_TILING_DATA_CLASS of an operator library leave behind.
#include "hostrt.h"

namespace ascendops_host {
static thread_local Library *g_loading = nullptr;

Library &Loading() {
    static Library stray;   // a library that something else than HostLibrary loaded
    return g_loading == nullptr ? stray : *g_loading;
}
void SetLoading(Library *library) { g_loading = library; }

static void ApplyConfigs(Library &library, ops::OpDef &def) {
    for (const ConfigEntry &entry : library.configs) {
        if (entry.op_type == def.type) {
            ops::OpAICoreConfig config = entry.creator();
            def.aicore.AddConfig(entry.unit.c_str(), config);
        }
    }
}

// On a device the buffer is as large as the largest structure that the kernel was compiled with, and a word; for a plain
// struct the host code cannot know that size.
static void SetCapacity(Library &library, const std::string &op_type, OpImpl &impl) {
    size_t largest = 0;
    for (const auto &entry : library.tilings) {
        if (IsTilingOf(entry.first, op_type)) {
            const size_t size = entry.second()->GetDataSize();
            largest = size > largest ? size : largest;
        }
    }
    impl.capacity = largest == 0 ? impl.capacity : largest + 8;
}

bool IsTilingOf(const std::string &name, const std::string &op_type) {
    return name == op_type || name.compare(0, op_type.size() + 1, op_type + "_") == 0;
}

ops::OpDef *Definition(Library &library, const std::string &op_type) {
    auto known = library.defs.find(op_type);
    if (known != library.defs.end()) {
        return known->second.get();
    }
    for (const auto &entry : library.creators) {
        if (entry.first == op_type) {
            std::unique_ptr<ops::OpDef> def(new ops::OpDef(entry.second(op_type.c_str())));
            ApplyConfigs(library, *def);
            OpImpl &impl = library.impls[op_type];
            impl.infer_shape = impl.infer_shape != nullptr ? impl.infer_shape : def->infer_shape;
            impl.infer_dtype = impl.infer_dtype != nullptr ? impl.infer_dtype : def->infer_dtype;
            impl.tiling = impl.tiling != nullptr ? impl.tiling : def->aicore.tiling;
            SetCapacity(library, op_type, impl);
            return (library.defs[op_type] = std::move(def)).get();
        }
    }
    return nullptr;
}
}  // namespace ascendops_host

using ascendops_host::Loading;

namespace ops {
int OpDefFactory::OpDefRegister(const char *name, Creator creator) {
    Loading().creators.emplace_back(name, creator);
    return 0;
}
int RegisterAICoreConfig(const char *op_type, const char *unit, OpAICoreConfigCreator creator) {
    Loading().configs.push_back({op_type, unit, creator});
    return 0;
}
}  // namespace ops

namespace optiling {
int RegisterTilingClass(const char *op_type, TilingDataConstructor constructor) {
    Loading().tilings.emplace_back(op_type, constructor);
    return 0;
}
}  // namespace optiling

namespace gert {
OpImplRegisterV2::OpImplRegisterV2(const ge::char_t *op_type) : impl_(&Loading().impls[op_type]) {}

OpImplRegisterV2 &OpImplRegisterV2::InferShape(InferShapeKernelFunc func) {
    impl_->infer_shape = func;
    return *this;
}
OpImplRegisterV2 &OpImplRegisterV2::InferShapeRange(InferShapeRangeKernelFunc) { return *this; }
OpImplRegisterV2 &OpImplRegisterV2::InferDataType(InferDataTypeKernelFunc func) {
    impl_->infer_dtype = func;
    return *this;
}
OpImplRegisterV2 &OpImplRegisterV2::InferOutDataTypeSameWithFirstInput() {
    impl_->dtype_of_first_input = true;
    return *this;
}
OpImplRegisterV2 &OpImplRegisterV2::Tiling(TilingKernelFunc func, size_t) {
    impl_->tiling = func;
    return *this;
}
OpImplRegisterV2 &OpImplRegisterV2::TilingParse(KernelFunc func, bool typed, CompileInfoCreatorFunc creator,
                                                CompileInfoDeleterFunc deleter) {
    impl_->parse = func;
    impl_->parse_typed = typed;
    impl_->create_info = creator;
    impl_->delete_info = deleter;
    return *this;
}
OpImplRegisterV2 &OpImplRegisterV2::InputsDataDependency(std::initializer_list<int32_t> inputs) {
    impl_->shape_depends.assign(inputs);
    return TilingInputsDataDependency(inputs);
}
OpImplRegisterV2 &OpImplRegisterV2::TilingInputsDataDependency(std::initializer_list<int32_t> inputs) {
    impl_->tiling_depends.insert(impl_->tiling_depends.end(), inputs.begin(), inputs.end());
    return *this;
}
OpImplRegisterV2 &OpImplRegisterV2::TilingInputsDataDependency(std::initializer_list<int32_t> inputs,
                                                               std::initializer_list<TilingPlacement>) {
    return TilingInputsDataDependency(inputs);
}
}  // namespace gert
