// Collective communication of kernels (MC2): one rank, which sends to itself. Several ranks are not simulated.
// Numbering and names: asc-devkit, docs/zh/api, HCCL.
#pragma once

#include "ascendc_twin/hccl_context.h"
#include "ascendc_twin/sys.h"

namespace AscendC {

enum class HcclCMDType {
    HCCL_CMD_INVALID = 0,
    HCCL_CMD_BROADCAST = 1,
    HCCL_CMD_ALLREDUCE,
    HCCL_CMD_REDUCE,
    HCCL_CMD_SEND,
    HCCL_CMD_RECEIVE,
    HCCL_CMD_ALLGATHER,
    HCCL_CMD_REDUCE_SCATTER,
    HCCL_CMD_ALLTOALLV,
    HCCL_CMD_ALLTOALLVC,
    HCCL_CMD_ALLTOALL,
    HCCL_CMD_GATHER,
    HCCL_CMD_SCATTER,
    HCCL_CMD_BATCH_SEND_RECV,
    HCCL_CMD_BATCH_PUT,
    HCCL_CMD_BATCH_GET,
    HCCL_CMD_ALLGATHER_V,
    HCCL_CMD_REDUCE_SCATTER_V,
    HCCL_CMD_BATCH_WRITE,
    HCCL_CMD_HALF_ALLTOALLV = 20,
    HCCL_CMD_ALL,
};
enum HcclReduceOp { HCCL_REDUCE_SUM = 0, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN, HCCL_REDUCE_RESERVED };
enum HcclServerType { HCCL_SERVER_TYPE_AICPU = 0, HCCL_SERVER_TYPE_CCU = 5, HCCL_SERVER_TYPE_END };
enum class CoreType : uint8_t { DEFAULT, ON_AIV, ON_AIC };
enum class ScopeType : uint8_t { ALL, QUEUE, BLOCK, INVALID_TYPE };
enum HcclDataType {
    HCCL_DATA_TYPE_INT8 = 0,
    HCCL_DATA_TYPE_INT16 = 1,
    HCCL_DATA_TYPE_INT32 = 2,
    HCCL_DATA_TYPE_FP16 = 3,
    HCCL_DATA_TYPE_FP32 = 4,
    HCCL_DATA_TYPE_INT64 = 5,
    HCCL_DATA_TYPE_UINT64 = 6,
    HCCL_DATA_TYPE_UINT8 = 7,
    HCCL_DATA_TYPE_UINT16 = 8,
    HCCL_DATA_TYPE_UINT32 = 9,
    HCCL_DATA_TYPE_FP64 = 10,
    HCCL_DATA_TYPE_BFP16 = 11,
    HCCL_DATA_TYPE_INT128 = 12,
    HCCL_DATA_TYPE_RESERVED = 255,
};
using HcclHandle = int8_t;
constexpr HcclHandle INVALID_HANDLE_ID = -1;
constexpr int32_t HCCL_SUCCESS = 0, HCCL_FAILED = -1;
constexpr uint32_t HCCL_MAX_RANK_NUM = 32;
struct HcclServerConfig {
    CoreType type;
    int64_t blockId;
};
constexpr HcclServerConfig DEFAULT_CFG = {CoreType::DEFAULT, 0};

namespace twin_detail {
constexpr uint64_t hccl_bytes(HcclDataType type) {
    switch (type) {
        case HCCL_DATA_TYPE_INT8:
        case HCCL_DATA_TYPE_UINT8: return 1;
        case HCCL_DATA_TYPE_INT16:
        case HCCL_DATA_TYPE_UINT16:
        case HCCL_DATA_TYPE_FP16:
        case HCCL_DATA_TYPE_BFP16: return 2;
        case HCCL_DATA_TYPE_INT64:
        case HCCL_DATA_TYPE_UINT64:
        case HCCL_DATA_TYPE_FP64: return 8;
        case HCCL_DATA_TYPE_INT128: return 16;
        default: return 4;
    }
}
}  // namespace twin_detail

// Prepare functions return a handle; every core of the kernel prepares the same tasks in the same order. Commit executes the next repeat of
// a task, Wait waits for one.
template <HcclServerType serverType = HcclServerType::HCCL_SERVER_TYPE_AICPU, const auto &config = DEFAULT_CFG>
class Hccl {
public:
    void Init(GM_ADDR context, __gm__ void * = nullptr) { group_ = context; }
    void InitV2(GM_ADDR context, const void *) { group_ = context; }
    int32_t SetCcTiling(__gm__ void *) { return HCCL_SUCCESS; }
    int32_t SetCcTilingV2(uint64_t) { return HCCL_SUCCESS; }

