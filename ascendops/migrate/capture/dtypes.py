"""Which dtypes the documentation lists for an ATen operator: the pages name Python functions, so names are joined."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from ascendops.migrate.facts import tables

_SHORT = {
    "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8",
    "float8_e4m3fnuz": "fp8", "float8_e5m2fnuz": "fp8",
}  # fmt: skip
_SPACES = ("torch.{}", "torch.nn.functional.{}", "torch.special.{}", "torch.Tensor.{}", "torch.linalg.{}", "torch.fft.{}")
_OTHER_NAMES = {
    "convolution": ("conv2d", "conv1d", "conv3d"),
    "_convolution": ("conv1d", "conv2d", "conv3d"),
    "native_layer_norm": ("layer_norm",),
    "native_group_norm": ("group_norm",),
    "native_batch_norm": ("batch_norm",),
    "_native_batch_norm_legit": ("batch_norm",),
    "_scaled_dot_product_flash_attention": ("scaled_dot_product_attention",),
    "_scaled_dot_product_flash_attention_for_cpu": ("scaled_dot_product_attention",),
    "upsample_bilinear2d": ("interpolate",),
    "upsample_nearest2d": ("interpolate",),
    "native_dropout": ("dropout",),
    "max_pool2d_with_indices": ("max_pool2d",),
    "_adaptive_avg_pool2d": ("adaptive_avg_pool2d",),
    "linalg_vector_norm": ("norm",),
}
_UNSURE = {"fp16", "bf16"}
"""The lists often leave these out although the kernels take them: a matmul in bf16 is an example. They are named, not judged."""


@functools.cache
def _documented() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in tables.table("aten_support")["api"]:
        for listed in (row.get("dtypes") or {}).values():
            found.setdefault(row["api"], set()).update(listed)
    return {name: frozenset(listed) for name, listed in found.items()}


@functools.cache
def documented(op: str) -> tuple[str, frozenset[str]]:
    """(Python function, dtypes) for `aten::add.Tensor`; the union where several pages fit; empty where none does."""
    base = op.removeprefix("aten::").split(".")[0]
    plain = re.sub(r"^(special|linalg|fft)_", "", base.strip("_"))
    names = [space.format(name) for name in (*_OTHER_NAMES.get(base, ()), plain) for space in _SPACES]
    pages = [name for name in names if name in _documented()]
    return (pages[0] if pages else ""), frozenset(dtype for name in pages for dtype in _documented()[name])


def limits(op: str, used: Iterable[str]) -> tuple[list[str], list[str]]:
    """(dtypes that the pages do not list and that are a limit, notes) for the torch dtypes that an operator was called with."""
    page, listed = documented(op)
    short = {_SHORT.get(dtype, dtype) for dtype in used if dtype}
    hard: list[str] = []
    notes: list[str] = []
    if not listed:
        hard = sorted(short & {"fp64", "complex128", "fp8"})
        notes = ["fp8 needs Ascend 950"] if "fp8" in hard else []
        notes += [f"{dtype} is missing from most dtype lists" for dtype in hard if dtype != "fp8"]
        return hard, notes
    missing = short - listed
    hard = sorted(missing - _UNSURE)
    if hard:
        notes.append(f"{page} is documented for {', '.join(sorted(listed))}, not for {', '.join(hard)}")
    if missing & _UNSURE:
        notes.append(f"{', '.join(sorted(missing & _UNSURE))} is not in the documented list of {page}: try it")
    return hard, notes
