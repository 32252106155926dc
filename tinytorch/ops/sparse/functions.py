"""Operations that accept sparse tensors, each a function in ``HANDLERS``.

They compute with the elements of their arguments, by operations of dense tensors, which record the
gradients. Names, results and errors are PyTorch's; a result's elements may be in another order
where a tensor is not coalesced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...core.layout import sparse_coo, sparse_csc, sparse_csr
from ...core.tensor import Tensor, wrap
from ...graph.late_bound import LATE_BOUND
from ...graph.sparse_gradients import SparseGradient
from ...state import grad_enabled, no_grad
from ..create.conversion import to
from ..shape.joining import cat as cat_dense
from ..shape.joining import stack as stack_dense
from ..shape.sizes import expand, normalize_dim
from ..sort.sorting import searchsorted
from .pattern import Pattern, join
from .products import gather, merge, multiply, multiply_patterns, pair, scatter, take
from .tensor import HANDLERS, LAYOUT_NAMES, SparseTensor, handles, make_sparse, name_node

# -- layouts ---------------------------------------------------------------------------------------


@handles("coalesce")
def coalesce(input: SparseTensor) -> SparseTensor:
    """Add the elements of each position, and sort the positions."""
    _check_coo(input, "coalesce")
    if input._pattern.is_coalesced:
        return input
    pattern, positions = input._pattern.merged
    elements = merge(input._elements, positions, pattern.nnz)
    return make_sparse(pattern, name_node(elements, "CoalesceBackward0"))


def _check_coo(input: SparseTensor, name: str) -> None:
    """Raise PyTorch's error for a compressed layout."""
    if input.layout is not sparse_coo:
        raise RuntimeError(
            f"{name} expected sparse coordinate tensor layout but got {LAYOUT_NAMES[input.layout]}"
        )


def as_coo(input: SparseTensor) -> SparseTensor:
    """Return a tensor in the layout ``sparse_coo``, with the elements in the same order."""
    pattern = input._pattern.coo
    if input.layout is sparse_csr:
        pattern = Pattern(sparse_coo, pattern.index, pattern.shape, True)
    return make_sparse(pattern, input._elements)


def compress(input: SparseTensor, target: Any) -> SparseTensor:
    """Convert a matrix to CSR or CSC."""
    if input.layout is target:
        return input
    if input.ndim != 2 or input._pattern.sparse_dim != 2:
        raise NotImplementedError(
            f"to_{str(target).rpartition('.')[2]}: batches and dense dimensions of {target} are "
            f"not supported; expected a matrix, got shape {list(input.shape)} with "
            f"{input._pattern.sparse_dim} sparse dimensions"
        )
    source = as_coo(input)
    pattern, positions = source._pattern.compress(target)
    elements = source._elements if positions is None else merge(
        source._elements, positions, pattern.nnz
    )  # fmt: skip
    name = "ToSparseCsrBackward0" if target is sparse_csr else "ToSparseCscBackward0"
    return make_sparse(pattern, name_node(_alias(elements), name))


def convert(input: SparseTensor, target: Any) -> SparseTensor:
    """Convert to the layout ``target``; the tensor itself if it has it."""
    if input.layout is target:
        return input
    if target is sparse_coo:
        found = as_coo(input)
        found._elements = name_node(_alias(found._elements), "ToSparseBackward1")
        return coalesce(found) if input.layout is sparse_csc else found
    if target in (sparse_csr, sparse_csc):
        return compress(input, target)
    raise NotImplementedError(f"to_sparse: the layout {target} is not supported")


def _alias(elements: Tensor) -> Tensor:
    """Return a tensor on the same memory, with a node of its own if gradients are recorded."""
    return elements.view_as(elements) if elements.requires_grad else elements.detach()


@handles("to_sparse")
def to_sparse(
    input: SparseTensor, sparse_dim: int | None = None, *, layout: Any = None,
    blocksize: Any = None, dense_dim: int | None = None,
) -> SparseTensor:  # fmt: skip
    """Convert to another sparse layout."""
    if sparse_dim is not None and sparse_dim != input._pattern.sparse_dim or blocksize is not None:
        raise NotImplementedError(
            "to_sparse: the number of sparse dimensions and blocks of a sparse tensor cannot change"
        )
    return convert(input, sparse_coo if layout is None else layout)


