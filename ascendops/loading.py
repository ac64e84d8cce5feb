"""Functions by name and Python files by path."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def resolve(target: str) -> Callable[..., Any]:
    """The function named by `package.module:function` or `path/to/file.py:function`.

    Raises:
        ImportError: No such module or file.
        AttributeError: No such function in it.
    """
    module_name, _, attribute = target.rpartition(":")
    if not module_name:
        raise ImportError(f"'{target}' is not of the form 'package.module:function'")
    value: Any = load_file(Path(module_name)) if module_name.endswith(".py") else importlib.import_module(module_name)
    for part in attribute.split("."):
        value = getattr(value, part)
    function: Callable[..., Any] = value
    return function


def load_file(path: Path) -> Any:
    """Imports a Python file by path, once per process and per content of the file.

    Raises:
        ImportError: The file cannot be read as a module.
    """
    import hashlib

    if not path.is_file():
        raise ImportError(f"no such file: {path}")
    digest = hashlib.sha256(str(path.resolve()).encode() + path.read_bytes()).hexdigest()[:16]
    name = f"_ascendops_file_{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"not a Python file: {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
