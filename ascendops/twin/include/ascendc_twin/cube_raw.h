// Registers of the cube unit by the names of the layer below the API, which public kernels call here and there.
#pragma once

#include "ascendc_twin/cube_fixpipe.h"
#include "ascendc_twin/cube_load.h"

TWIN_API void set_fmatrix(uint64_t config) {
    const uint8_t pads[4] = {static_cast<uint8_t>(config >> 32), static_cast<uint8_t>(config >> 40), static_cast<uint8_t>(config >> 48),
                             static_cast<uint8_t>(config >> 56)};
    ascendc_twin::set_fmatrix(static_cast<uint16_t>(config >> 16), static_cast<uint16_t>(config), pads, false);
}
TWIN_API void set_nd_para(uint64_t config) {
    AscendC::SetFixpipeNz2ndFlag(config & 0xffff, config >> 16 & 0xffff, config >> 32 & 0xffff);
}
TWIN_API void set_quant_pre(uint64_t config) {
    AscendC::SetFixpipePreQuantFlag(config);
}

namespace AscendC {

TWIN_API void Load3DSetFMatrixCal(uint16_t l1H, uint16_t l1W, const uint8_t padList[4]) {
    ascendc_twin::set_fmatrix(l1H, l1W, padList, false);
}
TWIN_API void SetNdParaImpl(uint64_t config) {
    set_nd_para(config);
}
TWIN_API void SetQuantPreImpl(uint64_t config) {
    set_quant_pre(config);
}
template <typename T>
TWIN_API void SetFixPipeConfigImpl(const LocalTensor<T> &reluPre, const LocalTensor<T> &quantPre, bool isUnitFlag = false) {
    SetFixPipeConfig(reluPre, quantPre, isUnitFlag);
}
template <typename T, bool setRelu = false>
TWIN_API void SetFixPipeConfigImpl(const LocalTensor<T> &pre, bool isUnitFlag = false) {
    SetFixPipeConfig<T, setRelu>(pre, isUnitFlag);
}

}  // namespace AscendC
