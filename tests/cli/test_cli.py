"""The command line as a person uses it."""

import json
import re
import runpy
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from unweave.cli import VERBS, main
from unweave.cli._output import paper_of


def say(words: str | list[str], capsys) -> tuple[int, str, str]:
    """Run a command in this process; return exit code, output and errors."""
    words = words.split() if isinstance(words, str) else words
    try:
        code = main(words)
    except SystemExit as exit_:  # help and wrong flags end this way
        code = exit_.code or 0
    captured = capsys.readouterr()
    return code, captured.out, captured.err


SMALL = ["--steps", "3", "--batch-size", "8", "--evaluations", "1", "--threads", "1"]
SMALL += ["--method.latent-dim", "3"]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "run"
    words = ["train", "beta_vae", "--data", "toy_xys", *SMALL, "--out", str(folder)]
    assert main([*words, "--method.beta", "0:4:100"]) == 0
    return folder


def test_no_word_and_help_list_the_verbs(capsys):
    for words in ([], ["--help"]):
        code, out, _ = say(words, capsys)
        assert code == 0
        assert all(verb in out for verb in VERBS)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_explains_itself(verb, capsys):
    code, out, err = say([verb, "--help"], capsys)
    assert code == 0
    assert "usage" in out
    assert "--plugin FILE.py" in out
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("trian", "'train'"),
        ("train betavae --data toy_xys", "'beta_vae'"),
        ("train", "METHOD"),
        ("train vae --data dsprits", "'dsprites'"),
        ("train vae --data no/such/folder", "no such file or folder"),
        ("train vae --data toy_xys --architecture conv6", "'conv64'"),
        ("train vae --data toy_xys --steps 0", "steps must be 1 or more"),
        ("train vae --data toy_xys --method.optimizer sdg", "'sgd'"),
        ("train vae --data toy_xys --device cuda", "not available"),
        ("list metric", "'metrics'"),
        ("evaluate", "score what?"),
        ("evaluate nowhere", "not a run folder"),
        ("resume nowhere", "not a run folder"),
        ("evaluate --codes nothing.npy --factors nothing.csv", "nothing.npy"),
        ("evaluate --model nothing_there:encode --data toy_xys", "no module named"),
        ("data toy_xys:/tmp/file", "takes no file"),
    ],
)
def test_mistakes_end_with_code_2_one_line_and_a_hint(words, hint, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = say(words, capsys)
    assert code == 2
    assert hint in err
    assert "Traceback" not in out + err
    assert len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir()), "a mistake leaves nothing behind"


def test_a_mistyped_flag_names_the_nearest(capsys):
    code, _, err = say("train beta_vae --data toy_xys --method.bta 4", capsys)
    assert code == 2
    assert "--method.beta" in err


def test_the_flags_of_an_optimizer_are_those_of_the_chosen_one(capsys):
    code, out, _ = say("train factor_vae --help", capsys)
    assert code == 0
    assert "--method.discriminator-optimizer NAME chooses among adam, sgd" in " ".join(out.split())
    assert "--method.optimizer.betas" in out
    assert "--method.optimizer.momentum" not in out
    code, out, _ = say("train factor_vae --method.optimizer=sgd --help", capsys)
    assert code == 0
    assert "--method.optimizer.betas" not in out
    assert "--method.optimizer.momentum" in out
    assert "--method.discriminator-optimizer.betas" in out


@pytest.mark.parametrize("kind", ["methods", "data", "metrics", "architectures"])
def test_lists_name_every_entry(kind, capsys):
    from unweave import catalog

    package = {"architectures": "networks"}.get(kind, kind)
    code, out, _ = say(["list", kind], capsys)
    assert code == 0
    for name in catalog.names(f"unweave.{package}"):
        assert name in out


