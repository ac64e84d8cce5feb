"""The twin backend: compiles a project's own sources for the CPU twin and loads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from ascendops.build import arch_folders, cmake_options, shared_sources, sides
from ascendops.build.columns import KernelColumns
from ascendops.build.library import Library
from ascendops.build.operator import Operator
from ascendops.build.signature import Parameter, Signature
from ascendops.errors import CompileError, NotAProject
from ascendops.spec import names, socs
from ascendops.spec.dtypes import BY_NAME, WITHOUT_TORCH
from ascendops.toolchain import cache
from ascendops.toolchain.diagnose import Origin
from ascendops.twin import compilation as cc, includes, task_types
from ascendops.twin.entries import find_entries, is_plain_function
from ascendops.twin.host import HostLibrary, OpDef

if TYPE_CHECKING:
    from ascendops.build.project import Project
    from ascendops.spec.model import OpSpec
    from ascendops.spec.socs import Soc

_TYPED = re.compile(r"\b(?:ORIG_)?(?:DTYPE|FORMAT)_")
_EAGER_COLUMNS = 4
_LIBRARY_EACH = re.compile(r"^[ \t]*(?:target_sources[ \t]*\([ \t]*(?:optiling|opsproto)\b|add_modules_sources[ \t]*\()", re.MULTILINE)
_ACLNN = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?:opdev/|aclnn)', re.MULTILINE)
_GE_FORMATS = {"ND": 2, "NCHW": 0, "NHWC": 1, "NC1HWC0": 3, "FRACTAL_Z": 4, "FRACTAL_NZ": 29, "NDC1HWC0": 32, "NCDHW": 30}


def build(project: Project, soc: Soc, jobs: int | None) -> tuple[Library, int]:
    """Compiles host code and one kernel library per dtype column; returns the library and how many files were compiled."""
    host, compiled = host_library(project, soc)
    ops = {}
    for declared in host.ops.values():
        definition = declared.for_unit(soc.unit)
        name = names.snake(definition.op_type)
        path, entry = kernel_of(project.root, definition, soc)
        kernels, count = compile_columns(project, host, definition, soc, jobs, path, entry)
        spec = next((op for op in project.specs if op.op_type == definition.op_type), None)
        ops[name] = Operator(name, definition, signature(name, definition, spec), soc, host, kernels, cc.symbol(entry), spec)
        compiled += count
    return Library(ops, project.root, soc.name, "twin"), compiled


def host_library(project: Project, soc: Soc) -> tuple[HostLibrary, int]:
    """The project's host code for a SoC, compiled and loaded, and how many libraries were compiled for it (0 or 1).

    Raises:
        NotAProject: It has no op_host source, or registers no operator.
        CompileError: A source does not compile.
    """
    render_gen(project)
    sources = host_sources(project.root)
    while True:
        try:
            host, compiled = _loaded_host(project, soc, sources)
            break
        except CompileError as error:
            shared = [path for path in shared_sources.defining(project.root, shared_sources.undefined(error)) if path not in sources]
            if not shared:
                raise
            sources += shared
    if not host.ops:
        raise NotAProject(f"op_host of {project.name} registers no operator", where=str(sides.host_folder(project.root)), help="register one with OP_ADD(Name)")
    return host, compiled


def _loaded_host(project: Project, soc: Soc, sources: Sequence[Path]) -> tuple[HostLibrary, int]:
    folders = list(dict.fromkeys([sides.host_folder(project.root), sides.kernel_folder(project.root), project.root]))
    folders += includes.host_folders(sources, folders)
    with ThreadPoolExecutor(max_workers=3) as pool:
        runtimes = [pool.submit(cc.host_runtime_library), pool.submit(cc.runtime_library)]
        host_entry = _compiled_host(project, arch_folders.selections(sources, sides.host_folder(project.root), soc), folders)
        host_runtime, _ = (job.result() for job in runtimes)
    return HostLibrary(host_entry.path / "host.so", host_runtime), int(not host_entry.hit)


def _compiled_host(project: Project, selections: Sequence[Sequence[Path]], folders: Sequence[Path]) -> cache.Entry:
    """The first of several selections of sources that compiles; the error is that of the first."""
    repeated, errors = library_each(project.root), []
    for sources in selections:
        try:  # one that leaves sources out must not need them
            whole = len(sources) == max(map(len, selections))
            return cc.compile_host(sources, folders, f"op_host of {project.name}", origin_of(project), repeated=repeated, complete=not whole, defines=project.defines)
        except CompileError as error:
            errors.append(error)
    raise errors[0]


def render_gen(project: Project) -> None:
    """Renders gen/ anew from op.toml; files that did not change keep their times."""
    if project.spec is not None:
        from ascendops import render

        render.gen(project.spec).write(project.root, overwrite=True)


def origin_of(project: Project) -> Origin | None:
    """The function that maps lines of gen/ to template lines, for a project with an op.toml."""
    if project.spec is None:
        return None
    from ascendops import render

    spec = project.spec
    return lambda path, line: render.origin(spec, path, line)


def host_sources(root: Path) -> list[Path]:
    """The op_host sources of a project: user's and generated, without sources of the aclnn layer and tests.

    Raises:
        NotAProject: There is none.
    """
    skipped = {"op_api", "tests", "ut", "st"}
    if sides.is_flat(root):
        every = [path for path in sorted(root.glob("*")) if path.suffix in shared_sources.SUFFIXES and not find_entries(path.read_text(errors="replace"))]
    else:
        every = sorted((root / "op_host").rglob("*"))
    found = [path for path in every if path.suffix in shared_sources.SUFFIXES and not skipped.intersection(path.relative_to(root).parts)]
    found = [path for path in found if not _ACLNN.search(path.read_text(errors="replace"))]
    found += sorted((root / "gen" / "op_host").glob("*.cpp"))
    if not found:
        raise NotAProject(f"{sides.host_folder(root)} has no C++ source of the host", where=str(sides.host_folder(root)))
    return found


def library_each(root: Path) -> bool:
    """Whether the project's CMake makes one library of the definitions, one of the tiling and one of the shapes.

    There a function in a header that two of them include is no error.
    """
    lists = [path for path in (root / "CMakeLists.txt", root / "op_host" / "CMakeLists.txt") if path.is_file()]
    return any(_LIBRARY_EACH.search(path.read_text(errors="replace")) for path in lists)


def compile_columns(
    project: Project, host: HostLibrary, definition: OpDef, soc: Soc, jobs: int | None, path: Path, entry: str
) -> tuple[KernelColumns, int]:
    """Kernel library of each dtype column, and how many were compiled: of a foreign project with many columns only the first."""
    name = names.snake(definition.op_type)
    texts = _kernel_texts(path)
    typed = any(_TYPED.search(text) for text in texts)
    tuned = {macro: value for macro, value in project.defines.items() if any(macro in text for text in texts)}  # others would compile it anew
    listed = {} if project.spec else cmake_options.kernel_macros(project.root, definition.op_type, soc.unit)
    prelude = host.tiling_header(definition.op_type) or ""
    templates = tuple((instance.key, instance.args) for instance in definition.templates if soc.has_bf16 or not instance.bf16)
    if is_plain_function(path.read_text(errors="replace"), entry):
        templates = ()  # the host makes keys of template arguments that the kernel does not have
    own = tuple(dict.fromkeys([sides.kernel_folder(project.root), project.root]))
    folders = (*own, *includes.kernel_folders(path, own))
    count = len(definition.inputs[0].dtypes) if definition.inputs else len(definition.outputs[0].dtypes)

    def source(column: int) -> cc.KernelSource:
        types = ", ".join(f"{p.name}: {p.dtypes[column]}" for p in definition.inputs)
        what = f"the kernel of {name} ({types})" if typed else f"the kernel of {name}"
        return cc.KernelSource(path, (entry,), soc, folders, {**listed, **column_defines(definition, column if typed else None), **tuned}, prelude, what, templates)

    columns = KernelColumns([source(column) for column in range(count)], origin_of(project))
    if not typed:
        return columns, columns.prepare([0], 1)
    now = range(count) if project.spec or count <= _EAGER_COLUMNS else range(1)
    callable_now = [c for c in now if all(p.dtypes[c] in BY_NAME for p in (*definition.inputs, *definition.outputs))]
    return columns, columns.prepare(callable_now, cc.jobs(jobs))


def _kernel_texts(path: Path) -> list[str]:
    return [source.read_text(errors="replace") for source in sorted(path.parent.rglob("*")) if source.suffix in {".cpp", ".h", ".hpp"}]


def kernel_of(root: Path, definition: OpDef, soc: Soc) -> tuple[Path, str]:
    """The kernel source of an operator and its entry: those that the unit's configuration names, else those of the operator's name.

    Raises:
        NotAProject: There is no such source.
    """
    name = names.snake(definition.op_type)
    path = arch_folders.kernel_for_unit(root, soc.unit)
    if path is None and definition.kernel_file:
        path = next((found for found in sides.kernel_sources(root) if found.stem == definition.kernel_file), None)
    path = path or kernel_file(root, name)
    entries = find_entries(path.read_text(errors="replace"))
    entry = next((found for found in (definition.kernel_entry, name, definition.kernel_file) if found in entries), definition.kernel_entry or name)
    return path, entry


def kernel_is_cube(root: Path, op_type: str, soc: str) -> bool:
    """Whether the kernel of an operator runs on cube cores (alone or with vector cores), as its text says.

    Raises:
        NotAProject: There is no kernel source.
    """
    target, name = socs.resolve(soc), names.snake(op_type)
    path = arch_folders.kernel_for_unit(root, target.unit) or kernel_file(root, name)
    folders = (sides.kernel_folder(root), *includes.kernel_folders(path, (sides.kernel_folder(root), root)))
    return task_types.read(path, name, find_entries(path.read_text(errors="replace")), folders).uses_cube


def kernel_file(root: Path, name: str) -> Path:
    """The kernel source of an operator: op_kernel/<name>.cpp, else the one file there that defines that entry.

    Raises:
        NotAProject: There is none.
    """
    direct = sides.kernel_folder(root) / f"{name}.cpp"
    if direct.is_file() and not sides.is_flat(root):
        return direct
    for path in sides.kernel_sources(root):
        if name in find_entries(path.read_text(errors="replace")):
            return path
    raise NotAProject(f"op_kernel has no kernel '{name}'", where=str(sides.kernel_folder(root)), help=f"expected op_kernel/{name}.cpp with: void {name}(GM_ADDR ...)")


def column_defines(definition: OpDef, column: int | None) -> dict[str, str]:
    """The macros that an operator build sets: DTYPE_<NAME>, ORIG_DTYPE_<NAME>, FORMAT_<NAME>, and the enumerators they use."""
    defines = {dtype.ge: str(dtype.ge_code) for dtype in BY_NAME.values()} | {ge: str(code) for _, _, ge, code in WITHOUT_TORCH}
    kernel_types = {dtype.name: (dtype.cpp, dtype.ge) for dtype in BY_NAME.values()} | {name: (cpp, ge) for name, cpp, ge, _ in WITHOUT_TORCH}
    defines.update({f"FORMAT_{name}": str(code) for name, code in _GE_FORMATS.items()})
    if column is None:
        return defines
    input_names = {param.name for param in definition.inputs}
    for is_output, param in [(False, p) for p in definition.inputs] + [(True, p) for p in definition.outputs]:
        suffix = param.name.upper() + ("_REF" if is_output and param.name in input_names else "")
        name = param.dtypes[column]
        defines[f"DTYPE_{suffix}"], defines[f"ORIG_DTYPE_{suffix}"] = kernel_types.get(name, (name, f"DT_{name.upper()}"))
        defines[f"FORMAT_{suffix}"] = f"FORMAT_{param.formats[column]}"
    return defines


def signature(name: str, definition: OpDef, spec: OpSpec | None) -> Signature:
    """Argument order of a call: the schema's, or inputs then attributes (aclnn's order) without one."""
    if spec is not None:
        return schema_signature(name, spec)
    kinds = {"required": ("tensor", "Tensor"), "optional": ("optional", "Tensor?"), "dynamic": ("list", "Tensor[]")}
    parameters = []
    for param in definition.inputs:
        kind, text = kinds[param.param_type]
        parameters.append(Parameter(param.name, kind, type=text) if kind != "optional" else Parameter(param.name, kind, None, text))
    for attr in definition.attrs:
        parameters.append(Parameter(attr.name, "attr", type=attr.type) if attr.required else Parameter(attr.name, "attr", attr.default, attr.type))
    return Signature(name, tuple(parameters))


def schema_signature(name: str, spec: OpSpec) -> Signature:
    """The signature of a PyTorch schema."""
    tensors = {tensor.name: tensor for tensor in spec.inputs}
    attrs = {attr.name: attr for attr in spec.attrs}
    parameters: list[Parameter] = []
    keyword_only = []
    for argument in spec.schema.arguments:
        if argument.kwarg_only:
            keyword_only.append(argument.name)
        if argument.name in tensors:
            tensor = tensors[argument.name]
            kind = "list" if tensor.variadic else "optional" if tensor.optional else "tensor"
            parameters.append(Parameter(argument.name, kind, None, str(argument.type)) if tensor.optional else Parameter(argument.name, kind, type=str(argument.type)))
        else:
            attr = attrs[argument.name]
            parameters.append(Parameter(attr.name, "attr", type=attr.type) if attr.required else Parameter(attr.name, "attr", attr.default, attr.type))
    return Signature(name, tuple(parameters), frozenset(keyword_only))


