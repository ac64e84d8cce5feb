// sort of rows longer than UB. All cores sort runs into the workspace; then runs are merged four at a time,
// from one half of it to the other, until a row is one run. No run keeps more records than the result has.
#ifndef SORT_MERGE_H
#define SORT_MERGE_H

#include "sort_records.h"

namespace sort_records {
// The runs of a row at one level of merging: all but the last have the same length.
struct Level {
    int64_t runs;
    int64_t full;
    int64_t last;
    int64_t slot;  // records from the start of one run to the next

    __aicore__ inline int64_t LengthOf(int64_t run) const { return run + 1 < runs ? full : last; }
};

__aicore__ inline int64_t Fewer(int64_t a, int64_t b) { return a < b ? a : b; }

__aicore__ inline Level Merged(const Level &level, int64_t results)
{
    const int64_t runs = (level.runs + WAYS - 1) / WAYS;
    const int64_t full = Fewer(level.full, results);
    const int64_t inLast = level.runs - (runs - 1) * WAYS;
    return {runs, WAYS * full, (inLast - 1) * full + Fewer(level.last, results), WAYS * level.slot};
}

// The part of a run in the workspace that is not merged yet, in chunks through a double-buffered queue.
class Source {
public:
    __aicore__ inline void Init(TPipe *pipe, int32_t chunk)
    {
        chunk_ = chunk;
        pipe->InitBuffer(queue_, BUFFERS, chunk * WORDS * sizeof(float));
    }

    // Records [at, at + length) of the workspace.
    __aicore__ inline void Start(const GlobalTensor<float> &gm, int64_t at, int64_t length)
    {
        gm_ = gm;
        at_ = at;
        left_ = length;
        loaded_ = 0;
        Load();
        Load();
        Next();
    }

    // Takes n records away; false when the run is at its end.
    __aicore__ inline bool Use(int32_t n)
    {
        used_ += n;
        size_ -= n;
        if (size_ > 0) {
            return true;
        }
        queue_.FreeTensor(chunkNow_);
        Load();
        return Next();
    }

    __aicore__ inline Floats Records() const { return chunkNow_[used_ * WORDS]; }

    __aicore__ inline uint16_t Size() const { return static_cast<uint16_t>(size_); }

private:
    __aicore__ inline void Load()
    {
        if (left_ == 0) {
            return;
        }
        const int32_t n = Least(left_, chunk_);
        Floats chunk = queue_.AllocTensor<float>();
        CopyRowsIn(chunk, gm_[at_ * WORDS], 1, n * WORDS, AlignUp(n * WORDS, BLOCK));
        queue_.EnQue(chunk);
        at_ += n;
        left_ -= n;
        loaded_ += n;
    }

    __aicore__ inline bool Next()
    {
        if (loaded_ == 0) {
            return false;
        }
        chunkNow_ = queue_.DeQue<float>();
        size_ = Least(loaded_, chunk_);
        loaded_ -= size_;
        used_ = 0;
        return true;
    }

    GlobalTensor<float> gm_;
    TQue<TPosition::VECIN, BUFFERS> queue_;
    Floats chunkNow_;
    int64_t at_ = 0;
    int64_t left_ = 0;     // records that are not on their way yet
    int64_t loaded_ = 0;   // records in the queue
    int32_t chunk_ = 0;
    int32_t size_ = 0;     // records of this chunk that are left
    int32_t used_ = 0;
};

// Merges up to four runs; whoever calls says where the records go.
template <typename T>
class Merger {
public:
    __aicore__ inline void Init(GM_ADDR values, GM_ADDR indices, const SortTilingData *tiling, TPipe *pipe)
    {
        tiling_ = tiling;
        room_ = WAYS * tiling->chunk;
        for (int32_t i = 0; i < WAYS; ++i) {
            sources_[i].Init(pipe, tiling->chunk);
        }
        pipe->InitBuffer(merged_, BUFFERS, room_ * WORDS * sizeof(float));
        results_.Init(values, indices, pipe, room_);
        pipe->InitBuffer(words_, 6 * room_ * sizeof(int32_t));
        turned_ = words_.Get<int32_t>();
        CreateVecIndex(turned_, 0, static_cast<uint32_t>(room_));
        PipeBarrier<PIPE_V>();
        Muls(turned_, turned_, -static_cast<int32_t>(sizeof(float)), room_);
        PipeBarrier<PIPE_V>();
        Adds(turned_, turned_, (room_ - 1) * static_cast<int32_t>(sizeof(float)), room_);
        PipeBarrier<PIPE_V>();
    }

