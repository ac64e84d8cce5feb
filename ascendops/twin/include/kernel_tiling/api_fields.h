// Fields of the tiling structures of the high-level vector API, in their order: one list for the plain structs of kernels and the
// macro structures of op_host. X(type, name).
#pragma once

#define ASCENDC_TWIN_FIELDS_SoftMaxTiling(X) \
    X(uint32_t, srcM) X(uint32_t, srcK) X(uint32_t, srcSize) X(uint32_t, outMaxM) X(uint32_t, outMaxK) \
    X(uint32_t, outMaxSize) X(uint32_t, splitM) X(uint32_t, splitK) X(uint32_t, splitSize) X(uint32_t, reduceM) \
    X(uint32_t, reduceK) X(uint32_t, reduceSize) X(uint32_t, rangeM) X(uint32_t, tailM) X(uint32_t, tailSplitSize) \
    X(uint32_t, tailReduceSize)

#define ASCENDC_TWIN_FIELDS_LogSoftMaxTiling(X) \
    X(uint32_t, srcM) X(uint32_t, srcK) X(uint32_t, srcSize) X(uint32_t, outMaxM) X(uint32_t, outMaxK) \
    X(uint32_t, outMaxSize) X(uint32_t, splitM) X(uint32_t, splitK) X(uint32_t, splitSize) X(uint32_t, reduceM) \
    X(uint32_t, reduceK) X(uint32_t, reduceSize) X(uint32_t, rangeM) X(uint32_t, tailM) X(uint32_t, tailSplitSize) \
    X(uint32_t, tailReduceSize)

#define ASCENDC_TWIN_FIELDS_LayerNormTiling(X) \
    X(uint32_t, bLength) X(uint32_t, sLength) X(uint32_t, hLength) X(uint32_t, originalHLength) \
    X(uint32_t, inputXSize) X(uint32_t, meanVarSize) X(uint32_t, numberOfTmpBuf) X(uint32_t, meanTmpTensorPos) \
    X(uint32_t, meanTmpTensorSize) X(uint32_t, varianceTmpTensorPos) X(uint32_t, varianceTmpTensorSize) \
    X(uint32_t, tmpBufSize) X(uint32_t, oneTmpSize) X(uint32_t, firstTmpStartPos) X(uint32_t, secondTmpStartPos) \
    X(uint32_t, thirdTmpStartPos) X(uint32_t, loopRound) X(uint32_t, inputRoundSize) X(uint32_t, inputTailSize) \
    X(uint32_t, inputTailPos) X(uint32_t, meanVarRoundSize) X(uint32_t, meanVarTailSize) X(uint32_t, meanVarTailPos) \
    X(uint32_t, bshCurLength) X(uint32_t, bsCurLength) X(float, lastDimValueBack)

#define ASCENDC_TWIN_FIELDS_LayerNormSeparateTiling(X) \
    X(uint32_t, aLength) X(uint32_t, rLength) X(uint32_t, halfAddRepeatTimes) X(uint32_t, rHeadLength) X(float, k2Rec) \
    X(float, k2RRec) X(uint32_t, inputXSize) X(uint32_t, meanVarSize) X(uint32_t, numberOfTmpBuf) \
    X(uint32_t, varianceTmpTensorPos) X(uint32_t, varianceTmpTensorSize) X(uint32_t, tmpBufSize) \
    X(uint32_t, oneTmpSize) X(uint32_t, firstTmpStartPos) X(uint32_t, secondTmpStartPos) X(uint32_t, thirdTmpStartPos) \
    X(uint32_t, loopRound) X(uint32_t, inputRoundSize) X(uint32_t, inputTailSize) X(uint32_t, inputTailPos) \
    X(uint32_t, meanVarRoundSize) X(uint32_t, meanVarTailSize) X(uint32_t, meanVarTailPos) X(uint32_t, arCurLength) \
    X(uint32_t, aCurLength) X(float, rValueBack)

#define ASCENDC_TWIN_FIELDS_LayerNormGradTiling(X) \
    X(uint32_t, stackBufferSize) X(uint32_t, bLength) X(uint32_t, sLength) X(uint32_t, hLength) \
    X(uint32_t, originalHLength) X(uint32_t, oneCalSize) X(uint32_t, nohCalSize) X(uint32_t, loopNum) \
    X(uint32_t, tailSize) X(uint32_t, nohTailSize) X(uint32_t, tmpTensorBSHPos) X(uint32_t, tmpTensorBSHSize) \
    X(uint32_t, pdVarTensorPos) X(uint32_t, pdVarTensorSize) X(uint32_t, pdMeanTensorPos) \
    X(uint32_t, pdMeanTensorSize) X(uint32_t, x1TensorPos) X(uint32_t, x1TensorSize) X(uint32_t, x2TensorPos) \
    X(uint32_t, x2TensorSize) X(uint32_t, x3TensorPos) X(uint32_t, x3TensorSize) X(uint32_t, tmpTensorPos) \
    X(uint32_t, tmpTensorSize) X(uint32_t, tmpTensor1Pos) X(uint32_t, tmpTensor1Size) X(uint32_t, tmpTensor2Pos) \
    X(uint32_t, tmpTensor2Size) X(uint32_t, lastDimValueBack) X(uint32_t, lastDimValueBackMulTwo)

