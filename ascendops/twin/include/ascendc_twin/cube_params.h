// Parameter structs of the cube instructions; field names, order and constructors are those that kernels use.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ascendc_twin/enums.h"

enum QuantMode_t {
    NoQuant = 0,
    F322F16,
    F322BF16,
    DEQF16,
    VDEQF16,
    QF322B8_PRE,
    VQF322B8_PRE,
    REQ8,
    VREQ8,
};

namespace AscendC {

struct LoadData2DParams {
    constexpr LoadData2DParams() {}
    constexpr LoadData2DParams(const uint16_t start, const uint8_t repeats, const uint16_t srcStrideIn, const uint8_t sidIn,
                               const uint16_t dstGapIn, const bool transpose, const uint8_t mode)
        : startIndex(start), dstGap(dstGapIn), srcStride(srcStrideIn), ifTranspose(transpose), repeatTimes(repeats), sid(sidIn),
          addrMode(mode) {}

    uint16_t startIndex = 0;
    uint16_t dstGap = 0;
    uint16_t srcStride = 0;
    bool ifTranspose = false;
    uint8_t repeatTimes = 0;
    uint8_t sid = 0;
    uint8_t addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

struct LoadData2dTransposeParams {
    constexpr LoadData2dTransposeParams() {}
    constexpr LoadData2dTransposeParams(const uint16_t start, const uint8_t repeats, const uint16_t srcStrideIn, const uint16_t dstGapIn,
                                        const uint16_t dstFracGapIn, const uint8_t mode = 0)
        : startIndex(start), repeatTimes(repeats), srcStride(srcStrideIn), dstGap(dstGapIn), dstFracGap(dstFracGapIn), addrMode(mode) {}

    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint8_t addrMode = 0;
};

template <typename T>
struct LoadData3DParamsV2 {
    LoadData3DParamsV2() {}
    LoadData3DParamsV2(const uint8_t pads[PAD_SIZE], const uint16_t h, const uint16_t w, const uint16_t channels, const uint16_t kExt,
                       const uint16_t mExt, const uint16_t kStart, const uint16_t mStart, const uint8_t sW, const uint8_t sH,
                       const uint8_t fW, const uint8_t fH, const uint8_t dW, const uint8_t dH, const bool transpose,
                       const bool smallK, const T pad, const bool sizeW = false, const bool sizeH = false, const bool fromRight = false)
        : l1H(h), l1W(w), channelSize(channels), kExtension(kExt), mExtension(mExt), kStartPt(kStart), mStartPt(mStart), strideW(sW),
          strideH(sH), filterW(fW), filterH(fH), dilationFilterW(dW), dilationFilterH(dH), enTranspose(transpose), enSmallK(smallK),
          padValue(pad), filterSizeW(sizeW), filterSizeH(sizeH), fMatrixCtrl(fromRight) {
        for (int i = 0; i < PAD_SIZE; ++i) padList[i] = pads[i];
    }

    uint8_t padList[PAD_SIZE] = {0};
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0;
    uint16_t mExtension = 0;
    uint16_t kStartPt = 0;
    uint16_t mStartPt = 0;
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    T padValue = 0;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
};

// One fractal a repeat: 16 output points from (leftTopW, leftTopH) on, for one point of the filter and one block of channels.
template <typename T>
struct LoadData3DParamsV1 {
    LoadData3DParamsV1() {}
    LoadData3DParamsV1(const uint8_t pads[PAD_SIZE], const uint16_t h, const uint16_t w, const uint16_t c1, const uint8_t fetchW,
                       const uint8_t fetchH, const int16_t left, const int16_t top, const uint8_t sW, const uint8_t sH, const uint8_t fW,
                       const uint8_t fH, const uint8_t dW, const uint8_t dH, const uint8_t jump, const uint8_t mode, const uint8_t times,
                       const uint8_t small, const T pad)
        : strideW(sW), strideH(sH), filterW(fW), filterH(fH), dilationFilterW(dW), dilationFilterH(dH), jumpStride(jump), repeatMode(mode),
          repeatTime(times), cSize(small), padValue(pad), fetchFilterW(fetchW), fetchFilterH(fetchH), l1H(h), l1W(w), c1Index(c1),
          leftTopW(left), leftTopH(top) {
        for (int i = 0; i < PAD_SIZE; ++i) padList[i] = pads[i];
    }

