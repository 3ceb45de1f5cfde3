"""Every command and every block of Python in the README and the documentation works.

Commands go through the real parser, and end where the work would begin. Python is run, on small
data and for two steps.
"""

import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

import unweave as uw
from plugin_sources import METRIC
from unweave import cli, workflows
from unweave.catalog import plugins
from unweave.cli import _parse, main

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "docs" / "plugin_template"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if "generated" not in page.parts and TEMPLATE not in page.parents
    ),
]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the fenced blocks of a page: language and text."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^( *)```(\S*)\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE)
    return [
        (language, re.sub(rf"^{indent}", "", body, flags=re.M)) for indent, language, body in found
    ]


def commands(page: Path) -> list[str]:
    """Return the command lines of a page, without remarks."""
    lines = []
    for language, body in blocks(page):
        if language in ("", "sh", "bash", "console"):
            for line in body.replace("\\\n", " ").splitlines():
                plain = re.sub(r"\s+#.*$", "", line.removeprefix("$ ")).strip()
                lines.append(re.sub(r"^(?:time|nice(?: -n \d+)?|[A-Z_]+=\S+) ", "", plain))
    return lines


COMMANDS = sorted(
    {
        (str(page.relative_to(ROOT)), line)
        for page in PAGES
        for line in commands(page)
        if line.split(" ")[0] in ("unweave", "python", "make")
    }
)


class Parsed(Exception):
    """The flags of a command were read."""


@pytest.fixture
def until_parsed(monkeypatch, tmp_path):
    """Let commands end once their flags are read, in a folder where the files they name are."""
    real = _parse.tyro.cli

    def read(*arguments, **named):
        real(*arguments, **named)
        raise Parsed

    monkeypatch.setattr(_parse, "tyro", SimpleNamespace(**vars(_parse.tyro)))
    monkeypatch.setattr(_parse.tyro, "cli", read)
    monkeypatch.setattr(_parse, "add_plugins", lambda words: _parse.take_option(words, "--plugin"))
    monkeypatch.setattr(_parse, "allow_data", lambda w: _parse.take_option(w, "--allow-data"))
    monkeypatch.setattr(plugins, "_given", {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(plugin_of_the_page())


def plugin_of_the_page() -> str:
    """Return the method that the page on plugins shows."""
    return next(
        body for language, body in blocks(ROOT / "docs" / "plugins.md") if language == "python"
    )


def test_there_are_commands():
    assert len([line for _, line in COMMANDS if line.startswith("unweave ")]) > 80


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_is_understood(page, line, until_parsed, capsys):
    words = shlex.split(line.replace("runs/*", "runs/a runs/b"))
    if words[0] == "make":
        targets = [word for word in words[1:] if "=" not in word]
        assert all(re.search(rf"^{target}:", MAKEFILE, re.MULTILINE) for target in targets), line
    elif words[0] == "python":
        file = next((word for word in words[1:] if word.endswith(".py")), None)
        assert file is None or (ROOT / file).is_file(), line
    elif words[1:2] in (["list"], ["doctor"]) or words[1:] == ["--help"]:
        assert words[1] in ("--help", *cli.VERBS)
    else:
        with pytest.raises(Parsed):
            raise SystemExit(f"{page}: {line}: {main(words[1:])}, {capsys.readouterr().err}")


SMALLER = [
    (r'"dsprites"', '"toy_xys"'),
    (r"steps=[\d_]+", "steps=2"),
    (r"\(1, 4, 10\)\], \"random_state\": \[0, 1, 2\]", '(1,)], "random_state": [0, 1]'),
    (r"cv=3", "cv=2"),
    (r'target="y"\)', 'target="y", rows=200, repeats=1)'),
    (r'"all", preset="fast", seeds=5', '["mig", "sap"], preset="fast", seeds=2'),
]
PYTHON = [page for page in PAGES if any(language == "python" for language, _ in blocks(page))]
RUNS = {"runs/clips": "dr_net", "runs/fair": "ff_vae", "runs/squares": "gvae"}


@pytest.fixture
def space(toy, tiny_run, tmp_path, monkeypatch) -> dict:
    """What the pages take as given: arrays, functions, files, and runs by name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins, "_given", {})
    load, train, draw = workflows.load, workflows.train, uw.figures.draw

    def load_small(name, *arguments, **named):
        if str(name).startswith("runs/") and not Path(name).exists():
            return tiny_run(RUNS.get(str(name), "beta_vae"))
        return load(name, *arguments, **named)

    def train_briefly(*arguments, **named):
        return train(*arguments, **(named | {"steps": 2}))

    def draw_one(model, folder, **named):
        return draw(model, folder, only=["reconstructions"], **named)

    monkeypatch.setattr(workflows, "load", load_small)
    monkeypatch.setattr(workflows, "train", train_briefly)
    monkeypatch.setattr(uw.figures, "draw", draw_one)
    run = tiny_run("beta_vae")
    images = toy.images(range(40))
    factors = toy.factors(range(40))[:, :2]
    rng = np.random.default_rng(0)
    (tmp_path / "photos").mkdir()
    for row in range(3):
        pixels = np.uint8(255 * images[row, 0])
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{row}.png")
    (tmp_path / "codes.csv").write_text("z0,z1,z2,z3\n1,2,3,4\n")
    (tmp_path / "mine.py").write_text(plugin_of_the_page())
    (tmp_path / "my_metric.py").write_text(METRIC.replace("row_count", "my_metric"))
    return {
        "__name__": "__page__",
        "uw": uw,
        "run": run,
        "other": tiny_run("vae"),
        "encode": run.encode,
        "encoder": run.encode,
        "decode": run.decode,
        "posterior": run.posterior,
        "images": images,
        "others": images[::-1].copy(),
        "factors": factors,
        "codes": factors + 0.1 * rng.normal(size=(40, 2)),
        "names": [f"shape {f % 3}" for f in range(40)],
        "angles": rng.random(40),
        "features": rng.random((40, 12)),
        "rng": rng,
    }


@pytest.mark.docs
@pytest.mark.parametrize("page", PYTHON, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs(page, space):
    for language, body in blocks(page):
        if language != "python":
            continue
        if page.name != "data.md":  # its rows and sizes are those of dSprites itself
            for found, instead in SMALLER:
                body = re.sub(found, instead, body)
        exec(compile(body, str(page), "exec"), space)
