// Types and configurations of Matmul objects. The fields of MatmulConfig are those of the documents, in their order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ascendc_twin/tensor.h"

namespace AscendC {

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode { NONE = 0, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum class BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH, DEFAULT };
enum class IterateOrder { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT };
enum class DecompressionMode { DECOMP_NONE = 0 };
enum class MatmulConfigMode { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };
enum IterateMode : uint8_t {
    ITERATE_MODE_NORMAL = 0b1,
    ITERATE_MODE_ALL = 0b10,
    ITERATE_MODE_BATCH = 0b100,
    ITERATE_MODE_N_BATCH = 0b1000,
    ITERATE_MODE_DEFAULT = 0b11111111,
};
constexpr uint32_t SHARED_CO1_BUFFER_SIZE = 64 * 1024;

struct MatmulConfig {
    bool doNorm = false;
    bool doBasicBlock = false;
    bool doMultiDataLoad = false;
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
    bool intrinsicsCheck = false;
    bool isNBatch = false;
    bool enVecND2NZ = false;
    bool doSpecialBasicBlock = false;
    uint32_t doMTE2Preload = 0;
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t stepM = 0;
    uint32_t stepN = 0;
    uint32_t baseMN = 0;
    uint32_t singleCoreMN = 0;
    bool enUnitFlag = true;
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
    bool doIBShareNorm = false;
    bool doSpecialMDL = false;
    bool enableInit = true;
    BatchMode batchMode = BatchMode::NONE;
    bool enableEnd = true;
    bool enableGetTensorC = true;
    bool enableSetOrgShape = true;
    bool enableSetBias = true;
    bool enableSetTail = true;
    bool enableQuantVector = true;
    bool enableSetDefineData = true;
    uint8_t iterateMode = ITERATE_MODE_DEFAULT;
    bool enableReuse = true;
    bool enableUBReuse = false;
    bool enableL1CacheUB = false;
    bool intraBlockPartSum = false;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableDoubleCache = false;
    bool isBiasBatch = true;
    bool enableStaticPadZeros = false;
    bool isPartialOutput = false;
    bool enableMixDualMaster = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool isCO1Shared = false;
    uint32_t sharedCO1BufferSize = SHARED_CO1_BUFFER_SIZE;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false;
    DecompressionMode decompMode = DecompressionMode::DECOMP_NONE;
};

constexpr MatmulConfig GetNormalConfig(const bool intrinsicsLimit = false, const bool batchLoop = false, const bool isVecND2NZ = false,
                                       const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, const bool isMsgReuse = true,
                                       const IterateOrder iterateOrder = IterateOrder::UNDEF,
                                       const ScheduleType scheduleType = ScheduleType::INNER_PRODUCT, const bool enUnitFlag = true,
                                       const bool enableMixDualMaster = false, const BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH) {
    MatmulConfig config{};
    config.doNorm = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.enVecND2NZ = isVecND2NZ;
    config.batchMode = bmmMode;
    config.enableReuse = isMsgReuse;
    config.iterateOrder = iterateOrder;
    config.scheduleType = scheduleType;
    config.enUnitFlag = enUnitFlag;
    config.enableMixDualMaster = enableMixDualMaster;
    config.bmmOutMode = bmmOutMode;
    return config;
}
constexpr MatmulConfig GetMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false, const uint32_t doMTE2Preload = 0,
                                    const bool isVecND2NZ = false, bool isPerTensor = false, bool hasAntiQuantOffset = false,
                                    const bool enUnitFlag = false, const bool isMsgReuse = true, const bool enableUBReuse = true,
                                    const bool enableL1CacheUB = false, const bool enableMixDualMaster = false,
                                    const bool enableKdimReorderLoad = false) {
    MatmulConfig config{};
    config.doMultiDataLoad = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.doMTE2Preload = doMTE2Preload;
    config.enVecND2NZ = isVecND2NZ;
    config.isPerTensor = isPerTensor;
    config.hasAntiQuantOffset = hasAntiQuantOffset;
    config.enUnitFlag = enUnitFlag;
    config.enableReuse = isMsgReuse;
    config.enableUBReuse = enableUBReuse;
    config.enableL1CacheUB = enableL1CacheUB;
    config.enableMixDualMaster = enableMixDualMaster;
    config.enableKdimReorderLoad = enableKdimReorderLoad;
    return config;
}
constexpr MatmulConfig GetSpecialMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false, const uint32_t doMTE2Preload = 0,
                                           const bool isVecND2NZ = false, bool isPerTensor = false, bool hasAntiQuantOffset = false) {
    MatmulConfig config = GetMDLConfig(intrinsicsLimit, batchLoop, doMTE2Preload, isVecND2NZ, isPerTensor, hasAntiQuantOffset);
    config.doMultiDataLoad = false;
    config.doSpecialMDL = true;
    return config;
}
constexpr MatmulConfig GetIBShareNormConfig(const bool intrinsicsLimit = false, const bool batchLoop = false, const bool isVecND2NZ = false,
                                            const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, const bool isDoubleCache = false,
                                            const bool enUnitFlag = true) {
    MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, isVecND2NZ, bmmMode);
    config.doNorm = false;
    config.doIBShareNorm = true;
    config.enableDoubleCache = isDoubleCache;
    config.enUnitFlag = enUnitFlag;
    return config;
}
constexpr MatmulConfig GetBasicConfig(const uint32_t basicM, const uint32_t basicN, const uint32_t basicK, const bool intrinsicsLimit = false,
                                      const bool batchLoop = false, const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
    MatmulConfig config{};
    config.doBasicBlock = true;
    config.basicM = basicM;
    config.basicN = basicN;
    config.basicK = basicK;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.batchMode = bmmMode;
    return config;
}
constexpr MatmulConfig CFG_NORM = GetNormalConfig();
constexpr MatmulConfig CFG_MDL = GetMDLConfig();
constexpr MatmulConfig MM_CFG_BB = GetBasicConfig(128, 128, 128);
constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();