#define ASCENDC_TWIN_FIELDS_LayerNormGradBetaTiling(X) \
    X(uint32_t, stackBufferSize) X(uint32_t, bLength) X(uint32_t, sLength) X(uint32_t, hLength) \
    X(uint32_t, originalHLength) X(uint32_t, bshLength) X(uint32_t, bsLength) X(uint32_t, oneCalSize) \
    X(uint32_t, numberOfTmpBuf) X(uint32_t, loopRound) X(uint32_t, inputTailSize) X(uint32_t, inputTailPos) \
    X(uint32_t, bsTailSize) X(uint32_t, bshCurLength) X(uint32_t, bsCurLength) X(uint32_t, gammaTempTensorPos) \
    X(uint32_t, betaTempTensorPos) X(uint32_t, inputDyTmpTensorPos) X(uint32_t, resForGammaTmpTensorPos) \
    X(uint32_t, reserved)

#define ASCENDC_TWIN_FIELDS_RmsNormTiling(X) \
    X(uint32_t, bLength) X(uint32_t, sLength) X(uint32_t, hLength) X(uint32_t, originalHLength) \
    X(float, reciprocalOfHLength) X(uint32_t, mainBshLength) X(uint32_t, mainBsLength) X(uint32_t, mainBsLengthAlign) \
    X(uint32_t, loopRound) X(uint32_t, inputTailPos) X(uint32_t, tailBshLength) X(uint32_t, tailBsLength)

#define ASCENDC_TWIN_FIELDS_GroupNormTiling(X) \
    X(uint32_t, n) X(uint32_t, c) X(uint32_t, hw) X(uint32_t, g) X(uint32_t, d) X(uint32_t, hwAlignSize) \
    X(uint32_t, dhwAlignSize) X(uint32_t, inputXSize) X(uint32_t, meanVarSize) X(uint32_t, numberOfTmpBuf) \
    X(uint32_t, meanTmpTensorPos) X(uint32_t, meanTmpTensorSize) X(uint32_t, varianceTmpTensorPos) \
    X(uint32_t, varianceTmpTensorSize) X(uint32_t, tmpBufSize) X(uint32_t, oneTmpSize) X(uint32_t, firstTmpStartPos) \
    X(uint32_t, secondTmpStartPos) X(uint32_t, thirdTmpStartPos) X(uint32_t, loopRound) X(uint32_t, inputRoundSize) \
    X(uint32_t, inputTailSize) X(uint32_t, inputTailPos) X(uint32_t, meanVarRoundSize) X(uint32_t, meanVarTailSize) \
    X(uint32_t, meanVarTailPos) X(uint32_t, bshCurLength) X(uint32_t, bsCurLength) X(float, factor) \
    X(bool, smallShape)

#define ASCENDC_TWIN_FIELDS_DeepNormTiling(X) \
    X(uint32_t, bLength) X(uint32_t, sLength) X(uint32_t, hLength) X(uint32_t, originalHLength) \
    X(uint32_t, inputXSize) X(uint32_t, meanVarSize) X(uint32_t, numberOfTmpBuf) X(uint32_t, meanTmpTensorPos) \
    X(uint32_t, meanTmpTensorSize) X(uint32_t, varianceTmpTensorPos) X(uint32_t, varianceTmpTensorSize) \
    X(uint32_t, tmpBufSize) X(uint32_t, oneTmpSize) X(uint32_t, firstTmpStartPos) X(uint32_t, secondTmpStartPos) \
    X(uint32_t, thirdTmpStartPos) X(uint32_t, loopRound) X(uint32_t, inputRoundSize) X(uint32_t, inputTailSize) \
    X(uint32_t, inputTailPos) X(uint32_t, meanVarRoundSize) X(uint32_t, meanVarTailSize) X(uint32_t, meanVarTailPos) \
    X(uint32_t, bshCurLength) X(uint32_t, bsCurLength) X(float, lastDimValueBack)

#define ASCENDC_TWIN_FIELDS_BatchNormTiling(X) \
    X(uint32_t, originalBLength) X(uint32_t, meanVarSize) X(uint32_t, meanTmpTensorPos) \
    X(uint32_t, varianceTmpTensorPos) X(uint32_t, tmpBufSize) X(uint32_t, oneTmpSize) X(uint32_t, firstTmpStartPos) \
    X(uint32_t, secondTmpStartPos) X(uint32_t, thirdTmpStartPos) X(uint32_t, loopRound) X(uint32_t, inputTailSize) \
    X(uint32_t, inputTailPos) X(uint32_t, meanVarTailSize) X(uint32_t, meanVarTailPos) X(uint32_t, bshCurLength) \
    X(uint32_t, shCurLength) X(float, firstDimValueBack) X(uint32_t, castHalfRepStride) \
    X(uint32_t, shCurLengthBlockNum) X(uint32_t, castHalfOutRepStride)

