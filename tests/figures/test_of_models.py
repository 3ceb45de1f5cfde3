"""Figures of models: what is on them, where, in which colours; not how they look."""

import ast
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent.parent / "views"))
import known_models
from unweave import figures, views
from unweave.cli import main
from unweave.errors import ConfigError, DataError
from unweave.figures.collection import FIGURES
from unweave.figures.pictures import GAP, MARK
from unweave.figures.style import PALETTE, QUIET
from unweave.methods.factor_vae import FactorVAE
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run, load
from unweave.training import loop
from unweave.watchers import Pictures


@pytest.fixture(scope="module")
def separated(toy):
    return known_models.separated(toy, latent_names={0: "x position"})


@pytest.fixture(scope="module")
def codes(separated):
    return views.sample_codes(separated)


@pytest.fixture(scope="module")
def run(toy, tmp_path_factory) -> Run:
    method = FactorVAE(latent_dim=3, discriminator_width=8)
    config = Train(method=method, data="toy_xys", steps=4, batch_size=8)
    folder = tmp_path_factory.mktemp("figures") / "run"
    return loop.start(config, toy, folder, Machine(evaluations=4), [Pictures()])


def cell(grid, line, column):
    """Return the pixels of one image of a grid, as grey values at the image's own size."""
    x, y = grid.place(line, column)
    height, width = grid.cell
    page = np.asarray(grid.picture)
    return page[y : y + height : grid.zoom, x : x + width : grid.zoom, 0] / 255


def texts(drawing) -> str:
    """Return the words of a drawing, as its SVG has them."""
    return drawing.content("svg").decode()


def test_the_middle_of_a_traversal_is_what_the_start_decodes_to(separated, toy, codes):
    start = toy.images([700])[0]
    every = [0, 1, 2, 3]
    grid = figures.traversals(
        separated, start, ranges="around", steps=5, codes=codes, latents=every
    )
    decoded = separated.decode(separated.encode(start[None]))[0, 0]
    for line in range(4):
        np.testing.assert_array_equal(cell(grid, line, 2), decoded)
    assert grid.marks == [(line, 2) for line in range(4)]
    assert [label.split()[0] for label in grid.row_labels] == ["z0", "z1", "z2", "z3"]
    assert grid.row_labels[0].startswith("z0 x position")
    assert grid.row_labels[3].endswith("0.00 nats")


def test_a_frame_marks_the_start_and_covers_no_pixel(separated, codes):
    marked = figures.traversals(separated, "prior", steps=3, codes=codes)
    page = np.asarray(marked.picture)
    x, y = marked.place(0, 1)
    assert tuple(page[y - 1, x + 5]) == MARK
    plain = separated.decode(np.zeros((1, 4)))[0, 0]
    np.testing.assert_array_equal(cell(marked, 0, 1), plain)


@pytest.mark.parametrize("suffix", ["png", "webp", "gif", "svg", "pdf"])
def test_grids_are_written_as_pixels_and_as_vectors(separated, codes, tmp_path, suffix):
    grid = figures.traversals(separated, steps=2, codes=codes)
    path = tmp_path / f"grid.{suffix}"
    grid.save(path)
    if suffix == "svg":
        text = path.read_text(encoding="utf-8")
        assert "z0 x position" in text
        assert "<image" in text
    elif suffix == "pdf":
        assert path.read_bytes().startswith(b"%PDF")
    else:
        with Image.open(path) as picture:
            assert picture.size == grid.size
    with pytest.raises(ConfigError, match="bmp"):
        grid.save(tmp_path / "grid.bmp")


def test_a_drawing_is_the_same_bytes_each_time(separated, codes):
    first = figures.heat_map(separated, codes=codes)
    second = figures.heat_map(separated, codes=codes)
    for format in ("svg", "pdf", "png"):
        assert first.content(format) == second.content(format)


def test_swaps_show_contents_on_the_left_and_styles_above(separated):
    grid = figures.swap_grid(separated, 2, 3)
    view = views.swap_grid(separated, 2, 3)
    assert grid.images.shape[:2] == (3, 4)
    assert cell(grid, 0, 0).min() == 1
    np.testing.assert_array_equal(cell(grid, 2, 0), view.content_images[1, 0])
    np.testing.assert_array_equal(cell(grid, 0, 3), view.style_images[2, 0])
    np.testing.assert_array_equal(cell(grid, 2, 3), view.images[1, 2, 0])
    assert grid.place(1, 1)[0] - grid.place(1, 0)[0] > grid.cell[1] + GAP


