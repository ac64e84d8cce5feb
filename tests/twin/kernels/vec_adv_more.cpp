#include "kernel_tiling/kernel_tiling.h"

#include "vec_case.h"

// Rows: c.repeat, counted columns: c.n. bit 0 of c.extra: reduce the rows (AR), else the columns (RA).
template <typename T>
inline void reductions(const Case &c, Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1);
    const auto tmp = t.get<uint8_t>(3);
    const uint32_t shape[2] = {(uint32_t)c.repeat, (uint32_t)c.n};
    using namespace Pattern::Reduce;
#define ONE(NUMBER, API)                                                                                \
    case NUMBER:                                                                                        \
        if (c.extra) API<T, AR>(d, a, tmp, shape, true); else API<T, RA, true>(d, a, shape, true);      \
        break;
    switch (c.op) {
        ONE(0, ReduceMax)
        ONE(1, ReduceMin)
        default:
            if constexpr (sizeof(T) == 4) {
                switch (c.op) {
                    ONE(2, ReduceSum)
                    ONE(3, ReduceMean)
                    ONE(4, ReduceProd)
                    ONE(5, ReduceAny)
                    ONE(6, ReduceAll)
                    default: break;
                }
            }
    }
#undef ONE
}
template <typename T>
inline void sums(const Case &c, Tensors &t) {
    auto d = t.get<T>(0), last = t.get<T>(3);
    const CumSumInfo info{(uint32_t)c.repeat, (uint32_t)c.n};
    constexpr static CumSumConfig down{false, false, true};
    if (c.extra) {
        CumSum(d, last, t.get<T>(1), info);
    } else {  // the last row goes behind the result
        auto row = d[c.repeat * c.n];
        CumSum<T, down>(d, row, t.get<T>(1), info);
    }
}

extern "C" __global__ __aicore__ void vec_axes(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, Tensors &t) {
        if (c.op == 8) {
            auto d = t.get<int16_t>(0);
            ReduceXorSum(d, t.get<int16_t>(1), t.get<int16_t>(2), c.n);
        } else if (c.op == 7) {
            c.dtype == 0 ? sums<half>(c, t) : sums<float>(c, t);
        } else if (c.op == 9) {
            const uint32_t shape[2] = {(uint32_t)c.repeat, (uint32_t)c.n};
            ReduceAny<uint8_t, Pattern::Reduce::AR>(t.get<uint8_t>(0), t.get<uint8_t>(1), shape, true);
        } else {
            c.dtype == 0 ? reductions<half>(c, t) : reductions<float>(c, t);
        }
    });
}

template <typename T>
inline void quantise(const Case &c, Tensors &t) {
    const auto d = t.get<int8_t>(0);
    const auto x = t.get<T>(1), scale = t.get<T>(2), offset = t.get<T>(3);
    switch (c.op) {
        case 0: AscendQuant(d, x, c.f, 3.0f, c.n); break;
        case 1: AscendQuant<T>(d, x, scale, static_cast<T>(-2), c.extra, c.n); break;
        case 2: AscendQuant<T, false>(d, x, scale, offset); break;
        default: break;
    }
}
// c.repeat rows of c.n, of which c.extra count.
template <typename T>
inline void dequantise(const Case &c, Tensors &t) {
    const auto d = t.get<T>(0);
    const auto x = t.get<int32_t>(1);
    const DequantParams params{(uint32_t)c.repeat, (uint32_t)c.n, (uint32_t)c.extra};
    switch (c.op) {
        case 3: AscendDequant(d, x, t.get<float>(2), params); break;
        case 4: AscendDequant(d, x, t.get<bfloat16_t>(2), t.get<uint8_t>(3), params); break;
        case 5: AscendDequant<T, float>(d, x, c.f, params); break;
        case 6: AscendDequant(d, x, t.get<uint64_t>(2), (uint32_t)c.extra); break;
        default: break;
    }
}
// K x N (c.n = K) in groups; transposed: N x K. c.repeat: groups.
template <typename In, typename Out>
inline void antiquantise(const Case &c, Tensors &t) {
    const auto d = t.get<Out>(0), scale = t.get<Out>(2), offset = t.get<Out>(3);
    const auto x = t.get<In>(1);
    const uint32_t n = x.GetSize() / c.n, g = c.repeat;
    if (c.op == 7) AscendAntiQuant<In, Out, false>(d, x, offset, scale, c.n, AntiQuantShapeInfo{g, n, g, n});
    if (c.op == 8) AscendAntiQuant<In, Out, true>(d, x, offset, scale, t.get<uint8_t>(3), c.n, AntiQuantShapeInfo{n, g, n, g});
    if (c.op == 9) AscendAntiQuant<In, Out, false>(d, x, static_cast<Out>(2.0f), static_cast<Out>(c.f), c.n);
}

