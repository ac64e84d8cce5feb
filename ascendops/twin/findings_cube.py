"""Findings about the cube unit and about flags between cores."""

from __future__ import annotations

from ascendops.twin.finding_kind import error, warning

CUBE_FINDINGS = (
    error(
        "CUBE-POSITION",
        "A cube instruction with an operand in the wrong memory",
        """Mmad reads L0A (TPosition A2) and L0B (B2) and writes L0C (CO1); LoadData goes from L1 (A1, B1) or global memory to L0A or L0B; Fixpipe
reads L0C. On the device the call does not assemble, or computes with other bytes.
Fix: give the queue or TBuf of the operand the position that the message names.""",
    ),
    error(
        "CUBE-RANGE",
        "A parameter of a cube instruction outside its range",
        """m, n and k of Mmad may be 0 to 4095; ifTranspose of LoadData is for 16-bit elements that come from L1; an image goes to L0B, or transposed to
L0A, with 16-bit and 32-bit elements only; nSize of Fixpipe may be up to 4095. Larger values lose their upper bits on the device.""",
    ),
    error(
        "CUBE-QUANT",
        "A Fixpipe quantisation that does not fit its tensors",
        """quantPre decides what leaves L0C: NoQuant keeps float and int32_t, F322F16 and F322BF16 round float, DEQF16 and REQ8 take int32_t, QF322B8_PRE
takes float. The modes with V in front read one 64-bit parameter per column: pass that tensor (in L1) to Fixpipe, or set it with
SetFixPipeConfig.""",
    ),
    error(
        "CUBE-UNINIT",
        "The matrix unit works on fractals that nobody wrote",
        """Mmad reads fractals of L0A or L0B that no LoadData filled (or that LoadData filled from bytes of L1 that no copy wrote), adds to fractals of
L0C or starts from biases that nobody wrote, or Fixpipe stores fractals that no Mmad computed. The message names the first of them and, where
there is one, the load that brought the empty bytes.
Rows of A and columns of B that are empty along all of K, and biases behind the last, count as padding: only storing their results to a tensor
of the caller is a fault.
Cause: a repeat count, srcStride or dstGap of LoadData that does not reach every fractal; k of Mmad larger than what was loaded; cmatrixInitVal
false in the first step; mSize or nSize of Fixpipe larger than m or n of Mmad.""",
    ),
    error(
        "CORE-MEMORY",
        "An instruction uses a memory that its core does not have",
        """Vector cores have the unified buffer; cube cores have L1, L0A, L0B, L0C, the bias table and the Fixpipe buffer. In a kernel for both kinds of core
the compiler leaves an instruction out of the code of the other core; in a kernel for one kind it does nothing.
Fix: declare the cores that the kernel needs: KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2), or __mix__(1, 2) before the entry.""",
    ),
    error(
        "CROSS-MODE",
        "A flag between cores that do not run",
        """CrossCoreSetFlag<0> is between all cores of one kind, <1> between the vector cores of one AI core, <2> between a cube core and its vector cores. The
cores must run in this kernel: mode 2 needs KERNEL_TYPE_MIX_AIC_1_1 or KERNEL_TYPE_MIX_AIC_1_2.""",
    ),
    error(
        "CROSS-FLAG",
        "A flag id or a flag counter that the hardware does not have",
        """Each core has 16 flags between cores, each with a counter from 0 to 15. A larger id is cut to its low 4 bits, and a 16th set without a wait is an
error of the device. Wait for a flag before it is set too often.""",
    ),
    warning(
        "CROSS-LEFT",
        "A flag between cores is still set when the kernel ends",
        """CrossCoreSetFlag and CrossCoreWaitFlag must be paired: a flag that nobody waited for lets the next kernel run ahead. A wrong flag id on one side
also looks like this, together with a DEADLOCK on the other.""",
    ),
    error(
        "MATMUL-TILING",
        "A Matmul object with a tiling that the core cannot hold",
        """The base blocks of the TCubeTiling must fit: baseM x baseK into L0A and baseK x baseN into L0B (twice for double buffers), baseM x baseN into L0C, and
depthA1 and depthB1 blocks into L1. The message names the memory.
Fix: take the tiling from MatmulApiTiling::GetTiling, which keeps these limits, and check its return value.""",
    ),
    error(
        "MATMUL-USE",
        "A Matmul object is used in the wrong order",
        """SetTensorA and SetTensorB come before Iterate or IterateAll; GetTensorC follows an Iterate that returned true. REGIST_MATMUL_OBJ (or Init) with a
tiling comes before all of them.""",
    ),
    error(
        "MATMUL-TRANSPOSE",
        "A matrix is transposed otherwise than its MatmulType says",
        """isTransposeA of SetTensorA (and isTransposeB) may be true only where ISTRANS of the MatmulType is true. There it may also be false, but only for
half and bfloat16_t: for other types the layout in L1 depends on ISTRANS. On the device the result is wrong.
Fix: give MatmulType the value that SetTensorA is called with, and SetAType of the tiling, too; two ways need two objects, or two tiling keys.""",
    ),
    error(
        "HCCL-USE",
        "A communication task that is used wrongly, or that needs other ranks",
        """Tasks are prepared after Init or InitV2 with the context of GetHcclContext; each prepared repeat is committed once and waited for. The twin runs a
kernel as the only rank: collectives copy the send buffer to the receive buffer, and windows in the memory of other ranks do not exist.""",
    ),
)
