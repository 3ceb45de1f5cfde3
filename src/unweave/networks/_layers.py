"""Convolutions that change an image's size, quick on a CPU.

A transposed convolution is the adjoint of a convolution, so its weights' gradient
is that of the convolution with inputs and gradients exchanged; taken as such it
costs two thirds of what the library's own takes.

For images of one channel, the library's kernels for one channel leave most of a
processor idle: the transposed convolution that ends conv64 runs at a tenth of the
speed of a matrix product. Here such layers are written as one, with copies before or
after it. Weights, their names and shapes, outputs and gradients are those of the plain
layers, which are used on other devices, when compiled or exported, and within
`plain_layers`, `torch.func` and forward-mode derivatives. With three channels, and for
the first layer of conv64 in channels-last order, the plain kernels are as fast.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function, forward_ad
from torch.nn.functional import conv2d, conv_transpose2d, linear, pad

# Windows of a 4×4 kernel with stride 2 and padding 1, offset first and images last, so that
# every copy below runs along rows of an image: (channel, 4, 4, batch, height/2, width/2).
Windows = Tensor


def halving(inputs: int, outputs: int) -> nn.Conv2d:
    """Return a convolution that halves height and width."""
    return nn.Conv2d(inputs, outputs, kernel_size=4, stride=2, padding=1)


def doubling(inputs: int, outputs: int) -> nn.ConvTranspose2d:
    """Return a transposed convolution that doubles height and width."""
    kind = OneChannelDoubling if outputs == 1 else Doubling
    return kind(inputs, outputs, kernel_size=4, stride=2, padding=1)


def patching(inputs: int, outputs: int) -> nn.Conv2d:
    """Return a convolution of patches of 4×4 pixels that do not overlap."""
    kind = OneChannelPatching if inputs == 1 else nn.Conv2d
    return kind(inputs, outputs, kernel_size=4, stride=4)


def unpatching(inputs: int, outputs: int) -> nn.ConvTranspose2d:
    """Return the transposed convolution that makes 4×4 pixels of each one."""
    kind = OneChannelUnpatching if outputs == 1 else nn.ConvTranspose2d
    return kind(inputs, outputs, kernel_size=4, stride=4)


_plain = ContextVar("plain layers", default=False)


@contextmanager
def plain_layers() -> Iterator[None]:
    """Compute with torch's own kernels inside, which know every transformation torch has."""
    before = _plain.set(True)
    try:
        yield
    finally:
        _plain.reset(before)


def takes_products(input: Tensor) -> bool:
    """Return whether matrix products are quicker here than the library's convolutions."""
    if input.device.type != "cpu" or torch.compiler.is_compiling():
        return False
    # Transformations of functions, such as vmap and jvp, do not see into our own ones.
    transformed = torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0
    return not (transformed or _plain.get())


class Doubling(nn.ConvTranspose2d):
    """A transposed convolution, kernel 4, stride 2, padding 1."""

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        # With mixed precision the library chooses the types of both passes itself.
        if not takes_products(input) or torch.is_autocast_enabled("cpu"):
            return super().forward(input, output_size)
        output: Tensor = AdjointOfHalving.apply(input, self.weight, self.bias)
        return output


