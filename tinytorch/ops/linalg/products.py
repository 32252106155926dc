"""Products in ``tinytorch.linalg``: chains of matrices, vectors along a dimension, powers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import OPS, Array, Backend, composite, op
from ...dispatch.out import scalar_name
from ...warnings import warn
from ..checks import check_scalar_types, refuse
from ..memory_order import in_rows
from ..out import written
from ..reduce.reduction import sum as sum_
from ..shape.joining import cat
from ..shape.sizes import normalize_dim, unsqueeze
from .matmul import matmul


@composite(namespaces=("linalg",), node="ViewBackward0", exact_out=True)
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Product of two or more matrices, in the order that takes the fewest multiplications.

    Args:
        tensors: Matrices; the first and the last may be vectors.
        out: Where to write the result.

    Returns:
        The product: a matrix, a vector if one end is one, 0-d if both are.

    Raises:
        RuntimeError: For fewer than two tensors, or shapes or dtypes that do not fit.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.multi_dot([tt.ones(2, 5), tt.ones(5, 1), tt.ones(1, 3)])
        tensor([[5., 5., 5.],
                [5., 5., 5.]])
    """
    chain = list(tensors)
    _check_chain(chain)
    first, last = chain[0].ndim == 1, chain[-1].ndim == 1
    if first:
        chain[0] = unsqueeze(chain[0], 0)
    if last:
        chain[-1] = unsqueeze(chain[-1], 1)
    product = _multiplied(chain, _best_cuts(chain), 0, len(chain) - 1)
    if first:
        product = product.squeeze(0)
    if last:
        product = product.squeeze(-1)
    return written(out, product, "linalg.multi_dot")  # type: ignore[no-any-return]


def _check_chain(chain: list[Tensor]) -> None:
    if len(chain) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(chain)}")
    for i, tensor in enumerate(chain):
        ends = i in (0, len(chain) - 1)
        if tensor.ndim != 2 and not (ends and tensor.ndim == 1):
            which = f"the {'first' if i == 0 else 'last'} tensor" if ends else f"tensor {i}"
            raise RuntimeError(
                f"multi_dot(): {which} must be {'1D or ' if ends else ''}2D but got {tensor.ndim}D"
            )
        if tensor.dtype is not chain[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{scalar_name(chain[0].dtype)} and tensor {i} {scalar_name(tensor.dtype)}"
            )
        if i and chain[i - 1].shape[-1] != tensor.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i - 1} and {i} with shapes {list(chain[i - 1].shape)} and "
                f"{list(tensor.shape)} cannot be multiplied"
            )


def _best_cuts(chain: list[Tensor]) -> dict[tuple[int, int], int]:
    """Where to cut each part of the chain in two, by dynamic programming over its parts.

    Reference:
        Cormen et al., Introduction to Algorithms, "Matrix-chain multiplication".
    """
    sizes = [chain[0].shape[0], *(t.shape[1] for t in chain)]
    cost: dict[tuple[int, int], int] = {(i, i): 0 for i in range(len(chain))}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, len(chain)):
        for i in range(len(chain) - length):
            j = i + length
            cost[i, j], cuts[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )
    if len(chain) == 3 and cost[0, 2] == cost[0, 1] + sizes[0] * sizes[2] * sizes[3]:
        cuts[0, 2] = 1  # of three, the first two first, as in torch
    return cuts


