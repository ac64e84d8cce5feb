"""Typed access to one table of op.toml; every refusal names the line and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ascendops.errors import BadValue, MissingKey, UnknownKey, did_you_mean
from ascendops.spec.lines import Lines


class Table:
    """A TOML table at `path`.

    Args:
        data: The parsed table.
        lines: Line numbers of the file.
        path: Key path of the table in the file.
        allowed: Its keys.

    Raises:
        UnknownKey: `data` has another key.
    """

    def __init__(self, data: object, lines: Lines, path: tuple[str | int, ...] = (), allowed: Iterable[str] | None = None) -> None:
        self.lines, self.path = lines, path
        if not isinstance(data, dict):
            raise BadValue(f"'{self.title}' must be a table, not {data!r}", where=self.where(), help=f"write [{self.title}]")
        self.data: Mapping[str, Any] = data
        for key in data if allowed is not None else ():
            if key not in set(allowed or ()):
                place = f" in [{self.title}]" if path else ""
                raise UnknownKey(f"unknown key '{key}'{place}", where=self.where(key), help=did_you_mean(key, allowed))

    @property
    def title(self) -> str:
        """The table's name as written in the file, without indexes."""
        return ".".join(str(part) for part in self.path if isinstance(part, str))

    def where(self, *key: str | int, text: str | None = None) -> str:
        """`op.toml:line` of a key of this table (or of the table)."""
        return self.lines.where(*self.path, *key, text=text)

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def get(self, key: str, kind: type | tuple[type, ...], what: str, default: Any = ...) -> Any:
        """The value of `key`, checked to be of `kind`; `what` describes it in words for the error.

        Raises:
            MissingKey: It is missing, and there is no default.
            BadValue: It is of another kind.
        """
        if key not in self.data:
            if default is ...:
                place = f"[{self.title}] lacks" if self.path else "op.toml lacks"
                raise MissingKey(f"{place} the key '{key}'", where=self.where(), help=f"add {key} = {what}")
            return default
        value = self.data[key]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise BadValue(f"'{key}' cannot be {value!r}", where=self.where(key), help=f"write {key} = {what}")
        return value

    def text(self, key: str, what: str, default: Any = ...) -> Any:
        """A string (`default` when missing).

        Raises:
            MissingKey: It is missing, and there is no default.
            BadValue: It is no string.
        """
        return self.get(key, str, what, default)

    def word(self, key: str, options: Iterable[str], default: str) -> str:
        """One of some words.

        Raises:
            BadValue: It is none of `options`.
        """
        value = self.get(key, str, f'"{default}"', default)
        if value not in set(options):
            raise BadValue(f"'{key}' cannot be '{value}'", where=self.where(key), help=did_you_mean(str(value), options))
        return str(value)

    def words(self, key: str, what: str, default: Any = ...) -> Any:
        """A list of strings as a tuple (`default` when missing).

        Raises:
            MissingKey: It is missing, and there is no default.
            BadValue: It is no list, or an element is no string.
        """
        value = self.get(key, list, what, default)
        if value is default:
            return value
        for item in value:
            if not isinstance(item, str):
                raise BadValue(f"'{key}' has {item!r}, which is not a string", where=self.where(key), help=f"write {key} = {what}")
        return tuple(value)

    def table(self, key: str, allowed: Iterable[str] | None = None) -> Table:
        """The sub-table `key` (empty when missing)."""
        return Table(self.data.get(key, {}), self.lines, (*self.path, key), allowed)

    def tables(self, key: str, allowed: Iterable[str]) -> Iterator[Table]:
        """The elements of the array of tables `key`.

        Raises:
            BadValue: It is no array.
        """
        value = self.data.get(key, [])
        if not isinstance(value, list):
            raise BadValue(f"'{key}' must be an array of tables", where=self.where(key), help=f"write [[{key}]]")
        for index, item in enumerate(value):
            yield Table(item, self.lines, (*self.path, key, index), allowed)
