// The launch report as JSON. Addresses of code become (module, offset) so that addr2line can read them.
#include "report.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace ascendc_twin {

namespace {

constexpr size_t kMaxFindings = 1000;

std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += format("\\u%04x", c);
        } else {
            out += c;
        }
    }
    return out + '"';
}

// Numbers the modules that code addresses lie in.
class Modules {
public:
    std::string address(void *pc) {
        Dl_info info{};
        if (pc == nullptr || dladdr(pc, &info) == 0 || info.dli_fname == nullptr) return "[-1, 0]";
        const auto found = index_.emplace(info.dli_fname, index_.size());
        if (found.second) names_.push_back(info.dli_fname);
        return format("[%zu, %llu]", found.first->second,
                      static_cast<unsigned long long>(static_cast<char *>(pc) - static_cast<char *>(info.dli_fbase)));
    }
    // Replaces the {pc:0x...} of a message by {m:offset}.
    std::string message(const std::string &text) {
        std::string out;
        size_t from = 0;
        for (size_t at = text.find("{pc:"); at != std::string::npos; at = text.find("{pc:", from)) {
            const size_t end = text.find('}', at);
            if (end == std::string::npos) break;
            const auto pc = std::stoull(text.substr(at + 4, end - at - 4), nullptr, 16);
            out += text.substr(from, at - from) + "{at" + address(reinterpret_cast<void *>(pc)) + "}";
            from = end + 1;
        }
        return out + text.substr(from);
    }
    std::string json() const {
        std::string out = "[";
        for (size_t i = 0; i < names_.size(); ++i) out += (i ? ", " : "") + quoted(names_[i]);
        return out + "]";
    }

private:
    std::map<std::string, size_t> index_;
    std::vector<std::string> names_;
};

std::string finding_json(const Finding &f, Modules &modules) {
    std::string out = format("{\"id\": \"%s\", \"api\": \"%s\", \"pipe\": \"%s\", \"block\": %u, \"sub_block\": %u, \"count\": %llu, ", f.id,
                             f.api, pipe_name(f.pipe), f.block, f.sub_block, static_cast<unsigned long long>(f.count));
    out += "\"message\": " + quoted(modules.message(f.message)) + ", \"blocks\": [";
    for (size_t i = 0; i < f.blocks.size(); ++i) out += format("%s%u", i ? ", " : "", f.blocks[i]);
    out += "], \"other\": " + modules.address(f.other) + ", \"pcs\": [";
    for (size_t i = 0; i < f.pcs.size(); ++i) out += (i ? ", " : "") + modules.address(f.pcs[i]);
    out += "], \"callers\": [";
    for (size_t i = 0; i < f.callers.size(); ++i) out += (i ? ", " : "") + modules.address(f.callers[i]);
    return out + "]}";
}

std::string event_json(const Event &e, const Access *accesses, std::map<void *, std::string> &where, Modules &modules) {
    static const char *const kinds[] = {"inst", "set", "wait", "barrier", "sync"};
    auto cached = where.find(e.pc);
    if (cached == where.end()) {
        cached = where.emplace(e.pc, modules.address(e.pc ? static_cast<char *>(e.pc) - 1 : nullptr)).first;
    }
    std::string out = format("[\"%s\", \"%s\", \"%s\", \"%s\", %d, %g, %llu, %u, ", kinds[e.kind], e.api,
                             pipe_name(static_cast<PipeId>(e.pipe)), e.kind == 1 || e.kind == 2 ? event_name(e.event) : "", e.id, e.cycles,
                             static_cast<unsigned long long>(e.moved), e.runs);
    out += cached->second + ", [";
    for (uint32_t i = 0; i < e.accesses; ++i) {
        const Access &a = accesses[e.first_access + i];
        out += format("%s[\"%s\", %d, %d, %llu, %llu]", i ? ", " : "", mem_name(a.mem), a.rw == Rw::WRITE ? 1 : 0, a.buf,
                      static_cast<unsigned long long>(a.lo), static_cast<unsigned long long>(a.hi));
    }
    return out + "]]";
}

}  // namespace

void Report::merge(const Finding &finding) {
    for (Finding &f : findings_) {
        if (strcmp(f.id, finding.id) != 0 || f.pcs != finding.pcs || f.other != finding.other) continue;
        f.count += finding.count;
        f.blocks.push_back(finding.block);
        if (finding.block < f.block) {
            f.block = finding.block;
            f.message = finding.message;
        }
        return;
    }
    if (findings_.size() >= kMaxFindings) return;
    findings_.push_back(finding);
    findings_.back().blocks = {finding.block};
}

void Report::add(const Core &core, BlockResult result) {
    const Private &p = *core.priv;
    worst_ = std::max(worst_, result);
    for (const Finding &finding : p.findings) merge(finding);
    for (int i = 0; i < kMems; ++i) high_[i] = std::max(high_[i], p.mem[i].high);
    if (core.trace) blocks_.push_back({core.block_idx, p.mem[static_cast<int>(Mem::UB)].high, p.events, p.accesses});
}

std::string Report::json() const {
    static const char *const status[] = {"ok", "abandoned", "crash", "hang"};
    Modules modules;
    std::vector<Finding> findings = findings_;
    std::stable_sort(findings.begin(), findings.end(), [](const Finding &a, const Finding &b) { return a.block < b.block; });
    for (Finding &f : findings) std::sort(f.blocks.begin(), f.blocks.end());
    std::string out = format("{\"status\": \"%s\", \"seconds\": %.9f, \"block_dim\": %u, \"high_water\": {", status[static_cast<int>(worst_)],
                             seconds, block_dim);
    for (int i = 1; i < kMems; ++i) {
        out += format("%s\"%s\": %llu", i > 1 ? ", " : "", mem_name(static_cast<Mem>(i)), static_cast<unsigned long long>(high_[i]));
    }
    out += "}, \"findings\": [";
    for (size_t i = 0; i < findings.size(); ++i) out += (i ? ", " : "") + finding_json(findings[i], modules);
    out += "], \"blocks\": [";
    std::map<void *, std::string> where;
    for (size_t i = 0; i < blocks_.size(); ++i) {
        const Block &b = blocks_[i];
        out += format("%s{\"block\": %u, \"events\": [", i ? ", " : "", b.index);
        for (size_t k = 0; k < b.events.size(); ++k) {
            out += (k ? ", " : "") + event_json(b.events[k], b.accesses.data(), where, modules);
        }
        out += "]}";
    }
    return out + "], \"modules\": " + modules.json() + "}";
}

}  // namespace ascendc_twin
