"""Norms, distances and similarities of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Out, composite, op, torch_convention
from ...dispatch.out import scalar_name
from ..memory_order import as_row_major
from ..pointwise.complex_numbers import direction, sgn
from ..shape.sizes import normalize_dim
from ..shape.views import contiguous
from .reduction import Dims, element_count, reduced_axes, spread

# -- the p-norm of vectors -------------------------------------------------------------------------


@op(public=False, node="LinalgVectorNormBackward0")
def p_norm(
    xp: Backend, input: Array, p: float = 2, dim: Dims = None, keepdim: bool = False
) -> Array:
    """``sum(abs(input) ** p) ** (1 / p)`` along ``dim``, and its limits at 0 and infinity."""
    if input.dtype.kind not in "fc":
        name = scalar_name(xp.dtype_of(input))
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {name}"
        )
    if input.dtype.char == "e":  # powers overflow long before the norm does
        wide = xp.astype(input, xp.native_dtype(dtypes.float32))
        return xp.astype(xp.asarray(xp.call(p_norm, wide, p, dim, keepdim)), input.dtype)
    axes = reduced_axes("norm", dim, input.ndim)
    if p != 0 and element_count(input.shape, axes) == 1:
        p = 1  # the norm of one number is its absolute value; its powers may overflow
    if p == 2:
        if axes is None and not keepdim and input.dtype.kind == "f":
            return xp.sqrt(xp.square_total(input))
        total = xp.asarray(xp.sum(_squares(xp, input), axis=axes, keepdims=keepdim))
        return as_row_major(xp, xp.sqrt(total))
    size = xp.absolute(input)
    if p < 0 or p == math.inf:
        _check_extreme(p, input.shape, axes)
    if math.isinf(p):
        extreme = (xp.max if p > 0 else xp.min)(size, axis=axes, keepdims=keepdim)
        return as_row_major(xp, xp.asarray(extreme))
    terms = size != 0 if p == 0 else size if p == 1 else size**p
    total = as_row_major(
        xp, xp.asarray(xp.sum(terms, axis=axes, dtype=size.dtype, keepdims=keepdim))
    )
    return total if p in (0, 1) else total ** (1 / p)


def _squares(xp: Backend, input: Array) -> Array:
    """Square of the absolute value of each element."""
    return input.real**2 + input.imag**2 if input.dtype.kind == "c" else input * input


def _check_extreme(p: float, shape: tuple[int, ...], axes: tuple[int, ...] | None) -> None:
    """Raise RuntimeError if the norm is a maximum or minimum of no elements."""
    if 0 in (shape if axes is None else [shape[i] for i in axes]):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor because the "
            "operation does not have an identity"
        )


def _p_norm_gradient(
    xp: Any, g: Any, out: Any, input: Any, p: float, dim: Any, keepdim: bool
) -> Any:
    """Gradient of the p-norm; 0 where the norm is 0 and not differentiable."""
    if input.dtype == "float16":  # a gradient divided by a small norm overflows
        g, out, wide = (xp.astype(a, "float32") for a in (g, out, input))
        return xp.astype(_p_norm_gradient(xp, g, out, wide, p, dim, keepdim), input.dtype)
    shape = input.shape
    g = spread(xp, g, shape, dim, keepdim)
    if p == 0:
        return xp.zeros_like(input)
    if p == 1:
        return g * direction(xp, input)
    norm_ = spread(xp, out, shape, dim, keepdim)
    if math.isinf(p):
        size = xp.abs(input)
        chosen = xp.astype((size == norm_) | ((size != size) & (norm_ != norm_)), norm_.dtype)
        axes = reduced_axes("norm", dim, len(shape))
        return direction(xp, input) * (g * chosen / xp.sum(chosen, axis=axes, keepdims=True))
    is_zero_norm = norm_ == 0
    if p == 2:
        return input * xp.where(is_zero_norm, 0, g / xp.where(is_zero_norm, 1, norm_))
    return _power_gradient(xp, g, norm_, input, p)


def _power_gradient(xp: Any, g: Any, norm_: Any, input: Any, p: float) -> Any:
    """Gradient of the p-norm for other powers than 0, 1, 2 and infinity."""
    size = xp.abs(input)
    zero = size == 0
    is_zero_norm = norm_ == 0
    # sgn(x) (|x| / norm)^(p - 1), in a form that is finite at 0. Separate powers would overflow.
    ratio = xp.where(zero, 1, size) / xp.where(is_zero_norm, 1, norm_)
    return xp.call(sgn, input) * xp.where(zero | is_zero_norm, 0, g * ratio ** (p - 1))


p_norm.vjp(input=torch_convention(_p_norm_gradient))


@composite(method=True, out=Out.EXACT)
def norm(
    input: Tensor, p: Any = "fro", dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Norm of all elements, or along ``dim``; ``tinytorch.linalg`` has the newer forms.

    Args:
        input: Floating-point or complex tensor.
        p: A number for ``sum(abs(input) ** p) ** (1 / p)``, infinity included; ``"fro"``, the
            default, for the root of the sum of squares; ``"nuc"`` for the sum of the singular
            values of matrices.
        dim: Dimension or dimensions; None, the default, means all.
        keepdim: Whether to keep the reduced dimensions, with size 1.
        dtype: Dtype of the computation and result. Default: the input's.

    Returns:
        Real tensor without the reduced dimensions.

    Raises:
        RuntimeError: If ``input`` is integer, or the name of the norm is unknown.

    Example:
        >>> tt.norm(tt.tensor([3.0, 4.0]))
        tensor(5.)
    """
    if dtype is not None:
        input = input.to(dtypes.as_dtype(dtype))
    if p == "nuc":
        return _nuclear(input, dim, keepdim)
    if p is None or p == "fro":
        if p and dim is not None and not isinstance(dim, int) and len(dim) > 2:
            raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {list(dim)}")
        p = 2
    if isinstance(p, str):
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    return p_norm(input, float(p), dim, keepdim)


