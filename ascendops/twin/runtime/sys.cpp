// Tiling data, workspace, clock, output of kernels.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "ascendc_twin/half.h"
#include "core.h"

namespace ascendc_twin {

namespace {

using ull = unsigned long long;
std::mutex g_output;

}  // namespace

void check_tiling(const void *base, uint64_t bytes, const char *type) {
    if (base != t_core->tiling) return;
    const uint64_t have = t_core->tiling_size;
    if (have < bytes) {
        finding("TILING-SIZE", "the kernel reads %s of %llu bytes, but op_host wrote %llu bytes of tiling data", type, static_cast<ull>(bytes),
                static_cast<ull>(have));
    } else if (have > (bytes + 7) / 8 * 8) {
        finding("TILING-DIFFERS", "op_host wrote %llu bytes of tiling data, but %s has %llu bytes", static_cast<ull>(have), type,
                static_cast<ull>(bytes));
    }
}

__attribute__((noinline)) void read_tiling(void *out, uint64_t bytes, const void *from, const char *type) {
    Private &p = priv();
    TWIN_SITE("GET_TILING_DATA", PipeId::S);
    uint64_t have = bytes;
    if (from == t_core->tiling) {
        have = std::min(bytes, t_core->tiling_size);
        check_tiling(from, bytes, type);
    } else if (gm_range(p, reinterpret_cast<uint64_t>(from), bytes) == nullptr) {
        finding("TILING-SIZE", "the kernel reads %s of %llu bytes from %s: outside the buffer", type, static_cast<ull>(bytes),
                gm_describe(p, reinterpret_cast<uint64_t>(from)).c_str());
        have = 0;
    }
    memset(out, 0, bytes);
    if (have != 0) memcpy(out, from, have);
}

bool tiling_key_is(uint64_t key) {
    Private &p = priv();
    p.key_asked = true;
    if (p.key_count < sizeof p.keys_asked / sizeof *p.keys_asked) {
        bool known = false;
        for (uint32_t i = 0; i < p.key_count; ++i) known |= p.keys_asked[i] == key;
        if (!known) p.keys_asked[p.key_count++] = key;
    }
    const bool match = t_core->tiling_key == key;
    p.key_matched |= match;
    return match;
}

void task_type(int type) {
    priv().task_type = type;
}

uint8_t *system_workspace() {
    return priv().system_workspace;
}

void set_system_workspace(uint8_t *workspace) {
    priv().system_workspace = workspace;
}

uint8_t *user_workspace(uint8_t *workspace) {
    Private &p = priv();
    uint8_t *base = p.system_workspace ? p.system_workspace : workspace;
    return base ? base + launch_input(*p.launch).reserved_workspace : nullptr;
}

int64_t system_cycle() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() / 20;  // the device's counter has 50 MHz
}

void kernel_print(const char *format, ...) {
    Private &p = priv();
    ++p.in_runtime;
    {
        std::lock_guard<std::mutex> lock(g_output);
        va_list args;
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        fflush(stdout);
    }
    --p.in_runtime;
}

namespace {

double element(const uint8_t *at, Dt dt, uint64_t i) {
    switch (dt) {
        case Dt::I8: return reinterpret_cast<const int8_t *>(at)[i];
        case Dt::U8:
        case Dt::BOOL: return at[i];
        case Dt::I16: return reinterpret_cast<const int16_t *>(at)[i];
        case Dt::U16: return reinterpret_cast<const uint16_t *>(at)[i];
        case Dt::F16: return static_cast<double>(reinterpret_cast<const half *>(at)[i]);
        case Dt::BF16: return static_cast<float>(reinterpret_cast<const bfloat16_t *>(at)[i]);
        case Dt::I32: return reinterpret_cast<const int32_t *>(at)[i];
        case Dt::U32: return reinterpret_cast<const uint32_t *>(at)[i];
        case Dt::F32: return reinterpret_cast<const float *>(at)[i];
        case Dt::I64: return static_cast<double>(reinterpret_cast<const int64_t *>(at)[i]);
        case Dt::U64: return static_cast<double>(reinterpret_cast<const uint64_t *>(at)[i]);
        case Dt::F64: return reinterpret_cast<const double *>(at)[i];
        case Dt::I4: return static_cast<int8_t>(at[i / 2] >> (i % 2 * 4) << 4) >> 4;
    }
    return 0;
}

uint64_t width(Dt dt) {
    static const uint64_t bytes[] = {1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8, 1, 1};
    return bytes[static_cast<int>(dt)];
}

}  // namespace

void dump_tensor(const Span &span, const void *begin, uint64_t elements, uint32_t description) {
    Private &p = priv();
    TWIN_SITE("DumpTensor", PipeId::S);
    const bool readable = span.mem == Mem::GM ? gm_range(p, span.addr, elements * width(span.dt)) != nullptr
                                              : span.p != nullptr && elements * width(span.dt) <= span.bytes;
    if (!readable) {
        finding("DUMP-RANGE", "DumpTensor(%u) of %llu elements: the tensor is smaller", description, static_cast<ull>(elements));
        return;
    }
    ++p.in_runtime;
    {
        std::lock_guard<std::mutex> lock(g_output);
        printf("DumpTensor block %u desc %u %s %llu elements: [", t_core->block_idx, description, mem_name(span.mem), static_cast<ull>(elements));
        for (uint64_t i = 0; i < elements; ++i) printf("%s%g", i ? ", " : "", element(static_cast<const uint8_t *>(begin), span.dt, i));
        printf("]\n");
        fflush(stdout);
    }
    --p.in_runtime;
}

}  // namespace ascendc_twin
