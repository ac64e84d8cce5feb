"""The catalogue of what the CPU twin can find in a kernel; `ascendops explain ID` prints a page.

An error is surely wrong on the device: wrong data, a trap or a hang. A warning is suspicious, or right only by luck. A note is right,
and still worth knowing.
"""

from __future__ import annotations

from ascendops.twin.finding_kind import FindingKind, error, note, warning
from ascendops.twin.findings_cores import CORE_FINDINGS
from ascendops.twin.findings_cube import CUBE_FINDINGS
from ascendops.twin.findings_sync import SYNC_FINDINGS
from ascendops.twin.findings_vector import VECTOR_FINDINGS

__all__ = ["CUBE_FINDINGS", "FINDINGS", "VECTOR_FINDINGS", "FindingKind"]

_MEMORY = (
    error(
        "UB-BOUNDS",
        "An instruction leaves its buffer in a local memory",
        """The bytes that the instruction touches reach past the buffer that InitBuffer made for the tensor, or past the memory itself. On
the device it overwrites or reads a neighbouring buffer, and so does the twin; it skips an instruction that leaves the memory.
Cause: a count, mask, repeat or stride greater than the tile; a buffer made for the tile's element count instead of its bytes
(InitBuffer takes bytes: tile * sizeof(T)); or the last tile computed with the full tile's length.
Fix: size the buffer for the largest tile, rounded up to 32 bytes, and pass the number of valid elements.""",
    ),
    error(
        "UB-CAPACITY",
        "The buffers do not fit into the unified buffer",
        """The sum of all InitBuffer calls (number of buffers x bytes, each rounded up to 32 bytes) is more than the unified buffer of this
SoC, and an instruction touches bytes beyond it: an exception on the device. The finding stands at the InitBuffer and names that
instruction. (Buffers beyond the memory that are never touched are the warning CAPACITY-UNUSED.)
Cause: a tile size that does not count every queue twice for double buffering, or one computed for another SoC.
Fix: take the size from PlatformAscendC::GetCoreMemSize(CoreMemType::UB) in op_host and divide it by the bytes per element over all
buffers.""",
    ),
    error(
        "L1-CAPACITY",
        "The buffers do not fit into L1, L0A, L0B, L0C or another local memory",
        """As UB-CAPACITY, for the memories of the cube unit. The message names the memory and its size.""",
    ),
    warning(
        "CAPACITY-UNUSED",
        "Buffers reach beyond a local memory, or into what an API keeps of it, and nothing was touched there",
        """The sum of all InitBuffer calls is more than the memory of this SoC, or than what an API like Select leaves of it. InitBuffer only counts up addresses, on the device as on the
twin, so this run was right: the bytes beyond the memory belong to a buffer that this dtype or this shape does not use, or not to its end.
Another shape may go there, which is UB-CAPACITY, L1-CAPACITY or UB-RESERVED.
Fix: count all buffers when op_host computes the tile, and make those that only some dtypes need only for these.""",
    ),
    error(
        "UB-RESERVED",
        "An API needs unified buffer that the kernel has taken",
        """Some APIs (Select with a scalar or a tensor as second source) use the last 8 KB of the unified buffer for themselves. InitBuffer has
given those bytes to buffers of the kernel, an instruction of the kernel uses them, and the API overwrites them. (Where none does, it is
the warning CAPACITY-UNUSED.)
Fix: subtract 8192 from the size of the unified buffer when op_host computes the tile.""",
    ),
    error(
        "UB-ALIGN",
        "An operand does not start at a multiple of 32 bytes",
        """Operands of vector and copy instructions in the unified buffer and in L1 must start at a multiple of 32 bytes. On the device this is
an address error (or the low bits are dropped).
Cause: an offset such as local[i * n] where n * sizeof(T) is no multiple of 32.
Fix: pad each row to 32 bytes: rows of ceil(n * sizeof(T) / 32) * 32 bytes.""",
    ),
    error(
        "UNINIT-READ",
        "An instruction reads local memory that nobody has written",
        """None of the bytes of a source operand were written since the kernel started (or, for a reduction, some of them were not). On the
device they hold what the last kernel left there.
Work on the padding of a tile is none: it counts once something else than lane by lane work takes in the results.
Cause: a missing DataCopy or Duplicate; an accumulator that is not set to zero before the first round; the wrong buffer; a tail behind
the valid elements that a reduction takes in.
Fix: write the buffer first, or reduce only the valid elements.""",
    ),
    warning(
        "UNINIT-CARRIED",
        "A reduction takes in results of bytes that nobody has written",
        """Some elements of its source were computed from bytes that hold nothing: the lanes behind the valid elements of a row, on which
Exp, Sub or Cast have worked as on the others. A sum or a maximum of them is not that of the row.
Cause: a count or a mask that is rounded up to whole blocks or repeats; a tail that DataCopyPad does not fill.
Fix: reduce only the valid elements, or fill the tail with Duplicate first. Where the result of those lanes is not used, it is harmless.""",
    ),
    note(
        "UNINIT-PART",
        "An instruction reads some bytes that nobody has written",
        """Usually the padding behind the valid elements of a row: harmless as long as no result that leaves the kernel depends on it.""",
    ),
    error(
        "GM-UNINIT",
        "A read of global memory that holds nothing yet",
        """The workspace holds arbitrary bytes when a kernel starts, and so does an output; no instruction of this launch has written the bytes
that are read here (or added to, in an atomic mode).
Fix: write them first (InitGlobalMemory, or Duplicate and DataCopy, with SyncAll before another block reads them); for atomic sums into
an output, declare InitValue(0) for it in op_host.""",
    ),
    error(
        "GM-POINTER",
        "A pointer of the kernel leaves its global-memory buffer",
        """The kernel dereferenced a pointer (`*(__gm__ T *)p`, p[i]) before the start or behind the end of a buffer. The twin keeps unreadable
pages around every buffer; the access ended the block. The message names the argument and how far outside the access was.""",
    ),
    error(
        "TENSOR-POSITION",
        "An operand lies in a memory that the unit does not reach",
        """Vector instructions work on the unified buffer only: on tensors of VECIN, VECOUT and VECCALC. A tensor of A1, B1, TSCM, A2 or B2 lies
in L1 or L0.""",
    ),
    error(
        "UB-TENSOR",
        "A LocalTensor without memory",
        """The tensor was declared but never came from AllocTensor, DeQue or TBuf::Get, or the queue it came from has no InitBuffer.""",
    ),
    warning(
        "TENSOR-SIZE",
        "An instruction touches more than the tensor it was given",
        """The bytes lie inside the buffer, but behind the end of the tensor as the kernel sees it (TBuf::Get(length), GetWithOffset,
SetSize). It works when the rest of the buffer is free for it.""",
    ),
    warning(
        "TBUF-SIZE",
        "TBuf::Get of more bytes than the TBuf has",
        """Get(n) counts elements, GetWithOffset(n, offset) counts elements and then bytes; InitBuffer counts bytes. The documents forbid it;
published kernels do it and use only the part that exists. An instruction that leaves the buffer is UB-BOUNDS.""",
    ),
    error(
        "GM-BOUNDS",
        "An access outside the global-memory buffers of the kernel",
        """The address belongs to none of the tensors, the workspace or the tiling data. On the device it reads another tensor's memory, or
destroys it. The twin moves only the bytes inside. (Rounding up to 32 bytes at the end of a tensor is GM-PADDING.)
Cause: a tail copied with the full tile's length; the wrong block offset; a workspace smaller than the kernel uses (GetUserWorkspace
skips the system's part at the front, so op_host must ask for GetLibApiWorkSpaceSize() plus its own bytes).
Fix: copy the last tile with DataCopyPad and its exact number of bytes.""",
    ),
    error(
        "SHAPE-OUTPUT",
        "The kernel wrote no usable shape of an output that is declared with OutputShapeDependOnCompute",
        """Such a kernel has one more pointer, between the outputs and the workspace: nine 64-bit words for each of these outputs in order of
declaration. The first is the rank (0 to 8, bit 31 set for 64-bit sizes), the others are the sizes; together they may not
be more than the output has room for. The twin returns the output with its full shape instead.
Fix: write rank and sizes on the block that knows them, on every path of the kernel.""",
    ),
    warning(
        "GM-PADDING",
        "An access to the padding behind a tensor",
        """The access starts inside a tensor and ends behind it, but inside the memory that an allocator of the device hands out for it: up to
the next multiple of 32 bytes for a write, of 512 bytes (or 31 bytes more) for a read. It does no harm to a tensor of its own
allocation; it reads or destroys the neighbour of a view into a larger one. In the twin such a read gives undefined bytes and such a
write ends at the tensor.
Fix: copy the last tile with DataCopyPad and its exact number of bytes.""",
    ),
    warning(
        "GM-TENSOR-SIZE",
        "An access beyond the size that SetGlobalBuffer was given",
        """The address still lies in a buffer of the launch, so data of another block or row may be read or overwritten. The hardware does not
check that size; the twin says it because it is often a wrong tail.""",
    ),
    error(
        "GM-ALIGN",
        "A global-memory address that is no multiple of the element size",
        """DataCopy needs a global address aligned to its element. It comes from a pointer cast or from byte arithmetic.""",
    ),
)

