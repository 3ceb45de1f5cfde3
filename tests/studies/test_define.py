"""A study file: read, checked whole, expanded into runs with names that are hashes."""

import subprocess
import sys

import pytest

import unweave as uw
from unweave.errors import ConfigError
from unweave.networks.mlp64 import MLP64
from unweave.networks.patches_any import PatchesAny
from unweave.runs.config import Machine
from unweave.studies import Study, expand, read_study
from unweave.studies.define.entries import StudyErrors, Variation, read_random
from unweave.studies.define.expansion import count_runs, points
from unweave.studies.define.study import study_from_plain
from unweave.studies.run.driver import job_of

TOY = {"data": "toy_xys", "metrics": ["mig"], "seeds": 2}


def study(**changes) -> Study:
    return Study(**{"name": "s", "methods": ["vae"], **TOY, **changes})


def test_a_file_becomes_runs(tmp_path):
    file = tmp_path / "beta.toml"
    file.write_text(
        """
        data = "toy_xys"
        seeds = [0, 3]
        metrics = ["mig"]
        settings.method.latent_dim = 3
        [budget]
        steps = 10
        [grid]
        batch_size = [8, 16]
        [[methods]]
        name = "beta_vae"
        settings.optimizer.learning_rate = 0.001
        grid = { beta = [1, "0:4:100"] }
        [[methods]]
        name = "pca"
        """
    )
    plan = expand(read_study(file))
    assert plan.study.name == "beta"
    assert len(plan.runs) == count_runs(plan.study) == 2 * 2 * (2 + 1)
    assert len({run.run_id for run in plan.runs}) == len(plan.runs)
    run = plan.runs[2]
    assert run.arm == "beta_vae, batch_size 8, beta 0:4:100"
    assert (run.config.seed, run.config.steps, run.config.batch_size) == (0, 10, 8)
    assert run.config.method == uw.BetaVAE(
        beta="0:4:100", latent_dim=3, optimizer=uw.Adam(learning_rate=0.001)
    )
    assert all(run.config.method.latent_dim == 3 for run in plan.runs)