def test_methods_are_listed_by_what_a_user_has(capsys):
    _, out, _ = say(["list", "methods"], capsys)
    names = set(re.findall(r"^│ (\w+) ", out, re.MULTILINE))
    listed = {
        heading: names & set(re.findall(r"^│ (\w+) ", part, re.MULTILINE))
        for heading, part in re.findall(r"^with ([^\n]+?) *\n(.*?)(?=^with|\Z)", out, re.M | re.S)
    }
    assert {"vae", "factor_vae", "pca"} <= listed["images alone"]
    told_few = {"m2", "m1_m2", "generalised_m2", "aae_semi_supervised", "semi_supervised"}
    assert listed["labels of a few images"] == told_few
    assert listed["views of one content"] == {"cv_mim"}
    assert {"ml_vae", "vae_gan"} <= listed["groups or classes"]
    assert listed["pairs"] == {"ada_gvae", "ada_ml_vae", "slow_vae"}
    assert "dr_net" in listed["clips"]
    assert {"ground_truth", "lord", "dc_ign"} <= listed["labels of all images"]
    assert listed["features of a frozen network"] == {"top_k_sae"}
    assert "something else" not in listed, "every kind of batch of ours has a heading"


def test_help_of_a_method_explains_its_settings(capsys):
    code, out, _ = say("train annealed_vae --help", capsys)
    assert code == 0
    for words in ("--method.gamma", "--method.capacity", "Paper", "1804.03599"):
        assert words in out


def test_a_finished_run_folder_holds_what_it_should(run_folder):
    for name in ("config.json", "record.jsonl", "networks.safetensors", "scores.json"):
        assert (run_folder / name).is_file()
    for name in ("reconstructions", "traversals", "prior_samples"):
        assert Image.open(run_folder / "figures" / f"{name}.png").size[0] > 100
    assert list((run_folder / "figures" / "training").glob("traversals-*.png"))
    scores = json.loads((run_folder / "scores.json").read_text())
    assert {"value", "protocol", "details"} <= scores["mig"].keys()
    settings = json.loads((run_folder / "config.json").read_text())["settings"]
    assert settings["method"]["beta"] == "0:4:100"


def test_evaluate_a_run_keeps_the_scores_it_had(run_folder, capsys):
    code, out, _ = say(["evaluate", str(run_folder), "--metrics", "mcc,irs"], capsys)
    assert code == 0
    assert "mcc" in out
    scores = json.loads((run_folder / "scores.json").read_text())
    assert {"mcc", "irs", "mig"} <= scores.keys()


def test_evaluate_tables_of_codes_and_factors(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(600, 2))
    np.save("codes.npy", factors + 0.01 * rng.normal(size=(600, 2)))
    lines = ["shape,size", *(f"{a},{b}" for a, b in factors)]
    (tmp_path / "factors.csv").write_text("\n".join(lines))
    words = "evaluate --codes codes.npy --factors factors.csv --metrics mig,sap,dci --seeds 2"
    code, out, _ = say(words, capsys)
    assert code == 0
    scores = json.loads((tmp_path / "scores.json").read_text())
    low, high = scores["sap"]["details"]["interval"]
    assert f"[{low:.4f}, {high:.4f}]" in out
    assert scores["mig"]["value"] > 0.9
    assert scores["mig"]["made"]["rows"] == 600
    # Nothing in MIG is drawn: an interval without width would pass for certainty.
    assert "interval" not in scores["mig"]["details"]
    assert "all 2 seeds gave the same value" in out
    assert f"C {scores['dci']['parts']['C']:.4f}" in out


def test_a_fast_score_says_so_and_overwrites_no_full_one(run_folder, tmp_path, capsys):
    copy = tmp_path / "run"
    shutil.copytree(run_folder, copy)
    before = json.loads((copy / "scores.json").read_text())["mig"]
    assert before["made"]["preset"] == "full"
    code, out, _ = say(
        ["evaluate", str(copy), "--metrics", "mig,dcimig", "--preset", "fast"], capsys
    )
    assert code == 0
    assert "keeps its full scores of mig" in out
    assert "locatello2019, fast:" in out
    scores = json.loads((copy / "scores.json").read_text())
    assert scores["mig"] == before
    assert scores["dcimig"]["made"]["preset"] == "fast"
    say(["evaluate", str(copy), "--metrics", "dcimig"], capsys)
    assert json.loads((copy / "scores.json").read_text())["dcimig"]["made"]["preset"] == "full"


