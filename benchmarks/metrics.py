"""Time every default metric against a straightforward reference, in one run.

    python benchmarks/metrics.py [--reference-rounds 3] [--rows 10000] [--names mig,dci]
    python benchmarks/metrics.py --wide [--names mig,dci] [--rounds 10]
    python benchmarks/metrics.py --scale

`--wide` times the default set on 50,000 rows of 512 codes (random tanh mixtures of the
factors, with noise) instead, in a process of its own, whose largest memory is told. With fewer
than 100 `--rounds`, DCI's trees are grown for so many and their time is scaled.

`--scale` scores codes that are small by the published protocol and by the default: those of an
untrained encoder of dSprites, and 512 of unit norm that hold every factor.

The table has 10 codes (5 noisy factors of dSprites, 5 of noise) and 5 factors. The
references are what one writes first: a loop of `mutual_info_score`, one vote at a
time, scikit-learn's classifiers. Boosting takes the same time every round, so the
reference for DCI fits a few rounds and its time is scaled to 100.
"""

import argparse
import multiprocessing
import os
import platform
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from unweave import metrics
from unweave.evaluation.encode import encode_run
from unweave.evaluation.plan import DEFAULT
from unweave.evaluation.score import score
from unweave.metrics._class_trees import boost_each_class
from unweave.workflows import train

SIZES = (3, 6, 40, 32, 32)
CHEAP = ("mig", "modularity", "jemmig")
"""Metrics that count, which a million rows are no trouble to."""
Table = NDArray[Any]


def study_table(rows: int) -> tuple[Table, Table]:
    """Draw dSprites factors; codes are their noisy values and as many codes of noise."""
    rng = np.random.default_rng(0)
    factors = np.stack([rng.integers(n, size=rows) for n in SIZES], axis=1)
    n = np.array(SIZES)
    values = (factors - (n - 1) / 2) / np.sqrt((n**2 - 1) / 12)
    noise = rng.standard_normal((2, rows, 5))
    return np.concatenate([values + 0.3 * noise[0], noise[1]], axis=1), factors


def information_matrix(codes: Table, factors: Table) -> Table:
    """Bin with numpy's histogram edges and count pair by pair."""
    result = np.zeros((codes.shape[1], factors.shape[1]))
    for i in range(codes.shape[1]):
        edges = np.histogram(codes[:, i], 20)[1][:-1]
        binned = np.digitize(codes[:, i], edges)
        for j in range(factors.shape[1]):
            result[i, j] = mutual_info_score(factors[:, j], binned)
    return result


def mig_reference(codes: Table, factors: Table) -> float:
    information = np.sort(information_matrix(codes, factors), axis=0)
    entropy = [mutual_info_score(column, column) for column in factors.T]
    return float(np.mean((information[-1] - information[-2]) / entropy))


def modularity_reference(codes: Table, factors: Table) -> float:
    squares = information_matrix(codes, factors) ** 2
    largest = squares.max(axis=1)
    others = squares.sum(axis=1) - largest
    return float(np.mean(1 - others / (largest * (squares.shape[1] - 1))))


def beta_vae_reference(codes: Table, factors: Table) -> float:
    rng = np.random.default_rng(0)
    features, labels = [], []
    for _ in range(15_000):
        k = rng.integers(factors.shape[1])
        first = rng.integers(len(codes), size=64)
        second = np.array([rng.choice(rows_alike(factors, k, factors[i, k])) for i in first])
        features.append(np.abs(codes[first] - codes[second]).mean(axis=0))
        labels.append(k)
    inputs, targets = np.array(features), np.array(labels)
    model = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    model.fit(inputs[:10_000], targets[:10_000])
    return float(model.score(inputs[10_000:], targets[10_000:]))


ALIKE: dict[tuple[int, int], Table] = {}


def rows_alike(factors: Table, k: int, value: int) -> Table:
    """Remember which rows share a value; without this the reference takes minutes."""
    if (k, value) not in ALIKE:
        ALIKE[k, value] = np.flatnonzero(factors[:, k] == value)
    return ALIKE[k, value]


def factor_vae_reference(codes: Table, factors: Table) -> float:
    rng = np.random.default_rng(0)
    variance = codes.var(axis=0, ddof=1)
    votes = np.zeros((2, codes.shape[1], factors.shape[1]))
    for part, count in enumerate((10_000, 5_000)):
        for _ in range(count):
            k = rng.integers(factors.shape[1])
            value = rng.integers(SIZES[k])
            rows = rng.choice(rows_alike(factors, k, value), 64)
            votes[part, np.argmin(codes[rows].var(axis=0, ddof=1) / variance), k] += 1
    majority = votes[0].argmax(axis=1)
    return float(votes[1][np.arange(len(majority)), majority].sum() / votes[1].sum())


