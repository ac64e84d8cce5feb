// libascendcl for direct launches: the runtime of ../acl_stand_in, and launches that run on the CPU twin when the stream is synchronised.
#include "../acl_stand_in/acl_stand_in.cpp"

#include <dlfcn.h>

#include <functional>

#include "ascendc_twin/launch.h"

namespace {
std::vector<std::function<int()>> queue;

void *Symbol(void *library, const std::string &name) {
    void *found = dlsym(library, name.c_str());
    if (found == nullptr) { std::fprintf(stderr, "stand-in: no %s: %s\n", name.c_str(), dlerror()); std::abort(); }
    return found;
}

// "p8 p8 u4": a direct launch of an operator has pointers only.
bool OnlyPointers(const char *signature, int count) {
    int pointers = 0;
    for (const char *at = signature; *at != '\0'; at++) { pointers += *at == 'p'; }
    return pointers == count && std::strlen(signature) == static_cast<size_t>(count * 3 - 1);
}

int Run(const std::string &library, const std::string &kernel, uint32_t blocks, std::vector<uint64_t> given, bool sets_workspace) {
    void *code = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (code == nullptr) { std::fprintf(stderr, "stand-in: %s\n", dlerror()); return 500000; }
    using Text = const char *(*)();
    if (!OnlyPointers(reinterpret_cast<Text>(Symbol(code, "twin_sig_" + kernel))(), static_cast<int>(given.size()))) {
        return Fail(107000, kernel + " has other parameters");
    }
    std::vector<TwinBuffer> buffers;
    std::vector<uint64_t> values;
    const bool near = Asked("near");  // arguments are host memory, of PyTorch on a CPU
    for (uint64_t address : given) {
        if (near) {
            values.push_back(address);
            buffers.push_back({address, 1 << 18, "an argument", 0});
            continue;
        }
        if (address != 0 && !Inside(address, 1)) { return Fail(107000, "a kernel argument is no device memory"); }
        values.push_back(address == 0 ? 0 : address - kFar);
        if (address != 0) { buffers.push_back({address - kFar, memory[address], "an argument", 0}); }
    }
    std::vector<void *> args;
    for (uint64_t &value : values) { args.push_back(&value); }
    // The default task type, a number of KernelMetaType: which cores run a block.
    int type = std::atoi(reinterpret_cast<Text>(Symbol(code, "twin_task_" + kernel))());
    bool cube = type == 1 || type == 3 || type == 4 || type == 5;
    void *cubes = cube ? dlopen((library.substr(0, library.rfind('/')) + "/kernel_aic.so").c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    using Entry = void (*)(void **);
    TwinLaunch launch{};
    launch.entry = reinterpret_cast<Entry>(Symbol(code, "twin_entry_" + kernel));
    launch.entry_aic = reinterpret_cast<Entry>(Symbol(cubes ? cubes : code, "twin_entry_" + kernel));
    launch.args = args.data();
    launch.block_dim = blocks;
    launch.aic = cube;
    launch.aiv = type == 5 ? 2 : type == 1 || type == 3 ? 0 : 1;
    // Without HAVE_WORKSPACE the system workspace is unknown until the kernel names it.
    launch.workspace = sets_workspace ? reinterpret_cast<uint8_t *>(values[values.size() - 2]) : nullptr;
    launch.workspace_bytes = near ? 1 << 30 : memory[given[given.size() - 2]];
    launch.tiling = reinterpret_cast<uint8_t *>(values.back());
    launch.tiling_bytes = near ? 1 << 12 : memory[given.back()];
    launch.buffers = buffers.data();
    launch.buffer_count = static_cast<uint32_t>(buffers.size());
#include "soc_fields.inc"
    launch.cores = cube ? kCubeCores : kVectorCores;
    launch.checks = !near;
    launch.auto_sync = 1;
    launch.timeout_s = 60;
    auto start = reinterpret_cast<int (*)(const TwinLaunch *)>(dlsym(RTLD_DEFAULT, "twin_launch"));
    start(&launch);
    std::string report = reinterpret_cast<Text>(dlsym(RTLD_DEFAULT, "twin_report"))();
    std::fprintf(Log(), "launch %s %u\n", kernel.c_str(), blocks);
    std::fflush(Log());
    bool good = report.find("\"status\": \"ok\"") != std::string::npos && report.find("\"findings\": []") != std::string::npos;
    return good ? 0 : Fail(507015, report);
}
}  // namespace

extern "C" {
int aclFinalize() { return queue.empty() && memory.empty() ? 0 : Fail(100000, "something is not freed"); }
int aclrtResetDevice(int32_t device) { return device == 0 ? 0 : 107001; }
int aclrtDestroyStream(void *stream) { return stream == &stream_object ? 0 : 107003; }
int aclrtMemset(void *address, size_t room, int32_t value, size_t count) {
    auto device = reinterpret_cast<uint64_t>(address);
    if (count > room || !Inside(device, count)) { return Fail(107000, "memset leaves its buffer"); }
    std::memset(Host(device), value, count);
    return 0;
}
int aclrtSynchronizeStream(void *stream) {
    if (stream != &stream_object) { return 107003; }
    int status = 0;
    for (auto &job : queue) { status = status != 0 ? status : job(); }
    queue.clear();
    return status;
}
uint32_t StandInLaunch(const char *library, const char *runtime, const char *kernel, uint32_t blocks, void *stream, void *const *args, int count,
                       int sets_workspace) {
    if (stream != &stream_object || blocks == 0) { return 107003; }
    if (dlopen(runtime, RTLD_NOW | RTLD_GLOBAL) == nullptr) { std::fprintf(stderr, "stand-in: %s\n", dlerror()); return 500000; }
    std::vector<uint64_t> given;
    for (int i = 0; i < count; i++) { given.push_back(reinterpret_cast<uint64_t>(args[i])); }
    std::string path = library, name = kernel;
    queue.push_back([=] { return Run(path, name, blocks, given, sets_workspace != 0); });
    return 0;
}
}
