"""What does a small StyleGAN learn, in which styles, and along which directions?

    python benchmarks/style_gan.py --seeds 0 1 2        # a minute of one core each
    python benchmarks/style_gan.py --report             # the page again, from what is kept

Trains style_gan as it is by default on squares, with `--data toy_shapes` on shapes. Runs lie
under build/style_gan and are gone on with if they were stopped; numbers are kept by data set and
seed in docs/results/style_gan.jsonl, pictures of seed 0 beside it, and what is there is not
measured again.
Seconds are those of the processor, so that other work on the machine does not count.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from marked_pages import renew
from unweave import devices, figures
from unweave.data import FactorImages, load_data
from unweave.editing.factor_reader import FactorReader, fit_reader
from unweave.evaluation.style_spaces import Spaces, path_lengths, separabilities, spaces_of
from unweave.figures.pictures import ImageGrid
from unweave.methods.style_gan import StyleGAN
from unweave.metrics import dci, mig
from unweave.runs.config import Machine, Train
from unweave.runs.run import Run, load
from unweave.training import loop

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results" / "style_gan.md"
KEPT, PICTURES = PAGE.with_suffix(".jsonl"), PAGE.with_suffix("")
BUILD = ROOT / "build" / "style_gan"
DATA = {"toy_xys": 600, "toy_shapes": 600}
"""Data sets, and steps on each."""
BATCH = 16
COARSE = 2
"""Layers of the sizes 4 and 8 are coarse, those of 16 and 32 fine."""
COUNT = 500
KINDS = ("ganspace", "sefa")
SHOWN = 8  # images along a line


def trained(name: str, seed: int) -> tuple[Run, float | None]:
    """Return a run that is trained to its end, and the seconds it took if that was at one go."""
    folder, data = BUILD / f"{name}-s{seed}", load_data(name)
    config = Train(method=StyleGAN(), data=name, steps=DATA[name], batch_size=BATCH, seed=seed)
    machine = Machine(evaluations=0, threads=1, checkpoint_seconds=60.0)
    began = time.process_time()
    if not folder.exists():
        return loop.start(config, data, folder, machine), time.process_time() - began
    if (folder / "networks.safetensors").is_file():
        return load(folder, data=data), None
    return loop.resume(folder, data, machine), None


def with_code(run: Run, **settings: Any) -> Run:
    """Return the run with directions of another kind, found in the same networks."""
    method = replace(run.config.method, **settings)
    if method == run.config.method:
        return run
    config = replace(run.config, method=method)
    nets = loop.make_networks(config, run.data)
    devices.place(nets, torch.device("cpu"))
    for name in ("judge", "mapping", "synthesis"):
        getattr(nets, name).load_state_dict(getattr(run.nets, name).state_dict())
    with torch.random.fork_rng():
        torch.manual_seed(0)
        method.finish(nets.eval(), run.data, 0)
    return Run(config, run.summary, nets, step=run.step, data=run.data)


def measure(name: str, seed: int) -> dict[str, Any]:
    """Train a run and return what can be said of it in numbers."""
    run, seconds = trained(name, seed)
    data, reader = run.data, fit_reader(run.data)
    spaces = spaces_of(run, 2 * COUNT)
    line: dict[str, Any] = {
        "data": name,
        "seed": seed,
        "steps": run.step,
        "cpu_seconds": None if seconds is None else round(seconds, 1),
        "samples": of_samples(run, data),
        "spaces": of_spaces(spaces, reader),
        "styles": of_styles(run, spaces, reader),
        "codes": {kind: of_codes(with_code(run, directions=kind)) for kind in KINDS},
    }
    if seed == 0:
        draw(run, name)
    return line


def of_samples(run: Run, data: FactorImages) -> dict[str, float]:
    """Return how many samples are one region, how far from real images, and what they cover."""
    from scipy.ndimage import label

    drawn, images = run.sample(COUNT), data.images(np.arange(len(data)))
    flat = torch.from_numpy(images.reshape(len(images), -1))
    near = torch.cdist(torch.from_numpy(drawn.reshape(COUNT, -1)), flat, p=1).min(1)
    again = data.images(np.random.default_rng(0).integers(len(data), size=COUNT))
    same = torch.cdist(torch.from_numpy(again.reshape(COUNT, -1)), flat, p=1).min(1)
    found = len(near.indices.unique()) / len(same.indices.unique())
    return {
        "one_region": float(np.mean([label(image[0] > 0.5)[1] == 1 for image in drawn])),
        "pixels_to_nearest": float(near.values.mean()),
        "bright_pixels": float(images.sum((1, 2, 3)).mean()),
        "covered": found,
    }


def of_spaces(spaces: Spaces, reader: FactorReader) -> dict[str, dict[str, float]]:
    """Return path lengths and linear separability in z and w."""
    full = path_lengths(spaces, COUNT)
    end = path_lengths(spaces, COUNT, "karras2019_end")
    apart = separabilities(spaces, reader.read(spaces.images))
    return {
        name: {"full": full[name].value, "end": end[name].value, "apart": apart[name].value}
        for name in full
    }


def of_styles(run: Run, spaces: Spaces, reader: FactorReader) -> dict[str, dict[str, float]]:
    """Return how far factors move if the styles of some sizes are those of another draw."""
    first, second = (half[:, None] for half in styles_of(run, spaces).chunk(2))
    layers = len(run.nets.synthesis.sizes)
    own, other = (w.expand(-1, layers, -1) for w in (first, second))
    before = rendered(run, own)
    found = {}
    for level, size in enumerate(run.nets.synthesis.sizes):
        mixed = own.clone()
        mixed[:, level] = other[:, level]
        change = reader.change(before, rendered(run, mixed)).mean(0)
        found[f"{size[0]}×{size[1]}"] = dict(zip(reader.names, map(float, change), strict=True))
    change = reader.change(before, rendered(run, other)).mean(0)
    return found | {"all": dict(zip(reader.names, map(float, change), strict=True))}


def of_codes(run: Run) -> dict[str, float]:
    """Return what the head reads back, and scores of its codes of real images."""
    data = run.data
    images, factors = data.images(np.arange(len(data))), data.factors()
    codes = run.encode(images)
    terms = run.terms(images[:1024])
    return {
        "read_r2": terms["codes_read_r2"],
        "mig": mig(codes, factors).value,
        "dci": dci(codes, factors).value,
    }


def styles_of(run: Run, spaces: Spaces) -> torch.Tensor:
    return torch.from_numpy(spaces.codes["w"]).float()


def rendered(run: Run, styles: torch.Tensor) -> np.ndarray:
    """Return the images of styles (image, layer, width), without noise."""
    method, nets = run.config.method, run.nets
    assert isinstance(method, StyleGAN)
    with torch.inference_mode():
        return np.asarray(method.render(nets, styles, nets.synthesis.no_noise()).numpy())


def draw(run: Run, name: str) -> None:
    """Draw samples, mixes of coarse and fine styles, directions, and traversals by size."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    figures.prior_samples(run, 4 * SHOWN).save(PICTURES / f"{name}-samples.png")
    mixing(run).save(PICTURES / f"{name}-mixing.png")
    for kind in KINDS:
        other = with_code(run, directions=kind)
        grid = figures.traversals(other, "prior", latents=list(range(5)), steps=SHOWN + 1)
        grid.save(PICTURES / f"{name}-{kind}.png")
    split = with_code(run, latent_dim=3, blocks=(COARSE,))
    grid = figures.traversals(split, "prior", latents=list(range(6)), steps=SHOWN + 1)
    grid.save(PICTURES / f"{name}-by-size.png")


