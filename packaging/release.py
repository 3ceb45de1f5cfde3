"""Build the sdist and the wheel of the last commit, as a package index wants them.

    python packaging/release.py https://HOST/OWNER/unweave [--to dist]

An index shows the README away from the files it names, and beside the project's addresses. Where
the repository will be public is said here, at the time of a release: pictures and pages that the
README names by their path are named by their address, at the tag of the version.
"""

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(?P<shown>!?)(?P<text>\[[^\]]*\])\((?P<path>[^)#\s]+)(?P<part>#[^)\s]*)?\)")
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("address", help="of the public repository")
    parser.add_argument("--to", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    if not re.fullmatch(r"https://[^/\s]+/\S+[^/\s]", options.address):
        sys.exit(f"expected an address like https://HOST/OWNER/unweave, found {options.address!r}")
    if changed := told(["git", "status", "--porcelain"]):
        sys.exit(f"a release is what is committed; these files are not:\n{changed}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True)
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(source, filter="data")
        prepare(source, options.address)
        options.to.mkdir(parents=True, exist_ok=True)
        for kind in ("sdist", "wheel"):
            words = [sys.executable, "-c", BUILD.format(kind=kind), str(options.to.resolve())]
            print(options.to / told(words, source).splitlines()[-1])


def told(words: list[str], folder: Path = ROOT) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words[:3])} failed: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout.strip()


def prepare(source: Path, address: str) -> None:
    """Name the project's addresses in its metadata, and make the README's links absolute."""
    settings, readme = source / "pyproject.toml", source / "README.md"
    text = settings.read_text(encoding="utf-8")
    tag = f"v{tomllib.loads(text)['project']['version']}"
    lines = [f'{name} = "{place}"' for name, place in addresses(address, tag).items()]
    head, scripts, rest = text.partition("[project.scripts]")
    whole = "\n".join([f"{head}[project.urls]", *lines, "", scripts + rest])
    settings.write_text(whole, encoding="utf-8")
    absolute = with_addresses(readme.read_text(encoding="utf-8"), address, tag, source)
    readme.write_text(absolute, encoding="utf-8")


def addresses(address: str, tag: str) -> dict[str, str]:
    """Return what an index lists beside the description."""
    return {
        "Repository": address,
        "Documentation": f"{address}/blob/{tag}/docs/start.md",
        "Issues": f"{address}/issues",
        "Changes": f"{address}/blob/{tag}/CHANGELOG.md",
    }


def with_addresses(text: str, address: str, tag: str, source: Path) -> str:
    """Return a page whose links to files are addresses: of pictures raw, of pages to be read."""

    def absolute(link: re.Match[str]) -> str:
        path = link["path"]
        if "://" in path:
            return link[0]
        place = source / path
        if not place.exists():
            sys.exit(f"README.md names {path}, which is not there")
        kind = "raw" if link["shown"] else "tree" if place.is_dir() else "blob"
        where = f"{address}/{kind}/{tag}/{path}{link['part'] or ''}"
        return f"{link['shown']}{link['text']}({where})"

    return LINK.sub(absolute, text)


if __name__ == "__main__":
    main()
