"""`render.new_project`: every preset gives a project that loads, and wrong requests are refused without a trace on disk."""

from __future__ import annotations

import ast
import re

import pytest

from ascendops import errors
from ascendops.render import all_families, gen, new_project
from ascendops.render.fileset import MARKER
from ascendops.render.gen import header
from ascendops.spec import load, names
from ascendops.spec.digest import interface_digest

PRESETS = [(family.name, preset) for family in all_families() for preset, values in family.presets.items() if not values.get("any_schema")]


def usable(preset):
    """The preset's own name, or the suggested one when that is taken."""
    return names.suggestion(preset)


@pytest.mark.parametrize(("family", "preset"), PRESETS, ids=[preset for _, preset in PRESETS])
def test_every_preset_gives_a_project_that_loads(family, preset, tmp_path):
    name = usable(preset)
    project = new_project(name, tmp_path / name, family=family)
    assert (project.family, project.preset, project.note) == (family, preset, "")
    spec = load(tmp_path / name)
    assert spec == project.spec
    assert (spec.name, spec.family, spec.units) == (name, family, ("ascend910b", "ascend910_93"))
    assert {path for path, _ in project.files} == {p.relative_to(tmp_path / name).as_posix() for p in (tmp_path / name).rglob("*") if p.is_file()}
    assert gen(spec).changed(tmp_path / name) == []


@pytest.mark.parametrize(("family", "preset"), PRESETS, ids=[preset for _, preset in PRESETS])
def test_the_files_of_a_preset_fit_together(family, preset, tmp_path):
    name = usable(preset)
    root = tmp_path / name
    spec = new_project(name, root, family=family).spec
    assert f"void {name}(" in (root / f"op_kernel/{name}.cpp").read_text()
    assert f"{spec.op_type}Tiling(" in (root / f"op_host/{name}_tiling.cpp").read_text()
    golden = ast.parse((root / "golden.py").read_text())
    function = next(node for node in golden.body if isinstance(node, ast.FunctionDef) and node.name == "golden")
    wanted = [arg.name for arg in spec.schema.arguments]
    assert [arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)] == wanted
    path, _, entry = spec.reference["triton"].partition(":")
    assert entry in {node.name for node in ast.parse((root / path).read_text()).body if isinstance(node, ast.FunctionDef)}
    reached = {case.tiling_key for case in spec.cases}
    assert {key.name for key in spec.tiling_keys} <= reached


def test_generated_files_say_so_in_their_first_lines(tmp_path):
    spec = new_project("softmax", tmp_path / "s").spec
    digest = interface_digest(spec)[:12]
    for file in gen(spec):
        head = "\n".join(file.text.splitlines()[:5])
        assert MARKER in head, file.path
        assert "edits are lost" in head
        assert digest in head
        assert re.search(r"template _gen/\S+\.j2", head)
    assert header("t.j2", "abc") == f"{MARKER} from op.toml; edits are lost (template t.j2, spec abc)"


def test_a_name_of_ones_own(tmp_path):
    like = new_project("fast_gelu", tmp_path / "a", like="gelu")
    assert (like.family, like.preset, like.note) == ("elementwise", "gelu", "")
    assert like.spec.schema.name == "fast_gelu"
    default = new_project("my_op", tmp_path / "b", family="softmax")
    assert default.preset == "softmax"
    assert default.note == "'my_op' is not a preset of softmax, so its default 'softmax' was taken"


def test_units(tmp_path):
    assert new_project("softmax", tmp_path / "s", units=["ascend310p"]).spec.units == ("ascend310p",)


REFUSED = [
    ({"name": "exp"}, errors.BadOpName, "cannot be called 'exp'", "exp_custom"),
    ({"name": "class"}, errors.BadOpName, "cannot be called 'class'", "class_custom"),
    ({"name": "Softmax"}, errors.BadOpName, "cannot be called 'Softmax'", "softmax"),
    ({"name": "softmx"}, errors.UnknownPreset, "no template has an operator 'softmx'", "did you mean 'softmax'?"),
    ({"name": "my_op"}, errors.UnknownPreset, "no template has an operator 'my_op'", "--like PRESET"),
    ({"name": "my_op", "like": "gellu"}, errors.UnknownPreset, "no preset 'gellu'", "did you mean 'gelu'?"),
    ({"name": "my_op", "like": "gelu", "family": "softmax"}, errors.UnknownPreset, "no preset 'gelu'", "--like"),
    ({"name": "my_op", "family": "softmx"}, errors.UnknownFamily, "no template family 'softmx'", "did you mean 'softmax'?"),
    ({"name": "softmax", "units": ["ascend910c"]}, errors.UnitError, "'ascend910c' is not a compute unit", "ascend910b"),
    ({"name": "unheard_of", "schema": "unheard_of(Tensor x -> Tensor y"}, errors.SchemaError, "expected ',' or ')'", "types are"),
    ({"name": "softmax", "schema": "softmax(Tensr x) -> Tensor y"}, errors.SchemaError, "the type 'Tensr'", "types are"),
    ({"name": "softmax", "schema": "softmax(Tensor x, Tensor m) -> Tensor y"}, errors.SchemaMisfit, "it has 2 input tensors, but the kernel 1", "--like"),
    ({"name": "softmax", "schema": "softmax(Tensor x) -> (Tensor y, Tensor s)"}, errors.SchemaMisfit, "it has 2 output tensors", "--like"),
    ({"name": "softmax", "schema": "softmax(Tensor x, int dim) -> Tensor y"}, errors.SchemaMisfit, "its attributes are (int dim)", "--like"),
    ({"name": "softmax", "schema": "soft(Tensor x) -> Tensor y"}, errors.SchemaMisfit, "it is called 'soft'", "--like"),
]