#define ASCENDC_TWIN_FIELDS_TopkTiling(X) \
    X(int32_t, tmpLocalSize) X(int32_t, allDataSize) X(int32_t, innerDataSize) X(uint32_t, sortRepeat) \
    X(int32_t, mrgSortRepeat) X(int32_t, kAlignFourBytes) X(int32_t, kAlignTwoBytes) X(int32_t, maskOffset) \
    X(int32_t, maskVreducev2FourBytes) X(int32_t, maskVreducev2TwoBytes) X(int32_t, mrgSortSrc1offset) \
    X(int32_t, mrgSortSrc2offset) X(int32_t, mrgSortSrc3offset) X(int32_t, mrgSortTwoQueueSrc1Offset) \
    X(int32_t, mrgFourQueueTailPara1) X(int32_t, mrgFourQueueTailPara2) X(int32_t, srcIndexOffset) \
    X(uint32_t, copyUbToUbBlockCount) X(int32_t, topkMrgSrc1MaskSizeOffset) X(int32_t, topkNSmallSrcIndexOffset) \
    X(uint32_t, vreduceValMask0) X(uint32_t, vreduceValMask1) X(uint32_t, vreduceIdxMask0) \
    X(uint32_t, vreduceIdxMask1) X(uint16_t, vreducehalfValMask0) X(uint16_t, vreducehalfValMask1) \
    X(uint16_t, vreducehalfValMask2) X(uint16_t, vreducehalfValMask3) X(uint16_t, vreducehalfValMask4) \
    X(uint16_t, vreducehalfValMask5) X(uint16_t, vreducehalfValMask6) X(uint16_t, vreducehalfValMask7)

#define ASCENDC_TWIN_FIELDS_UnPadTiling(X) \
    X(uint32_t, srcHeight) X(uint32_t, srcWidth) X(uint32_t, tmpBuffer1BlockNum) X(uint32_t, tmpBuffer1RowNum) \
    X(uint32_t, tmpBuffer2Offset) X(uint32_t, widthTiling) X(uint32_t, widthFractal) X(uint32_t, widthFractalTail)

#define ASCENDC_TWIN_FIELDS_PadTiling(X) \
    X(uint32_t, srcHeight) X(uint32_t, srcWidth) X(uint32_t, srcOriWidth) X(uint32_t, widthWithoutLastBlock) \
    X(uint32_t, blocksPerRow) X(uint32_t, heightTiling) X(uint32_t, heightFractal) X(uint32_t, heightFractalTail) \
    X(uint32_t, mainLoopOffset) X(uint32_t, tailBlockOffset) X(uint32_t, tmpBuffer1BlockNum) \
    X(uint32_t, tmpBuffer1RowNum) X(uint32_t, tmpBuffer2Offset) X(uint32_t, widthTiling) X(uint32_t, widthFractal) \
    X(uint32_t, widthFractalTail) X(uint32_t, widthFractalTailAlingned) X(uint32_t, brcbTiling) \
    X(uint32_t, brcbFractal) X(uint32_t, brcbFractalTail) X(uint32_t, maxRepeatTimes) \
    X(uint32_t, brcbTilingRepeatTimes) X(uint32_t, brcbTilingRepeatTimesTail) X(uint32_t, brcbFractalTailRepeatTimes) \
    X(uint32_t, brcbFractalTailRepeatTimesTail) X(uint32_t, reserved)

#define ASCENDC_TWIN_FIELDS_ConfusionTransposeTiling(X) \
    X(uint32_t, param0) X(uint32_t, param1) X(uint32_t, param2) X(uint32_t, param3) X(uint32_t, param4) \
    X(uint32_t, param5) X(uint32_t, param6) X(uint32_t, param7) X(uint32_t, param8) X(uint32_t, param9) \
    X(uint32_t, param10) X(uint32_t, param11) X(uint32_t, param12) X(uint32_t, param13) X(uint32_t, param14) \
    X(uint32_t, param15) X(uint32_t, param16) X(uint32_t, param17)

#define ASCENDC_TWIN_API_TILINGS(S) \
    S(SoftMaxTiling) S(LogSoftMaxTiling) S(LayerNormTiling) S(LayerNormSeparateTiling) S(LayerNormGradTiling) \
    S(LayerNormGradBetaTiling) S(RmsNormTiling) S(GroupNormTiling) S(DeepNormTiling) S(BatchNormTiling) \
    S(TopkTiling) S(UnPadTiling) S(PadTiling) S(ConfusionTransposeTiling)
