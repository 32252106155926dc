"""What distributions are made with: broadcasting of parameters, logits, lazy properties."""

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
    """Tensors and numbers as tensors of one shape.

    Args:
        *values: Numbers take the dtype of the first tensor, else the default dtype.

    Raises:
        ValueError: For anything else.

    Example:
        >>> import tinytorch as tt
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
    """Whether all values are Python's numbers, so that there is no batch."""
    return all(isinstance(v, Real) for v in values)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Normal numbers of mean 0 and deviation 1."""
    return normal(0.0, 1.0, tuple(shape), dtype=dtype, device=device)


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last ``dim`` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[: value.dim() - dim], -1)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log-odds, or of unnormalised log probabilities.

    Args:
        logits: Of shape ``(...)`` or ``(..., n)``.
        is_binary: Whether they are log-odds.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributions.utils.logits_to_probs(tt.zeros(2))
        tensor([0.5000, 0.5000])
    """
    return logits.sigmoid() if is_binary else softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities moved off 0 and 1 by the dtype's precision.

    Args:
        probs: Probabilities.

    Example:
        >>> import tinytorch as tt
        >>> (tt.distributions.utils.clamp_probs(tt.tensor([0.0])) > 0).item()
        True
    """
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def clipped_sigmoid(x: Tensor) -> Tensor:
    """The sigmoid, kept off 0 and 1 so that it can be turned round."""
    limits = finfo(x.dtype)
    return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """The inverse of ``logits_to_probs``: log-odds, or log probabilities.

    Args:
        probs: Of shape ``(...)`` or ``(..., n)``.
        is_binary: Whether they stand for themselves.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributions.utils.probs_to_logits(tt.tensor([0.5]), is_binary=True)
        tensor([0.])
    """
    moved = clamp_probs(probs)
    return moved.log() - (-moved).log1p() if is_binary else moved.log()


def log_odds_loss(logits: Tensor, value: Tensor) -> Tensor:
    """Minus the log probability of each of ``value``, 0 or 1."""
    return binary_cross_entropy_with_logits(logits, value, reduction="none")


T = TypeVar("T")


class lazy_property(Generic[T]):
    """A property that is computed when first asked for, and then stored.

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
    """The numbers of a matrix at and below a diagonal, row by row.

    Args:
        mat: ``(..., n, n)``.
        diag: The diagonal; below the main one it is negative.

    Raises:
        ValueError: For a diagonal that there is not.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributions.utils.tril_matrix_to_vec(tt.tensor([[1, 2], [3, 4]]))
        tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if not (-n <= diag < n):
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., mat.new_ones(n, n).tril(diag).bool()]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrix that ``tril_matrix_to_vec`` made a vector of, with zeros above.

    Args:
        vec: ``(..., k)``.
        diag: The diagonal.

    Raises:
        ValueError: If no matrix has so many numbers.

    Example:
        >>> import tinytorch as tt
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
