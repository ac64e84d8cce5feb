// Atomic modes of copies to global memory. Blocks run at once, so a page is locked while a run is combined into it.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "ascendc_twin/half.h"
#include "core.h"
#include "gm_pages.h"

namespace ascendc_twin {

namespace {

std::mutex g_pages[64];

template <typename T, typename Wide>
void combine(uint8_t *dst, const uint8_t *src, uint64_t bytes, uint8_t kind) {
    for (uint64_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
        T a, b;
        memcpy(&a, dst + i, sizeof a);
        memcpy(&b, src + i, sizeof b);
        const Wide x = static_cast<Wide>(a), y = static_cast<Wide>(b);
        const T r = static_cast<T>(kind == 1 ? x + y : kind == 2 ? std::max(x, y) : std::min(x, y));
        memcpy(dst + i, &r, sizeof r);
    }
}

void combine_dt(uint8_t *dst, const uint8_t *src, uint64_t bytes, uint8_t kind, Dt dt) {
    switch (dt) {
        case Dt::F32: return combine<float, float>(dst, src, bytes, kind);
        case Dt::F16: return combine<half, float>(dst, src, bytes, kind);
        case Dt::BF16: return combine<bfloat16_t, float>(dst, src, bytes, kind);
        case Dt::I32: return combine<int32_t, int64_t>(dst, src, bytes, kind);
        case Dt::I16: return combine<int16_t, int32_t>(dst, src, bytes, kind);
        case Dt::I8: return combine<int8_t, int32_t>(dst, src, bytes, kind);
        default: memcpy(dst, src, bytes);
    }
}

}  // namespace

void atomic_run(uint8_t *dst, const uint8_t *src, uint64_t bytes) {
    Private &p = priv();
    if (t_core->checks) gm_written(p, dst, bytes);
    while (bytes != 0) {
        const auto address = reinterpret_cast<uint64_t>(dst);
        const uint64_t step = std::min<uint64_t>(bytes, 4096 - address % 4096);
        ++p.in_runtime;
        {
            std::lock_guard<std::mutex> lock(g_pages[address / 4096 % 64]);
            combine_dt(dst, src, step, t_core->atomic, t_core->atomic_dt);
        }
        --p.in_runtime;
        dst += step;
        src += step;
        bytes -= step;
    }
}

void set_atomic(uint8_t kind, Dt dt) {
    t_core->atomic = kind;
    t_core->atomic_dt = dt;
}

}  // namespace ascendc_twin
