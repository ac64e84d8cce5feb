"""The side of a worker that answers: loads the target, runs it for each call, and reports whatever it raises."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection

from ascendops.errors import AscendOpsError, WorkerError
from ascendops.loading import resolve
from ascendops.wire import dumps


def serve(fd: int) -> None:
    """Answers the calls that come over a socket until it closes; the first message is (sys.path, target)."""
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
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
