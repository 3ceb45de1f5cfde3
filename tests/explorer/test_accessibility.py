"""axe-core finds nothing on any page, light or dark. axe-core 4.14.0 (MPL-2.0) lies in axe/."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from explored import TOKEN, WAIT

AXE = Path(__file__).parent / "axe" / "axe.min.js"
FIND = """async () => (await axe.run(document)).violations.flatMap(
    ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`)
)"""


@pytest.fixture(scope="module")
def context(browser) -> Iterator[Any]:
    """A window whose pages may be looked into: their own policy would forbid axe."""
    context = browser.new_context(bypass_csp=True, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(WAIT)
    yield context
    context.close()


@pytest.fixture(scope="module")
def study(served) -> Iterator[str]:
    folder = served.root / "studies" / "axe"
    folder.mkdir(parents=True)
    result = served.root / "vae-s0" / "results"
    result.mkdir(exist_ok=True)
    (result / "axe.json").write_text(json.dumps({"scores": {"mig": 0.5}, "terms": {"elbo": -9.0}}))
    entry = {"run": "vae-s0", "method": "vae", "seed": 0, "data": "toy_xys", "varied": {}}
    entry["result"] = "vae-s0/results/axe.json"
    content = {"name": "axe", "title": "Axe", "metrics": ["mig"], "runs": [entry]}
    (folder / "study.json").write_text(json.dumps(content))
    (folder / "status.json").write_text(json.dumps({"state": "done", "total": 1, "done": 1}))
    yield "/studies/axe"
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    folder.parent.rmdir()


COMPARED = "/compare?run=vae-s0&run=study/vae-s1"
OPEN_ALL = "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"


@pytest.mark.parametrize("path", ["/", "/runs/vae-s0", COMPARED, "study", "file"])
def test_axe_finds_nothing(context, served, exported, study, path):
    page = context.new_page()
    if path == "file":
        page.goto(exported.as_uri())
    else:
        path = study if path == "study" else path
        page.goto(f"{served.address}{path}{'&' if '?' in path else '?'}token={TOKEN}")
    page.wait_for_selector("html[data-ready]")
    page.evaluate(OPEN_ALL)
    cell = page.locator(".heat button").first
    if cell.count():
        cell.click()
        page.locator(".scatter circle").first.wait_for()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FIND) == []
    # And it would find something: an image without words for it.
    page.evaluate("() => document.querySelector('main').append(document.createElement('img'))")
    assert any(found.startswith("image-alt") for found in page.evaluate(FIND))
    page.close()
