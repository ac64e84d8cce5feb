// How the SoftMax family works through its rows with a given buffer: the same on host and kernel, and constant where it can be.
#pragma once

#include "api_tilings.h"

#if __cplusplus >= 201402L
#define ASCENDC_TWIN_CONSTEXPR constexpr
#else
#define ASCENDC_TWIN_CONSTEXPR inline
#endif

namespace AscendC {
namespace tiling {

// Per row: `buffers` rows of floats, a 32-byte block for each of two statistics, and 256 bytes for their sums.
ASCENDC_TWIN_CONSTEXPR uint32_t SoftmaxRowBytes(uint32_t k, uint32_t buffers) { return (buffers * ((k + 7U) / 8U * 8U) + 16U + 64U) * 4U; }

template <typename Tiling>
ASCENDC_TWIN_CONSTEXPR Tiling SoftmaxRounds(uint32_t m, uint32_t k, uint32_t typeSize, uint32_t bytes, uint32_t buffers) {
    Tiling t{};
    const uint32_t fit = bytes / SoftmaxRowBytes(k, buffers);
    t.srcM = m;
    t.srcK = k;
    t.srcSize = m * k;
    t.outMaxM = m;
    t.outMaxK = 32U / typeSize;
    t.outMaxSize = m * t.outMaxK;
    t.splitM = t.reduceM = fit < m ? fit : m;
    t.splitK = k;
    t.splitSize = t.splitM * k;
    t.reduceK = t.outMaxK;
    t.reduceSize = t.reduceM * t.reduceK;
    t.rangeM = t.splitM == 0U ? 0U : m / t.splitM;
    t.tailM = t.splitM == 0U ? 0U : m % t.splitM;
    t.tailSplitSize = t.tailM * k;
    t.tailReduceSize = t.tailM * t.reduceK;
    return t;
}

}  // namespace tiling
}  // namespace AscendC