extern "C" __global__ __aicore__ void vec_quants(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, Tensors &t) {
        if (c.op < 3) c.dtype == 0 ? quantise<half>(c, t) : quantise<float>(c, t);
        else if (c.op == 3 || c.op == 5) c.dtype == 6 ? dequantise<bfloat16_t>(c, t) : dequantise<float>(c, t);
        else if (c.op == 4) dequantise<float>(c, t);
        else if (c.op == 6) dequantise<half>(c, t);
        else if (c.op < 10) {
            if (c.dtype2 == 10) antiquantise<int4b_t, half>(c, t);
            else c.dtype == 0 ? antiquantise<int8_t, half>(c, t) : antiquantise<int8_t, bfloat16_t>(c, t);
        } else if (c.op == 11) {
            SetDeqScale(static_cast<half>(c.f));
            CastDequant(t.get<half>(0), t.get<int32_t>(1), (uint32_t)c.n);
        } else if (c.op == 12) {  // 16 sets of parameters in turn
            VdeqInfo info;
            for (int i = 0; i < 16; ++i) {
                info.vdeqScale[i] = 0.25f * (i + 1);
                info.vdeqOffset[i] = i;
                info.vdeqSignMode[i] = true;
            }
            SetDeqScale(t.get<uint64_t>(2), info);
            CastDequant<int8_t, int16_t, true, false>(t.get<int8_t>(0), t.get<int16_t>(1), (uint32_t)c.n);
        } else if (c.op == 10) {
            SetDeqScale(c.f, static_cast<int16_t>(c.i), c.extra != 0);
            if (c.extra) CastDequant<int8_t, int16_t, false, false>(t.get<int8_t>(0), t.get<int16_t>(1), (uint32_t)c.n);
            else CastDeq<uint8_t, int16_t, false, true>(t.get<uint8_t>(0), t.get<int16_t>(1), (uint32_t)c.n);
        }
    });
}

template <typename T>
inline void top_k(const Case &c, Tensors &t) {
    const uint32_t k = c.i, outer = c.repeat, inner = c.n;
    constexpr uint32_t block = 32 / sizeof(T);
    TopkTiling tiling;
    const TopKInfo info{(int32_t)outer, (int32_t)inner, c.extra};
    LocalTensor<bool> finish = t.get<bool>(3);
    const bool largest = c.f > 0;
    const auto value = t.get<T>(0);
    const auto index = t.t[0][outer * (c.op == 1 ? k : (k + block - 1) / block * block) * sizeof(T) + 31 & ~31].template ReinterpretCast<int32_t>();
    if (c.op == 0) {
        TopK<T, true, true>(value, index, t.get<T>(1), t.get<int32_t>(2), finish, t.get<uint8_t>(3), k, tiling, info, largest);
    } else {
        TopK<T, false, false, false, TopKMode::TOPK_NSMALL>(value, index, t.get<T>(1), t.get<int32_t>(2), finish, k, tiling, info, largest);
    }
}