def explicitness_reference(codes: Table, factors: Table) -> float:
    train, test = split(codes)
    scaled = (codes - codes[train].mean(axis=0)) / codes[train].std(axis=0)
    areas = []
    for labels in factors.T:
        model = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
        model.fit(scaled[train], labels[train])
        probability = model.predict_proba(scaled[test])
        classes = np.eye(labels.max() + 1)[labels[test]]
        areas.append(roc_auc_score(classes, probability))
    return float(np.mean(areas))


def sap_reference(codes: Table, factors: Table) -> float:
    train, test = split(codes)
    scores = np.zeros((codes.shape[1], factors.shape[1]))
    for i in range(codes.shape[1]):
        for j in range(factors.shape[1]):
            model = LinearSVC(C=0.01, class_weight="balanced")
            model.fit(codes[train, i : i + 1], factors[train, j])
            scores[i, j] = model.score(codes[test, i : i + 1], factors[test, j])
    ordered = np.sort(scores, axis=0)
    return float(np.mean(ordered[-1] - ordered[-2]))


def dci_reference(codes: Table, factors: Table, rounds: int) -> None:
    train, _ = split(codes)
    for labels in factors.T:
        GradientBoostingClassifier(n_estimators=rounds).fit(codes[train], labels[train])


def split(codes: Table) -> tuple[Table, Table]:
    order = np.random.default_rng(0).permutation(len(codes))
    border = round(len(codes) * 2 / 3)
    return order[:border], order[border:]


@dataclass(frozen=True)
class Timed:
    """Seconds on the clock, seconds of work over all threads, and what was made.

    On a shared machine only the work says how fast the code is.
    """

    clock: float
    work: float
    result: Any


def timed(run: Callable[[], Any]) -> Timed:
    clock, work = time.perf_counter(), time.process_time()
    result = run()
    return Timed(time.perf_counter() - clock, time.process_time() - work, result)


def best(run: Callable[[], Any]) -> Timed:
    """Repeat quick runs, ten times at most or for a second, and keep the quickest."""
    runs = [timed(run)]
    while len(runs) < 10 and sum(each.work for each in runs) < 1.0:
        runs.append(timed(run))
    return min(runs, key=lambda each: each.work)


def wide_table(rows: int = 50_000, codes: int = 512) -> tuple[Table, Table]:
    """Draw dSprites factors; every code mixes all of them."""
    rng = np.random.default_rng(0)
    factors = np.stack([rng.integers(n, size=rows) for n in SIZES], axis=1)
    n = np.array(SIZES)
    values = (factors - (n - 1) / 2) / np.sqrt((n**2 - 1) / 12)
    mixed = values @ rng.standard_normal((5, codes))
    return np.tanh(mixed + 0.3 * rng.standard_normal(mixed.shape)).astype(np.float32), factors


def score_wide(names: tuple[str, ...], rounds: int) -> None:
    """Time metrics on the wide table; runs in a process of its own."""
    codes, factors = wide_table()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{date.today()}, {len(os.sched_getaffinity(0))} cores, ", end="")
    print(f"load before the run {os.getloadavg()[0]:.1f}; 50,000 rows, 512 codes, 5 factors\n")
    print("| metric | s of work | s on the clock | value |\n|---|---|---|---|")
    clock = work = 0.0
    for name in names:
        if name == "dci" and rounds < 100:
            run, value = of_rounds(codes, factors, rounds), f"({rounds} rounds)"
        else:
            run = timed(lambda name=name: score(codes, factors, [name]))  # type: ignore[misc]
            value = f"{run.result[name].value:.4f}"
        clock, work = clock + run.clock, work + run.work
        print(f"| {name} | {run.work:.1f} | {run.clock:.1f} | {value} |", flush=True)
    print(f"| all | {work:.1f} | {clock:.1f} | |")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\nMost memory: {most >> 10} MB, {before >> 10} MB of it when the tables were made.")


def of_rounds(codes: Table, factors: Table, rounds: int) -> Timed:
    """Time the default trees of DCI for some rounds, and reckon what 100 of them take."""
    x = codes[:15_000].astype(np.float64)

    def fit(count: int) -> Timed:
        return timed(
            lambda: boost_each_class(x[:10_000], factors[:10_000], SIZES, x[10_000:], rounds=count)
        )

    few, more = fit(2), fit(2 + rounds)
    return Timed(
        few.clock + 98 * (more.clock - few.clock) / rounds,
        few.work + 98 * (more.work - few.work) / rounds,
        None,
    )


def score_small_codes() -> None:
    """Score small codes by the published protocol, which looks at their size, and by ours."""
    print("| codes | metric | locatello2019 | default, codes standardised |\n|---|---|---|---|")
    for name, (codes, factors) in {
        "untrained encoder of dSprites": untrained_table(),
        "512 of unit norm": unit_norm_table(),
        "the same times √512": unit_norm_table(np.sqrt(512)),
    }.items():
        for metric in ("beta_vae_score", "factor_vae_score", "sap"):
            function = getattr(metrics, metric)
            published = function(codes, factors, protocol="locatello2019").value
            print(f"| {name} | {metric} | {published:.3f} | {function(codes, factors).value:.3f} |")


