#pragma once

#include <cstdint>

struct ScaleRowsTilingData {
    uint64_t rows;
    uint32_t columns;
    float factor;
    uint32_t ubBytes;
};
