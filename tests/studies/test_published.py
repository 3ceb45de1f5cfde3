"""Marks of published cells: better, within the spread, in the right order, or not."""

import pytest

from unweave.errors import ConfigError
from unweave.studies import expand
from unweave.studies.define.study import study_from_plain
from unweave.studies.report.beside import beside_published
from unweave.studies.report.blocks import Cells, Text
from unweave.studies.report.published import cells_of, counted, marks_of
from unweave.studies.report.table import StudyTable


def published(method: str, value: float, **more) -> dict:
    return {"method": method, "metric": "mig", "value": value, "source": "a paper", **more}


def marks(
    ours: dict[str, list[float]],
    entries: list[dict],
    data: str = "toy_xys",
    metric: str = "mig",
) -> list[str]:
    """Return the marks of entries for scores of each method, one for each seed."""
    study = study_from_plain(
        {"name": "marks", "data": "toy_xys", "methods": ["vae", "beta_vae", "pca", "pixels"]}
        | {"metrics": [metric], "published": entries}
    )
    rows = [
        {"method": method, "data": data, metric: value, "state": "done"}
        for method, values in ours.items()
        for value in values
    ]
    return [cell.mark for cell in cells_of(expand(study), StudyTable(rows, [], [metric]))]


def test_a_median_within_the_spread_is_reproduced_and_one_above_it_beats_the_paper():
    entries = [published("vae", 0.30, spread=0.05)]
    for median, mark in ((0.26, "reproduced"), (0.36, "beaten"), (0.24, "not reproduced")):
        assert marks({"vae": [median, 0.0, 1.0]}, entries) == [mark]


def test_of_a_metric_that_should_be_low_less_is_better():
    entries = [published("vae", 0.30) | {"metric": "unfairness"}]
    for median, mark in ((0.1, "beaten"), (0.4, "not reproduced")):
        assert marks({"vae": [median] * 3}, entries, metric="unfairness") == [mark]


def test_a_paper_without_a_spread_is_given_a_small_one():
    entries = [published("vae", 0.30)]
    assert marks({"vae": [0.281] * 3}, entries) == ["reproduced"]
    assert marks({"vae": [0.279] * 3}, entries) == ["not reproduced"]


def test_a_baseline_that_is_better_than_the_papers_is_not_the_papers():
    entries = [published("pca", 0.30)]
    assert marks({"pca": [0.5] * 3}, entries) == ["not reproduced"]
    assert marks({"pca": [0.31] * 3}, entries) == ["reproduced"]
    # So is a trained method that the paper sets its own apart from.
    assert marks({"vae": [0.5] * 3}, [published("vae", 0.3)]) == ["beaten"]
    assert marks({"vae": [0.5] * 3}, [published("vae", 0.3, baseline=True)]) == ["not reproduced"]


def test_what_misses_its_number_but_keeps_its_order_has_the_direction():
    entries = [published("vae", 0.30), published("beta_vae", 0.60)]
    assert marks({"vae": [0.1] * 3, "beta_vae": [0.4] * 3}, entries) == ["direction only"] * 2
    assert marks({"vae": [0.2] * 3, "beta_vae": [0.1] * 3}, entries) == ["not reproduced"] * 2
    # Cells that the paper does not set apart say nothing of an order.
    alike = [published("vae", 0.60), published("beta_vae", 0.61)]
    assert marks({"vae": [0.1] * 3, "beta_vae": [0.4] * 3}, alike) == ["not reproduced"] * 2


def test_numbers_from_memory_are_for_orientation_alone():
    entries = [published("vae", 0.30, from_memory=True), published("beta_vae", 0.60)]
    assert marks({"vae": [0.3] * 3}, entries[:1]) == ["for orientation"]
    # Nor is the order of others measured by them.
    for vae in (0.1, 0.9):
        found = marks({"vae": [vae] * 3, "beta_vae": [0.4] * 3}, entries)
        assert found == ["for orientation", "not reproduced"]


def test_a_number_of_several_arms_is_compared_with_all_their_runs():
    study = study_from_plain(
        {"name": "marks", "data": "toy_xys", "metrics": ["mig"], "published": [published("vae", 1)]}
        | {"methods": [{"name": "vae", "grid": {"latent_dim": [2, 3]}}]}
    )
    rows = [
        {"method": "vae", "arm": f"vae, latent_dim {size}", "latent_dim": size, "seed": seed}
        | {"data": "toy_xys", "mig": float(size), "state": "done"}
        for size in (2, 4)
        for seed in range(3)
    ]
    (cell,) = cells_of(expand(study), StudyTable(rows, ["latent_dim"], ["mig"]))
    assert (cell.median, cell.in_seeds) == (3.0, "3 of each of 2 arms")
    two = [row for row in rows if row["seed"] < 2]  # four runs, but of two seeds
    (cell,) = cells_of(expand(study), StudyTable(two, ["latent_dim"], ["mig"]))
    assert cell.mark == "too few seeds"


