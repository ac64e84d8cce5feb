// Copies between global and local memory.
#include <algorithm>
#include <cstring>

#include "ascendc_twin/rt_cube.h"
#include "core.h"
#include "gm_pages.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ascendc_twin {

namespace {

constexpr uint64_t kBlock = 32;
constexpr uint32_t kMaxCount = 4095;
constexpr uint64_t kStreamed = 1024;  // shorter runs are not worth the fence
constexpr uint64_t kMaxPadRun = 2097151;

using ull = unsigned long long;

uint32_t dt_bytes(Dt dt) {
    switch (dt) {
        case Dt::I8:
        case Dt::U8:
        case Dt::BOOL:
        case Dt::I4: return 1;
        case Dt::I16:
        case Dt::U16:
        case Dt::F16:
        case Dt::BF16: return 2;
        case Dt::I32:
        case Dt::U32:
        case Dt::F32: return 4;
        default: return 8;
    }
}

uint64_t round_up(uint64_t bytes) {
    return (bytes + kBlock - 1) / kBlock * kBlock;
}

void fill(uint8_t *at, uint64_t bytes, const void *element, uint32_t size) {
    for (uint64_t i = 0; i < bytes; i += size) memcpy(at + i, element, std::min<uint64_t>(size, bytes - i));
}

// Stores past the caches: what a launch larger than they are writes is not read again soon.
void stream_run(uint8_t *dst, const uint8_t *src, uint64_t bytes) {
#if defined(__SSE2__)
    constexpr uint64_t kVector = sizeof(__m128i);
    const uint64_t head = std::min(bytes, (kVector - reinterpret_cast<uint64_t>(dst) % kVector) % kVector);
    memcpy(dst, src, head);
    uint64_t i = head;
    for (; i + 4 * kVector <= bytes; i += 4 * kVector) {
        const auto *from = reinterpret_cast<const __m128i *>(src + i);
        auto *to = reinterpret_cast<__m128i *>(dst + i);
        for (int k = 0; k < 4; ++k) _mm_stream_si128(to + k, _mm_loadu_si128(from + k));
    }
    memcpy(dst + i, src + i, bytes - i);
    _mm_sfence();
#else
    memcpy(dst, src, bytes);
#endif
}

void move_run(const Span &dst_of, uint8_t *dst, const uint8_t *src, uint64_t bytes) {
    if (priv().gm_clip) {
        const bool out = dst_of.mem == Mem::GM;  // the other side of a copy with a global side is local
        const uint64_t inside = gm_inside(priv(), reinterpret_cast<uint64_t>(out ? dst : src), bytes);
        const uint16_t undefined = kPoison;
        if (!out) fill(dst + inside, bytes - inside, &undefined, sizeof undefined);
        bytes = inside;
    }
    if (dst_of.mem == Mem::GM && t_core->atomic != 0) {
        atomic_run(dst, src, bytes);
    } else if (dst_of.mem == Mem::GM && t_core->checks) {
        gm_write(priv(), dst, src, bytes);
    } else if (dst_of.mem == Mem::GM && priv().streams && bytes >= kStreamed) {
        stream_run(dst, src, bytes);
    } else {
        memmove(dst, src, bytes);
    }
}

// The data of a copy whose operands were touched.
void move(Inst &inst, const Span &dst, const Span &src, uint32_t count, uint64_t run, uint64_t dst_step, uint64_t src_step) {
    inst.moved = run * count;
    inst.runs = count;
    if (dst_step == run && src_step == run) {
        move_run(dst, dst.p, src.p, run * count);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) move_run(dst, dst.p + i * dst_step, src.p + i * src_step, run);
}

Walk walk_of(uint32_t count, uint64_t run, uint64_t step) {
    Walk w;
    w.run = run;
    w.n1 = count;
    w.s1 = static_cast<int64_t>(step);
    return w;
}

// touch() for an operand of a copy: a global operand that leaves its buffer is reported, and move_run() clips it.
bool touch_copied(Inst &inst, const Span &span, Rw rw, const Walk &walk) {
    Private &p = priv();
    p.may_clip = true;
    const bool good = touch(inst, span, rw, walk, span.mem == Mem::GM ? 0 : kBlock);
    p.may_clip = false;
    return good;
}

bool touch_both(Inst &inst, const Span &dst, const Span &src, uint32_t count, uint64_t run, uint64_t dst_step, uint64_t src_step) {
    const bool read = touch_copied(inst, src, Rw::READ, walk_of(count, run, src_step));
    Private &p = priv();
    p.copy_from = src.p;
    p.copy_step = src_step;
    const bool write = touch_copied(inst, dst, Rw::WRITE, walk_of(count, run, dst_step));
    p.copy_from = nullptr;
    return read && write;
}

void check_gm_alignment(const Span &dst, const Span &src) {
    if (!t_core->checks) return;
    const Span &gm = dst.mem == Mem::GM ? dst : src;
    const uint32_t element = dt_bytes(gm.dt);
    const Range *owner = gm.mem == Mem::GM ? gm_owner(priv(), gm.addr) : nullptr;  // buffers are aligned on the device
    if (owner != nullptr && (gm.addr - owner->begin) % element != 0) {
        finding("GM-ALIGN", "%s: %s is not a multiple of the element size %u", priv().api, gm_describe(priv(), gm.addr).c_str(), element);
    }
}

bool check_count(uint64_t count) {
    if (count <= kMaxCount) return true;
    finding("COPY-RANGE", "%s: blockCount %llu; the hardware takes 0 to %u", priv().api, static_cast<ull>(count), kMaxCount);
    return false;
}

}  // namespace

