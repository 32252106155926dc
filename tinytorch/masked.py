"""``torch.masked``: reductions and normalizations of the elements at which a mask is True.

Example:
    >>> x = tt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> tt.masked.mean(x, 1, mask=x > 1)
    tensor([2.5000, 5.0000])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias, TypeVar

from . import dtypes
from .core.tensor import Tensor
from .dispatch.registry import find
from .facade.unsupported import Absent, absent

#: PyTorch has a package of this name; ``facade.reexports`` lists the modules in it.
__path__: list[str] = []

__all__ = [
    "MaskedTensor", "amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum",
    "is_masked_tensor", "log_softmax", "logaddexp", "logsumexp", "masked_tensor", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum",
    "var",
]  # fmt: skip

Dims: TypeAlias = int | tuple[int, ...] | None
_F = TypeVar("_F", bound=Callable[..., Tensor])
_ARGUMENTS = {
    "input": "The tensor.",
    "dim": "The dimension, or dimensions to reduce. Default: all.",
    "keepdim": "Whether to keep the reduced dimensions, with size 1. Default: False.",
    "dtype": "The dtype to which ``input`` is converted first. Default: that of ``input``.",
    "mask": "bool tensor that broadcasts to ``input``: True for elements to use. Default: all.",
    "ord": "The order of the norm. Default: 2.",
    "eps": "A lower bound for the norm by which is divided. Default: 1e-12.",
    "unbiased": "Whether to divide by one less than the number of elements. Default: True.",
    "correction": "The number to subtract from the number of elements, instead of ``unbiased``.",
}


def _set_docstring(
    *, summary: str, if_all_masked: str, parameters: str, example_result: str,
    example_arguments: str = "",
) -> Callable[[_F], _F]:  # fmt: skip
    """Return a decorator that sets the docstring of a function of this module.

    Args:
        summary: The beginning of its first line, such as ``"The sum of"``.
        if_all_masked: Text about the result if the mask is False at all elements.
        parameters: The names of the function's parameters, separated by spaces.
        example_result: The result that the example shows.
        example_arguments: The arguments between ``x`` and ``mask`` in the example's call, such as
            ``"0, "``.
    """

    def set_docstring(function: _F) -> _F:
        name = function.__name__
        entries = "".join(f"    {each}: {_ARGUMENTS[each]}\n" for each in parameters.split())
        function.__doc__ = (
            f"{summary} the elements at which ``mask`` is True.\n\nArgs:\n{entries}\n"
            f"Returns:\n    {if_all_masked} if ``mask`` is False at all elements.\n\nExample:\n"
            f"    >>> x = tt.tensor([1.0, 2.0, 3.0])\n"
            f"    >>> tt.masked.{name}(x, {example_arguments}mask=x != 2)\n    {example_result}\n"
        )
        return function

    return set_docstring


_REDUCTION, _ALONG_DIM = "input dim keepdim dtype mask", "input dim dtype mask"


def _fill_masked(
    input: Tensor, mask: Tensor | None, dtype: Any, value: float | Callable[[Any], Any]
) -> Tensor:
    """Convert ``input`` to ``dtype`` and fill the elements at which the mask is False.

    Args:
        input: The tensor.
        mask: bool tensor that broadcasts to ``input``, or None to fill nothing.
        dtype: The dtype of the result, or None for that of ``input``.
        value: The value to fill in, or a function that computes it from the dtype.
    """
    x = input if dtype is None else input.to(dtype)
    if mask is None:
        return x
    number = value(x.dtype) if callable(value) else value
    return x.masked_fill(_expand_mask(x, mask).logical_not(), number)


def _expand_mask(x: Tensor, mask: Tensor) -> Tensor:
    """The mask as a bool tensor of the shape of ``x``."""
    return mask.to(dtypes.bool).expand(x.shape)


def _weights(x: Tensor, mask: Tensor | None) -> Tensor:
    """1 where the mask is True and 0 elsewhere, in the shape and dtype of ``x``."""
    return x.new_ones(x.shape) if mask is None else _expand_mask(x, mask).to(x.dtype)


def _dims(x: Tensor, dim: Dims) -> tuple[int, ...]:
    """The dimensions ``dim``, which may be None for all, as nonnegative numbers."""
    if dim is None or dim == ():
        return (*range(x.ndim),)
    chosen = (dim,) if isinstance(dim, int) else tuple(dim)
    return tuple(each % max(x.ndim, 1) for each in chosen) if x.ndim else ()


def _lowest_value(dtype: Any) -> float:
    """The lowest value of a dtype: minus infinity, or that of an integer dtype."""
    if dtype.is_floating_point or dtype.is_complex:
        return -math.inf
    return dtypes.iinfo(dtype).min


def _highest_value(dtype: Any) -> float:
    """The highest value of a dtype: infinity, or that of an integer dtype."""
    return math.inf if dtype.is_floating_point else dtypes.iinfo(dtype).max


def _check_floating_point(x: Tensor, name: str) -> None:
    """Raise ValueError for an integer or bool tensor; ``name`` is that of the function."""
    if not (x.is_floating_point() or x.is_complex()):
        raise ValueError(
            f"{name}(): Could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {x.dtype}"
        )


@_set_docstring(
    summary="The sum of",
    if_all_masked="0",
    parameters=_REDUCTION,
    example_result="tensor(4.)",
)
def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _fill_masked(input, mask, dtype, 0)
    return x.sum(_dims(x, dim), keepdim=keepdim) if x.ndim else x.sum()


@_set_docstring(
    summary="The product of",
    if_all_masked="1",
    parameters=_REDUCTION,
    example_result="tensor(3.)",
)
def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _fill_masked(input, mask, dtype, 1)
    dims = sorted(_dims(x, dim), reverse=True)
    for each in dims:
        x = x.prod(each, keepdim=keepdim)
    return x if dims else x.prod()


@_set_docstring(
    summary="The maximum of",
    if_all_masked="The lowest value of the dtype",
    parameters=_REDUCTION,
    example_result="tensor(3.)",
)
def amax(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _fill_masked(input, mask, dtype, _lowest_value)
    return x.amax(_dims(x, dim), keepdim)


@_set_docstring(
    summary="The minimum of",
    if_all_masked="The highest value of the dtype",
    parameters=_REDUCTION,
    example_result="tensor(1.)",
)
def amin(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _fill_masked(input, mask, dtype, _highest_value)
    return x.amin(_dims(x, dim), keepdim)


@_set_docstring(
    summary="The index of the maximum of",
    if_all_masked="0",
    parameters=_REDUCTION,
    example_result="tensor(2.)",
)
def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _fill_masked(input, mask, dtype, _lowest_value)
    return x.argmax(dim, keepdim).to(x.dtype)


@_set_docstring(
    summary="The index of the minimum of",
    if_all_masked="0",
    parameters=_REDUCTION,
    example_result="tensor(0.)",
)
def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _fill_masked(input, mask, dtype, _highest_value)
    return x.argmin(dim, keepdim).to(x.dtype)


@_set_docstring(
    summary="The mean of",
    if_all_masked="NaN",
    parameters=_REDUCTION,
    example_result="tensor(2.)",
)
def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _fill_masked(input, mask, dtype, 0)
    _check_floating_point(x, "mean")
    return sum(x, dim, keepdim=keepdim) / sum(_weights(x, mask), dim, keepdim=keepdim)


@_set_docstring(
    summary="The lower median of",
    if_all_masked="NaN",
    parameters=_REDUCTION,
    example_result="tensor(1.)",
)
def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = input if dtype is None else input.to(dtype)
    if x.is_floating_point():
        values: Tensor = _fill_masked(x, mask, None, math.nan).nanmedian(dim, keepdim).values
        return values
    count = sum(_weights(x, mask), dim, keepdim=True)
    if bool((count == 0).any()):
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    ordered = _fill_masked(x, mask, None, _highest_value).sort(dim).values
    found = ordered.gather(dim, ((count - 1) // 2).to(dtypes.int64))
    return found if keepdim else found.squeeze(dim)


@_set_docstring(
    summary="Logarithm of the sum of exponentials of",
    if_all_masked="-inf",
    parameters=_REDUCTION,
    example_result="tensor(3.1269)",
)
def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _fill_masked(input, mask, None, _lowest_value)
    found: Tensor = x.logsumexp(_dims(x, dim), keepdim)
    return found.to(x.dtype if dtype is None else dtype)


@_set_docstring(
    summary="A norm of",
    if_all_masked="0, or inf for a negative order,",
    parameters="input ord dim keepdim dtype mask",
    example_arguments="2, ",
    example_result="tensor(3.1623)",
)
def norm(
    input: Tensor, ord: float | None = 2.0, dim: Dims = None, *, keepdim: bool = False,
    dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    order = 2.0 if ord is None else float(ord)
    x = _fill_masked(input, mask, dtype, math.inf if order < 0 else 0)
    _check_floating_point(x, "norm")
    return find("linalg", "vector_norm")(x, order, _dims(x, dim), keepdim)  # type: ignore[no-any-return]


def _variance(
    input: Tensor, dim: Dims, unbiased: bool | None, correction: float | None,
    keepdim: bool, dtype: Any, mask: Tensor | None,
) -> Tensor:  # fmt: skip
    """The variance along ``dim``; of integers it is float32, of complex tensors complex."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    subtracted = correction if correction is not None else 0 if unbiased is False else 1
    x = input if dtype is None else input.to(dtype)
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(dtypes.float32)
    x, weights = _fill_masked(x, mask, None, 0), _weights(x, mask)
    deviations = (x - mean(x, dim, keepdim=True, mask=mask)) * weights
    total = sum(deviations.conj() * deviations, dim, keepdim=keepdim)
    count = sum(weights.real, dim, keepdim=keepdim)
    result: Tensor = total / (count - subtracted).clamp(min=0)
    return result if dtype is None else result.to(dtype)


