"""Lowers Triton kernels with triton-ascend and AscendNPU-IR. Started as a script with the private toolchain's interpreter.

`python worker.py REQUEST.json` prints one JSON object per job on stdout, in order, each as soon as it is known; a crash of the
front end therefore costs one job. It imports the standard library and the toolchain, nothing of ascendops.
"""

from __future__ import annotations

import ast
import json
import linecache
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

ADAPTER = [
    "--discrete-mask-access-conversion=compile-on-910-95=False force-simt-template=False",
    "--triton-to-annotation",
    "--triton-to-unstructure=compile-on-910-95=False force-simt-template=False",
    "--triton-to-hivm",
    "--triton-to-hfusion",
    "--triton-to-llvm",
    "--bubble-up-operation",
    "--triton-to-linalg=global-kernel=false named-ops=True enable-nd2nz-on-vector=False "
    "enable-select-analysis=False compile-on-910-95=False",
    "--mlir-print-debuginfo",
]
"""The passes that triton-ascend 3.2.0 runs before its compiler (triton/backends/ascend/compiler.py, ttir_to_linalg)."""
ADAPTER_950 = [option.replace("=False", "=True").replace("template=True", "template=False").replace("vector=True", "vector=False") for option in ADAPTER]
COMPILER = [
    "--enable-auto-multi-buffer=True",
    "--enable-auto-bind-sub-block=True",
    "--enable-hfusion-compile=true",
    "--enable-hivm-compile=true",
    "--enable-triton-kernel-compile=true",
]
COMPILER_950 = [
    "--enable-auto-multi-buffer=False",
    "--enable-auto-bind-sub-block=False",
    "--enable-hfusion-compile=true",
    "--enable-triton-kernel-compile=true",
]
"""The options of triton-ascend's path for Ascend 950 (linalg_to_bin_enable_npu_compile_910_95)."""


def main(path: str) -> None:
    """Runs every job of a request file."""
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    sys.modules.setdefault("pybind11", types.ModuleType("pybind11"))  # only the launcher of a device needs it
    sys.path.insert(0, request["site"])
    scopes: dict[str, dict[str, Any]] = {}
    lost: dict[str, str] = {}
    for module in request["modules"]:
        scopes[module["name"]] = _load(module, scopes, lost)
    for job in request["jobs"]:
        sys.stdout.write(json.dumps({"id": job["id"], **_job(job, scopes[job["module"]], request, lost)}) + "\n")
        sys.stdout.flush()


