"""The documentation says what is there."""

import importlib.util
import re
from pathlib import Path

import pytest

from unweave import catalog
from unweave.cli import VERBS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_what_is_derived_from_the_catalog_is_up_to_date():
    spec = importlib.util.spec_from_file_location("make_tables", ROOT / "docs" / "make_tables.py")
    make_tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_tables)
    for file in make_tables.DERIVED:
        assert make_tables.renewed(file) == file.read_text("utf-8"), "run docs/make_tables.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        # Pages that the site generates are there once it is built; `make docs` follows such links.
        if not target.startswith(("http:", "https:", "generated/")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_metric_and_data_set_is_documented():
    metrics = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    data = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    assert [
        name for name in catalog.own_names("unweave.metrics") if f"`{name}`" not in metrics
    ] == []
    assert [name for name in catalog.own_names("unweave.data") if f"`{name}" not in data] == []


def test_commands_in_the_readme_name_verbs_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    used = set(re.findall(r"^unweave (\w+)", text, flags=re.MULTILINE))
    assert used
    assert used <= set(VERBS)
