// How custom is split over cores and tiles, and its attributes; op_host/custom_tiling.cpp fills it in.
#ifndef CUSTOM_TILING_H
#define CUSTOM_TILING_H

#include <cstdint>

struct CustomTilingData {
    int64_t total;       // elements of y
    int64_t coreLength;  // elements of one core; the last one may have fewer
    int64_t tileLength;  // elements of one tile in UB
};

#endif
