"""Dimensions in another order; the results are views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ...warnings import warn
from ..checks import integers_of
from ..pointwise.complex_numbers import conj
from .sizes import normalize_dim, transpose


@op(method=True, view=True)
def t(xp: Backend, input: Array) -> Array:
    """The transpose of a matrix; tensors of fewer dimensions as they are.

    Args:
        input: Tensor of at most two dimensions.

    Raises:
        RuntimeError: For more than two dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([[1, 2], [3, 4]]).t()
        tensor([[1, 3],
                [2, 4]])
    """
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return xp.transpose(input)


t.vjp(input=lambda xp, g: xp.transpose(g))


@op(view=True, attribute=True, namespaces=("Tensor",), node="PermuteBackward0")
def T(xp: Backend, input: Array) -> Array:
    """``input`` with its dimensions reversed.

    Args:
        input: ``(m, n)``; of other than two dimensions it is deprecated, as in PyTorch.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2, 3).T.shape
        tinytorch.Size([3, 2])
    """
    if input.ndim != 2:
        _warn_of_other_than_matrices(input.ndim)
    return xp.transpose(input)


def _warn_of_other_than_matrices(ndim: int) -> None:
    if not ndim:
        _warn_of_no_matrix("T")
        return
    warn(
        "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
        "deprecated. Consider `x.mT` to transpose batches of matrices or "
        "`x.permute(*range(x.ndim)[::-1])` to reverse the dimensions of a tensor."
    )


def _warn_of_no_matrix(name: str) -> None:
    real = name in ("T", "mT")
    says = "This function is the identity in these cases." if real else "Consider using x.conj()."
    warn(f"Tensor.{name} is deprecated on 0-D tensors. {says}")


T.vjp(input=lambda xp, g: xp.transpose(g))


@op(view=True, attribute=True, namespaces=("Tensor",), node="TransposeBackward0")
def mT(xp: Backend, input: Array) -> Array:
    """``input`` with its last two dimensions swapped; a 0-d tensor is its own.

    Args:
        input: ``(..., m, n)``, or a 0-d tensor.

    Raises:
        RuntimeError: For one dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(4, 2, 3).mT.shape
        tinytorch.Size([4, 3, 2])
    """
    if input.ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    if not input.ndim:
        _warn_of_no_matrix("mT")
    return _swapped(xp, input)


def _swapped(xp: Any, x: Any) -> Any:
    return xp.swapaxes(x, -1, -2) if x.ndim else x


mT.vjp(input=lambda xp, g: _swapped(xp, g))


@composite(namespaces=("Tensor",), attribute=True)
def mH(input: Tensor) -> Tensor:
    """``input`` with its last two dimensions swapped, conjugated if it is complex.

    Args:
        input: ``(..., m, n)``, or a 0-d tensor.

    Returns:
        A view.

    Raises:
        RuntimeError: For one dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([[1j, 2.0]]).mH
        tensor([[0.-1.j],
                [2.-0.j]])
    """
    if input.ndim == 1:
        raise RuntimeError(
            "tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    if not input.ndim:
        _warn_of_no_matrix("mH")
    swapped = transpose(input, -2, -1) if input.ndim else t(input)
    return conj(swapped)


@composite(method=True)
def adjoint(input: Tensor) -> Tensor:
    """``input`` with its last two dimensions swapped, conjugated if it is complex.

    Args:
        input: ``(..., m, n)``, or a 0-d tensor.

    Example:
        >>> import tinytorch as tt
        >>> tt.adjoint(tt.zeros(2, 3)).shape
        tinytorch.Size([3, 2])
    """
    return mH(input)


@composite(namespaces=("Tensor",), attribute=True)
def H(input: Tensor) -> Tensor:
    """The transpose of a matrix, conjugated if it is complex; a 0-d tensor is its own.

    Args:
        input: ``(m, n)``, or a 0-d tensor.

    Raises:
        RuntimeError: For one or more than two dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2, 3).H.shape
        tinytorch.Size([3, 2])
    """
    if input.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if input.ndim > 2 else "")
        )
    if not input.ndim:
        _warn_of_no_matrix("H")
    swapped = t(input)
    return conj(swapped)


@op(method=True, view=True, aliases=("moveaxis",), node="PermuteBackward0")
def movedim(
    xp: Backend, input: Array, source: int | Sequence[int], destination: int | Sequence[int]
) -> Array:
    """``input`` with some dimensions moved; the others keep their order.

    Args:
        input: Tensor of any shape.
        source: The dimension or dimensions to move.
        destination: Where each of them goes.

    Returns:
        A view.

    Raises:
        RuntimeError: If dimensions are repeated or their numbers differ.
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2, 3, 4).movedim(0, -1).shape
        tinytorch.Size([3, 4, 2])
    """
    return xp.transpose(input, _moved(source, destination, input.ndim))


def _moved(source: Any, destination: Any, ndim: int) -> tuple[int, ...]:
    """The permutation that moves ``source`` to ``destination``."""
    named = (("source", source), ("destination", destination))
    given = [list(integers_of("movedim", name, dims)) for name, dims in named]
    if len(given[0]) != len(given[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({given[0]} dims) should contain "
            f"the same number of dims as destination ({given[1]} dims)"
        )
    moved = [[normalize_dim("movedim", d, ndim) for d in dims] for dims in given]
    for what, dims, shown in zip(("source", "destination"), moved, given, strict=True):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` ({shown})")
    rest = iter(d for d in range(ndim) if d not in moved[0])
    place = dict(zip(moved[1], moved[0], strict=True))
    return tuple(place[d] if d in place else next(rest) for d in range(ndim))


movedim.vjp(
    input=lambda xp, g, source, destination: xp.transpose(g, _moved(destination, source, g.ndim))
)
