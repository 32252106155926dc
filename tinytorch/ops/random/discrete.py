"""Random numbers of events: Poisson and binomial."""

from __future__ import annotations

from typing import Any

from ...dispatch.op import Array, Backend, op
from ...dispatch.out import scalar_name
from .drawing import engine_of, not_implemented


@op
def poisson(xp: Backend, input: Array, generator: Any = None) -> Array:
    """Numbers of events, drawn for each rate in ``input`` from its Poisson distribution.

    Args:
        input: Rates, a float tensor of any shape.
        generator: A ``Generator``. Default: the default one.

    Returns:
        Tensor of ``input``'s shape and dtype; for the same seed PyTorch's numbers. Its gradient
        is zero.

    Raises:
        RuntimeError: If a rate is negative or NaN.
        NotImplementedError: If ``input`` holds no real floating-point numbers.

    Example:
        >>> import tinytorch as tt
        >>> _ = tt.manual_seed(0)
        >>> tt.poisson(tt.tensor([0.0, 3.0, 100.0]))
        tensor([ 0.,  6., 96.])
    """
    if input.dtype.kind != "f":
        raise not_implemented("poisson", "poisson_cpu", input.dtype)
    return engine_of("poisson", xp, generator).poisson(input)


poisson.vjp(input=lambda xp, g: xp.zeros_like(g))


@op
def binomial(xp: Backend, count: Array, prob: Array, generator: Any = None) -> Array:
    """Numbers of successes, drawn for each number of trials and chance of success.

    Args:
        count: Numbers of trials, a float tensor of any shape.
        prob: Chances, of the same dtype; broadcast with ``count``.
        generator: A ``Generator``. Default: the default one.

    Returns:
        Tensor of the broadcast shape and that dtype; for the same seed PyTorch's numbers in
        float64, and save for rounding in float32. No gradient flows back.

    Raises:
        ValueError: If ``count`` holds no real floating-point numbers.
        RuntimeError: If the dtypes differ.
        NotImplementedError: For halves.

    Example:
        >>> import tinytorch as tt
        >>> _ = tt.manual_seed(0)
        >>> tt.binomial(tt.tensor([10.0, 10.0, 10.0]), tt.tensor([0.0, 0.5, 1.0]))
        tensor([ 0.,  7., 10.])
    """
    shown = scalar_name(xp.dtype_of(count))
    if count.dtype.kind != "f":
        raise ValueError(f"binomial only supports floating-point dtypes for count, got: {shown}")
    if prob.dtype != count.dtype:
        found = scalar_name(xp.dtype_of(prob))
        raise RuntimeError(f"binomial: Found dtype {found} but expected {shown}")
    if shown == "Half":
        raise not_implemented("binomial", "binomial_cpu", count.dtype)
    return engine_of("binomial", xp, generator).binomial(count, prob)
