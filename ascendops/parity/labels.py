"""The catalogue of labels: what class of bug a failing case looks like, with the likely cause and the fix."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Label:
    """A bug class: `name` as verdicts show it, a one-line `title`, and the `page` that `ascendops explain` prints."""

    name: str
    title: str
    page: str


_PAGES = (
    Label(
        "TAIL",
        "only the last elements of rows, or of the tensor, are wrong",
        """The main part of each row is right and its end is not.
Ascend C: the last tile's length is computed wrongly, DataCopy moves whole 32-byte blocks only (use DataCopyPad for the rest), or the
mask/repeat of the last vector instruction covers too few or too many lanes.
Triton/CUDA: the mask `offs < n` is missing in the load or in the store, or compares with the wrong n.
Fix: run the case named `tail` alone and print the tiling data; the last tile must hold n - (tiles - 1) * tile elements.""",
    ),
    Label(
        "ROW_STRIDE",
        "rows are read or written at the wrong distance",
        """What came out equals the golden of an input whose rows start elsewhere: at their contiguous place although the tensor is a view,
or at the next multiple of 32 bytes although it is packed.
Ascend C: DataCopyPad's srcStride/dstStride are in bytes on the GM side and in 32-byte blocks on the UB side; a row of 123 floats
takes 124 * 4 bytes in UB but 123 * 4 in GM. For views the wrapper must make the input contiguous, or the kernel must use strides.
Fix: compare the address of row 1 with row_bytes.""",
    ),
    Label(
        "UNWRITTEN",
        "part of the output was never written",
        """Two runs with output buffers filled with two different patterns left the pattern in place.
Ascend C: fewer blocks or loops than the tiling needs, an early return of a block, a CopyOut that covers whole tiles only.
Triton/CUDA: the grid is too small, or the store's mask is too strict; a launch that silently failed also looks like this.
Fix: multiply block_dim by the work of one block; it must reach the number of elements.""",
    ),
    Label(
        "NONDETERMINISTIC",
        "the same input gave different bits",
        """Repeated runs on one input differ.
Ascend C: a missing queue hand-over (EnQue/DeQue) or PipeBarrier between pipes, two blocks writing one 32-byte line, SetAtomicAdd on
floats, or a workspace that is read before it is written.
Triton/CUDA: atomics on floats, a missing __syncthreads, uninitialised shared memory.
Fix: on the twin, run with checks on; races are reported with both source lines.""",
    ),
    Label(
        "BIAS",
        "errors lean to one side",
        """Each element is within its bound, or is the other neighbour of the exact value, yet the mean error is not near zero.
Usual causes: a cast that truncates (CAST_TRUNC or CAST_NONE where CAST_RINT is meant), n - 1 instead of n in a variance, another
epsilon, a reciprocal approximation, an approximated formula (tanh GELU against erf GELU).
Fix: look at the rounding mode of the last Cast first.""",
    ),
    Label(
        "TIE",
        "only values half-way between two results, or at a jump, are wrong",
        """All failing elements sit where the function jumps. With DISCONTINUITY: an inner error decides on which side; see there. Without: they are
rounding ties, and the rounding rule differs (half to even against half away from zero).
Ascend C: CAST_RINT rounds half to even, CAST_ROUND half away from zero. C's round() and CUDA's rintf differ in the same way.""",
    ),
    Label(
        "DISCONTINUITY",
        "the function jumps here, and a tiny inner error decides on which side",
        """The golden has a step (floor, round, a comparison, argmax) at these elements, and an error of one float32 ulp before the step
explains the other result. The step shows it as a whole unit; nothing else is wrong.
Usual cause: cos, exp or a division that is one ulp off right before Floor, Cast with rounding, Compare or ArgMax.
Fix: make the inner function exact at such points (cos of a tiny angle is below 1), or compare before the step.""",
    ),
    Label(
        "CANCELLATION",
        "elements where large terms cancel are wrong",
        """The failing elements are those whose golden is small against its terms, and the error exceeds what float32 rounding explains.
Usual causes: accumulation in float16, E[x^2] - E[x]^2 for a variance, exp without subtracting the row's maximum.
Fix: accumulate in float32, subtract the mean or the maximum first.""",
    ),
    Label(
        "SPECIAL_VALUE",
        "nan, inf or overflow differ",
        """The class of an element (nan, +inf, -inf, finite) differs from the golden's, rounded to the output's dtype.
Usual causes: Max/Min that drop nan, 0 * inf in padded lanes, exp overflow before the maximum is subtracted, a float16 intermediate
that overflows although input and output do not, saturating casts.
Fix: `ascendops test -k special`; the message names the first element.""",
    ),
    Label(
        "STALE",
        "old data came out, or an earlier call's sizes or scalars were used",
        """The wrong elements equal what an earlier call produced, or what this call gives with an earlier call's scalars or sizes.
Usual causes: a buffer reused before it is written, a cached result or specialisation keyed by too little (a shape or a scalar is missing, or the
key is an address), a tiling that is not computed again, a queue slot that is read one turn too early.""",
    ),
    Label(
        "CORE",
        "the work of single cores is wrong",
        """Wrong elements fill whole equal blocks that repeat with a fixed period, which is how work is dealt to cores.
