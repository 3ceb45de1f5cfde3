"""The papers of methods and metrics, as their docstrings cite them, for BibTeX."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from unweave import catalog
from unweave.errors import UnweaveError
from unweave.pages.latex import latex_text

PLACE = re.compile(r"(arXiv|openreview|doi):([\w./-]*\w)")
AUTHORS = r"((?:[A-Z]\. ?)+(?:[^\".:;()]|(?<=[A-Z])\.|(?<=et al)\.){1,90}?)"
WITH_TITLE = re.compile(AUTHORS + r', "([^"]+)",? (.{0,80}?)' + PLACE.pattern)
WITHOUT_TITLE = re.compile(AUTHORS + r", ([^\".:;()]{0,40}?)" + PLACE.pattern)
YEAR = re.compile(r"(?:19|20)\d\d")
TITLES = {
    "1605.06336": "Unsupervised Feature Extraction by Time-Contrastive Learning and Nonlinear ICA",
    "1811.00007": "Robustly Disentangled Causal Mechanisms: Validating Deep Representations for "
    "Interventional Robustness",
    "1811.12359": "Challenging Common Assumptions in the Unsupervised Learning of Disentangled "
    "Representations",
    "1812.04948": "A Style-Based Generator Architecture for Generative Adversarial Networks",
    "1902.01568": "Relevance Factor VAE: Learning and Identifying Disentangled Factors",
    "1905.12614": "Unsupervised Model Selection for Variational Disentangled Representation "
    "Learning",
    "1905.13662": "On the Fairness of Disentangled Representations",
    "1908.09961": "Theory and Evaluation Metrics for Learning Disentangled Representations",
    "1910.05587": "How to Not Measure Disentanglement",
    "2002.10549": "Progressive Learning and Disentanglement of Hierarchical Representations",
    "2106.04619": "Self-Supervised Learning with Data Augmentations Provably Isolates Content from "
    "Style",
    "2110.05587": "Evaluation of Latent Space Disentanglement in the Presence of Interdependent "
    "Attributes",
    "2112.10638": "Latte: Cross-framework Python Package for Evaluation of Latent-Based Generative "
    "Models",
    "2202.13341": "Overlooked Implications of the Reconstruction Loss for VAE Disentanglement",
    "2206.04756": "An Empirical Study on Disentanglement of Negative-free Contrastive Learning",
    "2210.00364": "DCI-ES: An Extended Disentanglement Framework with Connections to "
    "Identifiability",
    "2409.18017": "Transferring disentangled representations: bridging the gap between synthetic "
    "and real images",
}
"""Titles of papers that a metric's docstring names without one, by their number."""


@dataclass(frozen=True)
class Reference:
    """One paper."""

    authors: str
    title: str
    venue: str
    year: str
    archive: str
    """arXiv, openreview or doi."""
    number: str

    @property
    def key(self) -> str:
        """The name it is cited by: surname, year and first word of the title that tells it."""
        surname = re.split(r",| & | and | et al", self.authors)[0].split()[-1]
        words = [_letters(word) for word in self.title.split()]
        telling = [word for word in words if word and word not in ("a", "an", "the", "on")]
        return _letters(surname) + self.year + (telling or [""])[0]

    def in_words(self) -> str:
        """Return the reference for people."""
        parts = [self.authors]
        parts += [f"“{self.title}”"] if self.title else []
        parts += [self.venue or self.year] if self.venue or self.year else []
        return f"{', '.join(parts)}, {self.archive}:{self.number}"

    def to_bibtex(self) -> str:
        """Return the reference for LaTeX; braces keep the capitals of titles."""
        names = re.sub(r",? et al\.?$", " and others", self.authors)
        names = re.sub(r", (?!and )| & ", " and ", names)
        fields = {"author": names, "title": "{" + latex_text(self.title) + "}", "year": self.year}
        kind = "misc"
        if self.venue and self.venue != self.year:
            kind, fields["booktitle"] = "inproceedings", latex_text(self.venue)
        if self.archive == "arXiv":
            fields |= {"eprint": self.number, "archiveprefix": "arXiv"}
        elif self.archive == "doi":
            fields["doi"] = self.number
        else:
            fields["url"] = f"https://openreview.net/forum?id={self.number}"
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@{kind}{{{self.key},", *lines, "}"])


def _letters(text: str) -> str:
    """Return small letters and figures alone, without accents."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", plain.lower())


DCI = Reference(
    "C. Eastwood and C. K. I. Williams",
    "A Framework for the Quantitative Evaluation of Disentangled Representations",
    "ICLR 2018",
    "2018",
    "openreview",
    "By-7dz-AZ",
)
HIGGINS = Reference(
    "I. Higgins et al.",
    "beta-VAE: Learning Basic Visual Concepts with a Constrained Variational Framework",
    "ICLR 2017",
    "2017",
    "openreview",
    "Sy2fzU9gl",
)
WITHOUT_PLACE = {"dci": DCI, "beta_vae_score": HIGGINS}
"""Metrics whose docstring cites a paper that has no archive's number there."""


def reference_in(docstring: str | None) -> Reference | None:
    """Return the first paper that a docstring cites; None if it cites none."""
    text = " ".join((docstring or "").split())
    titled, plain = WITH_TITLE.search(text), WITHOUT_TITLE.search(text)
    if titled is not None and (plain is None or titled.start() <= plain.start()):
        authors, title, venue, archive, number = titled.groups()
    elif plain is not None:
        authors, venue, archive, number = plain.groups()
        title = TITLES.get(number, "")
    else:
        return None
    venue = venue.partition(",")[0].strip()
    year = YEAR.search(venue)
    told = year[0] if year else ""
    return Reference(authors.strip(" ,"), title, venue, told, archive, number)


def references(methods: Iterable[str], metrics: Iterable[str]) -> list[Reference]:
    """Return the papers of methods, then of metrics, each once; of what cites none, nothing.

    A method around another has two.
    """
    found: dict[tuple[str, str], Reference] = {}
    cited = [_of_method(part) for name in methods for part in name.split("+")]
    cited += [_of_metric(name) for name in metrics]
    for one in cited:
        if one is not None:
            known = found.setdefault((one.archive, one.number), one)
            if not known.title:
                found[one.archive, one.number] = one
    return [one if one.title else _titled(one) for one in found.values()]


def to_bibtex(found: Iterable[Reference]) -> str:
    """Return a file of references."""
    return "\n\n".join(one.to_bibtex() for one in found) + "\n"


def _of_method(name: str) -> Reference | None:
    try:
        return reference_in(catalog.documented("unweave.methods", name, "method").__doc__)
    except UnweaveError:  # a plugin's that is not here
        return None


def _of_metric(name: str) -> Reference | None:
    if name in WITHOUT_PLACE:
        return WITHOUT_PLACE[name]
    try:
        module = catalog.load("unweave.metrics", name, "metric")
    except UnweaveError:  # a plugin's that is not here, or a number of the bound
        return None
    return reference_in(module.__doc__)


def _titled(reference: Reference) -> Reference:
    """Give a metric's paper the title that the file of its method has."""
    for name in catalog.own_names("unweave.methods"):
        module = catalog.documented("unweave.methods", name, "method")
        other = reference_in(module.__doc__)
        if other is not None and other.number == reference.number and other.title:
            return other
    return reference