@handles("to_sparse_coo")
def to_sparse_coo(input: SparseTensor) -> SparseTensor:
    """Convert to COO."""
    return convert(input, sparse_coo)


@handles("to_sparse_csr")
def to_sparse_csr(input: SparseTensor, dense_dim: int | None = None) -> SparseTensor:
    """Convert to CSR."""
    return convert(input, sparse_csr)


@handles("to_sparse_csc")
def to_sparse_csc(input: SparseTensor, dense_dim: int | None = None) -> SparseTensor:
    """Convert to CSC."""
    return convert(input, sparse_csc)


@handles("to_dense")
def to_dense(
    input: SparseTensor, dtype: Any = None, *, masked_grad: bool | None = None
) -> Tensor:  # fmt: skip
    """Convert to a dense tensor."""
    out = scatter(input._pattern, input._elements)
    return out if dtype is None else to(out, dtype=dtype)


@handles("sparse_mask")
def sparse_mask(input: Any, mask: SparseTensor) -> SparseTensor:
    """Return the elements of ``input`` at the positions of ``mask``."""
    if not isinstance(mask, SparseTensor):
        raise RuntimeError("sparse_mask(): expected a sparse mask, got a dense one")
    if tuple(input.shape) != tuple(mask.shape):
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(input.shape)} "
            f"but mask has size {list(mask.shape)}"
        )
    if isinstance(input, SparseTensor):
        if input._pattern is mask._pattern:
            return input
        input = to_dense(input)
    elements = name_node(gather(mask._pattern, input), "SparseMaskBackward0")
    return make_sparse(mask._pattern, elements)


# -- parts -----------------------------------------------------------------------------------------


@handles("indices")
def indices(input: SparseTensor) -> Tensor:
    """Return the indices of a coalesced COO tensor."""
    _check_coo(input, "indices")
    _check_coalesced(input, "indices")
    return input._pattern.index[0].detach()


@handles("values")
def values(input: SparseTensor) -> Tensor:
    """Return the elements, with their history."""
    if input.layout is sparse_coo:
        _check_coalesced(input, "values")
    return name_node(_alias(input._elements), "ValuesBackward0")


def _check_coalesced(input: SparseTensor, name: str) -> None:
    """Raise PyTorch's error for a tensor that is not coalesced."""
    if not input._pattern.is_coalesced:
        raise RuntimeError(
            f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
        )


def _define_index(name: str, of: Any, at: int, axis: str) -> None:
    """Register a method that returns a part of the indices of CSR or CSC."""

    def part(input: SparseTensor) -> Tensor:
        if input.layout is not of:
            raise RuntimeError(
                f"{name} expected sparse {axis} compressed tensor layout but got "
                f"{LAYOUT_NAMES[input.layout]}"
            )
        return input._pattern.index[at].detach()

    handles(name)(part)


_define_index("crow_indices", sparse_csr, 0, "row")
_define_index("col_indices", sparse_csr, 1, "row")
_define_index("ccol_indices", sparse_csc, 0, "column")
_define_index("row_indices", sparse_csc, 1, "column")


@handles("is_coalesced")
def is_coalesced(input: SparseTensor) -> bool:
    """Whether the positions are sorted and none repeats."""
    _check_coo(input, "is_coalesced")
    return input._pattern.is_coalesced


HANDLERS["sparse_dim"] = lambda input: input._pattern.sparse_dim
HANDLERS["dense_dim"] = lambda input: input.ndim - input._pattern.sparse_dim


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
        return source.with_elements(getattr(source._elements, name)(*args, **options))

    handles(name)(apply)


for _name in _ZERO_AT_ZERO.split():
    _define_elementwise(_name)
for _name in ("clone", "contiguous", "neg", "negative", "positive"):
    _define_elementwise(_name, kept=True)
HANDLERS["nn.functional.relu"] = lambda input, inplace=False: HANDLERS["relu"](input)


@handles("mul", "multiply")
def mul(input: Any, other: Any) -> SparseTensor:
    """Product with a number, or element by element with a tensor that broadcasts to the shape."""
    if not isinstance(input, SparseTensor):
        input, other = other, input
    if _is_number(other):
        return input.with_elements(input._elements * other)
    if not isinstance(other, SparseTensor):
        return _mul_dense(input, other)
    _check_shapes(input, other)
    if input._pattern is other._pattern and input._pattern.is_coalesced:
        return input.with_elements(input._elements * other._elements)
    kind = input.layout
    a, b = _canonical(input), _canonical(other)
    common = _intersect(a._pattern, b._pattern)
    pattern = Pattern.from_flat(common[2], tuple(a.shape), a._pattern.sparse_dim)
    product = take(a._elements, common[0]) * take(b._elements, common[1])
    return convert(make_sparse(pattern, name_node(product, "MulBackward0")), kind)


