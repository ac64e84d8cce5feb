"""The signature of a new operator: that of its preset, or one that was given and fits the preset's kernel."""

from __future__ import annotations

from dataclasses import replace

from ascendops.errors import SchemaMisfit
from ascendops.render.families import Choice
from ascendops.render.free import check
from ascendops.spec import schema as schemas
from ascendops.spec.schema import FunctionSchema, Return
from ascendops.spec.tensors import attributes


def own(name: str, choice: Choice) -> FunctionSchema:
    """The preset's signature, under the operator's name."""
    return schemas.parse(str(choice.values["schema"]).replace("{name}", name), where=f"preset {choice.preset}")


def fitting(name: str, choice: Choice, text: str | None) -> FunctionSchema:
    """The signature that `text` is, or the preset's own.

    Raises:
        SchemaMisfit: The preset's kernel is written for other tensors or attributes.
    """
    preset = own(name, choice)
    if text is None:
        return preset
    given = _named(schemas.parse(text, where="--schema"))
    problems = []
    if given.name != name:
        problems.append(f"it is called '{given.name}', but the operator '{name}'")
    if choice.values.get("any_schema") and not problems:
        check(given)
        return given
    for what, mine, theirs in (
        ("input tensors", given.tensors, preset.tensors),
        ("output tensors", given.returns, preset.returns),
    ):
        if len(mine) != len(theirs):
            problems.append(f"it has {len(mine)} {what}, but the kernel {len(theirs)}")
    mine_attrs, preset_attrs = _attrs(given), _attrs(preset)
    if mine_attrs != preset_attrs:
        problems.append(f"its attributes are ({', '.join(mine_attrs)}), but the kernel has ({', '.join(preset_attrs)})")
    if problems:
        need = f"the preset '{choice.preset}' of {choice.family.name} is written for {preset.text}"
        hint = "fit the schema to it, start from another one (--like), or change op.toml and the kernel afterwards"
        raise SchemaMisfit(f"the schema does not fit: {'; '.join(problems)}", where="--schema", why=need, help=hint)
    return given


def _named(signature: FunctionSchema) -> FunctionSchema:
    """The signature with names for the outputs that have none: `y`, or `y0`, `y1`, ...; one that is an input has the input's."""
    if all(ret.name for ret in signature.returns):
        return signature
    owners = {arg.type.alias: arg.name for arg in signature.tensors if arg.type.alias}
    plain = "y" if len(signature.returns) == 1 else "y{}"
    returns = tuple(
        ret if ret.name else Return(owners.get(ret.type.alias) if ret.type.alias else plain.format(index), ret.type)
        for index, ret in enumerate(signature.returns)
    )
    listing = ", ".join(f"{ret.type} {ret.name}" for ret in returns)
    head = signature.text[: signature.text.rindex("->")]
    text = f"{head}-> {listing}" if len(returns) == 1 else f"{head}-> ({listing})"
    return replace(signature, text=text, returns=returns)


def _attrs(signature: FunctionSchema) -> list[str]:
    return [f"{attr.type} {attr.name}" for attr in attributes(signature)]
