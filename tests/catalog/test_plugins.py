"""Methods, metrics, data sets and architectures of strangers: found, refused, carried."""

import importlib
import pickle
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

import unweave as uw
from plugin_sources import DATA, METHOD, METRIC, NETWORK, install, write
from unweave import catalog, metrics
from unweave.catalog import plugins
from unweave.cli import main
from unweave.errors import ConfigError
from unweave.evaluation.plan import choose_metrics
from unweave.methods import method_named, name_in_file, summary_of
from unweave.networks import architecture_named
from unweave.runs.config import Train, from_json, to_json


@pytest.fixture
def mine(tmp_path):
    return write(tmp_path, "mine.py", METHOD)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the path, where packages are installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [name for name in sys.modules if name.startswith("stranger_")]:
        del sys.modules[name]


def config(method, **changes) -> Train:
    return Train(method=method, data="toy_xys", **changes)


def test_a_file_is_known_by_the_name_of_its_class(mine):
    (plugin,) = catalog.add_plugin(mine)
    assert (plugin.package, plugin.name) == ("unweave.methods", "scaled_vae")
    method = method_named("scaled_vae")(scale=3)
    assert catalog.name_of(method) == "scaled_vae"
    assert from_json(to_json(config(method))).method == method
    assert summary_of(method) == "Scaled VAE: the evidence bound times a number, arXiv:1312.6114."
    assert "scaled_vae" in catalog.names("unweave.methods")
    assert "scaled_vae" not in catalog.own_names("unweave.methods")


@pytest.mark.parametrize("text", ["{}", "{}:ScaledVAE"])
def test_a_method_is_given_by_its_file(mine, text):
    assert name_in_file(text.format(mine)) == "scaled_vae"


def test_fields_whose_types_are_text_are_read_as_others_are(mine):
    """As `from __future__ import annotations` makes them."""
    name = name_in_file(str(mine))
    for kind in (method_named(name), method_named(f"semi_supervised+{name}")):
        method = kind(warm_up="0:1:100")
        assert method.warm_up.at(50) == 0.5
        assert from_json(to_json(config(method))).method == method


def test_metrics_data_sets_and_architectures_are_known_by_their_files(tmp_path):
    for name, content in {"row_count": METRIC, "stripes": DATA, "narrow": NETWORK}.items():
        catalog.add_plugin(write(tmp_path, f"{name}.py", content))
    assert metrics.row_count(np.zeros((7, 2)), np.arange(7)[:, None]).value == 7
    assert "row_count" in choose_metrics("all")
    assert uw.load_data("stripes").factor_names == ("period", "shift")
    assert architecture_named("narrow")().decoder(3, (1, 4, 4)) is not None


def test_one_file_may_hold_several(tmp_path):
    both = METHOD.replace("ScaledVAE", "FirstVAE") + METHOD.split("\n\n\n")[1].replace(
        "ScaledVAE", "SecondVAE"
    )
    path = write(tmp_path, "both.py", both)
    assert {plugin.name for plugin in catalog.add_plugin(path)} == {"first_vae", "second_vae"}
    assert name_in_file(f"{path}:SecondVAE") == "second_vae"
    with pytest.raises(ConfigError, match=r"one method in .*found 2; choose one: .*:First"):
        name_in_file(str(path))
    with pytest.raises(ConfigError, match="Did you mean 'SecondVAE'"):
        name_in_file(f"{path}:Second")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("import nothing_of_that_name\n", "cannot be run: ModuleNotFoundError: No module named"),
        ("def f(:\n", "cannot be run: SyntaxError"),
        ("raise SystemExit('gone')\n", "cannot be run: SystemExit: gone"),
        ("x = 1\n", "offers nothing: expected a class that derives from Method"),
        (METHOD.replace("def loss", "def lose"), "ScaledVAE does not define loss"),
        (METRIC.replace("RANGE", "RANGES"), "is no metric: it does not define RANGE"),
        (METRIC.replace("def row_count", "def count"), "is no metric: it has no function 'broken'"),
    ],
)
def test_a_file_that_is_no_plugin_says_why(tmp_path, content, message):
    path = write(tmp_path, "broken.py", content)
    with pytest.raises(ConfigError, match=message):
        catalog.add_plugin(path)
    assert not plugins._given


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere/mine.py", "cannot read the plugin"),
        ("mine.txt", "expected a Python file"),
        (3, "a plugin is the path"),
        (int, "int is neither a Method nor an Architecture"),
    ],
)
def test_what_is_no_file_is_refused(source, message):
    with pytest.raises(ConfigError, match=message):
        catalog.add_plugin(source)


def test_a_file_that_changed_takes_the_place_of_what_it_was(mine):
    catalog.add_plugin(mine)
    first = method_named("scaled_vae")
    assert catalog.add_plugin(mine)[0].value() is first, "the same content is not run again"
    write(mine.parent, "mine.py", METHOD.replace("2.0", "5.0"))
    catalog.add_plugin(mine)
    assert method_named("scaled_vae")().scale == 5


