"""The one Jinja environment: strict, whitespace-exact, with control lines that look like comments of the target language."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import jinja2
from jinja2.ext import Extension

from ascendops import resources
from ascendops.errors import TemplateError, did_you_mean
from ascendops.spec import expr
from ascendops.spec.dtypes import BY_NAME
from ascendops.spec.names import pascal, snake
from ascendops.spec.schema import Argument

CPP_SUFFIXES = frozenset({".cpp", ".h", ".hpp", ".cc", ".cu"})
CPP_COLUMNS = 120  # of .clang-format
_MARK = "\x1f"


def _dtype(name: str) -> Any:
    if name not in BY_NAME:
        raise TemplateError(f"dtype '{name}' is not known", help=did_you_mean(name, BY_NAME))
    return BY_NAME[name]


def cpp(name: str) -> str:
    """Ascend C's name of a dtype: `float16` -> `half`."""
    return str(_dtype(name).cpp)


def ge_dtype(name: str) -> str:
    """The ge::DataType of a dtype: `float16` -> `ge::DT_FLOAT16`."""
    return f"ge::{_dtype(name).ge}"


def cpp_expr(text: str) -> str:
    """An axis expression as C++ over `ascendops::Num`: `ceil_div(n, 2)` -> `CeilDiv(axis_n, Num(2))`."""
    return expr.parse(text).cpp()


def toml_string(text: str) -> str:
    """A TOML basic string with quotes."""
    import json

    return json.dumps(text, ensure_ascii=False)


def toml_list(items: Any) -> str:
    """A TOML array of strings or numbers in one line."""
    return "[" + ", ".join(toml_string(item) if isinstance(item, str) else str(item).lower() for item in items) + "]"


def pack(arguments: Any, indent: int) -> str:
    """C++ arguments in lines of at most 120 columns; the first and the others start at column `indent`."""
    lines = [""]
    for position, argument in enumerate(arguments):
        text = f"{argument}{',' if position + 1 < len(arguments) else ')'}"
        if indent + len(lines[-1]) + len(text) + 1 > CPP_COLUMNS:
            lines.append("")
        lines[-1] += f" {text}" if lines[-1] else text
    return ("\n" + " " * indent).join(lines)


def packed(arguments: Any, head: str, tail: str = "") -> str:
    """`head(a, b, ...)tail` in lines of at most 120 columns, aligned behind the parenthesis."""
    items = list(arguments)
    return f"{head}({pack([*items[:-1], items[-1] + (f'){tail}' if tail else '')], len(head) + 1).removesuffix(')' if tail else '')}"


def each(items: Any, pattern: str) -> list[str]:
    """Every item put into a pattern, such as GM_ADDR {}."""
    return [pattern.format(item) for item in items]


def gm(names: Any) -> list[str]:
    """The kernel parameters of tensors: `x` -> `GM_ADDR x`."""
    return each(names, "GM_ADDR {}")


def tbe_dtype(name: str) -> str:
    """The word of an operator information library: `float32` -> `float`."""
    return {"float32": "float", "float64": "double"}.get(name, name)


def tbe_attr(method: str) -> str:
    """An OpDef attribute type as an operator information library writes it: `ListInt` -> `listInt`, `String` -> `str`."""
    return {"String": "str"}.get(method, method[0].lower() + method[1:])


def python_parameter(arg: Argument) -> str:
    """An argument of a schema in Python: `bias: torch.Tensor | None`, `stride: list[int]`."""
    base = "torch.Tensor" if arg.is_tensor else arg.type.base
    base = f"list[{base}]" if arg.type.is_list else base
    return f"{arg.name}: {base}{' | None' if arg.type.optional else ''}"


FILTERS = {
    "tbe_dtype": tbe_dtype,
    "tbe_attr": tbe_attr,
    "each": each,
    "gm": gm,
    "pack": pack,
    "packed": packed,
    "snake": snake,
    "pascal": pascal,
    "cpp": cpp,
    "ge_dtype": ge_dtype,
    "expr": cpp_expr,
    "python_parameter": python_parameter,
    "toml": toml_string,
    "toml_list": toml_list,
}


