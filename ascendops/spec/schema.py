"""PyTorch function schemas, parsed without torch: `name(Tensor x, *, float eps=1e-5) -> (Tensor y, Tensor rstd)`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import NoReturn, cast

from ascendops.errors import SchemaError

SCALARS = ("int", "float", "bool", "str")
LISTS = ("int", "float", "bool")
TYPES = "Tensor, Tensor?, Tensor[], Tensor(a!), int, float, bool, str, int[], int[2], float[], bool[] and optional ones such as int?"
_INSTEAD = {
    "Scalar": "float or int",
    "SymInt": "int",
    "double": "float",
    "int64_t": "int",
    "string": "str",
    "ScalarType": "an output dtype column in op.toml",
    "Device": "nothing: outputs are on the inputs' device",
}
_TOKEN = re.compile(
    r"""\s*(?:(?P<float>[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?)|(?P<int>[-+]?\d+)|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<str>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<op>->|::|[()\[\]?,=*!|.]))"""
)

Value = bool | int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[bool, ...] | None


@dataclass(frozen=True)
class Type:
    """A type of the schema.

    Attributes:
        base: `Tensor`, `int`, `float`, `bool` or `str`.
        is_list: `int[]`.
        length: 2 for `int[2]`.
        optional: `int?`.
        alias: `a` in `Tensor(a!)`.
        mutated: The `!` in it.
    """

    base: str
    is_list: bool = False
    length: int | None = None
    optional: bool = False
    alias: str | None = None
    mutated: bool = False

    def __str__(self) -> str:
        alias = f"({self.alias}{'!' if self.mutated else ''})" if self.alias else ""
        size = f"[{'' if self.length is None else self.length}]" if self.is_list else ""
        return f"{self.base}{alias}{size}{'?' if self.optional else ''}"


@dataclass(frozen=True)
class Argument:
    """One argument; `required` means that it has no default."""

    name: str
    type: Type
    required: bool = True
    default: Value = None
    kwarg_only: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor, an optional tensor or a list of tensors."""
        return self.type.base == "Tensor"


@dataclass(frozen=True)
class Return:
    """One returned tensor with its name (None when the schema gives none)."""

    name: str | None
    type: Type


@dataclass(frozen=True)
class FunctionSchema:
    """A parsed schema. `text` is what was parsed, with single spaces."""

    text: str
    name: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @property
    def tensors(self) -> tuple[Argument, ...]:
        """The tensor arguments in order."""
        return tuple(arg for arg in self.arguments if arg.is_tensor)

    @property
    def attrs(self) -> tuple[Argument, ...]:
        """The other arguments in order."""
        return tuple(arg for arg in self.arguments if not arg.is_tensor)


def parse(text: str, *, where: str | None = None) -> FunctionSchema:
    """Parse a schema string.

    Raises:
        SchemaError: The text does not follow the grammar; a caret shows where.
    """
    return _Parser(text, where).function()


