"""``SparseTensor``: a pattern and a dense tensor of the elements that it holds.

Its history is that of its elements: what is computed from a sparse tensor is recorded as computed
from them, and the gradient of a sparse leaf has the leaf's pattern. Operations reach it through
``__torch_function__``, so calls with dense tensors alone are as fast as without it. An operation
without a function in ``HANDLERS`` raises by name, and so does code that reads ``_data``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, ClassVar, NoReturn, Self, TypeVar

from ...core.device import device as Device
from ...core.layout import layout as Layout
from ...core.layout import sparse_coo, sparse_csc, sparse_csr
from ...core.printing import sparse_repr
from ...core.size import ElementCount, Size, sizes
from ...core.tensor import Tensor
from ...dtypes import dtype as DType
from ...graph.nodes import Node
from ...graph.sparse_gradients import NotDenseError, SparseGradient
from ...warnings import warn
from .pattern import Pattern

_F = TypeVar("_F", bound=Callable[..., Any])

#: Functions of sparse tensors by the qualified names of operations and of members of Tensor.
HANDLERS: dict[str, Callable[..., Any]] = {}
#: PyTorch's names of the layouts in errors.
LAYOUT_NAMES = {sparse_coo: "Sparse", sparse_csr: "SparseCsr", sparse_csc: "SparseCsc"}


def handles(*names: str) -> Callable[[_F], _F]:
    """Decorator: register a function of sparse tensors for operations."""

    def register(function: _F) -> _F:
        HANDLERS.update(dict.fromkeys(names, function))
        return function

    return register


def operation_name(func: Any) -> str:
    """Return the name under which ``HANDLERS`` has a function that was called.

    ``add`` for ``x + y`` and ``y + x``, ``add_`` for ``x += y``, ``nn.functional.relu`` for a
    function of that module, ``autograd.grad``.
    """
    op = getattr(func, "op", None)
    name: str = getattr(func, "__name__", "") or repr(func)
    if name == "__get__" and getattr(func, "__self__", None) is not None:
        return str(getattr(func.__self__.fget, "__name__", name))
    if ".autograd" in (getattr(func, "__module__", None) or ""):
        return f"autograd.{name}"
    if op is None:
        return name
    own: str = op.qualname.removeprefix("Tensor.")
    if name in ("__radd__", "__rmul__") or name == op.name:
        return own
    if name.startswith("__"):
        is_inplace = name.startswith("__i") and name != "__invert__"
        return f"{own}_" if is_inplace else name if name.startswith("__r") else own
    return name if name.endswith("_") else own


def unsupported_error(name: str, kind: Layout, kind_of_device: str) -> NotImplementedError:
    """Return the error for an operation that has no sparse form, with PyTorch's key phrase."""
    backend = f"{LAYOUT_NAMES[kind]}{kind_of_device.upper()}"
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend: {name} is not "
        f"supported for tensors of the layout {kind}; convert them with to_dense() first"
    )


def _forward(name: str, doc: str) -> Any:
    """Return a property that reads and writes a field of the elements."""
    return property(
        lambda self: getattr(self._elements, name),
        lambda self, value: setattr(self._elements, name, value),
        doc=doc,
    )