def test_fast_scores_of_tables_have_a_file_of_their_own(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    factors = np.random.default_rng(0).integers(0, 4, size=(200, 2))
    np.save("codes.npy", factors + 0.0)
    np.save("factors.npy", factors)
    words = "evaluate --codes codes.npy --factors factors.npy --metrics mig"
    assert say(words, capsys)[0] == 0
    full = (tmp_path / "scores.json").read_text()
    assert say(f"{words} --preset fast", capsys)[0] == 0
    assert (tmp_path / "scores.json").read_text() == full
    assert (
        json.loads((tmp_path / "scores.fast.json").read_text())["mig"]["made"]["preset"] == "fast"
    )


def test_evaluate_any_python_function(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "where_it_is.py").write_text(
        "import numpy as np\n"
        "def encode(images):\n"
        "    mass = images.sum((1, 2, 3))\n"
        "    grid = np.arange(images.shape[-1])\n"
        "    x = (images.sum((1, 2)) * grid).sum(1) / mass\n"
        "    y = (images.sum((1, 3)) * grid).sum(1) / mass\n"
        "    return np.stack([x, y, mass], 1)\n"
    )
    words = "evaluate --model where_it_is:encode --data toy_xys --metrics mig,factor_vae_score"
    code, out, _ = say(words, capsys)
    assert code == 0, out
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["factor_vae_score"]["value"] > 0.95
    assert scores["mig"]["value"] > 0.7


def test_data_shows_itself(tmp_path, capsys):
    picture = tmp_path / "toy.png"
    code, out, _ = say(["data", "toy_shapes", "--show", "--out", str(picture)], capsys)
    assert code == 0
    assert "shape: 3 values: square, disc, cross" in out
    assert Image.open(picture).size[1] > 4 * 64


@pytest.mark.parametrize("verb", ["data", "evaluate", "figures", "report", "train beta_vae"])
def test_images_are_read_by_the_same_flags_in_every_verb(verb, capsys):
    code, out, _ = say(f"{verb} --help", capsys)
    assert code == 0
    for flag in ("--image-size", "--factors", "--bad-images", "--split", "--correlate"):
        assert flag in out


def test_data_says_where_the_originals_are_without_opening_them(capsys):
    code, out, _ = say("data shapes3d --where", capsys)
    assert code == 0
    assert "untested" in out
    assert "3dshapes.h5  MD5 099a2078d58cec4daad0702c55d06868" in out
    code, _, err = say("data toy_xys --where", capsys)
    assert code == 2
    assert "has no original files" in err


def test_data_says_what_causes_what_and_what_a_split_holds_out(capsys):
    _, out, _ = say(["data", "pendulum", "--split", "shadow_length>9"], capsys)
    assert "shadow_length follows from pendulum_angle and light_angle" in out
    assert "held out of training: " in out


def test_data_says_that_a_set_is_a_rendering(capsys):
    code, out, _ = say("data shapes3d", capsys)
    assert code == 0
    assert "rendered here in the manner of 3D Shapes" in out


def test_training_on_an_own_folder_of_images(tmp_path, capsys):
    rng = np.random.default_rng(0)
    folder = tmp_path / "photos"
    folder.mkdir()
    for index in range(12):
        pixels = rng.integers(0, 256, size=(40, 52, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{index}.png")
    words = ["train", "vae", "--data", str(folder), "--image-size", "32", *SMALL]
    code, _, err = say([*words, "--out", str(tmp_path / "run")], capsys)
    assert code == 0, err
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert scores["gaussian_total_correlation"]["value"] >= 0  # what needs no factors
    assert "mig" not in scores


def test_training_on_an_array_file_with_factors(tmp_path, capsys, toy):
    rows = np.arange(200)
    images = (toy.images(rows)[:, 0] * 255).astype(np.uint8)
    np.savez(tmp_path / "own.npz", images=images, factors=toy.factors(rows))
    words = ["train", "vae", "--data", str(tmp_path / "own.npz"), *SMALL]
    code, _, _ = say([*words, "--out", str(tmp_path / "run")], capsys)
    assert code == 0
    assert "mig" in json.loads((tmp_path / "run" / "scores.json").read_text())


def test_resume_of_a_finished_run_says_how_to_go_further(run_folder, capsys):
    code, _, err = say(["resume", str(run_folder)], capsys)
    assert code == 2
    assert "--steps" in err
    words = ["resume", str(run_folder), "--steps", "5", "--threads", "1", "--no-evaluation"]
    assert say(words, capsys)[0] == 0
    assert json.loads((run_folder / "status.json").read_text())["step"] == 5


def test_list_runs_shows_state_and_score(run_folder, capsys):
    code, out, _ = say(["list", "runs", str(run_folder.parent)], capsys)
    assert code == 0
    assert "beta_vae" in out
    assert "done" in out
    assert "no runs in" in say(["list", "runs", str(run_folder)], capsys)[1]


def test_tensorboard_files_are_written(tmp_path, capsys):
    words = ["train", "vae", "--data", "toy_xys", *SMALL, "--tensorboard", "--no-evaluation"]
    assert say([*words, "--out", str(tmp_path / "run")], capsys)[0] == 0
    assert list((tmp_path / "run" / "tensorboard").glob("events*"))


def test_a_closed_pipe_ends_quietly():
    done = subprocess.run(
        f"{sys.executable} -m unweave list data | head -1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr


def test_the_installed_command_prints_its_version():
    from pathlib import Path

    command = Path(sys.executable).with_name("unweave")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("unweave ")


def test_the_module_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["unweave", "list", "metrics"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("unweave", run_name="__main__")
    assert ended.value.code == 0
    assert "mig_sup" in capsys.readouterr().out


def test_a_paper_is_told_without_the_signs_around_it():
    class Entry:
        """After R. Chen, arXiv:1802.04942: see there, or doi:10.1/x."""

    assert paper_of(Entry) == "arXiv:1802.04942"


def test_a_fast_score_of_a_part_overwrites_no_full_one_of_that_part(tmp_path, capsys):
    words = "train pca --data toy_xys --split x>0.8 --threads 1 --no-evaluation --out"
    assert say([*words.split(), str(tmp_path / "run")], capsys)[0] == 0
    words = f"evaluate {tmp_path / 'run'} --part held_out --metrics mig"
    assert say(words, capsys)[0] == 0
    file = tmp_path / "run" / "scores.held_out.json"
    full = json.loads(file.read_text())
    assert full["mig"]["made"]["preset"] == "full"
    code, out, _ = say(f"{words},dcimig --preset fast", capsys)
    assert code == 0
    assert "scores.held_out.json keeps its full scores of mig" in " ".join(out.split())
    kept = json.loads(file.read_text())
    assert kept["mig"] == full["mig"]
    assert kept["dcimig"]["made"]["preset"] == "fast"
    assert not (tmp_path / "run" / "scores.json").exists()


def test_a_named_file_of_full_scores_is_not_replaced_by_fast_ones(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    factors = np.random.default_rng(0).integers(0, 4, size=(200, 2))
    np.save("codes.npy", factors + 0.0)
    np.save("factors.npy", factors)
    words = "evaluate --codes codes.npy --factors factors.npy --metrics mig --out o.json"
    assert say(words, capsys)[0] == 0
    full = (tmp_path / "o.json").read_text()
    code, _, err = say(f"{words} --preset fast", capsys)
    assert code == 2
    assert err.strip() == (
        "error: o.json holds full scores of mig, which fast ones would replace; name another file "
        "with --out"
    )
    assert (tmp_path / "o.json").read_text() == full
    for _ in range(2):  # fast ones may be made anew
        assert say(words.replace("o.json", "fast.json") + " --preset fast", capsys)[0] == 0
    assert say(words.replace("o.json", "fast.json"), capsys)[0] == 0
    assert json.loads((tmp_path / "fast.json").read_text())["mig"]["made"]["preset"] == "full"
