// The C interface of the runtime library: for the launchers (Python, and the compiled CPU kernels of torchlib/src) and for the runtime.
#pragma once

#include <cstdint>

extern "C" {

enum TwinBufferFlag : uint32_t {
    TWIN_BUFFER_UNDEFINED = 1,  // holds nothing when the kernel starts: workspace, outputs
    TWIN_BUFFER_GUARDED = 2,    // unreadable pages lie before and behind it (the runtime sets it)
    TWIN_BUFFER_BLANK = 4,      // the workspace: not copied between guards, and at a multiple of 512 there
    TWIN_BUFFER_PADDED = 8,     // tiling data: its struct may end in padding that op_host did not write
};

// One global-memory buffer: kernels may touch only these ranges.
struct TwinBuffer {
    uint64_t address;
    uint64_t bytes;
    const char *name;
    uint64_t flags;    // TwinBufferFlag
    uint64_t *holder;  // where the kernel finds the address: the value of a parameter, or a slot of a tensor list; null: it stays where it is
};

struct TwinLaunch {
    void (*entry)(void **args);  // twin_entry_<kernel>
    void (*entry_aic)(void **args);  // the same as cube cores run it
    void **args;                 // one pointer to the value of each kernel parameter
    uint32_t block_dim;
    uint8_t aic, aiv;            // cube cores (0 or 1) and vector cores (0 to 2) per block
    uint32_t cores;              // physical cores that run blocks at the same time (barriers beyond them hang on the device)
    const uint8_t *tiling;
    uint64_t tiling_bytes;
    uint64_t tiling_key;
    uint8_t *workspace;
    uint64_t workspace_bytes;
    const TwinBuffer *buffers;
    uint32_t buffer_count;
    uint32_t npu_arch;
    uint64_t ub_bytes, l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, bt_bytes, fb_bytes;
    uint64_t reserved_workspace;  // bytes of the workspace that belong to the system
    uint8_t checks;
    uint8_t auto_sync;
    uint8_t trace;
    uint32_t threads;             // blocks that run at once, 0: one per core that this process may use
    double timeout_s;
};

// Runs a launch and waits for it. 0: it ended normally, without a finding. With checks on, buffers that have a holder are copied between
// unreadable pages for the time of the launch.
int twin_launch(const TwinLaunch *launch);
// The report of the last launch that this thread made, as JSON; it lives until the thread's next one.
const char *twin_report();
int twin_abi();
}