def mixing(run: Run) -> ImageGrid:
    """Return a grid: coarse styles of the image on the left, fine ones of the image above."""
    w = styles_of(run, spaces_of(run, 2 * SHOWN, seed=1))
    styles = w[:, None].expand(-1, len(run.nets.synthesis.sizes), -1)
    left, above = styles.chunk(2)
    mixed = torch.cat(
        [
            left[:, None, :COARSE].expand(-1, SHOWN, -1, -1),
            above[None, :, COARSE:].expand(SHOWN, -1, -1, -1),
        ],
        dim=2,
    )
    cells = rendered(run, mixed.flatten(0, 1)).reshape(SHOWN, SHOWN, *run.image_shape)
    heads = rendered(run, styles)
    whole = np.ones((SHOWN + 1, SHOWN + 1, *run.image_shape), dtype=np.float32)
    whole[1:, 1:], whole[1:, 0], whole[0, 1:] = cells, heads[:SHOWN], heads[SHOWN:]
    return ImageGrid(
        whole, title="styles of sizes 4 and 8 by line, of 16 and 32 by column", header=True
    )


def read() -> list[dict[str, Any]]:
    """Return what was measured so far."""
    if not KEPT.is_file():
        return []
    return [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()]


def row(*cells: Any) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(*cells: str) -> list[str]:
    return [row(*cells), "|" + "---|" * len(cells)]


