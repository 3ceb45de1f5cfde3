"""What methods share that are told the class of a few images."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from unweave.batches import FewClasses
from unweave.data import DataSummary, FactorImages
from unweave.methods._autoencoder import Autoencoder
from unweave.methods._code import Part
from unweave.networks import Networks
from unweave.tensors import Images, Latents


class ClassPrior(nn.Module):
    """How likely each class is before an image is seen; all equally, unless set."""

    probabilities: Tensor

    def __init__(self, classes: int):
        super().__init__()
        self.register_buffer("probabilities", torch.full((classes,), 1 / classes))

    def __len__(self) -> int:
        return len(self.probabilities)

    def sample(self, count: int) -> Latents:
        """Draw classes as rows with a single 1."""
        drawn = torch.multinomial(self.probabilities.cpu(), count, replacement=True)
        return one_hot(drawn, len(self)).float().to(self.probabilities.device)


@dataclass(frozen=True, kw_only=True)
class ClassAutoencoder(Autoencoder):
    """A code of the class, by its probabilities, and of everything else, the style."""

    labels: int = 100
    """How many images have their class given, drawn once by label_seed; where the column has
    gaps, those that have a value are taken instead. Paper: 100, 1000 or 3000."""
    label: str = ""
    """Factor or column that is the class; by default the first whose name begins with label
    or, without any, the factor with fewest values."""
    label_seed: int = 0
    """Decides which images have their class given."""
    class_prior: Literal["uniform", "labels"] = "uniform"
    """How likely classes are: all equally, or as often as among the labels (one more each)."""

    main_knob = "labels"
    swaps = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.supervision  # refuses what no labels could be drawn by

    @property
    def supervision(self) -> FewClasses:
        columns = (self.label,) if self.label else ()
        return FewClasses(columns, self.labels, self.label_seed)

    def class_count(self, data: DataSummary) -> int:
        """Return how many classes there are."""
        (size,) = self.supervision.sizes_among(data.column_sizes)
        return size

    def fit(self, nets: Networks, data: FactorImages, seed: int) -> None:
        """Count the classes among the labels, if they say how likely each is."""
        if self.class_prior == "uniform":
            return
        told = torch.from_numpy(self.supervision.table(data).values[:, 0]).long()
        counts = torch.bincount(told, minlength=len(nets.classes)) + 1.0
        nets.classes.probabilities.copy_(counts / counts.sum())

    def code_parts(self, nets: Networks, data: DataSummary) -> tuple[Part, ...]:
        (column,) = self.supervision.names_among(data.column_sizes)
        return (
            Part(len(nets.classes), "category", "content", column),
            Part(self.latent_dim, role="style"),
        )

    def swap(self, nets: Networks, content_images: Images, style_images: Images) -> Images:
        """Decode the classes of some images with the styles of others."""
        classes = len(nets.classes)
        content = self.encode(nets, content_images)[:, :classes]
        style = self.encode(nets, style_images)[:, classes:]
        return self.decode(nets, torch.cat([content, style], dim=1))
