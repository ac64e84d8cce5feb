#include "vec_case.h"

// op 0 Gather, 1 Scatter, 2 Gatherb, 3 GatherMask with a fixed pattern, 4 with a pattern tensor, 5 Sort32, 6 MrgSort,
// 7 Sort + Extract, 8 Transpose, 9 TransDataTo5HD (addresses), 10 (tensors), 11 Transpose NCHW -> NHWC, 12 and back.
template <typename T>
inline void gather(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1);
    const auto offset = t.get<uint32_t>(2);
    uint64_t bits[2] = {c.bits[0], c.bits[1]}, n = c.n;
    if (c.op == 0) {
        if (c.form == COUNT) Gather(d, a, offset, c.extra, c.n);
        else if (c.form == MASK_N) Gather(d, a, offset, c.extra, n, c.repeat, c.rep[0]);
        else Gather(d, a, offset, c.extra, bits, c.repeat, c.rep[0]);
    } else if (c.op == 1) {
        if (c.form == COUNT) Scatter(d, a, offset, c.extra, c.n);
        else Scatter(d, a, offset, c.extra, n, c.repeat, c.rep[1]);
    } else if (c.op == 2) {
        Gatherb(d, a, offset, c.repeat, GatherRepeatParams{static_cast<uint8_t>(c.blk[0]), static_cast<uint8_t>(c.rep[0])});
    }
    const GatherMaskParams p{static_cast<uint8_t>(c.blk[1]), static_cast<uint16_t>(c.repeat), static_cast<uint16_t>(c.rep[1]),
                             static_cast<uint8_t>(c.rep[2])};
    uint64_t kept = 0;
    if (c.op == 3) GatherMask(d, a, static_cast<uint8_t>(c.extra), c.i != 0, c.n, p, kept);
    if (c.op == 4) {
        using Pattern = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
        GatherMask(d, a, t.get<Pattern>(2), c.i != 0, c.n, p, kept);
    }
    if (c.op == 3 || c.op == 4) {
        const auto words = t.get<uint32_t>(0);
        words.SetValue(c.bytes[0] / 4 - 1, static_cast<uint32_t>(kept));  // the last word of dst tells how many
        words.SetValue(c.bytes[0] / 4 - 2, static_cast<uint32_t>(GetGatherMaskRemainCount()));
    }
}

template <typename T>
inline void sorting(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1);
    const auto index = t.get<uint32_t>(2);
    if (c.op == 5) Sort32(d, a, index, c.repeat);
    if (c.op == 6) {
        const uint16_t length[4] = {static_cast<uint16_t>(c.blk[0]), static_cast<uint16_t>(c.blk[1]),
                                    static_cast<uint16_t>(c.blk[2]), static_cast<uint16_t>(c.n)};
        MrgSort4Info info(length, c.i != 0, c.extra, c.repeat);
        uint32_t at[4] = {0, 0, 0, 0};
        for (int q = 1; q < 4; ++q) at[q] = at[q - 1] + GetSortLen<T>(length[q - 1]);
        MrgSort<T>(d, MrgSortSrcList<T>(a[at[0]], a[at[1]], a[at[2]], a[at[3]]), info);
        uint16_t r0, r1, r2, r3;
        GetMrgSortResult(r0, r1, r2, r3);
        const auto words = t.get<uint32_t>(0);
        const uint32_t last = c.bytes[0] / 4;
        words.SetValue(last - 4, r0);
        words.SetValue(last - 3, r1);
        words.SetValue(last - 2, r2);
        words.SetValue(last - 1, r3);
    }
    if (c.op == 7) {
        LocalTensor<T> tmp = t.get<T>(3), concat;
        Concat(concat, a, tmp, c.repeat * 2);
        Sort<T, true>(tmp, concat, index, tmp, c.repeat);
        Extract(d, t.get<uint32_t>(2), tmp, c.repeat);
    }
}

template <typename T>
inline void layout(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1);
    constexpr uint32_t block = 32 / sizeof(T);
    const TransDataTo5HDParams p(c.extra & 1, c.extra & 2, c.repeat, c.rep[0], c.rep[1]);
    if (c.op == 9) {
        uint64_t dst[16], src[16];
        for (int i = 0; i < 16; ++i) {
            dst[i] = static_cast<uint64_t>(d[i * c.blk[0] * block].GetPhyAddr());
            src[i] = static_cast<uint64_t>(a[i * c.blk[1] * block].GetPhyAddr());
        }
        TransDataTo5HD<T>(dst, src, p);
    } else if (c.op == 10) {
        LocalTensor<T> dst[16], src[16];
        for (int i = 0; i < 16; ++i) {
            dst[i] = d[i * c.blk[0] * block];
            src[i] = a[i * c.blk[1] * block];
        }
        TransDataTo5HD<T>(dst, src, p);
    }
    if constexpr (sizeof(T) == 2) {
        if (c.op == 8) Transpose(d, a);
    }
    const TransposeParamsExt nchw(c.blk[0], c.blk[1], c.rep[0], c.rep[1],
                                  c.op == 11 ? TransposeType::TRANSPOSE_NCHW2NHWC : TransposeType::TRANSPOSE_NHWC2NCHW);
    if (c.op == 11 || c.op == 12) Transpose(d, a, t.get<uint8_t>(3), nchw);
}

extern "C" __global__ __aicore__ void vec_move(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, const Tensors &t) {
        if (c.op < 5) {
            if (c.dtype == 4) gather<uint16_t>(c, t);
            else gather<uint32_t>(c, t);
        } else if (c.op < 8) {
            if (c.dtype == 0) sorting<half>(c, t);
            else sorting<float>(c, t);
        } else {
            if (c.dtype == 8) layout<uint8_t>(c, t);
            else if (c.dtype == 4) layout<uint16_t>(c, t);
            else layout<uint32_t>(c, t);
        }
    });
}
