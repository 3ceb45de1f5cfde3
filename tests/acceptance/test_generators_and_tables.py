"""InfoGAN on toy_shapes; the Very Deep VAE and LORD on toy_xys."""

import numpy as np
import torch

from unweave.data import FactorImages, load_data
from unweave.evaluation.probes import accuracy
from unweave.methods.info_gan import InfoGAN
from unweave.methods.lord import LORD
from unweave.methods.vae import VAE
from unweave.methods.very_deep_vae import VeryDeepVAE
from unweave.networks.conv_any import ConvAny
from unweave.runs.run import Run
from unweave.settings.optimizers import Adam


def all_images(data: FactorImages) -> np.ndarray:
    return data.images(np.arange(len(data)))


def read_by_another(run: Run, count: int = 3000) -> float:
    """Return how often a linear classifier, trained on generated images, reads the category."""
    from sklearn.linear_model import LogisticRegression

    method = run.config.method
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(0)
        codes = method.sample_prior(run.nets, count)
        run.nets.eval()
        images = method.draw_images(run.nets, codes).flatten(1).numpy()
    category = codes[:, : method.categories[0]].argmax(1).numpy()
    half = count // 2
    model = LogisticRegression(max_iter=200, C=0.1).fit(images[:half], category[:half])
    return float(model.score(images[half:], category[half:]))


def test_info_gan(train, verdict):
    from sklearn.metrics import normalized_mutual_info_score

    shapes = load_data("toy_shapes")
    images, shape = all_images(shapes), shapes.factors()[:, 0]
    measured = {}
    for weight in (1.0, 0.0):
        method = InfoGAN(categories=(3,), information_weight=weight)
        network = ConvAny(channels=(16, 32, 32), hidden=128)
        run = train(method, data=shapes, architecture=network, steps=1500)
        figures = run.terms(images)
        category = run.encode(images)[:, :3].argmax(1)
        measured[f"accuracy λ={weight:g}"] = figures["code_0_accuracy"]
        measured[f"R² of continuous codes λ={weight:g}"] = figures["continuous_r2"]
        measured[f"accuracy of another reader λ={weight:g}"] = read_by_another(run)
        measured[f"NMI with shape of real images λ={weight:g}"] = float(
            normalized_mutual_info_score(shape, category)
        )
    verdict(
        "info_gan",
        "category of 3 read back from generated images > 0.95; with λ = 0 < 0.5",
        measured,
        measured["accuracy λ=1"] > 0.95 and measured["accuracy λ=0"] < 0.5,
    )


def weights_of(run: Run) -> int:
    return sum(parameter.numel() for parameter in run.nets.parameters())


def layer_r2(run: Run, data: FactorImages) -> dict[str, list[float]]:
    """Return how well a linear model finds each factor in the means of each layer."""
    from sklearn.linear_model import Ridge

    factors = data.factors().astype(np.float64)
    with torch.inference_mode():
        run.nets.eval()
        found = run.config.method.infer(run.nets, torch.from_numpy(all_images(data)), draw=False)
    order = np.random.default_rng(0).permutation(len(factors))
    known, asked = order[:700], order[700:]
    explained = {}
    for index, q in enumerate(found.posteriors):
        means = q.mean.flatten(1).numpy()
        model = Ridge(1.0).fit(means[known], factors[known])
        error = (model.predict(means[asked]) - factors[asked]) ** 2
        _, height, width = run.nets.decoder.latent_shape(index)
        share = 1 - error.mean(0) / factors[asked].var(0)
        explained[f"R² of x, y, side in layer {index} of {height}×{width}"] = share.tolist()
    return explained


