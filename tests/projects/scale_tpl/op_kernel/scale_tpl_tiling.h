#pragma once
#include <cstdint>

struct ScaleTplTilingData {
    uint32_t length;
};