def test_other_code_is_another_run_and_a_version_is_not(mine, site):
    catalog.add_plugin(mine)
    before = config(method_named("scaled_vae")()).run_name
    assert before.startswith("scaled_vae-toy_xys-")
    write(mine.parent, "mine.py", METHOD + "# changed\n")
    catalog.add_plugin(mine)
    assert config(method_named("scaled_vae")()).run_name != before


def test_a_class_that_is_handed_over_is_known(monkeypatch):
    @dataclass(frozen=True, kw_only=True)
    class NotebookVAE(uw.VAE):
        """A VAE of a notebook."""

    monkeypatch.setattr(NotebookVAE, "__module__", "__main__")
    settings = config(NotebookVAE(latent_dim=3))
    assert settings.run_name.startswith("notebook_vae-")
    assert from_json(to_json(settings)) == settings
    assert summary_of(NotebookVAE()) == "A VAE of a notebook."
    origin = catalog.origin("unweave.methods", "notebook_vae")
    assert origin.object.startswith("__main__:")
    with pytest.raises(ConfigError, match="put it into a file of its own"):
        plugins.carried([("unweave.methods", "notebook_vae")])
    assert plugins.carried([]) == (), "what is not used need not be carried"


def test_a_cell_that_is_run_again_replaces_its_class():
    def cell(size: int) -> type:
        @dataclass(frozen=True, kw_only=True)
        class CellVAE(uw.VAE):
            extra: int = size

        return CellVAE

    for size in (1, 2):
        config(cell(size)())
        assert method_named("cell_vae")().extra == size


def test_the_twin_of_a_plugin_is_found_by_both_names(mine):
    catalog.add_plugin(mine)
    twin = method_named("semi_supervised+scaled_vae")(labels=20)
    assert from_json(to_json(config(twin))).method == twin
    assert type(uw.SemiSupervised(method_named("scaled_vae")())) is type(twin)


@pytest.mark.parametrize("how", ["file", "class", "installed"])
def test_a_name_that_is_taken_is_an_error_that_names_both(how, tmp_path, site, capsys):
    content = METHOD.replace("ScaledVAE", "BetaVAE")
    if how == "file":
        path = write(tmp_path, "beta_vae.py", content)
        with pytest.raises(
            ConfigError, match=r"unweave itself and .*beta_vae.py both have a method"
        ):
            catalog.add_plugin(path)
        assert method_named("beta_vae") is uw.BetaVAE
    elif how == "class":
        own = dataclass(frozen=True, kw_only=True)(type("BetaVAE", (uw.VAE,), {}))
        with pytest.raises(ConfigError, match=r"unweave itself and .* both have a method"):
            config(own())
    else:
        write(site, "stranger_beta.py", content)
        install(site, "stranger-beta", "1.2", {"methods": {"beta_vae": "stranger_beta"}})
        with pytest.raises(ConfigError, match=r"unweave itself and stranger-beta 1.2 both have"):
            method_named("beta_vae")
        assert main(["list", "methods"]) == 0
        shown = capsys.readouterr()
        assert "beta_tcvae" in shown.out
        assert shown.err.count("\n") == 1
        assert "unweave itself and stranger-beta 1.2" in shown.err


def test_two_files_with_one_name_are_an_error_that_names_both(mine, tmp_path):
    catalog.add_plugin(mine)
    other = write(tmp_path / "other", "theirs.py", METHOD + "# other\n")
    with pytest.raises(ConfigError, match=r"mine.py and .*theirs.py both have a method"):
        catalog.add_plugin(other)
    same = write(tmp_path / "copy", "mine.py", METHOD)
    assert catalog.add_plugin(same), "a copy is no other plugin"


def test_an_installed_class_is_called_as_its_entry_point_says(site):
    write(site, "stranger_methods.py", METHOD)
    install(site, "stranger-1", "0.3", {"methods": {"twofold": "stranger_methods:ScaledVAE"}})
    from stranger_methods import ScaledVAE

    assert method_named("twofold") is ScaledVAE
    assert catalog.name_of(ScaledVAE()) == "twofold"
    assert config(ScaledVAE()).run_name.startswith("twofold-")
    assert plugins._given == {}, "what is installed need not be given"
    origin = catalog.origin("unweave.methods", "twofold")
    assert (origin.distribution, origin.version) == ("stranger-1", "0.3")
    assert plugins.carried([("unweave.methods", "twofold")]) == ()


BROKEN = {
    "fails": ("import nothing_of_that_name\n", "ModuleNotFoundError"),
    "empty": ("x = 1\n", "expected one Method in stranger_empty, found 0"),
    "unmakeable": (METHOD.replace(": float = 2.0", ": float"), "cannot be made"),
}


