// The C interface for ascendops/twin/host.py: open a library, describe it, call its functions. Answers are JSON.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include <dlfcn.h>

#include "hostrt.h"
#include "json.h"
#include "request.h"

namespace ascendops_host {
void SetLoading(Library *library);

namespace {
constexpr size_t kMaxWorkspaces = 16;
constexpr size_t kGuardWords = 32;   // after the tiling buffer, to see writes beyond its end
constexpr uint64_t kGuard = 0xA5A5A5A5A5A5A5A5;
thread_local std::string g_answer;
std::mutex g_open_lock;

const char *Answer(const std::string &text) {
    g_answer = text;
    return g_answer.c_str();
}

void WriteNotes(Json &json) { json.Key("notes").List(TakeNotes()); }

// The answer of a call that did not end normally.
const char *Fault(const char *status, const std::string &message, const Outcome &outcome = Outcome()) {
    Json json;
    json.Open('{').Field("status", status).Field("message", message).Key("frames").Open('[');
    for (const auto &frame : outcome.frames) {
        json.Open('[').Value(frame.first).Value(frame.second).Close(']');
    }
    json.Close(']');
    WriteNotes(json);
    return Answer(json.Close('}').Text());
}

const char *Fault(const Outcome &outcome) {
    static const char *const kStatus[] = {"ok", "exception", "crash", "hang"};
    return Fault(kStatus[outcome.kind], outcome.what, outcome);
}

std::string Hex(const void *data, size_t size) {
    static const char digits[] = "0123456789abcdef";
    std::string text(2 * size, '0');
    for (size_t i = 0; i < size; ++i) {
        const uint8_t byte = static_cast<const uint8_t *>(data)[i];
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
    }
    return text;
}

void WriteShapes(Json &json, const Call &call) {
    const bool touched = std::any_of(call.outputs.begin(), call.outputs.end(), [](const gert::Tensor &tensor) { return tensor.GetOriginShape().TwinTouched(); });
    json.Field("touched", touched).Key("shapes").Open('[');
    for (const gert::Tensor &tensor : call.outputs) {
        json.Open('[');
        const gert::Shape &shape = tensor.GetOriginShape();
        for (size_t i = 0; i < shape.GetDimNum() && i < gert::Shape::kMaxDimNum; ++i) {
            json.Value(shape[i]);
        }
        json.Close(']');
    }
    json.Close(']');
}

void WriteDtypes(Json &json, const Call &call) {
    json.Key("dtypes").Open('[');
    for (const gert::Tensor &tensor : call.outputs) {
        json.Value(DataTypeName(tensor.GetDataType()));
    }
    json.Close(']');
}

void WriteTiling(Json &json, const Call &call) {
    const size_t size = call.tiling->GetDataSize();
    const bool fits = size <= call.tiling->GetCapacity();
    json.Field("key", call.key).Field("block_dim", call.block_dim).Field("block_dim_set", call.block_dim_set);
    json.Field("data", fits ? Hex(call.tiling->GetData(), size) : std::string());
    json.Field("data_size", size).Field("capacity", call.tiling->GetCapacity());
    json.Key("workspaces").Open('[');
    for (size_t i = 0; i < call.workspace_num; ++i) {
        json.Value(call.workspaces[i]);
    }
    json.Close(']').Field("schedule_mode", call.schedule_mode).Field("need_atomic", call.need_atomic);
    json.Field("local_memory", call.local_memory);
}

uint32_t RunTiling(const OpImpl &impl, Call &call) {
    const std::unique_ptr<void, gert::OpImplRegisterV2::CompileInfoDeleterFunc> info(
        impl.create_info == nullptr ? nullptr : impl.create_info(), impl.delete_info == nullptr ? [](void *) {} : impl.delete_info);
    static uint64_t untyped_info[512] = {0};
    // Null without a TilingParse: tiling functions then ask the platform.
    call.compile_info = info == nullptr && impl.parse != nullptr ? untyped_info : info.get();
    if (impl.parse != nullptr) {
        uint32_t status = 0;
        if (impl.parse_typed) {
            gert::TilingParseContext context(&call);
            void *func = reinterpret_cast<void *>(impl.parse);
            status = reinterpret_cast<gert::OpImplRegisterV2::TilingParseFunc>(func)(&context);
        } else {
            gert::KernelContext context(&call);
            status = impl.parse(&context);
        }
        if (status != ge::GRAPH_SUCCESS) {
            Note("the TilingParse function returned %u", status);
            return status;
        }
    }
    gert::TilingContext context(&call);
    return impl.tiling(&context);
}

uint32_t Run(int what, const OpImpl &impl, Call &call) {
    if (what == 0) {
        gert::InferShapeContext context(&call);
        for (gert::Tensor &tensor : call.outputs) {
            tensor.MutableOriginShape().TwinForget();
        }
        return impl.infer_shape(&context);
    }
    if (what == 1) {
        gert::InferDataTypeContext context(&call);
        if (impl.infer_dtype != nullptr) {
            return impl.infer_dtype(&context);
        }
        for (size_t i = 0; i < call.outputs.size(); ++i) {
            (void)context.SetOutputDataType(i, context.GetInputDataType(0));
        }
        return ge::GRAPH_SUCCESS;
    }
    return RunTiling(impl, call);
}

bool Has(int what, const OpImpl &impl) {
    return what == 0   ? impl.infer_shape != nullptr
           : what == 1 ? impl.infer_dtype != nullptr || impl.dtype_of_first_input
                       : impl.tiling != nullptr;
}

const void *Function(int what, const OpImpl &impl) {
    return what == 0   ? reinterpret_cast<const void *>(impl.infer_shape)
           : what == 1 ? reinterpret_cast<const void *>(impl.infer_dtype)
                       : reinterpret_cast<const void *>(impl.tiling);
}

bool Overrun(const Call &call) {
    for (size_t i = call.tiling_buffer.size() - kGuardWords; i < call.tiling_buffer.size(); ++i) {
        if (call.tiling_buffer[i] != kGuard) {
            return true;
        }
    }
    return false;
}

const char *CallFunction(Library &library, const char *op_type, int what, double timeout_s, Call &call) {
    const OpImpl &impl = library.impls[op_type];
    if (!Has(what, impl)) {
        return Fault("missing", "no such function is registered");
    }
    call.node.type = op_type;
    call.node.name = op_type;
    if (what == 2) {
        call.tiling_buffer.assign((impl.capacity + 7) / 8 + kGuardWords, kGuard);
        (void)memset(call.tiling_buffer.data(), 0, impl.capacity);
        call.tiling.reset(new gert::TilingData(call.tiling_buffer.data(), impl.capacity));
    }
    call.workspaces.assign(kMaxWorkspaces, 0);
    uint32_t status = ge::GRAPH_FAILED;
    g_call = &call;
    const Outcome outcome = Guarded(timeout_s, [&] { status = Run(what, impl, call); });
    g_call = nullptr;
    if (outcome.kind != Outcome::OK) {
        return Fault(outcome);
    }
    if (status != ge::GRAPH_SUCCESS) {
        Outcome place;
        AddFrame(place, Function(what, impl), 0);
        return Fault("failed", std::to_string(status), place);
    }
    if (what == 2 && Overrun(call)) {
        return Fault("overrun", "wrote beyond the end of the tiling buffer");
    }
    Json json;
    json.Open('{').Field("status", "ok");
    what == 0 ? WriteShapes(json, call) : what == 1 ? WriteDtypes(json, call) : WriteTiling(json, call);
    WriteNotes(json);
    return Answer(json.Close('}').Text());
}
}  // namespace
}  // namespace ascendops_host

