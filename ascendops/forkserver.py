"""Worker processes that start from a process which has torch imported: a fork, where an import takes seconds.

The server is one process per set of variables that libraries read when they load. It imports torch and nothing of a
project, runs no thread and no kernel, and forks a child for each request. It ends with the process that started it.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import importlib.util
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Mapping
from typing import NoReturn

from ascendops.wire import dumps

_BOOT = "import sys; from ascendops.forkserver import _serve; _serve(int(sys.argv[1]))"
_AT_LOAD = (  # beginnings of the variables that only the start of a process, or an import in the server, can give
    "ASCENDOPS_NPU", "CUDA_", "GLIBC_", "GOMP_", "KMP_", "LD_", "MALLOC_", "MKL_", "NVIDIA_", "OMP_", "OPENBLAS_", "PYTHON", "PYTORCH_",
    "TORCH",
)  # fmt: skip
_STATUS = struct.Struct("=i")
_HEAD = struct.Struct("=I")
_FDS = 3  # the worker's connection, its log, the pipe that says its process id and how it ended

_servers: dict[tuple[tuple[str, str], ...], _Server] = {}


class Forked:
    """A process that the server forked, with the part of `subprocess.Popen` that a worker uses."""

    def __init__(self, status: int, server: subprocess.Popen[bytes]) -> None:
        self._status = status
        self._server = server
        self._pid: int | None = None
        self._code: int | None = None
        self._finalizer = weakref.finalize(self, os.close, status)

    @property
    def pid(self) -> int | None:
        """The process id; None until the server has forked."""
        self.wait_for(0)
        return self._pid

    def poll(self) -> int | None:
        """The exit status (negative: the signal), or None while it runs."""
        self.wait_for(0)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """The exit status.

        Raises:
            TimeoutExpired: It still runs after `timeout` seconds.
        """
        self.wait_for(timeout)
        if self._code is None:
            raise subprocess.TimeoutExpired("worker", timeout or 0.0)
        return self._code

    def wait_for(self, timeout: float | None) -> None:
        """Reads what the server has said; waits until the process has ended, at most `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while self._code is None:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not select.select([self._status], [], [], left)[0]:
                return
            said = os.read(self._status, _STATUS.size)
            if len(said) < _STATUS.size:  # the server is gone, and its children end with it
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._server.wait(1)
                self._code = self._server.poll() or -signal.SIGKILL  # how the server ended, which they did not outlive
            elif self._pid is None:
                self._pid = _STATUS.unpack(said)[0]
            else:
                self._code = _STATUS.unpack(said)[0]


def usable() -> bool:
    """Whether a fork is safe: on Linux, without torch_npu, whose import may start the device's runtime."""
    return sys.platform == "linux" and importlib.util.find_spec("torch_npu") is None


def start(connection: int, log: int, env: Mapping[str, str]) -> Forked:
    """Asks for a process that serves `connection` (`ascendops.serve.serve`), with `log` as its stdout and stderr; does not wait for it.

    Raises:
        OSError: The server cannot be started or has died.
    """
    return _server(env).fork(connection, log, env)


def prepare(env: Mapping[str, str]) -> None:
    """Starts the server for processes with these variables, if there is none: it imports torch while this process does other things.

    Raises:
        OSError: It cannot be started.
    """
    _server(env)


def _server(env: Mapping[str, str]) -> _Server:
    key = tuple(sorted((name, value) for name, value in env.items() if name.startswith(_AT_LOAD)))
    server = _servers.get(key)
    if server is None or not server.alive():
        server = _servers[key] = _Server(env)
    return server


class _Server:
    """This process's end of a server."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._owner = os.getpid()
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, str(theirs.fileno())], env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip
        self._finalizer = weakref.finalize(self, _end, self._process, ours, self._owner)

    def alive(self) -> bool:
        """Whether this process started it (it is no parent's) and it runs."""
        return self._owner == os.getpid() and self._process.poll() is None

    def fork(self, connection: int, log: int, env: Mapping[str, str]) -> Forked:
        read, write = os.pipe()
        try:
            message = dumps((os.getcwd(), dict(env)))
            fds = array.array("i", [connection, log, write])
            with self._lock:
                self._socket.sendmsg([_HEAD.pack(len(message))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
                self._socket.sendall(message)
        except BaseException:
            os.close(read)
            raise
        finally:
            os.close(write)
        return Forked(read, self._process)


def _end(process: subprocess.Popen[bytes], control: socket.socket, owner: int) -> None:
    control.close()
    if owner != os.getpid():
        return
    try:
        process.wait(0.2)
    except subprocess.TimeoutExpired:  # it still imports torch
        process.kill()
        process.wait()


def _serve(fd: int) -> NoReturn:
    """The server's process: imports, then forks for each request until its parent is gone."""
    with contextlib.suppress(Exception):  # a torch that does not import is reported where it is used
        for name in ("torch", "ascendops.serve", "ascendops.testing.kernel", "ascendops.parity.execute", "ascendops.build.operator", "ascendops.build.twin"):
            importlib.import_module(name)
    gc.freeze()  # a child's collections need not walk through torch
    control = socket.socket(fileno=fd)
    wake, note = os.pipe()
    os.set_blocking(note, False)
    signal.set_wakeup_fd(note, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, int] = {}  # process id -> its status pipe
    while True:
        ready = select.select([control.fileno(), wake], [], [])[0]
        if wake in ready:
            os.read(wake, 512)
            _reap(children)
        if control.fileno() in ready:
            try:
                request = _receive(control)
            except (EOFError, OSError):
                os._exit(0)
            _fork(request, children, [control.fileno(), wake, note])


def _receive(control: socket.socket) -> tuple[list[int], str, dict[str, str]]:
    head, ancillary, _, _ = control.recvmsg(_HEAD.size, socket.CMSG_SPACE(_FDS * array.array("i").itemsize), socket.MSG_WAITALL)
    if len(head) < _HEAD.size or not ancillary:
        raise EOFError
    fds = array.array("i")
    fds.frombytes(ancillary[0][2])
    size, parts = _HEAD.unpack(head)[0], []
    while size:
        part = control.recv(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    folder, env = pickle.loads(b"".join(parts))
    return list(fds), folder, env


def _fork(request: tuple[list[int], str, dict[str, str]], children: dict[int, int], own: list[int]) -> None:
    (connection, log, status), folder, env = request
    pid = os.fork()
    if pid == 0:
        _run_child(lambda: _become(log, folder, env, [*own, status, *children.values()]), connection)
    os.close(connection)
    os.close(log)
    children[pid] = status
    _say(status, pid)


def _run_child(prepare: Callable[[], None], connection: int) -> NoReturn:
    from ascendops.serve import serve

    code = 1
    try:
        prepare()
        serve(connection)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001  nothing may return into the server's loop
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _become(log: int, folder: str, env: Mapping[str, str], others: list[int]) -> None:
    import random

    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for fd in (log, *others):
        os.close(fd)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()


def _reap(children: dict[int, int]) -> None:
    while children:
        pid, how = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        status = children.pop(pid)
        _say(status, os.waitstatus_to_exitcode(how))
        os.close(status)


def _say(status: int, value: int) -> None:
    with contextlib.suppress(OSError):  # the asker has closed its end
        os.write(status, _STATUS.pack(value))

