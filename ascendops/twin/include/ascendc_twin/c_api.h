// The C interface of Ascend C: what is neither arithmetic nor a conversion. Names and parameters: the pages below C-API of the public
// asc-devkit documents, for Atlas A2. A function ending in _sync waits for all pipes.
#pragma once

#include "ascendc_twin/cce_copy.h"
#include "ascendc_twin/sys.h"
#include "ascendc_twin/vec_intrinsics.h"

TWIN_API void asc_init() { AscendC::InitSocState(); }
TWIN_API int64_t asc_get_block_idx() { return get_block_idx(); }
TWIN_API int64_t asc_get_block_num() { return get_block_num(); }
TWIN_API int64_t asc_get_sub_block_id() { return get_subblockid(); }
TWIN_API int64_t asc_get_sub_block_num() { return get_subblockdim(); }
TWIN_API int64_t asc_get_system_cycle() { return AscendC::GetSystemCycle(); }

TWIN_API void asc_sync_pipe(pipe_t pipe) { pipe_barrier(pipe); }
TWIN_API void asc_sync() { pipe_barrier(PIPE_ALL); }
TWIN_API void asc_sync_vec() { pipe_barrier(PIPE_V); }
TWIN_API void asc_sync_mte2(int) { pipe_barrier(PIPE_MTE2); }
TWIN_API void asc_sync_mte3(int) { pipe_barrier(PIPE_MTE3); }
TWIN_API void asc_sync_notify(pipe_t pipe, pipe_t tpipe, int32_t id) { set_flag(pipe, tpipe, id); }
TWIN_API void asc_sync_wait(pipe_t pipe, pipe_t tpipe, int32_t id) { wait_flag(pipe, tpipe, id); }
TWIN_API void asc_sync_data_barrier(mem_dsb_t kind) { dsb(kind); }

TWIN_API void asc_set_mask_count() { AscendC::SetMaskCount(); }
TWIN_API void asc_set_mask_norm() { AscendC::SetMaskNorm(); }
TWIN_API void asc_set_vector_mask(uint64_t mask1, uint64_t mask0) { set_vector_mask(mask1, mask0); }

TWIN_API void asc_dcci_single(__gm__ void *dst) { ascendc_twin::cache_flush(dst, false); }
TWIN_API void asc_dcci_entire_all() { ascendc_twin::cache_flush(nullptr, true); }
TWIN_API void asc_dcci_entire_out() { ascendc_twin::cache_flush(nullptr, true); }

TWIN_API void asc_set_atomic_none() { ascendc_twin::set_atomic(0, ascendc_twin::core().atomic_dt); }
#define TWIN_C_ATOMIC(SUFFIX, T)                                                                            \
    TWIN_API void asc_set_atomic_add_##SUFFIX() { ascendc_twin::set_atomic(1, ascendc_twin::dt_of<T>); }    \
    TWIN_API void asc_set_atomic_max_##SUFFIX() { ascendc_twin::set_atomic(2, ascendc_twin::dt_of<T>); }    \
    TWIN_API void asc_set_atomic_min_##SUFFIX() { ascendc_twin::set_atomic(3, ascendc_twin::dt_of<T>); }
TWIN_C_ATOMIC(float, float)
TWIN_C_ATOMIC(float16, half)
TWIN_C_ATOMIC(bfloat, bfloat16_t)
TWIN_C_ATOMIC(int, int32_t)
TWIN_C_ATOMIC(int16, int16_t)
TWIN_C_ATOMIC(int8, int8_t)
#undef TWIN_C_ATOMIC

// Bursts and gaps in 32-byte blocks; with one size: that many bytes, in whole blocks.
#define TWIN_C_COPY(NAME, DST, SRC, PIPE, TO, FROM)                                                                                 \
    TWIN_API void NAME(DST void *dst, SRC void *src, uint16_t n_burst, uint16_t len_burst, uint16_t src_gap, uint16_t dst_gap) {    \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::PIPE);                                                                 \
        ascendc_twin::copy_blocks(inst, ascendc_twin::TO(ascendc_twin::as_bytes(dst)), ascendc_twin::FROM(ascendc_twin::as_bytes(src)), \
                                  n_burst, len_burst, src_gap, dst_gap);                                                            \
    }                                                                                                                               \
    TWIN_API void NAME(DST void *dst, SRC void *src, uint32_t size) {                                                               \
        ascendc_twin::Inst inst(#NAME, ascendc_twin::PipeId::PIPE);                                                                 \
        ascendc_twin::copy_blocks(inst, ascendc_twin::TO(ascendc_twin::as_bytes(dst)), ascendc_twin::FROM(ascendc_twin::as_bytes(src)), \
                                  1, size / AscendC::ONE_BLK_SIZE, 0, 0);                                                           \
    }                                                                                                                               \
    TWIN_API void NAME##_sync(DST void *dst, SRC void *src, uint32_t size) {                                                        \
        NAME(dst, src, size);                                                                                                       \
        asc_sync();                                                                                                                 \
    }
TWIN_C_COPY(asc_copy_gm2ub, __ubuf__, __gm__, MTE2, raw_local, raw_global)
TWIN_C_COPY(asc_copy_ub2gm, __gm__, __ubuf__, MTE3, raw_global, raw_local)
TWIN_C_COPY(asc_copy_ub2ub, __ubuf__, __ubuf__, V, raw_local, raw_local)
#undef TWIN_C_COPY

// Bursts in bytes; gaps in bytes on the side of global memory, in blocks on that of UB.
template <typename T>
TWIN_API void asc_copy_gm2ub_align(__ubuf__ T *dst, __gm__ T *src, uint16_t n_burst, uint32_t len_burst, uint8_t left_padding_num,
                                   uint8_t right_padding_num, uint32_t src_gap, uint32_t dst_gap) {
    ascendc_twin::raw_pad_in(dst, src, n_burst, len_burst, left_padding_num, right_padding_num, src_gap, dst_gap, sizeof(T));
}
template <typename T>
TWIN_API void asc_copy_ub2gm_align(__gm__ T *dst, __ubuf__ T *src, uint16_t n_burst, uint32_t len_burst, uint8_t, uint8_t, uint32_t src_gap,
                                   uint32_t dst_gap) {
    ascendc_twin::raw_pad_out(dst, src, n_burst, len_burst, src_gap, dst_gap, sizeof(T));
}
#define TWIN_C_ALIGNED(NAME)                                                \
    template <typename T>                                                   \
    TWIN_API void NAME(T *dst, T *src, uint32_t size) {                     \
        NAME(dst, src, 1, size, 0, 0, 0, 0);                                \
    }                                                                       \
    template <typename T>                                                   \
    TWIN_API void NAME##_sync(T *dst, T *src, uint32_t size) {              \
        NAME(dst, src, size);                                               \
        asc_sync();                                                         \
    }
TWIN_C_ALIGNED(asc_copy_gm2ub_align)
TWIN_C_ALIGNED(asc_copy_ub2gm_align)
#undef TWIN_C_ALIGNED
