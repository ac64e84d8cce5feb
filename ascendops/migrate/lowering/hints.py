"""From the compiler's words to a kind of failure, a line, and what to change."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """A failure, read: its kind, the first error line, the place in the source, and what to change."""

    kind: str
    message: str
    help: str
    line: int = 0
    file: str = ""
    memory: str = ""
    needed: int = 0
    available: int = 0


_OVERFLOW = re.compile(r"(ub|cc|cbuf|ca|cb|l0a|l0b|l0c|l1) overflow, requires (\d+) bits while (\d+) bits available", re.IGNORECASE)
_PLACE = re.compile(r'loc\("([^"]+)":(\d+):\d+\)\S*: error: (.+)|"([^"]+)":(\d+):\d+\)?: error: (.+)|^(/[^:\n]+\.py):(\d+):\d+: error: (.+)', re.MULTILINE)
_MEMORY = {"ub": "UB", "cc": "L0C", "cbuf": "L1", "ca": "L0A", "cb": "L0B"}

_KINDS = (
    ("fp64", r"f64|fp64|float64|double", "the vector unit has no fp64: compute in fp32, or keep this part on the CPU"),
    ("fp8", r"fp8|float8|f8E", "A2/A3 have no fp8: use fp16 or bf16; Ascend 950 has fp8"),
    ("break", r"AST node type: (Break|Continue)", "Triton for Ascend has no break or continue: use a while with a condition, or a mask"),
    ("tf32", r"tf32", "use input_precision='hf32' (or 'ieee') on Ascend instead of tf32 and allow_tf32"),
    ("descriptor", r"descriptor|'tuple' object|_experimental_|'tensor' object has no attribute '(load|store|gather|scatter)'", "tensor descriptors fail in triton-ascend 3.2: use pointers with tl.load and tl.store"),
    ("block_ptr", r"block_ptr|make_block_ptr|boundary_check", "write the addresses out: base + offsets, with a mask"),
    ("unsigned", r"uint(16|32|64)|ui(16|32|64)", "uint16, uint32 and uint64 are not available: use the signed type of that width"),
    ("constexpr_global", r"[Cc]annot access global variable", "annotate the global: NAME: tl.constexpr = value; triton-ascend 3.2 takes no other globals"),
    ("argument_types", r"must be same dtype|IncompatibleTypeError|invalid operands of type pointer|Unsupported ptr type", "types of arguments are guessed where the file does not give them, and all data has one dtype: say them with --arg NAME=TYPE, such as g=*fp32"),
    ("libdevice", r"NoneType", "a called function gives nothing: libdevice functions are stubs in triton-ascend 3.2; use triton.language.math"),
    ("dtype_call", r"'dtype' object is not callable", "tl.float32(x) as a value needs a newer Triton: use tl.full((), x, tl.float32) or x.to(tl.float32)"),
    ("missing_api", r"has no attribute|is not defined|cannot import|No module named|ImportError", "this name does not exist in triton-ascend 3.2: use an older spelling or write it out"),
    ("arguments", r"missing \d+ required|unexpected keyword|got multiple values|takes \d+ positional", "the function's arguments differ in triton-ascend 3.2"),
    ("static_assert", r"static_assert|CompileTimeAssertion", "the values tried here break the kernel's own static_assert: choose others with --constexpr"),
    ("timeout", r"^TIMEOUT", "the compiler did not finish: smaller tiles or fewer unrolled steps"),
    ("crash", r"killed by signal|Stack dump|PLEASE submit a bug report|Assertion `", "the compiler itself crashed: reduce the kernel, or report it with the TTIR"),
)


def read(error: str, ttir: str = "") -> Reading:
    """The kind of a failure; `ttir` with locations helps to find the line of an unsupported dtype."""
    overflow = _OVERFLOW.search(error)
    first = _first(error)
    place = _place(error)
    if overflow:
        memory = _MEMORY.get(overflow[1].lower(), overflow[1].upper())
        tile = "BLOCK_M or BLOCK_N" if memory == "L0C" else "the block sizes"
        return Reading(
            f"{memory.lower()}_overflow", first, f"halve {tile}, or loop over smaller chunks inside the program",
            line=place[1], file=place[0], memory=memory, needed=int(overflow[2]), available=int(overflow[3]),
        )  # fmt: skip
    narrow = "unsupported datatype" in error or "element type" in error or "unexpected type" in error
    for kind, pattern, help_text in _KINDS:
        text = error if kind in ("crash", "timeout") else f"{first}\n{ttir if narrow and kind in ('fp64', 'fp8', 'unsigned') else ''}"
        if re.search(pattern, text, re.MULTILINE):
            found = _dtype_line(ttir, kind) if kind in ("fp64", "fp8") and not place[1] else place
            return Reading(kind, first, help_text, line=found[1], file=found[0])
    return Reading("other", first, "see the compiler's message", line=place[1], file=place[0])


def _first(error: str) -> str:
    """The line that says what is wrong."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    for pattern in (r"overflow, requires", r"LLVM ERROR", r"error: (?!Failed to run|External)", r"Assertion `", r"ERROR(?!\] (Cannot find hivmc|Failed to run))"):
        found = next((line for line in lines if re.search(pattern, line)), "")
        if found:
            found = re.sub(r'^(loc\(("[^"]*":\d+:\d+|[^)]*)\)+: )+', "", found).removeprefix("error: ")
            return found.partition(" (possible reason")[0][:400]
    return (lines[-1] if lines else "no message")[:400]


def _place(error: str) -> tuple[str, int]:
    for match in _PLACE.finditer(error):
        file, line, words = (match[1] or match[4] or match[7]), (match[2] or match[5] or match[8]), (match[3] or match[6] or match[9])
        if not words.startswith(("Failed to run", "External hivmc")):
            return file, int(line)
    return "", 0


def _dtype_line(ttir: str, kind: str) -> tuple[str, int]:
    """The place of the first operation on an unsupported dtype, from the locations of the TTIR."""
    pattern = re.compile(r"\bf64\b|xf64" if kind == "fp64" else r"f8E\w+")
    places = {name: (file, int(line)) for name, file, line in re.findall(r'^(#loc\d*) = loc\("([^"]+)":(\d+):\d+\)', ttir, re.MULTILINE)}
    for line in ttir.splitlines():
        if pattern.search(line) and not line.lstrip().startswith("tt.func"):
            reference = re.search(r"loc\((#loc\d*)\)", line)
            if reference and reference[1] in places:
                return places[reference[1]]
    return "", 0
