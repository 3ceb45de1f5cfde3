"""A run loaded back: from images to codes, from codes to images."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unweave import catalog, devices
from unweave.catalog.plugins import Source
from unweave.code_prior import CodePrior
from unweave.data import DataSummary, FactorImages, load_data
from unweave.errors import ConfigError, DataError
from unweave.files import tensor_files
from unweave.methods import Code
from unweave.networks import Networks, architecture_for, within_memory
from unweave.probability.gaussian import DiagonalGaussian
from unweave.runs.config import Train
from unweave.runs.folder import RunFolder, checked_latent_name
from unweave.runs.model import Model, in_parts
from unweave.runs.notebook import run_html


class Run(Model):
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
        if self.folder is not None:
            return self.folder.open_data(self.config)
        return load_data(self.config.data, self.config.data_options)

    @property
    def code(self) -> Code:
        return self.config.method.code(self.nets, self.summary)

    @property
    def name(self) -> str:
        """Return what to call the run: its folder's name, or that of its settings."""
        if self.folder is None:
            return self.config.run_name
        return self.folder.path.resolve().name

    @property
    def kind(self) -> str:
        return catalog.name_of(self.config.method)

    @property
    def kl_limit(self) -> float | None:
        return self.config.method.kl_limit(self.step)

    @property
    def class_column(self) -> str:
        return self.config.method.supervision.class_column(self.data)

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

    def compute(self, ability: str, *arrays: np.ndarray, seed: int | None = None) -> Any:
        function = getattr(self.config.method, ability)
        results = []
        with self._computing(), _drawing(seed):
            for parts in zip(*(in_parts(array) for array in arrays), strict=True):
                result = function(self.nets, *(self._tensor(part) for part in parts))
                if result is None:
                    return None
                results.append(_as_array(result))
        return np.concatenate(results)

    def terms(self, images: Any, seed: int = 0) -> dict[str, float]:
        """Return the method's own figures on images, such as the terms of the evidence bound."""
        checked = self.checked_images(images)
        total: dict[str, float] = {}
        with self._computing(), _drawing(seed):
            for part in in_parts(checked):
                for name, value in self.config.method.diagnose(
                    self.nets, self._tensor(part)
                ).items():
                    total[name] = total.get(name, 0.0) + float(value) * len(part) / len(checked)
        return total

    def encode_rows(self, rows: np.ndarray, data: FactorImages | None = None) -> np.ndarray:
        data = data or self.data
        self.code.require_codes(self.kind)
        if self.code.source == "rows":
            return _as_array(self.config.method.encode_rows(self.nets, data, rows))
        parts = [self.encode(data.images(part)) for part in in_parts(rows)]
        return np.concatenate(parts)

    @property
    def code_prior(self) -> CodePrior:
        return self.config.method.code_prior

    def prior_codes(self, count: int, seed: int = 0) -> np.ndarray:
        self.code.require_decoder(self.kind)
        with self._computing(), _drawing(seed):
            return _as_array(self.config.method.sample_prior(self.nets, count))

    def accumulate(self, images: Any) -> np.ndarray:
        """Return the content that images of one group give together, float32 (content,)."""
        checked = self.checked_images(images)
        with self._computing():
            q = self.config.method.accumulate(self.nets, self._tensor(checked))
            return q.mean[0].float().cpu().numpy()

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


@contextmanager
def _drawing(seed: int | None) -> Iterator[None]:
    """Draw by a seed, and leave the generators as they were; without one draw as they are."""
    if seed is None:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def _as_array(result: Tensor | DiagonalGaussian) -> np.ndarray:
    if isinstance(result, DiagonalGaussian):
        result = torch.stack([result.mean, result.logvar], dim=1)
    return result.detach().float().cpu().numpy()


def load(
    folder: str | Path,
    device: str = "cpu",
    data: FactorImages | None = None,
    plugins: Sequence[Source] = (),
    within: str | Path | None = None,
) -> Run:
    """Load a run from its folder: the trained networks, or the last checkpoint of an unfinished.

    `data` is the run's data set if it is open already; by default it is opened when needed.
    `plugins` are files to run, or modules and classes, that the run was made with; those
    that are installed need not be named. Data that the folder names is opened if it lies
    in there, or in the folder `within` that was opened, or was opened by you before.
    """
    for plugin in plugins:
        catalog.add_plugin(plugin)
    run_folder = RunFolder(folder, within)
    config, summary = run_folder.read_config()
    architecture = config.architecture or architecture_for(summary.image_shape)
    nets = within_memory(lambda: config.method.networks(architecture, summary))
    tensors, step = run_folder.trained_tensors()
    if problem := tensor_files.misfit(tensors, nets.state_dict()):
        raise DataError(f"{folder}: the stored networks do not fit the settings: {problem}")
    nets.load_state_dict(tensors)
    # As in training: fast, and codes are the same to the last bit.
    devices.tune_allocator()
    devices.place(nets, devices.choose_device(device))
    if data is not None:
        data = data.arranged_by(config.data_options)
    return Run(config, summary, nets, step=step, folder=run_folder, data=data)