def test_very_deep_vae(toy, train, verdict):
    images, steps = all_images(toy), 1500
    ladder = train(
        VeryDeepVAE(
            layers_at_size=(1, 2, 1, 0),
            optimizer=Adam(2e-3, betas=(0.9, 0.9), weight_decay=0.01, warmup_steps=100),
        ),
        steps=steps,
        architecture=ConvAny(),
    )
    plain = {
        rate: train(
            VAE(optimizer=Adam(rate)),
            steps=steps,
            architecture=ConvAny(channels=(8, 16, 16), hidden=40),
        )
        for rate in (1e-3, 2e-3)
    }
    terms = ladder.terms(images)
    best = max(run.terms(images)["elbo"] for run in plain.values())
    sizes = [weights_of(ladder), weights_of(plain[1e-3])]
    rates = {name: value for name, value in terms.items() if name.startswith("rate")}
    verdict(
        "very_deep_vae",
        "−ELBO below that of a VAE of no fewer weights, the better of two learning rates; "
        "every rate ≥ 0",
        {
            "−ELBO": -terms["elbo"],
            "−ELBO of the VAE": -best,
            "weights of ladder and VAE": sizes,
            "rates from the top": list(rates.values()),
            **layer_r2(ladder, toy),
        },
        terms["elbo"] > best and sizes[1] >= sizes[0] and min(rates.values()) >= 0,
    )


def r2(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the share of the variance that is found."""
    return float(1 - ((found - wanted) ** 2).sum() / ((wanted - wanted.mean(0)) ** 2).sum())


def test_lord(toy, train, verdict):
    """Contents begin near 0 and can be told apart once they outgrow their noise. This short run
    in few dimensions takes tables ten times faster than the paper's; with half of the paper's
    batch, a row is visited too seldom and contents of some seeds keep the class."""
    fast = Adam(1e-3, betas=(0.5, 0.999))
    method = LORD(
        latent_dim=4,
        class_column="side",
        channels=32,
        table_speed=100,
        first_stage_steps=1500,
        optimizer=fast,
        encoder_optimizer=fast,
    )
    found: dict[str, list[float]] = {}
    for seed in range(3):
        run = train(method, steps=2500, batch_size=128, seed=seed)
        for name, value in of_lord(run, toy).items():
            found.setdefault(name, []).append(value)
    verdict(
        "lord",
        "each of 3 seeds: class (side, chance 0.25) from c ≤ 0.40; encoders find the codes of "
        "stage one, R² > 0.8",
        found,
        max(found["class from c"]) <= 0.40
        and min(found["R² of contents"]) > 0.8
        and min(found["R² of class codes"]) > 0.8,
    )


def of_lord(run: Run, toy: FactorImages) -> dict[str, float]:
    """Return what the codes of a run tell, and how well swaps go."""
    images, factors = all_images(toy), toy.factors()
    side = factors[:, 2]
    contents = run.nets.contents.weight.detach().numpy()
    class_codes = run.nets.classes.weight.detach().numpy()[side]
    codes = run.encode(images)
    size = contents.shape[1]
    found, found_class = codes[:, :size], codes[:, size:]
    alike = factors[:, 0] * 16 + factors[:, 1]  # same place, other class
    # Class of one image, place of another, against the image that has both.
    rng = np.random.default_rng(0)
    place, donor = rng.integers(len(toy), size=(2, 500))
    truth = toy.rows_of(np.column_stack([factors[place, :2], side[donor]]))
    swapped = run.swap(images[donor], images[place])
    wrong = np.abs(swapped - images[truth]).sum((1, 2, 3))
    unchanged = np.abs(images[place] - images[truth]).sum((1, 2, 3))
    return {
        "class from c": accuracy(contents, side, alike),
        "class from c, linear": accuracy(contents, side, alike, linear=True),
        "class from E_c(x)": accuracy(found, side, alike),
        "class from E_y(x)": accuracy(found_class, side, alike),
        "R² of contents": r2(found, contents),
        "R² of class codes": r2(found_class, class_codes),
        "pixels wrong after a swap, of 1024": float(wrong.mean()),
        "pixels wrong if nothing were swapped": float(unchanged.mean()),
    }
