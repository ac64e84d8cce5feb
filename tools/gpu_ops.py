"""What tools/record_gpu.py tries: torch's own operator, attributes and shapes for each reference of cuda_reference/."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F

from tools import gpu_functions as fn, gpu_gradients, gpu_products
from tools.gpu_functions import Function, Shapes

Make = Callable[[Shapes, torch.dtype], list[torch.Tensor]]


@dataclass(frozen=True)
class Op:
    """How one reference is tried: torch's own operator, its attributes, and shapes for errors and for time.

    `golden` is a float64 formula where torch's operator is not one (or returns less); `timed` is what torch has where its result need not
    be ours (the order of equal elements, say); `make` makes inputs that are not all of one dtype.
    With `cancels`, results can be small differences of large numbers: an ulp is at least one of the mean magnitude of the output.
    """

    torch: Function
    inputs: int = 1
    attrs: dict[str, Any] = field(default_factory=dict)
    positive: bool = False
    golden: Function | None = None
    timed: Function | None = None
    make: Make | None = None
    cancels: bool = False
    small: Sequence[Shapes] = (((1,),), ((1025,),), ((3, 0),), ((1023, 1025),))
    large: Sequence[Shapes] = (((8192, 8192),),)


def _norm(parameters: int, tensors: int = 1, **more: Any) -> dict[str, Any]:
    def shapes(*all_rows: tuple[int, ...]) -> Sequence[Shapes]:
        return tuple((*[rows] * tensors, *[rows[-1:]] * parameters) for rows in all_rows)

    small = shapes((7, 1), (5, 17), (33, 1025), (3, 50003), (0, 5), (2100, 3))
    large = shapes((4096, 4096), (8192, 7168), (64, 50000))
    return {"make": fn.make_one_dtype, "cancels": True, "small": small, "large": large, **more}


def _norm_backward(rows: int, center: bool, **more: Any) -> dict[str, Any]:
    def shapes(*sizes: tuple[int, int]) -> Sequence[Shapes]:
        return tuple((*[size] * rows, size[-1:]) for size in sizes)

    def make(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
        return fn.make_norm_backward(shapes, dtype, rows=rows, center=center)

    small = shapes((7, 2), (5, 17), (33, 1025), (3, 50003), (0, 5), (2100, 3))
    return {"make": make, "cancels": True, "small": small, "large": shapes((4096, 4096), (8192, 7168)), **more}


_CLASSES_SMALL = (((7, 1),), ((5, 17),), ((33, 1025),), ((3, 50257),), ((0, 5),), ((2100, 3),))
_CLASSES_LARGE = (((4096, 4096),), ((4096, 50257),))
_SCALED_SMALL: Sequence[Shapes] = (((7, 1), (1,)), ((33, 1025), (1,)), ((0, 5), (1,)))
_TOKENS_SMALL: Sequence[Shapes] = (((7, 1), (7, 1)), ((33, 1025), (33, 1)), ((0, 5), (0, 1)), ((2100, 3), (2100, 1)))
_ROPE_SMALL = tuple(
    (x, (x[1], x[3]), (x[1], x[3]))
    for x in ((1, 1, 1, 2), (2, 33, 1, 30), (2, 11, 8, 128), (1, 2100, 1, 10), (0, 3, 2, 8))
)
_ROPE_LARGE = tuple((x, (x[1], x[3]), (x[1], x[3])) for x in ((4, 4096, 32, 128), (128, 4096, 1, 128)))
_GROUPS_SMALL = tuple((x, x[1:2], x[1:2]) for x in ((1, 8, 1), (2, 40, 17), (3, 8, 7, 9), (2, 8, 30011), (0, 8, 3)))
_GROUPS_LARGE = tuple((x, x[1:2], x[1:2]) for x in ((16, 320, 64, 64), (64, 512, 32, 32)))
_TABLES_SMALL = (((1, 1), (1,)), ((33, 17), (301,)), ((7, 5003), (3,)), ((5, 7), (0,)), ((3, 129), (2100,)))
_TABLES_LARGE = (((65536, 1024), (65536,)), ((50257, 768), (32768,)))
_MATRICES_SMALL = (((1, 1),), ((7, 5),), ((3, 33, 1025),), ((4099, 3),), ((0, 5),))
_MATRICES_LARGE = (((8192, 8192),), ((64, 1024, 1000),))
_PICKED_SMALL = (((7, 1), (7, 1)), ((5, 17), (5, 40)), ((33, 1025), (33, 9)), ((3, 50003), (3, 301)), ((0, 5), (0, 3)), ((2, 7), (2, 0)))
_SORT_LARGE = (((65536, 128),), ((8192, 8192),))
_PLANES_SMALL = (((1, 1, 1, 1),), ((2, 7, 5, 3),), ((3, 1, 33, 65),), ((2, 0, 3, 5),))
_HEADS_SMALL = (((1, 1, 1),), ((2, 129, 8, 31),), ((2, 3, 5003),), ((3, 0, 5),))
_GATED_SMALL = (((7, 2),), ((5, 34),), ((33, 2050),), ((0, 6),), ((2100, 6),))
_GATED_LARGE = (((8192, 8192),), ((4096, 28672),))


def _with_gradient(shapes: Sequence[Shapes]) -> Sequence[Shapes]:
    """The shape of the gradient of a gated activation before that of its input."""
    return tuple(((*one[0][:-1], one[0][-1] // 2), one[0]) for one in shapes)


_ROWS = (((7, 1),), ((5, 17),), ((33, 1025),), ((3, 100003),), ((0, 5),), ((2100, 3),))
_REDUCED = ({"dim": -1, "keepdim": False}, {"dim": 0, "keepdim": True})
_PAIR: Sequence[Shapes] = (
    ((1025,), (1025,)),
    ((), (513,)),
    ((33, 127), (127,)),
    ((33, 1), (1, 31)),
    ((2, 7, 5), (2, 1, 5)),
)
_PAIR_LARGE = (((8192, 8192), (8192, 8192)), ((8192, 8192), (8192,)), ((8192, 8192), (8192, 1)))
_SOFTMAX_LARGE = (((256, 2048),), ((4096, 4096),), ((8192, 8192),), ((64, 100003),))


def _binary(function: Function) -> Op:
    return Op(function, 2, small=_PAIR, large=_PAIR_LARGE)


def _same(function: Function, **more: Any) -> Op:
    return Op(function, 2, small=_twice(Op.small), large=_twice(Op.large), **more)


def _twice(shapes: Sequence[Shapes]) -> Sequence[Shapes]:
    return tuple((one[0], one[0]) for one in shapes)


def _added(shapes: Sequence[Shapes]) -> Sequence[Shapes]:
    """The shape of the indices again, for what is added."""
    return tuple((*one, one[1]) for one in shapes)


def _linear(after: Function, golden: Function | None = None) -> Op:
    """A linear layer and what comes after it."""

    def shapes(*sizes: tuple[int, int, int]) -> Sequence[Shapes]:
        return tuple(((m, k), (n, k), (n,)) for m, k, n in sizes)

    def layer(function: Function) -> Function:
        return lambda x, w, b: function(F.linear(x, w, b))

    return Op(
        layer(after), 3, golden=layer(golden or after), make=fn.make_one_dtype, cancels=True,
        small=shapes((1, 1, 1), (33, 65, 17), (0, 5, 3), (130, 1025, 70)),
        large=shapes((4096, 4096, 4096), (128, 8192, 8192)),
    )  # fmt: skip


def _heads(*sizes: tuple[int, int, int, int, int, int]) -> Sequence[Shapes]:
    """Shapes of q, k and v from (batch, query heads, key heads, queries, keys, head size)."""
    return tuple(((b, hq, sq, d), (b, hkv, skv, d), (b, hkv, skv, d)) for b, hq, hkv, sq, skv, d in sizes)


def _products(transposed: bool) -> dict[str, Any]:
    def shapes(*sizes: tuple[tuple[int, ...], int, int, int]) -> Sequence[Shapes]:
        return tuple(((*batch, m, k), (*batch, n, k) if transposed else (*batch, k, n)) for batch, m, k, n in sizes)

    small = shapes(((), 1, 1, 1), ((3,), 33, 65, 17), ((), 0, 5, 3), ((), 3, 0, 5), ((), 130, 1025, 70))
    large = shapes(((), 4096, 4096, 4096), ((32,), 1024, 128, 1024))
    return {"inputs": 2, "make": fn.make_one_dtype, "cancels": True, "small": small, "large": large}


OPS: dict[str, Op] = {
    "abs": Op(torch.abs),
    "neg": Op(torch.neg),
    "square": Op(torch.square),
    "exp": Op(torch.exp),
    "log": Op(torch.log, positive=True),
    "sqrt": Op(torch.sqrt, positive=True),
    "rsqrt": Op(torch.rsqrt, positive=True),
    "reciprocal": Op(torch.reciprocal),
    "relu": Op(torch.relu),
    "sigmoid": Op(torch.sigmoid),
    "silu": Op(F.silu),
    "tanh": Op(torch.tanh),
    "gelu": Op(F.gelu, golden=fn.gelu64),
    "leaky_relu": Op(F.leaky_relu, attrs={"negative_slope": 0.2}),
    "clamp": Op(torch.clamp, attrs={"min": -1.5, "max": 2.25}),
    "scale_shift": Op(lambda x, alpha, beta: alpha * x + beta, attrs={"alpha": -1.75, "beta": 0.5}),
    "axpy": _same(lambda x1, x2, alpha: torch.add(x1, x2, alpha=alpha), attrs={"alpha": -1.75}),
    "squared_difference": _same(lambda x1, x2: (x1 - x2).square()),
    "silu_mul": _same(lambda x1, x2: F.silu(x1) * x2),
    "add": _binary(torch.add),
    "sub": _binary(torch.sub),
    "mul": _binary(torch.mul),
    "div": _binary(torch.div),
    "maximum": _binary(torch.maximum),
    "minimum": _binary(torch.minimum),
    "sum": Op(torch.sum, small=_ROWS),
    "mean": Op(torch.mean, small=_ROWS),
    "max": Op(torch.amax, small=_ROWS),
    "min": Op(torch.amin, small=_ROWS),
    "amax": Op(torch.amax, small=_ROWS),
    "amin": Op(torch.amin, small=_ROWS),
    "softmax": Op(lambda x: torch.softmax(x, -1), small=_ROWS, large=_SOFTMAX_LARGE),
    "log_softmax": Op(lambda x: torch.log_softmax(x, -1), small=_ROWS, large=_SOFTMAX_LARGE),
    "rms_norm": Op(lambda x, w, eps: F.rms_norm(x, w.shape, w, eps), attrs={"eps": 1e-6}, golden=fn.rms_norm64, **_norm(1)),
    "layer_norm": Op(lambda x, w, b, eps: torch.native_layer_norm(x, w.shape, w, b, eps), attrs={"eps": 1e-5}, **_norm(2)),
    "add_rms_norm": Op(fn.add_rms_norm, attrs={"eps": 1e-6}, golden=fn.add_rms_norm64, **_norm(1, tensors=2)),
    "swiglu": Op(fn.swiglu, small=_GATED_SMALL, large=_GATED_LARGE),
    "geglu": Op(fn.geglu, golden=fn.geglu64, small=_GATED_SMALL, large=_GATED_LARGE),
    "swiglu_backward": Op(
        fn.backward(fn.swiglu), 2, small=_with_gradient(_GATED_SMALL), large=_with_gradient(_GATED_LARGE), make=fn.make_one_dtype, cancels=True
    ),
    "geglu_backward": Op(
        fn.backward(fn.geglu), 2, golden=fn.backward(fn.geglu64),
        small=_with_gradient(_GATED_SMALL), large=_with_gradient(_GATED_LARGE), make=fn.make_one_dtype, cancels=True,
    ),
    "rope": Op(fn.rope64, 3, attrs={"interleaved": False}, small=_ROPE_SMALL, large=_ROPE_LARGE),
    "rope_backward": Op(fn.rope_backward64, 3, attrs={"interleaved": True}, small=_ROPE_SMALL, large=_ROPE_LARGE),
    "quantize": Op(
        fn.quantize, 2, attrs={"zero_point": -3}, make=fn.make_quantize, small=_SCALED_SMALL, large=(((8192, 8192), (1,)),),
        golden=lambda x, scale, zero_point: torch.clamp(x / scale + zero_point, -128, 127),
    ),
    "quantize_per_token": Op(
        fn.quantize_per_token, golden=fn.quantize_per_token64, make=fn.make_per_token, small=_ROWS, large=_SOFTMAX_LARGE
    ),
    "dequantize": Op(
        fn.dequantize, 2, attrs={"zero_point": 5}, make=fn.make_dequantize, small=_SCALED_SMALL, large=(((8192, 8192), (1,)),)
    ),
    "dequantize_per_token": Op(
        fn.dequantize, 2, make=fn.make_dequantize, small=_TOKENS_SMALL, large=(((8192, 8192), (8192, 1)),)
    ),
    "cross_entropy": Op(
        fn.cross_entropy, 2, attrs={"ignore_index": -1}, golden=fn.cross_entropy64, make=fn.make_classes,
        small=_CLASSES_SMALL, large=_CLASSES_LARGE,
    ),
    "cross_entropy_backward": Op(
        fn.cross_entropy_backward, 4, attrs={"ignore_index": -1}, cancels=True, make=fn.make_class_gradients,
        small=_CLASSES_SMALL, large=_CLASSES_LARGE,
    ),
    "softmax_backward": Op(
        lambda grad, y: torch._softmax_backward_data(grad, y, -1, y.dtype), 2, golden=fn.softmax_backward64,
        make=fn.make_one_dtype, cancels=True, small=_twice(_ROWS), large=_twice(_SOFTMAX_LARGE),
    ),
    "log_softmax_backward": Op(
        lambda grad, y: torch._log_softmax_backward_data(grad, y, -1, y.dtype), 2, golden=fn.log_softmax_backward64,
        make=fn.make_one_dtype, cancels=True, small=_twice(_ROWS), large=_twice(_SOFTMAX_LARGE),
    ),
    "silu_backward": _same(torch.ops.aten.silu_backward, golden=fn.silu_backward64),
    "gelu_backward": _same(torch.ops.aten.gelu_backward, golden=fn.gelu_backward64),
    "rms_norm_backward": Op(fn.rms_norm_backward, golden=fn.rms_norm_backward64, **_norm_backward(2, center=False)),
    "layer_norm_backward": Op(fn.layer_norm_backward, golden=fn.layer_norm_backward64, **_norm_backward(2, center=True)),
    "add_rms_norm_backward": Op(
        fn.add_rms_norm_backward, golden=fn.add_rms_norm_backward64, **_norm_backward(3, center=False)
    ),
    "group_norm": Op(
        lambda x, w, b, num_groups, eps: F.group_norm(x, num_groups, w, b, eps), 3, attrs={"num_groups": 4, "eps": 1e-5},
        golden=fn.group_norm64, small=_GROUPS_SMALL, large=_GROUPS_LARGE, make=fn.make_one_dtype, cancels=True,
    ),
    "group_norm_backward": Op(
        gpu_gradients.group_norm_backward, 5, golden=gpu_gradients.group_norm_backward64, make=gpu_gradients.make_group_norm_backward,
        small=_GROUPS_SMALL, large=_GROUPS_LARGE, cancels=True,
    ),
    "batched_matmul": Op(torch.matmul, **_products(transposed=False)),
    "matmul": Op(
        gpu_products.matmul, attrs={"transpose_a": False, "transpose_b": True}, **_products(transposed=True)
    ),
    "matmul_nt": Op(lambda a, b: a @ b.mT, **_products(transposed=True)),
    "grouped_matmul": Op(
        gpu_products.grouped_matmul, 3, golden=gpu_products.grouped_matmul64, make=gpu_products.make_grouped, cancels=True,
        small=gpu_products.grouped_shapes((1, 7, 5, 3), (4, 300, 65, 130), (3, 0, 5, 3), (2, 40, 1025, 17)),
        large=gpu_products.grouped_shapes((16, 8192, 4096, 4096), (64, 2048, 2048, 1408)),
    ),
    "conv2d": Op(
        F.conv2d, 3, attrs={"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1)}, make=fn.make_one_dtype, cancels=True,
        small=gpu_products.conv_shapes((1, 1, 1, 1, 1, 1), (2, 3, 9, 11, 5, 3), (0, 3, 5, 5, 2, 3), (1, 70, 17, 14, 33, 3)),
        large=gpu_products.conv_shapes((32, 64, 56, 56, 64, 3), (32, 256, 56, 56, 64, 1), (8, 256, 28, 28, 512, 3)),
    ),
    "quant_matmul": Op(
        gpu_products.quant_matmul, 5, golden=gpu_products.quant_matmul64, make=gpu_products.make_quant, cancels=True,
        small=gpu_products.quant_shapes((1, 1, 1), (33, 65, 17), (0, 5, 3), (130, 1025, 70)),
        large=gpu_products.quant_shapes((4096, 4096, 4096), (128, 8192, 8192)),
    ),
    "linear": _linear(lambda z: z),
    "linear_relu": _linear(torch.relu),
    "linear_gelu": _linear(F.gelu, fn.gelu64),
    "linear_silu": _linear(F.silu),
    "embedding": Op(
        lambda weight, indices: F.embedding(indices, weight), 2, make=fn.make_embedding, small=_TABLES_SMALL, large=_TABLES_LARGE
    ),
    "embedding_backward": Op(
        fn.embedding_backward, 3, make=fn.make_embedding_backward, small=_TABLES_SMALL, large=_TABLES_LARGE, cancels=True,
    ),
    "cumsum": Op(torch.cumsum, attrs={"dim": -1}, small=_ROWS, large=(((8192, 8192),), ((65536, 128),)), cancels=True),
    "transpose": Op(lambda x: x.transpose(-1, -2).contiguous(), small=_MATRICES_SMALL, large=_MATRICES_LARGE),
    "gather": Op(lambda x, i: torch.gather(x, -1, i), 2, make=fn.make_gather, small=_PICKED_SMALL, large=(((8192, 8192), (8192, 8192)),)),
    "scatter_add": Op(
        lambda x, i, src: torch.scatter_add(x, -1, i, src), 3, make=fn.make_gather, small=_added(_PICKED_SMALL),
        large=(((8192, 8192), (8192, 8192), (8192, 8192)),), cancels=True,
    ),
    "sort": Op(fn.sort, attrs={"descending": False}, small=_ROWS, large=_SORT_LARGE),
    "topk": Op(
        fn.topk, attrs={"k": 1, "largest": True}, timed=torch.topk, small=_ROWS, large=(((65536, 128),), ((256, 50257),)),
    ),
    "permute": Op(
        lambda x, dims: x.permute(dims).contiguous(), attrs={"dims": [0, 3, 1, 2]}, small=_PLANES_SMALL,
        large=(((16, 64, 64, 512),), ((64, 224, 224, 4),)),
    ),
    "dropout": Op(
        fn.dropout, attrs={"p": 0.25, "seed": 0x123456789ABCDEF0, "offset": 7}, golden=fn.dropout64, large=(((8192, 8192),),)
    ),
    "dropout_backward": Op(
        fn.dropout, attrs={"p": 0.9, "seed": -2, "offset": 0}, golden=fn.dropout64, large=(((8192, 8192),),)
    ),
    "flash_attention": Op(
        fn.attention, 3, attrs={"scale": 0.0, "causal": False}, golden=fn.attention64, make=fn.make_one_dtype, cancels=True,
        small=_heads((1, 1, 1, 1, 1, 16), (2, 4, 2, 100, 333, 64), (1, 6, 1, 129, 65, 80), (1, 2, 2, 1, 1025, 128), (2, 2, 1, 70, 200, 21), (1, 1, 1, 67, 67, 256)),
        large=_heads((4, 32, 32, 2048, 2048, 128), (4, 32, 8, 4096, 4096, 128), (8, 16, 16, 2048, 2048, 64)),
    ),
    "flash_attention_backward": Op(
        gpu_gradients.attention_backward, 7, attrs={"scale": 0.0, "causal": False}, golden=gpu_gradients.attention_backward64,
        make=gpu_gradients.make_attention_backward, cancels=True,
        small=_heads((1, 1, 1, 1, 1, 16), (2, 4, 2, 100, 333, 64), (1, 6, 1, 129, 65, 80), (2, 2, 1, 70, 200, 21)),
        large=_heads((4, 32, 32, 2048, 2048, 128), (8, 16, 16, 2048, 2048, 64)),
    ),
    "transpose_rows": Op(
        lambda x: x.transpose(-2, -3).contiguous(), small=_HEADS_SMALL, large=(((4, 4096, 32, 128),), ((64, 2048, 16, 64),))
    ),
}  # fmt: skip
_ATTENTION = ({"scale": 0.0, "causal": False}, {"scale": 0.0, "causal": True})
REDUCTIONS = frozenset({"sum", "mean", "max", "min", "amax", "amin"})


def attrs_of(name: str) -> Sequence[dict[str, Any]]:
    """The attribute sets to try."""
    if name == "flash_attention":
        return _ATTENTION
    return _REDUCED if name in REDUCTIONS else (OPS[name].attrs,)


def timed_attrs_of(name: str) -> Sequence[dict[str, Any]]:
    """The attribute sets whose time is taken: also those that small shapes are too small for."""
    return (*attrs_of(name), {"k": 64, "largest": True}) if name == "topk" else attrs_of(name)


def small_shapes(name: str) -> Sequence[Shapes]:
    """The shapes for errors; a maximum of nothing does not exist."""
    nothing_fits = name not in REDUCTIONS or name in ("sum", "mean")
    return [shapes for shapes in OPS[name].small if nothing_fits or 0 not in shapes[0]]