_VARIANCE = "input dim unbiased correction keepdim dtype mask"


@_set_docstring(
    summary="The variance of",
    if_all_masked="NaN",
    parameters=_VARIANCE,
    example_result="tensor(2.)",
)
def var(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask)


@_set_docstring(
    summary="The standard deviation of",
    if_all_masked="NaN",
    parameters=_VARIANCE,
    example_result="tensor(1.4142)",
)
def std(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


# -- results of the same shape -----------------------------------------------------------------

_ZEROS = "0 where ``mask`` is False, and NaN"


@_set_docstring(
    summary="Cumulative sums of",
    if_all_masked="0",
    parameters=_ALONG_DIM,
    example_arguments="0, ",
    example_result="tensor([1., 1., 4.])",
)
def cumsum(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return _fill_masked(input, mask, None, 0).cumsum(dim, dtype=dtype or input.dtype)


@_set_docstring(
    summary="Cumulative products of",
    if_all_masked="1",
    parameters=_ALONG_DIM,
    example_arguments="0, ",
    example_result="tensor([1., 1., 3.])",
)
def cumprod(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return _fill_masked(input, mask, None, 1).cumprod(dim, dtype=dtype or input.dtype)


@_set_docstring(
    summary="Softmax of",
    if_all_masked=_ZEROS,
    parameters=_ALONG_DIM,
    example_arguments="0, ",
    example_result="tensor([0.1192, 0.0000, 0.8808])",
)
def softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return _fill_masked(input, mask, dtype, _lowest_value).softmax(dim)


@_set_docstring(
    summary="Logarithm of the softmax of",
    if_all_masked="-inf where ``mask`` is False, and NaN",
    parameters=_ALONG_DIM,
    example_arguments="0, ",
    example_result="tensor([-2.1269,    -inf, -0.1269])",
)
def log_softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return _fill_masked(input, mask, dtype, _lowest_value).log_softmax(dim)


@_set_docstring(
    summary="Softmax of the negatives of",
    if_all_masked=_ZEROS,
    parameters=_ALONG_DIM,
    example_arguments="0, ",
    example_result="tensor([0.8808, 0.0000, 0.1192])",
)
def softmin(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    return (-_fill_masked(input, mask, dtype, _highest_value)).softmax(dim)


@_set_docstring(
    summary="The input divided by the norm of",
    if_all_masked="0",
    parameters="input ord dim eps dtype mask",
    example_arguments="2.0, 0, ",
    example_result="tensor([0.3162, 0.0000, 0.9487])",
)
def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    x = _fill_masked(input, mask, dtype, 0)
    return x / norm(x, ord, dim, keepdim=True, mask=mask).clamp(min=eps)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Logarithm of the sum of exponentials of two tensors, element by element.

    Args:
        input: A tensor.
        other: Tensor that broadcasts with ``input``.
        dtype: The dtype to which both are converted first. Default: their own.
        input_mask: True for the elements of ``input`` to use. Default: all.
        other_mask: True for the elements of ``other`` to use. Default: all.

    Example:
        >>> x = tt.tensor([1.0, 2.0])
        >>> tt.masked.logaddexp(x, x, other_mask=x > 1)
        tensor([1.0000, 2.6931])
    """
    one = _fill_masked(input, input_mask, dtype, _lowest_value)
    return one.logaddexp(_fill_masked(other, other_mask, dtype, _lowest_value))


# -- tensors with a mask ------------------------------------------------------------------------

_WHY = "tensors have no masks here; pass mask= to the functions of this module"


class MaskedTensor(Absent, why=_WHY):
    """A tensor with a mask, which is unsupported; no object is an instance."""


def is_masked_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a ``MaskedTensor``: always False.

    Example:
        >>> tt.masked.is_masked_tensor(tt.ones(2))
        False
    """
    return False


masked_tensor: Callable[..., NoReturn] = absent("masked.masked_tensor", _WHY)
as_masked_tensor: Callable[..., NoReturn] = absent("masked.as_masked_tensor", _WHY)
