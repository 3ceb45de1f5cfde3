"""What the site generates: pages of methods and metrics, the gallery of worlds, notebooks."""

import base64
import inspect
import json
import re
import shutil
from pathlib import Path
from typing import Any

import make_tables

from unweave import catalog
from unweave.cli._output import facts_of_method, paper_of
from unweave.methods import method_named

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
KEPT = DOCS / "results" / "acceptance"
NOTEBOOKS = DOCS / "notebooks"
SITES = {
    "arXiv:": "https://arxiv.org/abs/",
    "doi:": "https://doi.org/",
    "openreview:": "https://openreview.net/forum?id=",
}


def write(folder: Path) -> None:
    """Write every generated page; what is the same as before keeps its time, so Sphinx skips it."""
    pages: dict[str, str] = {}
    methods = catalog.own_names("unweave.methods")
    metrics = catalog.own_names("unweave.metrics")
    for name in methods:
        pages[f"methods/{name}.md"] = method_page(name)
    for name in metrics:
        pages[f"metrics/{name}.md"] = metric_page(name)
    pages["methods/index.md"] = contents("Methods", "unweave.methods", methods)
    pages["metrics/index.md"] = contents("Metrics", "unweave.metrics", metrics)
    pages["worlds.md"] = worlds_page()
    pages |= notebook_pages()
    wanted = {folder / name for name in pages}
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if path not in wanted:
            path.unlink()


def contents(title: str, package: str, names: tuple[str, ...]) -> str:
    """Return the first page of a part: a line for each entry."""
    rows = ["| name | what it is |", "|---|---|"]
    for name in names:
        what = catalog.summary(catalog.described(package, name)).partition(": ")
        rows.append(f"| [`{name}`]({name}.md) | {escaped(what[2] or what[0])} |")
    tree = ["```{toctree}", ":hidden:", "", *names, "```"]
    return "\n".join([f"# {title}", "", *rows, "", *tree, ""])


