// The running core, the instruction being executed, and findings.
#include "core.h"

#include <execinfo.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ascendc_twin {

thread_local Core *t_core = nullptr;

Core &core() {
    return *t_core;
}

Inst::Inst(const char *api_, PipeId pipe_) : api(api_), pipe(pipe_), pc(__builtin_return_address(0)) {
    Private &p = priv();
    if (p.stop) abandon_block();
    if (p.depth++ == 0) {
        p.gm_clip = false;
        p.api = api;
        p.pipe = pipe;
        p.pc = pc;
        ++p.op;
    }
    p.inst_access = p.accesses.size();
    ++p.instructions;
}

Inst::~Inst() {
    Private &p = priv();
    if (__builtin_expect(t_core->trace, 0) && p.accesses.size() > p.inst_access) {
        const auto first = static_cast<uint32_t>(p.inst_access);
        p.events.push_back({api, p.pc, static_cast<uint8_t>(pipe), 0, 0, 0, cycles, moved, runs, first,
                            static_cast<uint32_t>(p.accesses.size()) - first});
        p.inst_access = p.accesses.size();
    }
    --p.depth;
}

void abandon_block() {
    siglongjmp(priv().jump, kAbandoned);
}

std::string format(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

std::string at(void *pc) {
    return pc ? format("{pc:%p}", static_cast<void *>(static_cast<char *>(pc) - 1)) : std::string("an unknown line");
}

std::vector<void *> callers_of(void *pc) {
    void *frames[48];
    const int n = pc ? backtrace(frames, 48) : 0;
    const auto function = [](void *address) { return _Unwind_FindEnclosingFunction(static_cast<char *>(address) - 1); };
    void *home = pc ? function(pc) : nullptr;  // an Inst has returned there already, so its own address is no longer on the stack
    int own = 0;
    while (own < n && (home == nullptr || function(frames[own]) != home)) ++own;
    std::vector<void *> callers;
    for (int i = own + 1; i < n; ++i) callers.push_back(static_cast<char *>(frames[i]) - 1);
    return callers;
}

void finding_at(const char *id, const char *api, PipeId pipe, void *pc, const std::string &message, bool fatal) {
    Private &p = priv();
    if (!t_core->checks && !fatal) return;
    ++p.in_runtime;
    void *inside = pc ? static_cast<char *>(pc) - 1 : nullptr;
    auto same = std::find_if(p.findings.begin(), p.findings.end(), [&](const Finding &f) {
        return !strcmp(f.id, id) && f.pcs.front() == inside;
    });
    if (same != p.findings.end()) {
        ++same->count;
    } else {
        p.findings.push_back({id, message, api, pipe, {inside}, t_core->block_idx, t_core->sub_block_idx, 1, {}, nullptr, callers_of(pc)});
    }
    --p.in_runtime;
}

void finding(const char *id, const char *format, ...) {
    Private &p = priv();
    if (!t_core->checks) return;
    ++p.in_runtime;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    finding_at(id, p.api, p.pipe, p.pc, text);
    --p.in_runtime;
}

const void *keep(const void *data, uint64_t bytes) {
    Private &p = priv();
    ++p.in_runtime;
    p.kept.emplace_back(new uint8_t[bytes]);
    memcpy(p.kept.back().get(), data, bytes);
    --p.in_runtime;
    return p.kept.back().get();
}

const char *mem_name(Mem mem) {
    static const char *const names[kMems] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
    return names[static_cast<int>(mem)];
}

const char *position_name(uint8_t pos) {
    static const char *const names[] = {"GM", "A1", "A2", "B1", "B2", "C1", "C2", "CO1", "CO2", "VECIN", "VECOUT", "VECCALC",
                                        "SPM", "TSCM", "C2PIPE2GM", "C2PIPE2LOCAL"};
    return pos < sizeof names / sizeof *names ? names[pos] : "?";
}

Mem mem_of_position(uint8_t pos) {
    static const Mem mems[] = {Mem::GM, Mem::L1, Mem::L0A, Mem::L1, Mem::L0B, Mem::L1, Mem::BT, Mem::L0C,
                               Mem::UB, Mem::UB, Mem::UB,  Mem::UB, Mem::UB,  Mem::L1, Mem::FB, Mem::FB};
    return pos < sizeof mems / sizeof *mems ? mems[pos] : Mem::UB;
}

const char *pipe_name(PipeId pipe) {
    static const char *const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
    return names[static_cast<int>(pipe)];
}

void trace_sync(Private &p, const char *api, uint8_t kind, uint8_t pipe, uint8_t event, int id, void *pc) {
    if (!t_core->trace) return;
    p.events.push_back({api, pc, pipe, kind, event, static_cast<int8_t>(id), 0, 0, 0, 0, 0});
}

}  // namespace ascendc_twin
