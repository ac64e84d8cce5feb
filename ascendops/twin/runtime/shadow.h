// What was last done to every byte of a local memory, kept as segments of equal history.
#pragma once

#include <cstdint>
#include <vector>

#include "core.h"

namespace ascendc_twin {

class Shadow {
public:
    static constexpr uint8_t kNobody = 0xff;

    struct Segment {
        uint32_t epoch, op;  // of the last write
        uint32_t end;        // first byte behind it
        uint32_t read_op;    // of the last read
        uint32_t read_epoch[kPipes - 1];
        uint16_t site;
        uint16_t read_site[kPipes - 1];
        uint8_t writer;      // a pipe; kNobody: never written
        uint8_t readers;     // bit per pipe that has read it since
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
    Segment &operator[](uint64_t start) { return segments_[start]; }
    // Makes a segment start here.
    void split(uint64_t at);
    // Makes [lo, hi), at whose ends segments start, one segment.
    void unite(uint64_t lo, uint64_t hi) {
        if (segments_[lo].end == hi) return;
        clear(lo + 1, hi);
        segments_[lo].end = static_cast<uint32_t>(hi);
    }
    // Joins the segment that starts here to the one before it, which starts at `before`.
    void merge_back(uint64_t at, uint64_t before) {
        segments_[before].end = segments_[at].end;
        clear(at, at + 1);
    }

private:
    uint64_t start_before(uint64_t at) const;
    void set(uint64_t at);
    void clear(uint64_t lo, uint64_t hi);

    uint64_t bytes_ = 0, room_ = 0;
    std::vector<uint64_t> starts_, words_;  // a bit per byte; a bit per word of starts_
    Segment *segments_ = nullptr;           // by first byte; pages that are never touched cost nothing
};

}  // namespace ascendc_twin
