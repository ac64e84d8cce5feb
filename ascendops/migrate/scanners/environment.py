"""Requirements, conda and pyproject files, Dockerfiles, shell scripts and configuration files."""

from __future__ import annotations

import re

from ascendops.migrate.facts import tables
from ascendops.migrate.facts.tables import Fact
from ascendops.migrate.scanners.sink import Sink
from ascendops.migrate.sources.text import Source

_PIN = re.compile(
    r"^\s*(?:-\s*(?:[\w-]+::)?)?[\"']?([A-Za-z][\w.-]*)(?:\[[\w,\s-]*\])?[\"']?\s*(?=$|[=<>~!;@,\"'#\]({:]|\s)"
)
_QUOTED = re.compile(r"[\"']([A-Za-z][\w.-]*)(?:\[[\w,\s-]*\])?\s*(?:[=<>~!;@][^\"']*)?[\"']")
_INDEX = re.compile(r"(?:whl/|\+|cu)(cu\d{2,3})\b|whl/(cu\d+)")
_INSTALL = re.compile(r"\b(?:pip3?|uv|conda|mamba|micromamba)\b(?:\s+pip)?\s+(?:install|add)\s+(.*)")
_TOOL = re.compile(
    r"(?<![\w./-])(?:/usr/local/cuda[\w.-]*/bin/)?(nvidia-smi|nvcc|nsys|ncu|nvprof|cuda-memcheck|compute-sanitizer|cuda-gdb)(?=\s|$|[;|)&\"'`])"
)
_VARIABLE = re.compile(
    r"(?<![\w])((?:CUDA|NCCL|TORCH_NCCL|TORCH_CUDA|PYTORCH_CUDA|PYTORCH_NO_CUDA|CUBLAS|CUDNN|NVIDIA|NVCC|CUDACXX)(?:_\w+)?)(?=\s*[=}:\s\"'),]|$)"
)
_DEVICE_OPTION = re.compile(
    r"(?:--?[\w-]*(?:device|accelerator)[\w-]*|^\s*-?\s*[\"']?[\w.]*device[\w]*[\"']?)\s*[=:\s]\s*[\"']?(cuda(?::\d+)?)\b(?![\w/.])",
    re.IGNORECASE,
)
_NCCL_OPTION = re.compile(r"(?:backend|BACKEND)[\w-]*[\"']?\s*[=:\s]\s*[\"']?(nccl|NCCL)\b")
_IMAGE = re.compile(
    r"\b(?:nvidia/cuda|nvcr\.io/\S+|pytorch/pytorch:\S*cuda\S*|nvidia/\S+):?\S*|\S+:\S*-cu(?:da)?\d[\w.-]*"
)


def packages(source: Source) -> Sink:
    """Requirements, pyproject, setup.cfg, Pipfile and conda files: one finding per package that the library table lists."""
    sink = Sink(source)
    section = ""
    toml = source.name.endswith((".toml", "pipfile", ".cfg"))
    for number, raw in enumerate(source.lines, 1):
        line = _uncomment(raw)
        if key := re.match(r"([\w-]+)\s*:\s*$", line):
            section = key[1]
        if section == "channels" and line.lstrip().startswith("-"):
            continue
        names = [match[1] for match in _QUOTED.finditer(line)] if toml or "[" in line else []
        if pin := _PIN.match(line):
            names.append(pin[1])
        for name in names:
            package(number, name, sink)
        if index := _INDEX.search(line):
            sink.add(number, f"CUDA wheel index {index[1] or index[2]}", "MIG-PACKAGE", _WHEEL)
        if source.name.endswith(".toml"):
            _build_settings(number, line, sink)
    return sink


def package(number: int, name: str, sink: Sink) -> None:
    """Adds a finding for a distribution that the library table lists."""
    fact = tables.packages().get(name.lower().replace("_", "-"))
    if fact is None and re.match(
        r"(?:nvidia-|cuda-|cupy-|cudnn|cudatoolkit|pytorch-cuda|libcu(?:dnn|blas|fft|sparse|file|rand|solver|pti))[\w-]*$",
        name.lower(),
    ):
        fact = Fact(name, "restricted", "CANN toolkit", "drop the package", "cuda_patterns.json libraries, derived")
    if fact and fact.status != "works_as_is":
        sink.add(number, name, "MIG-PACKAGE", fact)


def requirements(number: int, words: str, sink: Sink) -> None:
    """Adds findings for the distributions in the arguments of an install command."""
    for word in words.split():
        package(number, re.split(r"[=<>~!\[;]", word.strip("\"'"))[0], sink)


def _build_settings(number: int, line: str, sink: Sink) -> None:
    if re.search(r"CUDA_ARCH|(?:sm|compute)_\d\d", line):
        sink.add(number, "CUDA_ARCHITECTURES", "MIG-CUDA-ARCH", tables.cpp("build")[_ARCHITECTURE])


def shell(source: Source) -> Sink:
    """Shell scripts: variables, tools, installed packages, device options."""
    sink = Sink(source)
    for number, raw in enumerate(source.lines, 1):
        line = _uncomment(raw)
        if not re.match(r"\s*(?:echo|printf)\b", line):
            _commands(number, line, sink)
            _path(number, line, sink)
        _options(number, line, sink)
    return sink


def docker(source: Source) -> Sink:
    """Dockerfiles and compose files: images, runtimes, and what their commands install."""
    sink = Sink(source)
    for number, raw in enumerate(source.lines, 1):
        line = _uncomment(raw)
        if re.match(r"\s*(?:FROM|image:|ARG\s+\w*(?:BASE|IMAGE)\w*)", line, re.IGNORECASE) and (
            image := _IMAGE.search(line)
        ):
            sink.add(number, f"CUDA image {image[0]}", "MIG-CONTAINER", _CONTAINER)
        if re.search(r"runtime:\s*nvidia|driver:\s*nvidia|--gpus\b|--runtime[= ]nvidia", line):
            sink.add(number, "nvidia container runtime", "MIG-CONTAINER", _RUNTIME)
        _commands(number, line, sink)
        _options(number, line, sink)
        _path(number, line, sink)
    return sink


def _path(number: int, line: str, sink: Sink) -> None:
    if (path := re.search(r"/usr/local/cuda[\w./-]*", line)) and not _TOOL.search(line) and "CUDA_HOME" not in line:
        sink.add(number, f"CUDA toolkit path {path[0]}", "MIG-ENV", tables.environment()["CUDA_HOME"])


def config(source: Source) -> Sink:
    """YAML, JSON, INI and TOML settings: devices, backends and variables."""
    sink = Sink(source)
    if re.search(r"cuda|nccl|NCCL|CUDA|nvidia", source.text):
        for number, raw in enumerate(source.lines, 1):
            line = _uncomment(raw)
            _options(number, line, sink)
            if "nvidia.com/gpu" in line:
                sink.add(number, "nvidia.com/gpu", "MIG-CONTAINER", _RESOURCE)
    return sink


def _commands(number: int, line: str, sink: Sink) -> None:
    for match in _VARIABLE.finditer(line):
        name = match[1]
        fact = tables.environment().get(name) or next(
            (fact for pattern, fact in tables.patterns("environment") if re.fullmatch(pattern, name)), None
        )
        set_or_read = re.search(
            rf"\b{name}\s*=|\$\{{?{name}\b|\bENV\s+{name}\b|\bexport\s+{name}\b|-e\s*{name}\b|\bARG\s+{name}\b", line
        )
        if fact and set_or_read:
            rename = fact.status == "rename" and re.fullmatch(r"[A-Z_]+", fact.target)
            sink.add(
                number,
                name,
                "MIG-ENV",
                fact,
                edit=sink.edit(number, match.start(1), name, fact.target) if rename else None,
            )
    if install := _INSTALL.search(line):
        requirements(number, install[1], sink)
        if index := _INDEX.search(install[1]):
            sink.add(number, f"CUDA wheel index {index[1] or index[2]}", "MIG-PACKAGE", _WHEEL)
    else:
        for match in _TOOL.finditer(line):
            rows = {
                "nvidia-smi": "nvidia-smi",
                "nvcc": "",
                "cuda-gdb": "cuda-gdb",
                "cuda-memcheck": "compute-sanitizer",
                "compute-sanitizer": "compute-sanitizer",
            }
            row = rows.get(match[1], "Nsight")
            fact = tables.feature(row) if row else tables.cpp("build")["nvcc flags (-O3 --use_fast_math -Xptxas …)"]
            sink.add(number, match[1], "MIG-TOOL", fact)
        if arch := re.search(r"(?:compute|sm)_\d+[a-z]?\b|-arch=\S+", line):
            sink.add(number, f"gencode {arch[0]}", "MIG-CUDA-ARCH", tables.cpp("build")[_ARCHITECTURE])
    image = re.search(r"\b(?:nvidia/cuda:|nvcr\.io/nvidia/)\S*", line)
    if image and not re.match(r"\s*(?:FROM|image:|ARG)", line, re.IGNORECASE):
        sink.add(number, f"CUDA image {image[0]}", "MIG-CONTAINER", _CONTAINER)
    if re.search(r"\bdocker\b.*--gpus\b|--runtime[= ]nvidia", line):
        sink.add(number, "nvidia container runtime", "MIG-CONTAINER", _RUNTIME)


def _options(number: int, line: str, sink: Sink) -> None:
    if match := _DEVICE_OPTION.search(line):
        edit = sink.edit(number, match.start(1), "cuda", "npu")
        sink.add(
            number,
            '"cuda" device string',
            "MIG-DEVICE-STRING",
            tables.related('"cuda", "cuda:N"'),
            replacement="npu",
            edit=edit,
        )
    if match := _NCCL_OPTION.search(line):
        edit = sink.edit(number, match.start(1), match[1], "hccl")
        sink.add(
            number, '"nccl" distributed backend', "MIG-DIST-NCCL", tables.related('dist backend "nccl"'), edit=edit
        )


def _uncomment(line: str) -> str:
    match = re.match(r"((?:[^#\"']|\"[^\"]*\"|'[^']*')*?)(?:^|(?<=\s))#", line)
    return match[1] if match else line


_ARCHITECTURE = "CMAKE_CUDA_ARCHITECTURES / -gencode arch=compute_XX / TORCH_CUDA_ARCH_LIST"
_WHEEL = Fact(
    "CUDA wheel index",
    "restricted",
    "the CPU wheels of torch, and torch_npu",
    "CUDA builds of torch cannot be used with torch_npu",
    "library_map.json torch",
)
_CONTAINER = Fact(
    "CUDA image",
    "restricted",
    "a CANN image",
    "CUDA images have no CANN toolkit",
    "library_map.json env: NVIDIA_VISIBLE_DEVICES",
)
_RUNTIME = Fact(
    "nvidia container runtime",
    "rename",
    "ascend-docker-runtime",
    "devices come through ASCEND_VISIBLE_DEVICES",
    "library_map.json env: NVIDIA_VISIBLE_DEVICES",
)
_RESOURCE = Fact(
    "nvidia.com/gpu",
    "rename",
    "huawei.com/Ascend910",
    "the resource name of the Ascend device plug-in; it differs by product",
    "derived; no vendor page was read",
)
