"""Rules as such: every method has one, a saboteur that passes spoils it, numbers are kept."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import rules
import write_page
from rules import _keeping
from rules._generators import WORLDS, parts
from rules._rule import METHOD, Finding, Rule, columns, judge

from unweave import catalog


def rule_of(checks, **saboteurs) -> Rule:
    """Return a rule of arms whose only number is given."""

    def of(value):
        return lambda seed: Finding({"score": value + 0.001 * seed})

    return Rule(
        covers=("vae",),
        claim="a score above 1",
        method=of(2.0),
        saboteurs={name: of(value) for name, value in saboteurs.items()},
        references={"rival": of(0.5)},
        checks=checks,
    )


def above_rival(own, others):
    return {"above": bool(own["score"].min() > others["rival"]["score"].max() + 0.5)}


def verdict_of(rule: Rule):
    return judge(
        rule,
        {arm: columns([how(s).numbers for s in (0, 1)]) for arm, how in rule.arms.items()},
    )


def test_every_method_of_the_catalog_has_a_rule():
    covered = {method for name in rules.names() for method in rules.named(name).covers}
    assert covered == set(catalog.own_names("unweave.methods"))


@pytest.mark.parametrize("name", rules.names())
def test_a_rule_has_saboteurs_and_says_what_its_picture_shows(name):
    rule = rules.named(name)
    assert len(rule.saboteurs) >= 1
    assert METHOD not in rule.saboteurs
    assert rule.claim
    assert rule.picture


@pytest.mark.parametrize("name", rules.names())
def test_the_judged_seeds_are_not_those_that_settings_were_chosen_on(name):
    rule = rules.named(name)
    assert len(set(rule.seeds)) >= 3
    assert not set(rule.seeds) & {0, 1, 2}
    assert rule.reformed or rule.seeds == rules.SEEDS


@pytest.mark.parametrize("name", rules.names())
def test_no_arm_that_was_measured_leaves_a_rule_quietly(name):
    assert rules.Kept(name).arms() <= set(rules.named(name).arms)


@pytest.mark.parametrize("name", rules.names())
def test_every_rule_has_a_picture(name):
    assert (write_page.PICTURES / f"{name}.png").is_file()


def test_a_rule_is_met_if_the_method_passes_and_its_saboteurs_fail():
    verdict = verdict_of(rule_of(above_rival, broken=0.6, worse=0.1))
    assert verdict.met
    assert str(verdict) == "met"


def test_a_saboteur_that_passes_spoils_the_rule():
    verdict = verdict_of(rule_of(above_rival, broken=3.0, worse=0.1))
    assert verdict.method_passes
    assert not verdict.met
    assert str(verdict) == "passed by a broken method: broken"


def uneven(*scores: float):
    """Return an arm that scores otherwise on each seed."""
    return lambda seed: Finding({"score": scores[seed]})


@pytest.mark.parametrize(
    ("scores", "failing", "met"),
    [((0, 0, 0), 3, True), ((3, 0, 0), 2, True), ((3, 3, 0), 1, False), ((3, 3, 3), 0, False)],
)
def test_a_saboteur_that_fails_on_one_seed_of_three_counts_as_passing(scores, failing, met):
    rule = rule_of(above_rival)
    rule = replace(rule, saboteurs={"by chance": uneven(*scores)})
    found = {arm: columns([how(s).numbers for s in range(3)]) for arm, how in rule.arms.items()}
    verdict = judge(rule, found)
    assert verdict.failing("by chance") == failing
    assert verdict.met == met
    said = write_page.role(rule, verdict, "by chance")
    assert f"{failing} of 3 seeds alone" in said
    assert said.startswith("fails" if met else "**passes**")


def test_most_seeds_alone_do_not_make_up_for_passing_over_all():
    def middle_above(own, others):
        return {"above": bool(own["score"].sum() > 3)}

    rule = replace(rule_of(middle_above), saboteurs={"one great seed": uneven(9, 0, 0)})
    found = {arm: columns([how(s).numbers for s in range(3)]) for arm, how in rule.arms.items()}
    assert judge(rule, found).passing_saboteurs == ["one great seed"]


def test_a_method_that_fails_says_which_part_of_its_claim():
    verdict = verdict_of(rule_of(lambda own, others: {"low": False, "high": True}, broken=0.0))
    assert not verdict.met
    assert str(verdict) == "the method fails: low"


def test_a_method_that_fails_does_not_hide_that_a_broken_one_passes():
    verdict = verdict_of(rule_of(lambda own, others: {"low": own["score"][0] < 1}, broken=0.0))
    assert str(verdict) == "the method fails: low, and passed by a broken method: broken"


def test_a_reformed_rule_is_measured_on_its_own_seeds_and_the_page_says_why(page_of):
    rule = replace(rule_of(above_rival, broken=0.1), reformed="Seen and changed.", seeds=(21, 22))
    still = replace(rule, reformed="Seen.", seeds=rules.SEEDS)
    page = page_of(good=rule_of(above_rival, broken=0.1), reformed=rule, still=still)
    assert rules.Kept("reformed").seeds() == {21, 22}
    assert rules.Kept("good").seeds() == set(rules.SEEDS)
    assert "is judged on others, which it names with what was changed: `reformed`." in page
    assert page.count("**Seeds 21, 22**. Seen and changed.") == 1
    assert page.count("**Seeds 11, 12, 13**, which had been seen. Seen.") == 1
    assert "judged on seeds that had been seen: `still`." in page


def test_a_picture_of_earlier_numbers_is_said_to_be_so(page_of):
    def arm(value):
        look = {"points": np.ones((3, 2)), "color": np.zeros(3)}
        return lambda seed: Finding({"score": value}, look)

    rule = replace(rule_of(above_rival), method=arm(2.0), saboteurs={"broken": arm(0.1)})
    rule = replace(rule, picture="Points.")
    assert "Points. Seed 11." in page_of(drawn=rule)
    kept = rules.Kept("drawn")
    assert kept.look(METHOD, 11)
    kept.write(METHOD, 11, Finding({"score": 2.5}), 1.0)  # measured where looks are not
    assert not kept.look(METHOD, 11), "what is left of another measuring is not shown"
    assert "Points. Seed 11, of earlier numbers." in write_page.page()


def test_numbers_are_measured_once_and_again_when_the_code_has_changed(tmp_path, monkeypatch):
    monkeypatch.delenv("FRESH", raising=False)
    seeds = []

    def measure(seed):
        seeds.append(seed)
        return Finding({"score": 1.5}, {"points": np.ones((3, 2)), "color": np.zeros(3)})

    kept = rules.Kept("vae", tmp_path / "kept", tmp_path / "looks")
    first = kept.measured("an arm (γ = 0)", measure, 11)
    assert kept.measured("an arm (γ = 0)", measure, 11) == first
    kept.measured("an arm (γ = 0)", measure, 12)
    assert seeds == [11, 12]
    assert first["numbers"] == {"score": 1.5}
    np.testing.assert_array_equal(kept.look("an arm (γ = 0)", 11)["points"], np.ones((3, 2)))
    kept.code = "other code"
    kept.measured("an arm (γ = 0)", measure, 11)
    monkeypatch.setenv("FRESH", "1")
    kept.measured("an arm (γ = 0)", measure, 11)
    assert seeds == [11, 12, 11, 11]


@pytest.mark.parametrize(("now", "measured"), [(1.5, [11]), (1.4999999999999998, [11, 12, 13])])
def test_other_seeds_are_measured_again_only_if_one_comes_out_otherwise(
    now, measured, tmp_path, monkeypatch
):
    monkeypatch.delenv("FRESH", raising=False)
    kept = rules.Kept("vae", tmp_path / "kept", tmp_path / "looks")
    for arm in ("this", "that"):
        for seed in rules.SEEDS:
            kept.measured(arm, lambda seed: Finding({"score": 1.5}), seed)
    seeds = []

    def measure(seed):
        seeds.append(seed)
        return Finding({"score": now})

    before, kept.code = kept.code, "changed code"
    for seed in rules.SEEDS:
        assert kept.measured("this", measure, seed)["code"] == "changed code"
    assert seeds == measured
    assert {kept.read("that", seed)["code"] for seed in rules.SEEDS} == {before}


def test_arms_of_one_rule_have_files_of_their_own():
    for name in rules.names():
        places = [rules.Kept(name)._place(arm, 11) for arm in rules.named(name).arms]
        assert len(set(places)) == len(places), name


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Iterator[Path]:
    """Copy library and rules, so that they can be changed; return the folder."""
    folder = tmp_path_factory.mktemp("copied")
    with pytest.MonkeyPatch.context() as patch:
        for package, place in (("unweave", "src/unweave"), ("rules", "tests/acceptance/rules")):
            ignored = shutil.ignore_patterns("__pycache__", "page", "runtime")
            shutil.copytree(_keeping.PACKAGES[package], folder / place, ignore=ignored)
            patch.setitem(_keeping.PACKAGES, package, folder / place)
        patch.setattr(_keeping, "ROOT", folder)
        yield folder


def digest(folder: Path, rule: str) -> str:
    return _keeping.fingerprint(folder / "tests/acceptance/rules" / f"{rule}.py")


@pytest.mark.parametrize(
    ("changed", "affected"),
    [
        ("src/unweave/methods/factor_vae.py", {"factor_vae"}),
        ("src/unweave/methods/_cluster_style.py", {"aae_clustering"}),
        ("src/unweave/metrics/mig.py", {"ada_gvae", "baselines"}),
        ("src/unweave/networks/_ladder.py", {"very_deep_vae"}),
        ("src/unweave/data/segments.py", set()),
        ("src/unweave/batches/auxiliary.py", {"i_vae"}),
        ("src/unweave/cli/_train.py", set()),
        ("src/unweave/metrics/__init__.py", set()),
        ("src/unweave/files/json_files.py", set()),
        ("src/unweave/runs/config.py", set()),
        ("src/unweave/runs/run.py", None),
        ("tests/acceptance/rules/_groups.py", {"gvae"}),
        ("tests/acceptance/rules/_rule.py", set()),
        ("src/unweave/training/loop.py", None),
        ("src/unweave/probability/gaussian.py", None),
    ],
)
def test_a_change_is_felt_by_the_rules_that_depend_on_it(copied, changed, affected):
    some = ["vae", "factor_vae", "aae_clustering", "ada_gvae", "baselines", "gvae", "lord"]
    some += ["very_deep_vae", "i_vae"]
    before = {rule: digest(copied, rule) for rule in some}
    with (copied / changed).open("a", encoding="utf-8") as file:
        file.write("\n\nADDED = 1\n")
    felt = {rule for rule in some if digest(copied, rule) != before[rule]}
    assert felt == (set(some) if affected is None else affected)


def test_what_is_said_to_make_no_number_exists():
    library = _keeping.PACKAGES["unweave"]
    missing = [name for name in _keeping.PASSING_ON if not (library / name).exists()]
    assert missing == []


def test_comments_docstrings_errors_claims_and_checks_change_no_number(copied):
    def change(place: str, old: str, new: str) -> None:
        text = (copied / place).read_text(encoding="utf-8")
        assert old in text
        (copied / place).write_text(text.replace(old, new, 1), encoding="utf-8")

    rule = "tests/acceptance/rules/vae.py"
    before = digest(copied, "vae")
    change("src/unweave/methods/vae.py", '"""VAE', '# why\n"""A VAE')
    change(rule, '"""VAE', '"""A VAE')
    change(rule, 'own["R"].max() < 12', 'own["R"].max() < 11')
    change(rule, "60 %", "half")
    change(rule, "    picture=", "    reformed='Why.',\n    seeds=(21, 22, 23),\n    picture=")
    change(
        "src/unweave/settings/schedules.py", "raise ConfigError(", 'raise ConfigError("Sorry: " +'
    )
    assert digest(copied, "vae") == before
    change(rule, "steps=2500", "steps=2501")
    assert digest(copied, "vae") != before


