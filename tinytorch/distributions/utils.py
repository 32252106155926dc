"""Helpers of distributions: broadcasting of parameters, logits, lazy properties."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from numbers import Real
from typing import Any, Generic, Self, TypeVar, overload

from ..core.tensor import Tensor
from ..dtypes import finfo
from ..ops.create.factories import tensor
from ..ops.nn.loss import binary_cross_entropy_with_logits
from ..ops.nn.softmax import softmax
from ..ops.random.sampling import normal
from ..ops.shape.strides import broadcast_tensors
from ..state import enable_grad, get_default_dtype

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits",
    "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip

euler_constant: float = 0.57721566490153286060  # Euler-Mascheroni


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Convert numbers to tensors and broadcast all tensors to one shape.

    Args:
        *values: Tensors and numbers. Numbers are converted to the dtype of the first tensor, or
            to the default dtype if there is no tensor.

    Raises:
        ValueError: If a value is neither a tensor nor a number.

    Example:
        >>> from tinytorch.distributions.utils import broadcast_all
        >>> broadcast_all(1.0, tt.zeros(2))
        (tensor([1., 1.]), tensor([0., 0.]))
    """
    if not all(isinstance(v, (Tensor, Real)) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects "
            "implementing __torch_function__."
        )
    like: dict[str, Any] = {"dtype": get_default_dtype()}
    for value in values:
        if isinstance(value, Tensor):
            like = {"dtype": value.dtype, "device": value.device}
            break
    tensors = [v if isinstance(v, Tensor) else tensor(v, **like) for v in values]
    return tuple(broadcast_tensors(*tensors))


def is_number(*values: Any) -> bool:
    """Whether all values are Python scalars, so that there is no batch."""
    return all(isinstance(v, Real) for v in values)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Samples of the normal distribution with mean 0 and standard deviation 1."""
    return normal(0.0, 1.0, tuple(shape), dtype=dtype, device=device)


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last ``dim`` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[: value.dim() - dim], -1)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Convert log-odds, or unnormalized log probabilities, to probabilities.

    Args:
        logits: Log-odds of shape ``(...)`` or log probabilities of shape ``(..., n)``.
        is_binary: Whether ``logits`` are log-odds.

    Example:
        >>> tt.distributions.utils.logits_to_probs(tt.zeros(2))
        tensor([0.5000, 0.5000])
    """
    return logits.sigmoid() if is_binary else softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Clamp probabilities to ``[eps, 1 - eps]`` for the ``eps`` of their dtype.

    Args:
        probs: Probabilities.

    Example:
        >>> (tt.distributions.utils.clamp_probs(tt.tensor([0.0])) > 0).item()
        True
    """
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def clipped_sigmoid(x: Tensor) -> Tensor:
    """The sigmoid, clamped to the open interval (0, 1) so that its inverse is finite."""
    limits = finfo(x.dtype)
    return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Convert probabilities to log-odds, or to log probabilities.

    Args:
        probs: Probabilities of shape ``(...)`` or ``(..., n)``.
        is_binary: Whether to return log-odds.

    Example:
        >>> tt.distributions.utils.probs_to_logits(tt.tensor([0.5]), is_binary=True)
        tensor([0.])
    """
    moved = clamp_probs(probs)
    return moved.log() - (-moved).log1p() if is_binary else moved.log()


def log_odds_loss(logits: Tensor, value: Tensor) -> Tensor:
    """Binary cross entropy: the negative log probability of each of ``value``."""
    return binary_cross_entropy_with_logits(logits, value, reduction="none")


T = TypeVar("T")


class lazy_property(Generic[T]):
    """A property that is computed on first access and then stored on the instance.

    Args:
        wrapped: The method that computes it.

    Example:
        >>> from tinytorch.distributions.utils import lazy_property
        >>> class Square:
        ...     def __init__(self, side):
        ...         self.side = side
        ...     @lazy_property
        ...     def area(self):
        ...         return self.side**2
        >>> Square(3).area
        9
    """

    def __init__(self, wrapped: Callable[[Any], T]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    @overload
    def __get__(self, instance: None, obj_type: Any = None) -> Self: ...
    @overload
    def __get__(self, instance: object, obj_type: Any = None) -> T: ...
    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of a matrix at and below a diagonal, row by row.

    Args:
        mat: ``(..., n, n)``.
        diag: The diagonal. Negative numbers mean diagonals below the main one.

    Raises:
        ValueError: If the matrix has no such diagonal.

    Example:
        >>> tt.distributions.utils.tril_matrix_to_vec(tt.tensor([[1, 2], [3, 4]]))
        tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if not (-n <= diag < n):
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., mat.new_ones(n, n).tril(diag).bool()]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Fill a lower triangular matrix from a vector, row by row; inverse of ``tril_matrix_to_vec``.

    Args:
        vec: ``(..., k)``.
        diag: The diagonal.

    Raises:
        ValueError: If no triangular matrix has that number of elements.

    Example:
        >>> tt.distributions.utils.vec_to_tril_matrix(tt.tensor([1.0, 3.0, 4.0]))
        tensor([[1., 0.],
                [3., 4.]])
    """
    length = vec.shape[-1]
    size = (((1 + 2 * diag) ** 2 + 8 * length + 4 * abs(diag) * (diag + 1)) ** 0.5 - 1) / 2
    n = round(size - diag)
    if abs(size - diag - n) > 1e-9:
        raise ValueError(
            f"The size of last dimension is {length} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    matrix = vec.new_zeros((*vec.shape[:-1], n, n))
    matrix[..., vec.new_ones(n, n).tril(diag).bool()] = vec
    return matrix
