// What was last done to every byte of a local memory, kept as segments of equal history.
#pragma once

#include <cstdint>
#include <vector>

#include "core.h"

namespace ascendc_twin {

class Shadow {
public:
    static constexpr uint8_t kNobody = static_cast<uint8_t>(PipeId::ALL);  // no instruction runs on it
    static constexpr uint32_t kNever = UINT32_MAX;                          // epoch of what nobody wrote: it is complete for no pipe

    struct alignas(64) Segment {
        uint32_t epoch, op;  // of the last write
        uint32_t end;        // first byte behind it
        uint32_t read_op;    // of the last read
        uint32_t read_epoch[kPipes - 1];
        uint16_t site;
        uint16_t read_site[kPipes - 1];
        uint8_t writer;      // a pipe; kNobody: never written
        uint8_t readers;     // bit per pipe that has read it since

        void unwrite() {
            writer = kNobody;
            epoch = kNever;
        }
    };

    Shadow() = default;
    ~Shadow();
    Shadow(const Shadow &) = delete;
    Shadow &operator=(const Shadow &) = delete;

    // Everything in [0, bytes) is unwritten.
    void prepare(uint64_t bytes);
    bool covers(uint64_t end) const { return end <= bytes_; }

    // Start of the segment that holds a byte.
    uint64_t start(uint64_t at) const { return starts_[at / 64] >> at % 64 & 1 ? at : start_before(at); }
    Segment &operator[](uint64_t start) { return start % kBlock == 0 ? blocks_[slot(start / kBlock)] : bytes_of_[start]; }
    // The segment that is just [lo, hi), or null.
    Segment *exactly(uint64_t lo, uint64_t hi) {
        if (!(starts_[lo / 64] >> lo % 64 & 1)) return nullptr;
        Segment &segment = (*this)[lo];
        return segment.end == hi ? &segment : nullptr;
    }
    // Makes a segment start here.
    void split(uint64_t at);
    // Makes [lo, hi), at whose ends segments start, one segment.
    void unite(uint64_t lo, uint64_t hi) {
        Segment &first = (*this)[lo];
        if (first.end == hi) return;
        clear(lo + 1, hi);
        first.end = static_cast<uint32_t>(hi);
    }
    // Joins the segment that starts here to the one before it, which starts at `before`.
    void merge_back(uint64_t at, uint64_t before) {
        (*this)[before].end = (*this)[at].end;
        clear(at, at + 1);
    }

private:
    static constexpr uint64_t kBlock = 32, kPerRepeat = 8;

    // Rows of whole repeats (256 bytes) start segments at every eighth block: side by side here, they share pages and cache sets.
    uint64_t slot(uint64_t block) const { return block % kPerRepeat * repeats_ + block / kPerRepeat; }
    uint64_t start_before(uint64_t at) const;
    void set(uint64_t at);
    void clear(uint64_t lo, uint64_t hi);
    void unmap();

    uint64_t bytes_ = 0, room_ = 0, repeats_ = 0;
    std::vector<uint64_t> starts_, words_;  // a bit per byte; a bit per word of starts_
    // By first byte, those that start at a block of 32 bytes apart from the others; pages that are never touched cost nothing.
    Segment *blocks_ = nullptr, *bytes_of_ = nullptr;
};

}  // namespace ascendc_twin
