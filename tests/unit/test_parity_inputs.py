"""The input generator and the layouts: bits that never change, and views with the asked-for strides."""

from __future__ import annotations

import pytest
import torch

from ascendops.errors import ParityError
from ascendops.parity import inputs, layouts
from ascendops.parity.ulp import round_to, ulp

# sha256 of values((5, 67), dtype, recipe, key(0, "pinned", recipe)); a change breaks every recorded seed
EXPECTED = {
    "random/float32": "cce45594b8ac",
    "random/float16": "65b4849c0704",
    "random/bfloat16": "3e6a604afa8a",
    "random/int32": "0fd61b300eb3",
    "exact/float32": "8d7a9dcef076",
    "exact/float16": "8423572615f7",
    "exact/bfloat16": "c092ab79aca5",
    "exact/int32": "b8f6a4da1dad",
    "special/float32": "04415b509678",
    "special/float16": "cc17d201351a",
    "special/bfloat16": "c8fe741a1fab",
    "special/int32": "ac54c4a5c717",
    "tail/float32": "f01a86c40db6",
    "tail/float16": "3994d74645a9",
    "tail/bfloat16": "df373d318cf7",
    "tail/int32": "8a970fc061e4",
    "negative/float32": "70ad5f7e662c",
    "negative/float16": "e6446b185f79",
    "negative/bfloat16": "cdcf914b84fd",
    "negative/int32": "fc2bc1255892",
    "positive/float32": "2cae7eebed5e",
    "positive/float16": "bf8ab9a20186",
    "positive/bfloat16": "f51d20de6d9c",
    "positive/int32": "b99322433e4c",
    "wide/float32": "a4b5b340356d",
    "wide/float16": "b51ae01bd32c",
    "wide/bfloat16": "507c1dc4178f",
    "wide/int32": "f768a662f3fb",
    "coded/float32": "97f1dbc9ee2e",
    "coded/float16": "8340a42002e5",
    "coded/bfloat16": "a12cb603ab43",
    "coded/int32": "02cb3031e936",
}


def digests() -> dict[tuple[str, torch.dtype], str]:
    kinds = (torch.float32, torch.float16, torch.bfloat16, torch.int32)
    return {
        (recipe, kind): inputs.digest(inputs.values((5, 67), kind, recipe, inputs.key(0, "pinned", recipe)))
        for recipe in inputs.RECIPES
        for kind in kinds
    }


def test_splitmix_matches_its_published_vector() -> None:
    # the first outputs of splitmix64 seeded with 1234567 (state is advanced before it is mixed)
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert inputs.bits(1234567, 5, start=1).tolist() == expected


def test_bits_never_change() -> None:
    found = {f"{recipe}/{str(kind).removeprefix('torch.')}": value[:12] for (recipe, kind), value in digests().items()}
    assert found == EXPECTED


@pytest.mark.parametrize("recipe", inputs.RECIPES)
@pytest.mark.parametrize(
    "kind",
    [
        torch.float64,
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.int8,
        torch.uint8,
        torch.int64,
        torch.bool,
        torch.complex64,
    ],
)
@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (4, 7)])
def test_every_recipe_fills_every_dtype_and_shape(recipe: str, kind: torch.dtype, shape: tuple[int, ...]) -> None:
    made = inputs.values(shape, kind, recipe, inputs.key(3, recipe))
    assert made.shape == shape and made.dtype == kind


def test_recipes_keep_what_they_promise() -> None:
    def make(recipe: str, kind: torch.dtype = torch.float32) -> torch.Tensor:
        return inputs.values((40, 256), kind, recipe, inputs.key(1, recipe)).double()

    assert bool((make("exact") == make("exact").round()).all()) and float(make("exact").abs().max()) == 4
    assert float(make("negative").max()) < 0 < float(make("positive").min())
    tail = make("tail")
    assert bool((tail[:, -32:].amin(-1) >= 4 * tail[:, :-32].abs().amax(-1)).all())
    coded = make("coded")
    assert float(coded.amax(-1)[1:4].div(coded.amax(-1)[:3]).min()) > 1.05, "neighbouring rows differ"
    special = make("special")
    assert (
        bool(special.isnan().any()) and bool((special == float("inf")).any()) and bool((special == float("-inf")).any())
    )
    assert bool(((special == 0) & special.signbit()).any()), "a negative zero"
    assert int(special.isfinite().all(-1).sum()) >= 20, "rows without nan and inf remain"
    wide = make("wide").abs()
    assert float(wide.max() / wide.min()) > 2**40
    assert float(make("random").mean().abs()) < 0.1 and 1.5 < float(make("random").std()) < 2.5


def test_streams_differ_by_seed_and_words() -> None:
    first = inputs.values((64,), torch.float32, "random", inputs.key(0, "x"))
    assert not torch.equal(first, inputs.values((64,), torch.float32, "random", inputs.key(1, "x")))
    assert not torch.equal(first, inputs.values((64,), torch.float32, "random", inputs.key(0, "y")))
    assert torch.equal(first, inputs.values((64,), torch.float32, "random", inputs.key(0, "x")))


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(ParityError, match="randon") as caught:
        inputs.values((1,), torch.float32, "randon")
    assert "did you mean 'random'" in str(caught.value)
    with pytest.raises(ParityError, match="no layout"):
        layouts.apply(torch.zeros(2), "diagonal")


@pytest.mark.parametrize("layout", layouts.LAYOUTS)
@pytest.mark.parametrize("shape", [(), (6,), (1,), (3, 5), (2, 3, 4), (0, 3)])
def test_layouts_keep_the_values(layout: str, shape: tuple[int, ...]) -> None:
    x = inputs.values(shape, torch.float32, "random", 5)
    view = layouts.apply(x, layout)
    assert view.shape == x.shape
    if layout != "expanded":
        assert torch.equal(view, x)


def test_layouts_have_the_strides_they_promise() -> None:
    x = inputs.values((4, 6), torch.float16, "random", 5)
    assert layouts.apply(x, "transposed").stride() == (1, 4)
    assert layouts.apply(x, "sliced").stride() == (9, 1)
    assert layouts.apply(x, "expanded").stride() == (0, 1)
    assert layouts.apply(x, "offset").storage_offset() == 1
    assert layouts.apply(x[0], "transposed").stride() == (2,)
    assert torch.equal(layouts.apply(x, "expanded")[3], x[0])


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
def test_ulp_and_rounding_agree_with_torch(kind: torch.dtype) -> None:
    x = inputs.values((4000,), torch.float32, "wide", 9).double()
    rounded = round_to(x, kind)
    assert torch.equal(rounded, x.float().to(kind).double())
    finite = rounded.isfinite()
    assert float(((rounded - x).abs() / ulp(x, kind))[finite].max()) <= 0.5
    info = torch.finfo(kind)
    assert float(ulp(torch.tensor(0.0), kind)) == info.smallest_normal * info.eps
    assert float(ulp(torch.tensor(1.0), kind)) == info.eps
    big = torch.tensor([info.max * (1 + info.eps / 8), info.max * (1 + info.eps)], dtype=torch.float64)
    assert round_to(big, kind).tolist() == [info.max, float("inf")]
