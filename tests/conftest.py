"""Options of the kit's own tests, and how `-n` spreads them over processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("ASCENDOPS_TWIN_OPTIMIZE", "0")  # most kernels here run once: compiling them is what takes the time

# Minutes of work in few tests. They start first, so that no process is left alone with one of them at the end.
LONG = (
    "test_checks", "test_docs_run", "test_torch_native", "test_cli_kernels", "test_row_families", "test_testing", "test_moving_families", "test_torch_gallery",
    "test_npu_twin", "test_cann_frontends", "test_public_projects", "test_attention_gradients", "test_package", "test_torch_onnx",
)  # fmt: skip
APART = ("test_checks", "test_docs_run", "test_torch_gallery")  # each test of these stands alone; of all others, a file shares what its fixtures build


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write what is rendered now into tests/golden instead of comparing")
    parser.addoption("--every-operator", action="store_true", help="tests/twin/test_torch_gallery.py: all gallery operators, not one of each kind")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return nodeid if Path(file).stem in APART else file

    return ByFile(config, log)
