"""Cases of every kind of file a user or a stranger can give: each follows from a seed.

A case writes files into an empty folder and returns commands; most are one command line.
"""

import io
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from damage import VALUES, WORDS, bytes_spoilt, json_spoilt, json_text, text_spoilt
from PIL import Image

CORPUS = Path(__file__).parent / "corpus"
STORED = Path(__file__).parents[1] / "stored_runs" / "format1"
Command = list[str] | Callable[[], Any]
"""Words of the command line, or a call that the explorer makes."""
Maker = Callable[[random.Random, Path], list[Command]]


def spoilt(content: bytes, rng: random.Random) -> bytes:
    way = rng.randrange(3)
    if way == 0:
        return bytes_spoilt(content, rng)
    return text_spoilt(content.decode("utf-8", "replace"), rng)


def study(rng: random.Random, folder: Path) -> list[Command]:
    file = folder / "study.toml"
    file.write_bytes(spoilt((CORPUS / "study.toml").read_bytes(), rng))
    return [["study", "table", str(file), "--out", str(folder / "runs")]]


def tables(rng: random.Random, folder: Path) -> list[Command]:
    """Codes and factors as CSV, .npy, .npz or Parquet, one of them spoilt."""
    words = ["evaluate", "--metrics", "mig", "--preset", "fast", "--out", str(folder / "out")]
    bad = rng.choice(("codes", "factors"))
    for name in ("codes", "factors"):
        kind = rng.choice(("csv", "tsv", "npy", "npz", "parquet")) if name == bad else "csv"
        file = folder / f"{name}.{kind}"
        file.write_bytes(_table(name, kind, rng, spoil=name == bad))
        words += [f"--{name}", str(file)]
    if rng.random() < 0.3:
        words += ["--missing", "mask"]
    return [words]


def _table(name: str, kind: str, rng: random.Random, *, spoil: bool) -> bytes:
    content = (CORPUS / f"{name}.csv").read_bytes()
    if kind in ("csv", "tsv"):
        return spoilt(content, rng) if spoil else content
    if kind == "parquet":
        return _parquet(rng)
    return _arrays(kind, rng, _odd_array(rng, images=False))


def _parquet(rng: random.Random) -> bytes:
    columns: dict[str, Any] = {
        "a": list(range(40)),
        "b": [rng.choice(WORDS[:40]).encode("utf-8", "replace").decode() for _ in range(40)],
        "c": [None if i % 7 == 0 else i / 3 for i in range(40)],
        "d": [[i] for i in range(40)],
        "e": [b"x"] * 40,
        "f": [True, None] * 20,
        "g": [2**63 - 1] * 40,
    }
    chosen = rng.sample(sorted(columns), rng.randrange(0, 4))
    out = io.BytesIO()
    rows = 40 if rng.random() < 0.8 else 0
    table = pa.table({name: columns[name][:rows] for name in chosen})
    pq.write_table(table, out, compression=rng.choice(("none", "zstd", "snappy")))
    content = out.getvalue()
    return bytes_spoilt(content, rng) if rng.random() < 0.7 else content


def _odd_array(rng: random.Random, *, images: bool) -> np.ndarray:
    kinds = ("u1", "i8", "f4", "f8", "?", "U3", "S2", "u2", "c8", "M8[s]", "O", "f2", ">i4")
    dtype = np.dtype(rng.choice(kinds))
    shapes: list[tuple[int, ...]] = [(40, 3), (40,), (), (0, 3), (40, 0), (1, 1), (2, 2, 2)]
    if images:
        shapes = [(12, 8, 8), (12, 8, 8, 3), (12, 3, 8, 8), (1, 1, 1), (12, 8, 8, 8), *shapes]
    shape = rng.choice(shapes)
    values = np.random.default_rng(rng.randrange(2**32)).integers(0, 5, shape)
    array = values.astype(dtype, copy=False) if dtype.kind != "M" else values.astype("M8[s]")
    if dtype.kind == "f" and array.size and rng.random() < 0.4:
        array.reshape(-1)[0] = rng.choice((np.nan, np.inf, -1, 6e4))
    return np.asfortranarray(array) if rng.random() < 0.2 else array