def _is_number(value: Any) -> bool:
    """Whether a value is a Python number or a dense tensor without dimensions."""
    if isinstance(value, SparseTensor):
        return False
    return not isinstance(value, Tensor) or value.ndim == 0


def _canonical(input: SparseTensor) -> SparseTensor:
    """Return the tensor as coalesced COO."""
    return coalesce(as_coo(input))


def _mul_dense(input: SparseTensor, other: Tensor) -> SparseTensor:
    """Multiply by a dense tensor that broadcasts to the shape."""
    if tuple(other.shape) != tuple(input.shape):
        other = expand(other, tuple(input.shape))
    product = input._elements * gather(input._pattern, other)
    return input.with_elements(name_node(product, "MulBackward0"))


def _intersect(a: Pattern, b: Pattern) -> tuple[Tensor, Tensor, Tensor]:
    """Positions among the elements of two coalesced patterns of those that both have.

    The third part of the result numbers the common positions in row-major order.
    """
    if not a.nnz or not b.nnz:
        none = a.flat[:0]
        return none, none, none
    place = searchsorted(b.flat, a.flat).clamp(max=b.nnz - 1)
    is_common = b.flat[place] == a.flat
    return is_common.nonzero()[:, 0], place[is_common], a.flat[is_common]


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
        return input.with_elements(input._elements / other)
    source = input if input.layout is not sparse_coo else coalesce(input)
    return source.with_elements(source._elements.div(other, rounding_mode=rounding_mode))


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
    return source.with_elements(source._elements**exponent)


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
        return input.with_elements(input._elements + added)
    total = _join_elements(as_coo(input), as_coo(other.with_elements(added)))
    merges = _is_sorted(input) and _is_sorted(other)
    total = convert(coalesce(total) if merges else total, input.layout)
    return total.with_elements(name_node(total._elements, "AddBackward0"))


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
        return input.replace(add(input, other, alpha=alpha))
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


# -- shape -----------------------------------------------------------------------------------------


@handles("transpose", "swapaxes", "swapdims")
def transpose(input: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    """Exchange two sparse dimensions."""
    first, second = (normalize_dim("transpose", d, input.ndim) for d in (dim0, dim1))
    if max(first, second) >= input._pattern.sparse_dim:
        raise RuntimeError("transpose: dense dimensions of a sparse tensor cannot be exchanged")
    elements = name_node(_alias(input._elements), "TransposeBackward0")
    return make_sparse(input._pattern.transpose(first, second), elements)


@handles("t")
def t(input: SparseTensor) -> SparseTensor:
    """Transpose a matrix."""
    if input.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.ndim}"
        )
    found = transpose(input, 0, input.ndim - 1) if input.ndim else input
    return found.with_elements(name_node(found._elements, "TBackward0"))


HANDLERS["T"] = HANDLERS["numpy_T"] = lambda input: transpose(input, 0, max(input.ndim - 1, 0))
HANDLERS["mT"] = lambda input: transpose(input, -2, -1)
HANDLERS["adjoint"] = HANDLERS["mH"] = HANDLERS["H"] = lambda input: (
    HANDLERS["conj_physical"](transpose(input, -2, -1))
    if input.is_complex()
    else transpose(input, -2, -1)
)
HANDLERS["conj"] = lambda input: HANDLERS["conj_physical"](input) if input.is_complex() else input


def _check_all_coo(name: str, tensors: Sequence[Any]) -> None:
    """Raise RuntimeError unless all tensors are COO."""
    if not all(isinstance(each, SparseTensor) and each.layout is sparse_coo for each in tensors):
        raise RuntimeError(f"{name}: expected all tensors to be of the layout sparse_coo")


