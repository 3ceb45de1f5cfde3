"""Papers are found in docstrings, and BibTeX can read them."""

import re

from unweave import catalog
from unweave.report.references import reference_in, references, to_bibtex

DOC = """CoolVAE: cools.

A. Ångström, B. Bee & C. Dee, "A β-VAE for {all}", ICML 2020, first as "Cool", arXiv:2001.00001. See
also D. Eff, "Other", 1999, arXiv:9901.00001.
"""


def test_a_citation_is_read_off_a_docstring():
    found = reference_in(DOC)
    assert (found.authors, found.title) == ("A. Ångström, B. Bee & C. Dee", "A β-VAE for {all}")
    assert (found.venue, found.year, found.number) == ("ICML 2020", "2020", "2001.00001")
    assert found.key == "angstrom2020vae"
    assert found.to_bibtex() == "\n".join(
        [
            "@inproceedings{angstrom2020vae,",
            "  author = {A. Ångström and B. Bee and C. Dee},",
            r"  title = {{A $\beta$-VAE for \{all\}}},",
            "  year = {2020},",
            "  booktitle = {ICML 2020},",
            "  eprint = {2001.00001},",
            "  archiveprefix = {arXiv},",
            "}",
        ]
    )


def test_what_cites_nothing_has_no_reference():
    assert reference_in("Pixels: the image itself is the code.") is None
    assert reference_in(None) is None


def test_a_method_around_another_has_two_papers_and_metrics_borrow_titles():
    found = references(["semi_supervised+beta_tcvae"], ["mig", "explicitness", "no_such_metric"])
    assert [one.number for one in found] == ["1905.01258", "1802.04942", "1802.05312"]
    assert found[2].title == "Learning Deep Disentangled Embeddings with the F-Statistic Loss"


def test_what_methods_and_metrics_cite_is_whole():
    """Every entry of the catalog that names an archive's number is cited with title and year."""
    for package, kind in (("unweave.methods", "method"), ("unweave.metrics", "metric")):
        for name in catalog.own_names(package):
            doc = catalog.documented(package, name, kind).__doc__ or ""
            cites = re.search(r"[A-Z]\. [^.]*, (?:\"|[A-Z]+ 20\d\d, arXiv:)", " ".join(doc.split()))
            found = references(*(([name], []) if kind == "method" else ([], [name])))
            if cites is None:
                continue
            assert found, f"{name} cites a paper that is not read"
            assert found[0].title, f"{name}: give the paper's title in its docstring"


def test_bibtex_has_one_entry_for_each_paper_and_closes_its_braces():
    found = references(catalog.own_names("unweave.methods"), catalog.own_names("unweave.metrics"))
    text = to_bibtex(found)
    keys = re.findall(r"^@\w+\{(\S+),$", text, flags=re.MULTILINE)
    assert len(keys) == len(found) == len({(one.archive, one.number) for one in found})
    assert len(set(keys)) == len(keys)
    for entry in text.split("\n\n"):
        assert entry.count("{") - entry.count(r"\{") == entry.count("}") - entry.count(r"\}")
