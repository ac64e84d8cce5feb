"""What `ascendops test` and `ascendops verify` say: one message per fault, options that reach the kernel, files that are something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_testing import KERNEL, project, run

from ascendops.cli.app import main
from ascendops.errors import NotAVerdict
from ascendops.testing import verdicts
from ascendops.worker import _frames


def test_an_error_of_every_case_is_printed_once_and_counted(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "golden.py").unlink()
    result, out = run(folder)
    assert result.exit_code == 1 and sum(case.status == "error" for case in result.report.cases) == 14
    assert out.count("twice has no golden.py") == 2, out
    assert "the same error stopped 13 more cases: twice has no golden.py" in out
    assert "= help: write it with a function `golden`" in out


def test_auto_sync_off_reaches_the_kernel_and_the_report(tmp_path: Path) -> None:
    folder = project(tmp_path, spoil="y = y if auto_sync else y + 1")
    (folder / "kernel.py").write_text((folder / "kernel.py").read_text().replace("timeout_s):", "timeout_s, fault=None, auto_sync=True):"))
    assert "auto_sync=True" in (folder / "kernel.py").read_text() and "auto_sync" not in KERNEL
    on, _ = run(folder, "-k", "tail")
    off, out = run(folder, "-k", "tail", auto_sync=False)
    assert on.exit_code == 0 and on.report.environment["auto_sync"] is True
    assert off.exit_code == 1 and off.report.environment["auto_sync"] is False
    assert "without the compiler's --cce-auto-sync" in out and "--auto-sync off" in out


@pytest.mark.parametrize("text", [None, "not JSON", "[1, 2]", '{"cases": []}', '{"format": "ascendops-bundle/1"}'])
def test_what_is_no_verdict_is_a_usage_error(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "verdict.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(NotAVerdict) as caught:
        verdicts.verify(tmp_path)
    error = caught.value
    assert error.exit_code == 2 and error.where == str(file) and error.why and "ascendops test --verdict" in str(error.help)


def test_another_version_of_a_verdict_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "verdict.json").write_text(json.dumps({"format": "ascendops-verdict/0"}))
    with pytest.raises(verdicts.BundleVersion) as caught:
        verdicts.verify(tmp_path)
    assert caught.value.why and caught.value.help and caught.value.where


def test_the_frames_of_a_hang_are_short() -> None:
    deep = [f'  File "/a/very/long/path/to/site-packages/torch/file{i}.py", line {i} in f{i}' for i in range(20)]
    text = _frames("\n".join(["Current thread 0x1 (most recent call first):", *deep, "", "Thread 0x2:", deep[0]]))
    assert text.splitlines()[1] == "  torch/file0.py:0 in f0"
    assert max(map(len, text.splitlines())) < 60 and len(text.splitlines()) == 11


def test_auto_sync_is_refused_where_it_means_nothing() -> None:
    for options in (["--auto-sync", "off", "--shrink"], ["--auto-sync", "maybe"]):
        assert main(["test", *options]) == 2
