// LoadData of images: output points become rows, filter windows columns, and a part of that matrix goes to L0A or L0B.
#include <cstring>

#include "checker.h"
#include "cube_contents.h"

namespace ascendc_twin {

namespace {

// The matrix of windows over an image in NC1HWC0.
struct Windows {
    uint32_t h, w, c0, element;  // of the image; bytes of an element
    int32_t left, top;
    uint32_t out_w, rows, columns;
    Load3d p;
    uint64_t pad_value;
    const uint8_t *data;
    uint64_t start, ring;  // address of the image in L1; bytes after which L1 is read from its start again, 0: none

    // The bytes at an offset in the image.
    const uint8_t *at(int64_t offset) const {
        const uint64_t address = start + static_cast<uint64_t>(offset);
        return data + (ring != 0 ? static_cast<int64_t>(address % ring) - static_cast<int64_t>(start) : offset);
    }
    // Offset of 32 bytes of channels in the image for a row and a column block, -1: padding.
    int64_t block(uint32_t row, uint32_t column_block) const {
        const uint32_t window = p.filter_h * p.filter_w;
        const uint32_t c1 = column_block / window, kh = column_block % window / p.filter_w, kw = column_block % p.filter_w;
        const int64_t y = int64_t{row / out_w} * p.stride_h - top + int64_t{kh} * p.dilation_h;
        const int64_t x = int64_t{row % out_w} * p.stride_w - left + int64_t{kw} * p.dilation_w;
        if (y < 0 || x < 0 || y >= h || x >= w) return -1;
        return ((int64_t{c1} * h + y) * w + x) * static_cast<int64_t>(kBlock32);
    }
};

bool windows_of(const Load3d &p, const Span &src, Windows &out) {
    const CubeState &s = cube();
    const Dt dt = src.dt;
    out.data = src.p;
    out.start = src.addr;
    out.ring = s.boundary;
    if (s.boundary != 0 && (s.boundary < 1024 || src.addr >= s.boundary)) {
        finding("CUBE-RANGE", "LoadData: the boundary in L1 (SetLoadDataBoundary) is %u bytes; it must be at least 1024, and the image, at address %llu, must start before it",
                s.boundary, static_cast<unsigned long long>(src.addr));
        return false;
    }
    const uint8_t *pad = p.own_image ? p.pad : s.image_pad[0];
    out.h = p.own_image ? p.h : s.image_h[0];
    out.w = p.own_image ? p.w : s.image_w[0];
    out.c0 = c0_of(dt);
    out.element = dt == Dt::I4 ? 1 : static_cast<uint32_t>(kBlock32) / out.c0;
    out.left = pad[0];
    out.top = pad[2];
    out.p = p;
    out.pad_value = p.own_padding ? p.pad_value : s.load_padding;
    if (out.h == 0 || out.w == 0 || p.filter_h == 0 || p.filter_w == 0 || p.stride_h == 0 || p.stride_w == 0) return false;
    const int64_t span_w = int64_t{p.filter_w - 1} * p.dilation_w + 1, span_h = int64_t{p.filter_h - 1} * p.dilation_h + 1;
    const int64_t free_w = int64_t{out.w} + pad[0] + pad[1] - span_w, free_h = int64_t{out.h} + pad[2] + pad[3] - span_h;
    if (free_w < 0 || free_h < 0) return false;
    out.out_w = static_cast<uint32_t>(free_w / p.stride_w + 1);
    out.rows = out.out_w * static_cast<uint32_t>(free_h / p.stride_h + 1);
    out.columns = ceil_div(p.channels, out.c0) * p.filter_h * p.filter_w * out.c0;
    return true;
}

// Where element (row, column) of the loaded part goes, in elements: fractals of 16 x c0, row by row; in L0B they are transposed.
class Place {
public:
    Place(bool to_b, bool transpose, uint32_t rows, uint32_t columns, uint32_t c0)
        : turned_(to_b || transpose), by_column_(to_b), c0_(c0),
          across_(to_b ? ceil_div(columns, kCube) : transpose ? ceil_div(rows, kCube) * kCube / c0 : ceil_div(columns, c0)) {}
    uint64_t operator()(uint32_t row, uint32_t column) const {
        if (!turned_) return tile(row, column);
        // L0B: (row, column) of the matrix B itself, its fractals hold columns; L0A: the transposed matrix
        return by_column_ ? (uint64_t{row / c0_} * across_ + column / kCube) * kCube * c0_ + column % kCube * c0_ + row % c0_ : tile(column, row);
    }

private:
    uint64_t tile(uint32_t r, uint32_t c) const { return (uint64_t{r / kCube} * across_ + c / c0_) * kCube * c0_ + r % kCube * c0_ + c % c0_; }
    bool turned_, by_column_;
    uint32_t c0_, across_;
};

struct Part {
    uint32_t rows, columns;      // of the loaded matrix, all repeats
    uint32_t m_step, k_step;     // source rows or columns from one repeat to the next
};

uint32_t source_row(const Load3d &p, const Part &part, uint32_t row) {
    return p.m_start + row / p.m_extent * part.m_step + row % p.m_extent;
}
uint32_t source_column(const Load3d &p, const Part &part, uint32_t column) {
    return p.k_start + column / p.k_extent * part.k_step + column % p.k_extent;
}

void copy_part(const Span &dst, const Windows &win, const Part &part, const Place &place) {
    const uint32_t c0 = win.c0, e = win.element;
    for (uint32_t row = 0; row < part.rows; ++row) {
        const uint32_t from_row = source_row(win.p, part, row);
        if (from_row >= win.rows) continue;
        for (uint32_t column = 0; column < part.columns; ++column) {
            const uint32_t from = source_column(win.p, part, column);
            if (from >= win.columns) break;
            const int64_t block = win.block(from_row, from / c0);
            const void *value = block < 0 ? static_cast<const void *>(&win.pad_value) : win.at(block) + from % c0 * e;
            memcpy(dst.p + place(row, column) * e, value, e);
        }
    }
}

// int4b_t: whole blocks of 64 columns only, never transposed.
void copy_part_int4(const Span &dst, const Windows &win, const Part &part) {
    const uint32_t across = ceil_div(part.columns, 64);
    for (uint32_t row = 0; row < part.rows; ++row) {
        const uint32_t from_row = source_row(win.p, part, row);
        if (from_row >= win.rows) continue;
        for (uint32_t b = 0; b < across; ++b) {
            const int64_t block = win.block(from_row, source_column(win.p, part, b * 64) / 64);
            uint8_t *to = dst.p + ((uint64_t{row / kCube} * across + b) * kCube + row % kCube) * kBlock32;
            if (block < 0) {
                memset(to, static_cast<int>(win.pad_value & 0xff), kBlock32);
            } else {
                memcpy(to, win.at(block), kBlock32);
            }
        }
    }
}

// Blocks of the image that nobody wrote stay unwritten; where fractals are turned, only all of them do.
void carry_image(const Span &src, const Span &dst, const Windows &win, const Part &part, bool turned, uint64_t bytes) {
    const uint32_t across = ceil_div(part.columns, win.c0);
    uint32_t empty = 0, looked_at = 0;
    for (uint32_t row = 0; row < part.rows; ++row) {
        const uint32_t from_row = source_row(win.p, part, row);
        for (uint32_t b = 0; b < across && from_row < win.rows; ++b) {
            const uint32_t from = source_column(win.p, part, b * win.c0);
            const int64_t block = from < win.columns ? win.block(from_row, from / win.c0) : -1;
            ++looked_at;
            if (block < 0 || unwritten_in(priv(), src.mem, src.addr + static_cast<uint64_t>(win.at(block) - win.data), kBlock32).bytes != kBlock32) continue;
            ++empty;
            const uint64_t to = ((uint64_t{row / kCube} * across + b) * kCube + row % kCube) * kBlock32;
            if (!turned) mark_unwritten(priv(), dst.mem, dst.addr + to, kBlock32);
        }
    }
    if (turned && empty == looked_at) mark_unwritten(priv(), dst.mem, dst.addr, bytes);
}

// Rows lo to hi of `count` channel blocks. In a ring that they leave, all of it.
bool touch_rows(Inst &inst, const Span &src, const Windows &win, uint32_t first, uint32_t count, int64_t lo, int64_t hi) {
    const uint64_t plane = uint64_t{win.h} * win.w * kBlock32, row_bytes = win.w * kBlock32;
    const uint64_t end = (uint64_t{first} + count - 1) * plane + static_cast<uint64_t>(hi + 1) * row_bytes;
    if (win.ring != 0 && win.start + end > win.ring) {
        const Span ring{src.p - src.addr, 0, win.ring, -1, src.mem, src.dt};
        return touch_cube(inst, ring, Rw::READ, walk(win.ring));
    }
    return touch_cube(inst, src, Rw::READ, walk(static_cast<uint64_t>(hi - lo + 1) * row_bytes, count, static_cast<int64_t>(plane), 1, 0,
                                                static_cast<int64_t>(first * plane) + lo * static_cast<int64_t>(row_bytes)));
}

// The rows of the image that the part reads, as one range per channel block.
bool touch_image(Inst &inst, const Span &src, const Windows &win, const Part &part) {
    const uint32_t window = win.p.filter_h * win.p.filter_w;
    const uint32_t first = win.p.k_start / win.c0 / window;
    const uint32_t last = std::min(source_column(win.p, part, part.columns - 1), win.columns - 1) / win.c0 / window;
    int64_t lo = INT64_MAX, hi = -1;
    const uint32_t last_row = std::min(source_row(win.p, part, part.rows - 1), win.rows - 1);
    for (uint32_t y = win.p.m_start / win.out_w; y <= last_row / win.out_w; ++y) {
        for (uint32_t kh = 0; kh < win.p.filter_h; ++kh) {
            const int64_t row = int64_t{y} * win.p.stride_h - win.top + int64_t{kh} * win.p.dilation_h;
            if (row < 0 || row >= win.h) continue;
            lo = std::min(lo, row);
            hi = std::max(hi, row);
        }
    }
    if (hi < 0) return true;  // padding only
    return touch_rows(inst, src, win, first, last - first + 1, lo, hi);
}

}  // namespace

void load_3d(Inst &inst, const Span &dst, const Span &src, const Load3d &p) {
    if (p.k_extent == 0 || p.m_extent == 0 || p.channels == 0) return;
    if (!check_memory(dst, "the destination", {Mem::L0A, Mem::L0B}) || !check_memory(src, "the source", {Mem::L1}) || !core_has(dst.mem)) return;
    const CubeState &s = cube();
    Windows win{};
    if (s.repeat_times == 0 || !windows_of(p, src, win)) return;
    const bool to_b = dst.mem == Mem::L0B, wide = win.c0 == 8 || win.c0 == kCube;
    if ((to_b || p.transpose) && !wide) {
        finding("CUBE-RANGE", "LoadData of an image %s is for 16-bit and 32-bit elements", to_b ? "into L0B" : "with enTranspose");
        return;
    }
    if (p.k_start % win.c0 != 0) {
        finding("CUBE-RANGE", "LoadData: kStartPt %u must be a multiple of %u elements", p.k_start, win.c0);
        return;
    }
    const bool along_m = s.repeat_mode == 0;
    const Part part{along_m ? p.m_extent * s.repeat_times : p.m_extent, along_m ? p.k_extent : p.k_extent * s.repeat_times,
                    along_m ? s.repeat_stride * kCube : 0, along_m ? 0 : s.repeat_stride * win.c0};
    const uint32_t rows = ceil_div(part.rows, kCube) * kCube, columns = ceil_div(part.columns, to_b || p.transpose ? kCube : win.c0) *
                                                                        (to_b || p.transpose ? kCube : win.c0);
    Judge judge(priv());
    if (!touch_image(inst, src, win, part)) return;
    const bool holes = judge.found();
    const uint64_t bytes = src.dt == Dt::I4 ? uint64_t{rows} * columns / 2 : uint64_t{rows} * columns * win.element;
    if (!touch_cube(inst, dst, Rw::WRITE, walk(bytes))) return;
    if (holes) carry_image(src, dst, win, part, to_b || p.transpose, bytes);
    if (src.dt == Dt::I4) {
        copy_part_int4(dst, win, part);
    } else {
        copy_part(dst, win, part, Place(to_b, p.transpose, part.rows, part.columns, win.c0));
    }
    inst.moved = bytes;
}

void load_window(Inst &inst, const Span &dst, const Span &src, const LoadWindow &p) {
    if (p.repeat == 0) return;
    if (!check_memory(dst, "the destination", {Mem::L0A, Mem::L0B}) || !check_memory(src, "the source", {Mem::L1}) || !core_has(dst.mem)) return;
    Load3d image = p.image;
    image.channels = 1;
    Windows win{};
    if (!windows_of(image, src, win)) return;
    const int64_t x = int64_t{p.left} + win.left, y = int64_t{p.top} + win.top;  // from the corner of the padded image
    if (x < 0 || y < 0 || x % image.stride_w != 0 || y % image.stride_h != 0) {
        finding("CUBE-RANGE", "LoadData: (leftTopW, leftTopH) = (%d, %d) is the corner of no window: padding is %d, %d, strides are %u, %u", p.left, p.top,
                win.left, win.top, image.stride_w, image.stride_h);
        return;
    }
    const auto row = static_cast<uint32_t>(y / image.stride_h * win.out_w + x / image.stride_w);
    const uint32_t column = (p.channel_block * image.filter_h + p.filter_y) * image.filter_w + p.filter_x;
    const uint32_t last = (p.down ? column : column + p.repeat - 1) / (image.filter_h * image.filter_w);
    if (!touch_rows(inst, src, win, p.channel_block, last - p.channel_block + 1, 0, int64_t{win.h} - 1)) return;
    if (!touch_cube(inst, dst, Rw::WRITE, walk(kFractal, p.repeat, static_cast<int64_t>(p.jump * kFractal)))) return;
    for (uint32_t i = 0; i < p.repeat; ++i) {
        for (uint32_t r = 0; r < kCube; ++r) {
            const uint32_t point = row + r + (p.down ? i * kCube : 0);
            const int64_t block = point < win.rows ? win.block(point, p.down ? column : column + i) : -1;
            uint8_t *to = dst.p + (uint64_t{i} * p.jump * kCube + r) * kBlock32;
            for (uint64_t at = 0; block < 0 && at < kBlock32; at += win.element) memcpy(to + at, &win.pad_value, win.element);
            if (block >= 0) memcpy(to, win.at(block), kBlock32);
        }
    }
    inst.moved = kFractal * p.repeat;
    inst.runs = p.repeat;
}

}  // namespace ascendc_twin