@handles("cat", "concat", "concatenate")
def cat(tensors: Sequence[Any], dim: int = 0) -> SparseTensor:
    """Concatenate COO tensors along a sparse dimension."""
    _check_all_coo("cat", tensors)
    dim = normalize_dim("cat", dim, tensors[0].ndim)
    if dim >= tensors[0]._pattern.sparse_dim:
        raise NotImplementedError("cat: concatenation along dense dimensions is not supported")
    shape, parts, start = list(tensors[0].shape), [], 0
    for each in tensors:
        rows = list(each._pattern.coordinates)
        rows[dim] = rows[dim] + start
        start += each.shape[dim]
        shape[dim] = start
        parts.append(Pattern(sparse_coo, (stack_dense(rows),), tuple(shape), False))
    return make_sparse(join(parts, tuple(shape)), cat_dense([x._elements for x in tensors]))


@handles("index_select")
def index_select(input: SparseTensor, dim: int, index: Tensor) -> SparseTensor:
    """Select slices of a COO tensor along a sparse dimension; indices may repeat."""
    _check_coo(input, "index_select")
    dim = normalize_dim("index_select", dim, input.ndim)
    size = input.shape[dim]
    if dim >= input._pattern.sparse_dim or index.ndim != 1:
        raise NotImplementedError("index_select: expected a sparse dimension and a list of indices")
    index = to(index, dtypes.int64)
    if bool(((index < 0) | (index >= size)).any()):
        raise IndexError(f"index_select(): index out of range for dimension {dim} of size {size}")
    count = int(index.shape[0])
    # Which elements a selected slice has is the pattern of a product with a 0-1 matrix.
    places = index.new_ones(count).cumsum(0) - 1
    rows = stack_dense([places, index])
    chosen = Pattern(sparse_coo, (rows,), (count, size), False)
    moved = input._pattern.coordinates
    order = moved[dim].argsort(stable=True)
    length = max(input._pattern.nnz, 1)
    source = Pattern(sparse_coo, (stack_dense([moved[dim][order], order]),), (size, length), True)
    of_chosen, of_source = pair(chosen, source)
    kept = order[of_source]
    parts = [of_chosen if at == dim else each[kept] for at, each in enumerate(moved)]
    shape = (*input.shape[:dim], count, *input.shape[dim + 1 :])
    pattern = Pattern(sparse_coo, (stack_dense(parts),), shape, len(kept) < 2)
    return make_sparse(pattern, name_node(take(input._elements, kept), "IndexSelectBackward0"))


@handles("select")
def select(input: SparseTensor, dim: int, index: int) -> Tensor:
    """Slice at one index along a sparse dimension; dense if no sparse dimension is left."""
    dim = normalize_dim("select", dim, input.ndim)
    source, size = as_coo(input), input.shape[dim]
    if dim >= source._pattern.sparse_dim:
        raise NotImplementedError("select: selection along dense dimensions is not supported")
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {dim}"
        )
    coordinates = source._pattern.coordinates
    kept = (coordinates[dim] == index % size).nonzero()[:, 0]
    elements = name_node(take(source._elements, kept), "SelectBackward0")
    rows = [each[kept] for at, each in enumerate(coordinates) if at != dim]
    shape = (*input.shape[:dim], *input.shape[dim + 1 :])
    if not rows:
        return elements.sum(0)
    is_coalesced = source._pattern.is_coalesced or len(kept) < 2
    return make_sparse(Pattern(sparse_coo, (stack_dense(rows),), shape, is_coalesced), elements)


@handles("__getitem__")
def get_item(input: SparseTensor, index: Any) -> Any:
    """``input[i]`` and ``input[i, j]`` for integers."""
    found: Any = input
    for each in index if isinstance(index, tuple) else (index,):
        if isinstance(each, bool) or not isinstance(each, int):
            raise NotImplementedError(
                "sparse tensors are indexed by integers alone; got an index of type "
                f"{type(each).__name__}; convert them with to_dense() first"
            )
        found = select(found, 0, each) if isinstance(found, SparseTensor) else found[each]
    return found


@handles("unsqueeze")
def unsqueeze(input: SparseTensor, dim: int) -> SparseTensor:
    """Insert a sparse dimension of size 1 into a COO tensor."""
    _check_coo(input, "unsqueeze")
    dim = normalize_dim("unsqueeze", dim, input.ndim + 1)
    if dim > input._pattern.sparse_dim:
        raise NotImplementedError("unsqueeze: dense dimensions cannot be inserted")
    rows = list(input._pattern.coordinates)
    rows.insert(dim, input._pattern.flat.new_zeros(input._pattern.nnz))
    shape = (*input.shape[:dim], 1, *input.shape[dim:])
    pattern = Pattern(sparse_coo, (stack_dense(rows),), shape, input._pattern.is_coalesced)
    return make_sparse(pattern, name_node(_alias(input._elements), "UnsqueezeBackward0"))