def _arrays(kind: str, rng: random.Random, array: np.ndarray) -> bytes:
    out = io.BytesIO()
    if kind == "npy":
        np.save(out, array, allow_pickle=True)
    else:
        names = rng.sample(("images", "codes", "factors", "x", "arr_0", "\x1b[31m", "a/b"), 2)
        write = np.savez if rng.random() < 0.5 else np.savez_compressed
        write(out, **{names[0]: array, names[1]: _odd_array(rng, images=False)})
    return bytes_spoilt(out.getvalue(), rng) if rng.random() < 0.6 else out.getvalue()


def array_data(rng: random.Random, folder: Path) -> list[Command]:
    kind = rng.choice(("npy", "npz"))
    file = folder / f"data.{kind}"
    file.write_bytes(_arrays(kind, rng, _odd_array(rng, images=True)))
    words = ["data", str(file)]
    if rng.random() < 0.3:
        factors = folder / "factors.csv"
        factors.write_bytes(spoilt((CORPUS / "factors.csv").read_bytes(), rng))
        words += ["--factors", str(factors)]
    if rng.random() < 0.2:
        words += ["--image-size", rng.choice(("4", "0", "-1", "1"))]
    return [[*words, *_options(rng)]]


def image_data(rng: random.Random, folder: Path) -> list[Command]:
    images = folder / rng.choice(("images", "[red]", "a b", "日本"))
    images.mkdir()
    for index in range(3):
        out = io.BytesIO()
        mode = rng.choice(("L", "RGB", "RGBA", "P", "1", "LA", "I;16"))
        form = rng.choice(("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM"))
        picture = Image.new(mode, (rng.choice((1, 9)), rng.choice((1, 8))))
        try:
            picture.save(out, form)
        except OSError:  # a mode that the format does not know
            picture.convert("L").save(out, "PNG")
        content = out.getvalue()
        if rng.random() < 0.5:
            content = bytes_spoilt(content, rng)
        (images / f"{index}.{form.lower()}").write_bytes(content)
    if rng.random() < 0.1:
        (images / "folder.png").mkdir()
    words = ["data", str(images), "--image-size", "8"]
    if rng.random() < 0.5:
        words += ["--bad-images", "skip"]
    if rng.random() < 0.4:
        factors = folder / "factors.csv"
        factors.write_bytes(spoilt((CORPUS / "factors.csv").read_bytes(), rng))
        words += ["--factors", str(factors)]
    return [[*words, *_options(rng)]]


def _options(rng: random.Random) -> list[str]:
    words = []
    for flag in ("--split", "--correlate", "--color", "--channels", "--clips"):
        if rng.random() < 0.1:
            words.append(f"{flag}={_word(rng)}")
    return words


def run_folder(rng: random.Random, folder: Path) -> list[Command]:
    """A stored run, one of its files spoilt, as every verb and the explorer meet it."""
    run = folder / "runs" / "one"
    shutil.copytree(STORED / rng.choice(("beta_vae", "ground_truth", "info_gan")), run)
    for file in (CORPUS / "run").iterdir():
        if rng.random() < 0.5:
            shutil.copy(file, run)
    file = rng.choice(sorted(run.iterdir()))
    content = file.read_bytes()
    if file.suffix == ".json" and rng.random() < 0.7:
        file.write_bytes(json_text(json_spoilt(json.loads(content), rng)))
    elif file.suffix == ".jsonl" and rng.random() < 0.7:
        lines = content.decode().splitlines()
        at = rng.randrange(len(lines))
        lines[at] = json_text(json_spoilt(json.loads(lines[at]), rng)).decode()
        file.write_text("\n".join(lines) + "\n", "utf-8")
    elif rng.random() < 0.05:
        file.unlink()
        file.mkdir()
    else:
        file.write_bytes(spoilt(content, rng))
    commands: list[Command] = [["list", "runs", str(run.parent)], *_explored(run.parent)]
    shown = rng.random()
    if shown < 0.08:
        names = ("curves", "kl_over_time", "heat_map_mi", "traversals", "layer_rates")
        commands.append(["figures", str(run), "--only", rng.choice(names)])
    elif shown < 0.12 and file.name != "config.json":
        commands.append(["resume", str(run), "--no-evaluation"])
    elif shown < 0.25:
        commands.append(["silence", str(run), "--undo"])
    return commands