class AdjointOfHalving(Function):
    """The transposed convolution of `Doubling`, its gradients taken from the convolution."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(input, weight)
        return conv_transpose2d(input, weight, bias, stride=2, padding=1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        input, weight = ctx.saved_tensors
        of_input, of_weight, of_bias = ctx.needs_input_grad
        gradient = gradient.contiguous(memory_format=torch.channels_last)
        return (
            conv2d(gradient, weight, stride=2, padding=1) if of_input else None,
            halving_weight_gradient(gradient, weight, input) if of_weight else None,
            gradient.sum((0, 2, 3)) if of_bias else None,
        )


def halving_weight_gradient(input: Tensor, weight: Tensor, gradient: Tensor) -> Tensor:
    """Return the gradient of the weights of a halving convolution."""
    none, pair = [0, 0], [1, 1]
    gradients = torch.ops.aten.convolution_backward(
        gradient, input, weight, None, [2, 2], pair, pair, False, none, 1, [False, True, False]
    )
    of_weight: Tensor = gradients[1]
    return of_weight


class OneChannelPatching(nn.Conv2d):
    """A convolution of one channel, kernel 4, stride 4, no padding."""

    def forward(self, input: Tensor) -> Tensor:
        if not takes_products(input):
            return super().forward(input)
        batch, _, height, width = input.shape
        rows, columns = height // 4, width // 4
        whole = input[:, 0, : 4 * rows, : 4 * columns]
        # Offset first and images last: (16, pixel), so that the copy runs along rows.
        patches = whole.reshape(batch, rows, 4, columns, 4).permute(2, 4, 0, 1, 3).reshape(16, -1)
        product = linear(patches.t(), self.weight.reshape(-1, 16), self.bias)
        return product.view(batch, rows, columns, -1).permute(0, 3, 1, 2)


class OneChannelUnpatching(nn.ConvTranspose2d):
    """A transposed convolution to one channel, kernel 4, stride 4, no padding."""

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        if not takes_products(input):
            return super().forward(input, output_size)
        batch, channels, rows, columns = input.shape
        pixels = input.permute(0, 2, 3, 1).reshape(-1, channels)
        patches = (self.weight.reshape(channels, 16).t() @ pixels.t()).view(4, 4, batch, rows, -1)
        images = patches.permute(2, 3, 0, 4, 1).reshape(batch, 1, 4 * rows, 4 * columns)
        return images if self.bias is None else images + self.bias


class OneChannelDoubling(nn.ConvTranspose2d):
    """A transposed convolution to one channel, kernel 4, stride 2, padding 1."""

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        if not takes_products(input):
            return super().forward(input, output_size)
        batch, channels, height, width = input.shape
        pixels = input.permute(0, 2, 3, 1).reshape(-1, channels)
        windows = self.weight.reshape(channels, 16).t() @ pixels.t()
        images = AddWindows.apply(windows.view(1, 4, 4, batch, height, width))
        return images if self.bias is None else images + self.bias


class TakeWindows(Function):
    """Images to their windows; linear, the adjoint of `AddWindows`."""

    @staticmethod
    def forward(ctx: Any, images: Tensor) -> Windows:
        return take_windows(images)

    @staticmethod
    def backward(ctx: Any, gradient: Windows) -> Tensor:
        return AddWindows.apply(gradient)


class AddWindows(Function):
    """Windows to the images they add up to; linear, the adjoint of `TakeWindows`."""

    @staticmethod
    def forward(ctx: Any, windows: Windows) -> Tensor:
        return add_windows(windows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Windows:
        return TakeWindows.apply(gradient)


def take_windows(images: Tensor) -> Windows:
    """Copy out the 4×4 windows at stride 2 of images padded by 1."""
    padded = pad(images, (1, 1, 1, 1))
    windows = padded.unfold(2, 4, 2).unfold(3, 4, 2)  # (batch, channel, row, column, 4, 4)
    return windows.permute(1, 4, 5, 0, 2, 3).contiguous()


def add_windows(windows: Windows) -> Tensor:
    """Add up overlapping windows to images, and cut off the padding."""
    channels, _, _, batch, height, width = windows.shape
    # A window's offset is 2·block + phase. Adding within each phase keeps rows contiguous.
    offsets = windows.reshape(channels, 2, 2, 2, 2, batch, height, width)
    phases = windows.new_zeros(channels, 2, 2, batch, height + 1, width + 1)
    for i in range(2):
        for j in range(2):
            phases[..., i : i + height, j : j + width] += offsets[:, i, :, j]
    images = windows.new_empty(batch, channels, 2 * height, 2 * width)
    for row in range(2):
        for column in range(2):
            # Row 0 of the image is row 1 of the padded one, which has phase 1.
            rows, columns = 1 - row, 1 - column
            phase = phases[:, rows, columns, :, row : row + height, column : column + width]
            images[:, :, row::2, column::2] = phase.transpose(0, 1)
    return images
