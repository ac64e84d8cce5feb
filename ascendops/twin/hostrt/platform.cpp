// Hardware parameters: registered by the Python side from data/socs.csv, one text per SoC.
#include <sstream>

#include "graph/ge_error_codes.h"
#include "hostrt.h"
#include "platform/platform_info.h"
#include "tiling/platform/platform_ascendc.h"

namespace ascendops_host {
static std::deque<Platform> g_platforms;

Platform *FindPlatform(int id) {
    return id < 0 || static_cast<size_t>(id) >= g_platforms.size() ? nullptr : &g_platforms[static_cast<size_t>(id)];
}
Platform *FindPlatform(const std::string &name) {
    for (Platform &platform : g_platforms) {
        if (platform.name == name) {
            return &platform;
        }
    }
    return nullptr;
}
Platform *CurrentPlatform() { return g_call != nullptr && g_call->platform != nullptr ? g_call->platform : FindPlatform(0); }

// Lines `[section]` and `key=value`, as in CANN's platform_config files.
int AddPlatform(const std::string &text) {
    Platform platform;
    std::map<std::string, fe::PlatFormInfos::Section> sections;
    std::istringstream lines(text);
    std::string line, section;
    while (std::getline(lines, line)) {
        const size_t equals = line.find('=');
        if (!line.empty() && line[0] == '[') {
            section = line.substr(1, line.size() - 2);
        } else if (equals != std::string::npos) {
            sections[section][line.substr(0, equals)] = line.substr(equals + 1);
        }
    }
    for (auto &entry : sections) {
        platform.infos.SetPlatformRes(entry.first, entry.second);
    }
    platform.name = sections["version"]["SoC_version"];
    const bool split = sections["SoCInfo"]["core_type_list"] == "CubeCore,VectorCore";
    platform.infos.SetCoreNumByCoreType(split ? "VectorCore" : "AICore");
    g_platforms.push_back(platform);
    return static_cast<int>(g_platforms.size()) - 1;
}
}  // namespace ascendops_host

using ascendops_host::CurrentPlatform;
using ascendops_host::Platform;

namespace {
uint64_t Number(const fe::PlatFormInfos &infos, const char *section, const char *key) {
    std::string text;
    return infos.GetPlatformRes(section, key, text) ? strtoull(text.c_str(), nullptr, 10) : 0;
}
std::string Text(const fe::PlatFormInfos &infos, const char *section, const char *key) {
    std::string text;
    (void)infos.GetPlatformRes(section, key, text);
    return text;
}
}  // namespace