@handles("stack")
def stack(tensors: Sequence[Any], dim: int = 0) -> SparseTensor:
    """Concatenate COO tensors along a new sparse dimension."""
    _check_all_coo("stack", tensors)
    return cat([HANDLERS["unsqueeze"](each, dim) for each in tensors], dim)


@handles("permute")
def permute(input: SparseTensor, *dims: Any) -> SparseTensor:
    """Reorder the sparse dimensions."""
    given = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    order = [normalize_dim("permute", each, input.ndim) for each in given]
    sparse_dim = input._pattern.sparse_dim
    if sorted(order) != list(range(input.ndim)):
        raise RuntimeError(f"permute(): expected an order of {input.ndim} dimensions, got {given}")
    if order[sparse_dim:] != list(range(sparse_dim, input.ndim)):
        raise NotImplementedError("permute: dense dimensions of a sparse tensor keep their order")
    if input.layout is not sparse_coo:
        return input if order == [0, 1] else transpose(input, 0, 1)
    rows = [input._pattern.coordinates[at] for at in order[:sparse_dim]]
    shape = tuple(input.shape[at] for at in order)
    pattern = Pattern(sparse_coo, (stack_dense(rows),), shape, input._pattern.nnz < 2)
    return make_sparse(pattern, name_node(_alias(input._elements), "PermuteBackward0"))


HANDLERS["any"] = lambda input: (input._elements != 0).any()
HANDLERS["unbind"] = lambda input, dim=0: tuple(
    select(input, dim, at) for at in range(input.shape[dim])
)


# -- sums ------------------------------------------------------------------------------------------