def spoilt_settings(rng: random.Random, folder: Path) -> list[Command]:
    """A stored run whose settings are spoilt, gone on with and reported on.

    It has two steps to go, whatever its settings: a million are a request, not a fault.
    """
    run = folder / "one"
    shutil.copytree(STORED / rng.choice(("beta_vae", "ground_truth", "info_gan")), run)
    file = run / "config.json"
    config = json.loads(file.read_bytes())
    length = {name: config["settings"][name] for name in ("steps", "batch_size")}
    steps = str(length["steps"] + 2)
    config = json_spoilt(config, rng)
    if isinstance(config, dict) and isinstance(config.get("settings"), dict):
        config["settings"] |= length
    file.write_bytes(json_text(config))
    if rng.random() < 0.9:
        short = ["--steps", steps, "--no-evaluation", "--evaluations", "0"]
        return [["resume", str(run), *short]]
    return [["report", str(run), "--out", str(folder / "report.html")]]


def _explored(root: Path) -> list[Command]:
    """What the explorer asks of a folder before anything is computed."""
    from unweave.explorer import kept_pictures, page_data, run_list, score_cards
    from unweave.explorer.answers import as_json
    from unweave.explorer.open_runs import Library

    library = Library(root)
    return [
        lambda: as_json(run_list.all_runs(library)),
        lambda: as_json(page_data.run_facts(library, "one")),
        lambda: as_json(run_list.progress(library.folder("one"))),
        lambda: as_json(page_data.curves(library.folder("one"))),
        lambda: as_json(score_cards.score_cards(library, "one")),
        lambda: as_json(kept_pictures.training_pictures(library.folder("one"))),
        lambda: library.open("one"),
    ]


FLAGS = {
    "train": ("--data", "--steps", "--batch-size", "--seed", "--validation", "--precision",
              "--method.latent-dim", "--method.beta", "--method.optimizer", "--architecture",
              "--split", "--correlate", "--out", "--device", "--threads", "--image-size",
              "--method.likelihood", "--silence", "--plugin", "--allow-data", "--help"),
    "evaluate": ("--codes", "--factors", "--model", "--data", "--metrics", "--protocol", "--seeds",
                 "--part", "--out", "--nulls", "--continuous", "--help"),
    "data": ("--show", "--where", "--seed", "--split", "--correlate", "--image-size", "--help"),
    "figures": ("--only", "--format", "--ranges", "--reach", "--row", "--out", "--model"),
    "report": ("--out", "--model", "--data"),
    "resume": ("--steps", "--device", "--threads"),
    "silence": ("--nats", "--undo"),
    "list": (),
    "study": ("--out", "--to", "--workers", "--dry-run"),
    "explore": ("--export", "--port"),
}  # fmt: skip