def _load(module: dict[str, Any], scopes: dict[str, dict[str, Any]], lost: dict[str, str]) -> dict[str, Any]:
    """Executes the kept statements of one file, each alone; a name that fails is remembered with the reason."""
    file, text = module["file"], module["text"]
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    kept = {(line, column): conditional for line, column, conditional in module["keep"]}
    space = types.ModuleType(module["name"])
    space.__file__ = file
    sys.modules[module["name"]] = space
    scope = space.__dict__
    for local, source, remote in module["links"]:
        if source in scopes and remote in scopes[source]:
            scope[local] = scopes[source][remote]
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) in kept]
    nodes.sort(key=lambda node: node.lineno)
    for node in nodes:
        names = _names(node)
        if kept[node.lineno, node.col_offset] and names and all(name in scope for name in names):
            continue  # an alternative of a try or an if has given it already
        if isinstance(node, ast.FunctionDef):
            _plain(node)
        try:
            exec(compile(ast.Module([node], []), file, "exec"), scope)
        except Exception as error:  # noqa: BLE001  whatever it is, the kernels that need the name will say so
            lost.update(dict.fromkeys(names, f"{file}:{node.lineno}: {type(error).__name__}: {error}"))
        else:
            for name in names:
                lost.pop(name, None)
    return scope


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign):
        return [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return [node.name] if isinstance(node, ast.FunctionDef) else []


def _plain(node: ast.FunctionDef) -> None:
    """Leaves one decorator, `@triton.jit`, at the first one's line; autotuning and heuristics need a device or host code."""
    place = node.decorator_list[0]
    name = ast.parse("__import__('triton').jit", mode="eval").body
    for part in ast.walk(name):
        ast.copy_location(part, place)
    node.decorator_list = [name]
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if argument.annotation is not None and "constexpr" not in ast.unparse(argument.annotation):
            argument.annotation = None
    node.returns = None


def _job(job: dict[str, Any], scope: dict[str, Any], request: dict[str, Any], lost: dict[str, str]) -> dict[str, Any]:
    kernel = scope.get(job["kernel"])
    if kernel is None:
        return {"stage": "load", "error": lost.get(job["kernel"], "the kernel could not be defined")}
    try:
        ttir = _ttir(kernel, job, request["target"])
    except Exception as error:  # noqa: BLE001  every front-end failure is a verdict
        return _front_end(error, lost)
    new = request["target"].startswith("Ascend950")
    folder = Path(request["work"]) / f"job{job['id']}"
    (folder / "temps").mkdir(parents=True)
    (folder / "kernel.ttir.mlir").write_text(ttir, encoding="utf-8")
    adapter = [f"{request['site']}/triton/backends/ascend/triton-adapter-opt", str(folder / "kernel.ttir.mlir"), *(ADAPTER_950 if new else ADAPTER)]
    failed = _run([*adapter, "-o", str(folder / "kernel.adapter.mlir")], request["timeout_s"])
    if failed is not None:
        return {"stage": "ttadapter", "error": failed, "folder": str(folder)}
    text = (folder / "kernel.adapter.mlir").read_text(encoding="utf-8")
    (folder / "kernel.mlir").write_text(re.sub(r', mix_mode\s*=\s*"[^"]*"', "", text), encoding="utf-8")
    program = f"{request['site']}/ascendnpuir/bin/bishengir-compile{'-a5' if new else ''}"
    compiler = [program, str(folder / "kernel.mlir"), *(COMPILER_950 if new else COMPILER)]
    compiler += [f"--target={request['target']}", f"--save-temps={folder / 'temps'}", "-o", str(folder / "kernel")]
    failed = _run(compiler, request["timeout_s"])
    hivm = folder / "temps" / "module.hivm.opt.mlir"
    if hivm.is_file():  # the step after it, hivmc, is CANN's and not in the package
        return {"stage": "hivm", "hivm": str(hivm)}
    return {"stage": "compile", "error": failed or "no HIVM was written", "folder": str(folder)}


def _ttir(kernel: Any, job: dict[str, Any], target: str) -> str:
    from triton._C.libtriton import ir
    from triton.backends.ascend.compiler import AscendAttrsDescriptor, AscendBackend, make_ttir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource

    backend = AscendBackend(GPUTarget("npu", target, 0))
    options = backend.parse_options({})
    constants = {name: _constant(value) for name, value in job["constants"].items()}
    order = list(kernel.arg_names)
    hints = {order.index(name): 16 for name in job["divisible"] if name in order and name not in constants}
    attributes = AscendAttrsDescriptor.from_hints(hints)
    source = ASTSource(kernel, job["signature"], constants, attributes)
    context = ir.context()
    ir.load_dialects(context)
    module = source.make_ir(options, backend.get_codegen_implementation(), backend.get_module_map(), context)
    return str(make_ttir(module, {"hash": "none"}, options))


def _constant(value: Any) -> Any:
    if isinstance(value, dict):
        import triton.language

        return getattr(triton.language, value["dtype"])
    return value


def _front_end(error: BaseException, lost: dict[str, str]) -> dict[str, Any]:
    """The innermost place of a front-end error, as file and line, and its words."""
    from triton.compiler.errors import CompilationError
    from triton.runtime.jit import JITFunction, get_jit_fn_file_line

    place: dict[str, Any] = {}
    words = ""
    step: BaseException | None = error
    functions = [value for name, module in sys.modules.items() if name.startswith("slice") for value in vars(module).values() if isinstance(value, JITFunction)]
    while step is not None:
        if isinstance(step, CompilationError):
            owner = next((fn for fn in functions if fn.src == step.src), None)
            if owner is not None and hasattr(step.node, "lineno"):
                file, begin = get_jit_fn_file_line(owner)
                place = {"file": file, "line": begin + step.node.lineno - 1, "column": step.node.col_offset}
            words = step.error_message or words
        elif str(step):
            words = f"{type(step).__name__}: {step}"
        step = step.__cause__
    words = words or f"{type(error).__name__}: {error}"
    name = re.search(r"NameError\W+(?:name )?'?(\w+)'? is not defined", words)
    missing = name[1] if name else ""
    return {"stage": "ttir", "error": words, "missing": missing, "lost": lost.get(missing, ""), **place}


def _run(command: list[str], timeout_s: float) -> str | None:
    """None if the command succeeds, else what it printed (or how it died)."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, errors="replace")
    except subprocess.TimeoutExpired:
        return f"TIMEOUT after {timeout_s:.0f} s"
    if done.returncode == 0:
        return None
    died = f"killed by signal {-done.returncode}\n" if done.returncode < 0 else ""
    return died + (done.stderr + done.stdout)[-20000:]


if __name__ == "__main__":
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.dirname(os.path.abspath(sys.argv[1])))
    main(sys.argv[1])
