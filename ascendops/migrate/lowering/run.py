"""Runs the jobs in worker processes of the private toolchain and turns their answers into verdicts."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ascendops.migrate.lowering import hints, hivm
from ascendops.migrate.lowering.plan import Job, Options, plan
from ascendops.migrate.lowering.slices import Slicer
from ascendops.migrate.lowering.verdict import FAILS, LOWERS, UNCHECKED, Attempt, Note, Verdict
from ascendops.toolchain.private import Installed

Progress = Callable[[int, int], None]
_TOOL_LIMIT_S = 60.0
_ANSWER_LIMIT_S = 200.0  # the front end, two tools, and a margin
_WORKER = Path(__file__).with_name("worker.py")


def check(
    sources: Iterable[tuple[str, str, Path | None]],
    toolchain: Installed,
    options: Options,
    *,
    limits: bool = True,
    progress: Progress | None = None,
) -> tuple[list[Verdict], list[tuple[str, str]]]:
    """Verdicts for every kernel in the sources (reported file, text, path for its imports), and (file, reason) of what was not read.

    Args:
        limits: Also search the largest block size that lowers.
    """
    slicer = Slicer()
    pairs: list[tuple[Verdict, list[Job]]] = []
    skipped: list[tuple[str, str]] = []
    for file, text, path in sources:
        try:
            pairs += plan(slicer.take(file, text, path), options)
        except (SyntaxError, ValueError) as error:
            skipped.append((file, f"not Python 3: {error}"))
    jobs = [job for _, batch in pairs for job in batch]
    pool = _Pool(toolchain, options.target, [piece.request() for piece in slicer.slices], progress)
    for job, attempt in zip(jobs, pool.run(jobs), strict=True):
        job.verdict.attempts.append(attempt)
    _units(pool, jobs)
    _variants(pool, jobs, limits)
    return [verdict for verdict, _ in pairs], skipped


def _units(pool: _Pool, jobs: Sequence[Job]) -> None:
    """A second try for kernels that overflow with general strides: as Triton compiles them when those are 1."""
    wanted = [
        (job, attempt, job.unit()[0])
        for job, attempt in _matched(jobs)
        if attempt.kind.endswith("_overflow") and job.strides and not _beaten(job)
    ]
    for (job, attempt, _unit), answer in zip(wanted, pool.run([unit for _, _, unit in wanted]), strict=True):
        if answer.status == LOWERS:
            answer.ones = job.strides
            job.verdict.attempts.append(answer)
            names = ", ".join(f"{name}=1" for name in job.strides)
            attempt.help = f"it lowers with {names}: pass contiguous data along that axis; else {attempt.help}"
            note = Note("CHK-STRIDE", "warning", attempt.file, attempt.line, f"lowers only with {names}: {attempt.message[:70]}", "make the data contiguous before the launch")
            if note.id not in {other.id for other in job.verdict.notes}:
                job.verdict.notes.append(note)


def _matched(jobs: Sequence[Job]) -> list[tuple[Job, Attempt]]:
    return [(job, attempt) for job in jobs for attempt in job.verdict.attempts if attempt.config is job.config and attempt.dtype == job.dtype and not attempt.ones]


def _beaten(job: Job) -> bool:
    return any(other.status == LOWERS and other.dtype == job.dtype for other in job.verdict.attempts if not other.ones)


def _variants(pool: _Pool, jobs: Sequence[Job], limits: bool) -> None:
    """Smaller tiles where memory overflowed in every configuration, larger ones where the size is an assumption.

    The compiler says how much it needs, so two or three tries find the step; larger ones are tried for one dtype.
    """
    down = {}
    up = {}
    for index, (job, attempt) in enumerate(_matched(jobs)):
        if attempt.kind.endswith("_overflow") and not _beaten(job):
            down[index] = (job, attempt, _power(next(iter(attempt.needs.values())) / next(iter(attempt.available.values()))))
        elif limits and attempt.plan and attempt is job.verdict.attempts[0] and job.larger(2):
            used = attempt.plan.used.get("UB", 0) / attempt.plan.available.get("UB", 1)
            up[index] = (job, attempt, max(2, _power(1 / used) // 2) if used else 2)
    for _ in range(3):
        down = {index: row for index, row in down.items() if row[0].smaller(row[2])}
        answers = pool.run([job.smaller(factor) for job, _, factor in down.values()])  # type: ignore[misc]  # filtered above
        for (index, (job, attempt, factor)), answer in zip(list(down.items()), answers, strict=True):
            if answer.status == LOWERS:
                _smallest(job, attempt, answer)
                del down[index]
            else:
                down[index] = (job, attempt, factor * 2)
    for _ in range(3):
        up = {index: row for index, row in up.items() if row[0].larger(row[2])}
        answers = pool.run([job.larger(factor) for job, _, factor in up.values()])  # type: ignore[misc]  # filtered above
        for (index, (job, attempt, factor)), answer in zip(list(up.items()), answers, strict=True):
            if not _settled(job, attempt, answer, factor):
                up[index] = (job, attempt, factor * 2 if answer.status == LOWERS else factor // 2)
            else:
                del up[index]


def _power(ratio: float) -> int:
    """The power of two at or above a ratio, at least 2."""
    factor = 2
    while factor < ratio:
        factor *= 2
    return factor


def _settled(job: Job, attempt: Attempt, answer: Attempt, factor: int) -> bool:
    """Notes a larger size that lowers, or does not; whether the limit lies between the two."""
    name = job.sizes[0]
    value = job.config[name] * factor
    known = attempt.bounds
    if answer.status == LOWERS:
        known[0] = max(known[0], value)
    else:
        known[1] = min(known[1] or value, value)
    best = max(known[0], job.config[name])
    attempt.fits = f"up to {name}={best}" + (f"; {known[1]} does not" if known[1] else " at least")
    return known[1] == 2 * best or factor == 1


def _smallest(job: Job, attempt: Attempt, answer: Attempt) -> None:
    changed = {name: value for name, value in answer.config.items() if value != job.config[name]}
    attempt.fits = "with " + ", ".join(f"{name}={value}" for name, value in changed.items())
    if set(changed) <= job.loose:  # the failing size was an assumption: the kernel itself lowers
        attempt.status, attempt.plan, attempt.stage = LOWERS, answer.plan, answer.stage
        attempt.config, attempt.fits = answer.config, f"only {attempt.fits}; larger: {attempt.message[:90]}"
        attempt.kind = attempt.help = attempt.message = ""


class _Pool:
    """Worker processes over a list of jobs; a worker that dies or hangs costs the job it was at."""

    def __init__(self, toolchain: Installed, target: str, modules: list[dict[str, Any]], progress: Progress | None) -> None:
        self.toolchain, self.target, self.modules = toolchain, target, modules
        self.progress = progress
        self.done = self.total = 0

    def run(self, jobs: Sequence[Job]) -> list[Attempt]:
        if not jobs:
            return []
        self.total += len(jobs)
        workers = min(os.cpu_count() or 1, 8, 1 + len(jobs) // 6)
        answers: dict[int, Attempt] = {}
        with tempfile.TemporaryDirectory(prefix="ascendops-check-") as folder, ThreadPoolExecutor(workers) as pool:
            parts = [list(range(start, len(jobs), workers)) for start in range(workers)]
            for found in pool.map(lambda part: self._share(jobs, part, Path(folder)), parts):
                answers.update(found)
        return [answers[index] for index in range(len(jobs))]

    def _share(self, jobs: Sequence[Job], mine: list[int], folder: Path) -> dict[int, Attempt]:
        found: dict[int, Attempt] = {}
        while rest := [index for index in mine if index not in found]:
            died = self._process(jobs, rest, folder, found)
            if died:
                lost = next(index for index in rest if index not in found)
                found[lost] = _attempt(jobs[lost], {"stage": "ttir", "error": died})
        return found

    def _process(self, jobs: Sequence[Job], indices: list[int], folder: Path, found: dict[int, Attempt]) -> str:
        """Runs one worker over the jobs; how it ended, if it ended early."""
        request = folder / f"request{indices[0]}-{len(indices)}.json"
        names = _needed(self.modules, {jobs[index].module for index in indices})
        content = {
            "site": str(self.toolchain.site), "target": self.target, "work": str(folder), "timeout_s": _TOOL_LIMIT_S,
            "modules": [module for module in self.modules if module["name"] in names],
            "jobs": [jobs[index].request(index) for index in indices],
        }  # fmt: skip
        request.write_text(json.dumps(content), encoding="utf-8")
        env = {key: value for key, value in os.environ.items() if not key.startswith(("TRITON_", "PYTHON"))}
        env["TRITON_CACHE_DIR"] = str(folder)
        command = [self.toolchain.python, "-I", str(_WORKER), str(request)]
        with (folder / f"{request.name}.err").open("w+b") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=env, cwd=folder) as process:
            assert process.stdout is not None
            for line in _lines(process.stdout.fileno()):
                if line is None:
                    process.kill()
                    return f"TIMEOUT: no answer in {_ANSWER_LIMIT_S:.0f} s"
                answer = json.loads(line)
                found[answer["id"]] = _attempt(jobs[answer["id"]], answer)
                self.done += 1
                if self.progress:
                    self.progress(self.done, self.total)
            code = process.wait()
            errors.seek(0)
            text = errors.read().decode(errors="replace")[-2000:]
        if all(index in found for index in indices):
            return ""
        return f"killed by signal {-code}\n{text}" if code < 0 else text or f"the worker ended with {code}"


def _lines(descriptor: int) -> Iterable[bytes | None]:
    """Lines of a pipe; None when none came in time."""
    buffer = b""
    while True:
        if not select.select([descriptor], [], [], _ANSWER_LIMIT_S)[0]:
            yield None
            return
        block = os.read(descriptor, 65536)
        if not block:
            return
        *complete, buffer = (buffer + block).split(b"\n")
        yield from complete


def _needed(modules: list[dict[str, Any]], names: set[str]) -> set[str]:
    """The slices of some jobs and everything that they link to."""
    of = {module["name"]: module for module in modules}
    found: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in found and name in of:
            found.add(name)
            stack += [source for _, source, _ in of[name]["links"]]
    return found


def _attempt(job: Job, answer: dict[str, Any]) -> Attempt:
    attempt = Attempt(LOWERS, job.dtype, job.config, job.assumed, stage=answer["stage"])
    if answer["stage"] == "hivm":
        attempt.plan = hivm.read(Path(answer["hivm"]).read_text(encoding="utf-8"))
        return attempt
    ttir = Path(answer["folder"], "kernel.ttir.mlir") if "folder" in answer else None
    reading = hints.read(answer["error"], ttir.read_text(encoding="utf-8") if ttir and ttir.is_file() else "")
    attempt.status, attempt.kind, attempt.message, attempt.help = FAILS, reading.kind, reading.message, reading.help
    attempt.file, attempt.line = answer.get("file") or reading.file or job.verdict.file, answer.get("line") or reading.line
    if reading.memory:
        attempt.needs, attempt.available = {reading.memory: reading.needed}, {reading.memory: reading.available}
    _undecided(job, attempt, answer)
    return attempt


def _undecided(job: Job, attempt: Attempt, answer: dict[str, Any]) -> None:
    """A name of the host, or an assumed value that the kernel itself refuses, decides nothing about the kernel."""
    lost, missing = answer.get("lost", ""), answer.get("missing", "")
    if job.verdict.refused:
        attempt.status, attempt.kind, attempt.message = UNCHECKED, "refused", f"it reaches outside of triton's language ({job.verdict.refused})"
        attempt.help = "the front end would run that Python code while it compiles, and checked files are never run"
        return
    if lost and ("ImportError" in lost or "AttributeError" in lost or "ModuleNotFoundError" in lost):
        attempt.kind, attempt.message = "missing_api", lost
        attempt.help = "this name does not exist in triton-ascend 3.2: use an older spelling or write it out"
    elif missing or attempt.stage == "load":
        attempt.status, attempt.kind = UNCHECKED, "host_value"
        attempt.message = lost or attempt.message
        attempt.help = "the kernel needs a value that only running its file would give; a literal or tl.constexpr constant can be checked"
    elif attempt.kind == "argument_types" or (attempt.kind == "static_assert" and job.assumed):
        attempt.status = UNCHECKED