_COPY = (
    error(
        "COPY-TRUNCATED",
        "DataCopy of a length that is no multiple of 32 bytes",
        """DataCopy moves whole blocks of 32 bytes. The length is rounded down, so the last elements are silently not copied.
Fix: use DataCopyPad, which copies any number of bytes (not on Ascend 310P: there, round up and keep room behind the data).""",
    ),
    error(
        "COPY-RANGE",
        "A copy parameter outside its range",
        """blockCount may be 0 to 4095; blockLen of DataCopyPad 0 to 2097151 bytes; slices need 1 to 8 dimensions and equal burst lengths.
Larger values lose their upper bits on the device. Split the copy into several.""",
    ),
    error(
        "COPY-LENGTH",
        "DataCopyPad with a block length that is no whole number of elements",
        """blockLen of DataCopyPad counts bytes. A value that is no multiple of sizeof(T) is usually a count of elements: multiply it.""",
    ),
    error(
        "UNSUPPORTED-API",
        "An API that this SoC does not have",
        """The call compiles and does nothing on the device. DataCopyPad exists on Ascend 910B, 910_93, 310B and 950; on 310P and 910, copy whole
blocks of 32 bytes with DataCopy: round the last copy in up, and for the last copy out start earlier, or add with SetAtomicAdd over
zeros.""",
    ),
    error(
        "PAD-RANGE",
        "Padding that DataCopyPad cannot do",
        """leftPadding and rightPadding count elements and may each cover at most 32 bytes; a 64-bit type can only be padded with 0.""",
    ),
)

