"""The command line: one module per verb, each a few lines around a library function."""

import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from unweave import catalog
from unweave.deprecation import UnweaveDeprecationWarning
from unweave.errors import Notice, Stopped, UnweaveError, printable, reason, shown

# Read once, when the first thread is made. A thread that waits for another spins for a moment,
# which is fast on an idle machine, and then sleeps: on a busy one it would take the core from the
# thread it waits for. `unweave doctor` shows how much threads gain.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")

VERBS = {
    "demo": "Render dSprites, train, score and draw the default model: the tour in minutes.",
    "train": "Train a method on data: unweave train beta_vae --data dsprites",
    "resume": "Continue a run that was stopped, or train it further.",
    "silence": "Silence the latents of a run that carry nothing, or take that back.",
    "evaluate": "Score a run, a table of codes, or any Python function that encodes images.",
    "study": "Run many trainings from one file: unweave study run FILE; then table, report.",
    "reproduce": "Train what a paper's table shows and print ours against it.",
    "figures": "Draw a run: traversals, curves, heat maps, responses of latents to factors.",
    "report": "Write one HTML file about a run, or about several and how they compare.",
    "encode": "Write the codes of images as a table: unweave encode RUN photos/ --to codes.csv",
    "decode": "Make images of a table of codes: unweave decode RUN codes.csv --to pictures/",
    "edit": "Change one thing of an image: unweave edit RUN --image cat.png --set z3=1.5",
    "apply": "See what a code is good for: unweave apply NAME RUN; apply --help lists the names.",
    "explore": "Look at runs in a browser: sliders, heat maps, curves; or export a page.",
    "advise": "Say which method to begin with, or what to change in a run.",
    "export": "Write the encoder and the decoder of a run as ONNX files.",
    "push": "Share a run on the Hugging Face Hub, or as a folder: unweave push RUN USER/NAME",
    "pull": "Get a run that somebody shared: unweave pull USER/NAME",
    "list": "Show what there is: methods, data, metrics, architectures, runs.",
    "data": "Describe a data set; --show draws samples and what each factor does.",
    "doctor": "Look at this machine: versions, extras, devices, threads, room, speed.",
}

USAGE = """unweave: learn, measure and look at disentangled representations of images

usage: unweave VERB ...   (unweave VERB --help says more)

{verbs}

Every verb takes --plugin FILE.py: it runs the file, and knows the methods, metrics, data sets
and architectures in it. Plugins that are installed are known by themselves.

Where a run is asked for, example:dsprites, example:shapes3d or example:glyphs is one that comes
with unweave.

Every verb takes --allow-data PATH: data that a run of somebody else names is opened, if it is
in there. What you trained on or looked at by name needs no leave.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings():
            _say_our_warnings_in_a_line()
            return _dispatch(words)
    except Stopped as stop:
        print(f"\n{stop}", file=sys.stderr)
        return 130
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    except UnweaveError as error:
        print(f"error: {_in_lines(error)}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output went away, as `| head` does; nothing to tell it.
        sys.stderr.close()
        return 141
    except OSError as error:
        if error.filename is None:
            raise
        # A file that the system refuses: no right to it, a read-only disk, too long a name.
        print(f"error: {shown(str(error.filename))}: {error.strerror}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"error: there is not enough memory: {reason(error)}", file=sys.stderr)
        return 2


def _in_lines(error: UnweaveError) -> str:
    """Return one line, or one for each mistake in a list of them, that a terminal can show."""
    if hasattr(error, "problems"):
        return "\n".join(map(printable, str(error).split("\n")))
    return printable(" ".join(str(error).split("\n")))


def _say_our_warnings_in_a_line() -> None:
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, catalog.PluginWarning | Notice | UnweaveDeprecationWarning):
            print(f"warning: {printable(str(message))}", file=sys.stderr)
        else:
            usual(message, category, *place, **more)

    warnings.showwarning = show


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        width = max(map(len, VERBS))
        print(USAGE.format(verbs="\n".join(f"  {v:{width}}  {t}" for v, t in VERBS.items())))
        return 0
    if words[0] in ("-V", "--version"):
        from importlib.metadata import version

        print(f"unweave {version('unweave')}")
        return 0
    verb, rest = words[0], words[1:]
    catalog.check_name(verb, VERBS, "verb")
    if any(word.partition("=")[0] == "--plugin" for word in rest):
        from unweave.cli._parse import add_plugins

        add_plugins(rest)
    if any(word.partition("=")[0] == "--allow-data" for word in rest):
        from unweave.cli._parse import allow_data

        allow_data(rest)
    if any(word.startswith("example:") for word in rest):
        from unweave.examples import folder_of, is_example

        rest = [str(folder_of(word)) if is_example(word) else word for word in rest]
    module = importlib.import_module(f"unweave.cli._{verb}")
    code: int = module.run(rest)
    return code