def flags(rng: random.Random, folder: Path) -> list[Command]:
    verb = rng.choice(sorted(FLAGS))
    words = [verb if rng.random() < 0.97 else _word(rng)]
    if verb == "train":
        # A step that is made after all is one of few and small.
        words += [rng.choice(("vae", "beta_vae", "m2", "lord", _word(rng)))]
        words += ["--data", rng.choice(("toy_xys", "nothing", _word(rng)))]
        words += ["--steps", "1", "--no-evaluation", "--evaluations", "0", "--out", "run"]
    elif verb in ("list", "study"):
        kinds = ("methods", "data", "metrics", "architectures", "runs", "table", "run", "report")
        words += [rng.choice((*kinds, _word(rng))), _word(rng)]
    elif verb == "explore":
        words += [str(folder / "nothing")]
    elif rng.random() < 0.8:
        words.append(_word(rng) if verb != "data" else rng.choice(("toy_xys", _word(rng))))
    for _ in range(rng.randrange(0, 4)):
        flag = rng.choice(FLAGS[verb] or ("--help",))
        value = rng.choice(("", f"={_word(rng)}"))
        words.append(flag + value)
        if not value and rng.random() < 0.7:
            words.append(_word(rng))
    return [[word.replace("\x00", "") for word in words if not _asks_much(word)]]


def _asks_much(word: str) -> bool:
    """Whether a word is a request that is fine and takes long, such as a million steps."""
    return word.partition("=")[2] in ("1e9", "all") or "9" * 5000 in word


def _word(rng: random.Random) -> str:
    word = rng.choice((*WORDS, *(str(value) for value in VALUES)))
    return word.encode("utf-8", "replace").decode()[:2000]


def coded(rng: random.Random, folder: Path) -> list[Command]:
    """Tables of codes, pictures and changes, given to a stored run; and results that it keeps."""
    run = STORED / "beta_vae"
    way = rng.randrange(4)
    if way == 0:
        kind = rng.choice(("csv", "tsv", "npy", "npz", "parquet"))
        file = folder / f"codes.{kind}"
        file.write_bytes(_codes(kind, rng))
        return [["decode", str(run), str(file), "--to", str(folder / "out")]]
    if way == 1:
        words = image_data(rng, folder)[0]
        assert isinstance(words, list)
        skip = ["--bad-images", "skip"] if "skip" in words else []
        to = str(folder / f"codes.{rng.choice(('csv', 'npz', 'parquet'))}")
        return [["encode", str(run), words[1], "--to", to, *skip]]
    if way == 2:
        change = rng.choice((_word(rng), f"z0={_word(rng)}", f"{_word(rng)}=1", "z1+=0.5"))
        words = ["edit", str(run), "--row", rng.choice(("0", "-1", "5000")), "--no-judge"]
        return [[*words, "--to", str(folder / "edited.png"), f"--set={change}".replace("\x00", "")]]
    copied = folder / "one"
    shutil.copytree(run, copied)
    (copied / "applications").mkdir()
    result = {
        "step": 1,
        "paragraph": "words",
        "caveats": ["a", "b"],
        "tables": [{"title": "t", "header": ["a", "b"], "lines": [["c", 1.5], [None, 2]]}],
    }
    kept = copied / "applications" / "fairness.json"
    kept.write_bytes(json_text(json_spoilt(result, rng)))
    kept.with_suffix(".png").write_bytes(bytes_spoilt(_png(), rng))
    return [lambda: _kept(copied)]


def _codes(kind: str, rng: random.Random) -> bytes:
    lines = ["file,shape,z0,z1", *(f"{i}.png,round,{i},-0.5" for i in range(6))]
    content = "\n".join(lines).encode()
    if kind in ("csv", "tsv"):
        return spoilt(content, rng) if rng.random() < 0.8 else content
    return _table("codes", kind, rng, spoil=True)


def _png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8)).save(out, "PNG")
    return out.getvalue()


def _kept(folder: Path) -> Any:
    from unweave import runs
    from unweave.report import application_sections

    return application_sections.sections(runs.load(folder))


KINDS: dict[str, Maker] = {
    "study": study,
    "tables": tables,
    "array_data": array_data,
    "image_data": image_data,
    "run_folder": run_folder,
    "spoilt_settings": spoilt_settings,
    "flags": flags,
    "coded": coded,
}