@handles("sum")
def sum(
    input: SparseTensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:  # fmt: skip
    """Sum over dimensions: dense over all sparse ones, else sparse."""
    elements = input._elements if dtype is None else to(input._elements, dtype=dtype)
    dims = _dims(dim, input.ndim)
    if len(dims) == input.ndim:
        total = name_node(elements.sum(), "SumBackward0")
        return total.reshape((1,) * input.ndim) if keepdim else total
    return sum_dims(as_coo(input.with_elements(elements)), dims, keepdim)


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """Return the dimensions of an argument ``dim``, all of them for None or an empty list."""
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        return tuple(range(ndim))
    given = dim if isinstance(dim, (tuple, list)) else (dim,)
    return tuple(sorted({normalize_dim("sum", each, ndim) for each in given}))


def sum_dims(input: SparseTensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """Sum of a COO tensor over some dimensions."""
    sparse_dim = input._pattern.sparse_dim
    inner = [d - sparse_dim + 1 for d in dims if d >= sparse_dim]
    elements = input._elements.sum(inner, keepdim=keepdim) if inner else input._elements
    kept = [d for d in range(sparse_dim) if d not in dims]
    if not kept and not keepdim:
        return name_node(elements.sum(0), "SparseSumBackward0")
    coordinates = input._pattern.coordinates
    if keepdim:
        zero = coordinates[0].new_zeros(input._pattern.nnz)
        rows = [zero if d in dims else coordinates[d] for d in range(sparse_dim)]
        shape = tuple(1 if d in dims else n for d, n in enumerate(input.shape))
    else:
        rows = [coordinates[d] for d in kept]
        shape = tuple(n for d, n in enumerate(input.shape) if d not in dims)
    found = coalesce(make_sparse(Pattern(sparse_coo, (stack_dense(rows),), shape, False), elements))
    return found.with_elements(name_node(found._elements, "SparseSumBackward0"))


@handles("norm", "linalg.vector_norm")
def norm(input: SparseTensor, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Tensor:
    """2-norm of all elements."""
    if p not in (2, 2.0, "fro", None) or dim is not None or keepdim:
        raise NotImplementedError("norm: expected the 2-norm of a whole sparse tensor")
    source = coalesce(input) if input.layout is sparse_coo else input
    return source._elements.norm()


# -- products --------------------------------------------------------------------------------------


@handles("mm", "matmul", "mv", "spmm", "dsmm", "hsmm")
def matmul(input: Any, other: Any) -> Any:
    """Product of two matrices, or of a matrix and a vector; sparse if both factors are."""
    found = product(input, other)
    name = "MvBackward0" if other.ndim == 1 else "MmBackward0"
    if isinstance(found, SparseTensor):
        return found.with_elements(name_node(found._elements, name))
    return name_node(found, name)


def product(input: Any, other: Any) -> Any:
    """Product of two tensors of which at least one is sparse."""
    check_factors(input, other)
    if not isinstance(input, SparseTensor):
        return _from_left(input, other)
    if not isinstance(other, SparseTensor):
        return multiply(input._pattern, input._elements, other)
    a, b = _canonical(input), _canonical(other)
    of_a, of_b, pattern, positions = multiply_patterns(a._pattern, b._pattern)
    terms = take(a._elements, of_a) * take(b._elements, of_b)
    found = make_sparse(pattern, merge(terms, positions, pattern.nnz))
    return convert(found, sparse_coo if input.layout is sparse_coo else sparse_csr)


def _from_left(input: Tensor, other: SparseTensor) -> Tensor:
    """Product of a dense matrix or vector and a sparse matrix."""
    pattern = other._pattern.transpose(0, 1)
    found = multiply(pattern, other._elements, input.t() if input.ndim == 2 else input)
    return found.t() if input.ndim == 2 else found


def check_factors(input: Any, other: Any) -> None:
    """Raise RuntimeError for factors that cannot be multiplied."""
    ranks = input.ndim, other.ndim
    hybrid = any(x._pattern.sparse_dim != 2 for x in (input, other) if isinstance(x, SparseTensor))
    if ranks not in ((2, 2), (2, 1), (1, 2)) or hybrid:
        raise RuntimeError(
            "sparse products are those of two matrices, or of a matrix and a vector, without dense "
            f"dimensions; got shapes {list(input.shape)} and {list(other.shape)}"
        )
    if input.shape[-1] != other.shape[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({'x'.join(map(str, input.shape))} and {'x'.join(map(str, other.shape))})"
        )
    if input.dtype is not other.dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{input.dtype.name} != {other.dtype.name}"
        )


@handles("addmm")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``."""
    return name_node(add_product(input, mat1, mat2, beta, alpha), "AddmmBackward0")


def add_product(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` for a dense ``input``."""
    if isinstance(input, SparseTensor):
        raise NotImplementedError("addmm: expand is unsupported for Sparse tensors")
    found = product(mat1, mat2)
    found = to_dense(found) if isinstance(found, SparseTensor) else found
    found = found if alpha == 1 else found * alpha
    return found + (input if beta == 1 else input * beta) if beta else found


@handles("nn.functional.linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """``input @ weight.T + bias``."""
    found = matmul(input, weight.t())
    return found if bias is None else found + bias


# -- dtype, device, history ------------------------------------------------------------------------


def _define_conversion(name: str) -> None:
    """Register a conversion to another dtype or device."""

    def change(input: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(input, SparseTensor):  # ``x.to(sparse)``: to its dtype and device
            args = tuple(x._elements if isinstance(x, SparseTensor) else x for x in args)
            return getattr(input, name)(*args, **options)
        elements = getattr(input._elements, name)(*args, **options)
        if elements is input._elements:
            return input
        return make_sparse(input._pattern.move(elements), elements)

    handles(name)(change)


for _name in (
    "to bool byte char short int long half float double bfloat16 cfloat cdouble cpu cuda type_as "
    "pin_memory"
).split():
    _define_conversion(_name)


def _define_forwarded(name: str) -> None:
    """Register an attribute or a method without arguments that the elements have as well."""

    def forward(input: SparseTensor) -> Any:
        found = getattr(input._elements, name)
        return found() if callable(found) else found

    handles(name)(forward)


for _name in (
    "is_meta is_cpu is_cuda is_quantized is_mkldnn is_nested is_ipu is_maia is_mps is_mtia "
    "is_vulkan is_xla is_xpu itemsize is_inference is_pinned is_shared is_conj is_neg "
    "retains_grad output_nr grad_dtype name is_distributed"
).split():
    _define_forwarded(_name)


@handles("type")
def type_name(input: SparseTensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Name of the legacy type, such as ``torch.sparse.FloatTensor``; or a conversion."""
    if dtype is None:
        return str(input._elements.type()).replace("torch.", "torch.sparse.", 1)
    return HANDLERS["to"](input, dtype)


@handles("zeros_like")
def zeros_like(input: SparseTensor, **options: Any) -> SparseTensor:
    """Sparse tensor of the shape without elements."""
    target = to(input._elements.detach()[:0], **_common(options))
    pattern = input._pattern
    index = pattern.index[0]
    if pattern.layout is sparse_coo:
        parts: tuple[Tensor, ...] = (index[:, :0],)
    else:
        parts = (index.new_zeros(index.shape[0]), pattern.index[1][:0])
    found = Pattern(pattern.layout, parts, pattern.shape, pattern.layout is sparse_coo)
    return make_sparse(found.move(target), target).requires_grad_(
        options.get("requires_grad", False)
    )


def _common(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a creation function that ``to`` accepts."""
    return {name: options[name] for name in ("dtype", "device", "backend") if options.get(name)}


@handles("ones_like")
def ones_like(input: SparseTensor, **options: Any) -> SparseTensor:
    """Sparse tensor of ones with the pattern; as PyTorch's for CSR."""
    if input.layout is sparse_coo:
        raise NotImplementedError(
            "Could not run 'aten::ones_like' for the layout sparse_coo: all elements would be "
            "stored; use to_dense() first"
        )
    return input.with_elements(input._elements.new_ones(input._elements.shape, **_common(options)))


HANDLERS["is_same_size"] = lambda input, other: tuple(input.shape) == tuple(other.shape)


@handles("backward")
def backward(
    input: Any, gradient: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, inputs: Any = None,
) -> None:  # fmt: skip
    """``Tensor.backward``: the gradient of a sparse tensor has its pattern."""
    LATE_BOUND.backward(input, gradient, retain_graph, create_graph, inputs=inputs)


@handles("autograd.backward")
def backward_from(
    tensors: Any, grad_tensors: Any = None, *, function: Any, inputs: Any = None, **options: Any
) -> None:  # fmt: skip
    """``autograd.backward`` with sparse tensors among its arguments."""
    roots = list(tensors) if isinstance(tensors, (tuple, list)) else [tensors]
    grads = _root_gradients(roots, grad_tensors)
    inputs = None if inputs is None else _unwrap(inputs)
    function(_unwrap(roots), grads, inputs=inputs, **options)


def _root_gradients(roots: list[Any], given: Any) -> Any:
    """Return the gradients of roots; that of a sparse root as its elements."""
    if given is None:
        return None
    grads = given if isinstance(given, (tuple, list)) else [given]
    return [
        sparse_mask(g, root)._elements if isinstance(root, SparseTensor) and g is not None else g
        for root, g in zip(roots, grads, strict=True)
    ]


def _unwrap(tensors: Any) -> Any:
    """Return tensors with the elements of sparse ones in their place."""
    if isinstance(tensors, (tuple, list)):
        return [_unwrap(each) for each in tensors]
    return tensors._elements if isinstance(tensors, SparseTensor) else tensors


@handles("autograd.grad")
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, *, function: Any, **options: Any
) -> Any:  # fmt: skip
    """``autograd.grad``: the gradient of a sparse tensor has its pattern."""
    given = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    roots = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    grads = _root_gradients(roots, grad_outputs)
    found = function(_unwrap(roots), _unwrap(given), grads, **options)
    return tuple(
        x.with_elements(g) if isinstance(x, SparseTensor) and g is not None else g
        for x, g in zip(given, found, strict=True)
    )


@handles("register_hook")
def register_hook(input: SparseTensor, hook: Callable[[Any], Any]) -> Any:
    """Register a hook of the gradient, which it gets with the pattern of the tensor."""

    def call(g: Tensor) -> Any:
        found = hook(input.with_elements(g))
        return None if found is None else sparse_mask(found, input)._elements

    return input._elements.register_hook(call)


@handles("retain_grad")
def retain_grad(input: SparseTensor) -> None:
    """Keep the gradient of a tensor that is not a leaf."""
    input._elements.retain_grad()


def from_gradient(g: SparseGradient) -> SparseTensor:
    """Return the tensor of a sparse gradient of a backward pass: COO with one sparse dimension."""
    index = wrap(g.rows.reshape(1, -1), g.xp)
    pattern = Pattern(sparse_coo, (index,), g.shape, int(index.shape[1]) < 2)
    return make_sparse(pattern, wrap(g.values, g.xp))
