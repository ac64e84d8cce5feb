"""Runs the documentation: every bash and python block of docs/ and the README, in order, in one folder for each page.

HTML comments direct it. `file: NAME` writes the next block to NAME. `replace: NAME` replaces, in that file, the next block's text by that of the
block after it. `run: COMMAND` runs a command that the page does not show. `before: CODE` goes
before the next python block. After a block: `expect: TEXT` must be in what it printed, `exit: N` is its exit code, `skip: WHY`
leaves it out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
GENERATED = {"cli.md", "errors.md"}
_TOKEN = re.compile(r"^<!-- (?P<word>file|replace|run|before|expect|exit|skip): (?P<text>.*?) -->$|^```(?P<lang>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.twin


@dataclass
class Block:
    """One executable or written block, with the directives around it."""

    lang: str
    body: str
    file: str = ""
    replace: str = ""
    before: str = ""
    by: str = ""
    skip: str = ""
    exit: int = 0
    expect: list[str] = field(default_factory=list)


def parse(text: str) -> list[Block]:
    blocks: list[Block] = []
    ahead: dict[str, str] = {}
    for token in _TOKEN.finditer(text):
        word = token["word"]
        if word in ("file", "replace", "before"):
            ahead[word] = token["text"]
        elif word == "run":
            blocks.append(Block("bash", token["text"]))
        elif word == "expect":
            blocks[-1].expect.append(token["text"])
        elif word == "exit":
            blocks[-1].exit = int(token["text"])
        elif word == "skip":
            blocks[-1].skip = token["text"]
        elif blocks and blocks[-1].replace and not blocks[-1].by:
            blocks[-1].by = token["body"]
        else:
            blocks.append(Block(token["lang"], token["body"], **ahead))
            ahead = {}
    return blocks


@dataclass
class Runner:
    """Runs blocks one after the other; a `cd` in one is still in force in the next."""

    folder: Path
    env: dict[str, str]

    def run(self, block: Block) -> None:
        if block.file:
            (self.folder / block.file).parent.mkdir(exist_ok=True)
            (self.folder / block.file).write_text(block.body)
            return
        if block.replace:
            text = (self.folder / block.replace).read_text()
            assert text.count(block.body) == 1, f"{block.replace} has {text.count(block.body)} of:\n{block.body}"
            (self.folder / block.replace).write_text(text.replace(block.body, block.by))
            return
        if block.skip or block.lang not in ("bash", "python"):
            assert block.skip or not block.expect, f"an expectation for a block that is not run:\n{block.body}"
            return
        done = subprocess.run(self.command(block), cwd=self.folder, env=self.env, capture_output=True, text=True)
        said = done.stdout + done.stderr
        assert done.returncode == block.exit, f"exit status {done.returncode}, not {block.exit}:\n{block.body}\n{said}"
        for text in block.expect:
            assert text in said, f"'{text}' is not in the output of:\n{block.body}\n{said}"
        where = self.folder / ".cwd"
        if where.is_file():
            target = Path(where.read_text().strip())
            where.unlink()
            self.folder = target

    def command(self, block: Block) -> list[str]:
        if block.lang == "python":
            return [sys.executable, "-c", f"{block.before}\n{block.body}"]
        return ["bash", "-c", f'start=$PWD; set -e\n{block.body}\npwd > "$start/.cwd"']


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in GENERATED], ids=lambda page: page.stem)
def test_the_page_runs(page, tmp_path):
    blocks = parse(page.read_text(encoding="utf-8"))
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    runner = Runner(tmp_path, env)
    for block in blocks:
        runner.run(block)


def test_the_runner_notices_a_wrong_page(tmp_path):
    env = dict(os.environ)
    for text in ("```bash\nfalse\n```\n", "```bash\necho a\n```\n<!-- expect: b -->\n", "```python\nprint(1\n```\n", "```bash\ntrue\n```\n<!-- exit: 2 -->\n"):
        with pytest.raises(AssertionError):
            for block in parse(text):
                Runner(tmp_path, env).run(block)


def test_cd_lasts_and_files_are_written(tmp_path):
    runner = Runner(tmp_path, dict(os.environ))
    for block in parse("```bash\nmkdir a && cd a\n```\n<!-- file: x.txt -->\n```text\nhello\n```\n```bash\ncat x.txt && pwd\n```\n<!-- expect: hello -->\n"):
        runner.run(block)
    assert runner.folder == tmp_path / "a"
