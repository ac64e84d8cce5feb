"""The worker process: results, errors, crashes, hangs, restarts."""

from __future__ import annotations

import os
import signal
import subprocess
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import interruptible
import pytest
import torch

import ascendops
from ascendops import forkserver
from ascendops.errors import InputError, KernelCrash, KernelHang, WorkerError
from ascendops.worker import Worker

SOURCE = """
import ctypes, os, signal, sys, time
calls = 0

def act(what, *args, **kwargs):
    global calls
    calls += 1
    if what == "count":
        return calls
    if what == "echo":
        return args, kwargs
    if what == "segv":
        sys.stderr.write("last words\\n"); sys.stderr.flush()
        ctypes.string_at(8)
    if what == "exit":
        os._exit(7)
    if what == "abort":
        os.abort()
    if what == "hang":
        time.sleep(3600)
    if what == "env":
        return os.environ.get(args[0])
    if what == "print":
        print("noise on stdout", flush=True)
        return "quiet"
    if what == "ours":
        from ascendops.errors import InputError
        raise InputError("wrong dtype", where="x", help="use float32")
    if what == "raise":
        raise ValueError("no such thing")
    if what == "unpicklable":
        return lambda: 0
    if what == "pid":
        return os.getpid()
    if what == "ppid":
        return os.getppid()
    if what == "where":
        return os.getcwd()
    if what == "threads":
        import torch
        return torch.get_num_threads()
    if what == "random":
        import random
        return random.random()
"""


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    path = tmp_path / "target.py"
    path.write_text(SOURCE)
    with Worker(f"{path}:act", env={"WORKER_TEST": "yes"}, timeout_s=60, label="the kernel") as worker:
        yield worker


def test_state_persists_between_calls(worker: Worker) -> None:
    assert [worker.call("count") for _ in range(3)] == [1, 2, 3]
    assert worker.starts == 1


def test_arguments_and_environment_arrive(worker: Worker) -> None:
    assert worker.call("echo", 1, "two", key=[3]) == ((1, "two"), {"key": [3]})
    assert worker.call("env", "WORKER_TEST") == "yes"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool])
def test_tensors_keep_layout_and_shared_storage(worker: Worker, dtype: torch.dtype) -> None:
    base = torch.arange(24).to(dtype).reshape(4, 6)
    view = base.t()[1:5, ::2]
    (a, b, empty), _ = worker.call("echo", base, view, base[:0])
    assert torch.equal(a, base) and a.dtype == dtype
    assert torch.equal(b, view) and b.stride() == view.stride() and b.storage_offset() == view.storage_offset()
    assert a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    assert empty.shape == (0, 6)
    a.fill_(1)
    assert not torch.equal(a, base) or dtype == torch.bool


def test_crash_names_the_signal_and_the_next_call_restarts(worker: Worker) -> None:
    assert worker.call("count") == 1
    with pytest.raises(KernelCrash, match="the kernel was ended by SIGSEGV") as caught:
        worker.call("segv")
    assert "last words" in str(caught.value)
    assert worker.call("count") == 1
    with pytest.raises(KernelCrash, match="SIGABRT"):
        worker.call("abort")
    with pytest.raises(KernelCrash, match="exited with status 7"):
        worker.call("exit")
    assert worker.starts == 3


def test_death_between_calls_is_not_silent(worker: Worker) -> None:
    os.kill(worker.call("pid"), signal.SIGBUS)
    time.sleep(0.5)
    with pytest.raises(KernelCrash, match="SIGBUS after its last answer"):
        worker.call("count")
    assert worker.call("count") == 1


def test_hang_is_killed_and_the_next_call_restarts(worker: Worker) -> None:
    pid = worker.call("pid")
    with pytest.raises(KernelHang, match=r"within 0\.5 s") as caught:
        worker.call("hang", timeout_s=0.5)
    assert "act" in str(caught.value), "the message says where the code was"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert worker.call("count") == 1


def test_exceptions_come_back(worker: Worker) -> None:
    with pytest.raises(InputError) as caught:
        worker.call("ours")
    assert (caught.value.what, caught.value.where, caught.value.help) == ("wrong dtype", "x", "use float32")
    with pytest.raises(WorkerError, match="ValueError: no such thing") as other:
        worker.call("raise")
    assert other.value.type_name == "ValueError" and "in act" in other.value.traceback
    with pytest.raises(WorkerError, match="pickle"):
        worker.call("unpicklable")
    assert worker.call("count") == 4, "an exception does not restart the worker"


def test_stdout_of_the_worker_is_not_ours(worker: Worker, capfd: pytest.CaptureFixture[str]) -> None:
    assert worker.call("print") == "quiet"
    assert "noise" not in capfd.readouterr().out
    assert "noise on stdout" in worker.output()


def test_close_leaves_no_process(tmp_path: Path) -> None:
    path = tmp_path / "target.py"
    path.write_text(SOURCE)
    worker = Worker(f"{path}:act")
    pid = worker.call("pid")
    worker.close()
    worker.close()
    assert not Path(f"/proc/{pid}").exists()


def test_a_call_runs_while_the_caller_goes_on(worker: Worker) -> None:
    worker.begin("echo", 1)
    worker.begin("echo", 2)  # the first is abandoned
    assert worker.collect() == ((2,), {})
    with pytest.raises(RuntimeError):
        worker.collect()
    worker.begin("hang", timeout_s=0.5)
    with pytest.raises(KernelHang):
        worker.collect(0.5)
    assert worker.call("count") == 1


def test_processes_have_the_folder_variables_and_chance_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "target.py").write_text(SOURCE)
    seen = []
    for threads in ("1", "2"):  # OpenMP reads it when it is loaded
        folder = tmp_path / threads
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("WORKER_TEST", threads)
        with Worker(f"{tmp_path / 'target.py'}:act", env={"OMP_NUM_THREADS": threads}) as one:
            assert (one.call("where"), one.call("env", "WORKER_TEST"), one.call("threads")) == (str(folder), threads, int(threads))
            seen.append(one.call("random"))
    assert seen[0] != seen[1]


def test_a_worker_whose_server_died_is_restarted(worker: Worker) -> None:
    os.kill(worker.call("ppid"), signal.SIGSEGV)
    with pytest.raises(KernelCrash, match="SIGSEGV"):
        for _ in range(100):
            worker.call("count")
            time.sleep(0.05)
    assert worker.call("count") == 1


def test_without_a_server_it_is_a_process_of_its_own(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forkserver, "usable", lambda: False)
    assert worker.call("ppid") == os.getpid()
    with pytest.raises(KernelCrash, match="SIGSEGV"):
        worker.call("segv")
    assert worker.call("echo", 1) == ((1,), {})


def test_missing_target_is_an_error_not_a_crash() -> None:
    with Worker("no.such.module:f") as worker, pytest.raises(WorkerError, match="No module named 'no'"):
        worker.call()


def test_interrupt_and_death_of_the_parent_end_the_worker(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text(SOURCE)
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(f"""
        from ascendops.worker import Worker
        worker = Worker({str(tmp_path / "target.py")!r} + ":act")
        print(worker.call("pid"), flush=True)
        worker.call("hang")
        """)
    )
    for number in (signal.SIGINT, signal.SIGKILL):
        parent = subprocess.Popen(
            [*interruptible.PYTHON, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(ascendops.__file__).parent.parent)},
        )
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(number)
        parent.wait(10)
        parent.stdout.close()
        deadline = time.monotonic() + 10
        while _alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not _alive(pid), f"the worker outlived its parent after {number.name}"


def _alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
