"""Fits the parameters of `ascendops estimate` to a table of measured calls, and says how well they predict calls that were held out.

    python -m tools.fit_estimate MEASURED.csv                     cross-validation only
    python -m tools.fit_estimate MEASURED.csv --write             then fit on all rows and write ascendops/data/perf/coefficients.json
    python -m tools.fit_estimate MEASURED.csv --folds none --write   the same without cross-validation (a minute)

MEASURED.csv has the columns of `ascendops estimate` and `duration_us`; `stable` (0 or 1), `core_set` and `chip_note` are optional. Folds
never part calls of one operator with equal shapes and dtypes. Everything that is fitted (global parameters, kernel, weights) is fitted again
in each fold without its held-out rows.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ascendops.perf import chips, fitted
from ascendops.perf.estimate import estimate
from ascendops.perf.ops import traits
from ascendops.perf.pipes import Globals, work
from ascendops.perf.table import Config, read_table

OUT = Path(__file__).parents[1] / "ascendops" / "data" / "perf" / "coefficients.json"
NOTICE = (
    "Fitted to measured calls from msopmodeling 1.0.9, Copyright (c) Huawei Technologies Co., Ltd., licensed under Mulan PSL v2 "
    "(http://license.coscl.org.cn/MulanPSL2), provided on an \"AS IS\" basis, without warranties of any kind."
)
PULL = 0.5  # chosen by the grouped folds among 0.15 and 0.5
KERNEL_PULL = 3.0  # chosen by the grouped folds among 0.5, 2, 3 and 5; without it the kernel follows the rows that it was chosen on
Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Sample:
    """A measured call."""

    config: Config
    us: float
    stable: bool
    headline: bool

    @property
    def group(self) -> str:
        """Calls that folds never part."""
        config = self.config
        return f"{fitted.labels(config, traits(config)).op}{config.inputs}{config.outputs}"


def read(path: Path) -> list[Sample]:
    """The measured calls of a CSV file."""
    with path.open(newline="", encoding="utf-8") as lines:
        rows = {row["row_id"]: row for row in csv.DictReader(lines)}
    samples = []
    for config in read_table(path):
        if not isinstance(config, Config):
            raise SystemExit(f"{path}: row {config.row_id}: {config.problem}")
        row = rows[config.row_id]
        stable = row.get("stable", "1") != "0"
        headline = stable and row.get("core_set", "1") != "0" and "uncertain" not in row.get("chip_note", "")
        samples.append(Sample(config, float(row["duration_us"]), stable, headline))
    return samples


def fit_parameters(samples: Sequence[Sample], pull: float = PULL) -> fitted.Parameters:
    """Minimizes the mean of |log(predicted / measured)| by coordinate descent on the logarithms of the parameters.

    First for all calls, then for each category from there. `pull` is what a parameter costs that is a factor of e away from the
    one for all calls, in units of one call's error.
    """
    general = _fit_some(samples, Globals(), 0.0)
    members: dict[str, list[Sample]] = {}
    for sample in samples:
        members.setdefault(traits(sample.config).category, []).append(sample)
    return fitted.Parameters(general, {name: _fit_some(some, general, pull) for name, some in members.items()})


def _fit_some(samples: Sequence[Sample], start: Globals, pull: float) -> Globals:
    calls = [(sample.config, traits(sample.config), chips.chip(sample.config.chip), np.log(sample.us)) for sample in samples]
    origin = dataclasses.asdict(start)

    def loss(values: dict[str, float]) -> float:
        g = Globals(**values)
        errors = np.array([abs(np.log(work(config, kind, chip, g).total) - us) for config, kind, chip, us in calls])
        away = sum(abs(np.log(values[name] / origin[name])) for name in values)
        return float(np.minimum(errors, 1.5).mean() + pull * away / len(calls))

    return Globals(**_descend(origin, loss, steps=(1.6, 1.25, 1.1)))


def _descend(values: dict[str, float], loss: Callable[[dict[str, float]], float], steps: Sequence[float]) -> dict[str, float]:
    best = loss(values)
    for step in steps:
        for _ in range(3):
            before = best
            for name in list(values):
                for factor in (step, 1 / step):
                    trial = {**values, name: values[name] * factor}
                    value = loss(trial)
                    if value < best:
                        values, best = trial, value
            if before - best < 1e-4:
                break
    return {name: float(f"{value:.4g}") for name, value in values.items()}


def fit_correction(samples: Sequence[Sample], g: fitted.Parameters, hyper: fitted.Hyper) -> fitted.Correction:
    """The weights of the Gaussian process for given variances and lengths."""
    names, x, y, noise = _matrix(samples, g, hyper)
    k = fitted.kernel(hyper, names, x, names, x)
    weights = np.asarray(np.linalg.solve(k + np.diag(noise), y), np.float64)
    return fitted.Correction(hyper, names, x, weights)


def _matrix(samples: Sequence[Sample], g: fitted.Parameters, hyper: fitted.Hyper) -> tuple[list[fitted.Labels], Array, Array, Array]:
    names, x, y = [], [], []
    for sample in samples:
        kind = traits(sample.config)
        label = fitted.labels(sample.config, kind)
        done = work(sample.config, kind, chips.chip(sample.config.chip), g.of(label))
        names.append(label)
        x.append(fitted.features(sample.config, kind, done))
        y.append(np.log(sample.us / done.total))
    noise = np.array([hyper.noise * (1 if sample.stable else 16) for sample in samples])
    return names, np.array(x), np.array(y), noise


def fit_hyper(samples: Sequence[Sample], g: fitted.Parameters, start: fitted.Hyper) -> fitted.Hyper:
    """Maximizes the leave-one-out predictive density, groups left out as wholes, with a heavy tail for outliers and a pull towards `start`."""
    names, x, y, _ = _matrix(samples, g, start)
    groups: dict[str, list[int]] = {}
    for index, sample in enumerate(samples):
        groups.setdefault(sample.group, []).append(index)
    stable = np.array([1.0 if sample.stable else 16.0 for sample in samples])

    origin = _flat(start)

    def loss(values: dict[str, float]) -> float:
        hyper = _hyper(values)
        inverse = np.linalg.inv(fitted.kernel(hyper, names, x, names, x) + np.diag(hyper.noise * stable))
        solved = inverse @ y
        errors = np.zeros(len(y))
        for members in groups.values():
            block = inverse[np.ix_(members, members)]
            errors[members] = np.linalg.solve(block, solved[members])
        away = sum(abs(np.log(value / origin[name])) for name, value in values.items())
        return float(np.sqrt(errors**2 + 0.0025).mean() + KERNEL_PULL * away / len(y))

    return _hyper(_descend(_flat(start), loss, steps=(2.0, 1.4)))


def _flat(hyper: fitted.Hyper) -> dict[str, float]:
    values = {f"mean.{i}": v for i, v in enumerate(hyper.mean)} | {f"smooth.{i}": v for i, v in enumerate(hyper.smooth)}
    return values | {f"length.{i}": v for i, v in enumerate(hyper.length)} | {"noise": hyper.noise}


def _hyper(values: dict[str, float]) -> fitted.Hyper:
    lists = {name: tuple(v for key, v in values.items() if key.startswith(name + ".")) for name in ("mean", "smooth", "length")}
    return fitted.Hyper(**lists, noise=values["noise"])


def fit(samples: Sequence[Sample], hyper: fitted.Hyper | None = None) -> tuple[fitted.Parameters, fitted.Correction]:
    """Parameters, weights and, unless it is given, the kernel."""
    parameters = fit_parameters(samples)
    return parameters, fit_correction(samples, parameters, hyper or fit_hyper(samples, parameters, fitted.Hyper()))


def folds(samples: Sequence[Sample], key: Callable[[Sample], str], count: int) -> list[list[int]]:
    """Indices of the held-out samples of each fold; `count` 0 makes one fold per key."""
    keys = sorted({key(sample) for sample in samples})
    number = {name: (index if count == 0 else zlib.crc32(name.encode()) % count) for index, name in enumerate(keys)}
    out: dict[int, list[int]] = {}
    for index, sample in enumerate(samples):
        out.setdefault(number[key(sample)], []).append(index)
    return list(out.values())


def cross_validate(samples: Sequence[Sample], parts: list[list[int]], hyper: fitted.Hyper | None) -> tuple[Array, Array]:
    """Held-out predictions with and without the correction; parameters and weights are fitted in each fold, the kernel too without `hyper`."""
    full, bare = np.zeros(len(samples)), np.zeros(len(samples))
    for part in parts:
        held = set(part)
        g, correction = fit([sample for index, sample in enumerate(samples) if index not in held], hyper)
        for index in part:
            config = samples[index].config
            full[index] = estimate(config, parameters=(g, correction)).predicted_us or np.nan
            bare[index] = estimate(config, parameters=(fitted.Parameters(g.general, {}), None)).predicted_us or np.nan
    return full, bare


def report(title: str, samples: Sequence[Sample], predicted: Array) -> None:
    """One line per subset: the median error, within 20 %, rank correlation."""
    us = np.array([sample.us for sample in samples])
    headline = np.array([sample.headline for sample in samples])
    for name, chosen in (("all", us > 0), ("headline", headline), ("headline >= 20 us", headline & (us >= 20))):
        t, p = us[chosen], predicted[chosen]
        if len(t) < 3:
            continue
        error = np.abs(p - t) / t
        rank = np.corrcoef(np.argsort(np.argsort(t)), np.argsort(np.argsort(p)))[0, 1]
        print(
            f"{title:34s} {name:18s} n {len(t):4d}  coverage {np.isfinite(p).mean():.0%}  median {np.median(error):6.1%}  "
            f"mean {error.mean():6.1%}  within 20 % {(error <= 0.2).mean():5.1%}  Spearman {rank:.3f}"
        )


def main() -> None:
    """Reads the command line, cross-validates, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    parser.add_argument("--folds", choices=["all", "grouped", "none"], default="all", help="which cross-validation")
    parser.add_argument("--quick", action="store_true", help="take the kernel that is shipped in every fold: faster, a little optimistic")
    args = parser.parse_args()
    samples = read(args.table)
    hyper = fitted.shipped()[1].hyper if args.quick else None
    ways: list[tuple[str, Callable[[Sample], str], int]] = [
        ("grouped, 8 folds", lambda sample: sample.group, 8),
        ("leave one operator out", lambda sample: fitted.labels(sample.config, traits(sample.config)).op, 0),
        ("leave one chip out", lambda sample: sample.config.chip, 0),
    ]
    for title, key, count in ways[: {"all": 3, "grouped": 1, "none": 0}[args.folds]]:
        full, bare = cross_validate(samples, folds(samples, key, count), hyper)
        report(title, samples, full)
        report(title + ", mechanistic", samples, bare)
    if args.write:
        _write(args.table, samples)


def _write(table: Path, samples: Sequence[Sample]) -> None:
    g, correction = fit(samples)
    data = {
        "about": f"tools/fit_estimate.py on {len(samples)} measured calls; sha256 of the table {hashlib.sha256(table.read_bytes()).hexdigest()}",
        "notice": NOTICE,
        "features": list(fitted.FEATURES),
        "general": dataclasses.asdict(g.general),
        "category": {name: dataclasses.asdict(values) for name, values in sorted(g.category.items())},
        "hyper": dataclasses.asdict(correction.hyper),
        "support": fitted.dump(correction.labels, correction.features, correction.weights),
    }
    text = json.dumps(data, indent=1)
    OUT.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {OUT}")


if __name__ == "__main__":
    main()
