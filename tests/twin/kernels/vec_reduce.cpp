#include "vec_case.h"

// op 0..2 ReduceSum, ReduceMax, ReduceMin (i: calIndex); 3..5 WholeReduceSum/Max/Min (extra: order); 6..8 BlockReduce;
// 9 PairReduceSum; 10 RepeatReduceSum; 11 Sum; 12 Mean; 13 GetAccVal after ReduceSum; 14 GetReduceMaxMinCount.
template <typename T>
inline void reduce(const Case &c, const Tensors &t) {
    const auto d = t.get<T>(0), a = t.get<T>(1), w = t.get<T>(2);
    const auto order = static_cast<ReduceOrder>(c.extra);
    const uint64_t bits[2] = {c.bits[0], c.bits[1]};
    const int32_t dr = c.rep[0], sb = c.blk[1], sr = c.rep[1];
#define ALL(NUMBER, API, ...)                                                     \
    case NUMBER:                                                                  \
        if (c.form == COUNT) API(d, a, w, c.n __VA_ARGS__);                       \
        else if (c.form == MASK_N) API(d, a, w, c.n, c.repeat, sr __VA_ARGS__);   \
        else API(d, a, w, bits, c.repeat, sr __VA_ARGS__);                        \
        break;
#define WHOLE(NUMBER, API)                                                        \
    case NUMBER:                                                                  \
        if (c.form == MASK_N) API(d, a, c.n, c.repeat, dr, sb, sr, order);        \
        else if (c.form == MASK_BITS) API(d, a, bits, c.repeat, dr, sb, sr, order); \
        else API<T, false>(d, a, MASK_PLACEHOLDER, c.repeat, dr, sb, sr, order);  \
        break;
#define BLOCKS(NUMBER, API)                                                       \
    case NUMBER:                                                                  \
        if (c.form == MASK_N) API(d, a, c.repeat, c.n, dr, sb, sr);               \
        else if (c.form == MASK_BITS) API(d, a, c.repeat, bits, dr, sb, sr);      \
        else API<T, false>(d, a, c.repeat, MASK_PLACEHOLDER, dr, sb, sr);         \
        break;
    set_register<T>(c);
    switch (c.op) {
        ALL(0, ReduceSum) ALL(1, ReduceMax, , c.i != 0) ALL(2, ReduceMin, , c.i != 0)
        WHOLE(4, WholeReduceMax) WHOLE(5, WholeReduceMin)
        BLOCKS(6, BlockReduceSum) BLOCKS(7, BlockReduceMax) BLOCKS(8, BlockReduceMin) BLOCKS(9, PairReduceSum)
        case 3:
            if (c.form == MASK_N) WholeReduceSum(d, a, c.n, c.repeat, dr, sb, sr);
            else if (c.form == MASK_BITS) WholeReduceSum(d, a, bits, c.repeat, dr, sb, sr);
            else WholeReduceSum<T, false>(d, a, MASK_PLACEHOLDER, c.repeat, dr, sb, sr);
            break;
        case 10: RepeatReduceSum(d, a, c.repeat, c.n, 0, sb, dr, sr); break;
        case 11: Sum(d, a, SumParams{static_cast<uint32_t>(c.repeat), static_cast<uint32_t>(c.extra), static_cast<uint32_t>(c.n)}); break;
        case 12: Mean(d, a, MeanParams{static_cast<uint32_t>(c.repeat), static_cast<uint32_t>(c.extra), static_cast<uint32_t>(c.n)}); break;
        case 13:
            ReduceSum(w, a, w, c.n);
            d.SetValue(0, GetAccVal<T>());
            break;
        case 14: {
            WholeReduceMax(w, a, c.n, c.repeat, dr, sb, sr);
            T value, index;
            GetReduceMaxMinCount<T>(value, index);
            d.SetValue(0, value);
            d.SetValue(1, index);
            break;
        }
        default: break;
    }
    reset_register(c);
}

extern "C" __global__ __aicore__ void vec_reduce(GM_ADDR data, GM_ADDR params, int32_t count) {
    run_cases(data, params, count, [](const Case &c, const Tensors &t) {
        if (c.dtype == 0) reduce<half>(c, t);
        else reduce<float>(c, t);
    });
}
