"""The Jinja environment: strict, exact whitespace, control lines as comments, and the way back from a rendered line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendops import resources
from ascendops.errors import TemplateError
from ascendops.render import env, gen, origin
from ascendops.render.lint import lint, lint_templates
from ascendops.spec import parse
from tests.unit.test_spec import GOOD


def write(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return name


def render(tmp_path, name, text, **context):
    return env.render(write(tmp_path, name, text), context, root=tmp_path)


def test_control_lines_leave_nothing_behind(tmp_path):
    cpp = "void Init(\n//% for t in names\n    GM_ADDR {{ t }},\n//% endfor\n    GM_ADDR tiling)\n"
    assert render(tmp_path, "a.cpp.j2", cpp, names=["x", "y"]) == "void Init(\n    GM_ADDR x,\n    GM_ADDR y,\n    GM_ADDR tiling)\n"
    toml = "a = 1\n#% if more\nb = 2\n#% endif\n"
    assert render(tmp_path, "a.toml.j2", toml, more=True) == "a = 1\nb = 2\n"
    assert render(tmp_path, "b.toml.j2", toml, more=False) == "a = 1\n"


def test_blank_lines_after_control_lines_stay(tmp_path):
    text = "a\n//% if 1\n\n\nb\n//% endif\n\nc"
    assert render(tmp_path, "a.h.j2", text) == "a\n\n\nb\n\nc"


def test_files_without_j2_are_copied(tmp_path):
    assert render(tmp_path, "row_ops.h", "int x{{0}};\n//% not jinja\n") == "int x{{0}};\n//% not jinja\n"


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        ("a\n{{ op.nme }}\n", "has no attribute 'nme'", "a.cpp.j2:2"),
        ("a\nb\n{{ missing }}\n", "'missing' is undefined", "a.cpp.j2:3"),
        ("a\n{% if %}\n", "Expected an expression", "a.cpp.j2:2"),
        ("//% for x in xs\n", "Unexpected end of template", "a.cpp.j2:1"),
    ],
)
def test_faults_name_the_template_line(tmp_path, text, what, where):
    with pytest.raises(TemplateError) as caught:
        render(tmp_path, "a.cpp.j2", text, op=object(), xs=[])
    assert what in caught.value.what
    assert caught.value.where == where


def test_a_missing_template_is_an_error(tmp_path):
    with pytest.raises(TemplateError, match=r"no template nothing\.j2"):
        env.render("nothing.j2", {}, root=tmp_path)
    with pytest.raises(TemplateError, match="cannot be read"):
        env.render("nothing.h", {}, root=tmp_path)


def test_filters(tmp_path):
    text = '{{ "AddCustom" | snake }} {{ "add_custom" | pascal }} {{ "float16" | cpp }} {{ "bfloat16" | ge_dtype }} {{ "n // 2" | expr }} {{ "a\\"b" | toml }} {{ ["x", 1, true] | toml_list }}'
    want = 'add_custom AddCustom half ge::DT_BF16 FloorDiv(axis_n, Num(2)) "a\\"b" ["x", 1, true]'
    assert render(tmp_path, "a.txt.j2", text) == want
    with pytest.raises(TemplateError, match="'fp16' is not known"):
        render(tmp_path, "b.txt.j2", '{{ "fp16" | cpp }}')


def test_line_map_follows_loops_conditions_and_blank_lines(tmp_path):
    text = "one\n//% for i in range(2)\nloop {{ i }}\n//% endfor\n\n{% if false %}\nno\n{% endif %}\n//% if true\nlast\n//% endif\n"
    write(tmp_path, "a.cpp.j2", text)
    rendered = env.render("a.cpp.j2", {}, root=tmp_path).split("\n")
    lines = [found[1] if found else None for found in env.line_map("a.cpp.j2", {}, root=tmp_path)]
    assert rendered == ["one", "loop 0", "loop 1", "", "last", ""]
    assert lines[:5] == [1, 3, 3, 5, 10]


def test_origin_finds_the_template_line_of_generated_code(tmp_path):
    spec = parse(GOOD, tmp_path / "op.toml")
    gen(spec).write(tmp_path)
    path = tmp_path / "gen/op_host/softmax_def.cpp"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = origin(spec, path, number)
        assert found is not None
        template, _, at = found.partition(":")
        source = (resources.op_templates().parent / template).read_text().splitlines()[int(at) - 1]
        common = source.split("{{")[0].strip()
        assert common in line
    assert origin(spec, tmp_path / "op_host/softmax_tiling.cpp", 3) is None
    assert origin(spec, Path("/elsewhere/gen/x.cpp"), 1) is None
    assert origin(spec, path, 10_000) is None


BRACES = "{ {"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("int x{{0}};\n", "holds a literal"),
        ("auto a = NodeAttrs({{1, 2}});\n", "holds a literal"),
        ("f({{[1, 2]}});\n", "holds a literal"),
        ("f({{'a': 1}});\n", "end of print statement"),
        ("{{ oops }}\n", "'oops' is not defined"),
        ("{{ op.name }", "unexpected"),
        ("#% if 1\n#% endif\n", "start with //%, not #%"),
        ("{% import 'x.j2' as x %}\n", "do not import"),
        ("{% from 'x.j2' import y %}\n", "do not import"),
        ("no newline", "no newline at the end"),
    ],
)
def test_lint_finds(text, what):
    assert any(what in problem.message for problem in lint(text, "a.cpp.j2")), lint(text, "a.cpp.j2")


def test_lint_is_silent_on_good_templates():
    good = f'// {{{{ header }}}}\n//% for u in op.units\nint x{BRACES}0}} }};  // {{{{ u }}}}{{{{ "" if loop.last else "," }}}}\n//% endfor\n{{{{ "" }}}}\n'
    assert lint(good, "a.cpp.j2") == []
    assert lint("{% set n = p.doc %}{{ n | length }}\n", "a.toml.j2") == []


def test_every_template_of_the_kit_is_clean():
    assert [str(problem) for problem in lint_templates()] == []
