// How conv2d is split over cores and blocks; op_host/conv2d_tiling.cpp fills it in.
#ifndef CONV2D_TILING_H
#define CONV2D_TILING_H

#include <cstdint>

#include "kernel_tiling/kernel_tiling.h"

// Sizes along one of the two directions.
struct Conv2dSide {
    int32_t in;        // pixels of an image
    int32_t out;       // pixels of the result
    int32_t window;    // pixels of a window, dilation apart
    int32_t stride;
    int32_t padding;
    int32_t dilation;
};

// A tile of pixels of one group of an image: whole rows, or a part of one. They are the columns of the right matrix.
struct Conv2dTiles {
    int32_t rows;
    int32_t columns;
    int32_t down;       // tiles of a group below each other
    int32_t across;     // and beside each other
    int32_t most;       // pixels of a tile, rounded up to whole fractals
    int32_t pitch;      // of the rows of the image that a tile reads, in UB
    int32_t lines;      // rows of the right matrix that leave UB together
};

struct Conv2dTilingData {
    TCubeTiling cube;  // of one part of the filters with one tile
    Conv2dSide y;
    Conv2dSide x;
    Conv2dTiles tiles;
    int32_t groups;
    int32_t channels;   // of a group
    int32_t filters;    // of a group
    int32_t depth;      // channels * pixels of a window: what is summed
    int32_t parts;      // of the filters
    int32_t sliceRows;  // rows of a block that are finished at a time
    int32_t hasBias;
    int32_t cores;      // vector cores
    int64_t units;      // images * groups * tiles * parts
};

#endif