    // Merges the runs of `group` of one row. With `row` >= 0 they are all of it, and the results are written; otherwise
    // the records go to `to`.
    __aicore__ inline void Merge(const GlobalTensor<float> &from, const GlobalTensor<float> &to, const Level &level,
                                 int64_t group, int64_t base, int64_t row)
    {
        int32_t active = 0;
        int64_t total = 0;
        for (int64_t run = group * WAYS; run < level.runs && active < WAYS; ++run) {
            const int64_t length = level.LengthOf(run);
            const int64_t kept = Fewer(length, tiling_->results);
            const int64_t skipped = tiling_->descending == 1 ? 0 : length - kept;
            sources_[active].Start(from, base + run * level.slot + skipped, kept);
            order_[active] = active;
            total += kept;
            ++active;
        }
        for (int64_t done = 0; done < total;) {
            Floats merged = merged_.template AllocTensor<float>();
            const int32_t n = MergeChunk(merged, active);
            if (row < 0) {
                Store(to, merged, base + group * WAYS * level.slot + done, n);
            } else {
                Finish(merged, row, done, n, total);
            }
            done += n;
        }
    }

private:
    // Merges until one of the chunks is used up; the number of records.
    __aicore__ inline int32_t MergeChunk(const Floats &merged, int32_t &active)
    {
        Floats x[WAYS];
        uint16_t sizes[WAYS] = {0, 0, 0, 0};
        for (int32_t i = 0; i < WAYS; ++i) {
            x[i] = sources_[order_[i < active ? i : 0]].Records();
            sizes[i] = i < active ? sources_[order_[i]].Size() : 0;
        }
        uint16_t taken[WAYS] = {sizes[0], 0, 0, 0};
        const int32_t ways = active < 2 ? 2 : active;  // one run is merged with an empty one
        MrgSort(merged, MrgSortSrcList<float>(x[0], x[1], x[2], x[3]),
                MrgSort4Info(sizes, active > 1, static_cast<uint16_t>((1 << ways) - 1), 1));
        PipeBarrier<PIPE_V>();
        if (active > 1) {
            const TEventID done = GetTPipePtr()->FetchEventID(HardEvent::V_S);
            SetFlag<HardEvent::V_S>(done);
            WaitFlag<HardEvent::V_S>(done);
            GetMrgSortResult(taken[0], taken[1], taken[2], taken[3]);
        }
        int32_t records = 0;
        int32_t left = 0;
        for (int32_t i = 0; i < active; ++i) {
            const int32_t source = order_[i];
            records += taken[i];
            if (sources_[source].Use(taken[i])) {
                order_[left++] = source;  // their order decides between equal scores
            }
        }
        active = left;
        return records;
    }

    __aicore__ inline void Store(const GlobalTensor<float> &to, Floats &merged, int64_t at, int32_t n)
    {
        merged_.EnQue(merged);
        merged = merged_.template DeQue<float>();
        CopyRowsOut(to[at * WORDS], merged, 1, n * WORDS, AlignUp(n * WORDS, BLOCK));
        merged_.FreeTensor(merged);
    }

    // Writes what belongs to the result of the records [done, done + n) of `total`.
    __aicore__ inline void Finish(Floats &merged, int64_t row, int64_t done, int32_t n, int64_t total)
    {
        const bool descending = tiling_->descending == 1;
        const int64_t first = descending ? done : total - done - n;
        if (first >= tiling_->results) {
            merged_.FreeTensor(merged);
            return;
        }
        Floats scores = turned_[room_].ReinterpretCast<float>();
        Integers indices = turned_[2 * room_];
        Floats values = results_.Begin(turned_[3 * room_].ReinterpretCast<float>());
        uint64_t kept = 0;
        const uint32_t words = static_cast<uint32_t>(n * WORDS);
        GatherMask(descending ? values : scores, merged, 1, true, words, {1, 1, 8, 0}, kept);
        GatherMask(indices, merged.ReinterpretCast<int32_t>(), 2, true, words, {1, 1, 8, 0}, kept);
        PipeBarrier<PIPE_V>();
        merged_.FreeTensor(merged);
        if (!descending) {
            Integers inOrder = turned_[5 * room_];
            TurnAround(values, scores, turned_, turned_[4 * room_], room_, n);
            TurnAround(inOrder, indices, turned_, turned_[4 * room_], room_, n);
            indices = inOrder;
        }
        const int32_t length = Least(tiling_->results - first, n);
        results_.End(values, indices, row * tiling_->results + first, 1, length, AlignUp(length, LANES));
    }

