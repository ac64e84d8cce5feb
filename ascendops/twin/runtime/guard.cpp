// Buffers of a launch between unreadable pages.
#include "guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace ascendc_twin {

namespace {

constexpr uint64_t kMost = 16 << 20;  // bytes of all buffers together; to copy more would cost more than the check

std::mutex g_mutex;
std::unique_ptr<Region> g_spare;  // of the last launch: the next one has mostly the same buffers, and its pages exist already

uint64_t whole_pages(uint64_t bytes) {
    static const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

std::unique_ptr<Region> take(std::vector<uint64_t> rooms) {
    std::unique_ptr<Region> spare;
    {
        std::lock_guard<std::mutex> lock(g_mutex);
        spare.swap(g_spare);
    }
    if (spare && spare->rooms() == rooms) return spare;
    return std::make_unique<Region>(std::move(rooms));
}

void give(std::unique_ptr<Region> region) {
    std::lock_guard<std::mutex> lock(g_mutex);
    if (region->valid()) g_spare.swap(region);
}

}  // namespace

Region::Region(std::vector<uint64_t> rooms) : rooms_(std::move(rooms)) {
    bytes_ = 2 * kGuard;
    for (const uint64_t room : rooms_) bytes_ += room + 2 * kGuard;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    void *base = mmap(nullptr, bytes_, PROT_NONE, flags, -1, 0);
    if (base == MAP_FAILED) return;
    base_ = base;
    auto *at = static_cast<uint8_t *>(base) + 2 * kGuard;
    for (const uint64_t room : rooms_) {
        if (room != 0) mprotect(at, room, PROT_READ | PROT_WRITE);
        ends_.push_back(reinterpret_cast<uint64_t>(at) + room);
        at += room + 2 * kGuard;
    }
}

Region::~Region() {
    if (base_ != nullptr) munmap(base_, bytes_);
}

void Guards::make_groups(const std::vector<TwinBuffer> &buffers) {
    std::vector<const TwinBuffer *> sorted;
    for (const TwinBuffer &b : buffers) {
        if (b.holder != nullptr && b.bytes != 0) sorted.push_back(&b);
    }
    std::sort(sorted.begin(), sorted.end(), [](const TwinBuffer *a, const TwinBuffer *b) { return a->address < b->address; });
    for (const TwinBuffer *b : sorted) {
        const uint64_t end = b->address + ((b->flags & TWIN_BUFFER_PADDED) ? (b->bytes + 7) / 8 * 8 : b->bytes);
        if (!groups_.empty() && b->address < groups_.back().end) {
            groups_.back().end = std::max(groups_.back().end, end);
        } else {
            groups_.push_back({b->address, end, (b->flags & TWIN_BUFFER_BLANK) != 0});
        }
    }
}

bool Guards::place() {
    std::vector<uint64_t> rooms[2];
    for (const Group &g : groups_) rooms[g.blank].push_back(whole_pages(g.bytes()));
    copied_ = take(std::move(rooms[0]));
    if (!rooms[1].empty()) blank_ = std::make_unique<Region>(std::move(rooms[1]));
    if (!copied_->valid() || (blank_ && !blank_->valid())) return false;
    size_t at[2] = {0, 0};
    for (Group &g : groups_) {
        g.moved = (g.blank ? *blank_ : *copied_).end(at[g.blank]++) - g.bytes();
        if (g.blank) g.moved = g.moved / 512 * 512;
        if (!g.blank) memcpy(reinterpret_cast<void *>(g.moved), reinterpret_cast<void *>(g.begin), g.bytes());
    }
    return true;
}

Guards::Guards(std::vector<TwinBuffer> &buffers) {
    uint64_t total = 0;
    for (const TwinBuffer &b : buffers) {
        if (b.holder != nullptr && !(b.flags & TWIN_BUFFER_BLANK)) total += b.bytes;
    }
    if (total > kMost) return;
    make_groups(buffers);
    if (groups_.empty() || !place()) {
        groups_.clear();
        return;
    }
    for (TwinBuffer &b : buffers) {
        if (b.holder == nullptr || b.bytes == 0) continue;
        holders_.emplace_back(b.holder, *b.holder);
        b.address = *b.holder = moved(b.address);
        b.flags |= TWIN_BUFFER_GUARDED;
    }
}

uint64_t Guards::moved(uint64_t address) const {
    for (const Group &g : groups_) {
        if (address >= g.begin && address < g.end) return address - g.begin + g.moved;
    }
    return address;
}

Guards::~Guards() {
    for (const Group &g : groups_) {
        auto *own = reinterpret_cast<void *>(g.begin);
        const auto *seen = reinterpret_cast<void *>(g.moved);
        if (!g.blank && memcmp(own, seen, g.bytes()) != 0) memcpy(own, seen, g.bytes());
    }
    for (const auto &[holder, before] : holders_) *holder = before;
    if (copied_) give(std::move(copied_));
}

}  // namespace ascendc_twin
