"""`ascendops test --distribute ray`: fans cases out over the hosts of a Ray cluster that is already there, by resource label.

The driver collects, selects and reports as it does alone; building, running and judging happen on the hosts. A case whose host dies runs
again on another one, and each result is written as soon as it arrives.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import AscendOpsError, FarmLost, FarmMissing
from ascendops.report.model import CaseReport
from ascendops.testing import farmhand
from ascendops.testing.farmhand import Job
from ascendops.testing.parcel import Parcel, pack

if TYPE_CHECKING:
    from ascendops.spec.model import OpSpec
    from ascendops.testing.cases import TestCase
    from ascendops.testing.session import OpSession

LABELS = {"twin": "twin", "cann": "npu"}  # what a host must offer to run a backend
RECORDERS = "gpu"
RETRIES = 3  # runs of a case whose host or process died, after the first
PATIENCE_S = 60.0  # how long the label may be gone before the remaining cases are given up
_ACCELERATORS = {"gpu": "GPU", "npu": "NPU"}  # Ray's own resources: tasks that do not ask for them do not see the devices
_LOOK_S = 2.0


class Farm:
    """A connection to a cluster, for tasks that need a resource label.

    Raises:
        FarmMissing: Ray is not installed, no cluster answers, or no host offers the label.
    """

    def __init__(self, label: str) -> None:
        self.ray = _connect()
        self.label = label
        self._parcels: dict[Path, tuple[Parcel, Any]] = {}
        self._tasks: dict[Any, tuple[Any, TestCase]] = {}
        if not self._offered():
            offers = ", ".join(sorted(name for name in self.ray.cluster_resources() if name in {*LABELS.values(), RECORDERS})) or "none"
            raise FarmMissing(
                f"no host of the Ray cluster offers the resource '{label}'",
                why=f"labels of this kind in the cluster: {offers}",
                help=f"""on such a host: ray start --address HEAD:6379 --resources '{{"{label}": 1}}'""",
            )

    def submit(self, session: OpSession, case: TestCase, token: Any) -> None:
        """Sends a case to whichever host is free; `arrivals` gives the token back."""
        project, bundle, job = self._sent(session)
        task = self._remote(farmhand.run_case).remote(project, bundle, job, case.digest(session.options.seed))
        self._tasks[task] = token, case

    def arrivals(self) -> Iterator[tuple[Any, CaseReport, AscendOpsError | None]]:
        """Token, report and the harness's error, if any, of each case when it is finished; every submitted case comes once."""
        gone_since = None
        while self._tasks:
            done, _ = self.ray.wait(list(self._tasks), timeout=_LOOK_S)
            for task in done:
                token, case = self._tasks.pop(task)
                yield token, *self._result(task, case)
            if done or self._offered():
                gone_since = None
                continue
            gone_since = gone_since or time.monotonic()
            if time.monotonic() - gone_since > PATIENCE_S:
                for token, case in self.cancel():
                    lost = FarmLost(f"no host with the resource '{self.label}' is left", where=case.id, help="start hosts, then run again with --resume")
                    yield token, CaseReport("", case.spec.name), lost

    def cancel(self) -> list[tuple[Any, TestCase]]:
        """Takes back what has not been finished; tokens and cases."""
        left = list(self._tasks.values())
        for task in self._tasks:
            self.ray.cancel(task)
        self._tasks.clear()
        return left

    def build(self, session: OpSession) -> None:
        """Builds an operator on one of the hosts, so that what does not compile is told once.

        Raises:
            AscendOpsError: It does not build.
        """
        session.report.build_seconds, error = self.ray.get(self._remote(farmhand.build).remote(*self._sent(session)))
        if error is not None:
            raise error

    def record(self, spec: OpSpec, options: Any, budget: int | None = None) -> Any:
        """Starts recording an operator's reference; `files` has the result."""
        job = Job(spec.name, options, farmhand.version(), str(spec.root))
        return self._remote(farmhand.record).remote(self._parcel(spec.root)[1], job, budget)

    def files(self, task: Any) -> tuple[Any, dict[str, bytes]]:
        """What a recording came to, and its files by name.

        Raises:
            AscendOpsError: Nothing could be recorded.
        """
        made, files, error = self.ray.get(task)
        if error is not None:
            raise error
        return made, files

    def close(self) -> None:
        """Takes unfinished work back and leaves the cluster."""
        self.cancel()
        self.ray.shutdown()

    def _sent(self, session: OpSession) -> tuple[Any, Any, Job]:
        root, options = session.spec.root, session.options
        bundle = self._parcel(Path(options.reference))[1] if Path(options.reference).is_dir() else None
        return self._parcel(root)[1], bundle, Job(session.spec.name, options, farmhand.version(), str(root))

    def _parcel(self, folder: Path) -> tuple[Parcel, Any]:
        folder = folder.absolute()
        if folder not in self._parcels:
            parcel = pack(folder)
            self._parcels[folder] = parcel, self.ray.put(parcel)
        return self._parcels[folder]

    def _remote(self, function: Any) -> Any:
        resources = {self.label: 1.0}
        device = _ACCELERATORS.get(self.label, "")
        if self.ray.cluster_resources().get(device):
            resources[device] = 1.0
        gpus = resources.pop("GPU", 0.0)  # Ray takes GPUs by another argument
        return self.ray.remote(function).options(num_cpus=1, num_gpus=gpus, resources=resources, max_retries=RETRIES, scheduling_strategy="SPREAD")

    def _offered(self) -> bool:
        return bool(self.ray.cluster_resources().get(self.label))

    def _result(self, task: Any, case: TestCase) -> tuple[CaseReport, AscendOpsError | None]:
        try:
            fields, error = self.ray.get(task)
        except self.ray.exceptions.RayTaskError:
            raise  # a fault of the harness on the host: its traceback is the message
        except self.ray.exceptions.RayError as died:
            return _died(case, died), None
        return CaseReport(**fields), error


def _connect() -> Any:
    try:
        import ray
    except ImportError as error:
        raise FarmMissing("ray is not installed", help="pip install 'ascendops[farm]', here and on every host") from error
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), log_to_driver=False, logging_level="ERROR", configure_logging=False)
    except (ConnectionError, OSError, ValueError, RuntimeError) as error:
        raise FarmMissing(
            "no Ray cluster answers",
            where=os.environ.get("RAY_ADDRESS", "RAY_ADDRESS is not set, and none runs on this host"),
            why=str(error).strip().splitlines()[0] if str(error).strip() else None,
            help="""start one: ray start --head --resources '{"twin": 2}', or set RAY_ADDRESS to HEAD:6379""",
        ) from error
    return ray


def _died(case: TestCase, error: Exception) -> CaseReport:
    """The verdict of a case whose process or host died each time that it ran."""
    memory = type(error).__name__ == "OutOfMemoryError"
    return CaseReport(
        f"{case.spec.name}[{case.id}]", case.spec.name, case.case.name, case.dtype, status="crash", exit_code=1,
        labels=["OUT_OF_MEMORY" if memory else "CRASH"], what=f"the process that ran the case died {RETRIES + 1} times",
        story=[line for line in str(error).splitlines() if line.strip()][:4],
    )  # fmt: skip