_QUEUE = (
    error(
        "QUEUE-STATE",
        "A tensor is used in the wrong state of its queue",
        """The order for each tensor is AllocTensor, write, EnQue, DeQue, read, FreeTensor. The message says what came instead: a DeQue without
EnQue, an EnQue twice, a tensor of another queue, a use after FreeTensor, or an AllocTensor that never returns because no buffer was
freed. On the device these are hangs or races.""",
    ),
    warning(
        "QUEUE-USE",
        "A tensor is used between EnQue and DeQue, or read after FreeTensor",
        """EnQue and DeQue order the pipe that filled the tensor with the one that reads it. An instruction in between is ordered with neither.
After FreeTensor the vector unit still finds the old elements in a tensor that only it fills (VECOUT), until the next AllocTensor; any
other use of a freed tensor is QUEUE-STATE.""",
    ),
    warning(
        "QUEUE-LEAK",
        "A tensor is not freed when the kernel ends",
        """A tensor that was allocated, or is still in the queue, at the end: its event stays set. With one more round of the loop the kernel
would hang in AllocTensor.""",
    ),
    error(
        "QUEUE-INIT",
        "A queue or TBuf without InitBuffer",
        """pipe.InitBuffer(queue, number, bytes) must come before the first AllocTensor, Get, EnQue or DeQue, and again after TPipe::Reset.""",
    ),
    error(
        "BUFFER-COUNT",
        "More than 64 buffers",
        """A pipe can manage at most 64 buffers; double buffering counts each queue twice.""",
    ),
    warning(
        "BUFFER-LENGTH",
        "InitBuffer with no buffers or no bytes",
        """The number of buffers and the number of bytes should be more than 0: such a buffer must not be used. A length of 0 often comes from tiling data that op_host did not
fill in.""",
    ),
    error(
        "EVENT-IDS",
        "No event id is left",
        """Each direction between two pipes has 8 event ids. A queue holds one per buffer from EnQue to DeQue and from FreeTensor to the next
AllocTensor: more than 4 double-buffered queues of one direction need more than 8. AllocEventID without ReleaseEventID uses them up
too.""",
    ),
)

_LAUNCH = (
    error(
        "TILING-SIZE",
        "The tiling data is smaller than the struct that the kernel reads",
        """op_host wrote fewer bytes than GET_TILING_DATA copies; the rest is undefined on the device (the twin gives zeros). Cause: two
different struct definitions in op_host and op_kernel, or a SetDataSize that is too small.""",
    ),
    warning(
        "TILING-DIFFERS",
        "The tiling data is larger than the struct that the kernel reads",
        """The two sides may not mean the same struct. It is right when op_host writes a struct whose first part the kernel reads.""",
    ),
    error(
        "TILING-KEY",
        "The kernel has no branch for the tiling key",
        """op_host set a key that no TILING_KEY_IS of the kernel names. The device builds one binary per named key, so the launch fails there.""",
    ),
    error(
        "DUMP-RANGE",
        "DumpTensor of more elements than the tensor has",
        """The dump was left out.""",
    ),
    warning(
        "SCALAR-DIVISION",
        "The scalar unit divides an integer by zero",
        """`a / 0` or `a % 0` of integers in the kernel's own code, or the smallest integer divided by -1, mostly with a value of the tiling data that
the tiling function left 0. C++ does not define the result, and the documents name none. Public kernels do it in blocks that then have nothing to
do, and run on devices, so it does not end the block there; the AI core has an error bit for it (CCU_DIV0 of the runtime's error table). The twin
goes on as an Arm core does: `a / 0` is 0, `a % 0` is a, the smallest integer divided by -1 is itself with remainder 0. On an Arm host nothing is
found. Guard the division where its result is used.""",
    ),
    error(
        "CRASH",
        "The kernel crashed",
        """A signal ended the block: an invalid pointer, a failed assert. For a pointer into UB or GM the message says where it lies
relative to the memory. On the device this is an exception of the AI core (507015 and the like).""",
    ),
    error(
        "HANG",
        "The kernel did not end in time",
        """A block was still running, or still waiting, when timeout_s was over. The finding shows where it was. On the device the task would
time out.""",
    ),
)

FINDINGS: dict[str, FindingKind] = {
    kind.id: kind
    for kind in (*_MEMORY, *_COPY, *_QUEUE, *SYNC_FINDINGS, *CORE_FINDINGS, *_LAUNCH, *VECTOR_FINDINGS, *CUBE_FINDINGS)
}
