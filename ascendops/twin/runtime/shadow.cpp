// Segments of a local memory: a bitmap of where they start, so that finding and splitting one needs no search.
#include "shadow.h"

#include <sys/mman.h>

#include <algorithm>

namespace ascendc_twin {

namespace {

Shadow::Segment *reserve(uint64_t count) {
    void *memory = mmap(nullptr, count * sizeof(Shadow::Segment), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<Shadow::Segment *>(memory);
}

}  // namespace

Shadow::~Shadow() {
    unmap();
}

void Shadow::unmap() {
    if (blocks_ != nullptr) munmap(blocks_, repeats_ * kPerRepeat * sizeof(Segment));
    if (bytes_of_ != nullptr) munmap(bytes_of_, room_ * sizeof(Segment));
    blocks_ = bytes_of_ = nullptr;
}

void Shadow::prepare(uint64_t bytes) {
    if (bytes > room_) {
        unmap();
        repeats_ = bytes / (kBlock * kPerRepeat) + 1;
        blocks_ = reserve(repeats_ * kPerRepeat);
        room_ = bytes;
        bytes_of_ = reserve(room_);
        if (blocks_ == nullptr || bytes_of_ == nullptr) {
            unmap();
            room_ = 0;
        }
        starts_.assign((room_ + 63) / 64 + 1, 0);
        words_.assign(starts_.size() / 64 + 1, 0);
    } else {
        std::fill(starts_.begin(), starts_.end(), 0);
        std::fill(words_.begin(), words_.end(), 0);
    }
    bytes_ = std::min(bytes, room_);
    if (bytes_ == 0) return;
    set(0);
    blocks_[0] = Segment{};
    blocks_[0].unwrite();
    blocks_[0].end = static_cast<uint32_t>(bytes_);
}

void Shadow::set(uint64_t at) {
    starts_[at / 64] |= uint64_t{1} << at % 64;
    words_[at / 4096] |= uint64_t{1} << at / 64 % 64;
}

uint64_t Shadow::start_before(uint64_t at) const {
    uint64_t word = at / 64;
    uint64_t bits = starts_[word] & (~uint64_t{0} >> (63 - at % 64));
    if (bits == 0) {
        uint64_t group = word / 64;
        uint64_t some = words_[group] & ((uint64_t{1} << word % 64) - 1);
        while (some == 0) some = words_[--group];
        word = group * 64 + 63 - static_cast<uint64_t>(__builtin_clzll(some));
        bits = starts_[word];
    }
    return word * 64 + 63 - static_cast<uint64_t>(__builtin_clzll(bits));
}

void Shadow::split(uint64_t at) {
    if (at >= bytes_) return;
    const uint64_t from = start(at);
    if (from == at) return;
    Segment &left = (*this)[from];
    (*this)[at] = left;
    left.end = static_cast<uint32_t>(at);
    set(at);
}

// Takes away the starts in [lo, hi).
void Shadow::clear(uint64_t lo, uint64_t hi) {
    if (lo >= hi) return;
    const uint64_t first = lo / 64, last = (hi - 1) / 64;
    for (uint64_t group = first / 64; group <= last / 64; ++group) {
        uint64_t some = words_[group];
        if (group == first / 64) some &= ~uint64_t{0} << first % 64;
        if (group == last / 64) some &= ~uint64_t{0} >> (63 - last % 64);
        for (; some != 0; some &= some - 1) {
            const uint64_t word = group * 64 + static_cast<uint64_t>(__builtin_ctzll(some));
            uint64_t mask = ~uint64_t{0};
            if (word == first) mask &= ~uint64_t{0} << lo % 64;
            if (word == last) mask &= ~uint64_t{0} >> (63 - (hi - 1) % 64);
            starts_[word] &= ~mask;
            if (starts_[word] == 0) words_[group] &= ~(uint64_t{1} << word % 64);
        }
    }
}

}  // namespace ascendc_twin