    template <bool commit = false>
    TWIN_API HcclHandle AllReduce(GM_ADDR sendBuf, GM_ADDR recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp, uint8_t repeat = 1) {
        return prepare<commit>("Hccl::AllReduce", sendBuf, recvBuf, count, count, count, dataType, repeat);
    }
    template <bool commit = false>
    TWIN_API HcclHandle AllGather(GM_ADDR sendBuf, GM_ADDR recvBuf, uint64_t sendCount, HcclDataType dataType, uint64_t, uint8_t repeat = 1) {
        return prepare<commit>("Hccl::AllGather", sendBuf, recvBuf, sendCount, sendCount, sendCount, dataType, repeat);
    }
    template <bool commit = false>
    TWIN_API HcclHandle ReduceScatter(GM_ADDR sendBuf, GM_ADDR recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp, uint64_t,
                                      uint8_t repeat = 1) {
        return prepare<commit>("Hccl::ReduceScatter", sendBuf, recvBuf, recvCount, recvCount, recvCount, dataType, repeat);
    }
    template <bool commit = false>
    TWIN_API HcclHandle AlltoAll(GM_ADDR sendBuf, GM_ADDR recvBuf, uint64_t dataCount, HcclDataType dataType, uint64_t = 0, uint8_t repeat = 1) {
        return prepare<commit>("Hccl::AlltoAll", sendBuf, recvBuf, dataCount, dataCount, dataCount, dataType, repeat);
    }
    template <bool commit = false>
    TWIN_API HcclHandle AlltoAllV(GM_ADDR sendBuf, void *sendCounts, void *sdispls, HcclDataType sendType, GM_ADDR recvBuf, void *recvCounts,
                                  void *rdispls, HcclDataType recvType, uint8_t repeat = 1) {
        const auto first = [](const void *numbers) { return *static_cast<const uint64_t *>(numbers); };
        const uint64_t in = twin_detail::hccl_bytes(sendType), out = twin_detail::hccl_bytes(recvType);
        if (first(sendCounts) * in != first(recvCounts) * out) {
            ascendc_twin::finding("HCCL-USE", "Hccl::AlltoAllV: the rank sends %llu bytes to itself and expects %llu",
                                  static_cast<unsigned long long>(first(sendCounts) * in), static_cast<unsigned long long>(first(recvCounts) * out));
            return INVALID_HANDLE_ID;
        }
        return prepare<commit>("Hccl::AlltoAllV", sendBuf + first(sdispls) * in, recvBuf + first(rdispls) * out, first(sendCounts), first(sendCounts),
                               first(recvCounts) * out / in, sendType, repeat);
    }

    TWIN_API void Commit(HcclHandle handleId) {
        ascendc_twin::Inst inst("Hccl::Commit", ascendc_twin::PipeId::S);
        if (!good("Commit", handleId)) return;
        Slot &slot = slots_[handleId];
        if (slot.commits == slot.task.repeat) {
            ascendc_twin::finding("HCCL-USE", "Hccl::Commit(%d) for the %uth time: the task was prepared with repeat %u", handleId, slot.commits + 1,
                                  slot.task.repeat);
            return;
        }
        ascendc_twin::hccl_commit(inst, group_, handleId, slot.task, ++slot.commits, config.blockId);
    }
    TWIN_API int32_t Wait(HcclHandle handleId) {
        ascendc_twin::Inst inst("Hccl::Wait", ascendc_twin::PipeId::S);
        if (!good("Wait", handleId)) return HCCL_FAILED;
        ascendc_twin::hccl_wait(group_, handleId, ++slots_[handleId].waits);
        return HCCL_SUCCESS;
    }
    TWIN_API int32_t Query(HcclHandle handleId) {
        ascendc_twin::Inst inst("Hccl::Query", ascendc_twin::PipeId::S);
        return good("Query", handleId) ? static_cast<int32_t>(ascendc_twin::hccl_done(group_, handleId)) : HCCL_FAILED;
    }
    void InterHcclGroupSync(int8_t, HcclHandle) {}
    template <ScopeType type = ScopeType::ALL>
    void QueueBarrier(uint16_t) {}
    template <bool sync = true>
    void Finalize() {}
    uint32_t GetRankId() { return 0; }
    uint32_t GetRankDim() { return 1; }
    uint16_t GetQueueNum() { return 1; }
    TWIN_API GM_ADDR GetWindowsInAddr(uint32_t rankId) { return window("GetWindowsInAddr", rankId); }
    TWIN_API GM_ADDR GetWindowsOutAddr(uint32_t rankId) { return window("GetWindowsOutAddr", rankId); }

private:
    struct Slot {
        ascendc_twin::HcclTask task;
        uint32_t commits = 0, waits = 0;
    };
    template <bool commit>
    TWIN_API HcclHandle prepare(const char *api, GM_ADDR send, GM_ADDR recv, uint64_t count, uint64_t send_step, uint64_t recv_step, HcclDataType type,
                                uint8_t repeat) {
        ascendc_twin::Inst inst(api, ascendc_twin::PipeId::S);
        if (group_ == nullptr) {
            ascendc_twin::finding("HCCL-USE", "%s before Init or InitV2 with the context of GetHcclContext", api);
            return INVALID_HANDLE_ID;
        }
        if (used_ == ascendc_twin::kHcclTasks - 1 || repeat == 0) {
            ascendc_twin::finding("HCCL-USE", "%s: repeat %u, task number %d; repeat is at least 1, an object has up to 63 tasks", api, repeat, used_);
            return INVALID_HANDLE_ID;
        }
        const uint64_t bytes = twin_detail::hccl_bytes(type);
        slots_[used_] = {{send, recv, count * bytes, send_step * bytes, recv_step * bytes, repeat}};
        const HcclHandle handle = static_cast<HcclHandle>(used_++);
        if constexpr (commit) {
            for (uint32_t i = 0; i < repeat; ++i) ascendc_twin::hccl_commit(inst, group_, handle, slots_[handle].task, ++slots_[handle].commits, config.blockId);
        }
        return handle;
    }
    bool good(const char *what, HcclHandle handle) {
        if (handle >= 0 && handle < used_) return true;
        ascendc_twin::finding("HCCL-USE", "Hccl::%s(%d): no task of this object was prepared with that handle", what, handle);
        return false;
    }
    GM_ADDR window(const char *what, uint32_t rank) {
        ascendc_twin::finding("HCCL-USE", "Hccl::%s(%u): windows in the memory of other ranks are not simulated", what, rank);
        return nullptr;
    }

    const void *group_ = nullptr;
    Slot slots_[ascendc_twin::kHcclTasks];
    int used_ = 0;
};

}  // namespace AscendC