def method_page(name: str) -> str:
    """Return what a method is, when to use it, its settings, and what was measured of it."""
    heading, _, rest = make_tables.section(name).partition("\n\n")
    use = when_to_use(name)
    rest = rest.replace(f"\n\n{use}\n", "\n", 1)
    alone = facts_of_method(name)["heading"] == "images alone"
    command = f"unweave train {name} --data {'dsprites' if alone else 'DATA'}"
    parts = [
        heading.replace("## ", "# ", 1),
        fenced(rest),
        paper_line("unweave.methods", name),
        f"## When to use it, and when not\n\n{use}",
        f"## Train it\n\n```\n{command}\n```\n\n`unweave train {name} --help` says more.",
        acceptance(name),
        on_dsprites(name),
        knobs(name),
        elsewhere(name),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def when_to_use(name: str) -> str:
    """Return the paragraph of a method's docstring that says what it is for, and what not."""
    text = catalog.described("unweave.methods", name).__doc__ or ""
    return next(part for part in text.split("\n\n") if part.startswith("Use it "))


def metric_page(name: str) -> str:
    """Return what a metric measures, what it needs, its protocols, and how it is called."""
    module = catalog.load("unweave.metrics", name, "metric")
    function = getattr(module, name)
    protocols = ["| protocol | |", "|---|---|"]
    protocols += [f"| `{p}` | {escaped(words)} |" for p, words in module.PROTOCOLS.items()]
    parts = [
        f"# {name}",
        fenced(inspect.cleandoc(module.__doc__ or "")),
        paper_line("unweave.metrics", name),
        "## Protocols\n\nThe first is the default.",
        "\n".join(protocols),
        f"## Call\n\n```python\n{signature(name, function)}\n```",
        fenced(inspect.cleandoc(function.__doc__ or "")),
        "More, also on what it is blind to: [all metrics](../../metrics.md).",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def signature(name: str, function: Any) -> str:
    """Return how a function is called, one argument a line."""
    parameters = inspect.signature(function).parameters.values()
    lines, keyword_only = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            lines.append("    *,")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        star = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        lines.append(f"    {star}{parameter.name}{default},")
    return "\n".join([f"metrics.{name}(", *lines, ")"])


def paper_line(package: str, name: str) -> str:
    """Return a link to the paper that the docstring names."""
    paper = paper_of(catalog.described(package, name))
    for prefix, site in SITES.items():
        if paper.startswith(prefix):
            return f"Paper: [{paper}]({site}{paper.removeprefix(prefix)})"
    return ""


def acceptance(name: str) -> str:
    """Return what is kept of the rules of a method: its numbers, and those of broken versions."""
    parts = []
    for file in sorted(KEPT.glob(f"{name}*.jsonl")):
        if file.stem != name and any(
            file.stem.startswith(other) and len(other) > len(name)
            for other in catalog.own_names("unweave.methods")
        ):
            continue  # the rule of a method whose name begins alike
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        rows = ["| arm | seed | measured |", "|---|---|---|"]
        for line in lines:
            numbers = ", ".join(f"{n} {value:.3g}" for n, value in line["numbers"].items())
            rows.append(f"| {escaped(line['arm'])} | {line['seed']} | {escaped(numbers)} |")
        parts.append(f"### {file.stem}\n\n" + "\n".join(rows))
        if file.with_suffix(".png").is_file():
            words = f"{file.stem}: the method beside its saboteurs"
            parts.append(f"![{words}](../../results/acceptance/{file.stem}.png)")
    if not parts:
        others = "[what others were held to](../../results/acceptance.md)"
        return f"## Acceptance\n\nNot measured yet; {others}."
    intro = (
        "What the method and deliberately broken versions of it reached on small images, which "
        "also says what its parts and knobs do; the claims and bounds are in "
        "[acceptance](../../results/acceptance.md)."
    )
    return "\n\n".join(["## Acceptance", intro, *parts])


TITLES = {
    "annealed_vae": "AnnealedVAE",
    "beta_tcvae": "β-TCVAE",
    "beta_vae": "β-VAE",
    "dip_vae": "DIP-VAE-II",
    "factor_vae": "FactorVAE",
    "ground_truth": "ground truth",
    "ica": "ICA",
    "pca": "PCA",
    "pixels": "pixels",
    "untrained_vae": "untrained VAE",
    "vae": "VAE",
}
"""What the benchmark on dSprites calls methods."""


def on_dsprites(name: str) -> str:
    """Return what is kept of a method on dSprites: with its defaults, and in the benchmark."""
    parts = []
    if line := by_default(name):
        figures = {n: f"{value:.3g}" for n, value in line["figures"].items()}
        said = "; ".join(line["complaints"])
        told = f"Complaints: {said}." if said else "No complaints."
        parts.append(
            f"With its own defaults and the small network `patches_any`, {line['steps']:,} steps, "
            "one seed ([all methods](../../results/defaults.md)):\n\n"
            + table(["", "measured"], [[n, value] for n, value in figures.items()])
            + f"\n\n{told}"
        )
    if rows := rows_of(DOCS / "results" / "dsprites.md", TITLES.get(name, "")):
        link = "[the benchmark at a small budget](../../results/dsprites.md)"
        parts.append(f"In {link}, means and each seed:\n\n{rows[0]}")
        if (DOCS / "results" / "dsprites" / f"{name}.png").is_file():
            parts.append(f"![traversals of {name}](../../results/dsprites/{name}.png)")
    return "\n\n".join(["## On dSprites", *parts]) if parts else ""


def by_default(name: str) -> dict[str, Any] | None:
    """Return the newest figures of a method with its defaults, if any are kept."""
    file = DOCS / "results" / "defaults.jsonl"
    texts = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    # A method that goes with another is named with it: semi_supervised+beta_vae.
    of_this = re.compile(rf"{name}(\+\w+)?-dsprites-")
    lines = [line for line in map(json.loads, texts) if of_this.match(line["run"])]
    return lines[-1] if lines else None


def knobs(name: str) -> str:
    """Return what settings of a method did in runs that are kept."""
    parts = []
    page = DOCS / "results" / "knobs.md"
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    if found := re.search(rf"^## {name}\n\n(.+?)(?:\n\n|\Z)", text, flags=re.M | re.S):
        link = "[Three values of it on three shapes](../../results/knobs.md)"
        parts.append(f"{link}:\n\n{found[1].strip()}")
    for study in STUDIES_OF_KNOBS:
        page = DOCS / "results" / f"{study}.md"
        if page.is_file() and (rows := rows_of(page, f"{name}, ")):
            title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            link = f"[{title}](../../results/{study}.md)"
            parts.append(f"Medians over seeds, of {link}:\n\n{rows[0]}")
    what = method_named(name).main_knob
    title = f"## What `{what}` did here" if what else "## What settings did here"
    return "\n\n".join([title, *parts]) if parts else ""


STUDIES_OF_KNOBS = ("exercises", "tcvae_map", "unsupervised", "weak_supervision", "shapes3d_table")
"""Those that compare settings of one method; the best known first."""

SHOWN_ABOVE = ("acceptance", "defaults", "dsprites", "knobs")
"""Pages of results whose numbers the page of a method gives itself."""


def elsewhere(name: str) -> str:
    """Return links to the other pages of results that speak of a method."""
    links = []
    for page in sorted((DOCS / "results").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if f"`{name}`" in text and page.stem not in SHOWN_ABOVE:
            title = text.partition("\n")[0].removeprefix("# ")
            links.append(f"- [{title}](../../results/{page.name})")
    return "\n\n".join(["## More of what was measured", "\n".join(links)]) if links else ""


def rows_of(page: Path, begins: str) -> list[str]:
    """Return, table by table, the lines of a page whose first cell begins so, with their head."""
    found, head, rows = [], "", []
    ends_cell = not begins.endswith(", ")
    for line in [*page.read_text(encoding="utf-8").splitlines(), ""]:
        if not line.startswith("|"):
            if rows:
                found.append("\n".join([head, "|" + "---|" * (head.count("|") - 1), *rows]))
            head, rows = "", []
        elif not head:
            head = line
        elif begins and line.startswith(f"| {begins}" + (" |" if ends_cell else "")):
            rows.append(line)
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(escaped, line)) + " |" for line in lines)


def worlds_page() -> str:
    """Return the gallery: every data set in a line, and a picture of those that are made here."""
    rows = ["| data set | what it is |", "|---|---|"]
    for name in catalog.own_names("unweave.data"):
        what = catalog.summary(catalog.described("unweave.data", name)).removeprefix(f"{name}: ")
        rows.append(f"| `{name}` | {escaped(what)} |")
    pictures = [
        f"## {path.stem}\n\n![samples of {path.stem}](../pictures/data/{path.name})"
        for path in sorted((DOCS / "pictures" / "data").glob("*.png"))
    ]
    intro = "Samples, and what each factor does. [Data](../data.md) says how each is opened."
    return "\n\n".join(["# Worlds", intro, "\n".join(rows), *pictures]) + "\n"


def notebook_pages() -> dict[str, str]:
    """Return every notebook as a page, with the outputs that are kept in it."""
    pages, names = {}, []
    pictures = DOCS / "generated" / "notebooks"
    shutil.rmtree(pictures, ignore_errors=True)
    for file in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = json.loads(file.read_text(encoding="utf-8"))
        parts = []
        for number, cell in enumerate(notebook["cells"]):
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                parts.append(source)
            elif cell["cell_type"] == "code":
                parts.append(f"```python\n{source}\n```")
                parts += [shown(o, pictures, file.stem, number) for o in cell["outputs"]]
        names.append(file.stem)
        pages[f"notebooks/{file.stem}.md"] = "\n\n".join(filter(None, parts)) + "\n"
    tree = ["```{toctree}", "", *names, "```"] if names else ["None yet."]
    intro = "Executed; the files are in `docs/notebooks`."
    pages["notebooks/index.md"] = "\n".join(["# Notebooks", "", intro, "", *tree, ""])
    return pages


def shown(output: dict[str, Any], folder: Path, stem: str, number: int) -> str:
    """Return an output of a cell: a picture, or its words."""
    data = output.get("data", {})
    if "image/png" in data:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{stem}-{number}.png"
        (folder / name).write_bytes(base64.b64decode("".join(data["image/png"])))
        return f"![output]({name})"
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""


def fenced(text: str) -> str:
    """Return a docstring in which indented lines, formulas above all, are shown as they are."""
    parts = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.split("\n")
        if all(line.startswith("    ") for line in lines):
            parts.append("```text\n" + "\n".join(line[4:] for line in lines) + "\n```")
        else:
            parts.append(block)
    return "\n\n".join(parts)


def escaped(text: str) -> str:
    return text.replace("|", "\\|")


def as_rest(lines: list[str]) -> list[str]:
    """Return a docstring as reStructuredText that says the same words."""
    found: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip()):
        inner = block.split("\n")
        if any(line.startswith((" ", ">>>")) for line in inner):
            found += ["::", "", *(f"    {line}" for line in inner), ""]
        else:
            found += [*(_without_markup(line) for line in inner), ""]
    return found


def _without_markup(line: str) -> str:
    parts = re.split(r"(`[^`]+`)", line)
    for index, part in enumerate(parts):
        if part.startswith("`") and len(part) > 2:
            parts[index] = f"`{part}`"
        else:
            parts[index] = re.sub(r"_(?=\W|$)", r"\\_", re.sub(r"([\\*|`])", r"\\\1", part))
    return "".join(parts)
