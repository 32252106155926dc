"""Elementwise operations on sparse tensors, and their in-place forms.

They compute with the elements of their arguments, by operations of dense tensors, which record the
gradients. Names, results and errors are PyTorch's; a result's elements may be in another order
where a tensor is not coalesced.
"""

from __future__ import annotations

from typing import Any

from ...core.layout import sparse_coo
from ...core.tensor import Tensor
from ...state import grad_enabled, no_grad
from ..create.conversion import to
from ..shape.joining import cat as cat_dense
from ..shape.sizes import expand
from ..sort.sorting import searchsorted
from .kernels import gather, take
from .layouts import canonical, as_coo, coalesce, convert, to_dense, zeros_like
from .pattern import Pattern, join
from .tensor import HANDLERS, SparseTensor, handles, make_sparse, name_node

# -- elementwise -----------------------------------------------------------------------------------

#: Functions that are 0 at 0, so that a result has the pattern of its input.
_ZERO_AT_ZERO = (
    "abs absolute angle arcsin arcsinh arctan arctanh asin asinh atan atanh ceil conj_physical "
    "deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf log1p neg negative positive "
    "rad2deg relu round sgn sign signbit sin sinh sqrt square tan tanh trunc"
)


def _define_elementwise(name: str, kept: bool = False) -> None:
    """Register an operation that is applied to the coalesced elements.

    With ``kept`` the elements need not be coalesced, because the operation is linear.
    """

    def apply(input: SparseTensor, *args: Any, **options: Any) -> SparseTensor:
        source = input if kept or input.layout is not sparse_coo else coalesce(input)
        return source.make_like(getattr(source._elements, name)(*args, **options))

    handles(name)(apply)


for _name in _ZERO_AT_ZERO.split():
    _define_elementwise(_name)
for _name in ("clone", "contiguous", "neg", "negative", "positive"):
    _define_elementwise(_name, kept=True)
HANDLERS["nn.functional.relu"] = lambda input, inplace=False: HANDLERS["relu"](input)


@handles("mul", "multiply")
def mul(input: Any, other: Any) -> Any:
    """Product with a number, or element by element with a tensor that broadcasts to the shape."""
    if not isinstance(input, SparseTensor):
        input, other = other, input
    if _is_number(other):
        return input.make_like(input._elements * other)
    if not isinstance(other, SparseTensor):
        return _mul_dense(input, other)
    _check_shapes(input, other)
    if input._pattern is other._pattern and input._pattern.is_coalesced:
        return input.make_like(input._elements * other._elements)
    kind = input.layout
    a, b = canonical(input), canonical(other)
    common = _intersect(a._pattern, b._pattern)
    pattern = Pattern.from_flat(common[2], tuple(a.shape), a._pattern.sparse_dim)
    product = take(a._elements, common[0]) * take(b._elements, common[1])
    return convert(make_sparse(pattern, name_node(product, "MulBackward0")), kind)


def _is_number(value: Any) -> bool:
    """Whether a value is a Python number or a dense tensor without dimensions."""
    if isinstance(value, SparseTensor):
        return False
    return not isinstance(value, Tensor) or value.ndim == 0


def _mul_dense(input: SparseTensor, other: Tensor) -> SparseTensor:
    """Multiply by a dense tensor that broadcasts to the shape."""
    if tuple(other.shape) != tuple(input.shape):
        other = expand(other, tuple(input.shape))
    product = input._elements * gather(input._pattern, other)
    return input.make_like(name_node(product, "MulBackward0"))


def _intersect(a: Pattern, b: Pattern) -> tuple[Tensor, Tensor, Tensor]:
    """Positions among the elements of two coalesced patterns of those that both have.

    The third part of the result numbers the common positions in row-major order.
    """
    if not a.nnz or not b.nnz:
        none = a.flat[:0]
        return none, none, none
    place = searchsorted(b.flat, a.flat).clamp(max=b.nnz - 1)
    iscreation_options = b.flat[place] == a.flat
    return iscreation_options.nonzero()[:, 0], place[iscreation_options], a.flat[iscreation_options]


def _check_shapes(input: SparseTensor, other: SparseTensor) -> None:
    """Raise RuntimeError for two sparse tensors of different shapes."""
    if input.shape != other.shape or input._pattern.sparse_dim != other._pattern.sparse_dim:
        raise RuntimeError(
            "sparse tensors: expected 'self' and 'other' to have same sizes, but current sizes are "
            f"{list(input.shape)} and {list(other.shape)}"
        )


@handles("div", "divide", "true_divide")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> SparseTensor:
    """Quotient by a number."""
    if not isinstance(input, SparseTensor) or not _is_number(other):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(getattr(other, 'shape', ()))} for divisor)"
        )
    if rounding_mode is None:
        return input.make_like(input._elements / other)
    source = input if input.layout is not sparse_coo else coalesce(input)
    return source.make_like(source._elements.div(other, rounding_mode=rounding_mode))


@handles("floor_divide")
def floor_divide(input: Any, other: Any) -> SparseTensor:
    """Quotient by a number, rounded down."""
    return div(input, other, rounding_mode="floor")


@handles("pow", "float_power")
def pow(input: Any, exponent: Any) -> SparseTensor:
    """Power with a positive number as the exponent."""
    if not isinstance(input, SparseTensor) or isinstance(exponent, Tensor) or not exponent > 0:
        raise RuntimeError("pow: expected a sparse base and a positive number as the exponent")
    source = input if input.layout is not sparse_coo else coalesce(input)
    return source.make_like(source._elements**exponent)


