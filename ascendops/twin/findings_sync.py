"""What the CPU twin can find in the order of instructions: flags, barriers, pipes."""

from __future__ import annotations

from ascendops.twin.finding_kind import error, warning

SYNC_FINDINGS = (
    error(
        "FLAG-UNPAIRED",
        "A WaitFlag that no SetFlag answers",
        """The pipe waits for ever and the kernel hangs. Each WaitFlag<A_B>(id) needs one SetFlag<A_B>(id) of the same event and id, issued
where pipe A is not itself waiting for pipe B. The twin ends the block.""",
    ),
    error(
        "FLAG-DOUBLE",
        "SetFlag twice without WaitFlag between, and one WaitFlag too few",
        """A flag was set again before it was waited for, and fewer WaitFlags than SetFlags came in the end: a later WaitFlag of that id is
answered too early, or the next kernel finds the flag set. Use another event id, or wait first.""",
    ),
    warning(
        "FLAG-TWICE",
        "SetFlag twice without WaitFlag between",
        """A flag was set again before it was waited for; as many WaitFlags followed. The documents describe a flag as one bit, so that the
second SetFlag would be lost and the second WaitFlag hang; published kernels rely on its being counted (FetchEventID called twice
gives the same id). Use two ids from AllocEventID.""",
    ),
    warning(
        "FLAG-SHARED",
        "An event id is used by the kernel and by a queue at the same time",
        """TQue takes event ids from the same eight. A fixed EVENT_ID0 collides with them: take the id from
GetTPipePtr()->AllocEventID or FetchEventID of that event.""",
    ),
    warning(
        "FLAG-LEFT",
        "A flag is still set when the kernel ends",
        """A SetFlag without WaitFlag. The next kernel on this core finds the flag set and may run ahead.""",
    ),
    error(
        "FLAG-EVENT",
        "An event that does not exist",
        """Event ids are 0 to 7, and not every pair of pipes has an event.""",
    ),
    error(
        "SYNC-HAZARD",
        "Two pipes access the same bytes and nothing orders them",
        """One of the two accesses writes. Instructions of one pipe start in order, those of different pipes do not, so the device may run them
the other way round. The message names both lines and both pipes.
What orders two pipes: EnQue and DeQue, or FreeTensor and AllocTensor, of the queue that the tensor belongs to; SetFlag and WaitFlag of
the event that the message names; PipeBarrier<PIPE_ALL>. With auto_sync=True (--cce-auto-sync, the default of operator projects) also
the compiler, for the scalar unit: GetValue, SetValue and operator() with V, MTE2 and MTE3. It never orders MTE2, V and MTE3 among
themselves, and nothing on a cube core.
Source: "key features of synchronisation inside a core" in the public Ascend C API documents.""",
    ),
    error(
        "SYNC-BARRIER",
        "Dependent instructions of one pipe without PipeBarrier",
        """Instructions of one pipe start in order, but one may start before the one before it has finished: a result that the next instruction
reads or overwrites needs PipeBarrier<PIPE_V> between the two. With auto_sync=True the compiler puts it in, so the finding appears only
with auto_sync=False. It never does so for copies: two DataCopy whose destinations overlap need PipeBarrier<PIPE_MTE2> or
PipeBarrier<PIPE_MTE3> in either case (copies that write the same values again are not reported).
Source: the page of PipeBarrier in the public Ascend C API documents.""",
    ),
    error(
        "SYNC-CORES",
        "SyncAll with more blocks than cores",
        """All blocks must run at the same time to meet in SyncAll. Blocks beyond the number of cores start only when others end, so the kernel
hangs. Set block_dim to at most GetCoreNumAiv() in op_host.""",
    ),
    warning(
        "SYNC-TASK-TYPE",
        "SyncAll without workspace in a kernel of vector cores only",
        """The hardware barrier needs a kernel type with MIX: KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0). The form with a workspace of
block_dim x 32 zeroed bytes works in every kernel.""",
    ),
    error(
        "DEADLOCK",
        "Blocks wait for each other and none can go on",
        """Every block that has not ended waits in SyncAll, and too few came. Cause: a return or a loop bound that makes some blocks skip a
SyncAll (blocks without work must call it too).""",
    ),
)