void copy_count(Inst &inst, const Span &dst, const Span &src, uint64_t bytes) {
    if (dst.mem == Mem::BT || dst.mem == Mem::FB) {
        const uint64_t unit = dst.mem == Mem::BT ? 64 : 128, wide = dst.dt == Dt::F32 && src.dt == Dt::F16 ? bytes * 2 : bytes;
        return copy_to_table(inst, dst, src, 1, static_cast<uint32_t>((wide + unit - 1) / unit), 0, 0);
    }
    const uint64_t whole = bytes / kBlock * kBlock;
    if (whole != bytes) {
        const uint32_t element = dt_bytes(src.dt);
        finding("COPY-TRUNCATED", "DataCopy of %llu elements (%llu bytes): the hardware copies %llu bytes, a multiple of 32, and drops the last %llu",
                static_cast<ull>(bytes / element), static_cast<ull>(bytes), static_cast<ull>(whole), static_cast<ull>(bytes - whole));
    }
    check_gm_alignment(dst, src);
    if (whole == 0 || !touch_both(inst, dst, src, 1, whole, whole, whole)) return;
    move(inst, dst, src, 1, whole, whole, whole);
}

void copy_blocks(Inst &inst, const Span &dst, const Span &src, uint32_t count, uint32_t len, uint32_t src_gap, uint32_t dst_gap) {
    if (!check_count(count)) return;
    if (count == 0 || len == 0) return;
    if (dst.mem == Mem::BT || dst.mem == Mem::FB) return copy_to_table(inst, dst, src, count, len, src_gap, dst_gap);
    const uint64_t run = uint64_t{len} * kBlock, src_step = run + uint64_t{src_gap} * kBlock, dst_step = run + uint64_t{dst_gap} * kBlock;
    check_gm_alignment(dst, src);
    if (touch_both(inst, dst, src, count, run, dst_step, src_step)) move(inst, dst, src, count, run, dst_step, src_step);
}

namespace {

bool has_data_copy_pad() {
    if (t_core->npu_arch != 2002 && t_core->npu_arch != 1001) return true;
    finding("UNSUPPORTED-API", "DataCopyPad does nothing on this SoC (Ascend 310P and 910 do not have it): copy whole blocks of 32 bytes "
                               "with DataCopy");
    return false;
}

bool check_pad_burst(const Burst &b, uint32_t element) {
    bool good = check_count(b.count);
    if (b.run > kMaxPadRun) {
        finding("COPY-RANGE", "DataCopyPad: blockLen %llu bytes; the hardware takes 0 to %llu", static_cast<ull>(b.run), static_cast<ull>(kMaxPadRun));
        good = false;
    }
    if (b.run % element != 0) {
        finding("COPY-LENGTH", "DataCopyPad: blockLen is %llu bytes, not a multiple of the element size %u (blockLen counts bytes)",
                static_cast<ull>(b.run), element);
    }
    return good;
}

// What the hardware puts around a block: the padding value; nothing defined without one; or, with no padding asked for, the
// block's own first element up to the next 32 bytes.
void fill_padding(uint8_t *block, uint64_t run, uint64_t left, uint64_t footprint, const Pad &pad, const uint8_t *first) {
    const uint16_t undefined[4] = {kPoison, kPoison, kPoison, kPoison};
    const void *value = undefined;
    if (pad.is_pad && (pad.left != 0 || pad.right != 0)) {
        value = &pad.value;
    } else if (!pad.is_pad && priv().pad_value_set) {
        value = &priv().pad_value;
    } else if (pad.left == 0 && pad.right == 0) {
        value = first;
    }
    uint8_t element[8];
    memcpy(element, value, std::min<uint32_t>(pad.element, 8));
    fill(block, left, element, pad.element);
    fill(block + left + run, footprint - left - run, element, pad.element);
}

}  // namespace

