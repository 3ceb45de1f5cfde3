"""What methods share whose codes have no prior: those of the images seen last are drawn from."""

import torch
from torch import Tensor, nn

from unweave.tensors import Latents

REMEMBERED = 256


class SeenCodes(nn.Module):
    """The codes of the images seen last; no player owns it, and checkpoints hold it."""

    codes: Tensor
    count: Tensor

    def __init__(self, size: int):
        super().__init__()
        self.register_buffer("codes", torch.zeros(REMEMBERED, size))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def remember(self, codes: Latents) -> None:
        """Put codes in the place of the oldest ones."""
        kept = torch.cat([codes.to(self.codes.dtype), self.codes])
        self.codes.copy_(kept[:REMEMBERED])
        self.count.copy_((self.count + len(codes)).clamp_max(REMEMBERED))

    def sample(self, count: int) -> Latents:
        """Draw from those there are; before any was seen, all are 0."""
        return self.codes[torch.randint(max(int(self.count), 1), (count,))]