@pytest.mark.parametrize(("request_", "error", "what", "help_"), REFUSED, ids=[f"{e.__name__}-{i}" for i, (_, e, _, _) in enumerate(REFUSED)])
def test_wrong_requests_are_refused_and_leave_nothing(request_, error, what, help_, tmp_path):
    arguments = dict(request_)
    with pytest.raises(error) as caught:
        new_project(arguments.pop("name"), tmp_path / "p", **arguments)
    assert what in caught.value.what
    assert help_ in caught.value.help
    assert caught.value.exit_code == errors.ExitCode.USAGE
    assert list(tmp_path.iterdir()) == []


def test_a_schema_with_other_tensor_names(tmp_path):
    spec = new_project("softmax", tmp_path / "s", schema="softmax(Tensor logits) -> Tensor probabilities").spec
    assert [t.name for t in spec.inputs] == ["logits"]
    assert [t.name for t in spec.outputs] == ["probabilities"]
    kernel = (tmp_path / "s/op_kernel/softmax.cpp").read_text()
    assert "GM_ADDR logits" in kernel
    assert "DTYPE_LOGITS" in kernel
    assert "DTYPE_X" not in kernel


# of each family the last preset whose table names tensors: op.toml of a family comes from one template
NAMING = {f.name: preset for f in all_families() for preset, values in f.presets.items() if {"relations", "gradient"} & set(values)}


@pytest.mark.parametrize(("family", "preset"), NAMING.items(), ids=list(NAMING.values()))
def test_a_preset_that_names_tensors_takes_other_names(family, preset, tmp_path):
    name = usable(preset)
    values = next(f for f in all_families() if f.name == family).presets[preset]
    schema = re.sub(r"(Tensor(?:\(\w+!?\))?(?:\[\])?\??) (\w+)", r"\1 \2_given", str(values["schema"]).replace("{name}", name))
    own = new_project(name, tmp_path / name, family=family, like=preset, dry_run=True).spec.operators[0]
    renamed = new_project(name, tmp_path / name, family=family, like=preset, schema=schema, dry_run=True).spec.operators[0]
    assert [tensor.name for tensor in renamed.inputs] == [f"{tensor.name}_given" for tensor in own.inputs]
    assert renamed.relations == {kind: tuple(f"{tensor}_given" for tensor in tensors) for kind, tensors in own.relations.items()}


def test_an_existing_folder_is_refused_and_kept(tmp_path):
    root = tmp_path / "s"
    root.mkdir()
    new_project("softmax", root)
    (root / "op_kernel/softmax.cpp").write_text("mine")
    with pytest.raises(errors.FileExistsRefused, match="exists and is not empty"):
        new_project("softmax", root)
    assert (root / "op_kernel/softmax.cpp").read_text() == "mine"
    preview = new_project("softmax", root, dry_run=True)
    assert "-mine" in preview.diff
    assert (root / "op_kernel/softmax.cpp").read_text() == "mine"
    new_project("softmax", root, force=True)
    assert (root / "op_kernel/softmax.cpp.orig").read_text() == "mine"
    assert "void softmax(" in (root / "op_kernel/softmax.cpp").read_text()


def test_a_dry_run_writes_nothing(tmp_path):
    project = new_project("softmax", tmp_path / "s", dry_run=True)
    assert list(tmp_path.iterdir()) == []
    assert "op_kernel/\n" in project.tree
    assert "+++ b/op.toml" in project.diff


def test_a_broken_family_is_named(tmp_path, monkeypatch):
    (tmp_path / "bad").mkdir()
    (tmp_path / "families.toml").write_text('order = ["bad", "absent"]\n')
    monkeypatch.setattr("ascendops.resources.op_templates", lambda: tmp_path)
    family = tmp_path / "bad/family.toml"

    def refused(text):
        from ascendops.render import families

        families._families.cache_clear()
        family.write_text(text)
        with pytest.raises(errors.AscendOpsError) as caught:
            all_families()
        return caught.value

    start = 'name = "bad"\ndoc = "d"\ndefault = "a"\n'
    preset = '[preset.a]\ndoc = "d"\nschema = "{name}(Tensor x) -> Tensor y"\n'
    assert "cannot be read" in refused("name = ").what
    assert "is called 'other'" in refused(start.replace('"bad"', '"other"') + preset).what
    assert "the default preset 'a' does not exist" in refused(start).what
    assert "preset 'a' lacks 'schema'" in refused(start + '[preset.a]\ndoc = "d"\n').what
    assert "unknown key 'defualt'" in refused(start + preset + "[defualt]\n").what
    missing = refused(start + '[[file]]\ntemplate = "x.j2"\ntarget = "x"\n' + preset)
    assert (missing.what, missing.where) == ("there is no template x.j2", f"{family}:5")
