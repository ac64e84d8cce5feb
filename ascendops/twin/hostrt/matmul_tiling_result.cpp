// A tiling in the structures that op_host hands to a kernel, and the buffers that it needs.
#include "tiling/matmul_tiling.h"

namespace matmul_tiling {

int64_t MatmulApiTilingBase::GetTiling(TCubeTiling &tiling) {
    const int64_t status = Compute();
    if (status == 0) tiling = result_;
    return status;
}

int64_t MatmulApiTilingBase::GetTiling(optiling::TCubeTiling &tiling) {
    const int64_t status = Compute();
    if (status != 0) return status;
    const TCubeTiling &t = result_;
#define ASCENDOPS_COPY(FIELD) tiling.set_##FIELD(t.FIELD)
    ASCENDOPS_COPY(usedCoreNum);
    ASCENDOPS_COPY(M);
    ASCENDOPS_COPY(N);
    ASCENDOPS_COPY(Ka);
    ASCENDOPS_COPY(Kb);
    ASCENDOPS_COPY(singleCoreM);
    ASCENDOPS_COPY(singleCoreN);
    ASCENDOPS_COPY(singleCoreK);
    ASCENDOPS_COPY(baseM);
    ASCENDOPS_COPY(baseN);
    ASCENDOPS_COPY(baseK);
    ASCENDOPS_COPY(depthA1);
    ASCENDOPS_COPY(depthB1);
    ASCENDOPS_COPY(stepM);
    ASCENDOPS_COPY(stepN);
    ASCENDOPS_COPY(isBias);
    ASCENDOPS_COPY(transLength);
    ASCENDOPS_COPY(iterateOrder);
    ASCENDOPS_COPY(shareMode);
    ASCENDOPS_COPY(shareL1Size);
    ASCENDOPS_COPY(shareL0CSize);
    ASCENDOPS_COPY(shareUbSize);
    ASCENDOPS_COPY(batchM);
    ASCENDOPS_COPY(batchN);
    ASCENDOPS_COPY(singleBatchM);
    ASCENDOPS_COPY(singleBatchN);
    ASCENDOPS_COPY(stepKa);
    ASCENDOPS_COPY(stepKb);
    ASCENDOPS_COPY(depthAL1CacheUB);
    ASCENDOPS_COPY(depthBL1CacheUB);
    ASCENDOPS_COPY(dbL0A);
    ASCENDOPS_COPY(dbL0B);
    ASCENDOPS_COPY(dbL0C);
    ASCENDOPS_COPY(ALayoutInfoB);
    ASCENDOPS_COPY(ALayoutInfoS);
    ASCENDOPS_COPY(ALayoutInfoN);
    ASCENDOPS_COPY(ALayoutInfoG);
    ASCENDOPS_COPY(ALayoutInfoD);
    ASCENDOPS_COPY(BLayoutInfoB);
    ASCENDOPS_COPY(BLayoutInfoS);
    ASCENDOPS_COPY(BLayoutInfoN);
    ASCENDOPS_COPY(BLayoutInfoG);
    ASCENDOPS_COPY(BLayoutInfoD);
    ASCENDOPS_COPY(CLayoutInfoB);
    ASCENDOPS_COPY(CLayoutInfoS1);
    ASCENDOPS_COPY(CLayoutInfoN);
    ASCENDOPS_COPY(CLayoutInfoG);
    ASCENDOPS_COPY(CLayoutInfoS2);
    ASCENDOPS_COPY(BatchNum);
#undef ASCENDOPS_COPY
    return 0;
}

int32_t MatmulGetTmpBufSizeV2(TCubeTiling &tiling, SysTilingTempBufSize &size) {
    size.ubSize = tiling.shareUbSize;
    size.l1Size = tiling.shareL1Size;
    size.l0cSize = tiling.shareL0CSize;
    return 0;
}
int32_t MatmulGetTmpBufSize(optiling::TCubeTiling &tiling, SysTilingTempBufSize &size) {
    size.ubSize = tiling.get_shareUbSize();
    size.l1Size = tiling.get_shareL1Size();
    size.l0cSize = tiling.get_shareL0CSize();
    return 0;
}
int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling &tiling, SysTilingTempBufSize &size) {
    return MatmulGetTmpBufSize(tiling, size);
}
int32_t MultiCoreMatmulGetTmpBufSizeV2(TCubeTiling &tiling, SysTilingTempBufSize &size) {
    return MatmulGetTmpBufSizeV2(tiling, size);
}
int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling &tiling, SysTilingTempBufSize &size) {
    return MatmulGetTmpBufSize(tiling, size);
}
int32_t BatchMatmulGetTmpBufSizeV2(TCubeTiling &tiling, SysTilingTempBufSize &size) {
    return MatmulGetTmpBufSizeV2(tiling, size);
}

}  // namespace matmul_tiling