    uint8_t padList[PAD_SIZE] = {0};
    uint8_t strideW = 0;
    uint8_t strideH = 0;
    uint8_t filterW = 0;
    uint8_t filterH = 0;
    uint8_t dilationFilterW = 0;
    uint8_t dilationFilterH = 0;
    uint8_t jumpStride = 0;
    uint8_t repeatMode = 0;
    uint8_t repeatTime = 0;
    uint8_t cSize = 0;
    T padValue = 0;
    uint8_t fetchFilterW = 0;
    uint8_t fetchFilterH = 0;
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t c1Index = 0;
    int16_t leftTopW = 0;
    int16_t leftTopH = 0;
};

struct LoadData3DParamsV2Pro {
    LoadData3DParamsV2Pro() {}
    LoadData3DParamsV2Pro(const uint16_t channels, const bool transpose, const bool smallK, const bool sizeW, const bool sizeH,
                          const bool fromRight, const uint64_t ext, const uint64_t filter)
        : channelSize(channels), enTranspose(transpose), enSmallK(smallK), filterSizeW(sizeW), filterSizeH(sizeH),
          fMatrixCtrl(fromRight), extConfig(ext), filterConfig(filter) {}

    uint16_t channelSize = 0;
    bool enTranspose = false;
    bool enSmallK = false;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
    uint64_t extConfig = 0;              // mStart, kStart, mExtension, kExtension, 16 bits each from the top
    uint64_t filterConfig = 0x10101010101;  // dilation h, w, filter h, w, stride h, w, 8 bits each
};

struct IsResetLoad3dConfig {
    bool isSetFMatrix = true;
    bool isSetPadding = true;
};
constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};
namespace twin_detail {
template <bool FMATRIX, bool PADDING>
inline constexpr IsResetLoad3dConfig load_3d_config = {FMATRIX, PADDING};
}

struct LoadDataRepeatParam {
    constexpr LoadDataRepeatParam() {}
    constexpr LoadDataRepeatParam(const uint16_t stride, const uint8_t times, const uint8_t mode)
        : repeatStride(stride), repeatTime(times), repeatMode(mode) {}

    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1;
    uint8_t repeatMode = 0;
    uint8_t reserved = 0;
};

enum class FmatrixMode : uint8_t { FMATRIX_LEFT = 0, FMATRIX_RIGHT = 1 };
enum class HF32Mode : uint8_t { DISABLE = 0, ENABLE = 1 };
enum class HF32TransMode { NEAREST_ZERO, NEAREST_EVEN };

template <typename T>
struct InitConstValueParams {
    constexpr InitConstValueParams() {}
    constexpr InitConstValueParams(const uint16_t repeats, const uint16_t blocks, const uint16_t gap, const T value)
        : repeatTimes(repeats), blockNum(blocks), dstGap(gap), initValue(value) {}
    constexpr InitConstValueParams(const uint16_t repeats, const T value) : repeatTimes(repeats), initValue(value) {}

    uint16_t repeatTimes = 0;
    uint16_t blockNum = 0;
    uint16_t dstGap = 0;
    T initValue = 0;
};

struct MmadParams {
    constexpr MmadParams() {}
    constexpr MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const bool bias, const int32_t offset,
                         const bool sparse, const bool winogradA, const bool winogradB)
        : m(mIn), n(nIn), k(kIn), isBias(bias), fmOffset(offset), enSsparse(sparse), enWinogradA(winogradA), enWinogradB(winogradB) {}
    constexpr MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const uint8_t unit, const bool source, const bool init)
        : m(mIn), n(nIn), k(kIn), unitFlag(unit), cmatrixSource(source), cmatrixInitVal(init) {}

    uint16_t m = 0;
    uint16_t n = 0;
    uint16_t k = 0;
    bool isBias = false;
    int32_t fmOffset = 0;
    bool enSsparse = false;
    bool enWinogradA = false;
    bool enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;
    bool cmatrixInitVal = true;
};

struct Dn2NzParams {
    constexpr Dn2NzParams() {}
    constexpr Dn2NzParams(const uint16_t num, const uint16_t n, const uint32_t d, const uint64_t srcMatrix, const uint64_t srcD,
                          const uint16_t c0, const uint16_t nStride, const uint32_t dstMatrix)
        : dnNum(num), nValue(n), dValue(d), srcDnMatrixStride(srcMatrix), srcDValue(srcD), dstNzC0Stride(c0), dstNzNStride(nStride),
          dstNzMatrixStride(dstMatrix) {}

