// Words of the Ascend C language that mean nothing on a host.
#pragma once

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#ifndef __CCE_AICORE__
#if __NPU_ARCH__ == 2002
#define __CCE_AICORE__ 200
#else
#define __CCE_AICORE__ 220
#endif
#endif
#if __NPU_ARCH__ == 2201 && !defined(__DAV_C220_VEC__) && !defined(__DAV_C220_CUBE__)
#define __DAV_C220_VEC__
#endif

#define __ASCENDC_TWIN__ 1

#define __aicore__
#define __global__
#define __host_aicore__
#define __tiling_data_ptr__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __cube__
#define __vector__
#define __mix__(...)
#define __sync_alias__
#define __sync_noalias__
#define __inout_pipe__(...)
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __kfc_workspace__
#define __check_sync_alias__
#define __BLOCK_LOCAL__
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif

#define GM_ADDR __gm__ uint8_t *

#define ASSERT(...)
#define ASSERT_MSG(...)
#define ASCENDC_ASSERT(...)
#define KERNEL_LOG(...)
#define ASCENDC_DEBUG_ASSERT(...)

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#endif
#ifndef unlikely
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif
