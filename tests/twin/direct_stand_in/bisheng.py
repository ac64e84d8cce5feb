"""The compiler of the stand-in toolkit for CANN 9.x: .asc files for the CPU twin, their host code with g++, and links."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from compile_kernel import DECLARATION, compile_source

TOOLKIT = Path(sys.argv.pop(1))
_SOCS = {"dav-2201": "Ascend910B3", "dav-2002": "Ascend310P3"}
_LAUNCH = re.compile(r"\b(?P<kernel>\w+)<<<(?P<blocks>[^,]+),\s*nullptr,\s*(?P<stream>[^>]+)>>>\((?P<args>.*?)\);", re.DOTALL)


def compile_asc(options: argparse.Namespace) -> list[str]:
    """The g++ command of the host code; the kernel is compiled for the twin."""
    source = Path(options.files[0])
    macros = {name: value or "1" for name, _, value in (one.partition("=") for one in options.D)}
    kernel = compile_source(source, _SOCS[options.npu_arch], options.I, macros)

    def launch(match: re.Match[str]) -> str:
        assert match["kernel"] == kernel.name, f"{match['kernel']} is launched, {kernel.name} is compiled"
        return f"{{ void *args[] = {{{match['args']}}}; {kernel.call(match['blocks'], match['stream'], 'args')}; }}"

    text = re.sub(r'^#include "[^"]*\.cpp"$', "", source.read_text(), flags=re.MULTILINE)
    host, count = _LAUNCH.subn(launch, text)
    assert count == 1, f"{count} launches in {source}"
    path = Path(tempfile.mkdtemp()) / f"{source.stem}.cpp"
    path.write_text(f"#include <cstdint>\n{DECLARATION}{host}")
    return ["g++", f"-std={options.std}", "-Wall", "-fPIC", "-c", str(path), "-o", options.o]


def main() -> int:
    """Compiles with -c, else links with the libraries that bisheng links by itself."""
    parser = argparse.ArgumentParser()
    for name in ("-I", "-D"):
        parser.add_argument(name, action="append", default=[])
    for name in ("-o", "-std", "--npu-arch"):
        parser.add_argument(name)
    parser.add_argument("-c", action="store_true")
    for name in ("-O3", "-shared", "-fPIC"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("files", nargs="+")
    options, libraries = parser.parse_known_args()
    if not all(word.startswith(("-l", "-L", "-Wl,")) or word.endswith(".so") for word in libraries):
        sys.exit(f"bisheng: unknown option in {libraries}")
    if options.npu_arch not in _SOCS:
        sys.exit(f"bisheng: --npu-arch is {options.npu_arch}")
    link = ["g++", *options.files, "-o", options.o, str(TOOLKIT / "lib64/libascendcl.so"), *libraries]
    if options.c and not options.fPIC:
        sys.exit("bisheng: an object of a shared library needs -fPIC")
    command = compile_asc(options) if options.c else link + ["-shared"] * options.shared
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
