"""Execute the notebooks and keep their outputs.

    python docs/run_notebooks.py [--only exercise_1_traversals score_my_model]

Each runs in a kernel of its own, in build/notebooks, where runs of one are found by the next. The
whole set takes about ten minutes of one core.
"""

import argparse
import os
import resource
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
NOTEBOOKS = HERE / "notebooks"
PLACE = HERE.parent / "build" / "notebooks"


def execute(file: Path) -> None:
    notebook = nbformat.read(file, as_version=4)
    client = NotebookClient(
        notebook, timeout=None, kernel_name="python3", resources={"metadata": {"path": str(PLACE)}}
    )
    client.execute()
    for cell in notebook.cells:  # times of execution would change the file for nothing
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            # A run shows itself as HTML with the path of its folder; the words are enough here.
            data = output.get("data", {})
            data.pop("text/html", None)
            if "image/png" in data:  # words of a picture are its place in memory
                data.pop("text/plain", None)
    notebook.metadata.pop("widgets", None)
    nbformat.write(notebook, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    known = sorted(file.stem for file in NOTEBOOKS.glob("*.ipynb"))
    parser.add_argument("--only", nargs="+", choices=known, default=known)
    names = parser.parse_args().only
    PLACE.mkdir(parents=True, exist_ok=True)
    given = os.environ.get("PYTHONPATH")  # as where the package is used from another checkout
    os.environ["PYTHONPATH"] = os.pathsep.join([str(NOTEBOOKS), *([given] if given else [])])
    for name in names:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        execute(NOTEBOOKS / f"{name}.ipynb")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{name}: {after.ru_utime - before.ru_utime:.0f} CPU s", flush=True)


if __name__ == "__main__":
    main()