def test_names_of_runs_are_hashes_of_their_settings():
    """Equal however a setting is written, in any process; different for anything that counts."""
    explicit = study(settings={"architecture": "conv_any", "precision": "float32"})
    names = [run.run_id for run in expand(study()).runs]
    assert [run.run_id for run in expand(explicit).runs] == names
    assert [run.run_id for run in expand(study(methods=[uw.VAE()])).runs] == names
    for change in (
        {"budget": {"steps": 5}},
        {"settings": {"method.latent_dim": 4}},
        {"settings": {"architecture": {"name": "conv_any", "hidden": 16}}},
        {"settings": {"validation": 0.1}},
        {"data": "toy_shapes"},
    ):
        assert not {run.run_id for run in expand(study(**change)).runs} & set(names), change
    code = (
        "from unweave.studies import Study, expand\n"
        "s = Study(name='s', methods=['vae'], data='toy_xys', metrics=['mig'], seeds=2)\n"
        "print(*[run.run_id for run in expand(s).runs])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == names


def test_optimizers_are_chosen_and_varied_by_name(tmp_path):
    file = tmp_path / "optimizers.toml"
    file.write_text(
        """
        data = "toy_xys"
        seeds = 1
        metrics = ["mig"]
        settings.method.optimizer.learning_rate = 0.25
        [[methods]]
        name = "vae"
        grid = { optimizer = ["adam", "sgd"] }
        [[methods]]
        name = "beta_vae"
        settings.optimizer = { name = "sgd", momentum = 0.5 }
        """
    )
    found = [run.config.method.optimizer for run in expand(read_study(file)).runs]
    assert found == [uw.Adam(0.25), uw.SGD(0.25), uw.SGD(0.25, momentum=0.5)]


@pytest.mark.parametrize(
    "method",
    [
        uw.VAE(optimizer=uw.SGD(1e-4)),  # the usual learning rate of Adam, not that of SGD
        uw.VAE(optimizer=uw.RMSProp()),
        uw.InfoGAN(optimizer=uw.Adam()),
        uw.InfoGAN(optimizer=uw.Adam(1e-3, betas=(0.5, 0.999), clip_value=1.0)),
    ],
)
def test_a_method_is_trained_as_it_was_given(method):
    (run,) = expand(study(methods=[method], seeds=1)).runs
    assert run.config.method == method


def test_a_varied_architecture_keeps_the_settings_that_are_fixed():
    named = study(
        settings={"architecture.hidden": 16}, grid={"architecture": ["mlp64", "conv_any"]}
    )
    found = [run.config.architecture for run in expand(named).runs]
    assert {type(architecture).__name__ for architecture in found} == {"MLP64", "ConvAny"}
    assert all(architecture.hidden == 16 for architecture in found)


def test_scores_are_not_part_of_the_name_so_that_studies_share_trainings():
    scored = study(metrics=["mig", "sap"], preset="fast")
    assert [r.run_id for r in expand(scored).runs] == [r.run_id for r in expand(study()).runs]


def test_grid_list_and_random_sample_multiply():
    variation = Variation(
        grid={"a": (1, 2), "b": (3, 4, 5)},
        points=({"c": 1}, {"c": 2, "d": 0}),
        random=read_random({"count": 3, "settings": {"e": {"low": 0.0, "high": 1.0}}}),
    )
    found = list(points(variation))
    assert len(found) == 2 * 3 * 2 * 3
    assert {(p["a"], p["b"]) for p in found} == {(a, b) for a in (1, 2) for b in (3, 4, 5)}
    assert {p.get("d") for p in found if p["c"] == 1} == {None}
    assert len({p["e"] for p in found}) == 3
    assert list(points(Variation())) == [{}]


def test_a_random_sample_stays_within_its_range_and_grows_without_changing():
    plain = {
        "settings": {
            "beta": {"low": 1.0, "high": 100.0, "scale": "log"},
            "latent_dim": {"low": 2, "high": 4},
            "optimizer": {"learning_rate": {"choices": [1e-3, 1e-4]}},
        }
    }
    few = list(points(Variation(random=read_random({"count": 20, **plain}))))
    many = list(points(Variation(random=read_random({"count": 200, **plain}))))
    assert many[:20] == few
    betas = [point["beta"] for point in many]
    assert 1 <= min(betas) < max(betas) <= 100
    assert 0.4 < sum(beta < 10 for beta in betas) / 200 < 0.6, "even in the logarithm"
    assert {point["latent_dim"] for point in many} == {2, 3, 4}
    assert all(type(point["latent_dim"]) is int for point in many)
    assert {point["optimizer.learning_rate"] for point in many} == {1e-3, 1e-4}
    other = list(points(Variation(random=read_random({"count": 20, "seed": 1, **plain}))))
    assert other != few


def test_the_runs_of_a_method_may_have_steps_and_a_network_of_their_own():
    given = study(
        methods=[
            "vae",
            {
                "name": "vae",
                "label": "longer",
                "settings": {"latent_dim": 3},
                "run": {"steps": 400, "architecture": {"name": "mlp64", "hidden": 32}},
            },
            {"name": "vae", "label": "wider", "run": {"batch_size": 16, "architecture": "mlp64"}},
        ],
        settings={"architecture": {"name": "patches_any", "block": 1}},
        budget={"steps": 50, "batch_size": 8},
        seeds=1,
    )
    common, longer, wider = (run.config for run in expand(given).runs)
    assert common.architecture == PatchesAny(block=1)
    assert (longer.steps, longer.batch_size) == (400, 8)
    assert (longer.method.latent_dim, longer.architecture) == (3, MLP64(hidden=32))
    assert (wider.steps, wider.batch_size, wider.architecture) == (50, 16, MLP64())
    assert [run.config.steps for run in expand(given.quick()).runs] == [5, 40, 5]


def test_every_mistake_is_listed_at_once():
    wrong = study(
        methods=[
            {"name": "beta_vae", "grid": {"beta": [1, "much"], "latent_dim": [0]}},
            {"name": "betavae"},
            {"name": "vae", "settings": {"latent_dims": 3}},
        ],
        metrics=["mig", "migg", "udr"],
        preset="quick",
        data=["toy_xys", "dsprits"],
    )
    with pytest.raises(StudyErrors) as caught:
        expand(wrong)
    text = str(caught.value)
    for words in (
        "'mig'",
        "udr compares runs",
        "preset",
        "method.beta",
        "latent_dim must be 1 or more",
        "'beta_vae'",
        "'latent_dim'",
        "'dsprites'",
    ):
        assert words in text
    assert len(caught.value.problems) >= 8
    assert "nothing was started" in text


def test_mistakes_of_form_and_of_meaning_are_listed_together():
    plain = {
        "name": "wrong",
        "data": "toy_xys",
        "methods": ["betavae", {"name": "vae", "gird": {}}],
        "sedes": 3,
        "seeds": -1,
    }
    with pytest.raises(StudyErrors) as caught:
        study_from_plain(plain)
    assert len(caught.value.problems) == 3, "an unknown key, a method of wrong form, seeds"
    plain |= {"methods": ["betavae", "vea"], "seeds": 1}
    with pytest.raises(StudyErrors) as caught:
        study_from_plain(plain)
    text = str(caught.value)
    assert "'seeds'" in text
    assert "'beta_vae'" in text
    assert "'vae'" in text
    with pytest.raises(StudyErrors) as caught:
        study_from_plain({"name": "wrong", "metrics": ["migg"]})
    assert len(caught.value.problems) == 3, "methods and data are missing, and migg is unknown"
    plain = {"name": "../up", "data": "dsprits", "seeds": 0, "metrics": ["migg"]}
    plain |= {"methods": ["vea"], "budget": {"steps": -5}}
    with pytest.raises(StudyErrors) as caught:
        study_from_plain(plain)
    text = str(caught.value)
    for words in ("../up", "seeds: ", "steps must be 1", "'dsprites'", "'mig'", "'vae'"):
        assert words in text
    assert len(caught.value.problems) == 6


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"settings": {"architecture": "quick64"}}, "quick64"),
        ({"data": "dsprits"}, "'dsprites'"),
        ({"seeds": []}, "seeds"),
        ({"seeds": [1, 1]}, "seeds"),
        ({"seeds": -1}, "seeds"),
        ({"methods": []}, "methods"),
        ({"methods": [{"name": "vae", "gird": {}}]}, "'grid'"),
        ({"methods": [{"name": "vae", "grid": {"latent_dim": 3}}]}, "expected a list"),
        ({"methods": ["vae", "vae"]}, "give labels"),
        ({"methods": [{"name": "vae", "run": {"steps": "many"}}]}, "run.steps"),
        ({"methods": [{"name": "vae", "run": {"step": 3}}]}, "'steps'"),
        ({"methods": [{"name": "vae", "run": {"method": {"beta": 3}}}]}, "settings beside it"),
        ({"budget": {"step": 3}}, "'steps'"),
        ({"budget": {"steps": "many"}}, "budget.steps"),
        ({"name": "../up"}, "name"),
        ({"keep": "nothing"}, "networks"),
        ({"random": {"count": 3, "settings": {"batch_size": {"low": 3}}}}, "low ≤ high"),
        ({"random": {"settings": {"batch_size": {"choices": [3]}}}}, "count is missing"),
        ({"grid": {"batch_size": list(range(1, 2000)), "steps": list(range(1, 2000))}}, "at most"),
        ({"main_metric": "sap"}, "Known: mig"),
        ({"protocol": {"mig": "none"}}, "protocol of mig"),
        ({"published": [{"method": "vae"}]}, "published"),
    ],
)
def test_mistakes_get_a_hint(changes, hint):
    with pytest.raises(ConfigError, match=hint):
        expand(study(**changes))