    Source sources_[WAYS];
    TQue<TPosition::VECOUT, BUFFERS> merged_;
    Results<T> results_;
    TBuf<TPosition::VECCALC> words_;
    Integers turned_;
    int32_t order_[WAYS] = {0, 1, 2, 3};
    int32_t room_ = 0;
    const SortTilingData *tiling_ = nullptr;
};

template <typename T>
class LongRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR values, GM_ADDR indices, GM_ADDR workspace,
                                const SortTilingData *tiling, TPipe *pipe)
    {
        x_ = x;
        values_ = values;
        indices_ = indices;
        tiling_ = tiling;
        pipe_ = pipe;
        __gm__ float *records = reinterpret_cast<__gm__ float *>(workspace);
        halves_[0].SetGlobalBuffer(records);
        halves_[1].SetGlobalBuffer(records + tiling->batchRows * tiling->runs * tiling->run * WORDS);
    }

    __aicore__ inline void Process()
    {
        const RowTiles &tiles = tiling_->tiles;
        for (int64_t row = 0; row < tiles.rows; row += tiling_->batchRows) {
            const int64_t rows = Fewer(tiles.rows - row, tiling_->batchRows);
            const int64_t last = tiles.columns - (tiling_->runs - 1) * tiling_->run;
            Level level = {tiling_->runs, tiling_->run, last, tiling_->run};
            SortRuns(row, rows, level);
            MeetAllCores();
            for (int32_t half = 0; level.runs > 1; half = 1 - half) {
                MergeLevel(row, rows, level, half);
                MeetAllCores();
                level = Merged(level, tiling_->results);
            }
        }
    }

private:
    __aicore__ inline void SortRuns(int64_t firstRow, int64_t rows, const Level &level)
    {
        Sorter<T> sorter;
        TQue<TPosition::VECOUT, BUFFERS> out;
        sorter.Init(x_, tiling_, pipe_);
        pipe_->InitBuffer(out, BUFFERS, tiling_->run * WORDS * sizeof(float));
        const int64_t units = rows * level.runs;
        for (int64_t unit = GetBlockIdx(); unit < units; unit += GetBlockNum()) {
            const int64_t run = unit % level.runs;
            const int32_t length = static_cast<int32_t>(level.LengthOf(run));
            const int64_t before = run * level.slot;
            const int64_t columns = tiling_->tiles.columns;
            const int64_t first = tiling_->descending == 1 ? before : columns - before - length;
            sorter.CopyIn((firstRow + unit / level.runs) * columns + first, 1, length);
            Floats sorted = sorter.Sort(1, length, static_cast<int32_t>(first));
            Floats records = out.AllocTensor<float>();
            Adds(records.ReinterpretCast<int32_t>(), sorted.ReinterpretCast<int32_t>(), 0, length * WORDS);
            PipeBarrier<PIPE_V>();
            out.EnQue(records);
            records = out.DeQue<float>();
            const int32_t words = length * WORDS;
            CopyRowsOut(halves_[0][unit * level.slot * WORDS], records, 1, words, AlignUp(words, BLOCK));
            out.FreeTensor(records);
        }
    }

    __aicore__ inline void MergeLevel(int64_t firstRow, int64_t rows, const Level &level, int32_t half)
    {
        Merger<T> merger;
        merger.Init(values_, indices_, tiling_, pipe_);
        const int64_t groups = (level.runs + WAYS - 1) / WAYS;
        for (int64_t unit = GetBlockIdx(); unit < rows * groups; unit += GetBlockNum()) {
            const int64_t row = unit / groups;
            const int64_t base = row * tiling_->runs * tiling_->run;
            const int64_t finished = groups == 1 ? firstRow + row : -1;
            merger.Merge(halves_[half], halves_[1 - half], level, unit % groups, base, finished);
        }
    }

    // Waits until all cores have written their runs, and frees UB.
    __aicore__ inline void MeetAllCores()
    {
        PipeBarrier<PIPE_ALL>();
        SyncAll();
        pipe_->Reset();
    }

    GlobalTensor<float> halves_[2];
    GM_ADDR x_ = nullptr;
    GM_ADDR values_ = nullptr;
    GM_ADDR indices_ = nullptr;
    const SortTilingData *tiling_ = nullptr;
    TPipe *pipe_ = nullptr;
};
}  // namespace sort_records

#endif