namespace fe {
bool PlatFormInfos::GetPlatformRes(const std::string &label, const std::string &key, std::string &val) const {
    const auto section = sections_.find(label);
    if (section == sections_.end()) {
        return false;
    }
    const auto entry = section->second.find(key);
    if (entry == section->second.end()) {
        return false;
    }
    val = entry->second;
    return true;
}
bool PlatFormInfos::GetPlatformRes(const std::string &label, Section &res) const {
    const auto section = sections_.find(label);
    if (section == sections_.end()) {
        return false;
    }
    res = section->second;
    return true;
}
uint32_t PlatFormInfos::GetCoreNumByType(const std::string &core_type) const {
    const char *key = core_type == "VectorCore" ? "vector_core_cnt" : core_type == "CubeCore" ? "cube_core_cnt" : "ai_core_cnt";
    return static_cast<uint32_t>(Number(*this, "SoCInfo", key));
}
void PlatFormInfos::GetLocalMemSize(const LocalMemType &mem_type, uint64_t &size) const {
    switch (mem_type) {
        case LocalMemType::L0_A: size = Number(*this, "AICoreSpec", "l0_a_size"); break;
        case LocalMemType::L0_B: size = Number(*this, "AICoreSpec", "l0_b_size"); break;
        case LocalMemType::L0_C: size = Number(*this, "AICoreSpec", "l0_c_size"); break;
        case LocalMemType::L1: size = Number(*this, "AICoreSpec", "l1_size"); break;
        case LocalMemType::UB: size = Number(*this, "AICoreSpec", "ub_size"); break;
        case LocalMemType::L2: size = Number(*this, "SoCInfo", "l2_size"); break;
        case LocalMemType::HBM: size = Number(*this, "SoCInfo", "memory_size"); break;
        default: size = 0; break;
    }
}
void PlatFormInfos::GetLocalMemBw(const LocalMemType &mem_type, uint64_t &bw_size) const {
    switch (mem_type) {
        case LocalMemType::L2: bw_size = Number(*this, "AICoreMemoryRates", "l2_rate"); break;
        case LocalMemType::HBM: bw_size = Number(*this, "AICoreMemoryRates", "ddr_rate"); break;
        default: bw_size = 0; break;
    }
}
std::map<std::string, std::vector<std::string>> PlatFormInfos::GetAICoreIntrinsicDtype() const {
    std::map<std::string, std::vector<std::string>> result;
    Section section;
    (void)GetPlatformRes("AICoreintrinsicDtypeMap", section);
    for (const auto &entry : section) {
        std::istringstream items(entry.second);
        for (std::string item; std::getline(items, item, ',');) {
            result[entry.first].push_back(item);
        }
    }
    return result;
}

PlatformInfoManager &PlatformInfoManager::Instance() {
    static PlatformInfoManager instance;
    return instance;
}
static uint32_t Fill(const Platform *platform, PlatFormInfos &infos, OptionalInfos &options) {
    if (platform == nullptr) {
        return 1;
    }
    infos = platform->infos;
    options.SetSocVersion(platform->name);
    options.SetCoreType("AiCore");
    options.SetAICoreNum(platform->infos.GetCoreNumByType("AICore"));
    return 0;
}
static uint32_t Fill(const Platform *platform, PlatformInfo &info, OptionalInfo &options) {
    if (platform == nullptr) {
        return 1;
    }
    const PlatFormInfos &from = platform->infos;
    info.str_info.aic_version = Text(from, "version", "AIC_version");
    info.str_info.short_soc_version = Text(from, "version", "Short_SoC_version");
    info.soc_info.ai_core_cnt = from.GetCoreNumByType("AICore");
    info.soc_info.vector_core_cnt = from.GetCoreNumByType("VectorCore");
    info.soc_info.memory_size = Number(from, "SoCInfo", "memory_size");
    info.soc_info.l2_size = Number(from, "SoCInfo", "l2_size");
    AiCoreSpec &spec = info.ai_core_spec;
    spec.cube_freq = static_cast<double>(Number(from, "AICoreSpec", "cube_freq"));
    spec.vec_calc_size = Number(from, "AICoreSpec", "vec_calc_size");
    spec.l0_a_size = Number(from, "AICoreSpec", "l0_a_size");
    spec.l0_b_size = Number(from, "AICoreSpec", "l0_b_size");
    spec.l0_c_size = Number(from, "AICoreSpec", "l0_c_size");
    spec.l1_size = Number(from, "AICoreSpec", "l1_size");
    spec.ub_size = Number(from, "AICoreSpec", "ub_size");
    spec.ubblock_size = Number(from, "AICoreSpec", "ubblock_size");
    spec.ubbank_size = Number(from, "AICoreSpec", "ubbank_size");
    spec.ubbank_num = Number(from, "AICoreSpec", "ubbank_num");
    spec.ubbank_group_num = Number(from, "AICoreSpec", "ubbank_group_num");
    options.soc_version = platform->name;
    options.core_type = "AiCore";
    options.ai_core_num = from.GetCoreNumByType("AICore");
    return 0;
}
uint32_t PlatformInfoManager::GetPlatformInfos(const std::string soc, PlatFormInfos &infos, OptionalInfos &options) {
    return Fill(ascendops_host::FindPlatform(soc), infos, options);
}
uint32_t PlatformInfoManager::GetPlatformInfo(const std::string soc, PlatformInfo &info, OptionalInfo &options) {
    return Fill(ascendops_host::FindPlatform(soc), info, options);
}
uint32_t PlatformInfoManager::GetPlatformInfoWithOutSocVersion(PlatFormInfos &infos, OptionalInfos &options) {
    return Fill(CurrentPlatform(), infos, options);
}
uint32_t PlatformInfoManager::GetPlatformInfoWithOutSocVersion(PlatformInfo &info, OptionalInfo &options) {
    return Fill(CurrentPlatform(), info, options);
}
uint32_t PlatformInfoManager::GetPlatformInstanceByDevice(const uint32_t &, PlatFormInfos &infos) {
    OptionalInfos options;
    return Fill(CurrentPlatform(), infos, options);
}
}  // namespace fe

