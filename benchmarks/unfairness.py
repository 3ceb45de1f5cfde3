"""Are disentangled codes fairer? Over the runs of the study of unsupervised methods on dSprites.

    unweave study run unsupervised --out RUNS
    python benchmarks/unfairness.py RUNS
    python benchmarks/unfairness.py --report

After F. Locatello et al., NeurIPS 2019, arXiv:1905.13662: unfairness of each run's code, as
`unweave apply fairness` has it, against DCI of the same images, plain and among runs whose codes
predict the factors about as well. Beside the runs stand the true factors as a code, and
codes of other images. Keeps a line of docs/results/unfairness.jsonl for each run, skips what is
there, and writes docs/results/unfairness.md.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from unweave import runs
from unweave.applications._inputs import sample
from unweave.applications._unfairness import adjusted, aggregates, rank_interval, unfairness
from unweave.data import load_data
from unweave.evaluation.score import score
from unweave.figures.style import Drawing, styled
from unweave.studies import read_study
from unweave.studies.define.expansion import expand
from unweave.studies.run.driver import ledger_of

RESULTS = Path(__file__).parent.parent / "docs" / "results"
KEPT, PAGE = RESULTS / "unfairness.jsonl", RESULTS / "unfairness.md"
PICTURE = RESULTS / "unfairness.png"
TRUE, OTHERS = "the true factors", "codes of other images"
DATA, ROWS = "dsprites", 4000
TOTAL = "mean_fairness:mean_pred:mean_sens"


def measured(codes: np.ndarray, factors: np.ndarray) -> dict[str, float]:
    """Return the paper's aggregate of unfairness, and how well the factors are predicted."""
    mean, largest, accuracy = unfairness(codes, factors)
    return {"unfairness": aggregates(mean, largest)[TOTAL], "accuracy": float(accuracy.mean())}


def measure(root: str) -> None:
    """Measure what is not kept of the runs that are done."""
    plan = expand(read_study("unsupervised"))
    ledger = ledger_of(plan, root)
    known = {line["run"] for line in kept()}
    if TRUE not in known:
        data = load_data(DATA)
        rows = np.random.default_rng(0).permutation(len(data))[:ROWS]
        factors = data.factors(rows)
        exact = factors.astype(float)
        keep({"run": TRUE, "method": "", "arm": ""} | measured(exact, factors))
        shuffled = exact[np.random.default_rng(1).permutation(ROWS)]
        keep({"run": OTHERS, "method": "", "arm": ""} | measured(shuffled, factors))
    for planned in plan.runs:
        if planned.config.data != DATA or planned.run_id in known:
            continue
        if not ledger.is_done(planned.run_id):
            continue
        taken = sample(runs.load(ledger.run_path(planned.run_id)), ROWS, seed=0)
        line: dict[str, Any] = {
            "run": planned.run_id,
            "method": planned.method,
            "arm": planned.arm,
            "dci": float(score(taken.codes, taken.factors, ["dci"], preset="fast")["dci"].value),
        }
        keep(line | measured(taken.codes, taken.factors))


def kept() -> list[dict[str, Any]]:
    if not KEPT.is_file():
        return []
    return [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()]


def keep(line: dict[str, Any]) -> None:
    print(json.dumps(line, ensure_ascii=False), flush=True)
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


@styled
def scatter(lines: list[dict[str, Any]]) -> Drawing:
    drawing = Drawing(figsize=(6.0, 4.0), layout="constrained")
    axes = drawing.add_subplot(1, 1, 1)
    for method in sorted({line["method"] for line in lines}):
        of = [line for line in lines if line["method"] == method]
        axes.plot([x["dci"] for x in of], [x["unfairness"] for x in of], "o", ms=4, label=method)
    axes.set_xlabel("DCI disentanglement")
    axes.set_ylabel("unfairness (lower is better)")
    axes.legend(fontsize="small")
    return drawing


def page() -> str:
    """Return the page, and draw its picture."""
    lines = kept()
    trained = [line for line in lines if "dci" in line]
    beside = {line["run"]: line for line in lines if "dci" not in line}
    unfair, dci, accuracy = (
        np.array([line[name] for line in trained]) for name in ("unfairness", "dci", "accuracy")
    )
    plain, left = adjusted(unfair, dci, accuracy)
    low, high = rank_interval(unfair, dci)
    scatter(trained).save(PICTURE)
    rules = [
        (
            "the rank correlation of unfairness and DCI is below 0, and so is its interval",
            f"{plain:+.2f} [{low:+.2f}, {high:+.2f}]",
            high < 0,
        ),
        (
            "so it is among runs of like accuracy",
            f"{left:+.2f}",
            left < 0,
        ),
        (
            "no run is fairer than the true factors",
            f"{beside[TRUE]['unfairness']:.4f}; the least of the runs {unfair.min():.4f}",
            beside[TRUE]["unfairness"] <= unfair.min(),
        ),
        (
            "codes of other images are fair, and useless: below 0.01",
            f"{beside[OTHERS]['unfairness']:.4f}, accuracy {beside[OTHERS]['accuracy']:.2f}",
            beside[OTHERS]["unfairness"] < 0.01,
        ),
    ]
    table = ["| method | runs | unfairness | DCI | accuracy |", "|---|---|---|---|---|"]
    for method in sorted({line["method"] for line in trained}):
        of = [line for line in trained if line["method"] == method]
        middle = " | ".join(
            f"{np.median([x[name] for x in of]):.3f} "
            f"({min(x[name] for x in of):.3f} to {max(x[name] for x in of):.3f})"
            for name in ("unfairness", "dci", "accuracy")
        )
        table.append(f"| {method} | {len(of)} | {middle} |")
    return TEXT.format(
        runs=len(trained),
        rows=f"{ROWS:,}",
        rules="\n".join(
            ["| rule | measured | holds |", "|---|---|---|"]
            + [f"| {rule} | {seen} | {'yes' if ok else '**no**'} |" for rule, seen, ok in rules]
        ),
        table="\n".join(table),
    )


TEXT = """# Are disentangled codes fairer?

The claim of F. Locatello et al., NeurIPS 2019, arXiv:1905.13662, over {runs} runs of the study
[`unsupervised`](../studies.md) on dSprites: the more disentangled a code, the less do predictions
of one factor move with another. Unfairness is the distance of a classifier's answers between the
values of a factor that they are not about, less what it is for random values, in the mean over all
pairs ([what it measures](../applications.md)); random forests on {rows} images. Of like accuracy
are the five runs nearest in how well all factors are predicted.

{rules}

![Unfairness against DCI](unfairness.png)

Medians and ranges over strengths and seeds:

{table}

`python benchmarks/unfairness.py RUNS` wrote this page from the runs of the study.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("runs", nargs="?", help="folder that the study was run in")
    parser.add_argument("--report", action="store_true", help="write the page and stop")
    options = parser.parse_args()
    if not options.report:
        if options.runs is None:
            parser.error("name the folder of the study's runs")
        measure(options.runs)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
