// Kernel template arguments (tiling/template_argument.h): the keys of their combinations.
#include <algorithm>

#include "hostrt.h"
#include "tiling/template_argument.h"

namespace ascendops_host {
namespace {
// UINT values are given as a list, as ranges, or as ranges followed by a list; the first number says which.
std::vector<uint64_t> Expand(const std::vector<uint64_t> &given) {
    if (given.empty() || given[0] == ASCENDC_TPL_UI_LIST) {
        return given.empty() ? given : std::vector<uint64_t>(given.begin() + 1, given.end());
    }
    const size_t ranges = given.size() < 2 ? 0 : static_cast<size_t>(given[1]);
    std::vector<uint64_t> values;
    for (size_t i = 0; i < ranges && 3 + 2 * i < given.size(); ++i) {
        for (uint64_t value = given[2 + 2 * i]; value <= given[3 + 2 * i]; ++value) {
            values.push_back(value);
        }
    }
    if (given[0] == ASCENDC_TPL_UI_MIX) {
        values.insert(values.end(), given.begin() + static_cast<ptrdiff_t>(std::min(2 + 2 * ranges, given.size())), given.end());
    }
    return values;
}

// The code of a value in the key: its place in the declared list for UINT, itself for the others. -1: not declared.
int64_t Code(const TplParam &param, uint64_t value) {
    if (param.kind != TplParam::UINT) {
        return static_cast<int64_t>(value);
    }
    const auto place = std::find(param.values.begin(), param.values.end(), value);
    return place == param.values.end() ? -1 : place - param.values.begin();
}

uint64_t Pack(const std::vector<TplParam> &params, const std::vector<uint64_t> &values) {
    uint64_t key = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < params.size() && i < values.size(); ++i) {
        const int64_t code = Code(params[i], values[i]);
        if (code < 0 || bits + params[i].bits > 64) {
            Note(code < 0 ? "the template argument %s has no value %llu in ASCENDC_TPL_ARGS_DECL"
                          : "the template arguments up to %s (value %llu) need more than 64 bits of tiling key",
                 params[i].name, static_cast<unsigned long long>(values[i]));
            return ~0ULL;
        }
        key |= static_cast<uint64_t>(code) << bits;
        bits += params[i].bits;
    }
    return key;
}

void Combine(const TplArgs &args, const std::vector<TplParam> &selection, std::vector<uint64_t> &chosen,
             std::vector<TemplateKey> &out) {
    if (chosen.size() == args.params.size()) {
        TemplateKey key{Pack(args.params, chosen), {}};
        for (size_t i = 0; i < chosen.size(); ++i) {
            if (args.params[i].kind != TplParam::SETTING) {   // a kernel type is part of the key, but no argument
                key.args.push_back({args.params[i].name, static_cast<int>(args.params[i].kind), chosen[i]});
            }
        }
        out.push_back(key);
        return;
    }
    const TplParam &wanted = args.params[chosen.size()];
    for (const TplParam &param : selection) {
        if (std::string(param.name) == wanted.name) {
            for (uint64_t value : param.values) {
                if (param.kind <= TplParam::FORMAT && value >= ASCENDC_TPL_INPUT(0)) {
                    continue;   // names an input, beside the types that it may have
                }
                chosen.push_back(value);
                Combine(args, selection, chosen, out);
                chosen.pop_back();
            }
        }
    }
}
}  // namespace

TplParam::TplParam(const char *name_, Kind kind_, unsigned bits_, std::initializer_list<uint64_t> values_)
    : name(name_), kind(kind_), bits(bits_), values(kind_ == UINT ? Expand(values_) : std::vector<uint64_t>(values_)) {}

uint64_t TplArgs::Key(std::initializer_list<uint64_t> values) const { return Pack(params, values); }

int RegisterTemplates(const TplArgs &args, std::initializer_list<std::vector<TplParam>> selections) {
    std::vector<TemplateKey> &keys = Loading().templates[args.op];
    keys.clear();   // the header may be part of several sources
    for (const auto &selection : selections) {
        std::vector<uint64_t> chosen;
        Combine(args, selection, chosen, keys);
    }
    return 0;
}
}  // namespace ascendops_host
