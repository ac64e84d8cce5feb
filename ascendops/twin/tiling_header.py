"""C++ text of the plain structs that a kernel reads macro tiling data (BEGIN_TILING_DATA_DEF) through."""

from __future__ import annotations

from collections.abc import Iterator

from ascendops.twin.opdef import OpDef, TilingField, TilingStruct

# Structures of the high-level API that kernel_tiling/kernel_tiling.h defines.
LIBRARY_STRUCTS = frozenset(
    {
        "BatchNormTiling",
        "ConfusionTransposeTiling",
        "DeepNormTiling",
        "GroupNormTiling",
        "LayerNormGradBetaTiling",
        "LayerNormGradTiling",
        "LayerNormSeparateTiling",
        "LayerNormTiling",
        "LogSoftMaxTiling",
        "PadTiling",
        "RmsNormTiling",
        "SoftMaxTiling",
        "TCubeTiling",
        "TopkTiling",
        "UnPadTiling",
    }
)


def header(op: OpDef) -> str | None:
    """The structs of an operator's macro tiling, in an order that compiles, and `ascendc_twin_default_tiling`; None without macro tiling.

    Offsets and sizes are those of the host's layout; the text asserts them.
    """
    structs = [*([op.tiling_struct] if op.tiling_struct else []), *op.keyed_tilings.values()]
    if not structs:
        return None
    done: dict[str, str] = {}
    for struct in structs:
        for nested in _inner_first(struct):
            done.setdefault(nested.name, _text(nested))
    default = op.tiling_struct or structs[0]
    lines = ["#include <cstddef>", "#include <cstdint>", '#include "kernel_tiling/kernel_tiling.h"', *done.values(), f"using ascendc_twin_default_tiling = {default.name};"]
    return "\n".join(lines) + "\n"


def _inner_first(struct: TilingStruct) -> Iterator[TilingStruct]:
    for field in struct.fields:
        if field.struct is not None:
            yield from _inner_first(field.struct)
    if struct.name not in LIBRARY_STRUCTS:
        yield struct


def _text(struct: TilingStruct) -> str:
    lines, at, pads = [f"struct {struct.name} {{"], 0, 0
    for field in struct.fields:
        if field.offset > at:
            lines.append(f"    uint8_t ascendcTwinPad{pads}[{field.offset - at}] = {{0}};")
            pads += 1
        lines.append(f"    {_declaration(field)}")
        at = field.offset + field.size
    if struct.size > at:
        lines.append(f"    uint8_t ascendcTwinPad{pads}[{struct.size - at}] = {{0}};")
    lines.append("};")
    lines.append(f'static_assert(sizeof({struct.name}) == {struct.size}, "layout of {struct.name}");')
    checks = [f'static_assert(offsetof({struct.name}, {f.name}) == {f.offset}, "{struct.name}.{f.name}");' for f in struct.fields]
    return "\n".join([*lines, *checks])


def _declaration(field: TilingField) -> str:
    if field.struct is not None:
        return f"{field.struct.name} {field.name};"
    suffix = f"[{field.length}] = {{}}" if field.length is not None else " = {}"
    return f"{field.type} {field.name}{suffix};"
