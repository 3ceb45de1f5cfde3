"""The least versions that are tested together are those that pyproject.toml names."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def least_of(lines: list[str]) -> dict[str, tuple[int, ...]]:
    """Return the version that each line names, such as numpy>=1.26, by package."""
    found = (re.fullmatch(r"([\w.-]+)[>=]=([\d.]+)", line) for line in lines)
    return {match[1]: tuple(map(int, match[2].split("."))) for match in found if match}


def test_what_is_tested_as_the_least_is_what_is_asked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = least_of(project["dependencies"])
    assert len(asked) == len(project["dependencies"])
    tools = least_of(project["optional-dependencies"]["dev"])
    asked |= {name: tools[name] for name in ("pandas", "polars")}  # in and out of tables
    tested = least_of((ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines())
    assert sorted(tested) == sorted(asked)
    for name, version in asked.items():
        # The first release of a line may have been taken back: 1.11 is tested as 1.11.1.
        assert tested[name][: len(version)] == version, name
