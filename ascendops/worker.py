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
import time
import weakref
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ascendops import forkserver
from ascendops.errors import KernelCrash, KernelHang
from ascendops.wire import dumps

_TAIL_BYTES = 4000
_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+) in (.+)')  # a line of faulthandler
_DEEPEST = 6  # frames per thread that a message shows
_BOOT = "import sys; from ascendops.serve import serve; serve(int(sys.argv[1]))"


_Process = subprocess.Popen[bytes] | forkserver.Forked


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
        self._process: _Process | None = None
        self._asked: float | None = None
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
        self.begin(*args, timeout_s=timeout_s, **kwargs)
        return self.collect(timeout_s)

    def begin(self, *args: Any, timeout_s: float | None = None, **kwargs: Any) -> None:
        """Sends a call's arguments; the function runs while this process goes on. A call whose result nobody collected is abandoned.

        Raises:
            KernelCrash: The process died.
            KernelHang: It did not start within the time limit.
        """
        if self._asked is not None:
            self.close()
        self.start()
        limit = self.timeout_s if timeout_s is None else timeout_s
        assert self._connection is not None
        try:
            if not self._ready:  # until then it does not read, and a large message would block
                if not self._connection.poll(limit):
                    self._raise_hang(limit)
                self._ready = bool(self._connection.recv_bytes())
            self._connection.send_bytes(dumps((self.target, args, kwargs)))
        except (EOFError, ConnectionError) as error:
            raise self._crash() from error
        except BaseException:
            self.close()
            raise
        self._asked = time.monotonic()

    def collect(self, timeout_s: float | None = None) -> Any:
        """The result of the call that `begin` sent; the time limit counts from there. Raises what `call` raises."""
        limit = self.timeout_s if timeout_s is None else timeout_s
        if self._connection is None or self._asked is None:
            raise RuntimeError("collect without begin")
        left = None if limit is None else max(0.0, limit - (time.monotonic() - self._asked))
        self._asked = None
        try:
            if not self._connection.poll(left):
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

    def prepare(self) -> None:
        """Lets what every worker needs be imported from now on, so that a later start is quick."""
        if forkserver.usable():
            forkserver.prepare(self._environment())

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
        self._process = self._connection = self._finalizer = self._log = self._asked = None

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
        with theirs:
            self._process = _process(theirs.fileno(), self._log, self._environment())
        self._connection = Connection(ours.detach())
        self._finalizer = weakref.finalize(self, _shutdown, self._process, self._connection, self._log)
        self._connection.send_bytes(dumps((list(sys.path), self.target)))
        self._ready = False
        self.starts += 1

    def _environment(self) -> dict[str, str]:
        env = {**os.environ, **self.env}
        package_root = str(Path(__file__).resolve().parent.parent)
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [package_root, env.get("PYTHONPATH")]))
        return env

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
        if self._process.pid is not None:
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


def _process(connection: int, log: IO[bytes], env: Mapping[str, str]) -> _Process:
    if forkserver.usable():
        return forkserver.start(connection, log.fileno(), env)
    return subprocess.Popen(
        [sys.executable, "-c", _BOOT, str(connection)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(env), pass_fds=[connection],
        start_new_session=True,  # Ctrl-C reaches this process only, which then ends the worker
    )  # fmt: skip


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


def _shutdown(process: _Process, connection: Connection, log: IO[bytes]) -> None:
    connection.close()
    log.close()
    try:
        process.wait(0.05)  # an idle worker leaves by itself when its connection closes
    except subprocess.TimeoutExpired:
        pid = process.pid
        if pid is None:  # not forked yet: it will find its connection closed
            return
        for kill in (os.killpg, os.kill):  # a fork may not lead its group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)
        process.wait()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())
