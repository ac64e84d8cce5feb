// How work items, such as rows, are split over cores: the first formerCores cores have one more than the others.
#ifndef ROW_SPLIT_H
#define ROW_SPLIT_H

#include <cstdint>

struct RowSplit {
    int64_t formerUnits;  // work items of each of the first formerCores cores
    int64_t tailUnits;    // of each of the other cores
    int64_t formerCores;
};

// Rows x columns elements in tiles of tileRows x tileColumns, which are the work items; those of a row follow each
// other.
struct RowTiles {
    RowSplit split;
    int64_t rows;
    int64_t columns;
    int32_t tileRows;
    int32_t tileColumns;
};

#endif