@composite(out=Out.CAST)
def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """Root of the sum of squares along one or two dimensions; ``linalg.norm`` is the newer form.

    Args:
        input: Floating-point or complex tensor.
        dim: One or two dimensions, or an empty sequence for all.
        keepdim: Whether to keep these dimensions, with size 1. Default: False.

    Returns:
        Real tensor without these dimensions.

    Raises:
        RuntimeError: If there are more dimensions, or ``input`` is integer.

    Example:
        >>> tt.frobenius_norm(tt.tensor([[3.0, 4.0]]), dim=(0, 1))
        tensor(5.)
    """
    if not isinstance(dim, int) and len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    return p_norm(input, 2.0, dim if isinstance(dim, int) or dim else None, keepdim)


@composite(out=Out.CAST)
def nuclear_norm(
    input: Tensor, dim: Sequence[int] | bool | None = None, keepdim: bool = False
) -> Tensor:
    """Sum of the singular values of matrices; ``linalg.norm`` is the newer form.

    Args:
        input: A matrix, or a tensor of more dimensions.
        dim: The two dimensions of the matrices; default: the last two. A bool is read as
            ``keepdim``.
        keepdim: Whether to keep these dimensions, with size 1.

    Raises:
        RuntimeError: If there are fewer than two dimensions.

    Example:
        >>> tt.nuclear_norm(tt.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor(7.)
    """
    if isinstance(dim, bool):
        return nuclear_norm(input, None, dim)
    if input.ndim < 2:
        raise RuntimeError(
            f"nuclear_norm: The input tensor A must have at least 2 dimensions, got {input.ndim}"
        )
    return _nuclear(input, (-2, -1) if dim is None else dim, keepdim)


@composite
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """p-norm over all dimensions except one, as in weight normalization.

    Args:
        v: Floating-point tensor.
        pow: The exponent p.
        dim: The dimension that is not reduced; with -1 all dimensions are reduced.

    Example:
        >>> tt.norm_except_dim(tt.tensor([[3.0, 4.0], [6.0, 8.0]]))
        tensor([[ 5.],
                [10.]])
    """
    if dim == -1:
        return p_norm(v, pow)
    dim = normalize_dim("norm_except_dim", dim, v.ndim)
    others = tuple(d for d in range(v.ndim) if d != dim)
    return p_norm(v, pow, others, True) if others else v.abs()


def _nuclear(input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """Nuclear norm of matrices: the sum of their singular values."""
    if input.ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions, got shape "
            f"{list(input.shape)}."
        )
    dims: Sequence[int] = tuple(range(input.ndim)) if dim is None else dim
    if isinstance(dims, int) or len(dims) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dims}")
    first, second = (normalize_dim("norm", d, input.ndim) for d in dims)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {tuple(dims)}")
    values = input.movedim((first, second), (-2, -1)).svd().S.sum(-1)
    if not keepdim:
        return values
    for at in sorted((first, second)):
        values = values.unsqueeze(at)
    return values


@composite(method=True, node="DistBackward0")
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """p-norm of the difference of two tensors.

    Args:
        input: Floating-point or complex tensor.
        other: Tensor; the two shapes broadcast.
        p: The exponent p; default 2.

    Returns:
        0-d real tensor.

    Raises:
        RuntimeError: If the shapes do not broadcast.

    Example:
        >>> tt.dist(tt.tensor([1.0, 2.0]), tt.tensor([4.0, 6.0]))
        tensor(5.)
    """
    return keep_versions(p_norm(input - other, float(p)), input, other)