def each(values: list[float], digits: int = 2) -> str:
    """Return the numbers of all seeds, and the median if there are several."""
    text = ", ".join(f"{value:.{digits}f}" for value in values)
    return f"{text} (**{median(values):.{digits}f}**)" if len(values) > 1 else text


def tables(lines: list[dict[str, Any]]) -> dict[str, str]:
    """Return the tables of the page by name."""
    samples = head("data", "seeds", "one region", "pixels to the nearest", "bright", "covered", "s")
    spaces = head("data", "space", "path length, full", "end", "linear separability")
    codes = head("data", "directions", "read back, R²", "MIG", "DCI")
    styles = []
    for name in DATA:
        own = sorted((x for x in lines if x["data"] == name), key=lambda line: line["seed"])
        if not own:
            continue
        of = [line["samples"] for line in own]
        samples.append(
            row(
                f"`{name}`",
                " ".join(str(line["seed"]) for line in own),
                each([x["one_region"] for x in of]),
                each([x["pixels_to_nearest"] for x in of], 0),
                f"{of[0]['bright_pixels']:.0f}",
                each([x["covered"] for x in of]),
                each([line["cpu_seconds"] for line in own if line["cpu_seconds"]], 0),
            )
        )
        for space in ("z", "w"):
            found = [line["spaces"][space] for line in own]
            cells = [each([x[key] for x in found], 0) for key in ("full", "end")]
            spaces.append(row(f"`{name}`", space, *cells, each([x["apart"] for x in found])))
        for kind in KINDS:
            found = [line["codes"][kind] for line in own]
            cells = [each([x[key] for x in found]) for key in ("read_r2", "mig", "dci")]
            codes.append(row(f"`{name}`", f"`{kind}`", *cells))
        factors = list(own[0]["styles"]["all"])
        styles += ["", *head(f"`{name}`: styles of", *factors)]
        for size in own[0]["styles"]:
            cells = [each([line["styles"][size][factor] for line in own]) for factor in factors]
            styles.append(row(size, *cells))
    return {
        "samples": "\n".join(samples),
        "spaces": "\n".join(spaces),
        "styles": "\n".join(styles).strip(),
        "codes": "\n".join(codes),
    }


def write_report() -> None:
    """Renew the measured parts of the page; the words around them stay."""
    found = tables(read())
    for name, table in found.items():
        print(f"{name}\n{table}\n")
    renew(PAGE, found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--data", nargs="+", choices=DATA, default=["toy_xys"])
    parser.add_argument("--report", action="store_true", help="write the page and stop")
    wanted = parser.parse_args()
    if not wanted.report:
        devices.tune_allocator()
        known = {(line["data"], line["seed"]) for line in read()}
        for seed in wanted.seeds:
            for name in wanted.data:
                if (name, seed) not in known:
                    line = json.dumps(measure(name, seed), ensure_ascii=False)
                    with open(KEPT, "a", encoding="utf-8") as file:
                        file.write(line + "\n")
                    print(line, flush=True)
    write_report()


if __name__ == "__main__":
    main()
