"""What a run's code was found to be good for, as its folder keeps it."""

from PIL import Image

from unweave import applications
from unweave.applications import Kept
from unweave.errors import UnweaveError
from unweave.pages import Html, picture_url, section, table, tag
from unweave.report.drawn import pictured
from unweave.runs.run import Run

LARGEST_PICTURE = 20_000_000  # pixels


def sections(run: Run) -> Html:
    """Return a part for each application that the run's folder keeps a result of."""
    try:
        kept = applications.kept_by(run)
    except UnweaveError as error:
        return section("Applications", tag("p", str(error), class_="note"))
    if not kept:
        return Html("")
    return section("Applications", [_one(result, run) for result in kept])


def _one(kept: Kept, run: Run) -> Html:
    older = None
    if kept.step != run.step:
        words = f"Of step {kept.step:,}; the run is at step {run.step:,}."
        older = tag("p", words, class_="note")
    tables = [table(part.header, part.shown(), title=part.title) for part in kept.tables]
    caveats = tag("ul", [tag("li", caveat) for caveat in kept.caveats]) if kept.caveats else None
    name = applications.spelled(kept.name)
    return section(name, older, tag("p", kept.paragraph), tables, _picture(kept), caveats, level=3)


def _picture(kept: Kept) -> Html | None:
    if kept.picture is None:
        return None
    try:
        with Image.open(kept.picture, formats=("PNG",)) as opened:
            if opened.width * opened.height > LARGEST_PICTURE:
                return None
            picture = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        return tag("p", f"The figure cannot be read: {error}", class_="note")
    name = applications.spelled(kept.name)
    return pictured(picture_url(picture), f"What {name} found.", f"figure of {name}")