@pytest.mark.parametrize("kind", sorted(BROKEN))
def test_a_broken_plugin_is_warned_of_in_a_line_and_hides_nothing(kind, site, capsys):
    content, message = BROKEN[kind]
    write(site, f"stranger_{kind}.py", content)
    install(site, "stranger-b", "2.0", {"methods": {"bad_vae": f"stranger_{kind}"}})
    assert main(["list", "methods"]) == 0
    shown = capsys.readouterr()
    assert all(name in shown.out for name in catalog.own_names("unweave.methods"))
    assert "bad_vae" not in shown.out
    assert shown.err.count("\n") == 1
    assert "bad_vae" in shown.err
    assert message in shown.err


def test_a_broken_plugin_that_is_asked_for_is_an_error_of_one_line(site, capsys):
    write(site, "stranger_fails.py", "import nothing_of_that_name\n")
    install(site, "stranger-b", "2.0", {"methods": {"bad_vae": "stranger_fails"}})
    assert main(["train", "bad_vae", "--data", "toy_xys"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "method 'bad_vae' of stranger-b 2.0 cannot be imported" in said


def test_a_broken_metric_is_left_out_of_all(site):
    write(site, "stranger_metric.py", METRIC.replace("RANGE", "RANGES"))
    install(site, "stranger-m", "2.0", {"metrics": {"row_count": "stranger_metric"}})
    with pytest.warns(catalog.PluginWarning, match="stranger-m 2.0: .*does not define RANGE"):
        assert choose_metrics("all") == list(catalog.own_names("unweave.metrics"))
    with pytest.raises(ConfigError, match="does not define RANGE"):
        catalog.load("unweave.metrics", "row_count", "metric")


def test_plugins_reach_a_process_that_has_not_got_the_file(mine, tmp_path):
    catalog.add_plugin(mine)
    sent = pickle.dumps(plugins.carried([]))
    write(tmp_path, "sent", "")
    (tmp_path / "sent").write_bytes(sent)
    mine.unlink()
    code = (
        "import pickle, pathlib, sys\n"
        "from unweave.catalog import plugins\n"
        "plugins.take_over(pickle.loads(pathlib.Path(sys.argv[1]).read_bytes()))\n"
        "from unweave.methods import method_named\n"
        "print(method_named('scaled_vae')(scale=7).scale)\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "sent")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"


@pytest.mark.parametrize("place", ["stranger_alone", "stranger_pack.inner"])
def test_a_class_that_was_imported_reaches_other_processes(place, site):
    write(site, f"{place.replace('.', '/')}.py", METHOD)
    write(site, "stranger_pack/__init__.py", "")
    kind = importlib.import_module(place).ScaledVAE
    twin = uw.SemiSupervised(kind(scale=3), labels=20)
    settings = config(twin)
    sent = plugins.carried([("unweave.methods", "scaled_vae")])
    assert len(sent) == 1
    plugins._given.clear()
    plugins.take_over(pickle.loads(pickle.dumps(sent)))
    again = from_json(to_json(settings)).method
    assert (again.scale, again.labels) == (3, 20)
    assert catalog.name_of(again) == "semi_supervised+scaled_vae"


def test_a_module_offers_what_a_file_of_it_would(site):
    write(site, "stranger_pack/row_count.py", METRIC)
    write(site, "stranger_pack/__init__.py", "")
    catalog.add_plugin(importlib.import_module("stranger_pack.row_count"))
    sent = plugins.carried([("unweave.metrics", "row_count")])
    plugins._given.clear()
    plugins.take_over(sent)
    assert "row_count" in catalog.usable("unweave.metrics")


def test_the_list_says_where_a_plugin_is_from(mine, site, capsys):
    write(site, "stranger_rows.py", METRIC)
    install(site, "stranger-m", "2.0", {"metrics": {"row_count": "stranger_rows"}})
    assert main(["list", "metrics"]) == 0
    assert "row_count (stranger-m 2.0)" in capsys.readouterr().out
    assert main(["list", "methods", "--plugin", str(mine)]) == 0
    assert "scaled_vae (mine.py)" in capsys.readouterr().out


def test_the_command_explains_the_settings_of_a_plugin(mine, capsys):
    with pytest.raises(SystemExit):
        main(["train", str(mine), "--help"])
    shown = capsys.readouterr().out
    assert "--method.scale FLOAT" in shown
    assert "What the bound is multiplied with" in shown
    assert "A method of a stranger" in shown


def test_settings_of_a_plugin_are_settings_like_others(mine):
    catalog.add_plugin(mine)
    method = method_named("scaled_vae")()
    assert config(replace(method, scale=9)).run_name != config(method).run_name
    with pytest.raises(ConfigError, match=r"method: no setting 'scal'. Did you mean 'scale'"):
        from_json({"method": {"name": "scaled_vae", "scal": 1}, "data": "toy_xys"})
