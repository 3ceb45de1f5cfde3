"""What a report says of choosing runs: by a few labels, or by another data set."""

from types import SimpleNamespace

import pytest

from unweave.methods.beta_vae import BetaVAE
from unweave.methods.gvae import GVAE
from unweave.studies.report.blocks import Block, Cells
from unweave.studies.report.choosing import between_data_sets, with_labels, without_labels
from unweave.studies.report.table import StudyTable


def cells(blocks: list[Block]) -> Cells:
    (found,) = [block for block in blocks if isinstance(block, Cells)]
    return found


def labelled(*runs: tuple[str, float, float]) -> tuple[SimpleNamespace, StudyTable]:
    """Return a study of runs by method, score of 100 labels and true score."""
    methods = {"beta_vae": BetaVAE(), "gvae": GVAE()}
    planned = [
        SimpleNamespace(run_id=f"r{i}", config=SimpleNamespace(method=methods[name]))
        for i, (name, _, _) in enumerate(runs)
    ]
    rows = [
        {"run": f"r{i}", "arm": name, "method": name, "data": "d", "seed": i}
        | {"mig_of_100_labels": few, "mig": true}
        for i, (name, few, true) in enumerate(runs)
    ]
    plan = SimpleNamespace(runs=planned, study=SimpleNamespace(data=("d",)))
    return plan, StudyTable(rows, [], ["mig", "mig_of_100_labels"])


def test_a_few_labels_choose_among_runs_that_had_none():
    plan, done = labelled(
        ("beta_vae", 0.2, 0.1), ("beta_vae", 0.5, 0.3), ("beta_vae", 0.4, 0.4), ("gvae", 0.9, 0.9)
    )
    (line,) = cells(list(with_labels(plan, done, "mig"))).lines
    assert line == [
        *("mig_of_100_labels", "d", "3", "0.50", "beta_vae, seed 1"),
        *("0.300", "0.300", "0.400"),
    ]


def test_without_such_scores_or_runs_there_is_no_such_section():
    plan, done = labelled(("gvae", 0.9, 0.9), ("gvae", 0.8, 0.8), ("beta_vae", 0.1, 0.1))
    assert list(with_labels(plan, done, "mig")) == []
    plain = StudyTable(done.rows, [], ["mig"])
    assert list(with_labels(plan, plain, "mig")) == []


def two_sets(there: list[float]) -> StudyTable:
    rows = [
        {"method": "beta_vae", "beta": beta, "data": data, "seed": seed, "mig": value}
        for data, values in (("a", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), ("b", there))
        for beta, value in enumerate(values)
        for seed in range(3)
    ]
    return StudyTable(rows, ["beta"], ["mig"])


@pytest.mark.parametrize(
    ("there", "rank", "place"),
    [
        ([0.2, 0.3, 0.4, 0.5, 0.6, 0.7], "1.00", "1 of 6"),
        ([0.7, 0.6, 0.5, 0.4, 0.3, 0.2], "-1.00", "6 of 6"),
    ],
)
def test_settings_that_are_best_on_one_set_are_judged_on_the_other(there, rank, place):
    found = cells(list(between_data_sets(two_sets(there), ("a", "b"))))
    first = found.lines[0]
    assert first[:4] == ["mig", "a to b", "6", rank]
    assert first[4] == "beta_vae, beta 5"
    assert first[5:] == [f"{there[5]:.3f}", place, "0.450"]
    assert len(found.lines) == 2


def test_one_data_set_has_nothing_to_transfer_to():
    table = two_sets([0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    assert list(between_data_sets(table, ("a",))) == []


def test_the_seed_that_each_score_chooses_stands_beside_the_median_of_its_arm():
    rows = [
        {"run": f"{arm}{seed}", "arm": arm, "method": arm, "data": "d", "seed": seed, "mig": value}
        for arm, values in (("vae", [0.1, 0.2, 0.6]), ("pca", [0.3, 0.3]))
        for seed, value in enumerate(values)
    ]
    chosen = {
        "udr": {"vae0": 0.5, "vae1": 0.9, "vae2": 0.7, "pca0": 0.9, "pca1": 0.1},
        "model_centrality": {"vae0": 0.1, "vae1": 0.2, "vae2": 0.3, "pca0": 0.9, "pca1": 0.1},
    }
    found = list(without_labels(StudyTable(rows, [], ["mig"]), chosen, "mig"))
    # Five runs are too few for ranks, three seeds of an arm are enough to choose among.
    (table,) = [block for block in found if isinstance(block, Cells)]
    assert table.header[3:5] == ["chosen by udr", "chosen by model_centrality"]
    assert table.lines == [["vae", "3", "0.200", "0.200 (seed 1)", "0.600 (seed 2)", "0.600"]]
