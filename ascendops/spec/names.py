"""Names of operators, tensors and attributes: conversions and what may not be used."""

from __future__ import annotations

import keyword
import re

from ascendops.errors import BadOpName, SpecError

CPP_KEYWORDS = frozenset(
    ["alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "class", "compl", "const", "const_cast", "constexpr", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq"]
)
C_LIBRARY_NAMES = frozenset(
    ["abort", "abs", "accept", "access", "acos", "acosh", "alarm", "asin", "asinh", "atan", "atan2", "atanh", "atexit", "atof", "atoi", "atol", "bind", "bsearch", "calloc", "cbrt", "ceil", "chdir", "clock", "close", "connect", "copysign", "cos", "cosh", "ctime", "daemon", "div", "dup", "erf", "erfc", "exit", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "ffs", "fma", "fmax", "fmin", "fmod", "fork", "free", "frexp", "gamma", "getc", "getenv", "hypot", "ilogb", "index", "insque", "isalnum", "isalpha", "isdigit", "isinf", "isnan", "j0", "j1", "jn", "kill", "labs", "ldexp", "ldiv", "lgamma", "link", "listen", "llabs", "llrint", "llround", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "main", "malloc", "memchr", "memcmp", "memcpy", "memmove", "memset", "mktime", "modf", "nan", "nearbyint", "nextafter", "nice", "open", "pause", "perror", "pipe", "poll", "pow", "pow10", "printf", "putc", "puts", "qsort", "raise", "rand", "random", "read", "realloc", "recv", "remainder", "remove", "remquo", "rename", "rewind", "rindex", "rint", "round", "scalb", "scalbn", "scanf", "select", "send", "setjmp", "shutdown", "signal", "significand", "sin", "sincos", "sinh", "sleep", "socket", "sqrt", "srand", "stat", "strcat", "strcmp", "strcpy", "strlen", "sync", "system", "tan", "tanh", "tgamma", "time", "times", "trunc", "uname", "unlink", "wait", "write", "y0", "y1", "yn"]
)
ASCENDC = frozenset(
    ["assert", "atomic_add", "bfloat16_t", "block_idx", "block_num", "cce", "copy_cbuf_to_gm", "copy_gm_to_cbuf", "copy_gm_to_ubuf", "copy_ubuf_to_gm", "copy_ubuf_to_ubuf", "dcci", "ffts", "get_arch_ver", "get_block_idx", "get_block_num", "get_coreid", "get_subblockdim", "get_subblockid", "half", "icache_preload", "mad", "max", "min", "pipe_barrier", "set_atomic_add", "set_flag", "set_mask_count", "set_mask_norm", "set_vector_mask", "tiling", "trap", "vabs", "vadd", "vadds", "vand", "vaxpy", "vbrcb", "vcadd", "vcmax", "vcmin", "vcmp", "vconv", "vcpadd", "vdiv", "vector_dup", "vexp", "vgather", "vln", "vmax", "vmin", "vmul", "vmuls", "vnot", "vor", "vrec", "vreducev", "vrelu", "vrsqrt", "vscatter", "vsel", "vshl", "vshr", "vsqrt", "vsub", "vtranspose", "wait_flag", "workspace"]
)
NAMESPACES = frozenset({"std", "ge", "gert", "ops", "optiling", "matmul_tiling", "ascendc_twin", "ascendops", "torch", "at", "c10"})
PARAMETERS = frozenset({"workspace", "tiling"})
_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def pascal(name: str) -> str:
    """The op type of a snake_case name: `add_layer_norm_v2` -> `AddLayerNormV2`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(op_type: str) -> str:
    """Kernel file and entry name of an op type, as CANN derives it: `Conv2DCustom` -> `conv2_d_custom`, `GRUCell` -> `gru_cell`.

    An underscore goes before an upper-case letter whose predecessor is not upper-case (a digit counts as not upper-case), or whose
    predecessor is upper-case and whose successor is lower-case.
    """
    out: list[str] = []
    for i, letter in enumerate(op_type):
        if letter.isupper() and i > 0:
            before, after = op_type[i - 1], op_type[i + 1 : i + 2]
            if not before.isupper() or after.islower():
                out.append("_")
        out.append(letter.lower())
    return "".join(out).replace("__", "_")


def suggestion(name: str) -> str:
    """A valid name near `name`: snake_case, with `_custom` when the plain name is taken."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    words = words if words.islower() else snake(words)
    words = re.sub(r"^\d+_*", "", words) or "my_op"
    words = snake(pascal(words))
    return words if _problem(words) is None else f"{words}_custom"


def _problem(name: str) -> str | None:
    if not _SNAKE.fullmatch(name):
        return "a name has lower-case letters, digits and single underscores, and starts with a letter"
    taken = (
        (CPP_KEYWORDS, "it is a C++ keyword"),
        (frozenset(keyword.kwlist), "it is a Python keyword"),
        (C_LIBRARY_NAMES, "it is a function of the C library, so the kernel's entry would clash with it"),
        (ASCENDC, "it is a name of the Ascend C compiler or its headers"),
        (NAMESPACES, "it is a C++ namespace that operator sources use"),
    )
    for names, why in taken:
        if name in names:
            return why
    if snake(pascal(name)) != name:
        return f"its op type {pascal(name)} converts back to '{snake(pascal(name))}', so CANN would look for another kernel"
    return None


def check_op_name(name: str, *, where: str | None = None) -> str:
    """Return `name` if an operator can have it.

    Raises:
        BadOpName: It cannot; the message says why and suggests a name.
    """
    why = _problem(name)
    if why is not None:
        raise BadOpName(f"an operator cannot be called '{name}'", where=where, why=why, help=f"use for example '{suggestion(name)}'")
    return name


def check_argument(name: str, what: str, *, where: str | None = None) -> str:
    """Return `name` if a tensor or attribute (`what`) of the schema can have it.

    Raises:
        SpecError: It is a keyword, or a parameter that every kernel has.
    """
    why = None
    if not _IDENTIFIER.fullmatch(name) or "__" in name:
        why = "a name has letters, digits and single underscores, and starts with a letter"
    elif name in CPP_KEYWORDS or keyword.iskeyword(name):
        why = "it is a keyword of C++ or Python"
    elif name in PARAMETERS:
        why = "every kernel already has a parameter of that name"
    if why is not None:
        raise SpecError(f"{what} cannot be called '{name}'", where=where, why=why, help=f"use for example '{name.strip('_') or 'x'}_in'")
    return name