using namespace ascendops_host;

extern "C" {
// Number of the SoC described by `text` (sections and keys of CANN's platform_config files). The first is the default.
int ascendops_host_platform(const char *text) { return AddPlatform(text); }

// Loads an operator library. Null on failure; ascendops_host_answer() then has the reason.
void *ascendops_host_open(const char *path) {
    const std::lock_guard<std::mutex> lock(g_open_lock);
    std::unique_ptr<Library> library(new Library());
    library->path = path;
    SetLoading(library.get());
    const char *error = nullptr;
    const Outcome outcome = Guarded(0, [&] {
        library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        error = library->handle == nullptr ? dlerror() : nullptr;
    });
    SetLoading(nullptr);
    if (outcome.kind != Outcome::OK) {
        (void)Fault(outcome);
        return nullptr;
    }
    if (library->handle == nullptr) {
        (void)Fault("load", error == nullptr ? "dlopen failed" : error);
        return nullptr;
    }
    // A library that is open already registers nothing again: hand out what it registered then.
    static std::map<void *, Library *> open;
    Library *&known = open[library->handle];
    if (known == nullptr) known = library.release();
    return known;
}

const char *ascendops_host_answer() { return g_answer.c_str(); }

const char *ascendops_host_describe(void *handle) {
    Library &library = *static_cast<Library *>(handle);
    std::string text;
    const Outcome outcome = Guarded(0, [&] { text = DescribeLibrary(library); });
    return outcome.kind == Outcome::OK ? Answer(text) : Fault(outcome);
}

// Calls one function of an operator: what 0 InferShape, 1 InferDataType, 2 tiling. The request is that of host.py.
const char *ascendops_host_call(void *handle, const char *op_type, int what, double timeout_s, const uint8_t *request,
                                size_t size) {
    Call call;
    (void)TakeNotes();
    if (!ReadRequest(request, size, call)) {
        return Fault("internal", "malformed request");
    }
    return CallFunction(*static_cast<Library *>(handle), op_type, what, timeout_s, call);
}
}
