"""What several rules measure of a run."""

import numpy as np
import torch

from rules._training import all_images, squares
from unweave.metrics import kl_decomposition
from unweave.probability.divergence import mmd_rbf
from unweave.runs.run import Run


def evidence(run: Run) -> dict[str, float]:
    """Return R and KL over all images of the run's data, in nats."""
    terms = run.terms(all_images(run.data))
    return {"R": terms["reconstruction"], "KL": terms["kl"]}


def squared_error(run: Run) -> float:
    """Return the squared error of an image decoded from its code."""
    images = all_images(run.data)
    return float(np.square(run.reconstruct(images) - images).sum((1, 2, 3)).mean())


def drawn_codes(run: Run) -> np.ndarray:
    """Return a code of every image, with the noise that training gives it."""
    return run.draw_codes(all_images(run.data))


def distance_to_prior(run: Run) -> float:
    """Return the unbiased MMD² of drawn codes and a standard normal."""
    z = torch.from_numpy(drawn_codes(run))
    generator = torch.Generator().manual_seed(1)
    return mmd_rbf(z, torch.randn(z.shape, generator=generator), unbiased=True).item()


def split_rate(run: Run) -> dict[str, float]:
    """Return mutual information and total correlation over all images, in nats."""
    found = run.posterior(all_images(run.data))
    assert found is not None
    details = kl_decomposition(*found, estimator="exact").details
    return {"MI": details["mutual_information"], "TC": details["total_correlation"]}


def one_blob(images: np.ndarray) -> float:
    """Return the share of images (image, 1, height, width) with one connected bright region."""
    from scipy.ndimage import label

    return float(np.mean([label(image[0] > 0.5)[1] == 1 for image in images]))


def of_the_factors(codes: np.ndarray, factors: np.ndarray) -> list[float]:
    """Return the R² of each factor by a forest of codes, on the other half of the rows."""
    from sklearn.ensemble import RandomForestRegressor

    order = np.random.default_rng(0).permutation(len(codes))
    known, asked = np.array_split(order, 2)
    model = RandomForestRegressor(50, min_samples_leaf=2, random_state=0)
    model.fit(codes[known], factors[known])
    error = np.square(model.predict(codes[asked]) - factors[asked]).mean(0)
    return list(1 - error / factors[asked].var(0))


def samples(run: Run, rows: int = 4, columns: int = 8) -> dict[str, np.ndarray]:
    """Return samples, to look at."""
    drawn = run.sample(rows * columns)[:, 0]
    return {"images": drawn.reshape(rows, columns, *drawn.shape[1:])}


def traversals(run: Run, image: int = 518, steps: int = 8) -> dict[str, np.ndarray]:
    """Return one line for each latent, varied around the code of an image, to look at."""
    lines = run.traverse(all_images(run.data)[image], steps=steps)
    return {"images": lines[:, :, 0]}


def reconstructions(run: Run, count: int = 8) -> dict[str, np.ndarray]:
    """Return some images and, below them, what is decoded from their codes, to look at."""
    images = all_images(run.data)[:: len(run.data) // count][:count]
    return {"images": np.stack([images[:, 0], run.reconstruct(images)[:, 0]])}


def scatter(codes: np.ndarray, color: np.ndarray, first: int = 0, second: int = 1) -> dict:
    """Return two dimensions of codes, to look at."""
    return {"points": codes[:, [first, second]], "color": np.asarray(color, dtype=float)}


def swaps(run: Run, column: int = 2, count: int = 5) -> dict[str, np.ndarray]:
    """Return a grid: the content of the image above, the style of the image on the left."""
    data = squares()
    images, factors = all_images(data), data.factors()
    values = np.unique(factors[:, column])
    rng = np.random.default_rng(3)
    contents = np.array([rng.choice(np.flatnonzero(factors[:, column] == v)) for v in values])
    styles = rng.choice(len(data), size=count, replace=False)
    above, beside = (m.ravel() for m in np.meshgrid(contents, styles))
    made = run.swap(images[above], images[beside])[:, 0].reshape(count, len(values), 32, 32)
    head = np.concatenate([np.zeros((1, 1, 32, 32)), images[contents][None, :, 0]], axis=1)
    body = np.concatenate([images[styles][:, None, 0], made], axis=1)
    return {"images": np.concatenate([head, body])}
