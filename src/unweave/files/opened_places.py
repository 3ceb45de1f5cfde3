"""Places of data that this user has named before, kept in the user's cache.

Whoever trains on a folder, or looks at it by name, has opened it. A run folder that comes
from elsewhere may name any path; it is opened only if it is one of these places.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from unweave.errors import DataError
from unweave.files.cache import cache_folder
from unweave.files.json_files import read_json
from unweave.files.locks import held
from unweave.files.writing import write_atomically

MOST_PLACES = 2_000  # the newest are kept


def places_file() -> Path:
    """Return where the places are written down, one below the other."""
    return cache_folder() / "opened_data.json"


def opened_places() -> list[str]:
    """Return the places, the newest last; none if what is kept cannot be read."""
    if not places_file().is_file():
        return []
    try:
        found = read_json(places_file())
    except DataError:
        return []  # then each is asked for again
    return [place for place in found if isinstance(place, str)] if isinstance(found, list) else []


def is_opened(place: Path) -> bool:
    """Whether a place, or a folder around it, was opened before."""
    real = place.resolve()
    return any(real.is_relative_to(known) for known in opened_places())


def remember(places: Iterable[Path]) -> None:
    """Note places as opened; where nothing can be kept they are asked for again."""
    new = [str(place.resolve()) for place in places if not is_opened(place)]
    if not new:
        return
    file = places_file()
    with suppress(OSError, DataError):  # a disk that is full or cannot be written to
        file.parent.mkdir(parents=True, exist_ok=True)
        with held(file.with_name(file.name + ".lock"), waits=True):
            kept = dict.fromkeys([*filter(os.path.exists, opened_places()), *new])
            write_atomically(file, json.dumps(list(kept)[-MOST_PLACES:], indent=1) + "\n")


def leads_outside(place: Path, folder: Path) -> bool:
    """Whether a place is not in a folder, or something in it is a link to the outside."""
    around, real = folder.resolve(), place.resolve()
    if not real.is_relative_to(around):
        return True
    for inside, folders, files in os.walk(real):
        for name in (*folders, *files):
            entry = os.path.join(inside, name)
            if os.path.islink(entry) and not Path(entry).resolve().is_relative_to(around):
                return True
    return False
