"""Discovery of projects, binding of calls and the compiler's messages: what build/ does without a compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendops.build.discover import find_projects
from ascendops.build.project import open_project, resolve_backend
from ascendops.build.signature import Parameter, Signature
from ascendops.errors import CompilerNotFound, InputError, NotAProject, NothingSelected, UnknownBackend
from ascendops.toolchain import compiler
from ascendops.toolchain.compiler import Outcome
from ascendops.toolchain.diagnose import compile_error
from ascendops.twin import compilation
from ascendops.twin.entries import find_entries


def project(folder: Path) -> Path:
    (folder / "op_host").mkdir(parents=True)
    (folder / "op_kernel").mkdir()
    return folder


def test_projects_are_found_here_above_and_below(tmp_path: Path) -> None:
    a, b = project(tmp_path / "ops" / "a"), project(tmp_path / "ops" / "deep" / "b")
    project(tmp_path / "ops" / "gen" / "not_me")
    assert find_projects(tmp_path) == [a, b]
    assert find_projects(a / "op_kernel") == [a]
    assert find_projects(a) == [a]


def test_nothing_found_is_exit_code_5(tmp_path: Path) -> None:
    with pytest.raises(NothingSelected) as error:
        find_projects(tmp_path)
    assert error.value.exit_code == 5 and "ascendops new op" in str(error.value)


def test_a_folder_that_is_no_project_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "op_host").mkdir()
    with pytest.raises(NotAProject, match="op_kernel"):
        open_project(tmp_path)
    with pytest.raises(NotAProject, match="not a folder"):
        open_project(tmp_path / "missing")


def test_backend_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPS_BACKEND", "twin")
    assert resolve_backend("auto") == "twin"
    with pytest.raises(UnknownBackend, match="twinn"):
        resolve_backend("twinn")


SIGNATURE = Signature(
    "f",
    (
        Parameter("x", "tensor"),
        Parameter("bias", "optional", None, "Tensor?"),
        Parameter("dim", "attr", -1, "int"),
        Parameter("eps", "attr", 1e-5, "float"),
        Parameter("axes", "attr", (0,), "int[]"),
    ),
    frozenset({"axes"}),
)


def test_a_call_binds_in_order_and_by_name() -> None:
    bound = SIGNATURE.bind(["X", None, 1], {"eps": 1, "axes": 3})
    assert bound.tensors == {"x": "X", "bias": None}
    assert bound.attrs == {"dim": 1, "eps": 1.0, "axes": (3,)}
    assert isinstance(bound.attrs["eps"], float)
    numpy = pytest.importorskip("numpy")
    bound = SIGNATURE.bind(["X"], {"dim": numpy.int64(2), "eps": numpy.float32(0.5), "axes": numpy.array([1, 2])})
    assert bound.attrs == {"dim": 2, "eps": 0.5, "axes": (1, 2)} and type(bound.attrs["dim"]) is int


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ([], {}, r"f needs x \(Tensor\)"),
        ([None], {}, r"f: 'x' must be a tensor, not None(.|\n)*--> f\(Tensor x, Tensor\? bias=None(.|\n)*'x' is required(.|\n)*only bias may be None"),
        ([], {"x": None}, "f: 'x' must be a tensor, not None"),
        (["X", None, 1, 0.1, [1]], {}, r"f takes 4 positional arguments \(x, bias, dim, eps\), 5 were given(.|\n)*argument 5 is list \[1\](.|\n)*axes=\.\.\."),
        (["X"], {"x": "X"}, "twice"),
        (["X"], {"dmi": 1}, "did you mean 'dim'"),
        (["X"], {"dim": 1.5}, "must be int"),
        (["X"], {"dim": True}, "must be int"),
        (["X"], {"eps": "a"}, "must be float"),
        (["X"], {"axes": "ab"}, r"must be int\[\]"),
    ],
)
def test_a_wrong_call_is_explained(args: list[object], kwargs: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as error:
        SIGNATURE.bind(args, kwargs)
    import re

    assert re.search(message, str(error.value)), str(error.value)


def test_a_required_attribute_is_not_none_unless_its_type_says_so() -> None:
    signature = Signature("g", (Parameter("xs", "list", type="Tensor[]"), Parameter("dim", "attr", type="int"), Parameter("axis", "attr", type="int?")))
    assert signature.bind([["X"], 1, None], {}).attrs == {"dim": 1, "axis": None}
    with pytest.raises(InputError, match="g: 'dim' must be int, not None"):
        signature.bind([["X"], None, 1], {})
    with pytest.raises(InputError, match="g: 'xs' must be a list of tensors, not None"):
        signature.bind([None, 1, 1], {})
    with pytest.raises(InputError, match=r"g needs dim \(int\), axis \(int\?\)"):
        signature.bind([["X"]], {})


def test_a_list_of_tensors_is_a_list() -> None:
    torch = pytest.importorskip("torch")
    from ascendops.build.tensors import as_list

    assert as_list(None, "xs", "g") == [] and len(as_list((torch.ones(2), torch.ones(3)), "xs", "g")) == 2
    with pytest.raises(InputError, match=r"g: 'xs' must be a list of tensors, not Tensor(.|\n)*pass \[xs\]"):
        as_list(torch.ones(2), "xs", "g")
    with pytest.raises(InputError, match="g: 'xs' must be a list of tensors, not int"):
        as_list(3, "xs", "g")
    with pytest.raises(InputError, match=r"g: 'xs\[1\]' must be a tensor, not str"):
        as_list([torch.ones(2), "y"], "xs", "g")


LOG = """\
In file included from unit.cpp:12:
/p/op_kernel/k.cpp: In member function 'void K::Compute()':
/p/op_kernel/k.cpp:31:9: error: 'Ad' was not declared in this scope; did you mean 'Add'?
   31 |         Ad(y, x, x, n);
      |         ^~
      |         Add
