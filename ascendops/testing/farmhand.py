"""What runs on the hosts of a farm: builds, cases and recordings of projects that arrive as parcels."""

from __future__ import annotations

import os
import platform
import socket
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import AscendOpsError, FarmVersion
from ascendops.testing.parcel import Parcel

if TYPE_CHECKING:
    from ascendops.testing.options import Options
    from ascendops.testing.session import OpSession

_sessions: dict[Any, OpSession] = {}


@dataclass(frozen=True)
class Job:
    """What a host needs besides the parcels.

    Attributes:
        op: Operator of the project.
        options: Those of the run; a reference that is a bundle arrives as a parcel of its own.
        version: What the driver runs; see `version`.
        root: The project's folder on the driver, which messages name.
    """

    op: str
    options: Options
    version: str
    root: str


def version() -> str:
    """What hosts must agree on: the kit's version, the generator of inputs and the rules of the verdict."""
    from ascendops import __version__
    from ascendops.parity.inputs import GENERATOR
    from ascendops.parity.verdict import RULES

    return f"ascendops {__version__}, {GENERATOR}, {RULES}"


def build(project: Parcel, bundle: Parcel | None, job: Job) -> tuple[float, AscendOpsError | None]:
    """Builds an operator on this host: seconds, and the error if it does not build."""
    try:
        session = _session(project, bundle, job)
        session.build()
    except AscendOpsError as error:
        return 0.0, _told(error, project, job)
    return session.report.build_seconds, None


def run_case(project: Parcel, bundle: Parcel | None, job: Job, digest: str) -> tuple[dict[str, Any], AscendOpsError | None]:
    """Runs and judges the case of that digest: the report's fields, and the error if the harness could not run it."""
    from ascendops.report.model import CaseReport

    try:
        session = _session(project, bundle, job)
        case = next(case for case in session.cases if case.digest(job.options.seed) == digest)
        report = session.run(case)
    except AscendOpsError as error:
        return asdict(CaseReport("", job.op)), _told(error, project, job)
    report.notes.append(f"ran on {socket.gethostname()}, process {os.getpid()}")
    fields: dict[str, Any] = _here_to_there(asdict(report), str(_folder(project)), job.root)
    return fields, None


def record(project: Parcel, job: Job, budget: int | None = None) -> tuple[Any, dict[str, bytes], AscendOpsError | None]:
    """Records an operator's reference on this host: what it came to, and the bundle's files."""
    import tempfile

    from ascendops import spec
    from ascendops.testing import record as recording

    try:
        _check(job)
        declared = next(op for op in spec.load(_folder(project) / "op.toml").operators if op.name == job.op)
        with tempfile.TemporaryDirectory() as work:
            made = recording.record(declared, Path(work), job.options.reference, job.options.seed, budget=budget, tier=job.options.tier)
            return made, {path.name: path.read_bytes() for path in Path(work).iterdir()}, None
    except AscendOpsError as error:
        return None, {}, _told(error, project, job)


def _session(project: Parcel, bundle: Parcel | None, job: Job) -> OpSession:
    key = (project.digest, bundle.digest if bundle else "", job.op, job.options)
    if key not in _sessions:
        _check(job)
        from ascendops import spec
        from ascendops.testing.session import OpSession

        root = _folder(project)
        reference = str(_folder(bundle)) if bundle else job.options.reference
        declared = next(op for op in spec.load(root / "op.toml").operators if op.name == job.op)
        _sessions[key] = OpSession(declared, replace(job.options, reference=reference))
    return _sessions[key]


def _check(job: Job) -> None:
    here = version()
    if here != job.version:
        where = f"{socket.gethostname()}, Python {platform.python_version()}"
        raise FarmVersion(f"the host has {here}, this command {job.version}", where=where, help="install the same version on every host")


def _folder(parcel: Parcel) -> Path:
    from ascendops.toolchain.cache import cache_root

    return parcel.unpack(cache_root() / "farm")


def _told(error: AscendOpsError, project: Parcel, job: Job) -> AscendOpsError:
    for name in ("what", "where", "why", "help"):
        setattr(error, name, _here_to_there(getattr(error, name), str(_folder(project)), job.root))
    return error


def _here_to_there(value: Any, here: str, there: str) -> Any:
    """Plain data with this host's folder of the project replaced by the driver's."""
    if isinstance(value, str):
        return value.replace(here, there)
    if isinstance(value, dict):
        return {key: _here_to_there(item, here, there) for key, item in value.items()}
    return [_here_to_there(item, here, there) for item in value] if isinstance(value, list) else value