def test_mixes_are_laid_out_as_swaps_are(tiny_run):
    run = tiny_run("ml_vae")
    grid, view = figures.mixing_grid(run, 2, 3), views.mixing_grid(run, 2, 3)
    one_step = 1 / 255  # of a byte, in which pictures are drawn
    np.testing.assert_allclose(cell(grid, 1, 0), view.content_images[0, 0], atol=one_step)
    np.testing.assert_allclose(cell(grid, 1, 3), view.images[0, 2, 0], atol=one_step)
    np.testing.assert_allclose(cell(grid, 0, 3), view.style_images[2, 0], atol=one_step)
    assert "drawn from the prior" in grid.title


def test_an_animation_moves_every_latent_to_and_fro(separated, codes):
    film = figures.animated_traversals(separated, steps=5, codes=codes, columns=3)
    assert len(film.frames) == 8
    assert film.frames[3].tobytes() == film.frames[5].tobytes() != film.frames[4].tobytes()
    for format in ("gif", "webp"):
        with Image.open(io.BytesIO(film.content(format))) as picture:
            assert picture.n_frames == 8
            assert picture.size == film.size
    with pytest.raises(ConfigError, match="gif or webp"):
        film.save("film.png")


def test_the_training_is_shown_by_its_own_pictures(run):
    film = figures.training_animation(run)
    assert len(film.frames) == 4 + 2
    sheet = figures.training_traversals(run, count=3)
    assert sheet.images.shape[:2] == (2, 2)
    with Image.open(run.path / "figures/training/traversals-0000004.png") as last:
        pixels = np.asarray(last.convert("RGB"))[:, :, 0] / 255
    np.testing.assert_allclose(cell(sheet, 1, 0)[-len(pixels) :, -pixels.shape[1] :], pixels)


def test_bars_of_kl_are_sorted_and_dead_ones_grey(separated, codes):
    drawing = figures.kl_per_dimension(separated, codes)
    (axes,) = drawing.axes
    lengths = [bar.get_width() for bar in axes.patches]
    assert lengths == sorted(lengths, reverse=True)
    colors = [to_hex(bar.get_facecolor()).upper() for bar in axes.patches]
    assert colors == [PALETTE[0].upper()] * 3 + [QUIET]
    assert axes.get_yticklabels()[0].get_text() == "z0 x position"
    assert "nats" in axes.get_xlabel()


def test_curves_have_a_plot_for_every_term_of_every_player(run):
    drawing = figures.curves(run)
    titles = [axes.get_title(loc="left") for axes in drawing.axes]
    expected = [f"{c.name.replace('_', ' ')} ({c.player})" for c in _curves(run)]
    assert titles == expected
    assert any(title.endswith("(discriminator)") for title in titles)
    colors = {axes.lines[0].get_color() for axes in drawing.axes}
    assert colors <= set(PALETTE)
    assert len(colors) == 3  # two players and the evaluations


def _curves(run):
    return views.curves(run.folder.record()).curves


def test_kl_over_time_has_a_line_per_latent(run):
    (axes,) = figures.kl_over_time(run).axes
    lines = [line for line in axes.lines if len(line.get_xdata()) == 4]
    assert len(lines) == 3
    final = sorted(float(line.get_ydata()[-1]) for line in lines)
    expected = sorted(views.kl_over_time(run.folder.record()).kl[-1])
    np.testing.assert_allclose(final, expected)


@pytest.mark.parametrize("evaluations", [1, 3])
def test_rates_of_layers_are_bars_that_add_up(evaluations):
    rates = {"rate_0_of_1x1": 0.5, "rate_1_of_4x4": 3.0, "rate_2_of_4x4": 0.0}
    record = [{"step": 9 + i, "kind": "diagnostics"} | rates for i in range(evaluations)]
    drawing = figures.layer_rates(record)
    last, over_time = drawing.axes
    assert [bar.get_width() for bar in last.patches] == [0.5, 3, 0]
    assert [t.get_text() for t in last.get_yticklabels()] == ["0 (1×1)", "1 (4×4)", "2 (4×4)"]
    assert "3.5 nats in all" in last.get_title(loc="left")
    assert over_time.get_ylim()[1] >= 3.5
    with pytest.raises(DataError, match="no rates of layers"):
        figures.layer_rates([{"step": 0, "kind": "diagnostics", "kl": 1.0}])


