// The twin's host runtime: what one loaded operator library registered, and one call of one of its functions.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/tensor.h"
#include "exe_graph/runtime/tiling_data.h"
#include "platform/platform_infos_def.h"
#include "register/op_config_registry.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace ascendops_host {
struct OpImpl {
    gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape = nullptr;
    gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_dtype = nullptr;
    bool dtype_of_first_input = false;
    gert::OpImplRegisterV2::TilingKernelFunc tiling = nullptr;
    size_t capacity = 65536;   // of the tiling buffer
    gert::OpImplRegisterV2::KernelFunc parse = nullptr;
    bool parse_typed = false;
    gert::OpImplRegisterV2::CompileInfoCreatorFunc create_info = nullptr;
    gert::OpImplRegisterV2::CompileInfoDeleterFunc delete_info = nullptr;
    std::vector<int32_t> shape_depends;
    std::vector<int32_t> tiling_depends;
};

struct ConfigEntry {
    std::string op_type, unit;
    ops::OpAICoreConfigCreator creator;
};

// One combination of kernel template arguments: (name, TplParam::Kind, value) each.
struct TemplateKey {
    struct Arg {
        std::string name;
        int kind;
        uint64_t value;
    };
    uint64_t key;
    std::vector<Arg> args;
};

struct Library {
    std::string path;
    void *handle = nullptr;
    std::vector<std::pair<std::string, ops::OpDefFactory::Creator>> creators;
    std::map<std::string, OpImpl> impls;
    std::vector<std::pair<std::string, optiling::TilingDataConstructor>> tilings;
    std::vector<ConfigEntry> configs;
    std::map<std::string, std::vector<TemplateKey>> templates;
    std::map<std::string, std::unique_ptr<ops::OpDef>> defs;   // made by Definition()
};

// The library whose static initialisers are running.
Library &Loading();
// The operator's definition, made at its first use; null if the library has none. Runs user code: call it guarded.
ops::OpDef *Definition(Library &library, const std::string &op_type);

// Whether REGISTER_TILING_DATA_CLASS(name, T) is for this operator: its type, or its type, `_` and a tiling key.
bool IsTilingOf(const std::string &name, const std::string &op_type);

struct Platform {
    std::string name;
    fe::PlatFormInfos infos;
};
// A registered SoC by its number or name; null if there is none.
Platform *FindPlatform(int id);
Platform *FindPlatform(const std::string &name);
// The SoC of the running call, else the first registered one, else null.
Platform *CurrentPlatform();
int AddPlatform(const std::string &text);

struct Call {
    gert::ComputeNodeInfo node;
    std::deque<gert::Tensor> inputs, outputs;
    std::deque<std::vector<uint64_t>> storage;   // elements of value-depend inputs, aligned for any type
    Platform *platform = nullptr;
    int32_t deterministic = 0;

    void *compile_info = nullptr;
    std::vector<uint64_t> tiling_buffer;
    std::unique_ptr<gert::TilingData> tiling;
    std::vector<size_t> workspaces;   // [0] is a spare: GetWorkspaceSizes hands out pointers into it
    size_t workspace_num = 0;
    uint64_t key = 0;
    uint32_t block_dim = 0;
    bool block_dim_set = false;
    uint32_t schedule_mode = 0;
    int32_t tiling_cond = 0;
    bool need_atomic = false;
    uint32_t local_memory = 0;
};

// A remark for the caller about the running call (a value of the wrong type read, data that did not fit).
void Note(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Notes since the last call of this function, on this thread.
std::vector<std::string> TakeNotes();
extern thread_local Call *g_call;

// Runs `work` and catches C++ exceptions, crashes (signals) and, after `timeout_s` > 0 seconds, hangs.
struct Outcome {
    enum Kind { OK, EXCEPTION, CRASH, HANG } kind = OK;
    std::string what;
    int signal = 0;
    std::vector<std::pair<std::string, uint64_t>> frames;   // (library path, offset in it), innermost first
};
// Adds the library and offset of a code address, less `back` bytes.
void AddFrame(Outcome &outcome, const void *address, uint64_t back);
Outcome Guarded(double timeout_s, void (*work)(void *), void *data);
template <typename Work>
Outcome Guarded(double timeout_s, Work work) {
    return Guarded(timeout_s, [](void *data) { (*static_cast<Work *>(data))(); }, &work);
}

std::string DescribeLibrary(Library &library);
const char *DataTypeName(int code);
const char *FormatName(int code);
}  // namespace ascendops_host
