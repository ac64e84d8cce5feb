// Flags between cores (CrossCoreSetFlag, CrossCoreWaitFlag), and cube cores that compute for their vector cores.
//
// Every core has a counter per flag id. A wait takes one from its own counter; a set adds one to the counters of others once all
// cores that take part have set the flag as often (asc-devkit, docs/zh/api, CrossCoreSetFlag).
#include <algorithm>

#include "launch_state.h"
#include "order.h"

namespace ascendc_twin {

namespace {

constexpr uint32_t kFlags = 16, kMost = 15;

uint32_t first_of(const Launch &l, uint32_t group) {
    return group * l.per_block();
}

template <typename Act>
void for_cores(const Launch &l, Core::Type type, uint32_t group, uint32_t groups, Act act) {
    for (uint32_t g = group; g < group + groups; ++g) {
        if (type == Core::AIC) {
            if (l.in->aic != 0) act(first_of(l, g));
        } else {
            for (uint32_t i = 0; i < l.in->aiv; ++i) act(first_of(l, g) + l.in->aic + i);
        }
    }
}

// Called with the mutex held; true: a counter went over what the hardware counts.
bool add(Launch &l, uint32_t mode, uint32_t flag, const Signal &signal) {
    const Core &me = *t_core;
    const Core::Type peers = me.type, to = mode == 2 ? (peers == Core::AIC ? Core::AIV : Core::AIC) : peers;
    const uint32_t group = mode == 0 ? 0 : me.group, groups = mode == 0 ? l.in->block_dim : 1;
    auto fewest = [&] {
        uint32_t least = UINT32_MAX;
        for_cores(l, peers, group, groups, [&](uint32_t core) { least = std::min(least, l.cross[core].sets[mode][flag]); });
        return least;
    };
    const uint32_t before = fewest();
    ++l.cross[me.priv->number].sets[mode][flag];
    l.cross[me.priv->number].sent[mode][flag].push_back(signal);
    const uint32_t gained = fewest() - before;
    bool over = false;
    if (gained == 0) return over;
    std::vector<Signal> round;
    for_cores(l, peers, group, groups, [&](uint32_t core) {
        round.push_back(l.cross[core].sent[mode][flag].front());
        l.cross[core].sent[mode][flag].pop_front();
    });
    for_cores(l, to, group, groups, [&](uint32_t core) {
        l.cross[core].counter[flag] += gained;
        l.cross[core].signals[flag].push_back(round);
        over |= l.cross[core].counter[flag] > kMost;
    });
    return over;
}

std::string flags_that_are_set(const Launch &l, uint32_t number) {
    std::string text;
    for (uint32_t flag = 0; flag < kFlags; ++flag) {
        if (l.cross[number].counter[flag] != 0) text += format("%s%u", text.empty() ? "; set for this core are: " : ", ", flag);
    }
    return text;
}

const char *type_name(Core::Type type) {
    return type == Core::AIC ? "cube" : "vector";
}

}  // namespace

void cross_set(uint32_t mode, uint32_t flag) {
    Private &p = priv();
    Launch &l = *p.launch;
    if (mode > 2 || t_core->type == Core::AICORE) {
        finding("CROSS-MODE", "CrossCoreSetFlag<%u>: this SoC has the modes 0, 1 and 2 of cores that are split into cube and vector cores", mode);
        return;
    }
    if (mode == 2 && !t_core->mixed) {
        finding("CROSS-MODE", "CrossCoreSetFlag<2>(%u) between cube and vector cores in a kernel that runs on %s cores only", flag,
                type_name(t_core->type));
        return;
    }
    if (mode == 1 && t_core->type == Core::AIC) {
        finding("CROSS-MODE", "CrossCoreSetFlag<1>(%u) on a cube core: mode 1 is between the vector cores of one AI core", flag);
        return;
    }
    if (flag >= kFlags) finding("CROSS-FLAG", "CrossCoreSetFlag(%u): flag ids are 0 to 15, the hardware takes the low 4 bits", flag);
    bool over = false;
    ++p.in_runtime;
    {
        const Signal signal = signal_of(p, p.pipe);
        std::lock_guard<std::mutex> lock(l.mutex);
        over = add(l, mode, flag % kFlags, signal);
        release(l);
    }
    --p.in_runtime;
    if (over) finding("CROSS-FLAG", "CrossCoreSetFlag<%u>(%u) for the 16th time without a CrossCoreWaitFlag: the counter of a flag ends at 15", mode, flag);
}

void cross_wait(uint32_t flag) {
    Private &p = priv();
    Launch &l = *p.launch;
    bool met = false, deadlock = false;
    std::string others;
    ++p.in_runtime;
    {
        std::unique_lock<std::mutex> lock(l.mutex);
        uint32_t &counter = l.cross[p.number].counter[flag % kFlags];
        met = wait_until(l, lock, [&counter] { return counter != 0; });
        if (met) {
            --counter;
            for (const Signal &signal : l.cross[p.number].signals[flag % kFlags].front()) signal_taken(p, signal);
            l.cross[p.number].signals[flag % kFlags].pop_front();
        }
        deadlock = l.deadlock;
        others = flags_that_are_set(l, p.number);
    }
    --p.in_runtime;
    if (met) return;
    end_waiting_block(p, deadlock,
                      format("CrossCoreWaitFlag(%u) on a %s core hangs: not every core that takes part calls CrossCoreSetFlag(%u) as often%s",
                             flag, type_name(t_core->type), flag, others.c_str()));
}

void cross_finish(Private &p) {
    Launch &l = *p.launch;
    std::array<uint32_t, kFlags> counters{};
    {
        std::lock_guard<std::mutex> lock(l.mutex);
        counters = l.cross[p.number].counter;
    }
    for (uint32_t flag = 0; flag < kFlags; ++flag) {
        const uint32_t left = counters[flag];
        if (left != 0) {
            finding_at("CROSS-LEFT", "CrossCoreSetFlag", PipeId::S, nullptr,
                       format("flag %u was set %u times for this %s core and not waited for when the kernel ended", flag, left,
                              type_name(t_core->type)));
        }
    }
}

uint8_t owned_memories(const Core &core) {
    uint8_t owned = 0;
    for (int i = 0; i < kMems; ++i) {
        const auto mem = static_cast<Mem>(i);
        const bool has = mem == Mem::GM || core.type == Core::AICORE || (mem == Mem::UB) == (core.type == Core::AIV) ||
                         (mem == Mem::L1 && core.mixed);  // a vector core's TSCM: its Matmul object reads it
        owned |= static_cast<uint8_t>(has ? 1u << i : 0u);
    }
    return owned;
}

bool core_has(Mem mem) {
    const Core &me = *t_core;
    if (me.priv->owns(mem)) return true;
    if (!me.mixed) {
        finding("CORE-MEMORY", "%s uses %s, which a %s core does not have, in a kernel that runs on %s cores only", me.priv->api,
                mem_name(mem), type_name(me.type), type_name(me.type));
    }
    return false;
}

// ---- the cube core as a server of its vector cores ----

void cube_submit(CubeJob &job) {
    Private &p = priv();
    Launch &l = *p.launch;
    ++p.in_runtime;
    {
        job.asked = signal_of_message(p);
        std::lock_guard<std::mutex> lock(l.mutex);
        l.jobs[t_core->group].push_back(&job);
        release(l);
    }
    --p.in_runtime;
}

void cube_wait(CubeJob &job) {
    Private &p = priv();
    Launch &l = *p.launch;
    bool met = false, deadlock = false;
    ++p.in_runtime;
    {
        std::unique_lock<std::mutex> lock(l.mutex);
        met = wait_until(l, lock, [&job] { return job.done; });
        if (met) signal_taken(p, job.answered);
        deadlock = l.deadlock;
    }
    --p.in_runtime;
    if (!met) end_waiting_block(p, deadlock, "a Matmul call waits for the cube core of its block, which does not serve it");
}

void cube_serve() {
    Private &p = priv();
    Launch &l = *p.launch;
    const uint32_t group = t_core->group;  // conditions are also looked at by other threads
    auto &jobs = l.jobs[group];
    for (;;) {
        CubeJob *job = nullptr;
        bool met = false;
        ++p.in_runtime;
        {
            std::unique_lock<std::mutex> lock(l.mutex);
            met = wait_until(l, lock, [&] { return !jobs.empty() || l.vectors_ended[group] == l.in->aiv; });
            if (met && !jobs.empty()) {
                job = jobs.front();
                jobs.pop_front();
            }
        }
        --p.in_runtime;
        if (!met) abandon_block();
        if (job == nullptr) return;
        signal_taken(p, job->asked);
        job->run(job->argument);
        ++p.in_runtime;
        {
            job->answered = signal_of(p, PipeId::ALL);
            std::lock_guard<std::mutex> lock(l.mutex);
            job->done = true;
            release(l);
        }
        --p.in_runtime;
    }
}

}  // namespace ascendc_twin