@handles("add")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Sum of two sparse tensors, or of a dense and a sparse one."""
    if not isinstance(input, SparseTensor) and isinstance(input, Tensor):
        if tuple(input.shape) != tuple(other.shape):
            raise RuntimeError(
                f"add: expected 'self' and 'other' to have same size, but self has size "
                f"{list(input.shape)} while other has size {list(other.shape)} "
                "(FYI: dense-sparse addition does not currently support broadcasting)"
            )
        return input.add(to_dense(other), alpha=alpha)
    if not isinstance(input, SparseTensor) or not isinstance(other, SparseTensor):
        if input.layout is not sparse_coo and isinstance(other, Tensor) and other.ndim:
            return to_dense(input).add(other, alpha=alpha)
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    _check_shapes(input, other)
    added = other._elements if alpha == 1 else other._elements * alpha
    if input._pattern is other._pattern:
        return input.make_like(input._elements + added)
    total = _join_elements(as_coo(input), as_coo(other.make_like(added)))
    merges = _is_sorted(input) and _is_sorted(other)
    total = convert(coalesce(total) if merges else total, input.layout)
    return total.make_like(name_node(total._elements, "AddBackward0"))


def _is_sorted(input: SparseTensor) -> bool:
    """Whether the sum with another such tensor is coalesced."""
    return input._pattern.is_coalesced or input.layout is not sparse_coo


def _join_elements(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """Return the sum of two COO tensors that is not coalesced: the elements of both."""
    elements = cat_dense([a._elements, b._elements.to(a._elements.dtype)]) if (
        a.dtype is b.dtype
    ) else cat_dense([a._elements, b._elements])  # fmt: skip
    return make_sparse(join([a._pattern, b._pattern], tuple(a.shape)), elements)


@handles("sub", "subtract")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Difference of two sparse tensors, or of a dense and a sparse one."""
    return add(input, other, alpha=-alpha)


# -- in place --------------------------------------------------------------------------------------


def _define_inplace(name: str) -> None:
    """Register ``name_``: the tensor takes the pattern and the elements of the result."""

    def write(input: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(input, SparseTensor):
            raise RuntimeError(f"{name}_: a sparse result cannot be written to a dense tensor")
        return input.replace(HANDLERS[name](input, *args, **options))

    handles(f"{name}_")(write)


for _name in ("sub", "abs", "floor_divide", "neg", "pow", "relu", "sqrt", "sin", "tanh"):
    _define_inplace(_name)


@handles("mul_", "multiply_")
def mul_(input: Any, other: Any) -> Any:
    """Multiply the elements in place, also those of tensors that share them."""
    if isinstance(input, SparseTensor) and _is_number(other):
        input._elements.mul_(other)
        return input
    if not isinstance(input, SparseTensor):
        raise RuntimeError("mul_: a sparse result cannot be written to a dense tensor")
    return input.replace(mul(input, other))


@handles("div_", "divide_", "true_divide_")
def div_(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Divide the elements in place by a number."""
    if rounding_mode is None and isinstance(input, SparseTensor) and _is_number(other):
        input._elements.div_(other)
        return input
    return input.replace(div(input, other, rounding_mode=rounding_mode))


@handles("add_")
def add_(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Add a sparse tensor in place to a dense or a sparse one."""
    if isinstance(input, SparseTensor):
        found: Any = add(input, other, alpha=alpha)
        return input.replace(found)
    source = as_coo(other)
    if source._pattern.sparse_dim != 1 or source.shape != input.shape:
        return input.add_(to_dense(source), alpha=alpha)
    rows, elements = source._pattern.coordinates[0], source._elements.to(input.dtype)
    if grad_enabled() and (input.requires_grad or elements.requires_grad):
        return input.index_add_(0, rows, elements, alpha=alpha)
    input._bump()  # not ``index_add_``, which copies the whole table
    elements = elements if alpha == 1 else elements * alpha
    input._xp.index_add(input._data, rows._data, elements._data)
    return input


@handles("sub_", "subtract_")
def sub_(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Subtract a sparse tensor in place from a dense or a sparse one."""
    return add_(input, other, alpha=-alpha)


@handles("zero_")
def zero_(input: SparseTensor) -> SparseTensor:
    """Remove all elements."""
    return input.replace(zeros_like(input))


@handles("copy_")
def copy_(input: Any, src: Any, non_blocking: bool = False) -> Any:
    """Copy pattern and elements of another sparse tensor of the shape and layout."""
    if not isinstance(src, SparseTensor) or not isinstance(input, SparseTensor):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{input.type()} and src type = {src.type()}"
        )
    if input.shape != src.shape or input.layout is not src.layout:
        raise RuntimeError(
            f"copy_: expected a sparse tensor of shape {list(input.shape)} and layout "
            f"{input.layout}, got shape {list(src.shape)} and layout {src.layout}"
        )
    elements = to(src._elements, dtype=input.dtype, device=input.device, backend=input.backend)
    elements = elements.clone() if elements is src._elements else elements
    found = make_sparse(src._pattern.move(elements), elements)
    if not elements.requires_grad and input.requires_grad and input.is_leaf:
        with no_grad():  # a leaf stays one: only its elements change
            input._pattern = found._pattern
            input._elements.data = elements
        return input
    return input.replace(found)
