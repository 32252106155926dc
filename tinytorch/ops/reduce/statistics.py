"""Covariances and correlations."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...warnings import warn
from ..checks import integer
from ..pointwise.complex_numbers import complex as complex_
from ..shape.joining import cat


def _check_weights(name: str, weights: Tensor, kinds: str, what: str, count: int) -> None:
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {weights.ndim} "
            "dimensions"
        )
    if weights.dtype.kind not in kinds:
        raise RuntimeError(
            f"cov(): expected {name} to have {what} dtype but got {name} with {weights.dtype.name} "
            "dtype"
        )
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input "
            f"but got {weights.numel()} != {count}"
        )
    weights._xp.check_all(weights._data >= 0, f"cov(): {name} cannot be negative")


def _weights(fweights: Tensor | None, aweights: Tensor | None, count: int) -> Tensor | None:
    """The product of both kinds of weights, or None."""
    if fweights is not None:
        _check_weights("fweights", fweights, "iu", "integral", count)
    if aweights is not None:
        _check_weights("aweights", aweights, "f", "floating point", count)
        return aweights if fweights is None else fweights * aweights
    return fweights


def _freedom(w: Tensor, aweights: Tensor | None, correction: int) -> Tensor:
    total = w.sum()
    if aweights is None or correction == 0:
        return total - correction
    return total - correction * (w * aweights).sum() / total


@composite(method=True)
def cov(
    input: Tensor,
    y: Tensor | None = None,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance matrix of variables, one a row.

    Args:
        input: Tensor of shape ``(variables, observations)``, or ``(observations,)``.
        y: More variables.
        correction: Divide by the number of observations less this; default 1.
        fweights: How often each observation counts, an integer tensor of one dimension.
        aweights: How much each counts, a floating-point tensor of one dimension.

    Returns:
        Tensor of shape ``(variables, variables)``, 0-d for a single variable.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or a weight is negative.

    Example:
        >>> import tinytorch as tt
        >>> tt.cov(tt.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    input = variables(input, y, True)
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with "
            f"{input.ndim} dimensions"
        )
    correction = integer("cov", "correction", correction)
    if input.dtype is dtypes.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input.reshape(1, -1) if input.ndim < 2 else input
    count = x.shape[1]
    w = _weights(fweights, aweights, count)
    if w is None:
        mean: Any = x.sum(1, keepdim=True) / count if count else x.sum(1, keepdim=True)
        freedom: Any = count - correction
    else:
        weight = w.sum()
        weight._xp.check_all(weight._data != 0, "cov(): weights sum to zero, can't be normalized")
        mean = (x * w).sum(1, keepdim=True) / weight
        freedom = _freedom(w, aweights, correction)
    if isinstance(freedom, Tensor):
        freedom = freedom.clamp(min=0)
    elif freedom <= 0:
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
            "of observations."
        )
        freedom = 0
    centered = x - mean
    weighted = (centered if w is None else centered * w).transpose(0, 1).conj_physical()
    out = _divided(centered.to(weighted.dtype) @ weighted, freedom)
    return out.squeeze()


def _divided(product: Tensor, freedom: Any) -> Tensor:
    if isinstance(freedom, Tensor):
        return product / freedom
    return product / product.new_full((), float(freedom), dtype=product.dtype.to_real())


def variables(m: Any, y: Any, rowvar: bool) -> Any:
    """One variable a row, those of ``y`` after those of ``m``."""
    first = m if rowvar or m.ndim < 2 else m.transpose(0, 1)
    if y is None:
        return first
    second = y if rowvar or y.ndim < 2 else y.transpose(0, 1)
    return cat([x.reshape(1, -1) if x.ndim < 2 else x for x in (first, second)])


@cov.numpy
def _numpy_cov(
    input: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None, **options: Any,
) -> Tensor:  # fmt: skip
    rows = variables(input, y, rowvar)
    correction = ddof if ddof is not None else 0 if bias else 1
    return cov(rows, correction=correction, fweights=fweights, aweights=aweights)


@composite(method=True)
def corrcoef(input: Tensor, y: Tensor | None = None) -> Tensor:
    """The correlation coefficients of variables, one a row.

    Args:
        input: Tensor of shape ``(variables, observations)``, or ``(observations,)``.
        y: More variables.

    Returns:
        Tensor of shape ``(variables, variables)``, 0-d for a single variable.

    Raises:
        RuntimeError: For more than two dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.corrcoef(tt.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input.ndim} dimensions"
        )
    c = cov(input, y)
    if not c.ndim:
        return c / c
    spread = c.diagonal().real.sqrt()
    c = c / spread.unsqueeze(1) / spread.unsqueeze(0)
    if c.is_complex():
        return complex_(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))
    return c.clamp(-1, 1)


@corrcoef.numpy
def _numpy_corrcoef(input: Any, y: Any = None, rowvar: bool = True, **options: Any) -> Tensor:
    return corrcoef(variables(input, y, rowvar))
