"""`--distribute ray` on a local cluster of two nodes, one of which is killed while it has cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_testing import project

pytest.importorskip("ray", reason="ray is not installed: pip install 'ascendops[farm]'")
MEET = """
        import glob, time
        open(root + "/../seen-%d" % os.getpid(), "w").close()
        while len(glob.glob(root + "/../seen-*")) < 2: time.sleep(0.05)  # until both nodes have a case
        time.sleep(0.2)
"""


def ascendops(*args: str, address: str = "", **kwargs: Any) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "RAY_ADDRESS": address or "127.0.0.1:1"}
    return subprocess.run([sys.executable, "-m", "ascendops", "test", *args], capture_output=True, text=True, env=env, timeout=300, **kwargs)


@pytest.fixture(scope="module")
def head() -> Iterator[Any]:
    """A head without labels."""
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    yield found
    found.shutdown()


@pytest.fixture
def cluster(head: Any) -> Iterator[Any]:
    """The head; nodes that a test adds go with it."""
    before = set(head.list_all_nodes())
    yield head
    for node in set(head.list_all_nodes()) - before:
        head.remove_node(node, allow_graceful=False)


def test_a_cluster_that_cannot_help_is_named(cluster: Any, tmp_path: Path) -> None:
    folder = project(tmp_path)
    done = ascendops(str(folder), "--distribute", "ray", address=cluster.address)
    assert done.returncode == 3 and "no host of the Ray cluster offers the resource 'twin'" in done.stderr + done.stdout
    done = ascendops(str(folder), "--distribute", "ray", "-n", "2", address=cluster.address)
    assert done.returncode == 2 and "--distribute does not go together with -n" in done.stderr


def test_a_killed_node_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    folder = project(tmp_path, spoil=MEET.replace("root", repr(str(tmp_path / "twice"))).strip())
    nodes = [cluster.add_node(num_cpus=1, resources={"twin": 1}) for _ in range(2)]
    command = [sys.executable, "-m", "ascendops", "test", str(folder), "--reference", "none", "--tier", "declared", "--distribute", "ray",
               "--json", "--", f"--ascendops-kernel={folder}/kernel.py:run"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "RAY_ADDRESS": cluster.address})
    lines = folder / ".ascendops" / "run.jsonl"
    deadline = time.monotonic() + 120
    while not (lines.is_file() and len(lines.read_text().splitlines()) >= 3):
        assert run.poll() is None and time.monotonic() < deadline, run.communicate()
        time.sleep(0.05)
    cluster.remove_node(nodes[0], allow_graceful=False)
    out, talk = run.communicate(timeout=200)
    result = json.loads(out)
    cases = [case for case in result["cases"] if case["kind"] == "case"]
    assert run.returncode == 0, talk
    assert len(cases) == len({case["id"] for case in cases}) == 14 and all(case["status"] == "pass" for case in cases)
    places = {note for case in cases for note in case["notes"] if note.startswith("ran on ")}
    assert len(places) >= 2
    assert len(lines.read_text().splitlines()) == 1 + 14 + 1
    assert all(case["repro"].startswith(f"ascendops test {folder}") for case in cases)


def test_what_fails_on_a_host_is_told_with_the_drivers_paths(cluster: Any, tmp_path: Path) -> None:
    cluster.add_node(num_cpus=1, resources={"twin": 1})
    findings = "[dict(id='UB-BOUNDS', severity='error', message='past the end', file=__file__, line=2, block=3)]"
    folder = project(tmp_path, findings=findings)
    done = ascendops(str(folder), "--reference", "none", "--tier", "declared", "--distribute", "ray", "-k", "tail and float32",
                     "--", f"--ascendops-kernel={folder}/kernel.py:run", address=cluster.address)
    assert done.returncode == 1
    assert f"UB-BOUNDS at {folder}/kernel.py:2" in done.stdout, done.stdout