    uint16_t dnNum = 0;
    uint16_t nValue = 0;
    uint32_t dValue = 0;
    uint64_t srcDnMatrixStride = 0;
    uint64_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint32_t dstNzMatrixStride = 0;
};

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };
struct FixpipeConfig {
    CO2Layout format;
    constexpr FixpipeConfig(CO2Layout layout) : format(layout) {}
    constexpr FixpipeConfig(CO2Layout layout, bool) : format(layout) {}
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
constexpr FixpipeConfig CFG_COLUMN_MAJOR = {CO2Layout::COLUMN_MAJOR};

struct FixpipeParamsV220 {
    constexpr FixpipeParamsV220() {}
    constexpr FixpipeParamsV220(const uint16_t n, const uint16_t m, const uint16_t src, const uint32_t dst, const bool relu)
        : nSize(n), mSize(m), srcStride(src), dstStride(dst), reluEn(relu) {}
    constexpr FixpipeParamsV220(const uint16_t n, const uint16_t m, const uint16_t src, const uint32_t dst, const bool relu,
                                const QuantMode_t quant, const int64_t scalar, const uint16_t nds, const uint16_t srcNd,
                                const uint16_t dstNd, const uint8_t unit, const bool split = false)
        : nSize(n), mSize(m), srcStride(src), dstStride(dst), quantPre(quant), deqScalar(static_cast<uint64_t>(scalar)), ndNum(nds),
          srcNdStride(srcNd), dstNdStride(dstNd), reluEn(relu), unitFlag(unit), isChannelSplit(split) {}

    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};

struct Nz2NdParams {
    constexpr Nz2NdParams() {}
    constexpr Nz2NdParams(const bool on, const uint16_t nds, const uint16_t srcNd, const uint16_t dstNd, const uint16_t originalN)
        : nz2ndEn(on), ndNum(nds), srcNdStride(srcNd), dstNdStride(dstNd), originalNSize(originalN) {}

    bool nz2ndEn = false;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    uint16_t originalNSize = 0;
};
template <typename T = int32_t>
struct QuantParams {
    QuantParams() {}
    QuantParams(QuantMode_t quant) : quantPre(quant) {}
    QuantParams(QuantMode_t quant, const uint64_t scalar) : quantPre(quant), deqScalar(scalar) {}
    QuantParams(QuantMode_t quant, const float scalar) : quantPre(quant), deqScalar(__builtin_bit_cast(uint32_t, scalar)) {}

    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
};
// The older parameters of Fixpipe: bursts of 16 columns; strides in 32-byte blocks.
template <typename SrcT = int32_t>
struct FixpipeParams {
    FixpipeParams() {}
    FixpipeParams(const uint16_t count, const uint16_t len, const uint16_t src, const uint32_t dst)
        : cburstNum(count), burstLen(len), srcStride(src), dstStride(dst) {}
    FixpipeParams(const uint16_t count, const uint16_t len, const uint16_t src, const uint32_t dst, const QuantParams<SrcT> &quant,
                  const bool relu, const Nz2NdParams &nd)
        : cburstNum(count), burstLen(len), srcStride(src), dstStride(dst), quantParams(quant), reluEn(relu), nz2ndParams(nd) {}

    uint16_t cburstNum = 0;
    uint16_t burstLen = 1;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    QuantParams<SrcT> quantParams;
    bool reluEn = false;
    Nz2NdParams nz2ndParams;
    uint8_t unitFlag = 0;
};

struct DataCopyCO12DstParams {
    constexpr DataCopyCO12DstParams() {}
    constexpr DataCopyCO12DstParams(const uint16_t n, const uint16_t m, const uint32_t dst, const uint16_t src, const QuantMode_t quant,
                                    const uint8_t relu, const bool split, const bool nd)
        : nSize(n), mSize(m), dstStride(dst), srcStride(src), quantPre(quant), reluPre(relu), channelSplit(split), nz2ndEn(nd) {}

    uint8_t sid = 0;
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint32_t dstStride = 0;
    uint16_t srcStride = 0;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint8_t reluPre = 0;
    bool channelSplit = false;
    bool nz2ndEn = false;
};

}  // namespace AscendC
