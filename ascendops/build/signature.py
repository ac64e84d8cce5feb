"""How an operator is called: the order, kinds and defaults of its arguments, and the binding of one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ascendops.errors import InputError, did_you_mean

_REQUIRED = object()


@dataclass(frozen=True)
class Parameter:
    """One argument: `kind` is `tensor`, `optional` (tensor or None), `list` (of tensors) or `attr`."""

    name: str
    kind: str
    default: Any = _REQUIRED
    type: str = "Tensor"

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is _REQUIRED


@dataclass(frozen=True)
class Bound:
    """One bound call: tensors by input name (None for an absent optional one) and attributes by name."""

    tensors: Mapping[str, Any]
    attrs: Mapping[str, Any]


@dataclass(frozen=True)
class Signature:
    """The parameters of an operator in call order, those in `keyword_only` by name alone."""

    op: str
    parameters: tuple[Parameter, ...]
    keyword_only: frozenset[str] = frozenset()

    def __str__(self) -> str:
        parts = [f"{p.type} {p.name}" + ("" if p.required else f"={p.default}") for p in self.parameters]
        return f"{self.op}({', '.join(parts)})"

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """Assigns arguments to parameters.

        Raises:
            InputError: Too many arguments, an unknown keyword, one given twice, one missing, None where something must be given, or an
                attribute of another type.
        """
        positional = [p for p in self.parameters if p.name not in self.keyword_only]
        if len(args) > len(positional):
            raise self._too_many(positional, args)
        values: dict[str, Any] = {p.name: value for p, value in zip(positional, args, strict=False)}
        names = {p.name for p in self.parameters}
        for name, value in kwargs.items():
            if name not in names:
                raise InputError(f"{self.op} has no argument '{name}'", where=str(self), help=did_you_mean(name, names))
            if name in values:
                raise InputError(f"{self.op} got the argument '{name}' twice", where=str(self))
            values[name] = value
        missing = [f"{p.name} ({p.type})" for p in self.parameters if p.required and p.name not in values]
        if missing:
            raise InputError(f"{self.op} needs {', '.join(missing)}", where=str(self), help="pass it in this order, or by keyword")
        empty = next((p for p in self.parameters if p.required and values[p.name] is None and not p.type.endswith("?")), None)
        if empty is not None:
            raise self._none(empty)
        full = {p.name: values.get(p.name, None if p.required else p.default) for p in self.parameters}
        tensors = {p.name: full[p.name] for p in self.parameters if p.kind != "attr"}
        return Bound(tensors, {p.name: self._attr(p, full[p.name]) for p in self.parameters if p.kind == "attr"})

    def _too_many(self, positional: Sequence[Parameter], args: Sequence[Any]) -> InputError:
        names = ", ".join(p.name for p in positional)
        named = ", ".join(f"{p.name}=..." for p in self.parameters if p.name in self.keyword_only)
        count = f"{len(positional)} positional argument{'' if len(positional) == 1 else 's'}"
        return InputError(
            f"{self.op} takes {count} ({names}), {len(args)} were given", where=str(self),
            why=f"argument {len(positional) + 1} is {_described(args[len(positional)])}", help=f"pass the others by name: {named}" if named else None,
        )  # fmt: skip

    def _none(self, parameter: Parameter) -> InputError:
        may = [p.name for p in self.parameters if (not p.required and p.default is None) or p.type.endswith("?")]
        return InputError(
            f"{self.op}: '{parameter.name}' must be {_expected(parameter)}, not None", where=str(self), why=f"'{parameter.name}' is required",
            help=f"only {', '.join(may)} may be None" if may else f"pass {_expected(parameter)}",
        )  # fmt: skip

    def _attr(self, parameter: Parameter, value: Any) -> Any:
        """Checks an attribute against its type; numbers widen as PyTorch's parser widens them (int to float, one to a list)."""
        base, is_list = parameter.type.split("[")[0].rstrip("?"), "[" in parameter.type
        if value is None:
            return None
        if type(value).__module__ == "numpy":  # NumPy's scalars are no Python numbers, its arrays no sequences
            value = value.tolist()
        if is_list:
            items = [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else value
            if not isinstance(items, Sequence) or isinstance(items, str):
                raise self._wrong(parameter, value)
            return tuple(self._scalar(parameter, base, item) for item in items)
        return self._scalar(parameter, base, value)

    def _scalar(self, parameter: Parameter, base: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)) and base not in {"bool", "int", "float", "str", "Scalar"}:
            return tuple(tuple(item) if isinstance(item, (list, tuple)) else item for item in value)
        accepted: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (int, float), "str": (str,), "Scalar": (int, float, bool)}
        kinds = accepted.get(base)
        if kinds is None:
            return value
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise self._wrong(parameter, value)
        return float(value) if base == "float" and isinstance(value, (int, float)) else value

    def _wrong(self, parameter: Parameter, value: Any) -> InputError:
        what = f"{self.op}: '{parameter.name}' must be {parameter.type}, not {_described(value)}"
        return InputError(what, where=str(self))


def _expected(parameter: Parameter) -> str:
    return {"tensor": "a tensor", "optional": "a tensor", "list": "a list of tensors"}.get(parameter.kind, parameter.type)


def _described(value: Any) -> str:
    """A value for a message: a tensor or an array by its type and shape, a long text shortened."""
    kind = type(value).__name__
    if hasattr(value, "shape"):
        return f"a {kind} of the shape {list(value.shape)}"
    text = repr(value)
    return f"{kind} {text if len(text) <= 60 else text[:57] + '...'}"
