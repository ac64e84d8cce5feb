"""What the CPU twin can find where several blocks, or the data cache and the copies, share global memory."""

from __future__ import annotations

from ascendops.twin.finding_kind import error, note, warning

CORE_FINDINGS = (
    error(
        "GM-RACE",
        "Two blocks access the same global memory and nothing orders them",
        """One of the two writes. Blocks run at once and in any order, so the result depends on luck. The message names both lines, both blocks
and the bytes.
Cause: block offsets that overlap; a length of the last block that reaches into the next; partial results that one block reads before
SyncAll; a workspace slot that two blocks share; an output that one block sets to zero while others already add to it.
What orders blocks: SyncAll; IBSet and IBWait; CrossCoreSetFlag and CrossCoreWaitFlag. Atomic copies (SetAtomicAdd) of several blocks to
the same bytes need no order among themselves.""",
    ),
    warning(
        "GM-RACE-EDGE",
        "A copy takes in some bytes that another block writes",
        """Less than one block of 32 bytes at the end (or start) of a longer read belongs to data that another block writes at the same time:
usually a length rounded up to 32 bytes. It is harmless as long as those elements are not used.
Fix: copy the exact length with DataCopyPad.""",
    ),
    note(
        "GM-SAME-WRITE",
        "Two blocks write the same values to the same global memory",
        """As a last tile that is moved back to reach a full length does. The result does not depend on the order, but the bytes are computed and
written twice.""",
    ),
    error(
        "GM-LINE",
        "A scalar write shares a 64-byte cache line with another write",
        """GlobalTensor::SetValue changes a line of 64 bytes in the data cache of its core; the line goes back to global memory as a whole, at a
time that the kernel does not choose. Whatever another block (or a copy of the same block) has written into that line meanwhile is lost.
Fix: let each block write whole lines (64 bytes apart), collect the values in the unified buffer and write them with DataCopyPad, or call
DataCacheCleanAndInvalid between a SetValue and a copy of the same block.
Source: the pages of GlobalTensor::SetValue and DataCacheCleanAndInvalid in the public Ascend C API documents.""",
    ),
    error(
        "DCACHE-DIRTY",
        "A copy or another block reads what SetValue has left in the data cache",
        """GlobalTensor::SetValue writes to the data cache of its core; copies and other cores read global memory, where the value is not yet.
Fix: DataCacheCleanAndInvalid on the line after SetValue, before the copy, or before the blocks meet in SyncAll. At the end of the kernel
the cache is written back.""",
    ),
    warning(
        "DCACHE-STALE",
        "GetValue may read an old value from the data cache",
        """The line was cached by an earlier GetValue or SetValue, and a copy of the same block has changed it in global memory since.
Fix: DataCacheCleanAndInvalid before GetValue.""",
    ),
)