namespace platform_ascendc {
namespace {
constexpr uint64_t kSystemReserve = 256;   // of UB and L1 on Ascend910B
constexpr uint32_t kMiB = 1024 * 1024;

struct SocName {
    const char *name;
    SocVersion version;
};
const SocName kSocNames[] = {
    {"Ascend910", SocVersion::ASCEND910},   {"Ascend910B", SocVersion::ASCEND910B},
    {"Ascend910_93", SocVersion::ASCEND910B}, {"Ascend310P", SocVersion::ASCEND310P},
    {"Ascend310B", SocVersion::ASCEND310B}, {"Ascend950", SocVersion::ASCEND950},
    {"Ascend910_95", SocVersion::ASCEND950}, {"Ascend310", SocVersion::ASCEND310},
    {"Ascend610", SocVersion::ASCEND610},
};
}  // namespace

const fe::PlatFormInfos &PlatformAscendC::Infos() const {
    ASCENDC_ASSERT(infos_ != nullptr, ascendops_host::Note("PlatformAscendC was made from a null platform pointer"));
    return *infos_;
}

static bool Split(const fe::PlatFormInfos &infos) { return Text(infos, "SoCInfo", "core_type_list") == "CubeCore,VectorCore"; }

uint32_t PlatformAscendC::GetCoreNum() const { return Infos().GetCoreNum(); }
uint32_t PlatformAscendC::GetCoreNumAic() const { return Infos().GetCoreNumByType(Split(Infos()) ? "CubeCore" : "AICore"); }
uint32_t PlatformAscendC::GetCoreNumAiv() const { return Infos().GetCoreNumByType(Split(Infos()) ? "VectorCore" : "AICore"); }
uint32_t PlatformAscendC::GetCoreNumVector() const {
    return GetSocVersion() == SocVersion::ASCEND310P ? Infos().GetCoreNumByType("VectorCore") : 0;
}

uint32_t PlatformAscendC::CalcTschNumBlocks(uint32_t slice_num, uint32_t aic_core_num, uint32_t aiv_core_num) const {
    if (aic_core_num == 0 || aiv_core_num == 0 || aic_core_num > aiv_core_num) {
        return slice_num;
    }
    const uint32_t ratio = aiv_core_num / aic_core_num;
    const uint32_t blocks = (slice_num + ratio - 1) / ratio;
    return ratio == 2 && blocks > aic_core_num ? 0 : blocks;
}

uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const {
    const NpuArch arch = GetCurNpuArch();
    return arch == NpuArch::DAV_RESV ? UINT32_MAX : arch == NpuArch::DAV_2201 || arch == NpuArch::DAV_3510 ? 16 * kMiB : 2 * kMiB;
}
uint32_t PlatformAscendC::GetResCubeGroupWorkSpaceSize() const {
    return GetSocVersion() == SocVersion::ASCEND910B ? kMiB : UINT32_MAX;
}
uint32_t PlatformAscendC::GetResGroupBarrierWorkSpaceSize() const { return GetResCubeGroupWorkSpaceSize(); }

void PlatformAscendC::GetCoreMemSize(const CoreMemType &mem_type, uint64_t &size) const {
    if (mem_type == CoreMemType::FB || mem_type == CoreMemType::BT) {
        size = Number(Infos(), "AICoreSpec", mem_type == CoreMemType::FB ? "fb0_size" : "bt_size");
        return;
    }
    Infos().GetLocalMemSize(static_cast<fe::LocalMemType>(mem_type), size);
    const bool local = mem_type == CoreMemType::UB || mem_type == CoreMemType::L1;
    if (local && GetSocVersion() == SocVersion::ASCEND910B) {
        size -= kSystemReserve;
    }
    if (mem_type == CoreMemType::UB) {
        size -= reserved_;
    }
}
void PlatformAscendC::GetCoreMemBw(const CoreMemType &mem_type, uint64_t &bw_size) const {
    Infos().GetLocalMemBw(static_cast<fe::LocalMemType>(mem_type), bw_size);
}
void PlatformAscendC::ReserveLocalMemory(ReservedSize size) { reserved_ = 8u * 1024u << static_cast<uint32_t>(size); }

SocVersion PlatformAscendC::GetSocVersion() const {
    const std::string name = Text(Infos(), "version", "Short_SoC_version");
    for (const SocName &row : kSocNames) {
        if (name == row.name) {
            return row.version;
        }
    }
    return SocVersion::RESERVED_VERSION;
}
NpuArch PlatformAscendC::GetCurNpuArch() const {
    const uint64_t arch = Number(Infos(), "version", "NpuArch");
    return arch == 0 ? NpuArch::DAV_RESV : static_cast<NpuArch>(arch);
}
uint32_t PlatformAscendC::GetVecRegLen() const { return static_cast<uint32_t>(Number(Infos(), "AICoreSpec", "vector_reg_width")); }

PlatformAscendC *PlatformAscendCManager::GetInstance(const char *soc_version) {
    static thread_local PlatformAscendC instance(nullptr);
    Platform *platform = soc_version == nullptr ? CurrentPlatform() : ascendops_host::FindPlatform(std::string(soc_version));
    if (platform == nullptr) {
        return nullptr;
    }
    instance = PlatformAscendC(&platform->infos);
    return &instance;
}
}  // namespace platform_ascendc
