// Buffers of a launch between unreadable pages, so that a pointer of the kernel that leaves one faults at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ascendc_twin/launch.h"

namespace ascendc_twin {

constexpr uint64_t kGuard = 64 << 10;  // unreadable bytes at each end of a guarded buffer

// Reserved address space: rooms of readable and writable pages, with 2 * kGuard unreadable bytes before, between and behind them.
class Region {
public:
    explicit Region(std::vector<uint64_t> rooms);
    ~Region();
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;
    bool valid() const { return base_ != nullptr; }
    const std::vector<uint64_t> &rooms() const { return rooms_; }
    uint64_t end(size_t room) const { return ends_[room]; }  // the address behind a room

private:
    std::vector<uint64_t> rooms_, ends_;
    void *base_ = nullptr;
    uint64_t bytes_ = 0;
};

// Copies the buffers that have a holder between guards, and back at the end what the kernel changed. Buffers that overlap stay overlapping.
class Guards {
public:
    // Moves the addresses of `buffers`, in their holders too; more than 16 MiB are left where they are, and so is everything without address space.
    explicit Guards(std::vector<TwinBuffer> &buffers);
    ~Guards();
    Guards(const Guards &) = delete;
    Guards &operator=(const Guards &) = delete;
    // Where an address inside a buffer has gone.
    uint64_t moved(uint64_t address) const;

private:
    struct Group {  // buffers that share memory: one range, copied once
        uint64_t begin, end;
        bool blank;
        uint64_t moved = 0;
        uint64_t bytes() const { return end - begin; }
    };
    void make_groups(const std::vector<TwinBuffer> &buffers);
    bool place();

    std::vector<Group> groups_;
    std::vector<std::pair<uint64_t *, uint64_t>> holders_;  // and what they held
    std::unique_ptr<Region> copied_, blank_;
};

}  // namespace ascendc_twin
