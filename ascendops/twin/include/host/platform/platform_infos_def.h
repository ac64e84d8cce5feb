// fe::PlatFormInfos: the hardware parameters of the SoC that the operator is compiled for, by section and key.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fe {
enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

class PlatFormInfos {
public:
    using Section = std::map<std::string, std::string>;

    bool Init() { return true; }
    bool GetPlatformRes(const std::string &label, const std::string &key, std::string &val) const;
    bool GetPlatformRes(const std::string &label, Section &res) const;
    bool GetPlatformResWithLock(const std::string &label, const std::string &key, std::string &val) const {
        return GetPlatformRes(label, key, val);
    }
    bool GetPlatformResWithLock(const std::string &label, Section &res) const { return GetPlatformRes(label, res); }
    bool GetPlatformResWithLock(std::map<std::string, Section> &res) const { return res = sections_, true; }
    uint32_t GetCoreNum() const { return core_num_; }
    uint32_t GetCoreNumWithLock() const { return core_num_; }
    uint32_t GetCoreNumByType(const std::string &core_type) const;
    void GetLocalMemSize(const LocalMemType &mem_type, uint64_t &size) const;
    void GetLocalMemBw(const LocalMemType &mem_type, uint64_t &bw_size) const;
    std::map<std::string, std::vector<std::string>> GetAICoreIntrinsicDtype() const;
    std::map<std::string, std::vector<std::string>> GetVectorCoreIntrinsicDtype() const { return {}; }
    void SetPlatformRes(const std::string &label, Section &res) { sections_[label] = res; }
    void SetPlatformResWithLock(const std::string &label, Section &res) { sections_[label] = res; }
    void SetCoreNumByCoreType(const std::string &core_type) { core_num_ = GetCoreNumByType(core_type); }
    void SetCoreNum(const uint32_t &core_num) { core_num_ = core_num; }

private:
    std::map<std::string, Section> sections_;
    uint32_t core_num_ = 0;
};

class OptionalInfos {
public:
    bool Init() { return true; }
    std::string GetSocVersion() const { return soc_version_; }
    std::string GetCoreType() const { return core_type_; }
    uint32_t GetAICoreNum() const { return ai_core_num_; }
    std::string GetL1FusionFlag() const { return "false"; }
    void SetSocVersion(std::string soc_version) { soc_version_ = soc_version; }
    void SetCoreType(std::string core_type) { core_type_ = core_type; }
    void SetAICoreNum(uint32_t ai_core_num) { ai_core_num_ = ai_core_num; }

private:
    std::string soc_version_;
    std::string core_type_;
    uint32_t ai_core_num_ = 0;
};
}  // namespace fe
