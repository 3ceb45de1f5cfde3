"""Few labels on toy_shapes and toy_xys; a further observation on segments."""

from collections.abc import Callable

import numpy as np
import torch
from sklearn.decomposition import FastICA
from torch.nn.functional import cross_entropy

from unweave.data import Column, Factor, FactorImages, load_data
from unweave.evaluation.probes import leakage
from unweave.methods import Method
from unweave.methods._label_losses import HEADS
from unweave.methods.aae_semi_supervised import AAESemiSupervised
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.i_vae import IVAE
from unweave.methods.m2 import M2
from unweave.methods.semi_supervised import SemiSupervised
from unweave.methods.vae import VAE
from unweave.metrics import mcc, mig
from unweave.networks import Architecture
from unweave.networks.conv_any import ConvAny
from unweave.networks.mlp64 import MLP64
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam
from unweave.settings.schedules import Schedule

SEEDS = range(3)
LABELS = 100
FAST = {"optimizer": Adam(1e-3)}
NETWORK = MLP64(hidden=256)
STEPS = 8_000  # of iVAE and of what it is held against


def labels_alone(
    data: FactorImages,
    rows: np.ndarray,
    outputs: int,
    loss: Callable,
    seed: int,
    steps: int,
    network: Architecture = NETWORK,
) -> Callable[[np.ndarray], np.ndarray]:
    """Return an encoder that learns from labelled images alone, as a function of images.

    `loss` is asked for what to lower, of outputs and of which lines of `rows` they are.
    """
    images = torch.from_numpy(data.images(rows))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = network.encoder(data.image_shape, outputs)
        optimizer = torch.optim.Adam(net.parameters(), 1e-3)
        for _ in range(steps):
            chosen = torch.randperm(len(rows))[:64]
            optimizer.zero_grad()
            loss(net(images[chosen]), chosen).backward()
            optimizer.step()

    def encode(images: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return net(torch.from_numpy(images)).numpy()

    return encode


def without_segments(data: FactorImages) -> FactorImages:
    """Return the same points, with one segment for all."""
    segment = Column(Factor("segment", 1), np.zeros(len(data), dtype=np.int64))
    return FactorImages(data.name, data.pixels, data.factor_list, data.factors(), columns=[segment])


def classifier(
    shapes: FactorImages,
    rows: np.ndarray,
    seed: int,
    steps: int,
    network: Architecture = NETWORK,
) -> Callable:
    """Return a function that names the shape on images, having learnt it from some rows."""
    classes = torch.from_numpy(shapes.column("shape", rows)).long()

    def loss(logits, chosen):
        return cross_entropy(logits, classes[chosen])

    encode = labels_alone(shapes, rows, 3, loss, seed, steps, network)
    return lambda images: encode(images).argmax(1)


def samples_as_asked(run: Run, named: Callable) -> float:
    """Return how often a sample of a class is named so by a classifier of images."""
    codes = run.prior_codes(1500)
    asked = codes[:, :3].argmax(1)
    return float((named(run.decode(codes)) == asked).mean())


def judge_classes(
    name: str, make, train, verdict, *, steps: int, network: Architecture, batch_size: int = 64
) -> None:
    """Hold a method to its rule: it classifies better than labels alone, and z does not."""
    shapes = load_data("toy_shapes")
    classes = shapes.column("shape")
    rows = np.arange(len(shapes))
    judge = classifier(shapes, rows, seed=0, steps=1000)
    accuracy, alone, leaks, as_asked = [], [], [], []
    for seed in SEEDS:
        method = make(seed)
        run = train(
            method,
            data=shapes,
            architecture=network,
            steps=steps,
            batch_size=batch_size,
            seed=seed,
        )
        told = method.supervision.table(shapes).rows
        test = np.setdiff1d(rows, told)
        content = run.encode(shapes.images(test))[:, run.code.roles["content"]]
        accuracy.append(float((content.argmax(1) == classes[test]).mean()))
        by_labels = classifier(shapes, told, seed, steps=300, network=network)(shapes.images(test))
        alone.append(float((by_labels == classes[test]).mean()))
        leaks.append(leakage(run))
        as_asked.append(samples_as_asked(run, judge))
    linear = [leak.linear["style"] for leak in leaks]
    drawn = [leak.drawn["style"] for leak in leaks]
    chance = leaks[0].chance
    verdict(
        name,
        f"{LABELS} labels, each of {len(SEEDS)} seeds: class of the other images named right "
        "more often, by 3 points, than by the encoder trained on the labels alone; class by a "
        "linear probe of z at most chance + 10 points, and so the median of what a forest finds in "
        "z as it is drawn",
        {
            "accuracy": accuracy,
            "labels alone": alone,
            "z, linear probe": linear,
            "z as drawn, forest": drawn,
            "z, forest": [leak.accuracy["style"] for leak in leaks],
            "chance": chance,
            "samples of a class named so by a classifier of all images": as_asked,
            "images named right by it": float((judge(shapes.images(rows)) == classes).mean()),
        },
        all(found >= by_labels + 0.03 for found, by_labels in zip(accuracy, alone, strict=True))
        and max(linear) <= chance + 0.1
        and bool(np.median(drawn) <= chance + 0.1),
    )


def test_m2(train, verdict):
    """The style has room for the class too until its KL weighs more; had it weighed more from
    the start, classes would not all be found."""

    def make(seed: int) -> M2:
        return M2(
            latent_dim=3,
            labels=LABELS,
            label_seed=seed,
            beta=Schedule(1, 5, 2500, wait=2500),
            class_warmup_steps=200,
            hidden=128,
            optimizer=Adam(2e-3),
        )

    network = ConvAny(channels=(16, 16, 32), hidden=128)
    judge_classes("m2", make, train, verdict, steps=5000, network=network, batch_size=32)


def test_aae_semi_supervised(train, verdict):
    def make(seed: int) -> AAESemiSupervised:
        return AAESemiSupervised(
            latent_dim=2,
            labels=LABELS,
            label_seed=seed,
            discriminator_width=256,
            discriminator_optimizer=Adam(5e-4, betas=(0.5, 0.9)),
            **FAST,
        )

    judge_classes("aae_semi_supervised", make, train, verdict, steps=2500, network=NETWORK)


def test_semi_supervised(toy, train, verdict):
    images, factors = toy.images(np.arange(len(toy))), toy.factors()
    alone = BetaVAE(beta=4, latent_dim=6, **FAST)
    scores, twins, aligned, by_labels = [], [], [], []
    for seed in SEEDS:
        twin = SemiSupervised(alone, labels=LABELS, label_seed=seed)
        found = mig(train(twin, steps=1500, seed=seed).encode(images), factors)
        twins.append(found.value)
        aligned.append(found.details["best_code"].tolist() == [0, 1, 2])
        rows, values = twin.supervision.table(toy)
        head, labels = HEADS["xent"](toy.factor_sizes), torch.from_numpy(values)
        supervised = labels_alone(
            toy, rows, 3, lambda codes, i, h=head, y=labels: h(codes, y[i]), seed, steps=1500
        )
        by_labels.append(mig(supervised(images), factors).value)
        scores.append(mig(train(alone, steps=1500, seed=seed).encode(images), factors).value)
    verdict(
        "semi_supervised+beta_vae",
        f"{LABELS} labels, {len(SEEDS)} seeds: median MIG at least β-VAE's + 0.2; the dimension "
        "that knows most of factor k is k",
        {
            "MIG": twins,
            "MIG β-VAE": scores,
            "MIG of an encoder of the labels alone": by_labels,
            "aligned": aligned,
        },
        bool(np.median(twins) >= np.median(scores) + 0.2) and all(aligned),
    )


def test_i_vae(train, verdict):
    """A VAE's encoder sees points as they are, iVAE's at unit scale: the same networks without
    segments are the fairer contest. How much either finds by chance differs between seeds."""
    segments = load_data("segments")
    rows = np.random.default_rng(0).choice(len(segments), size=5000, replace=False)
    points, sources = segments.images(rows), segments.factors(rows)
    settings = {"latent_dim": 5, "pixel_scale": 0.01, "optimizer": Adam(3e-3, decay_steps=STEPS)}
    method = IVAE(**settings)
    u = torch.from_numpy(method.supervision.values(segments, rows))
    found: dict[str, list[float]] = {"MCC": [], "MCC with u": [], "MCC u hidden": [], "MCC VAE": []}

    def learn(chosen: Method, data: FactorImages, seed: int) -> Run:
        leaky = "leaky_relu"  # with relu it depends more on the seed
        network = MLP64(hidden=64, encoder_activation=leaky, decoder_activation=leaky)
        options = {"architecture": network, "steps": STEPS, "batch_size": 128}
        return train(chosen, data=data, seed=seed, **options)

    for seed in SEEDS:
        run = learn(method, segments, seed)
        with torch.no_grad():
            knowing = method.encode_with(run.nets, torch.from_numpy(points), u).numpy()
        others = [
            learn(method, without_segments(segments), seed),
            learn(VAE(likelihood="gaussian", **settings), segments, seed),
        ]
        codes = (run.encode(points), knowing, *(other.encode(points) for other in others))
        for values, of in zip(found.values(), codes, strict=True):
            values.append(float(mcc(of, sources).value))
    middle = {name: float(np.median(values)) for name, values in found.items()}
    by_ica = FastICA(whiten="unit-variance", random_state=0).fit_transform(points.reshape(5000, -1))
    verdict(
        "i_vae",
        f"segments, medians of {len(SEEDS)} seeds: MCC of codes from images alone > 0.8, and by "
        "more than 0.2 above that of a VAE and of iVAE which is told one segment for all",
        {**found, "MCC of linear ICA": float(mcc(by_ica, sources).value)},
        middle["MCC"] > max(0.8, middle["MCC u hidden"] + 0.2, middle["MCC VAE"] + 0.2),
    )