// Groups of parameters that GetMMConfig puts into a configuration.
struct MatmulShapeParams {
    uint32_t singleCoreM, singleCoreN, singleCoreK, basicM, basicN, basicK;
};
struct MatmulQuantParams {
    bool isPerTensor;
    bool hasAntiQuantOffset;
};
struct MatmulBatchParams {
    bool isNBatch;
    BatchMode batchMode;
    bool isBiasBatch = true;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};
struct MatmulFuncParams {
    bool intrinsicsCheck = false;
    bool enVecND2NZ = false;
    bool enableDoubleCache = false;
    bool enableL1CacheUB = false;
    uint32_t doMTE2Preload = 0;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableReuse = true;
    bool enableUBReuse = false;
    bool isPartialOutput = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false;
    DecompressionMode decompMode = DecompressionMode::DECOMP_NONE;
};
struct MatmulBiasParams {
    bool enableSetBias = true;
};

namespace twin_detail {
constexpr void apply(MatmulConfig &config, const MatmulShapeParams &p) {
    config.singleCoreM = p.singleCoreM;
    config.singleCoreN = p.singleCoreN;
    config.singleCoreK = p.singleCoreK;
    config.basicM = p.basicM;
    config.basicN = p.basicN;
    config.basicK = p.basicK;
    config.baseMN = p.basicM * p.basicN;
    config.singleCoreMN = p.singleCoreM * p.singleCoreN;
}
constexpr void apply(MatmulConfig &config, const MatmulQuantParams &p) {
    config.isPerTensor = p.isPerTensor;
    config.hasAntiQuantOffset = p.hasAntiQuantOffset;
}
constexpr void apply(MatmulConfig &config, const MatmulBatchParams &p) {
    config.isNBatch = p.isNBatch;
    config.batchMode = p.batchMode;
    config.isBiasBatch = p.isBiasBatch;
    config.bmmOutMode = p.bmmOutMode;
}
constexpr void apply(MatmulConfig &config, const MatmulFuncParams &p) {
    config.intrinsicsCheck = p.intrinsicsCheck;
    config.enVecND2NZ = p.enVecND2NZ;
    config.enableDoubleCache = p.enableDoubleCache;
    config.enableL1CacheUB = p.enableL1CacheUB;
    config.doMTE2Preload = p.doMTE2Preload;
    config.iterateOrder = p.iterateOrder;
    config.scheduleType = p.scheduleType;
    config.enableReuse = p.enableReuse;
    config.enableUBReuse = p.enableUBReuse;
    config.isPartialOutput = p.isPartialOutput;
    config.isA2B2Shared = p.isA2B2Shared;
    config.isEnableChannelSplit = p.isEnableChannelSplit;
    config.enableKdimReorderLoad = p.enableKdimReorderLoad;
    config.enableL1BankConflictOptimise = p.enableL1BankConflictOptimise;
    config.enableRelu = p.enableRelu;
}
constexpr void apply(MatmulConfig &config, const MatmulBiasParams &p) {
    config.enableSetBias = p.enableSetBias;
}
}  // namespace twin_detail

