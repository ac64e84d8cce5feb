"""A persistent worker process: runs one function again and again, and survives its crashes and hangs.

Kernels and Triton references run here, so that a segmentation fault or an endless loop ends a case and not the session.
Messages are pickles over a socket pair; the worker's stdout and stderr go to a file that only error messages quote.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import weakref
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ascendops.errors import AscendOpsError, KernelCrash, KernelHang, WorkerError
from ascendops.loading import resolve
from ascendops.wire import dumps

_TAIL_BYTES = 4000
_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+) in (.+)')  # a line of faulthandler
_DEEPEST = 6  # frames per thread that a message shows
_BOOT = "import sys; from ascendops.worker import _child; _child(int(sys.argv[1]))"


class Worker:
    """Runs `target` in a subprocess that is started at the first call and restarted after a crash or a hang.

    Args:
        target: `package.module:function` or `path/to/file.py:function`.
        env: Environment variables added to (or replacing) those of this process.
        timeout_s: Default time limit of one call, in seconds; None waits for ever.
        label: What messages call the thing that runs, e.g. `the kernel`.
    """

    def __init__(
        self,
        target: str,
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        label: str = "the worker",
    ) -> None:
        self.target = target
        self.env = dict(env or {})
        self.timeout_s = timeout_s
        self.label = label
        self.starts = 0
        self._ready = False
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._log: IO[bytes] | None = None
        self._finalizer: weakref.finalize[..., Worker] | None = None

    @property
    def pid(self) -> int | None:
        """Process id while the worker runs, else None."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def call(self, *args: Any, timeout_s: float | None = None, **kwargs: Any) -> Any:
        """The function's result for these arguments (tensors travel with their strides and shared storages).

        Raises:
            KernelCrash: The process died; the message has the signal's name and the end of its stderr.
            KernelHang: No answer within the time limit; the process was killed.
            WorkerError: The function raised (errors of ascendops are raised as they are).
        """
        self.start()
        limit = self.timeout_s if timeout_s is None else timeout_s
        assert self._connection is not None
        try:
            if not self._ready:  # until then it does not read, and a large message would block
                if not self._connection.poll(limit):
                    self._raise_hang(limit)
                self._ready = bool(self._connection.recv_bytes())
            self._connection.send_bytes(dumps((self.target, args, kwargs)))
            if not self._connection.poll(limit):
                self._raise_hang(limit)
            status, value = pickle.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionError) as error:
            raise self._crash() from error
        except BaseException:
            self.close()
            raise
        if status == "ok":
            return value
        raise value

    def start(self) -> None:
        """Starts the process if there is none, without waiting: it imports the target's module in the meantime.

        Raises:
            KernelCrash: It died while it was idle. The next call starts a fresh one.
        """
        if self._process is not None and self._process.poll() is not None:
            raise self._crash(" after its last answer, so earlier calls have damaged it")
        if self._process is None:
            self._start()

    def output(self) -> str:
        """The end of what the worker wrote to stdout and stderr."""
        if self._log is None:
            return ""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - _TAIL_BYTES))
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return "\n".join(line for line in lines if not line.startswith("Extension modules:")).strip()

    def close(self) -> None:
        """Ends the process (kills it if it is busy) and frees its resources; calling it again does nothing."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._connection = self._finalizer = self._log = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        import socket

        self.close()
        self._log = tempfile.TemporaryFile(prefix="ascendops-worker-")  # noqa: SIM115  lives as long as the process
        ours, theirs = socket.socketpair()
        env = {**os.environ, **self.env}
        package_root = str(Path(__file__).resolve().parent.parent)
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [package_root, env.get("PYTHONPATH")]))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=env,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C reaches this process only, which then ends the worker
            )
        finally:
            theirs.close()
        self._connection = Connection(ours.detach())
        self._finalizer = weakref.finalize(self, _shutdown, self._process, self._connection, self._log)
        self._connection.send_bytes(dumps((list(sys.path), self.target)))
        self._ready = False
        self.starts += 1

    def _crash(self, when: str = "") -> KernelCrash:
        process, tail = self._process, ""
        assert process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        code = process.poll()
        tail = self.output()
        self.close()
        how = f"exited with status {code}"
        if code is not None and code < 0:
            how = f"was ended by {_signal_name(-code)}"
        why = "the end of its output:\n" + _indent(tail) if tail else None
        hint = "SIGKILL is often the system running out of memory" if code == -signal.SIGKILL else None
        return KernelCrash(f"{self.label} {how}{when}", where=self.target, why=why, help=hint)

    def _raise_hang(self, limit: float | None) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGUSR1)  # faulthandler writes where every thread is
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.3)
        tail = self.output()
        self.close()
        raise KernelHang(
            f"{self.label} did not answer within {limit:g} s and was killed",
            where=self.target,
            why="where it was:\n" + _indent(_frames(tail)) if tail else None,
        )


def _frames(text: str) -> str:
    """The output of a killed process; faulthandler's frames as `file:line in function`, the innermost ones of each thread."""
    lines: list[str] = []
    deep = 0
    for line in text.splitlines():
        found = _FRAME.match(line)
        if found is None:
            deep = 0
            lines.append(line)
            continue
        deep += 1
        if deep <= _DEEPEST:
            lines.append(f"  {'/'.join(Path(found[1]).parts[-2:])}:{found[2]} in {found[3]}")
        elif deep == _DEEPEST + 1:
            lines.append("  ...")
    return "\n".join(lines)


def _child(fd: int) -> None:
    import faulthandler

    faulthandler.enable(all_threads=False)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    _exit_with_parent()
    connection = Connection(fd)
    sys.path[:], target = pickle.loads(connection.recv_bytes())
    with contextlib.suppress(Exception):  # the first call reports what is wrong with the target
        resolve(target)
    connection.send_bytes(b"ready")
    while True:
        try:
            request = connection.recv_bytes()
        except (EOFError, ConnectionError):
            return
        connection.send_bytes(_answer(request))


def _answer(request: bytes) -> bytes:
    try:
        target, args, kwargs = pickle.loads(request)
        return dumps(("ok", resolve(target)(*args, **kwargs)))
    except AscendOpsError as error:
        return dumps(("error", error))
    except Exception as error:  # noqa: BLE001  the boundary: whatever the function raised is reported to the caller
        name = type(error).__name__
        text = f"{name}: {error}".strip().rstrip(":")
        return dumps(("error", WorkerError(text, type_name=name, traceback=traceback.format_exc())))


def _exit_with_parent() -> None:
    import threading
    import time

    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _shutdown(process: subprocess.Popen[bytes], connection: Connection, log: IO[bytes]) -> None:
    connection.close()
    log.close()
    try:
        process.wait(0.05)  # an idle worker leaves by itself when its connection closes
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())
