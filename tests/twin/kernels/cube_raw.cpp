// The cube unit's registers set by the names below the API, and the whole of its smallest memories.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

__aicore__ inline void Then() { PipeBarrier<PIPE_ALL>(); }

constexpr uint32_t M = 16, N = 32, K = 16;
static_assert(CeilDiv(uint64_t{33}, 16) == 3 && CeilAlign(uint32_t{33}, uint32_t{16}) == 48, "the helpers of the Matmul header");

// In a function of a template, although nothing depends on it.
template <typename Arch>
struct LoadA {
    __aicore__ inline void operator()(LocalTensor<half> const &a2, LocalTensor<half> const &a1) {
        const uint8_t pads[4] = {0, 0, 0, 0};
        Load3DSetFMatrixCal(1, M, pads);
        static constexpr IsResetLoad3dConfig keep = {false, false};
        AscendC::LoadData<half, keep>(a2, a1, LoadData3DParamsV2<half>(pads, 0, 0, K, K, M, 0, 0, 1, 1, 1, 1, 1, 1, false, false, 0));
    }
};
static_assert(SizeOfBits<int4b_t>::value == 4 && SizeOfBits<half>::value == 16, "bits of an element");

// From a[16, 16] b[32, 16]^T: y[2, 16, 16] its halves as matrices of their own, scaled[16, 32] times one factor, and quantised[16, 32] times one
// factor a column, and in `blocks` as fractals of 16 x 32, by way of L1.
extern "C" __global__ __cube__ void registers(GM_ADDR a, GM_ADDR b, GM_ADDR parameters, GM_ADDR y, GM_ADDR scaled, GM_ADDR quantised, GM_ADDR blocks, float scale) {
    GlobalTensor<half> gmA, gmB;
    GlobalTensor<uint64_t> gmParameters;
    GlobalTensor<float> gmY;
    GlobalTensor<int8_t> gmScaled, gmQuantised, gmBlocks;
    gmA.SetGlobalBuffer((__gm__ half *)a, M * K);
    gmB.SetGlobalBuffer((__gm__ half *)b, N * K);
    gmParameters.SetGlobalBuffer((__gm__ uint64_t *)parameters, N);
    gmY.SetGlobalBuffer((__gm__ float *)y, M * N);
    gmScaled.SetGlobalBuffer((__gm__ int8_t *)scaled, M * N);
    gmQuantised.SetGlobalBuffer((__gm__ int8_t *)quantised, M * N);
    InitDump(false, 1024);
    gmBlocks.SetGlobalBuffer((__gm__ int8_t *)blocks, M * N);
    TPipe pipe;
    TBuf<TPosition::C2PIPE2GM> buffer;
    pipe.InitBuffer(buffer, 7 * 1024);
    LocalTensor<uint64_t> table = buffer.Get<uint64_t>();
    LocalTensor<half> a1(TPosition::A1, 0, M * K), b1(TPosition::B1, 16384, N * K), a2(TPosition::A2, 0, M * K), b2(TPosition::B2, 0, N * K);
    LocalTensor<uint64_t> table1(TPosition::C1, 32768, N);
    LocalTensor<int8_t> y1(TPosition::C1, 65536, M * N);
    LocalTensor<float> c1(TPosition::CO1, 0, M * N);
    DataCopy(a1, gmA, Nd2NzParams(1, M, K, 0, K, M, 1, 0));
    DataCopy(b1, gmB, Nd2NzParams(1, N, K, 0, K, N, 1, 0));
    DataCopy(table1, gmParameters, N);
    Then();
    LoadA<int>()(a2, a1);
    LoadData(b2, b1, LoadData2DParams(0, N / 16, 1, 0, 0, false, 0));
    DataCopy(table, table1, DataCopyParams(1, N * sizeof(uint64_t) / 128, 0, 0));
    Then();
    MmadParams mad;
    mad.m = M;
    mad.n = N;
    mad.k = K;
    Mmad(c1, a2, b2, mad);
    Then();
    SetNdParaImpl(2 | uint64_t{1} << 16 | uint64_t{M * 16} << 32);
    DataCopy(gmY, c1, DataCopyCO12DstParams(16, M, 16, M, QuantMode_t::NoQuant, 0, false, true));
    Then();
    SetNdParaImpl(1);
    SetQuantPreImpl(__builtin_bit_cast(uint32_t, scale) | uint64_t{1} << 46);
    DataCopy(gmScaled, c1, DataCopyCO12DstParams(N, M, N, M, QuantMode_t::QF322B8_PRE, 0, false, true));
    SetFixPipeConfigImpl(table);
    DataCopy(gmQuantised, c1, DataCopyCO12DstParams(N, M, N, M, QuantMode_t::VQF322B8_PRE, 0, false, true));
    Then();
    FixpipeParams<float> older(N / 16, M * 16 * sizeof(float) / 32, 0, 0, QuantParams<float>(QuantMode_t::VQF322B8_PRE), false, Nz2NdParams());
    Fixpipe(y1, c1, table1, older);
    Then();
    DataCopy(gmBlocks, y1, M * N);
}
