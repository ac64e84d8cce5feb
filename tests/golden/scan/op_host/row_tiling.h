// What tiling functions for rows have in common: the machine, the layout of rows in UB, and the split over cores.
#ifndef ROW_TILING_H
#define ROW_TILING_H

#include <algorithm>
#include <cstdint>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

#include "../op_kernel/row_split.h"

namespace row_tiling {
constexpr int64_t BUFFERS = 2;  // double buffering of every queue
constexpr int64_t LANES = 64;  // fp32 elements of one vector repeat
constexpr int64_t BLOCK_BYTES = 32;
constexpr int64_t MAX_TILE_ROWS = 2040;  // 255 repeats of 8 values in Brcb

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int64_t AlignUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

inline int64_t ItemSize(ge::DataType type) { return type == ge::DT_FLOAT ? 4 : 2; }

struct Machine {
    int64_t cores;    // vector cores
    int64_t ubBytes;  // of one of them
};

// False when the platform does not say.
inline bool GetMachine(gert::TilingContext *context, Machine &machine)
{
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    machine.cores = static_cast<int64_t>(platform.GetCoreNumAiv());
    machine.ubBytes = static_cast<int64_t>(ubBytes);
    return machine.cores > 0 && machine.ubBytes > 0;
}

// Elements from one row to the next in UB: rows of up to one repeat are padded to blocks, longer ones to repeats.
inline int64_t PitchOf(int64_t columns, int64_t itemSize)
{
    return AlignUp(columns, columns <= LANES ? BLOCK_BYTES / itemSize : LANES);
}

// Splits units evenly; the number of cores that get any (one, which finds nothing to do, when there are no units).
inline int64_t SplitOverCores(gert::TilingContext *context, RowSplit &split, int64_t units, int64_t cores)
{
    const int64_t used = std::max<int64_t>(1, std::min(cores, units));
    split.formerUnits = CeilDiv(units, used);
    split.tailUnits = units / used;
    split.formerCores = units % used;
    context->SetBlockDim(static_cast<uint32_t>(used));
    return used;
}

// Rows of a shape whose last dim is the row, with or without columns.
inline int64_t CountRows(const gert::Shape &shape)
{
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.GetDimNum(); ++i) {
        rows *= shape.GetDim(i);
    }
    return rows;
}

// Rows x columns of a shape whose last dim is the row, 0 x 0 when that is empty; false for a scalar.
inline bool GetRows(const gert::Shape &shape, int64_t &rows, int64_t &columns)
{
    if (shape.GetDimNum() == 0) {
        return false;
    }
    columns = shape.GetDim(shape.GetDimNum() - 1);
    rows = columns == 0 ? 0 : shape.GetShapeSize() / columns;
    return true;
}
// Tiles of up to `capacity` elements, for work that knows no rows: whole rows if every core can have some, else parts
// of one row. False when a tile has parts of a row; the number of cores is set. At most 4095 rows fit one DataCopyPad.
inline bool TileElements(gert::TilingContext *context, RowTiles &tiles, int64_t capacity, int64_t pitchAlign,
                         int64_t cores, int64_t maxRows = 4095)
{
    constexpr int64_t MIN_COLUMNS = 1024;  // shorter parts are not worth another core
    const int64_t rows = std::max<int64_t>(tiles.rows, 1);
    const int64_t columns = std::max<int64_t>(tiles.columns, 1);
    const int64_t pitch = AlignUp(columns, pitchAlign);
    const bool whole = pitch <= capacity && (rows >= cores || columns <= MIN_COLUMNS);
    if (whole) {
        const int64_t fitting = std::min(capacity / pitch, maxRows);
        tiles.tileRows = static_cast<int32_t>(std::max<int64_t>(1, std::min(fitting, CeilDiv(rows, cores))));
        tiles.tileColumns = static_cast<int32_t>(columns);
    } else {
        const int64_t fair = AlignUp(CeilDiv(columns, CeilDiv(cores, rows)), 2 * LANES);
        tiles.tileRows = 1;
        tiles.tileColumns = static_cast<int32_t>(std::min(capacity, std::max(fair, MIN_COLUMNS)));
    }
    const int64_t units = tiles.rows == 0 || tiles.columns == 0
                              ? 0
                              : CeilDiv(tiles.rows, tiles.tileRows) * CeilDiv(tiles.columns, tiles.tileColumns);
    SplitOverCores(context, tiles.split, units, cores);
    return whole;
}
}  // namespace row_tiling

#endif
