"""Layouts of sparse tensors, their parts, and conversions to other layouts, dtypes and devices."""

from __future__ import annotations

from typing import Any

from ...core.layout import sparse_coo, sparse_csc, sparse_csr
from ...core.tensor import Tensor
from ..create.conversion import to
from .kernels import gather, merge, scatter
from .pattern import Pattern
from .tensor import HANDLERS, LAYOUT_NAMES, SparseTensor, handles, make_sparse, name_node

# -- layouts ---------------------------------------------------------------------------------------


@handles("coalesce")
def coalesce(input: SparseTensor) -> SparseTensor:
    """Add the elements of each position, and sort the positions."""
    check_coo(input, "coalesce")
    if input._pattern.is_coalesced:
        return input
    pattern, positions = input._pattern.distinct
    elements = merge(input._elements, positions, pattern.nnz)
    return make_sparse(pattern, name_node(elements, "CoalesceBackward0"))


def check_coo(input: SparseTensor, name: str) -> None:
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


def canonical(input: SparseTensor) -> SparseTensor:
    """Return the tensor as coalesced COO."""
    return coalesce(as_coo(input))


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
    return make_sparse(pattern, name_node(alias(elements), name))


def convert(input: SparseTensor, target: Any) -> SparseTensor:
    """Convert to the layout ``target``; the tensor itself if it has it."""
    if input.layout is target:
        return input
    if target is sparse_coo:
        found = as_coo(input)
        found._elements = name_node(alias(found._elements), "ToSparseBackward1")
        return coalesce(found) if input.layout is sparse_csc else found
    if target in (sparse_csr, sparse_csc):
        return compress(input, target)
    raise NotImplementedError(f"to_sparse: the layout {target} is not supported")


def alias(elements: Tensor) -> Tensor:
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
    check_coo(input, "indices")
    _check_coalesced(input, "indices")
    return input._pattern.index[0].detach()


@handles("values")
def values(input: SparseTensor) -> Tensor:
    """Return the elements, with their history."""
    if input.layout is sparse_coo:
        _check_coalesced(input, "values")
    return name_node(alias(input._elements), "ValuesBackward0")


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
    check_coo(input, "is_coalesced")
    return input._pattern.is_coalesced


HANDLERS["sparse_dim"] = lambda input: input._pattern.sparse_dim
HANDLERS["dense_dim"] = lambda input: input.ndim - input._pattern.sparse_dim


# -- dtypes and devices ------------------------------------------------------------------------


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
    target = to(input._elements.detach()[:0], **creation_options(options))
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


def creation_options(options: dict[str, Any]) -> dict[str, Any]:
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
    return input.make_like(
        input._elements.new_ones(input._elements.shape, **creation_options(options))
    )


HANDLERS["is_same_size"] = lambda input, other: tuple(input.shape) == tuple(other.shape)