def _multiplied(chain: list[Tensor], cuts: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return chain[i]
    k = cuts[i, j]
    return matmul(_multiplied(chain, cuts, i, k), _multiplied(chain, cuts, k + 1, j))


@composite(node="ViewBackward0", exact_out=True)
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Product of matrices; deprecated, as it is in PyTorch: see ``linalg.multi_dot``.

    Args:
        *matrices: One or more matrices, one by one or as one sequence; the sizes between two
            of them fit. The first and the last of several may be 1-d.

    Raises:
        RuntimeError: If there is none, or sizes or dtypes do not fit.

    Example:
        >>> import warnings
        >>> import tinytorch as tt
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.chain_matmul(tt.ones(1, 2), tt.ones(2, 3), tt.ones(3, 1))
        tensor([[6.]])
    """
    warn(
        "tinytorch.chain_matmul is deprecated. Use tinytorch.linalg.multi_dot instead, which "
        "accepts a list of two or more tensors rather than multiple parameters."
    )
    chain = matrices[0] if len(matrices) == 1 and not isinstance(matrices[0], Tensor) else matrices
    if not chain:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    if len(chain) == 1:
        return written(out, chain[0].clone(), "chain_matmul")  # type: ignore[no-any-return]
    return multi_dot(chain, out=out)


@composite(namespaces=("linalg",), node="SumBackward1", exact_out=True)
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Dot products of the vectors along a dimension, those of ``x`` conjugated.

    Args:
        x: Floating-point or complex tensor.
        y: Tensor that broadcasts with ``x``.
        dim: The dimension; default the last.
        out: Where to write the result.

    Returns:
        Tensor without dimension ``dim``.

    Raises:
        RuntimeError: If shapes do not broadcast, dtypes differ or are integral.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.vecdot(tt.ones(2, 3), tt.tensor([1.0, 2.0, 3.0]))
        tensor([6., 6.])
    """
    if x.dtype.kind not in "fc":
        raise RuntimeError(
            "linalg.vecdot: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(x.dtype)}"
        )
    if x.dtype is not y.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{scalar_name(x.dtype)} and y of type {scalar_name(y.dtype)} instead"
        )
    product = (x.conj() if x.is_complex() else x) * y
    return written(out, sum_(product, dim), "linalg.vecdot")  # type: ignore[no-any-return]


@op(namespaces=("linalg",), exact_out=True, buffered="apart")
def cross(xp: Backend, input: Array, other: Array, *, dim: int = -1) -> Array:
    """Cross product of the vectors of three elements along a dimension.

    Args:
        input: Tensor of size 3 along ``dim``.
        other: Tensor with as many dimensions, which broadcasts with ``input``.
        dim: The dimension; default the last.

    Raises:
        RuntimeError: If another size is there, or numbers of dimensions or dtypes differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.cross(tt.tensor([1.0, 0.0, 0.0]), tt.tensor([0.0, 1.0, 0.0]))
        tensor([0., 0., 1.])
    """
    if input.ndim != other.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions, got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    at = normalize_dim("linalg.cross", dim, input.ndim)
    if not input.ndim or input.shape[at] != 3 or other.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got "
            f"{input.shape[at] if input.ndim else 0} and {other.shape[at] if other.ndim else 0}"
        )
    refuse(xp, "cross", "b", input)
    check_scalar_types(xp, "linalg.cross", input, other)
    a0, a1, a2 = _components(input, at)
    b0, b1, b2 = _components(other, at)
    product = xp.stack((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0), axis=at)
    return in_rows(xp, product)


def _components(x: Any, at: int) -> list[Any]:
    return [x[(slice(None),) * at + (i,)] for i in range(3)]


def _cross_input(xp: Any, g: Any, other: Any, dim: int) -> Any:
    return xp.call(cross, other, g, dim=dim)


def _cross_other(xp: Any, g: Any, input: Any, dim: int) -> Any:
    return xp.call(cross, g, input, dim=dim)


# A triple product may be rotated: (a x b) . g = a . (b x g) = b . (g x a).
cross.vjp(input=_cross_input, other=_cross_other)


@composite(namespaces=("linalg",))
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Powers of the elements of ``x``: column ``k`` of each matrix holds ``x ** k``.

    Args:
        x: ``(..., n)``.
        N: Number of columns; default n.

    Returns:
        ``(..., n, N)``; int64 for integers.

    Raises:
        RuntimeError: For bools, or if ``N`` is less than 2.

    Example:
        >>> import tinytorch as tt
        >>> tt.linalg.vander(tt.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [1, 2, 4],
                [1, 3, 9]])
    """
    if x.dtype.kind == "b":
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    x = x if x.ndim else x.reshape(1)
    if N is None:
        N = x.shape[-1]
    elif N <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {N}.")
    return powers(x, N)


def powers(x: Tensor, count: int) -> Tensor:
    """``x ** 0, x ** 1, ...`` along a new last dimension of size ``count``, at least 1."""
    column = unsqueeze(x, -1)
    ones = OPS["ones_like"].function(column)
    return cat((ones, column.expand(*x.shape, count - 1).cumprod(-1)), -1)
