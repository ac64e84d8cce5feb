// A stand-in for libascendcl, libnnopbase and libcust_opapi: device memory is host memory behind addresses that only these functions know.
// Every call is checked as a careful runtime would, and appended to the file in $ACL_LOG.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {
constexpr uint64_t kFar = 1ULL << 40;  // device addresses are host addresses moved away, so that a host access crashes

struct Tensor {
    std::vector<int64_t> dims, strides;
    int dtype, format;
    uint64_t data;
};
struct TensorList {
    std::vector<Tensor*> items;
};
template <typename T>
struct Array {
    std::vector<T> items;
    Array(const T* first, uint64_t count) : items(first, first + count) {}
};

std::map<uint64_t, size_t> memory;
std::string last_error;
int live = 0, launches = 0;
uint64_t flushed = 0;
int stream_object = 0;

FILE* Log() {
    static FILE* file = std::fopen(std::getenv("ACL_LOG") ? std::getenv("ACL_LOG") : "/dev/null", "w");
    return file;
}
bool Asked(const char* what) { return std::getenv("ACL_FAIL") != nullptr && std::strcmp(std::getenv("ACL_FAIL"), what) == 0; }
int Fail(int status, const std::string& text) {
    last_error = text;
    return status;
}
bool Inside(uint64_t address, size_t size) {
    auto found = memory.upper_bound(address);
    if (found == memory.begin()) { return false; }
    --found;
    return address + size <= found->first + found->second;
}
char* Host(uint64_t address) { return reinterpret_cast<char*>(address - kFar); }
size_t Count(const Tensor* t) {
    size_t count = 1;
    for (int64_t dim : t->dims) { count *= dim; }
    return count;
}
void Show(const Tensor* t) {
    if (t == nullptr) {
        std::fprintf(Log(), " null");
        return;
    }
    std::fprintf(Log(), " tensor(%d,%d", t->dtype, t->format);
    for (size_t i = 0; i < t->dims.size(); i++) { std::fprintf(Log(), ",%ld:%ld", t->dims[i], t->strides[i]); }
    std::fprintf(Log(), ")%s", t->data % 512 == 0 ? "" : "unaligned");
}
}  // namespace

extern "C" {
int aclInit(const char*) { return Asked("aclInit") ? Fail(100000, "EJ0001: no driver") : 0; }
const char* aclGetRecentErrMsg() { return last_error.empty() ? nullptr : last_error.c_str(); }
const char* aclrtGetSocName() { return Asked("soc") ? "Ascend910B1" : "Ascend910B3"; }
int aclrtSetDevice(int32_t device) { return device == 0 ? 0 : 107001; }
int aclrtCreateStream(void** stream) {
    *stream = &stream_object;
    return 0;
}
int aclrtSynchronizeStreamWithTimeout(void* stream, int32_t) {
    if (stream != &stream_object) { return 107003; }
    return Asked("hang") ? 507046 : 0;
}
int aclrtMalloc(void** address, size_t size, int) {
    auto host = reinterpret_cast<uint64_t>(std::aligned_alloc(512, (size + 511) / 512 * 512));
    memory[host + kFar] = size;
    *address = reinterpret_cast<void*>(host + kFar);
    return 0;
}
int aclrtFree(void* address) {
    auto found = memory.find(reinterpret_cast<uint64_t>(address));
    if (found == memory.end()) { return 107000; }
    std::free(Host(found->first));
    memory.erase(found);
    return 0;
}
int aclrtMemcpy(void* to, size_t room, const void* from, size_t count, int kind) {
    auto device = reinterpret_cast<uint64_t>(kind == 1 ? to : from);
    if (count > room || !Inside(device, count)) { return Fail(107000, "the copy leaves its buffer"); }
    if (kind == 1) { std::memcpy(Host(device), from, count); }
    if (kind == 2) { std::memcpy(to, Host(device), count); }
    return kind == 1 || kind == 2 ? 0 : 107000;
}

int aclrtMemsetAsync(void* to, size_t room, int32_t value, size_t count, void* stream) {
    auto device = reinterpret_cast<uint64_t>(to);
    if (stream != &stream_object || count > room || !Inside(device, count)) { return Fail(107000, "the fill leaves its buffer"); }
    std::memset(Host(device), value, count);
    flushed += count;
    return 0;
}
int aclrtCreateEvent(void** event) { return live++, *event = new double(-1), 0; }
int aclrtRecordEvent(void* event, void* stream) {  // a clock that moves by 4 us with each launch
    if (stream != &stream_object) { return 107003; }
    *static_cast<double*>(event) = launches * 4e-3;
    return 0;
}
int aclrtEventElapsedTime(float* ms, void* start, void* end) {
    const double a = *static_cast<double*>(start), b = *static_cast<double*>(end);
    if (a < 0 || b < 0) { return Fail(107005, "an event was not recorded"); }
    *ms = static_cast<float>(b - a);
    return 0;
}
int aclrtDestroyEvent(void* event) { return live--, delete static_cast<double*>(event), 0; }
uint64_t StandInFlushed() { return flushed; }

Tensor* aclCreateTensor(const int64_t* dims, uint64_t n, int dtype, const int64_t* strides, int64_t offset, int format,
                        const int64_t* storage, uint64_t storage_n, void* data) {
    if (offset != 0 || n != storage_n || std::memcmp(dims, storage, n * sizeof(int64_t)) != 0) { return nullptr; }
    live++;
    return new Tensor{{dims, dims + n}, {strides, strides + n}, dtype, format, reinterpret_cast<uint64_t>(data)};
}
TensorList* aclCreateTensorList(Tensor* const* items, uint64_t n) { return new TensorList{{items, items + n}}; }
Array<int64_t>* aclCreateIntArray(const int64_t* items, uint64_t n) { return ++live, new Array<int64_t>(items, n); }
Array<float>* aclCreateFloatArray(const float* items, uint64_t n) { return ++live, new Array<float>(items, n); }
Array<bool>* aclCreateBoolArray(const bool* items, uint64_t n) { return ++live, new Array<bool>(items, n); }
int aclDestroyTensor(Tensor* t) { return live--, delete t, 0; }
int aclDestroyTensorList(TensorList* list) {  // it owns its tensors
    for (Tensor* t : list->items) { aclDestroyTensor(t); }
    return delete list, 0;
}
int aclDestroyIntArray(Array<int64_t>* a) { return live--, delete a, 0; }
int aclDestroyFloatArray(Array<float>* a) { return live--, delete a, 0; }
int aclDestroyBoolArray(Array<bool>* a) { return live--, delete a, 0; }
int StandInLive() { return live + static_cast<int>(memory.size()); }
}