class SparseTensor(Tensor):
    """Tensor of the layout ``sparse_coo``, ``sparse_csr`` or ``sparse_csc``.

    ``type(x)`` is this class; ``isinstance(x, tt.Tensor)`` holds, as for all tensors.

    Example:
        >>> s = tt.eye(2).to_sparse()
        >>> isinstance(s, tt.Tensor), s.layout, s.shape
        (True, tinytorch.sparse_coo, tinytorch.Size([2, 2]))
    """

    __slots__ = ("_pattern", "_elements")
    _pattern: Pattern
    _elements: Tensor

    _base: ClassVar[None] = None  # type: ignore[misc]
    _inference: ClassVar[bool] = False  # type: ignore[misc]
    _xp: Any = _forward("_xp", "Backend of the elements.")
    _rg: Any = _forward("_rg", "Whether the elements require grad.")
    _node: Any = _forward("_node", "Node of the elements.")
    _vc: Any = _forward("_vc", "Version of the elements.")

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:  # fmt: skip
        name, options = operation_name(func), dict(kwargs or {})
        handler = HANDLERS.get(name)
        if handler is None or options.pop("out", None) is not None:
            found = next(x for x in _flatten((*args, *options.values())) if isinstance(x, cls))
            name = name if handler is None else f"{name}.out"
            raise unsupported_error(name, found.layout, found.device.type)
        if name.startswith("autograd."):  # a function of the layer above
            options["function"] = func
        return handler(*args, **options)

    @property
    def _data(self) -> NoReturn:
        """Raise: no code may take the elements for those of a dense tensor."""
        raise NotDenseError(
            f"expected a dense tensor, got one of the layout {self.layout}: "
            "convert it with to_dense() first"
        )

    # -- properties ------------------------------------------------------------------------------

    @property  # type: ignore[misc]  # a dense tensor's can be assigned
    def shape(self) -> Size:
        """Size of each dimension."""
        return sizes[tuple(self._pattern.shape)]

    @property
    def size(self) -> ElementCount:
        """Number of all elements, zeros included; called, the shape or one size."""
        return ElementCount(self.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions, sparse and dense."""
        return len(self._pattern.shape)

    def dim(self) -> int:
        """Number of dimensions, sparse and dense."""
        return len(self._pattern.shape)

    ndimension = dim

    def numel(self) -> int:
        """Number of all elements, zeros included."""
        return int(self.shape.numel())

    nelement = numel

    def __len__(self) -> int:
        if not self._pattern.shape:
            raise TypeError("len() of a 0-d tensor")
        return int(self._pattern.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self._pattern.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(HANDLERS["unbind"](self))

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(HANDLERS["to_dense"](self))

    def item(self) -> int | float | bool:
        """Single element as a Python number; RuntimeError for more or fewer elements."""
        if self.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar"
            )
        return HANDLERS["to_dense"](self).item()  # type: ignore[no-any-return]

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """False: the elements of a sparse tensor are not a block of memory."""
        return False

    @property
    def layout(self) -> Layout:
        """``sparse_coo``, ``sparse_csr`` or ``sparse_csc``."""
        return self._pattern.layout

    @property
    def is_sparse(self) -> bool:
        """Whether the layout is ``sparse_coo``."""
        return self.layout is sparse_coo

    @property
    def is_sparse_csr(self) -> bool:
        """Whether the layout is ``sparse_csr``."""
        return self.layout is sparse_csr

    @property
    def dtype(self) -> DType:
        """Type of the elements."""
        return self._elements.dtype

    @property
    def device(self) -> Device:
        """Device of the elements."""
        return self._elements.device

    @property
    def backend(self) -> Any:
        """Backend of the elements."""
        return self._elements.backend

    def is_floating_point(self) -> bool:
        """Whether the elements are real floating-point numbers."""
        return self._elements.is_floating_point()

    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self._elements.is_complex()

    def is_signed(self) -> bool:
        """Whether the elements can be negative."""
        return self._elements.is_signed()

    def element_size(self) -> int:
        """Bytes per element."""
        return self._elements.element_size()

    def get_device(self) -> int:
        """Number of the device, -1 on the CPU."""
        return self._elements.get_device()

    # -- autograd --------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to the elements; it can be set for leaves."""
        return self._elements.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._elements.requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether gradients of this leaf are computed; return the tensor itself."""
        self._elements.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor is not the recorded result of an operation."""
        return self._elements.is_leaf

    @property
    def grad_fn(self) -> Any:
        """Node that recorded the elements; None for a leaf."""
        return self._elements.grad_fn

    @property
    def grad(self) -> Tensor | None:
        """Gradient of a leaf, a sparse tensor of the same pattern, or None."""
        found = self._elements.grad
        return None if found is None else self.make_like(found)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is None:
            self._elements.grad = None
            return
        self._elements.grad = HANDLERS["sparse_mask"](value, self)._elements

    @grad.deleter
    def grad(self) -> None:
        self._elements.grad = None

    def detach(self) -> Tensor:
        """Return a sparse tensor on the same memory that is detached from the graph."""
        return self.make_like(self._elements.detach())

    def detach_(self) -> Self:
        """Detach this tensor from the graph, in place."""
        self._elements.detach_()
        return self

    @property
    def data(self) -> Tensor:
        """Tensor on the same memory without history."""
        return self.make_like(self._elements.data)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, SparseTensor):
            raise RuntimeError(f"incompatible tensor type: expected {self.layout}, got a dense one")
        self._pattern, self._elements.data = value._pattern, value._elements

    # -- parts -----------------------------------------------------------------------------------

    def make_like(self, elements: Tensor) -> SparseTensor:
        """Return the tensor of this pattern with other elements."""
        return make_sparse(self._pattern, elements)

    def replace(self, source: SparseTensor) -> Self:
        """Take the pattern and the elements of another tensor: the end of an in-place operation."""
        if self.requires_grad and self.is_leaf and source._elements.requires_grad:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
            )
        self._pattern, self._elements = source._pattern, source._elements
        return self

    def _nnz(self) -> int:
        """Number of elements, or of dense parts, that are stored."""
        return self._pattern.nnz

    def _indices(self) -> Tensor:
        """Indices of a COO tensor, ``(sparse dimensions, nnz)``, coalesced or not."""
        self._check_coo("_indices")
        return self._pattern.index[0].detach()

    def _values(self) -> Tensor:
        """Elements of a COO tensor without history, coalesced or not."""
        self._check_coo("_values")
        return self._elements.detach()

    def _form(self) -> tuple[tuple[int, ...], Any]:
        return tuple(self.shape), self._elements._data.dtype

    def raw_gradient(self) -> SparseGradient:
        """Return this tensor as a gradient of a backward pass; it has one sparse dimension."""
        (rows,) = self._pattern.coordinates
        return SparseGradient(self._xp, rows._data, self._elements._data, tuple(self.shape))

    def mark_coalesced(self, coalesced: bool) -> Self:
        """State whether the indices are sorted and distinct, in place; return the tensor itself."""
        old = self._pattern
        self._pattern = Pattern(old.layout, old.index, old.shape, coalesced)
        return self

    _coalesced_ = mark_coalesced

    def _check_coo(self, name: str) -> None:
        """Raise NotImplementedError for a compressed layout."""
        if self.layout is not sparse_coo:
            raise unsupported_error(name, self.layout, self.device.type)

    # -- copies, pickles, text -------------------------------------------------------------------

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return sparse_repr(self)

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) not in memo:
            pattern = self._pattern
            index = tuple(each.clone() for each in pattern.index)
            copy = Pattern(pattern.layout, index, pattern.shape, pattern.is_coalesced)
            memo[id(self)] = make_sparse(copy, deepcopy(self._elements, memo))
        return memo[id(self)]  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        pattern = self._pattern
        parts = pattern.index, tuple(pattern.shape), pattern.is_coalesced
        rebuild = HANDLERS["_rebuild"]  # pickled by its name, whose module registers all functions
        return rebuild, (pattern.layout, *parts, self._elements.detach(), self.requires_grad)

    def numpy(self, *, force: bool = False) -> NoReturn:
        """Raise TypeError, as PyTorch: ``to_dense`` comes first."""
        raise TypeError(
            f"can't convert {LAYOUT_NAMES[self.layout]} layout tensor to numpy. "
            "Use Tensor.to_dense() first."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        self.numpy()

    def tolist(self) -> NoReturn:
        """Raise RuntimeError, as PyTorch: ``to_dense`` comes first."""
        raise RuntimeError(
            "Cannot access data pointer of Tensor that doesn't have storage: it is sparse; "
            "use to_dense().tolist()"
        )


def _flatten(values: Any) -> Any:
    """Yield values, and those in tuples and lists."""
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _flatten(value)
        else:
            yield value


def make_sparse(pattern: Pattern, elements: Tensor) -> SparseTensor:
    """Return the sparse tensor of a pattern and its elements, ``(nnz, *dense sizes)``."""
    out = object.__new__(SparseTensor)
    out._pattern, out._elements = pattern, elements
    return out


def name_node(elements: Tensor, name: str) -> Tensor:
    """Rename the node that recorded a tensor, if any, and return the tensor."""
    node = elements._node
    if isinstance(node, Node):
        node.op = node.op.rename(name)
    return elements


def warn_of_legacy(form: str) -> None:
    """Warn that a legacy constructor of a sparse tensor was called."""
    warn(
        f"torch.sparse.SparseTensor({form}) is deprecated.  Please use torch.sparse_coo_tensor("
        f"{form.replace('device=', 'dtype=, device=')})."
    )