template <MatmulConfigMode mode, typename... Params>
constexpr MatmulConfig GetMMConfig(Params &&...params) {
    MatmulConfig config = mode == MatmulConfigMode::CONFIG_NORM         ? CFG_NORM
                          : mode == MatmulConfigMode::CONFIG_MDL        ? CFG_MDL
                          : mode == MatmulConfigMode::CONFIG_SPECIALMDL ? GetSpecialMDLConfig()
                                                                        : CFG_IBSHARE_NORM;
    (twin_detail::apply(config, params), ...);
    return config;
}

template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false, LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false,
          TPosition SRCPOS = TPosition::GM>
struct MatmulType {
    static constexpr TPosition pos = POSITION;
    static constexpr CubeFormat format = FORMAT;
    static constexpr bool isTrans = ISTRANS;
    static constexpr LayoutMode layout = LAYOUT;
    static constexpr bool ibShare = IBSHARE;
    static constexpr TPosition srcPos = SRCPOS;
    using T = TYPE;
};
template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false, LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false>
using MatmulTypeWithScale = MatmulType<POSITION, FORMAT, TYPE, ISTRANS, LAYOUT, IBSHARE>;

// B with two of four elements along K; SetSparseIndex says which.
template <TPosition POSITION, TPosition INDEX_POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false, LayoutMode LAYOUT = LayoutMode::NONE,
          bool IBSHARE = false>
struct SparseMatmulType : MatmulType<POSITION, FORMAT, TYPE, ISTRANS, LAYOUT, IBSHARE> {
    static constexpr TPosition indexPosition = INDEX_POSITION;
};

// The type of results in L0C.
template <typename SrcT>
struct GetMmDstType {
    using Type = std::conditional_t<std::is_integral_v<SrcT> || std::is_same_v<SrcT, int4b_t>, int32_t, float>;
};

struct MatrixOffset {
    int32_t offset;
    int32_t row, col;
    int32_t height, width;
};
struct DataCopyOutParams {
    uint16_t cBurstNum;
    uint16_t burstLen;
    uint16_t srcStride;
    uint32_t dstStride;
    uint16_t oriNSize;
    bool enUnitFlag;
    uint64_t quantScalar;
    uint64_t cbufWorkspaceAddr;
};

template <void (*CopyOut)(const __gm__ void *gm, const LocalTensor<int8_t> &co1Local, const void *dataCopyOutParams, const uint64_t tilingPtr,
                          const uint64_t dataPtr) = nullptr,
          void (*CopyA1)(const LocalTensor<int8_t> &aMatrix, const __gm__ void *gm, int row, int col, int useM, int useK, const uint64_t tilingPtr,
                         const uint64_t dataPtr) = nullptr,
          void (*CopyB1)(const LocalTensor<int8_t> &bMatrix, const __gm__ void *gm, int row, int col, int useK, int useN, const uint64_t tilingPtr,
                         const uint64_t dataPtr) = nullptr>
struct MatmulCallBackFunc {
    static constexpr auto DataCopyOut = CopyOut;
    static constexpr auto CopyA = CopyA1;
    static constexpr auto CopyB = CopyB1;
};

// Policies: only what they compute matters here.
enum class PolicyType { MATMUL_DEFAULT, MATMUL_NBUFFER_33, MATMUL_UPPER_TRIANGULAR, MATMUL_LOWER_TRIANGULAR };
namespace Impl {
constexpr int32_t QUEUE_DEPTH = 1;
constexpr int32_t L1_SIZE = TOTAL_L1_SIZE;
namespace Detail {
template <const auto &MM_CFG, typename... Types>
struct MatmulPolicy {
    static constexpr PolicyType POLICY_TYPE = PolicyType::MATMUL_DEFAULT;
};
template <const auto &MM_CFG, typename... Types>
struct NBuffer33MatmulPolicy : MatmulPolicy<MM_CFG, Types...> {
    static constexpr PolicyType POLICY_TYPE = PolicyType::MATMUL_NBUFFER_33;
};
template <const auto &MM_CFG, typename... Types>
struct TrianUpperMatmulPolicy : MatmulPolicy<MM_CFG, Types...> {
    static constexpr PolicyType POLICY_TYPE = PolicyType::MATMUL_UPPER_TRIANGULAR;
};
template <const auto &MM_CFG, typename... Types>
struct TrianLowerMatmulPolicy : MatmulPolicy<MM_CFG, Types...> {
    static constexpr PolicyType POLICY_TYPE = PolicyType::MATMUL_LOWER_TRIANGULAR;
};
}  // namespace Detail
}  // namespace Impl

}  // namespace AscendC

// Its old names.
namespace matmul = AscendC;
