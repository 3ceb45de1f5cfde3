"""The benchmark that turns the main knob of every method."""

import sys
from pathlib import Path

from unweave import catalog
from unweave.methods import method_named

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import knobs


def test_every_method_with_a_knob_has_values_of_it():
    names = [n for n in catalog.own_names("unweave.methods") if method_named(n).main_knob]
    assert sorted(knobs.KNOBS) == sorted(names)
    for name, (knob, values) in knobs.KNOBS.items():
        # The structure of generalised_m2 is a choice between models, not more or less of one.
        assert knob == method_named(name).main_knob or name == "generalised_m2"
        methods = [knobs.turned(name, value) for value in values]
        assert len(set(methods)) == len(values) >= 3


def test_what_was_measured_is_kept_and_written_while_its_settings_stay(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(knobs, "KEPT", tmp_path / "knobs.jsonl")
    monkeypatch.setattr(knobs, "PAGE", tmp_path / "knobs.md")
    monkeypatch.setattr(knobs, "STEPS", 2)
    knobs.run_all(["pca"], [0])
    assert capsys.readouterr().out.count("pca") == 3
    knobs.run_all(["pca"], [0])
    assert capsys.readouterr().out == "", "nothing is done again"
    knobs.write_page()
    text = knobs.PAGE.read_text(encoding="utf-8")
    assert "## pca\n\n| latent_dim | seed |" in text
    assert all(f"| {value} | 0 | – | – | 0." in text for value in (5, 10, 20))
    assert "Not run: aae" in text
    error = {key[1]: line["figures"]["error"] for key, line in knobs.kept().items()}
    assert error["5"] > error["10"] > error["20"], "the knob does something"

    monkeypatch.setattr(knobs, "digest_of", lambda method: "other")
    assert knobs.kept() == {}
