// How sum is split over cores and tiles; op_host/sum_tiling.cpp fills it in.
#ifndef SUM_TILING_H
#define SUM_TILING_H

#include <cstdint>

// The input is seen as outer x length x inner; length is reduced.
struct SumTilingData {
    int64_t length;
    int64_t inner;
    int64_t units;        // work items: rows (inner is 1), or tiles of columns
    int64_t formerUnits;  // of each of the first formerCores cores
    int64_t tailUnits;    // of each of the other cores
    int32_t formerCores;
    int32_t tileRows;     // rows: rows of one tile; columns: rows that are folded at a time
    int32_t pitch;        // fp32 elements from one row of a tile to the next in UB
    int32_t chunk;        // split: elements of a row in UB at a time; columns: columns of one tile
};

#endif
