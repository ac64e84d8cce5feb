// Tiling structures of the high-level API that operators nest in their own.
#pragma once

#include "../../kernel_tiling/api_tilings.h"
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(Mc2InitTiling)
TILING_DATA_FIELD_DEF_ARR(uint8_t, 64, reserved);
END_TILING_DATA_DEF;
BEGIN_TILING_DATA_DEF(Mc2CcTiling)
TILING_DATA_FIELD_DEF_ARR(uint8_t, 512, reserved);
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(TCubeTiling)
TILING_DATA_FIELD_DEF(int32_t, usedCoreNum);
TILING_DATA_FIELD_DEF(int32_t, M);
TILING_DATA_FIELD_DEF(int32_t, N);
TILING_DATA_FIELD_DEF(int32_t, Ka);
TILING_DATA_FIELD_DEF(int32_t, Kb);
TILING_DATA_FIELD_DEF(int32_t, singleCoreM);
TILING_DATA_FIELD_DEF(int32_t, singleCoreN);
TILING_DATA_FIELD_DEF(int32_t, singleCoreK);
TILING_DATA_FIELD_DEF(int32_t, baseM);
TILING_DATA_FIELD_DEF(int32_t, baseN);
TILING_DATA_FIELD_DEF(int32_t, baseK);
TILING_DATA_FIELD_DEF(int32_t, depthA1);
TILING_DATA_FIELD_DEF(int32_t, depthB1);
TILING_DATA_FIELD_DEF(int32_t, stepM);
TILING_DATA_FIELD_DEF(int32_t, stepN);
TILING_DATA_FIELD_DEF(int32_t, isBias);
TILING_DATA_FIELD_DEF(int32_t, transLength);
TILING_DATA_FIELD_DEF(int32_t, iterateOrder);
TILING_DATA_FIELD_DEF(int32_t, shareMode);
TILING_DATA_FIELD_DEF(int32_t, shareL1Size);
TILING_DATA_FIELD_DEF(int32_t, shareL0CSize);
TILING_DATA_FIELD_DEF(int32_t, shareUbSize);
TILING_DATA_FIELD_DEF(int32_t, batchM);
TILING_DATA_FIELD_DEF(int32_t, batchN);
TILING_DATA_FIELD_DEF(int32_t, singleBatchM);
TILING_DATA_FIELD_DEF(int32_t, singleBatchN);
TILING_DATA_FIELD_DEF(int32_t, stepKa);
TILING_DATA_FIELD_DEF(int32_t, stepKb);
TILING_DATA_FIELD_DEF(int32_t, depthAL1CacheUB);
TILING_DATA_FIELD_DEF(int32_t, depthBL1CacheUB);
TILING_DATA_FIELD_DEF(int32_t, dbL0A);
TILING_DATA_FIELD_DEF(int32_t, dbL0B);
TILING_DATA_FIELD_DEF(int32_t, dbL0C);
TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoB);
TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoS);
TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoN);
TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoG);
TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoD);
TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoB);
TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoS);
TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoN);
TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoG);
TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoD);
TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoB);
TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoS1);
TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoN);
TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoG);
TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoS2);
TILING_DATA_FIELD_DEF(int32_t, BatchNum);
TILING_DATA_FIELD_DEF(int32_t, mxTypePara);
END_TILING_DATA_DEF;

#define ASCENDOPS_API_TILING(NAME) BEGIN_TILING_DATA_DEF(NAME) ASCENDC_TWIN_FIELDS_##NAME(TILING_DATA_FIELD_DEF) END_TILING_DATA_DEF
ASCENDC_TWIN_API_TILINGS(ASCENDOPS_API_TILING)
#undef ASCENDOPS_API_TILING
}  // namespace optiling

namespace ascendops {
// From the plain struct that a tiling function fills to what it was given.
#define ASCENDOPS_SET_FIELD(TYPE, NAME) out.set_##NAME(in.NAME);
#define ASCENDOPS_GIVE(NAME)                                                                        \
    inline void Give(const AscendC::tiling::NAME &in, AscendC::tiling::NAME &out) { out = in; }     \
    inline void Give(const AscendC::tiling::NAME &in, optiling::NAME &out) { ASCENDC_TWIN_FIELDS_##NAME(ASCENDOPS_SET_FIELD) }
ASCENDC_TWIN_API_TILINGS(ASCENDOPS_GIVE)
#define ASCENDOPS_GET_FIELD(TYPE, NAME) out.NAME = in.get_##NAME();
inline void Take(const AscendC::tiling::SoftMaxTiling &in, AscendC::tiling::SoftMaxTiling &out) { out = in; }
inline void Take(const optiling::SoftMaxTiling &in, AscendC::tiling::SoftMaxTiling &out) {
    ASCENDC_TWIN_FIELDS_SoftMaxTiling(ASCENDOPS_GET_FIELD)
}
#undef ASCENDOPS_GET_FIELD
#undef ASCENDOPS_GIVE
#undef ASCENDOPS_SET_FIELD
}  // namespace ascendops