def test_a_quick_try_is_not_judged():
    entries = [published("vae", 0.3, reason="so few steps"), published("InfoGAN", 0.1)]
    study = study_from_plain(
        {"name": "marks", "data": "toy_xys", "methods": ["vae"], "metrics": ["mig"]}
        | {"published": entries}
    )
    rows = [{"method": "vae", "data": "toy_xys", "mig": 0.1, "state": "done"}] * 3
    table = StudyTable(rows, [], ["mig"])
    assert [c.mark for c in cells_of(expand(study.quick()), table)] == [
        "quick: not judged",
        "not run",
    ]
    blocks = list(beside_published(expand(study.quick()), table))
    (cells,) = (block for block in blocks if isinstance(block, Cells))
    assert "so few steps" not in str(cells.lines)
    assert not any("eproduced" in block.text for block in blocks if isinstance(block, Text))
    assert "not reproduced: so few steps" in str(list(beside_published(expand(study), table)))


def test_protocols_stand_side_by_side():
    entries = [
        published("vae", 0.3, protocol="chen2018"),
        published("vae", 0.3) | {"metric": "beta_vae_score"},
        published("vae", 0.3) | {"metric": "sap@lin2020"},
    ]
    study = study_from_plain(
        {"name": "marks", "data": "toy_xys", "methods": ["vae"], "published": entries}
        | {"metrics": ["mig", "beta_vae_score", "sap@lin2020"]}
        | {"protocol": {"beta_vae_score": "higgins2017"}}
    )
    blocks = beside_published(expand(study), StudyTable([], [], []))
    (cells,) = (block for block in blocks if isinstance(block, Cells))
    where = list(cells.header).index("protocol there, here")
    assert [line[where] for line in cells.lines] == [
        "chen2018, locatello2019",
        "–, higgins2017",
        "–, lin2020",
    ]


def test_two_seeds_are_too_few_except_of_what_has_no_seed():
    assert marks({"vae": [0.3, 0.3]}, [published("vae", 0.3)]) == ["too few seeds"]
    assert marks({"pixels": [0.3]}, [published("pixels", 0.3)]) == ["reproduced"]


def test_what_was_not_run_is_said_and_data_sets_are_kept_apart():
    assert marks({}, [published("vae", 0.3), published("InfoGAN", 0.1)]) == ["not run"] * 2
    elsewhere = [published("vae", 0.3, data="toy_shapes")]
    assert marks({"vae": [0.3] * 3}, elsewhere) == ["not run"]
    assert marks({"vae": [0.3] * 3}, elsewhere, data="toy_shapes") == ["reproduced"]


def test_of_runs_among_which_a_score_without_labels_chose_the_chosen_one_counts():
    entry = published("vae", 0.6, chosen_by="udr")
    study = study_from_plain(
        {"name": "marks", "data": "toy_xys", "methods": ["vae"]}
        | {"metrics": ["mig"], "published": [entry, entry | {"chosen_by": "model_centrality"}]}
    )

    def cells(migs: list[float], udr: dict[str, float]):
        rows = [
            {"run": f"r{seed}", "method": "vae", "data": "toy_xys", "mig": mig, "state": "done"}
            for seed, mig in enumerate(migs)
        ]
        table = StudyTable(rows, [], ["mig"]).with_scores({"udr": udr, "model_centrality": {}})
        return cells_of(expand(study), table)

    by_udr, by_centrality = cells([0.1, 0.6, 0.2], {"r0": 0.3, "r1": 0.8, "r2": 0.5})
    assert (by_udr.ours, by_udr.in_seeds, by_udr.mark) == ((0.6,), "1 of 3", "reproduced")
    assert by_udr.name == "vae, chosen by udr"
    assert (by_centrality.ours, by_centrality.mark) == ((), "not run")
    worst, _ = cells([0.1, 0.6, 0.2], {"r0": 0.9, "r1": 0.8, "r2": 0.5})
    assert (worst.in_words, worst.mark) == ("0.1", "not reproduced")
    few, _ = cells([0.1, 0.6], {"r0": 0.3, "r1": 0.8})
    assert few.mark == "too few seeds"


def test_a_score_that_chooses_has_to_be_one_of_those_there_are():
    with pytest.raises(ConfigError, match="udr_spearman"):
        study_from_plain(
            {"name": "marks", "data": "toy_xys", "methods": ["vae"]}
            | {"published": [published("vae", 0.6, chosen_by="udr_spearmann")]}
        )


def test_marks_are_counted():
    assert marks_of([])["reproduced"] == 0
    with pytest.raises(KeyError):
        marks_of([])["exceeded"]


def test_what_is_for_orientation_is_counted_apart():
    entries = [published("vae", 0.3), published("vae", 0.3, from_memory=True)]
    study = study_from_plain(
        {"name": "marks", "data": "toy_xys", "methods": ["vae"], "metrics": ["mig"]}
        | {"published": entries}
    )
    rows = [{"method": "vae", "data": "toy_xys", "mig": 0.3, "state": "done"}] * 3
    found = cells_of(expand(study), StudyTable(rows, [], ["mig"]))
    said = "1 published cell: 1 reproduced; 1 more for orientation, quoted from memory"
    assert counted(found) == said