@pytest.mark.parametrize("kind", ["mi", "dci"])
def test_a_heat_map_has_a_line_per_factor_and_says_its_numbers(separated, codes, kind):
    drawing = figures.heat_map(separated, kind, codes)
    axes = drawing.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "y", "side"]
    assert axes.get_xticklabels()[0].get_text() == "z0 x position"
    shown = np.array([float(text.get_text()) for text in axes.texts]).reshape(3, 4)
    expected = views.heat_map(separated, kind, codes).values
    np.testing.assert_allclose(shown, expected, atol=0.005)
    assert axes.images[0].get_cmap().name == "cividis"
    # White on dark and black on light.
    for text, value in zip(axes.texts, expected.flat, strict=True):
        assert text.get_color() == ("white" if value < 0.5 else "black")


def test_the_response_plot_has_a_line_per_living_latent(separated, codes):
    drawing = figures.latent_response(separated, codes)
    assert len(drawing.axes) == 3 * 2  # a map and one line plot each; z3 is dead
    labels = [axes.get_ylabel() for axes in drawing.axes[::2]]
    assert labels == ["z0 x position", "z1", "z2"]
    assert drawing.axes[0].get_title(loc="left") == "x →, y ↓"
    assert drawing.axes[1].get_title(loc="left") == "side"
    assert drawing.axes[0].images[0].get_array().shape == (16, 16)
    ticks = [label.get_text() for label in drawing.axes[-1].get_xticklabels()]
    assert ticks == ["5", "8", "11", "14"]


def test_a_scatter_has_a_point_per_image(separated, codes):
    drawing = figures.scatter(separated, 0, "side", codes)
    (axes,) = drawing.axes
    assert len(axes.collections[0].get_offsets()) == 1024
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("side", "z0 x position")


def test_words_are_words_whatever_they_hold(toy, codes):
    odd = known_models.separated(toy, latent_names={0: "$x_{1}$ <b>"})
    assert "$x_{1}$ &lt;b&gt;" in texts(figures.kl_per_dimension(odd, codes))


def test_drawing_all_says_why_some_are_missing(separated, tmp_path):
    drawn = figures.draw(separated, tmp_path / "new", animation="webp", steps=3)
    assert set(drawn.paths) | set(drawn.reasons) == set(FIGURES)
    without_record = {"curves", "kl_over_time", "layer_rates"}
    without_record |= {"training_traversals", "training_animated"}
    assert set(drawn.reasons) == without_record | {"mixes"}
    assert drawn.reasons["mixes"] == "separated has no dimensions of style, so nothing is mixed"
    assert all(path.stat().st_size > 0 for path in drawn.paths.values())
    assert drawn.paths["traversals_animated"].suffix == ".webp"
    blind = known_models.separated(separated.data, decode=None, swap=None)
    drawn = figures.draw(blind, tmp_path, only=["traversals", "swaps", "reconstructions"])
    assert not drawn.paths
    with pytest.raises(ConfigError, match="'curves'"):
        figures.draw(separated, tmp_path, only=["curve"])


def test_the_command_draws_what_is_named(run, tmp_path, capsys):
    words = ["figures", str(run.path), "--only", "traversals,curves,swaps", "--format", "svg"]
    assert main([*words, "--ranges", "prior", "--row", "3", "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.svg", "traversals.svg"]
    assert "no swaps: factor_vae does not tell content from style" in capsys.readouterr().out
    assert "quantiles of the prior" in (tmp_path / "traversals.svg").read_text(encoding="utf-8")


def test_a_run_shows_itself_in_a_notebook(run):
    again = load(run.path)
    page = again._repr_html_()
    assert "factor_vae" in page
    assert "data:image/png;base64," in page  # the newest picture of the training
    again.folder.write_scores({"<mig>": {"value": 0.5, "protocol": "p"}})
    assert "&lt;mig&gt;" in again._repr_html_()
    again.folder.scores_file.unlink()
    memory = Run(run.config, run.summary, run.nets, step=4, data=run.data)
    assert "factor_vae" in memory._repr_html_()
    with pytest.raises(DataError, match="record"):
        figures.curves(memory)


def test_plain_training_does_not_wait_for_matplotlib():
    """The watchers draw with `figures`; only plots may import matplotlib when they are imported."""
    for path in Path(figures.__file__).parent.glob("*.py"):
        top = ast.parse(path.read_text(encoding="utf-8")).body
        names = {a.name for node in top if isinstance(node, ast.Import) for a in node.names}
        names |= {node.module for node in top if isinstance(node, ast.ImportFrom)}
        heavy = {"matplotlib", "unweave.figures.style", "unweave.figures.plots"}
        uses = any(name in heavy or name.startswith("matplotlib.") for name in names)
        if path.stem not in ("style", "plots", "collection", "comparisons", "baselines"):
            assert not uses, path.name
