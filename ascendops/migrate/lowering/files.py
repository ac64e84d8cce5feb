"""The Triton files of a path, and the SoC as the compiler names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from ascendops.errors import ToolchainError
from ascendops.migrate.lowering.plan import Options
from ascendops.migrate.lowering.run import check
from ascendops.migrate.lowering.verdict import Verdict
from ascendops.migrate.model import Skipped
from ascendops.migrate.sources.files import Walk
from ascendops.migrate.sources.notebook import cells
from ascendops.spec.socs import resolve
from ascendops.toolchain.private import Installed

Source = tuple[str, str, Path | None]


def target(soc: str) -> str:
    """The compiler's name of a SoC: `Ascend910B1`, `Ascend910_9391`, `Ascend950PR_9599`.

    Raises:
        UnknownSoc: There is no such SoC.
        ToolchainError: triton-ascend 3.2 does not compile for it here.
    """
    found = resolve(soc)
    if found.unit not in ("ascend910b", "ascend910_93", "ascend950"):
        raise ToolchainError(
            f"triton-ascend does not compile for {found.name}",
            help="--soc Ascend910B1 (Atlas A2), Ascend910_9391 (A3) or Ascend950PR_9599",
        )
    return found.name


def sources(paths: list[Path], skipped: list[Skipped]) -> Iterator[Source]:
    """Files and notebook cells that have `triton.jit` in them or import it."""
    walk = Walk(skipped)
    for path, kind in walk.files(paths):
        if kind not in ("python", "notebook") or (text := walk.read(path)) is None or "triton" not in text or "jit" not in text:
            continue
        if kind == "python":
            yield path.as_posix(), text, path
            continue
        try:  # cells share one name space: what earlier cells define is needed by later ones
            parts = [cell for cell, language in cells(path.as_posix(), text) if language == "python"]
        except ValueError as error:
            skipped.append(Skipped(path.as_posix(), str(error)))
            continue
        yield f"{path.as_posix()}#cells", "\n".join(part.text for part in parts), None


def check_paths(
    paths: list[Path], toolchain: Installed, options: Options, soc: str, say: Callable[[str], None], *, limits: bool = True
) -> tuple[list[Verdict], list[tuple[str, str]]]:
    """Verdicts for every kernel below the paths, and (file, reason) of what was not read."""
    unread: list[Skipped] = []
    found = list(sources(paths, unread))
    said = [0]

    def progress(done: int, total: int) -> None:
        if done - said[0] >= 50:
            said[0] = done
            say(f"{done} of {total} compilations")

    verdicts, skipped = check(found, toolchain, replace(options, target=target(soc)), limits=limits, progress=progress)
    return verdicts, [*skipped, *((skip.file, skip.reason) for skip in unread if skip.file.endswith((".py", ".ipynb")))]