namespace {
struct Executor {
    const Tensor *x, *out;
    float scale;
};
}  // namespace

extern "C" int aclnnProbeGetWorkspaceSize(const Tensor* x, const Tensor* y, const TensorList* zs, int64_t i, double f, bool b, char* s,
                                          const Array<int64_t>* ii, const Array<float>* ff, const Array<bool>* bb, const Tensor* out,
                                          uint64_t* size, Executor** executor) {
    if (Asked("arguments")) { return Fail(161002, "EZ1001: x must be float32"); }
    std::fprintf(Log(), "probe");
    Show(x);
    Show(y);
    std::fprintf(Log(), " [");
    for (const Tensor* z : zs->items) { Show(z); }
    std::fprintf(Log(), " ] %ld %g %d %s", i, f, b, s);
    for (int64_t item : ii->items) { std::fprintf(Log(), " %ld", item); }
    for (float item : ff->items) { std::fprintf(Log(), " %g", item); }
    for (bool item : bb->items) { std::fprintf(Log(), " %d", item); }
    Show(out);
    std::fprintf(Log(), "\n");
    std::fflush(Log());
    *size = 256;
    *executor = new Executor{x, out, static_cast<float>(f)};
    return 0;
}
extern "C" int aclnnProbe(void* workspace, uint64_t size, Executor* executor, void* stream) {
    if (stream != &stream_object || size != 256 || !Inside(reinterpret_cast<uint64_t>(workspace), 256)) { return Fail(161001, "no workspace"); }
    const Tensor *x = executor->x, *out = executor->out;
    size_t count = Count(x);
    if (!Inside(x->data, count * 4) || !Inside(out->data, count * 4)) { return Fail(161001, "no tensor"); }
    auto* from = reinterpret_cast<float*>(Host(x->data));
    auto* to = reinterpret_cast<float*>(Host(out->data));
    launches++;
    size_t written = count + (Asked("padding") ? 1 : 0) + (Asked("behind") ? 40 : 0);
    for (size_t i = 0; i < written; i++) { to[i] = executor->scale * from[i < count ? i : 0]; }
    if (Asked("before")) { to[-1] = 0; }
    if (Asked("half")) { std::memset(to + count / 2, 0xA5, 4); }
    delete executor;
    return 0;
}