@pytest.fixture
def page_of(tmp_path, monkeypatch):
    """Return what measures rules, which it is given by name, and writes the page of them."""

    def page(**given):
        monkeypatch.setattr(rules, "names", lambda: [*given])
        monkeypatch.setattr(rules, "named", given.__getitem__)
        for name in given:
            rules.measure(name)
        return write_page.page()

    monkeypatch.setattr(_keeping, "fingerprint", lambda file: "this code")
    monkeypatch.setattr(rules.Kept.__init__, "__defaults__", (tmp_path, tmp_path))
    monkeypatch.setattr(write_page, "PICTURES", tmp_path)
    return page


def test_the_page_shows_both_columns_and_what_is_not_met(tmp_path, monkeypatch):
    names = {"good": rule_of(above_rival, broken=0.1), "spoilt": rule_of(above_rival, broken=5.0)}
    monkeypatch.setattr(rules, "names", lambda: [*names, "unmeasured"])
    monkeypatch.setattr(rules, "named", lambda name: names.get(name, names["good"]))
    monkeypatch.setattr(_keeping, "fingerprint", lambda file: "this code")
    monkeypatch.setattr(rules.Kept.__init__, "__defaults__", (tmp_path, tmp_path))
    for name in names:
        rules.measure(name)
    page = write_page.page()
    assert "Of 3 rules 2 are measured, 2 of them with the code as it is, and 1 are\nmet." in page
    assert "| [good](#good) | passes | all 1 fail |" in page
    assert "| [spoilt](#spoilt) | passes | **passed by:** broken |" in page
    assert "**Not met:** `spoilt` (passed by a broken method: broken)" in page
    assert "**Not measured:** unmeasured" in page
    monkeypatch.setattr(_keeping, "fingerprint", lambda file: "changed code")
    older = write_page.page()
    assert "2 are measured, 0 of them with the code as it is, and 1 are\nmet." in older
    assert "| [good](#good) | passes (measured with older code) | all 1 fail |" in older
    assert "| broken | score 0.111, 0.112, 0.113 | fails (3 of 3 seeds alone): above |" in page


@pytest.mark.parametrize("world", WORLDS)
def test_images_of_the_worlds_of_generators_differ_by_their_class_more_than_by_anything(world):
    """A category codes what images differ by most: a rule on other worlds would ask for luck."""
    data = parts(world)[0]
    images = data.images(np.arange(len(data))).reshape(len(data), -1)
    images = images - images.mean(0)
    explained = [
        sum(
            images[column == value].sum(0) @ images[column == value].mean(0)
            for value in set(column)
        )
        / np.square(images).sum()
        for column in data.factors().T
    ]
    assert explained[0] > 2 * max(explained[1:])
    assert explained[0] > sum(explained[1:])