class KeepBlankLines(Extension):
    """A blank line after a control line stays: without this Jinja swallows it."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002
        """Put an empty expression into each such line."""
        prefix = re.escape(self.environment.line_statement_prefix or "#%")
        return re.sub(rf"(?m)^([ \t]*{prefix}[^\n]*\n)(?=[ \t]*\n)", r'\1{{ "" }}', source)


@functools.cache
def environment(line_prefix: str, root: Path) -> jinja2.Environment:
    """The environment for templates below `root` whose control lines start with `line_prefix` (`//%` or `#%`)."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(root),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        line_statement_prefix=line_prefix,
        extensions=[KeepBlankLines],
    )
    env.filters.update(FILTERS)
    return env


def prefix_of(template: str) -> str:
    """The control-line prefix of a template: `//%` for C++ (`x.cpp.j2`), `#%` for everything else."""
    return "//%" if PurePosixPath(template.removesuffix(".j2")).suffix in CPP_SUFFIXES else "#%"


def render(template: str, context: Mapping[str, Any], *, root: Path | None = None) -> str:
    """Render op_templates/`template`. Files that do not end in `.j2` are copied as they are.

    Raises:
        TemplateError: The template does not exist, has a syntax error, or uses an undefined name.
    """
    folder = root or resources.op_templates()
    if not template.endswith(".j2"):
        return _read(folder / template, template)
    try:
        return environment(prefix_of(template), folder).get_template(template).render(context)
    except jinja2.TemplateError as error:
        raise _error(error, template) from error


@functools.lru_cache(maxsize=1024)
def _text(source: str, line_prefix: str, root: Path) -> jinja2.Template:
    return environment(line_prefix, root).from_string(source)


def render_text(source: str, context: Mapping[str, Any], *, where: str, line_prefix: str = "#%") -> str:
    """Render a short string, such as a target path in family.toml.

    Raises:
        TemplateError: See `render`.
    """
    try:
        return _text(source, line_prefix, resources.op_templates()).render(context)
    except jinja2.TemplateError as error:
        raise _error(error, where) from error


def _read(path: Path, template: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TemplateError(f"template {template} cannot be read: {error}", where=str(path)) from None


def _error(error: jinja2.TemplateError, template: str) -> TemplateError:
    if isinstance(error, jinja2.TemplateNotFound):
        return TemplateError(f"there is no template {error.name}", where=template)
    if isinstance(error, jinja2.TemplateSyntaxError):
        return TemplateError(f"template {error.name or template}: {error.message}", where=f"{error.name or template}:{error.lineno}")
    line = _line_of(error, template)
    return TemplateError(f"template {template}: {error.message}", where=f"{template}:{line}" if line else template)


def _line_of(error: jinja2.TemplateError, template: str) -> int | None:
    """The template line in the traceback that Jinja rewrote."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(template):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def line_map(template: str, context: Mapping[str, Any], *, root: Path | None = None) -> list[tuple[str, int] | None]:
    """For each rendered line, the (template, line) that it came from; None where that is not known.

    The template is rendered once more with a mark at the end of each of its text lines; included templates are not followed.
    """
    folder = root or resources.op_templates()
    source = _read(folder / template, template)
    if not template.endswith(".j2"):
        return [(template, number) for number in range(1, len(source.splitlines()) + 1)]
    prefix = prefix_of(template)
    depth = 0
    marked: list[str] = []
    for number, line in enumerate(source.splitlines(), 1):
        opened = depth
        depth += len(re.findall(r"\{[{%#]", line)) - len(re.findall(r"[}%#]\}", line))
        plain = not line.lstrip().startswith(prefix) and opened <= 0 and depth <= 0 and not line.rstrip().endswith(("%}", "#}"))
        marked.append(f"{line}{_MARK}{number}{_MARK}" if plain else line)
    text = environment(prefix, folder).from_string("\n".join(marked) + "\n").render(context)
    return [_unmark(line, template) for line in text.split("\n")]


def _unmark(line: str, template: str) -> tuple[str, int] | None:
    found = re.search(f"{_MARK}(\\d+){_MARK}", line)
    return (template, int(found.group(1))) if found else None