Usual causes: the loop over a core's tiles starts or ends wrongly, GetBlockIdx is used with another block count than the tiling's, one
core's share is computed with the wrong remainder.""",
    ),
    Label(
        "BLOCK",
        "a contiguous block of elements or rows is wrong",
        """All wrong elements lie together and the rest is right: one tile or one core's share.
Usual causes: a tile that is skipped or done twice, offsets that overflow, a first or last block with its own length.""",
    ),
    Label(
        "SHIFT",
        "the values are right but in the wrong place",
        """The output equals the golden shifted by a few elements.
Usual causes: an offset that is off by one, an offset in bytes where elements are meant, DataCopyPad's left padding left in place.""",
    ),
    Label(
        "SHAPE",
        "an output has the wrong shape or the wrong number of outputs came back",
        """Shapes are compared exactly: (4, 1) is not (4,). Check InferShape in op_host, keepdim, and the declared outputs.""",
    ),
    Label(
        "DTYPE",
        "an output has the wrong dtype",
        """The output's dtype is not the declared one; values were not compared. Check InferDataType and the dtype columns.""",
    ),
    Label("DEVICE", "an output is on another device than the inputs", "Outputs must be on the device of the inputs."),
    Label(
        "MUTATED_INPUT",
        "an input was changed",
        """The bytes of an input's storage differ after the call and the schema does not say `Tensor(a!)`.
Usual causes: CopyOut to the input's address, an in-place operation on a tensor that was not copied, a write past a buffer's end.""",
    ),
    Label(
        "ALIAS",
        "an output shares memory with an input",
        """An output overlaps an input's storage and the schema does not say so: later writes to one change the other.
Usual cause: returning a view or the input itself.""",
    ),
    Label(
        "OUT_OF_BOUNDS",
        "memory next to an output or an input was written",
        """Guard bytes before or after a buffer were overwritten.
Ascend C: DataCopy of whole 32-byte blocks at a tail that is not aligned; use DataCopyPad.""",
    ),
    Label(
        "PRECISION",
        "errors everywhere, larger than the computation explains",
        """Errors are spread over the output and exceed two ulps plus eight times the golden's response to one float32 ulp of input.
Usual causes: accumulation or intermediates in float16/bfloat16, a low-accuracy approximation (reciprocal, exp), HF32/TF32 mode.""",
    ),
    Label(
        "WRONG_VALUE",
        "values are plainly wrong",
        """Most elements differ by far more than rounding explains. Check the formula against golden.py on a small input.""",
    ),
    Label(
        "DISTRIBUTION",
        "random numbers that are not of the declared distribution",
        """The numbers of several calls fail a test: Kolmogorov-Smirnov or chi-square for the distribution (of all calls, of one call), autocorrelation for
independence; or a value lies outside of what the distribution allows. The gate's detail has each p-value and the threshold, which is the declared chance
of a false alarm divided by the number of tests.
Ascend C: every core starts the generator with the same counter, so blocks repeat; the offset of a tile is added twice; a seed of 64 bits is cut to 32.
Triton: the offsets given to tl.rand overlap between programs. CUDA: curand_init with the same sequence in every thread.""",
    ),
    Label(
        "RELATION",
        "two results of the kernel contradict each other",
        """op.toml declares under [relations] how results depend on each other (a row alone and in the batch, x and x + c, ...), and they do not.
Usual causes: a row's result depends on its neighbours or on the number of rows (a wrong reduction between cores, data of another row), a
maximum that is not subtracted, a constant that was left in.
Fix: run the two inputs that the message names alone, and compare tilings.""",
    ),
    Label(
        "GRADIENT",
        "the declared gradient is not the gradient",
        """The backward operator's golden, or the formula under [autograd], differs from what autograd says in float64 about the forward golden, or the
backward kernel is wrong on what the forward kernel returned; for a cotangent that is not uniform. One of ones hides a missing factor and every
term that sums to zero.
Fix: compare with torch.autograd.grad(golden(x), x, grad_y) on a small input.""",
    ),
    Label("EXCEPTION", "the candidate raised an error", "The call raised; the message is in the case's detail."),
    Label(
        "CRASH",
        "the candidate's process died",
        "A signal ended the process (SIGSEGV: bad address; SIGFPE: integer division by zero). Other cases keep their verdicts.",
    ),
    Label(
        "OUT_OF_MEMORY",
        "the memory did not suffice",
        """The system killed the candidate's process (SIGKILL), or an allocation failed. Other cases keep their verdicts.
Ascend C: a workspace that grows with the whole shape instead of with the tile. Fix: compute it from block_dim and the tile.
Triton/CUDA: a temporary of the size of an intermediate (scores of attention) instead of one per block.""",
    ),
    Label(
        "HANG",
        "the candidate did not end in time",
        "Usual causes: a wait for a flag that nobody sets, blocks waiting for each other.",
    ),
    Label(
        "FINDING",
        "the CPU twin found a fault in the kernel",
        "The values may be right, but the kernel does something that corrupts data or traps on the device; see the finding's own page.",
    ),
    Label(
        "TILING_KEY",
        "another tiling key ran than the case names",
        "A case names the strategy it must reach; the tiling function chose another. Change the case's shape or the tiling's condition.",
    ),
    Label(
        "UNREACHED",
        "no case reaches a declared tiling key, or none uses several cores",
        "A branch that no case reaches is untested. Add a case with `tiling_key` set, or a larger shape for several cores.",
    ),
    Label(
        "MUTANT",
        "the case accepts a wrong result",
        "A wrong candidate (zeros, shifted by one, one tile dropped) passed this case: its inputs cannot tell right from wrong.",
    ),
)

LABELS = {label.name: label for label in _PAGES}
