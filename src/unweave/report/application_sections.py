"""What a run's code was found to be good for, as its folder keeps it."""

from pathlib import Path

from PIL import Image

from unweave import applications
from unweave.applications import Kept
from unweave.errors import UnweaveError
from unweave.pages import Html, picture_url, section, table, tag
from unweave.report.drawn import pictured
from unweave.runs.model import Model
from unweave.runs.run import Run

LARGEST_PICTURE = 20_000_000  # pixels


def sections(model: Model) -> Html:
    """Return a part for each application of which a result is kept.

    A run's folder keeps them; those of a model of the user's are in the folder where
    `unweave apply` leaves them when it is not told otherwise.
    """
    try:
        if isinstance(model, Run):
            kept = applications.kept_by(model)
        else:
            kept = applications.kept_in(Path(applications.FOLDER), model.name)
    except UnweaveError as error:
        return section("Applications", tag("p", str(error), class_="note"))
    if not kept:
        return Html("")
    return section("Applications", [_one(result, model) for result in kept])


def _one(kept: Kept, model: Model) -> Html:
    older = None
    if kept.step != model.step:
        words = f"Of step {kept.step:,}; the run is at step {model.step:,}."
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
