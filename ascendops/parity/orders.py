"""Sums in the worst order that kernels take: one float32 addition after the other.

The error of such a sum is no random walk where terms repeat (softmax of equal inputs, masks, whole numbers): each addition then rounds to the same
side. So it is measured, forwards and backwards, instead of modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from ascendops.parity.decompose import CONTRACTIONS, DECOMPOSED

_MOST = 1 << 24  # products of a contraction; larger ones keep torch's order
_SUMS = frozenset(("sum", "mean", "nansum", "nanmean", "cumsum"))
_PRODUCTS = frozenset(("matmul", "mm", "bmm", "rmatmul", "mv", "dot", "linear", "addmm", "scaled_dot_product_attention")) & (CONTRACTIONS | frozenset(DECOMPOSED))


def _by_lse(input: torch.Tensor, dim: int = -1, *_: Any, **__: Any) -> torch.Tensor:
    """x - (max + log(sum e^(x - max))): the logarithm of the sum is formed first, as fused losses do."""
    return input - torch.logsumexp(input, dim, keepdim=True)


class InOrder(TorchFunctionMode):
    """While active, float32 sums and products of matrices add their terms one after the other.

    `reverse` does so backwards, and takes log_softmax as x - logsumexp(x), the other form that kernels use.

    Composite functions are taken apart. Other functions, and other dtypes, run as they are.
    """

    def __init__(self, reverse: bool = False) -> None:
        super().__init__()
        self.reverse = reverse

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs the function, or its parts, or adds in order."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").strip("_")
        parts = _by_lse if self.reverse and name == "log_softmax" else DECOMPOSED.get(name)
        if parts is not None:
            with self:
                return parts(*args, **kwargs)
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
        if not tensors or any(tensor.dtype != torch.float32 for tensor in tensors) or "out" in kwargs:
            return func(*args, **kwargs)
        if name in _SUMS:
            return self._sum(func, name, args, kwargs)
        if name in _PRODUCTS:
            return self._product(func, name, args, kwargs)
        return func(*args, **kwargs)

    def _sum(self, func: Callable[..., Any], name: str, args: Any, kwargs: Any) -> Any:
        like = func(*args, **kwargs)
        x = args[0]
        dims = args[1] if len(args) > 1 else kwargs.get("dim", kwargs.get("axis"))
        if like.dtype != torch.float32 or like.numel() == 0 or x.numel() == 0 or isinstance(dims, (str, torch.dtype)):
            return like
        if name == "cumsum":
            return self._running(x, dims) if not self.reverse else like
        chosen = range(x.dim()) if dims is None or dims == () else ([dims] if isinstance(dims, int) else list(dims))
        places = sorted(dim % max(x.dim(), 1) for dim in chosen)
        kept = [dim for dim in range(x.dim()) if dim not in places]
        rows = x.permute(kept + places).reshape(like.numel(), -1) if x.dim() else x.reshape(1, 1)
        rows = torch.nan_to_num(rows, nan=0.0, posinf=torch.inf, neginf=-torch.inf) if name.startswith("nan") else rows
        total = torch.from_numpy(self._last(rows.contiguous().numpy())).reshape(like.shape)
        if name == "sum" or name == "nansum":
            return total
        return total / rows.shape[1] if name == "mean" else like

    def _last(self, rows: Any) -> Any:
        rows = rows[:, ::-1] if self.reverse else rows
        with np.errstate(all="ignore"):
            return np.add.accumulate(rows, axis=1, dtype=np.float32)[:, -1].copy()

    def _running(self, x: torch.Tensor, dim: int) -> torch.Tensor:
        with np.errstate(all="ignore"):
            return torch.from_numpy(np.add.accumulate(x.contiguous().numpy(), axis=dim, dtype=np.float32))

    def _product(self, func: Callable[..., Any], name: str, args: Any, kwargs: Any) -> Any:
        if name == "rmatmul":
            a, b = args[1], args[0]
        elif name == "addmm":
            return args[0] + self._product(torch.matmul, "matmul", args[1:3], {}) if not kwargs else func(*args, **kwargs)
        else:
            a, b = args[0], args[1]
        bias = None
        if name == "linear":
            bias, b = (args[2] if len(args) > 2 else kwargs.get("bias")), b.transpose(-1, -2)
        if a.dim() < 2 or b.dim() < 2 or a.numel() * b.shape[-1] > _MOST or a.shape[-1] != b.shape[-2]:
            return func(*args, **kwargs)
        terms = range(a.shape[-1])
        total = torch.zeros((*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
        for i in reversed(terms) if self.reverse else terms:
            total = total + a[..., :, i : i + 1] * b[..., i : i + 1, :]
        return total if bias is None else total + bias
