"""Every preset of every family: it renders, its declaration loads, and it fits the reference of the same name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ascendops import resources
from ascendops.errors import BadOpName
from ascendops.render import all_families, new_project
from ascendops.spec import load
from ascendops.spec.names import check_op_name

PRESETS = [(family.name, preset) for family in all_families() for preset, values in family.presets.items() if not values.get("any_schema")]
MAX_COLUMNS = 120


def name_of(preset: str) -> str:
    """The preset's own name, or with `_custom` where a C function or macro has it."""
    try:
        check_op_name(preset)
    except BadOpName:
        return f"{preset}_custom"
    return preset


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    root = tmp_path_factory.mktemp("projects")
    made = {}
    for family, preset in PRESETS:
        made[preset] = new_project(name_of(preset), root / preset, family=family, like=preset)
    return made


def reference_of(preset: str) -> Path:
    return resources.cuda_reference() / preset / f"triton_{preset}.py"


def function(path: Path, name: str) -> ast.FunctionDef:
    found = [
        node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    assert len(found) == 1, f"{path} must define {name} once"
    return found[0]


def arguments(node: ast.FunctionDef) -> list[str]:
    return [arg.arg for arg in node.args.args]


def test_presets_are_unique():
    names = [preset for _, preset in PRESETS]
    assert len(names) == len(set(names))


def test_the_name_picks_the_family(tmp_path):
    assert new_project("add", tmp_path / "add").family == "broadcast"
    assert new_project("gelu", tmp_path / "gelu").family == "elementwise"


@pytest.mark.parametrize("preset", [preset for _, preset in PRESETS])
class TestPreset:
    def test_has_the_five_parts(self, projects, preset):
        name, root = name_of(preset), projects[preset].root
        for path in (
            "op.toml",
            "golden.py",
            f"op_host/{name}_tiling.cpp",
            f"op_kernel/{name}.cpp",
            f"op_kernel/{name}_tiling.h",
        ):
            assert (root / path).is_file()

    def test_cases_name_every_tiling_key(self, projects, preset):
        spec = load(projects[preset].root / "op.toml")
        assert {case.tiling_key for case in spec.cases} - {None} == {key.name for key in spec.tiling_keys}
        source = (spec.root / "op_kernel" / f"{spec.name}.cpp").read_text()
        assert {int(key) for key in re.findall(r"TILING_KEY_IS\((\d+)\)", source)} == {
            key.key for key in spec.tiling_keys
        }

    def test_cases_have_what_finds_faults(self, projects, preset):
        cases = load(projects[preset].root / "op.toml").cases
        numels = {_numel(next(iter(case.shapes.values()))) for case in cases}
        assert 0 in numels and min(numels - {0}) <= 2  # a row of two halves has two elements
        assert any(n % 16 for n in numels)
        assert {"transposed", "sliced"} <= {case.layout for case in cases}
        quantizes = "quantization" in str(projects[preset].family)  # NaN has no int8
        assert ("wide" if quantizes else "special") in {case.values for case in cases}

    def test_golden_takes_the_schema(self, projects, preset):
        project = projects[preset]
        golden = function(project.root / "golden.py", "golden")
        spec = project.spec
        assert arguments(golden)[len(spec.inputs) :] == [attr.name for attr in spec.attrs]
        assert len(arguments(golden)) == len(spec.inputs) + len(spec.attrs)

    def test_reference_takes_the_schema(self, projects, preset):
        path = reference_of(preset)
        assert path.is_file()
        assert (path.parent / "README.md").read_text().startswith(f"# {preset}\n")
        spec = projects[preset].spec
        assert spec.reference["triton"] == f"reference/{path.name}:{preset}"
        assert arguments(function(path, preset)) == [tensor.name for tensor in (*spec.inputs, *spec.attrs)]
        assert (spec.root / "reference" / path.name).read_text() == path.read_text()

    def test_sources_are_readable(self, projects, preset):
        for path in sorted(projects[preset].root.rglob("*")):
            if path.suffix not in (".cpp", ".h") or "gen" in path.relative_to(projects[preset].root).parts:
                continue
            text = path.read_text()
            assert "{{" not in text and "//%" not in text
            wide = [i for i, line in enumerate(text.splitlines(), 1) if len(line) > MAX_COLUMNS]
            assert not wide, f"{path.name}: lines {wide} are longer than {MAX_COLUMNS} columns"
            assert "\n\n\n" not in text and not re.search(r"[ \t]+$", text, re.MULTILINE)


@pytest.mark.parametrize("preset", [preset for family, preset in PRESETS if family == "elementwise"])
def test_statements_of_a_group_are_independent(preset):
    values = next(family.presets[preset] for family in all_families() if preset in family.presets)
    for group in [*values["steps"], *values.get("float_steps", [])]:
        operands = [re.findall(r"\b(?:t\d|mask|y|x\d?)\b", statement) for statement in group]
        for i, (written, *_) in enumerate(operands):
            others = {name for j, names in enumerate(operands) if j != i for name in names}
            assert written not in others, f"{group}: no barrier between statements that share {written}"


def test_references_belong_to_presets():
    folders = {path.name for path in resources.cuda_reference().iterdir() if path.is_dir()}
    assert folders == {preset for _, preset in PRESETS}


def _numel(shape) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