/p/op_kernel/k.cpp:40:1: error: expected '}'
"""


def test_a_compile_error_keeps_the_compilers_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path))
    error = compile_error(Outcome(("g++", "-c", "k.cpp"), 1, LOG), "the kernel of k", lambda path, line: f"template.j2:{line - 1}")
    text = str(error)
    assert error.exit_code == 4
    assert error.where == "/p/op_kernel/k.cpp:31"
    assert "'Ad' was not declared in this scope; did you mean 'Add'?" in text
    assert "31 |         Ad(y, x, x, n);" in text
    assert "generated from template.j2:30" in text
    assert "and 1 more error" in text
    assert "command: g++ -c k.cpp" in text and "exit status 1" in text
    log = next((tmp_path / "logs").iterdir())
    assert LOG in log.read_text() and str(log) in text


def test_a_linker_failure_without_a_line_shows_the_end_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path))
    error = compile_error(Outcome(("g++",), 1, "ld: undefined reference to `Foo'\ncollect2: error"), "linking x")
    assert error.where is None and "undefined reference to `Foo'" in str(error)


def test_no_compiler_is_exit_code_3_with_a_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(CompilerNotFound) as error:
        compiler.find_compiler()
    assert error.value.exit_code == 3 and "apt-get install g++" in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        'extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y) {}',
        '// extern "C" __global__ __aicore__ void other(GM_ADDR x)\nextern "C" __global__ __aicore__ void add_custom(\n  GM_ADDR x) {}',
        "__global__ __aicore__ __attribute__((aiv)) void add_custom(GM_ADDR x) {}",
        "extern \"C\" __global__ __vector__ void add_custom(GM_ADDR x) {}",
    ],
)
def test_entries_are_found(text: str) -> None:
    assert find_entries(text) == ["add_custom"]


def test_dependency_files_with_spaces(tmp_path: Path) -> None:
    depfile = tmp_path / "k.d"
    depfile.write_text("k.o: a.cpp \\\n  /x/with\\ space/b.h c.h\n")
    assert compiler.read_depfile(depfile) == [Path("a.cpp"), Path("/x/with space/b.h"), Path("c.h")]


def test_kernels_are_compiled_at_the_level_that_the_variable_says(monkeypatch):
    monkeypatch.setenv(compilation.OPTIMIZE, "3")
    assert compilation._level() == "3"
    monkeypatch.delenv(compilation.OPTIMIZE)
    assert compilation._level() == "2"
    monkeypatch.setenv(compilation.OPTIMIZE, "fast")
    with pytest.raises(InputError, match="ASCENDOPS_TWIN_OPTIMIZE cannot be 'fast'"):
        compilation._level()
