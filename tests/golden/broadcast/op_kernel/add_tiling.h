// How add is split over cores and tiles; op_host/add_tiling.cpp fills it in.
#ifndef ADD_TILING_H
#define ADD_TILING_H

#include <cstdint>

constexpr int32_t ADD_OUTER_DIMS = 6;

// How one input moves over the output: elements to step for one step of the output, 0 where it is broadcast.
struct AddOperand {
    int64_t outer[ADD_OUTER_DIMS];
    int64_t row;
    int64_t column;
};

struct AddTilingData {
    int64_t units;        // work items of all cores: elements (flat) or tiles (general)
    int64_t formerUnits;  // of each of the first formerCores cores
    int64_t tailUnits;    // of each of the other cores; the last one may have fewer
    int32_t formerCores;
    int32_t tileLength;   // elements of one tile in UB

    // flat
    int32_t firstIsScalar;
    int32_t secondIsScalar;

    // general: the output is outer dims x rows x columns
    int64_t rows;
    int64_t columns;
    int64_t outer[ADD_OUTER_DIMS];
    int32_t tileRows;
    int32_t tileColumns;
    AddOperand first;
    AddOperand second;
};

#endif
