// sort in UB. A record is 8 bytes, a score and an index; Sort32 and MrgSort put the greatest score first (NaN
// before all others) and, of equal ones, the one that came first. For an ascending order the row is taken from its end,
// and what comes out is turned around: so equal elements keep their order and NaN comes last.
#ifndef SORT_RECORDS_H
#define SORT_RECORDS_H

#include "row_io.h"
#include "sort_tiling.h"

namespace sort_records {
using namespace AscendC;
using namespace row_ops;
using Integers = LocalTensor<int32_t>;

constexpr int32_t SORTED = 32;  // elements that Sort32 sorts
constexpr int32_t WAYS = 4;     // runs that MrgSort merges
constexpr int32_t WORDS = 2;    // of a record
constexpr int32_t MOST = 255;   // repeats of one instruction

// The first n words of y are those of x from the last to the first: turned[i] is the byte of word room - 1 - i.
template <typename T>
__aicore__ inline void TurnAround(const LocalTensor<T> &y, const LocalTensor<T> &x, const Integers &turned,
                                  const Integers &work, int32_t room, int32_t n)
{
    Adds(work, turned, -(room - n) * static_cast<int32_t>(sizeof(T)), n);
    PipeBarrier<PIPE_V>();
    Gather(y, x, work.ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(n));
    PipeBarrier<PIPE_V>();
}

// Sorts `rows` rows of `pitch` records, which lie at the start of a; the result lies in what is returned, a or b. Rows
// are 32 * 4^i records, or there is one.
__aicore__ inline Floats MergeRuns(const Floats &a, const Floats &b, int32_t rows, int32_t pitch)
{
    Floats from = a;
    Floats to = b;
    const int32_t records = rows * pitch;
    for (int32_t length = SORTED; length < pitch; length *= WAYS) {
        const int32_t group = WAYS * length;
        const uint16_t size = static_cast<uint16_t>(length);
        int32_t done = 0;
        while (records - done >= group) {
            const int32_t repeats = Least((records - done) / group, MOST);
            Floats x = from[done * WORDS];
            const uint16_t sizes[WAYS] = {size, size, size, size};
            MrgSort(to[done * WORDS],
                    MrgSortSrcList<float>(x, x[length * WORDS], x[2 * length * WORDS], x[3 * length * WORDS]),
                    MrgSort4Info(sizes, false, 15, static_cast<uint16_t>(repeats)));
            done += repeats * group;
        }
        const int32_t rest = records - done;
        if (rest > length) {
            const int32_t runs = (rest + length - 1) / length;
            const uint16_t last = static_cast<uint16_t>(rest - (runs - 1) * length);
            const uint16_t sizes[WAYS] = {size, runs == 2 ? last : size, runs == 3 ? last : size, last};
            Floats x = from[done * WORDS];
            MrgSort(to[done * WORDS],
                    MrgSortSrcList<float>(x, x[length * WORDS], runs > 2 ? x[2 * length * WORDS] : x,
                                          runs > 3 ? x[3 * length * WORDS] : x),
                    MrgSort4Info(sizes, false, static_cast<uint16_t>((1 << runs) - 1), 1));
        } else if (rest > 0) {
            Adds(to[done * WORDS].ReinterpretCast<int32_t>(), from[done * WORDS].ReinterpretCast<int32_t>(), 0,
                 rest * WORDS);
        }
        PipeBarrier<PIPE_V>();
        Floats merged = to;
        to = from;
        from = merged;
    }
    return from;
}

// Tiles of rows, or one run of a row, as sorted records.
template <typename T>
class Sorter {
public:
    __aicore__ inline void Init(GM_ADDR x, const SortTilingData *tiling, TPipe *pipe)
    {
        descending_ = tiling->descending == 1;
        room_ = tiling->room;
        pitch_ = tiling->pitch;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x));
        pipe->InitBuffer(x_, BUFFERS, room_ * sizeof(T));
        pipe->InitBuffer(words_, (DIRECT ? 4 : 5) * room_ * sizeof(int32_t));
        pipe->InitBuffer(records_, 2 * room_ * WORDS * sizeof(float));
        pipe->InitBuffer(mask_, AlignUp(room_ / 8, BLOCK_BYTES));
        Integers words = words_.Get<int32_t>();
        scores_ = words.ReinterpretCast<float>();
        indices_ = words[room_];
        columns_ = words[2 * room_].ReinterpretCast<float>();
        places_ = words[3 * room_];
        wide_ = words[DIRECT ? 0 : 4 * room_].ReinterpretCast<float>();
        // Whole tiles are computed, so all of them must have been written once.
        LocalTensor<T> tiles[BUFFERS];
        for (int32_t i = 0; i < BUFFERS; ++i) {
            tiles[i] = x_.template AllocTensor<T>();
            Duplicate(tiles[i].template ReinterpretCast<int16_t>(), static_cast<int16_t>(0), room_ * sizeof(T) / 2);
        }
        for (int32_t i = 0; i < BUFFERS; ++i) {
            x_.FreeTensor(tiles[i]);
        }
        MakeTables(room_ / pitch_);
    }

    __aicore__ inline void CopyIn(int64_t offset, int32_t rows, int32_t length)
    {
        LocalTensor<T> tile = x_.template AllocTensor<T>();
        CopyRowsIn(tile, xGm_[offset], rows, length, pitch_);
        x_.EnQue(tile);
    }

    // Sorted records of `rows` rows of `length` elements, the first of which is number `first` of its row. Behind the
    // end of a row lie records that are less than all others.
    __aicore__ inline Floats Sort(int32_t rows, int32_t length, int32_t first)
    {
        const int32_t n = AlignUp(rows * pitch_, LANES);  // Compare and Select work on whole repeats
        LocalTensor<T> tile = x_.template DeQue<T>();
        Floats x = Widen(tile, n);
        LocalTensor<uint8_t> mask = mask_.Get<uint8_t>();
        CompareScalar(mask, columns_, static_cast<float>(length), CMPMODE::LT, n);
        Cast(indices_, columns_, RoundMode::CAST_RINT, n);
        PipeBarrier<PIPE_V>();
        if (descending_) {
            Adds(indices_, indices_, first, n);
        } else {
            Muls(indices_, indices_, -1, n);
            PipeBarrier<PIPE_V>();
            Adds(indices_, indices_, first + length - 1, n);
            Integers work = records_.Get<int32_t>();
            Adds(work, places_, (length - pitch_) * static_cast<int32_t>(sizeof(float)), n);
            PipeBarrier<PIPE_V>();
            Maxs(work, work, 0, n);
            PipeBarrier<PIPE_V>();
            Gather(scores_, x, work.ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(n));
            PipeBarrier<PIPE_V>();
        }
        Select(scores_, mask, descending_ ? x : scores_, -INFINITE, SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
        PipeBarrier<PIPE_V>();
        x_.FreeTensor(tile);
        Floats records = records_.Get<float>();
        for (int32_t done = 0; done < n; done += MOST * SORTED) {
            const int32_t repeats = Least((n - done) / SORTED, MOST);
            Sort32(records[done * WORDS], scores_[done], indices_[done].ReinterpretCast<uint32_t>(), repeats);
        }
        PipeBarrier<PIPE_V>();
        sorted_ = MergeRuns(records, records[room_ * WORDS], rows, pitch_);
        return sorted_;
    }

    // Where values go that are not put into their queue: a tensor that Sort no longer needs.
    __aicore__ inline Floats Spare() const { return wide_; }

    // The sorted records taken apart into values and indices, in the order of the result.
    __aicore__ inline void TakeApart(const Floats &values, Integers &indices, int32_t rows, int32_t length)
    {
        const int32_t n = AlignUp(rows * pitch_, LANES);
        Floats scores = descending_ ? values : scores_;
        for (int32_t done = 0; done < n; done += MOST * SORTED) {
            const int32_t repeats = Least((n - done) / SORTED, MOST);
            Extract(scores[done], indices_[done].ReinterpretCast<uint32_t>(), sorted_[done * WORDS], repeats);
        }
        PipeBarrier<PIPE_V>();
        indices = indices_;
        if (!descending_) {
            Integers work = sorted_.ReinterpretCast<int32_t>();
            indices = work[room_];
            Adds(work, places_, (length - pitch_) * static_cast<int32_t>(sizeof(float)), n);
            PipeBarrier<PIPE_V>();
            Maxs(work, work, 0, n);
            PipeBarrier<PIPE_V>();
            Gather(values, scores_, work.ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(n));
            Gather(indices, indices_, work.ReinterpretCast<uint32_t>(), 0, static_cast<uint32_t>(n));
            PipeBarrier<PIPE_V>();
        }
    }

private:
    static constexpr bool DIRECT = IsSameType<T, float>::value;

    // columns[r][c] = c, and places[r][c] = the byte of column pitch - 1 - c of row r.
    __aicore__ inline void MakeTables(int32_t rows)
    {
        for (int32_t row = 0; row < rows; ++row) {
            CreateVecIndex(places_[row * pitch_], 0, static_cast<uint32_t>(pitch_));
        }
        PipeBarrier<PIPE_V>();
        const int32_t n = rows * pitch_;
        Duplicate(columns_, 0.0f, room_);
        PipeBarrier<PIPE_V>();
        Cast(columns_, places_, RoundMode::CAST_RINT, n);
        PipeBarrier<PIPE_V>();
        Muls(places_, places_, -static_cast<int32_t>(sizeof(float)), n);
        PipeBarrier<PIPE_V>();
        for (int32_t row = 0; row < rows; ++row) {
            Integers places = places_[row * pitch_];
            Adds(places, places, ((row + 1) * pitch_ - 1) * static_cast<int32_t>(sizeof(float)), pitch_);
        }
        PipeBarrier<PIPE_V>();
    }

    __aicore__ inline Floats Widen(const LocalTensor<T> &tile, int32_t n)
    {
        if constexpr (DIRECT) {
            return tile;
        } else {
            Cast(wide_, tile, RoundMode::CAST_NONE, n);
            PipeBarrier<PIPE_V>();
            return wide_;
        }
    }

    GlobalTensor<T> xGm_;
    TQue<TPosition::VECIN, BUFFERS> x_;
    TBuf<TPosition::VECCALC> words_;
    TBuf<TPosition::VECCALC> records_;
    TBuf<TPosition::VECCALC> mask_;
    Floats scores_;
    Integers indices_;
    Floats columns_;
    Integers places_;
    Floats wide_;
    Floats sorted_;
    bool descending_ = false;
    int32_t room_ = 0;
    int32_t pitch_ = 0;
};

