"""Which cores a kernel runs on: read from its text, as CANN's kernel compiler does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

# In the order of KernelMetaType (ascendc_twin/enums.h).
NAMES = (
    "AIV_ONLY", "AIC_ONLY", "MIX_AIV_1_0", "MIX_AIC_1_0", "MIX_AIC_1_1", "MIX_AIC_1_2", "AICORE", "VECTORCORE", "MIX_AICORE", "MIX_VECTOR_CORE",
)  # fmt: skip
_CORES = {"AIC_ONLY": (1, 0), "MIX_AIC_1_0": (1, 0), "MIX_AIC_1_1": (1, 1), "MIX_AIC_1_2": (1, 2)}

_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', re.MULTILINE)
_DEFAULT = re.compile(r"\bKERNEL_TASK_TYPE_DEFAULT\s*\(\s*KERNEL_TYPE_(\w+)\s*\)")
_TEMPLATE = re.compile(r"\bASCENDC_TPL_KERNEL_TYPE_SEL\s*\(\s*ASCENDC_TPL_(\w+)\s*\)")
_KEYED = re.compile(r"\bKERNEL_TASK_TYPE\s*\(\s*(\d+)(?:[uUlL]*)\s*,\s*KERNEL_TYPE_(\w+)\s*\)")
_QUALIFIED = re.compile(r"__mix__\s*\(\s*(\d)\s*,\s*(\d)\s*\)|\b__cube__\b|\b__vector__\b")
_CUBE = re.compile(
    r"\bMmad(?:Params)?\b|\bREGIST_MATMUL_OBJ\b|\bMatmulImpl\s*<|\bFixpipe(?:Params\w*)?\b|\bLoadData(?:2[dD]|3[dD]|WithTranspose)|\bcopy_gm_to_cbuf\w*|\bcopy_matrix_cc_to_gm\b"
    r"|\b(?:TPosition|QuePosition)::(?:A1|A2|B1|B2|CO1)\b|\bload_cbuf_to_c[ab]\w*|\bmad\s*\("
)
_SPLIT = re.compile(r"\bASCEND_IS_(?:NOT_)?AI[VC]\b|\bg_coreType\b|\b__DAV_C220_(?:CUBE|VEC)__|\bAscendC::AI[CV]\b|\b__DAV_(?:CUBE|VEC)__|\bREGIST_MATMUL_OBJ\b|\b__CCE_AICORE__\b")
_BOTH = re.compile(r"\bASCEND_IS_(?:NOT_)?AI[VC]\b|\bg_coreType\b|\b__DAV_C220_VEC__|\bAscendC::AIV\b|\bREGIST_MATMUL_OBJ\b|\bCrossCoreSetFlag\b|\b__DAV_VEC__")
_CUBE_ONLY = re.compile(r"^[ \t]*#[ \t]*define[ \t]+ASCENDC_CUBE_ONLY\b", re.MULTILINE)
_OWN_FUNCTION = re.compile(r"\boperator\s*\(\s*\)\s*<\s*(?:AscendC\s*::\s*)?(AI[CV])\s*>\s*\(")
_FILES = 400


@dataclass(frozen=True)
class TaskTypes:
    """The core types of one kernel entry.

    Attributes:
        default: A name of `NAMES`.
        keyed: (tiling key, name) where a key has a type of its own.
        split: Whether the text differs between cube and vector cores, so that both need code of their own.
    """

    default: str
    keyed: tuple[tuple[int, str], ...] = ()
    split: bool = False

    @property
    def cube_only(self) -> bool:
        """Whether no vector core ever runs the kernel."""
        return all(cores(name)[1] == 0 for name in (self.default, *(name for _, name in self.keyed)))

    @property
    def uses_cube(self) -> bool:
        """Whether a cube core runs the kernel for some tiling key."""
        return any(cores(name)[0] for name in (self.default, *(name for _, name in self.keyed)))

    @property
    def text(self) -> str:
        """`default;key=type;...` in numbers, as a kernel library exports it."""
        return ";".join([str(NAMES.index(self.default)), *(f"{key}={NAMES.index(name)}" for key, name in self.keyed)])


def cores(name: str) -> tuple[int, int]:
    """Cube cores and vector cores of one block of a kernel type."""
    return _CORES.get(name, (0, 1))


def cores_for(text: str, key: int) -> tuple[int, int]:
    """Cube and vector cores of one block, from what a kernel library exports (`TaskTypes.text`) and a tiling key."""
    default, *keyed = text.split(";")
    named = dict(item.split("=") for item in keyed)
    return cores(NAMES[int(named.get(str(key), default))])


def read(path: Path, entry: str, entries: Sequence[str], folders: Iterable[Path], prelude: str = "", coupled: bool = False) -> TaskTypes:
    """The core types of the entry function `entry` of a kernel source.

    A declaration counts in this order: one in the entry's own body, a qualifier of the entry, one anywhere in the source, one in a header.
    Without any, a kernel that computes on the cube unit runs on cube cores, with two vector cores each where its text speaks of them.
    `coupled`: the SoC has both units in one core, so that there is nothing to choose.
    """
    if coupled:
        return TaskTypes("AICORE")
    source = _NOISE.sub(" ", path.read_text(errors="replace"))
    headers = [_NOISE.sub(" ", text) for text in _headers(path, folders)]
    body, head, own = _parts(source, entry, entries)
    whole = "\n".join([own, *headers])
    split = _SPLIT.search(whole) is not None
    for text in (body, head, own, "\n".join(headers), prelude):
        found = _declared(text, qualifiers=text is head)
        if found is not None:
            return TaskTypes(found[0], found[1], split)
    return TaskTypes(_inferred(whole), (), split)


def _declared(text: str, qualifiers: bool) -> tuple[str, tuple[tuple[int, str], ...]] | None:
    if qualifiers:
        match = _QUALIFIED.search(text)
        return (_of_qualifier(match), ()) if match else None
    keyed = tuple((int(key), name) for key, name in _KEYED.findall(text) if name in NAMES)
    named = [name for name in _DEFAULT.findall(text) + _TEMPLATE.findall(text) if name in NAMES]
    if not keyed and not named:
        return None
    return named[0] if named else keyed[0][1], keyed


def _of_qualifier(match: re.Match[str]) -> str:
    if match[1] is None:
        return "AIC_ONLY" if match[0] == "__cube__" else "AIV_ONLY"
    pair = (int(match[1]), int(match[2]))
    return {(0, 1): "MIX_AIV_1_0", (1, 0): "MIX_AIC_1_0", (1, 1): "MIX_AIC_1_1"}.get(pair, "MIX_AIC_1_2")


def _inferred(text: str) -> str:
    if _CUBE.search(text) is None:
        return "AIV_ONLY"
    own = {match[1] for match in _OWN_FUNCTION.finditer(text)}  # functions of one kind of core
    if _CUBE_ONLY.search(text) or _BOTH.search(text) is None or own == {"AIC"}:
        return "AIC_ONLY"
    return "MIX_AIC_1_2"


def _parts(source: str, entry: str, entries: Sequence[str]) -> tuple[str, str, str]:
    """The body of an entry, the qualifiers before its name, and the source without the bodies of the other entries."""
    bodies: dict[str, tuple[int, int, int]] = {}
    for name in entries:
        match = re.search(rf"\b__global__\b[^;{{}}]*?\bvoid\s+{name}\s*\(|\bvoid\s+[^;{{}}()]*\b{name}\s*\(", source)
        if match is not None:
            opening = source.find("{", match.end())
            bodies[name] = (match.start(), opening, _closing(source, opening))
    rest = source
    for name, (_, opening, end) in sorted(bodies.items(), key=lambda item: -item[1][1]):
        if name != entry and opening >= 0:
            rest = rest[:opening] + rest[end:]
    if entry not in bodies:
        return "", "", rest
    start, opening, end = bodies[entry]
    return source[opening:end], source[start:opening], rest


def _closing(source: str, opening: int) -> int:
    """The end of the block that opens at `opening`."""
    depth = 0
    for match in re.finditer(r"[{}]", source[opening:]) if opening >= 0 else ():
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return opening + match.end()
    return len(source)


def _headers(path: Path, folders: Iterable[Path]) -> list[str]:
    """The texts of the user's headers that a source includes, directly or not."""
    seen: set[Path] = set()
    texts: list[str] = []
    waiting = [path]
    homes = list(folders)
    while waiting and len(seen) < _FILES:
        current = waiting.pop()
        text = current.read_text(errors="replace")
        if current != path:
            texts.append(text)
        for name in _INCLUDE.findall(text):
            found = next((home / name for home in (current.parent, *homes) if (home / name).is_file()), None)
            if found is not None and found.resolve() not in seen:
                seen.add(found.resolve())
                waiting.append(found)
    return texts
