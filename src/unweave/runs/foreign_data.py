"""Data that a run folder names: opened if the user did so before, and asked for otherwise.

A run folder may come from anybody and name any path. Looking at it must not read, decode
or show what lies elsewhere on the disk. So a path is opened if it lies in what the user
gave to be opened, or where the user has opened data before (`files/opened_places.py`).
Sets that are made here, such as dsprites, read nothing and need no leave.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from unweave.data import places_of
from unweave.errors import DataError
from unweave.files.opened_places import is_opened, leads_outside, remember
from unweave.runs.config import Train


class ForeignData(DataError):
    """A run folder names data that the user has not opened."""

    def __init__(self, folder: Path, places: Sequence[Path]):
        self.places = tuple(str(place) for place in places)
        flags = " ".join(f"--allow-data {shlex.quote(place)}" for place in self.places)
        super().__init__(
            f"{folder} names data that you have not opened before: {', '.join(self.places)}. "
            f"If it is meant, add {flags}, or call unweave.load_data on it once"
        )


def unopened(config: Train, within: Path) -> list[Path]:
    """Return the places of a run's data that lie outside a folder and were not opened before."""
    return [
        place.resolve()
        for place in places_of(config.data, config.data_options)
        if not is_opened(place) and leads_outside(place, within)
    ]


def check(config: Train, folder: Path, within: Path) -> None:
    """Refuse to open the data of a run that the user has not opened."""
    if places := unopened(config, within):
        raise ForeignData(folder, places)


def allow(config: Train, within: Path, places: Sequence[str]) -> None:
    """Note the data of a run as opened, if it is what the user was shown."""
    found = unopened(config, within)
    if sorted(map(str, found)) != sorted(places):
        raise DataError("the run names other data by now; look at it again")
    remember(found)
