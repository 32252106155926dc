"""What the convolutions share: their arguments, checked and in one form."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.out import scalar_name
from ..checks import integer_each


class Arguments(NamedTuple):
    """A convolution's arguments, one int per spatial dimension."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int


#: An argument as one int per spatial dimension.
per_dimension = partial(
    integer_each,
    "{name}: expected {argument} to be a single integer value or a list of {count} values to match "
    "the convolution dimensions, but got {argument}={given}",
)


def check_tensors(name: str, **given: Any) -> None:
    """TypeError for an argument that is no tensor."""
    for position, (argument, value) in enumerate(given.items(), 1):
        if not isinstance(value, Tensor) and not (argument == "bias" and value is None):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be Tensor, not "
                f"{type(value).__name__}"
            )


def check_ranks(name: str, spatial: int, input: Tensor, weight: Tensor) -> None:
    """RuntimeError unless there is a batch or an image, and a kernel of as many dimensions."""
    if weight.ndim < 3:
        raise RuntimeError(
            f"{name}: weight should have at least three dimensions, got {list(weight.shape)}"
        )
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to {name}, but "
            f"got input of size: {list(input.shape)}"
        )
    if weight.ndim != spatial + 2:
        raise RuntimeError(
            f"{name}: Expected {spatial + 2}-dimensional input for {spatial + 2}-dimensional "
            f"weight, but got {input.ndim}-dimensional input of size {list(input.shape)} and "
            f"weight of size {list(weight.shape)} instead"
        )


def check_numbers(name: str, how: Arguments) -> None:
    """RuntimeError for a stride, padding, dilation or number of groups out of range."""
    if how.groups <= 0:
        raise RuntimeError(f"{name}: non-positive groups is not supported, got {how.groups}")
    if min(how.padding) < 0:
        raise RuntimeError(f"{name}: negative padding is not supported, got {list(how.padding)}")
    if min(how.stride) <= 0:
        raise RuntimeError(f"{name}: non-positive stride is not supported, got {list(how.stride)}")
    if min(how.dilation) <= 0:
        raise RuntimeError(
            f"{name}: dilation should be greater than zero (non-positive dilation is not "
            f"supported), got {list(how.dilation)}"
        )


def check_dtypes(name: str, input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """RuntimeError unless all have one dtype, NotImplementedError for bools."""
    for what, other in (("weight", weight), ("bias", bias)):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(
                f"{name}: Input type ({scalar_name(input.dtype)}) and {what} type "
                f"({scalar_name(other.dtype)}) should be the same"
            )
    if input.dtype is dtypes.bool:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")


def check_groups(name: str, weight: Tensor, groups: int) -> None:
    """RuntimeError unless the weight's first dimension makes ``groups`` equal parts."""
    have = weight.shape[0]
    if have < groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, expected weight to be at least {groups} at dimension "
            f"0, but got weight of size {list(weight.shape)} instead"
        )
    if have % groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, expected weight to be divisible by {groups} at "
            f"dimension 0, but got weight of size {list(weight.shape)} instead"
        )


def check_channels(
    name: str, input: Tensor, weight: Tensor, bias: Tensor | None, groups: int, transposed: bool
) -> None:
    """RuntimeError unless input, weight and bias have the channels for one another."""
    at = -weight.ndim + 1  # the channels' place, also without a batch
    wanted = weight.shape[0] if transposed else weight.shape[1] * groups
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    given = f"Given transposed={int(transposed)}" if transposed else f"Given groups={groups}"
    if input.shape[at] != wanted:
        raise RuntimeError(
            f"{name}: {given}, weight of size {list(weight.shape)}, expected "
            f"input{list(input.shape)} to have {wanted} channels, but got {input.shape[at]} "
            "channels instead"
        )
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(
            f"{name}: Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional "
            f"with {outputs} elements, but got bias of size {list(bias.shape)} instead"
        )


def check_arguments(
    name: str,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    how: Arguments,
    transposed: bool,
) -> None:
    """RuntimeError for numbers, groups, channels, dtypes or sizes that do not fit."""
    check_numbers(name, how)
    check_groups(name, weight, how.groups)
    check_channels(name, input, weight, bias, how.groups, transposed)
    check_dtypes(name, input, weight, bias)
    spatial = weight.ndim - 2
    if 0 in weight.shape[2:] or 0 in input.shape[-spatial:]:
        raise RuntimeError(
            f"{name}: Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list(input.shape)} and weight shape: {list(weight.shape)}"
        )


def times(sizes: Any) -> str:
    """Sizes as an error shows them: ``2 x 3``."""
    return " x ".join(map(str, sizes))
