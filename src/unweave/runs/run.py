"""A run loaded back: from images to codes, from codes to images."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unweave import catalog, devices
from unweave.code_prior import CodePrior
from unweave.runs.config import Train
from unweave.data import DataSummary, FactorImages, load_data
from unweave.errors import ConfigError, DataError
from unweave.networks import Networks, architecture_for
from unweave.runs.notebook import run_html
from unweave.probability.gaussian import DiagonalGaussian
from unweave.runs.folder import RunFolder, checked_latent_name

CHUNK = 128  # images; larger parts leave the processor's cache


class Run:
    """Trained networks with their settings; arrays in, arrays out."""

    def __init__(
        self,
        config: Train,
        summary: DataSummary,
        nets: Networks,
        *,
        step: int,
        folder: RunFolder | None = None,
        data: FactorImages | None = None,
    ):
        self.config = config
        self.summary = summary
        self.image_shape = summary.image_shape
        self.nets = nets
        self.step = step
        self.folder = folder
        self._data = data
        self._latent_names: dict[int, str] = {}

    def __repr__(self) -> str:
        place = self.folder.path if self.folder else "in memory"
        return f"<run of {self.config.method} on {self.config.data} at step {self.step}: {place}>"

    def _repr_html_(self) -> str:
        return run_html(self.config, self.step, self.folder)

    @property
    def path(self) -> Path:
        """Return the run's folder."""
        if self.folder is None:
            raise ConfigError("this run lives in memory only and has no folder")
        return self.folder.path

    @cached_property
    def data(self) -> FactorImages:
        """Return the data set the run was trained on."""
        if self._data is not None:
            return self._data
        return load_data(self.config.data, self.config.data_options)

    @property
    def latent_dim(self) -> int:
        """Return how many numbers a code has."""
        return self.config.method.code_size(self.nets)

    @property
    def name(self) -> str:
        """Return what to call the run: its folder's name, or that of its settings."""
        if self.folder is None:
            return self.config.run_name
        return self.folder.path.resolve().name

    @property
    def has_encoder(self) -> bool:
        """Return whether codes follow from images alone."""
        return self.config.method.has_encoder

    @property
    def has_decoder(self) -> bool:
        """Return whether images can be made of codes."""
        return self.config.method.has_decoder

    @property
    def has_swap(self) -> bool:
        """Return whether content and style can be taken from different images."""
        return self.config.method.has_swap

    @property
    def kl_limit(self) -> float | None:
        """Return the KL in nats that the method holds the code to, if it does."""
        return self.config.method.kl_limit(self.step)

    @property
    def latent_names(self) -> dict[int, str]:
        """Return the names that latents were given, by index."""
        if self.folder is None:
            return dict(self._latent_names)
        return {i: name for i, name in self.folder.latent_names().items() if i < self.latent_dim}

    def name_latent(self, latent: int, name: str) -> None:
        """Give a latent a name, kept in the run folder and used in figures; "" takes it away."""
        if not 0 <= latent < self.latent_dim:
            raise ConfigError(f"expected a latent from 0 to {self.latent_dim - 1}, found {latent}")
        names = self.latent_names
        names.pop(latent, None)
        if name.strip():
            names[latent] = checked_latent_name(name)
        if self.folder is None:
            self._latent_names = names
        else:
            self.folder.write_latent_names(names)

    @property
    def scores(self) -> dict[str, Any]:
        """Return the scores by metric, as `unweave evaluate` wrote them."""
        return self.folder.scores() if self.folder else {}

    def encode(self, images: Any) -> np.ndarray:
        """Return the codes of images: float32 (row, code)."""
        if not self.config.method.has_encoder:
            raise ConfigError(f"{self._method_name} has no codes of images, only of rows of data")
        return self._in_chunks(
            self._as_images(images), lambda part: self.config.method.encode(self.nets, part)
        )

    def posterior(self, images: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """Return mean and log-variance of q(z|x), or None if the method has no Gaussian one."""

        def both(part: Tensor) -> Tensor | None:
            q: DiagonalGaussian | None = self.config.method.posterior(self.nets, part)
            return None if q is None else torch.stack([q.mean, q.logvar], dim=1)

        checked = self._as_images(images)
        with self._computing():
            if both(self._tensor(checked[:1])) is None:
                return None
        stacked = self._in_chunks(checked, both)
        return stacked[:, 0], stacked[:, 1]

    def draw_codes(self, images: Any, seed: int = 0) -> np.ndarray:
        """Return the codes of images with the noise that training gives them, if it gives any."""
        checked, method = self._as_images(images), self.config.method
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return self._in_chunks(checked, lambda part: method.draw_codes(self.nets, part))

    def terms(self, images: Any, seed: int = 0) -> dict[str, float]:
        """Return the method's own figures on images, such as the terms of the evidence bound."""
        checked = self._as_images(images)
        total: dict[str, float] = {}
        with self._computing(), torch.random.fork_rng():
            torch.manual_seed(seed)
            for part in in_parts(checked):
                for name, value in self.config.method.diagnose(
                    self.nets, self._tensor(part)
                ).items():
                    total[name] = total.get(name, 0.0) + float(value) * len(part) / len(checked)
        return total

    def encode_rows(self, rows: np.ndarray, data: FactorImages | None = None) -> np.ndarray:
        """Return the codes of rows of the data set, without holding all images at once."""
        data = data or self.data
        method = self.config.method
        if not method.has_encoder:
            return method.encode_rows(self.nets, data, rows).float().cpu().numpy()
        parts = [self.encode(data.images(part)) for part in in_parts(rows)]
        return np.concatenate(parts)

    def decode(self, codes: Any) -> np.ndarray:
        """Return the images of codes: float32 (row, channel, height, width) in [0, 1]."""
        self._check_decoder()
        codes = np.asarray(codes, dtype=np.float32)
        if codes.ndim != 2 or codes.shape[1] != self.latent_dim:
            raise DataError(f"expected codes (row, {self.latent_dim}), found shape {codes.shape}")
        return self._in_chunks(codes, lambda part: self.config.method.decode(self.nets, part))

    def reconstruct(self, images: Any) -> np.ndarray:
        """Return the images decoded from their codes."""
        return self.decode(self.encode(images))

    @property
    def code_prior(self) -> CodePrior:
        """Return the prior that posteriors are compared with."""
        return self.config.method.code_prior

    def sample(self, count: int, seed: int = 0) -> np.ndarray:
        """Return images drawn from the prior."""
        self._check_decoder()
        method = self.config.method
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            codes = method.sample_prior(self.nets, count).detach().float().cpu().numpy()
            return self._in_chunks(codes, lambda part: method.draw_images(self.nets, part))

    def prior_codes(self, count: int, seed: int = 0) -> np.ndarray:
        """Return codes drawn from the prior: float32 (row, code)."""
        self._check_decoder()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            codes = self.config.method.sample_prior(self.nets, count)
        return codes.detach().float().cpu().numpy()

    def swap(self, content_images: Any, style_images: Any) -> np.ndarray:
        """Return images with the content of each row and the style of the same row of another."""
        content, style = self._as_images(content_images), self._as_images(style_images)
        if len(content) != len(style):
            raise DataError(f"{len(content)} contents for {len(style)} styles")
        return self._in_chunks(
            np.stack([content, style], axis=1),
            lambda part: self.config.method.swap(self.nets, *part.unbind(1)),
        )

    def accumulate(self, images: Any) -> np.ndarray:
        """Return the content that images of one group give together, float32 (content,)."""
        checked = self._as_images(images)
        with self._computing():
            q = self.config.method.accumulate(self.nets, self._tensor(checked))
            return q.mean[0].float().cpu().numpy()

    def traverse(
        self,
        start: Any = None,
        *,
        dimensions: list[int] | None = None,
        low: float = -2.0,
        high: float = 2.0,
        steps: int = 9,
    ) -> np.ndarray:
        """Vary one dimension at a time: images (dimension, step, channel, height, width).

        `start` is a code or an image; by default the centre of the prior.
        """
        code = self._start_code(start)
        dimensions = list(range(self.latent_dim)) if dimensions is None else dimensions
        outside = [d for d in dimensions if not 0 <= d < self.latent_dim]
        if outside or steps < 1:
            raise ConfigError(
                f"expected dimensions from 0 to {self.latent_dim - 1} and 1 step or more, "
                f"found {outside or steps}"
            )
        codes = np.tile(code, (len(dimensions), steps, 1))
        for line, dimension in enumerate(dimensions):
            codes[line, :, dimension] = np.linspace(low, high, steps)
        images = self.decode(codes.reshape(-1, self.latent_dim))
        return images.reshape(len(dimensions), steps, *self.image_shape)

    def _start_code(self, start: Any) -> np.ndarray:
        if start is None:
            return np.zeros(self.latent_dim, dtype=np.float32)
        start = np.asarray(start, dtype=np.float32)
        if start.shape == (self.latent_dim,):
            return start
        if start.shape == self.image_shape:
            return self.encode(start[None])[0]
        raise DataError(
            f"expected a code of {self.latent_dim} numbers or an image of shape "
            f"{self.image_shape}, found shape {start.shape}"
        )

    @property
    def _method_name(self) -> str:
        return catalog.name_of(self.config.method)

    def _check_decoder(self) -> None:
        if not self.config.method.has_decoder:
            raise ConfigError(f"{self._method_name} has no decoder: it makes no images of codes")

    def _as_images(self, images: Any) -> np.ndarray:
        array = images.detach().cpu().numpy() if isinstance(images, Tensor) else np.asarray(images)
        if array.ndim != 4 or array.shape[1:] != self.image_shape:
            wanted = ", ".join(map(str, self.image_shape))
            raise DataError(f"expected images (row, {wanted}), found shape {array.shape}")
        if array.dtype == np.uint8:
            return array.astype(np.float32) / 255
        if array.size and not (array.min() >= 0 and array.max() <= 1):
            raise DataError(
                f"expected images in [0, 1], found values from {array.min()} to {array.max()}"
            )
        return array.astype(np.float32, copy=False)

    @property
    def device(self) -> torch.device:
        tensors = chain(self.nets.parameters(), self.nets.buffers())
        return next((tensor.device for tensor in tensors), torch.device("cpu"))

    def _tensor(self, part: np.ndarray) -> Tensor:
        return devices.place_batch(torch.from_numpy(np.ascontiguousarray(part)), self.device)

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Evaluate, and leave networks that are still training as they were."""
        was_training = self.nets.training
        self.nets.eval()
        try:
            with torch.inference_mode():
                yield
        finally:
            self.nets.train(was_training)

    def _in_chunks(self, array: np.ndarray, change: Any) -> np.ndarray:
        with self._computing():
            parts = [change(self._tensor(part)).float().cpu().numpy() for part in in_parts(array)]
        return np.concatenate(parts)


def in_parts(array: np.ndarray) -> list[np.ndarray]:
    """Cut an array into parts small enough to compute with; an empty one stays one part."""
    return [array[i : i + CHUNK] for i in range(0, max(len(array), 1), CHUNK)]


def load(folder: str | Path, device: str = "cpu", data: FactorImages | None = None) -> Run:
    """Load a run from its folder: the trained networks, or the last checkpoint of an unfinished.

    `data` is the run's data set if it is open already; by default it is opened when needed.
    """
    run_folder = RunFolder(folder)
    config, summary = run_folder.read_config()
    architecture = config.architecture or architecture_for(summary.image_shape)
    nets = config.method.networks(architecture, summary)
    tensors, step = run_folder.trained_tensors()
    try:
        nets.load_state_dict(tensors)
    except RuntimeError as error:
        raise DataError(f"{folder}: the stored networks do not fit the settings: {error}") from None
    # As in training: fast, and codes are the same to the last bit.
    devices.tune_allocator()
    devices.place(nets, devices.choose_device(device))
    return Run(config, summary, nets, step=step, folder=run_folder, data=data)