def untrained_table(rows: int = 5_000) -> tuple[Table, Table]:
    """Encode images of dSprites with networks as they are before training."""
    with tempfile.TemporaryDirectory() as folder:
        run = train(
            "untrained_vae",
            "dsprites",
            architecture="conv64",
            out=Path(folder) / "run",
            evaluate=False,
            progress=False,
        )
        encoded = encode_run(run, rows)
    return encoded.codes, encoded.factors


def unit_norm_table(scale: float = 1.0, rows: int = 5_000) -> tuple[Table, Table]:
    """Draw four factors and hold each as an angle in 128 codes."""
    factors = np.random.default_rng(0).integers(5, size=(rows, 4))
    angles = np.repeat(factors * np.pi / 5, 64, axis=1)
    return scale * np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / 16, factors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--reference-rounds", type=int, default=3)
    parser.add_argument("--names", default="", help="metrics to time, instead of all")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--rounds", type=int, default=100, help="of DCI's trees, with --wide")
    parser.add_argument("--scale", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.wide:
        names = tuple(options.names.split(",")) if options.names else DEFAULT
        child = multiprocessing.get_context("spawn").Process(
            target=score_wide, args=(names, options.rounds)
        )
        child.start()
        child.join()
        raise SystemExit(child.exitcode)
    if options.scale:
        score_small_codes()
        return
    codes, factors = study_table(options.rows)
    load = os.getloadavg()[0]
    print(f"{date.today()}, {len(os.sched_getaffinity(0))} cores, {platform.machine()}, ", end="")
    print(f"load before the run {load:.1f}; {options.rows} rows, 10 codes, 5 factors\n")
    metrics.mig(codes[:100], factors[:100])  # imports are no part of the time
    print("| metric | reference s | unweave s | ratio | reference | unweave |")
    print("|---|---|---|---|---|---|")
    references: dict[str, Callable[[Table, Table], float]] = {
        "mig": mig_reference,
        "modularity": modularity_reference,
        "beta_vae_score": beta_vae_reference,
        "factor_vae_score": factor_vae_reference,
        "explicitness": explicitness_reference,
        "sap": sap_reference,
    }
    chosen = options.names.split(",") if options.names else [*references, "dci"]
    for name, reference in references.items():
        if name not in chosen:
            continue
        ALIKE.clear()
        function = getattr(metrics, name)
        slow = best(lambda r=reference: r(codes, factors))  # type: ignore[misc]
        fast = best(lambda f=function: f(codes, factors))  # type: ignore[misc]
        print(
            f"| {name} | {slow.work:.2f} | {fast.work:.3f} | {slow.work / fast.work:.0f} "
            f"| {slow.result:.4f} | {fast.result.value:.4f} |",
            flush=True,
        )
    if "dci" in chosen:
        time_dci(codes, factors, options.reference_rounds)
    if not options.names:
        time_all(codes, factors)


def time_dci(codes: Table, factors: Table, rounds: int) -> None:
    """Time DCI before and after the reference, whose rounds all take the same time."""
    trained, tested = map(len, split(codes))  # of as many rows as the reference

    def ours() -> metrics.Score:
        return metrics.dci(codes, factors, train_rows=trained, test_rows=tested)

    first = timed(ours)
    slow = timed(lambda: dci_reference(codes, factors, rounds))
    second = timed(ours)
    reference, work = slow.work * 100 / rounds, (first.work + second.work) / 2
    print(
        f"| dci | {reference:.0f} | {work:.1f} | {reference / work:.0f} | "
        f"| {first.result.value:.4f} |\n\nSeconds of work, over all threads. Reference for dci: "
        f"{rounds} of 100 rounds, scaled; dci {first.work:.1f} s before it and "
        f"{second.work:.1f} s after."
    )


def time_all(codes: Table, factors: Table) -> None:
    """Time the default set, and what counts a million rows."""
    whole = timed(lambda: score(codes, factors))
    print(f"\nWhole default set: {whole.work:.1f} s of work, {whole.clock:.1f} s on the clock.")
    rng = np.random.default_rng(0)
    many = rng.standard_normal((1_000_000, 64), dtype=np.float32)
    labels = np.stack([rng.integers(n, size=1_000_000) for n in SIZES], axis=1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print()
    for name in CHEAP:
        run = timed(lambda f=getattr(metrics, name): f(many, labels))  # type: ignore[misc]
        print(f"- {name} of 1,000,000 rows × 64 codes: {run.work:.1f} s of work")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        f"- memory beyond the tables ({(many.nbytes + labels.nbytes) >> 20} MB): {grown >> 10} MB"
    )


if __name__ == "__main__":
    main()