def test_metrics_that_need_factors_are_refused_where_there_are_none(tmp_path):
    import numpy as np

    np.save(tmp_path / "own.npy", np.zeros((20, 16, 16), dtype=np.uint8))
    with pytest.raises(StudyErrors, match="has no factors"):
        expand(study(data=str(tmp_path / "own.npy")))


@pytest.mark.parametrize(
    "text", ["data = ", "x = " + "[" * 5000 + "]" * 5000, "a" * 1_100_000, "seeds = 1e999"]
)
def test_files_that_are_no_studies_are_refused(tmp_path, text):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(ConfigError):
        expand(read_study(file))


def test_methods_of_one_kind_are_told_apart_by_their_settings():
    two = study(methods=[uw.BetaVAE(beta=1), uw.BetaVAE(beta=4)])
    assert [plan.label for plan in two.methods] == ["beta_vae (beta 1)", "beta_vae"]


def test_the_folder_of_the_runs_is_told_from_the_file_of_a_study(tmp_path):
    with pytest.raises(ConfigError, match=r"is a folder; expected the TOML file .* --out"):
        read_study(tmp_path)


def test_how_data_are_read_may_be_varied_and_each_run_gets_its_own():
    pairs = ["", "x~y:0.1"]
    plan = expand(study(data="toy_xys", grid={"data_options.correlate": pairs}))
    for run in plan.runs:
        job = job_of(plan, run, "runs", Machine(), 60.0)
        data = plan.data[job.source]
        assert (data.weights is not None) == bool(run.config.data_options.correlate)
    assert len(plan.data) == 2
    assert {run.arm for run in plan.runs} == {"vae, correlate none", "vae, correlate x~y:0.1"}


def test_data_that_a_varied_option_spoils_are_refused_once():
    with pytest.raises(StudyErrors, match="named 'z'") as caught:
        expand(study(data="toy_xys", grid={"data_options.correlate": ["", "x~z:0.1"]}))
    assert len(caught.value.problems) == 1


def test_shares_of_the_variance_say_of_which_data_set_they_are():
    plain = {"name": "shares", "methods": ["vae"], "published_variance": {"mig": [0.2, 0.5]}}
    one = study_from_plain(plain | {"data": "toy_xys"})
    assert one.published_variance == {"toy_xys": {"mig": (0.2, 0.5)}}
    with pytest.raises(ConfigError, match=r"as in \[published_variance.toy_xys\]"):
        study_from_plain(plain | {"data": ["toy_xys", "glyphs"]})
    of_two = {"glyphs": {"mig": [0.2, 1.5]}}
    with pytest.raises(ConfigError, match=r"glyphs\.mig: expected two shares"):
        study_from_plain(plain | {"data": ["toy_xys", "glyphs"], "published_variance": of_two})
    with pytest.raises(ConfigError, match="Did you mean 'vae'"):
        study_from_plain(plain | {"data": "toy_xys", "variance_without": ["vaee"]})