template <typename T>
inline void move(const Case &c, Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1);
    const auto tmp = t.get<uint8_t>(3);
    if (c.op == 2) {
        PadTiling tiling;
        tiling.srcHeight = c.repeat;
        tiling.srcWidth = c.n;
        tiling.srcOriWidth = c.extra;
        PadParams params{(uint16_t)c.blk[0], (uint16_t)c.blk[1], c.i};
        Pad(d, a, params, tmp, tiling);
    } else if (c.op == 3) {
        UnPadTiling tiling;
        tiling.srcHeight = c.repeat;
        tiling.srcWidth = c.n;
        UnPadParams params{0, (uint16_t)c.extra};
        UnPad(d, a, params, tiling);
    } else if (c.op == 4) {
        ConfusionTransposeTiling tiling;
        tiling.param0 = c.rep[0];
        tiling.param1 = c.rep[1];
        tiling.param2 = c.rep[2];
        tiling.param3 = c.n;
        ConfusionTranspose(d, a, tmp, static_cast<TransposeType>(c.extra), tiling);
    } else if (c.op == 5) {
        DropOutShapeInfo info;
        info.firstAxis = c.repeat;
        info.srcLastAxis = c.n;
        info.maskLastAxis = c.extra;
        if constexpr (sizeof(T) == 4 || std::is_same_v<T, half>) DropOut(d, a, t.get<uint8_t>(2), tmp, c.f, info);
    }
}

constexpr TransDataConfig TO_BLOCKS{DataFormat::NCDHW, DataFormat::NDC1HWC0}, FROM_BLOCKS{DataFormat::NDC1HWC0, DataFormat::NCDHW},
    TO_FRACTAL{DataFormat::NCDHW, DataFormat::FRACTAL_Z_3D}, FROM_FRACTAL{DataFormat::FRACTAL_Z_3D, DataFormat::NCDHW};

// N, C, D, H, W: c.rep, c.n, c.extra. c.i: which conversion.
inline void trans_data(const Case &c, Tensors &t) {
    const int n = c.rep[0], channels = c.rep[1], d = c.rep[2], h = c.n, w = c.extra, c1 = (channels + 15) / 16, n1 = (n + 15) / 16;
    const auto planes = MakeLayout(MakeShape(n, channels, d, h, w), MakeStride());
    const auto blocks = MakeLayout(MakeShape(n, d, c1, h, w, 16), MakeStride());
    const auto fractal = MakeLayout(MakeShape(d, c1, h, w, n1, 16, 16), MakeStride());
    const auto out = t.get<half>(0), in = t.get<half>(1);
    if (c.i == 0) TransData<TO_BLOCKS>(out, in, t.get<uint8_t>(3), TransDataParams<decltype(planes), decltype(blocks)>{planes, blocks});
    if (c.i == 1) TransData<FROM_BLOCKS>(out, in, TransDataParams<decltype(blocks), decltype(planes)>{blocks, planes});
    if (c.i == 2) TransData<TO_FRACTAL>(out, in, TransDataParams<decltype(planes), decltype(fractal)>{planes, fractal});
    if (c.i == 3) TransData<FROM_FRACTAL>(out, in, TransDataParams<decltype(fractal), decltype(planes)>{fractal, planes});
}

extern "C" __global__ __aicore__ void vec_moves(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, Tensors &t) {
        if (c.op < 2) {
            c.dtype == 0 ? top_k<half>(c, t) : top_k<float>(c, t);
        } else if (c.op == 7) {
            trans_data(c, t);
        } else if (c.op == 6) {
            const auto out = t.get<int64_t>(0), in = t.get<int64_t>(1);
            for (int i = 0; i < c.n; ++i) {
                const uint64_t v = in.GetValue(i);
                out.SetValue(i * 6 + 0, ScalarCountLeadingZero(v));
                out.SetValue(i * 6 + 1, ScalarGetSFFValue<1>(v));
                out.SetValue(i * 6 + 2, ScalarGetSFFValue<0>(v));
                out.SetValue(i * 6 + 3, ScalarGetCountOfValue<1>(v));
                out.SetValue(i * 6 + 4, ScalarGetCountOfValue<0>(v));
                out.SetValue(i * 6 + 5, CountBitsCntSameAsSignBit(v));
            }
        } else {
            c.dtype == 0 ? move<half>(c, t) : move<float>(c, t);
        }
    });
}