// The results: values of the dtype of x, and indices.
template <typename T>
class Results {
public:
    __aicore__ inline void Init(GM_ADDR values, GM_ADDR indices, TPipe *pipe, int32_t elements)
    {
        valuesGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(values));
        indicesGm_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t *>(indices));
        pipe->InitBuffer(values_, BUFFERS, elements * sizeof(T));
        pipe->InitBuffer(indices_, BUFFERS, elements * sizeof(int64_t));
    }

    // Where to put fp32 values: in the queue itself, or in `spare` if they are to be rounded (they never are: they were
    // of that dtype before).
    __aicore__ inline Floats Begin(const Floats &spare)
    {
        held_ = values_.template AllocTensor<T>();
        if constexpr (IsSameType<T, float>::value) {
            return held_;
        } else {
            return spare;
        }
    }

    // Writes the first `length` of every `pitch` elements.
    __aicore__ inline void End(const Floats &values, const Integers &indices, int64_t offset, int32_t rows,
                               int32_t length, int32_t pitch)
    {
        const int32_t n = rows == 1 ? length : rows * pitch;
        if constexpr (!IsSameType<T, float>::value) {
            Cast(held_, values, RoundMode::CAST_RINT, n);
        }
        values_.EnQue(held_);
        LocalTensor<int64_t> places = indices_.template AllocTensor<int64_t>();
        Cast(places, indices, RoundMode::CAST_NONE, n);
        indices_.EnQue(places);
        held_ = values_.template DeQue<T>();
        CopyRowsOut(valuesGm_[offset], held_, rows, length, pitch);
        values_.FreeTensor(held_);
        places = indices_.template DeQue<int64_t>();
        CopyRowsOut(indicesGm_[offset], places, rows, length, pitch);
        indices_.FreeTensor(places);
        PipeBarrier<PIPE_V>();  // what comes next overwrites values and indices
    }

private:
    GlobalTensor<T> valuesGm_;
    GlobalTensor<int64_t> indicesGm_;
    TQue<TPosition::VECOUT, BUFFERS> values_;
    TQue<TPosition::VECOUT, BUFFERS> indices_;
    LocalTensor<T> held_;
};
}  // namespace sort_records

#endif
