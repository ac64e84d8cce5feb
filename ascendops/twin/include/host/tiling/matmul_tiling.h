// matmul_tiling: how op_host cuts a matrix product for the Matmul object. The numbers come from the twin's own algorithm under the documented
// constraints (ascendc_twin/matmul/split.h): they are valid for the SoC, not equal to those of CANN.
#pragma once

#include <cstdint>

#include "../../kernel_tiling/kernel_tiling.h"
#include "tiling/api_structs.h"
#include "tiling/platform/platform_ascendc.h"

namespace matmul_tiling {
using half = double;  // as in the toolkit's header on a host
enum class DataType : int32_t {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_STRING = 13,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_BFLOAT16 = 33,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E4M3FN = 35,
    DT_FLOAT8_E5M2 = 36,
    DT_FLOAT4_E2M1 = 37,
    DT_FLOAT8_E8M0 = 38,
    DT_FLOAT4_E1M2 = 39,
    DT_MAX = 40
};
enum class TPosition : int32_t { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM, SHM = SPM, TSCM, MAX };
enum class CubeFormat : int32_t { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };
enum class TilingPolicy : int32_t { FIXED_A_TSCM, FIXED_B_TSCM, FIXED_A_B_TSCM, NO_POLICY };

struct SysTilingTempBufSize {
    int32_t ubSize = 0;
    int32_t l1Size = 0;
    int32_t l0cSize = 0;
};
struct PlatformInfo {
    platform_ascendc::SocVersion socVersion;
    uint64_t l1Size = 0;
    uint64_t l0CSize = 0;
    uint64_t ubSize = 0;
    uint64_t l0ASize = 0;
    uint64_t l0BSize = 0;
};
struct MatmulConfigParams {
    int32_t mmConfigType;
    bool enableL1CacheUB;
    ScheduleType scheduleType;
    MatrixTraverse traverse;
    bool enVecND2NZ;
    MatmulConfigParams(int32_t type = 1, bool cacheUB = false, ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                       MatrixTraverse order = MatrixTraverse::NOSET, bool vecND2NZ = false)
        : mmConfigType(type), enableL1CacheUB(cacheUB), scheduleType(schedule), traverse(order), enVecND2NZ(vecND2NZ) {}
};

class MatmulApiTilingBase {
public:
    MatmulApiTilingBase();
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC &platform);
    explicit MatmulApiTilingBase(const PlatformInfo &platform);
    virtual ~MatmulApiTilingBase() = default;

    int32_t SetAType(TPosition pos, CubeFormat format, DataType type, bool transposed = false);
    int32_t SetBType(TPosition pos, CubeFormat format, DataType type, bool transposed = false);
    int32_t SetCType(TPosition pos, CubeFormat format, DataType type);
    int32_t SetBiasType(TPosition pos, CubeFormat format, DataType type);
    int32_t SetDequantType(DequantType) { return 0; }
    virtual int32_t SetShape(int32_t m, int32_t n, int32_t k);
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb);
    int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
    int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
    int32_t SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
    int32_t SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k);
    int32_t SetBatchNum(int32_t batch);
    int32_t EnableBias(bool on = false);
    int32_t SetBias(bool on = false) { return EnableBias(on); }
    int32_t SetFixSplit(int32_t baseM = -1, int32_t baseN = -1, int32_t baseK = -1);
    int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t ub = -1, int32_t bt = -1);
    int32_t SetTraverse(MatrixTraverse order);
    int32_t SetMadType(MatrixMadType) { return 0; }
    int32_t SetSplitRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t minM = -1, int32_t minN = -1, int32_t minK = -1);
    int32_t SetDoubleBuffer(bool a, bool b, bool c, bool bias, bool transND2NZ = true, bool transNZ2ND = true);
    void SetMatmulConfigParams(int32_t type = 1, bool cacheUB = false, ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                               MatrixTraverse order = MatrixTraverse::NOSET, bool vecND2NZ = false);
    void SetMatmulConfigParams(const MatmulConfigParams &params);
    int32_t SetSparse(bool on = false);
    int32_t GetBaseM() const { return result_.baseM; }
    int32_t GetBaseN() const { return result_.baseN; }
    int32_t GetBaseK() const { return result_.baseK; }
    bool EnableL1BankConflictOptimise() { return false; }

    // 0, or -1 when the shapes, types or limits that were set allow no tiling.
    virtual int64_t GetTiling(optiling::TCubeTiling &tiling);
    virtual int64_t GetTiling(TCubeTiling &tiling);

