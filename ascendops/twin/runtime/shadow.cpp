// Segments of a local memory: a bitmap of where they start, so that finding and splitting one needs no search.
#include "shadow.h"

#include <sys/mman.h>

#include <algorithm>

namespace ascendc_twin {

Shadow::~Shadow() {
    if (segments_ != nullptr) munmap(segments_, room_ * sizeof(Segment));
}

void Shadow::prepare(uint64_t bytes) {
    if (bytes > room_) {
        if (segments_ != nullptr) munmap(segments_, room_ * sizeof(Segment));
        void *memory = mmap(nullptr, bytes * sizeof(Segment), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        segments_ = memory == MAP_FAILED ? nullptr : static_cast<Segment *>(memory);
        room_ = segments_ != nullptr ? bytes : 0;
        starts_.assign((room_ + 63) / 64 + 1, 0);
        words_.assign(starts_.size() / 64 + 1, 0);
    } else {
        std::fill(starts_.begin(), starts_.end(), 0);
        std::fill(words_.begin(), words_.end(), 0);
    }
    bytes_ = std::min(bytes, room_);
    if (bytes_ == 0) return;
    set(0);
    segments_[0] = Segment{};
    segments_[0].writer = kNobody;
    segments_[0].end = static_cast<uint32_t>(bytes_);
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
    segments_[at] = segments_[from];
    segments_[from].end = static_cast<uint32_t>(at);
    set(at);
}

// Takes away the starts in [lo, hi).
void Shadow::clear(uint64_t lo, uint64_t hi) {
    while (lo < hi) {
        const uint64_t word = lo / 64, last = std::min(hi, (word + 1) * 64);
        if (words_[word / 64] == 0) {
            lo = (word / 64 + 1) * 4096;
            continue;
        }
        const uint64_t count = last - lo;
        const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << lo % 64;
        starts_[word] &= ~mask;
        if (starts_[word] == 0) words_[word / 64] &= ~(uint64_t{1} << word % 64);
        lo = last;
    }
}

}  // namespace ascendc_twin
