"""A study's page shows every run where its numbers are; compared runs move together by factor."""

import json
import shutil

import pytest
from explored import TOKEN, Served, assert_same, canvas, decoded

from unweave.explorer.server import in_background
from unweave.runs.run import load

RESULTS = {"one-s0": (0.2, -50), "one-s1": (0.4, -40), "two-s0": (0.6, -80)}


@pytest.fixture(scope="module")
def studied(runs, tmp_path_factory):
    """A study of two arms and two seeds, of which one run is missing, and what chose among them."""
    root = tmp_path_factory.mktemp("studied") / "runs"
    folder = root / "studies" / "grid"
    folder.mkdir(parents=True)
    entries = []
    for run in (*RESULTS, "two-s1"):
        arm, seed = run.split("-s")
        beta = {"one": 1, "two": 4}[arm]
        entries.append(
            {
                "run": run,
                "method": "beta_vae",
                "seed": int(seed),
                "data": "toy_xys",
                "varied": {"method.beta": beta},
                "result": f"{run}/results/key.json",
            }
        )
        if run in RESULTS:
            shutil.copytree(runs / "vae-s0", root / run)
            (root / run / "results").mkdir(exist_ok=True)
            mig, elbo = RESULTS[run]
            result = {"scores": {"mig": mig}, "terms": {"elbo": elbo}}
            (root / run / "results" / "key.json").write_text(json.dumps(result))
    study = {"name": "grid", "title": "Two <i>betas</i>", "metrics": ["mig"], "runs": entries}
    (folder / "study.json").write_text(json.dumps(study))
    (folder / "status.json").write_text(json.dumps({"state": "done", "total": 4, "done": 3}))
    chosen = {"key": {}, "scores": {"udr": {"one-s0": 0.9, "one-s1": 0.1, "elsewhere": 1.0}}}
    (folder / "selection.json").write_text(json.dumps(chosen))
    with in_background(root, TOKEN) as (port, _):
        yield Served(root, port)


def test_a_study_is_read_from_its_files(studied):
    found = studied.json("/studies/grid.json")
    rows = {row["run"]: row for row in found["runs"]}
    assert (
        rows["one-s1"] | {"arm": "beta_vae, beta 1", "seed": 1, "state": "done"} == rows["one-s1"]
    )
    assert rows["two-s0"]["scores"] == {"mig": 0.6}
    assert (rows["two-s1"]["state"], rows["two-s1"]["is_here"]) == ("missing", False)
    assert rows["one-s0"]["chosen_by"] == {"udr": 0.9}
    assert studied.ask("/studies/none.json")[0] == 404
    assert studied.ask("/studies/..%2f.json")[0] in (400, 404)


def test_results_outside_are_not_read(studied, tmp_path):
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"scores": {"mig": 0.999}}))
    file = studied.root / "two-s0" / "results" / "key.json"
    kept = file.read_text()
    file.unlink()
    file.symlink_to(secret)
    try:
        rows = {row["run"]: row for row in studied.json("/studies/grid.json")["runs"]}
        assert rows["two-s0"]["scores"] == {}
    finally:
        file.unlink()
        file.write_text(kept)


def test_every_dot_of_a_study_is_a_run_that_it_opens(studied, page):
    page.goto(f"{studied.address}/studies/grid?token={TOKEN}")
    page.wait_for_selector("html[data-ready]")
    assert page.locator("h1").inner_text().startswith("Two <i>betas</i>")
    dots = page.locator("section").first.locator(".run-dot")
    assert dots.count() == 3
    places = [float(dot.get_attribute("cx")) for dot in dots.all()]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1])  # .2, .4, .6
    page.get_by_text("3 done, 1 missing").wait_for()
    medians = page.locator("tbody tr td:last-child").all_inner_texts()
    assert medians == ["0.300", "0.600"]
    assert page.locator(".medians").count() == 1
    page.get_by_text("place 2 of 2").wait_for()  # what udr chose has the lesser mig
    dots.nth(1).click()
    page.wait_for_url("**/runs/one-s1")


def test_compared_runs_move_together_by_factor(visit, served, runs):
    page = visit("/compare?run=vae-s0&run=study/vae-s1")
    page.locator(".columns canvas.strip").nth(5).wait_for()
    aligned = {
        name: {one["factor"]: one for one in served.json(f"/runs/{name}/alignment.json")["factors"]}
        for name in ("vae-s0", "study/vae-s1")
    }
    shared = [factor for factor in aligned["vae-s0"] if factor in aligned["study/vae-s1"]]
    columns = page.locator(".columns > div")
    lines = columns.nth(0).locator(".latent").evaluate_all("all => all.map(o => o.dataset.latent)")
    order = list(dict.fromkeys(str(one["latent"]) for one in aligned["vae-s0"].values()))
    assert lines[: len(order)] == order  # what carries factors comes first, in their order
    assert shared, "the two tiny runs share no factor: choose others"
    factor = shared[0]
    first, second = (aligned[name][factor] for name in aligned)
    leader = columns.nth(0).locator(f"input[type=range][data-latent='{first['latent']}']")
    follower = columns.nth(1).locator(f"input[type=range][data-latent='{second['latent']}']")
    leader.press("End")
    page.wait_for_timeout(500)
    end = "max" if first["sign"] == second["sign"] else "min"
    reached = float(follower.input_value())
    assert reached == pytest.approx(float(follower.get_attribute(end)), abs=0.03)
    run = load(runs / "study" / "vae-s1")
    code = run.encode(run.data.images([int(page.get_by_label("From row").input_value())]))[0]
    code[second["latent"]] = reached
    assert_same(canvas(page, ".columns > div:nth-child(2) .decoded"), decoded(run, code))
    page.get_by_label("Move the latents of one factor together").uncheck()
    still = follower.input_value()
    before = leader.input_value()
    leader.press("Home")
    page.wait_for_timeout(300)
    assert leader.input_value() != before
    assert follower.input_value() == still