protected:
    struct Operand {
        TPosition pos = TPosition::GM;
        CubeFormat format = CubeFormat::ND;
        DataType type = DataType::DT_FLOAT16;
        bool transposed = false;
    };
    virtual int64_t Compute() = 0;
    // Elements of m, n or k that are computed: SetShape's, or all of SetOrgShape's where that was -1.
    int32_t Whole(int axis) const;
    // Fills base blocks, depths and the fields that were set, for a core's part of single[] = m, n, k.
    int64_t Split(const int32_t (&single)[3], int32_t cores);

    Operand a_, b_, c_, bias_;
    bool has_bias_ = false, sparse_ = false, double_c_ = false;
    int32_t shape_[3] = {0, 0, 0}, org_[4] = {0, 0, 0, 0}, fixed_[3] = {0, 0, 0}, most_[3] = {0, 0, 0};
    int64_t l1_ = 0, l0c_ = 0, ub_ = 0, l0a_ = 0, l0b_ = 0, bt_ = 1024;
    int32_t order_ = 0, batch_ = 0;
    int32_t layout_a_[5] = {}, layout_b_[5] = {}, layout_c_[5] = {};
    TCubeTiling result_;
};

// One core.
class MatmulApiTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;

protected:
    int64_t Compute() override;
};

// The cores that SetDim allows, over M and N, and over K where EnableMultiCoreSplitK was called.
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;

    int32_t SetDim(int32_t dim);
    virtual int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1);
    virtual int32_t SetSingleRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t minM = -1, int32_t minN = -1, int32_t minK = -1);
    int32_t SetAlignSplit(int32_t m, int32_t n, int32_t k);
    int32_t GetSingleShape(int32_t &m, int32_t &n, int32_t &k);
    int32_t GetCoreNum(int32_t &dim, int32_t &mDim, int32_t &nDim);
    void EnableMultiCoreSplitK(bool on) { split_k_ = on; }
    void SetSplitK(bool on) { split_k_ = on; }

protected:
    int64_t Compute() override;

    int32_t dim_ = 1, single_[3] = {0, 0, 0}, align_[3] = {0, 0, 0}, most_single_[3] = {0, 0, 0}, dims_[3] = {1, 1, 1};
    bool split_k_ = false;
};

class BatchMatmulTiling : public MultiCoreMatmulTiling {
public:
    using MultiCoreMatmulTiling::MultiCoreMatmulTiling;

    int32_t SetBatch(int32_t batchM = 1, int32_t batchN = 1);
    int32_t SetSingleBatch(int32_t m = -1, int32_t n = -1);
    int32_t GetCoreNum(int32_t &dim, int32_t &mDim, int32_t &nDim, int32_t &batchCoreM, int32_t &batchCoreN);

private:
    int32_t batches_[2] = {1, 1}, single_batches_[2] = {-1, -1};
};

int32_t MatmulGetTmpBufSize(optiling::TCubeTiling &tiling, SysTilingTempBufSize &size);
int32_t MatmulGetTmpBufSizeV2(TCubeTiling &tiling, SysTilingTempBufSize &size);
int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling &tiling, SysTilingTempBufSize &size);
int32_t MultiCoreMatmulGetTmpBufSizeV2(TCubeTiling &tiling, SysTilingTempBufSize &size);
int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling &tiling, SysTilingTempBufSize &size);
int32_t BatchMatmulGetTmpBufSizeV2(TCubeTiling &tiling, SysTilingTempBufSize &size);

}  // namespace matmul_tiling