class _Parser:
    def __init__(self, text: str, where: str | None) -> None:
        self.text = text.rstrip()
        self.where = where
        self.start = self.end = 0
        self.kind, self.word = "", ""
        self.advance()

    def fail(self, what: str, help: str | None = None, at: int | None = None) -> NoReturn:
        column = self.start if at is None else at
        raise SchemaError(what, where=self.where, why=f"{self.text}\n{' ' * column}^", help=help or f"types are {TYPES}")

    def advance(self) -> str:
        last = self.word
        token = _TOKEN.match(self.text, self.end)
        if token is None:
            rest = self.text[self.end :]
            self.start = self.end + len(rest) - len(rest.lstrip())
            self.kind, self.word = "end", ""
            if self.start < len(self.text):
                self.fail(f"unexpected character '{self.text[self.start]}' in the schema")
            return last
        self.kind = token.lastgroup or ""
        self.word = token.group(self.kind)
        self.start, self.end = token.start(self.kind), token.end()
        return last

    def accept(self, word: str) -> bool:
        if self.kind in ("op", "name") and self.word == word:
            self.advance()
            return True
        return False

    def expect(self, word: str, what: str) -> None:
        if not self.accept(word):
            self.fail(f"expected '{word}' {what}, found {self.found()}")

    def found(self) -> str:
        return f"'{self.word}'" if self.kind != "end" else "the end of the schema"

    def name(self, what: str) -> str:
        if self.kind != "name":
            self.fail(f"expected {what}, found {self.found()}")
        return self.advance()

    def function(self) -> FunctionSchema:
        name = self.name("the operator's name")
        if self.word in ("::", "."):
            self.fail("the schema has a namespace or an overload name", help=f"write '{name}(...)': ascendops adds the namespace")
        self.expect("(", "before the arguments")
        arguments = self.arguments()
        self.expect("->", "before the returned tensors")
        returns = self.returns()
        if self.kind != "end":
            self.fail(f"unexpected {self.found()} after the returned tensors")
        return FunctionSchema(" ".join(self.text.split()), name, arguments, returns)

    def arguments(self) -> tuple[Argument, ...]:
        found: list[Argument] = []
        kwarg_only = False
        if self.accept(")"):
            return ()
        while True:
            if not kwarg_only and self.accept("*"):
                kwarg_only = True
            else:
                found.append(self.argument(kwarg_only, found))
            if self.accept(")"):
                return tuple(found)
            self.expect(",", "or ')' after an argument")

    def argument(self, kwarg_only: bool, before: list[Argument]) -> Argument:
        type_ = self.type()
        at = self.start
        name = self.name(f"a name after the type '{type_}'")
        if any(arg.name == name for arg in before):
            self.fail(f"the argument '{name}' appears twice", help="give every argument its own name", at=at)
        if not self.accept("="):
            if not kwarg_only and before and not before[-1].required:
                self.fail(
                    f"'{name}' has no default but follows '{before[-1].name}', which has one",
                    help="put required arguments first, or after a '*'",
                    at=at,
                )
            return Argument(name, type_, kwarg_only=kwarg_only)
        return Argument(name, type_, required=False, default=self.default(type_), kwarg_only=kwarg_only)

    def type(self) -> Type:
        at = self.start
        base = self.name("a type")
        if base != "Tensor" and base not in SCALARS:
            instead = f"use {_INSTEAD[base]}" if base in _INSTEAD else f"types are {TYPES}"
            self.fail(f"the type '{base}' is not supported", help=instead, at=at)
        alias, mutated = self.alias() if base == "Tensor" and self.word == "(" else (None, False)
        is_list, length = False, None
        if self.accept("["):
            if base != "Tensor" and base not in LISTS:
                self.fail(f"a list of '{base}' is not supported", at=at)
            is_list = True
            if self.kind == "int":
                length = int(self.advance())
            self.expect("]", "after '['")
        return Type(base, is_list, length, self.accept("?"), alias, mutated)

    def alias(self) -> tuple[str, bool]:
        self.expect("(", "before an alias")
        alias = self.name("an alias name such as 'a'")
        mutated = self.accept("!")
        self.expect(")", "after an alias")
        return alias, mutated

    def default(self, type_: Type) -> Value:
        if self.accept("None"):
            if not type_.optional:
                self.fail(f"None is not a value of '{type_}'", help=f"write the type as '{type_}?'")
            return None
        if type_.base == "Tensor":
            self.fail("the default of a tensor can only be None")
        if not type_.is_list:
            return self.scalar(type_)
        if self.word != "[":
            if not type_.length:
                self.fail(f"expected a list such as [0, 1], found {self.found()}")
            return cast(Value, (self.scalar(type_),) * type_.length)
        self.advance()
        items: list[int | float | bool | str] = []
        while not self.accept("]"):
            items.append(self.scalar(type_))
            if self.word != "]":
                self.expect(",", "or ']' in a list")
        if type_.length is not None and len(items) != type_.length:
            self.fail(f"the default of '{type_}' has {len(items)} items")
        return cast(Value, tuple(items))

    def scalar(self, type_: Type) -> int | float | bool | str:
        kind, word = self.kind, self.word
        if type_.base == "bool" and word in ("True", "False"):
            self.advance()
            return word == "True"
        if type_.base == "str" and kind == "str":
            return str(ast.literal_eval(self.advance()))
        if type_.base == "float" and kind in ("int", "float"):
            return float(self.advance())
        if type_.base == "int" and kind == "int":
            return int(self.advance())
        examples = {"bool": "True or False", "str": '"text"', "float": "1.0", "int": "1"}
        return self.fail(f"{self.found()} is not a value of '{type_.base}'", help=f"write {examples[type_.base]}")

    def returns(self) -> tuple[Return, ...]:
        if not self.accept("("):
            return (self.one_return(),)
        if self.accept(")"):
            return ()
        found = [self.one_return()]
        while self.accept(","):
            found.append(self.one_return())
        self.expect(")", "or ',' after a returned tensor")
        names = [ret.name for ret in found if ret.name]
        if len(set(names)) != len(names):
            self.fail("two returned tensors have the same name")
        return tuple(found)

    def one_return(self) -> Return:
        at = self.start
        type_ = self.type()
        if type_.base != "Tensor" or type_.is_list or type_.optional:
            self.fail(f"an output must be a Tensor, not '{type_}'", help="outputs are `Tensor y`, or `Tensor(a!) x`", at=at)
        return Return(self.advance() if self.kind == "name" else None, type_)