@composite(method=True, inplace=True, node="RenormBackward0", out=Out.EXACT)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale down each slice of ``input`` along ``dim`` to a norm of at most ``maxnorm``.

    Args:
        input: Floating-point or complex tensor of at least two dimensions.
        p: The exponent of the norm, positive.
        dim: The dimension whose slices are scaled.
        maxnorm: The largest allowed norm.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If ``p`` is not positive, ``maxnorm`` is negative, or there are fewer
            than two dimensions.

    Example:
        >>> tt.renorm(tt.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got p={p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    ndim = input._data.ndim
    if ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {ndim} dimensions")
    at = normalize_dim("renorm", dim, ndim)
    others = tuple([d for d in range(ndim) if d != at])
    size = p_norm(input, float(p), others, True)
    # torch's epsilon, in case the reciprocal of the norm is rounded up.
    scale = (min(maxnorm, dtypes.finfo(size.dtype).max) / (size + 1e-7)).where(size > maxnorm, 1.0)
    return contiguous(input * scale)


@composite(namespaces=("", "nn.functional"), node="NormBackward1")
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """p-norm of ``x1 - x2 + eps`` over the last dimension.

    Args:
        x1: Shape ``(*, features)``.
        x2: The same shape, broadcast.
        p: The exponent p. Default: 2.
        eps: Number that keeps the gradient finite where they are equal. Default: 1e-6.
        keepdim: Whether to keep the last dimension, with size 1. Default: False.

    Returns:
        Shape ``(*)``, or ``(*, 1)``.

    Example:
        >>> tt.pairwise_distance(tt.zeros(2, 4), tt.ones(4))
        tensor([2.0000, 2.0000])
    """
    difference: Any = x1 - x2 + eps
    return p_norm(difference, p, -1, keepdim)


@composite(namespaces=("", "nn.functional"), node="SumBackward1")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """``x1 · x2 / (‖x1‖ ‖x2‖)`` along a dimension, where each norm is at least ``eps``.

    Args:
        x1: Any shape.
        x2: The same shape, broadcast.
        dim: The dimension. Default: 1.
        eps: Lower bound of each norm. Default: 1e-8.

    Returns:
        Tensor of the broadcast shape without ``dim`` and of the promoted dtype.

    Raises:
        RuntimeError: If the dtype is not floating-point, or ``eps`` is negative.

    Example:
        >>> tt.cosine_similarity(tt.ones(1, 2), tt.tensor([[1.0, 0.0]]))
        tensor([0.7071])
    """
    dtype = x1.dtype if x1.dtype is x2.dtype else (x1 * x2).dtype
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {scalar_name(dtype)}"
        )
    if eps < 0:
        raise RuntimeError(f"cosine_similarity: eps must be non-negative, got: {eps:g}")
    x1, x2 = (x if x.is_floating_point() else x.to(dtype) for x in (x1, x2))
    return _cosine(x1, x2, dim, eps)


@op(public=False, strict=True)
def _cosine(xp: Backend, x1: Array, x2: Array, dim: int, eps: float) -> Array:
    """``cosine_similarity`` of floating-point arrays, each normalized in its own dtype."""
    (a, _), (b, _) = _normalize_both(xp, x1, x2, dim, eps)
    return as_row_major(xp, xp.asarray(xp.sum(a * b, axis=reduced_axes("sum", dim, a.ndim))))


def _normalize_both(xp: Any, x1: Any, x2: Any, dim: int, eps: float) -> list[tuple[Any, Any]]:
    """Both arrays divided by their 2-norms along ``dim``, at least ``eps``, and these norms.

    They are normalized before the multiplication, since the product of the norms could overflow.
    """
    if x1.shape != x2.shape:  # broadcast first, since the dimension is one of the result
        shape = xp.broadcast_shapes(x1.shape, x2.shape)
        x1, x2 = xp.broadcast_to(x1, shape), xp.broadcast_to(x2, shape)
    norms = (xp.call(p_norm, x, 2.0, dim, True) for x in (x1, x2))
    return [(x / xp.where(n < eps, eps, n), n) for x, n in zip((x1, x2), norms, strict=True)]


@_cosine.vjp_joint("x1", "x2")
def _cosine_gradient(
    xp: Any, g: Any, in_shape: Any, x1: Any, x2: Any, dim: int, eps: float
) -> tuple[Any, Any]:
    """``g (b - a (a · b)) / ‖x1‖`` for the unit vectors a and b, and the same for ``x2``.

    A norm that is replaced by ``eps`` is constant.
    """
    (a, n1), (b, n2) = _normalize_both(xp, x1, x2, dim, eps)
    axes = reduced_axes("sum", dim, a.ndim)
    cosine = xp.sum(a * b, axis=axes, keepdims=True)
    g = g.reshape(cosine.shape)
    first = g * (b - a * xp.where(n1 < eps, 0, cosine)) / xp.where(n1 < eps, eps, n1)
    second = g * (a - b * xp.where(n2 < eps, 0, cosine)) / xp.where(n2 < eps, eps, n2)
    return xp.astype(first, x1.dtype), xp.astype(second, x2.dtype)
