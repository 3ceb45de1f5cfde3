"""What `unweave apply` found of a run, as its folder keeps it."""

from typing import Any

from unweave import applications, views
from unweave.explorer.kept_pictures import NoPicture, read_picture
from unweave.explorer.open_runs import OpenRun


def kept(opened: OpenRun) -> dict[str, Any]:
    """Return paragraph, tables and caveats of each application, and whether it has a figure."""
    return {
        "names": [applications.spelled(name) for name in applications.names()],
        "applications": [
            {
                "name": found.name,
                "title": applications.spelled(found.name),
                "step": found.step,
                "paragraph": found.paragraph,
                "caveats": list(found.caveats),
                "tables": [
                    {
                        "title": table.title,
                        "header": list(table.header),
                        "lines": views.plain(table.shown()),
                    }
                    for table in found.tables
                ],
                "picture": found.picture is not None,
            }
            for found in applications.kept_by(opened.run)
        ],
    }


def figure(opened: OpenRun, name: str) -> bytes:
    """Return the figure of an application."""
    for found in applications.kept_by(opened.run):
        if found.name == name and found.picture is not None:
            return read_picture(found.picture)
    raise NoPicture(f"the run keeps no figure of {name!r}")
