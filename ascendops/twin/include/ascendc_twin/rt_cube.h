// What the cube headers may call in the twin's runtime library: copies into L1 and the L0 buffers, the matrix unit, and Fixpipe.
#pragma once

#include "ascendc_twin/rt.h"

namespace ascendc_twin {

// Matrices of global memory into NZ fractals of L1. Rows of `d` elements (ND), or columns of them (DN, `transposed`).
struct ToNz {
    uint32_t count = 1;           // matrices
    uint32_t n = 0, d = 0;        // rows and columns of the fractal matrix
    uint64_t src_pitch = 0;       // elements from one row to the next (DN: from one column to the next)
    uint64_t src_matrix = 0;      // elements from one matrix to the next
    uint32_t dst_c0 = 0;          // 32-byte blocks from one column of fractals to the next
    uint32_t dst_n = 1;           // 32-byte blocks from one row to the next
    uint64_t dst_matrix = 0;      // elements
    uint32_t element = 2;
    bool transposed = false;
};
void copy_to_nz(Inst &inst, const Span &dst, const Span &src, const ToNz &p);

// Whole fractals of 512 bytes, each transposed where asked for.
struct Load2d {
    uint32_t start = 0, repeat = 0, src_stride = 0, dst_gap = 0;
    bool transpose = false, backward = false;
};
void load_2d(Inst &inst, const Span &dst, const Span &src, const Load2d &p);

// Dense fractals of B, and the indices (128 bytes a fractal) by which Mmad picks two of four elements of A.
void load_sparse(Inst &inst, const Span &dst, const Span &src, const Span &index, uint32_t start, uint32_t repeat);

// Squares of several fractals, transposed and split again.
struct LoadSquare {
    uint32_t start = 0, repeat = 0, src_stride = 0, dst_gap = 0, dst_fractal_gap = 0;
    bool backward = false;
};
void load_square(Inst &inst, const Span &dst, const Span &src, const LoadSquare &p);

// Image to columns: rows are output points, columns are (channel block, filter row, filter column, channel).
struct Load3d {
    uint8_t pad[4] = {0, 0, 0, 0};  // left, right, top, bottom
    uint32_t h = 0, w = 0, channels = 0;
    uint32_t k_extent = 0, m_extent = 0, k_start = 0, m_start = 0;
    uint32_t stride_w = 1, stride_h = 1, filter_w = 1, filter_h = 1, dilation_w = 1, dilation_h = 1;
    bool transpose = false;
    uint64_t pad_value = 0;  // bits of one element
    bool own_image = true;   // h, w and pad are those given here, not SetFmatrix's
    bool own_padding = true;
};
void load_3d(Inst &inst, const Span &dst, const Span &src, const Load3d &p);
// The older form of it: a fractal a repeat, from an output point (its upper left corner in the image) and a column block on.
struct LoadWindow {
    Load3d image;
    int32_t left = 0, top = 0;
    uint32_t channel_block = 0, filter_x = 0, filter_y = 0;
    uint32_t jump = 1, repeat = 0;   // fractals from one to the next
    bool down = false;               // each repeat goes on to other output points, not to other columns
};
void load_window(Inst &inst, const Span &dst, const Span &src, const LoadWindow &p);
// Bytes of L1 after which an image goes on at its start; 0: none.
void set_load_boundary(uint32_t bytes);
void set_fmatrix(uint32_t h, uint32_t w, const uint8_t pad[4], bool right);
void set_load_padding(uint64_t bits);
void set_load_repeat(uint32_t stride, uint32_t times, uint32_t mode);

void fill_blocks(Inst &inst, const Span &dst, uint32_t repeat, uint32_t blocks, uint32_t gap, uint64_t bits, uint32_t element);
void broadcast_to_l0c(Inst &inst, const Span &dst, const Span &src, uint32_t count, uint32_t len, uint32_t src_gap, uint32_t dst_gap);
// L1 to the bias table (units of 64 bytes that are read) or the Fixpipe buffer (128 bytes); half becomes float on the way into the bias table.
void copy_to_table(Inst &inst, const Span &dst, const Span &src, uint32_t count, uint32_t len, uint32_t src_gap, uint32_t dst_gap);

struct Mad {
    uint32_t m = 0, n = 0, k = 0;
    bool clear = true;      // start from zero
    bool from_bias = false; // start from the bias table
    uint8_t unit_flag = 0;
    bool sparse = false;    // B has half of k, and an index
    bool align_k = false;   // float: rows of A hold an even number of fractals
};
void mmad(Inst &inst, const Span &dst, const Span &a, const Span &b, const Span *bias, const Mad &p);
void set_hf32(bool on);
void set_hf32_rounding(bool to_zero);

// Numbering of QuantMode_t.
enum class Quant : uint8_t { NONE, F32_F16, F32_BF16, DEQ_F16, V_DEQ_F16, F32_B8, V_F32_B8, REQ_B8, V_REQ_B8, OTHER };
struct FixOut {
    uint32_t n = 0, m = 0;
    uint32_t src_stride = 0;   // rows from one column of fractals to the next
    uint64_t dst_stride = 0;   // ND: elements of a row; NZ: 32-byte blocks from one column of fractals to the next
    Quant quant = Quant::NONE;
    uint64_t scale = 0;        // bits, for the scalar modes
    bool relu = false;
    bool nd = true;
    bool split = false;        // float NZ: fractals of 16 x 8
    uint8_t unit_flag = 0;
    uint32_t nd_count = 1;
    uint32_t src_nd = 0;       // fractals from one matrix to the next
    uint64_t dst_nd = 0;       // elements
};
// `table`: one word per column for the vector modes, in L1 or the Fixpipe buffer.
void fixpipe(Inst &inst, const Span &dst, const Span &src, const Span *table, const FixOut &p);
// What SetFixPipeConfig, SetFixpipePreQuantFlag and SetFixpipeNz2ndFlag leave behind for DataCopy out of L0C.
struct FixRegisters {
    Span table;
    uint64_t scale = 0;
    uint32_t nd_count = 1, src_nd = 0;
    uint64_t dst_nd = 0;
};
FixRegisters &fix_registers();

// L0C to the unified buffer, where the SoC has that path: fractals of 16 x 16, or of their first rows.
struct CopyOut {
    uint32_t count = 0, len = 0, src_gap = 0, dst_gap = 0;  // bursts of `len` fractals; gaps in fractals and in 32-byte blocks
    bool one_row = false, relu = false;
    uint8_t mode = 0;           // numbering of AscendC::DeqScale
    uint8_t half = 2;           // of 8-bit results: 0, 1: the first or second half of each 32-byte block
    uint64_t value = 0;         // quantisation parameter, or `table` of 16 of them
    const uint8_t *table = nullptr;
};
void copy_out_l0c(Inst &inst, const Span &dst, const Span &src, const CopyOut &p);

// The cube core of this block computes for its vector cores: `run` is called there.
struct CubeJob;
void cube_serve();
void cube_submit(CubeJob &job);
void cube_wait(CubeJob &job);

}  // namespace ascendc_twin