void copy_pad_in(Inst &inst, const Span &dst, const Span &src, const Burst &b, const Pad &pad) {
    const uint64_t left = uint64_t{pad.left} * pad.element, right = uint64_t{pad.right} * pad.element;
    if (!has_data_copy_pad()) {
        touch_copied(inst, dst, Rw::WRITE, walk_of(b.count, round_up(b.run + left + right), round_up(b.run + left + right) + b.dst_gap));
        return;  // what reads dst is not to blame
    }
    if (!check_pad_burst(b, pad.element)) return;
    if (left > kBlock || right > kBlock) {
        finding("PAD-RANGE", "DataCopyPad: leftPadding %u and rightPadding %u elements are %llu and %llu bytes; each may be at most 32 bytes",
                pad.left, pad.right, static_cast<ull>(left), static_cast<ull>(right));
        return;
    }
    if (pad.is_pad && pad.element == 8 && pad.value != 0 && left + right != 0) {
        finding("PAD-RANGE", "DataCopyPad: the padding value of a 64-bit type must be 0, not 0x%llx", static_cast<ull>(pad.value));
    }
    if (b.count == 0 || b.run == 0) return;
    const uint64_t footprint = round_up(left + b.run + right), dst_step = footprint + b.dst_gap, src_step = b.run + b.src_gap;
    const bool read = touch_copied(inst, src, Rw::READ, walk_of(b.count, b.run, src_step));
    const bool write = touch_copied(inst, dst, Rw::WRITE, walk_of(b.count, footprint, dst_step));
    if (!read || !write) return;
    inst.moved = b.run * b.count;
    inst.runs = b.count;
    if (footprint == b.run && dst_step == b.run && src_step == b.run) {
        move_run(dst, dst.p, src.p, b.run * b.count);
        return;
    }
    for (uint32_t i = 0; i < b.count; ++i) {
        uint8_t *block = dst.p + i * dst_step;
        const uint8_t *from = src.p + i * src_step;
        move_run(dst, block + left, from, b.run);
        if (footprint != b.run) fill_padding(block, b.run, left, footprint, pad, from);
    }
}

void copy_pad_out(Inst &inst, const Span &dst, const Span &src, const Burst &b, uint32_t element) {
    if (!has_data_copy_pad() || !check_pad_burst(b, element)) return;
    if (b.count == 0 || b.run == 0) return;
    const uint64_t src_step = round_up(b.run) + b.src_gap, dst_step = b.run + b.dst_gap;
    if (touch_both(inst, dst, src, b.count, b.run, dst_step, src_step)) move(inst, dst, src, b.count, b.run, dst_step, src_step);
}

namespace {

// Byte offsets of the runs that a slice description selects, in order.
std::vector<uint64_t> slice_runs(const Slice *s, uint32_t dims, uint32_t element) {
    const uint64_t run = uint64_t{s[0].burst} * kBlock / element;
    std::vector<uint64_t> runs;
    for (uint64_t at = s[0].start; run != 0 && at + run - 1 <= s[0].end; at += run + s[0].stride) runs.push_back(at);
    uint64_t pitch = s[0].shape;
    for (uint32_t d = 1; d < dims; ++d) {
        std::vector<uint64_t> more;
        for (uint64_t at = s[d].start; at <= s[d].end; at += 1 + s[d].stride) {
            for (uint64_t inner : runs) more.push_back(inner + at * pitch);
        }
        runs.swap(more);
        pitch *= s[d].shape;
    }
    for (uint64_t &at : runs) at *= element;
    return runs;
}

}  // namespace

void copy_slices(Inst &inst, const Span &dst, const Span &src, const Slice *dst_slices, const Slice *src_slices, uint32_t dims,
                 uint32_t element) {
    if (dims < 1 || dims > 8 || dst_slices[0].burst != src_slices[0].burst) {
        finding("COPY-RANGE", "DataCopy of slices: dimValue %u (1 to 8), burstLen %u and %u (must be equal)", dims, dst_slices[0].burst,
                src_slices[0].burst);
        return;
    }
    const uint64_t run = uint64_t{src_slices[0].burst} * kBlock;
    Private &p = priv();
    ++p.in_runtime;
    std::vector<uint64_t> from = slice_runs(src_slices, dims, element), to = slice_runs(dst_slices, dims, element);
    --p.in_runtime;
    if (from.size() != to.size()) {
        finding("COPY-RANGE", "DataCopy of slices: the source selects %zu runs, the destination %zu", from.size(), to.size());
    }
    const size_t runs = std::min(from.size(), to.size());
    for (size_t i = 0; i < runs; ++i) {
        Walk read, write;
        read.off = static_cast<int64_t>(from[i]);
        write.off = static_cast<int64_t>(to[i]);
        read.run = write.run = run;
        if (!touch_copied(inst, src, Rw::READ, read)) continue;
        if (!touch_copied(inst, dst, Rw::WRITE, write)) continue;
        move_run(dst, dst.p + to[i], src.p + from[i], run);
    }
    inst.moved = run * runs;
    inst.runs = static_cast<uint32_t>(runs);
}

uint64_t pad_value() { return priv().pad_value_set ? priv().pad_value : 0; }

void set_pad_value(uint64_t bits) {
    priv().pad_value = bits;
    priv().pad_value_set = true;
}

}  // namespace ascendc_twin
