"""Storage of a tensor: its array, the properties of the array, conversions to Python and NumPy."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, overload

from .. import dtypes
from ..backends.base import Array, Backend
from ..graph.nodes import Node, NodeOutput
from ..state import grad_enabled
from ..warnings import warn_once
from .device import device
from .layout import check_format, contiguous_format, layout, memory_format, strided
from .size import ElementCount, Size, sizes
from .torch_function import wrap_members

if TYPE_CHECKING:
    import numpy  # noqa: TID251  # what `Tensor.numpy()` returns

    from .tensor import Tensor


class RefusedAttribute(AttributeError, RuntimeError):
    """RuntimeError of PyTorch's for an attribute, for which ``hasattr`` returns False."""


@wrap_members
class Storage:
    """Part of ``Tensor`` that does not concern gradients."""

    __slots__ = (
        "_data", "_xp", "_rg", "_node", "_grad", "_vc", "_base",
        "_view_ops", "_own_rg", "_kind", "_attr_version",
    )  # fmt: skip

    if TYPE_CHECKING:  # typing.get_type_hints(Tensor) would not find these names
        #: The raw array, of the library that ``_xp`` wraps.
        _data: Array
        _xp: Backend
        #: True, False, or VIEW: whether it requires grad depends on the tensor it is a view of.
        _rg: Any
        _node: Node | NodeOutput | None
        _grad: Tensor | None
        #: ``[version]``, shared by all tensors that share the memory; None until needed. For
        #: views whose base was given data of another shape: ``[version, memory]``.
        _vc: list[Any] | None
        _base: Tensor | None
        # For views only, which have a base:
        #: View operations to replay on its base, the last one first: ``(earlier operations,
        #: function, *arguments)``, or None.
        _view_ops: tuple[Any, ...] | None
        #: Whether it requires grad itself; it also requires grad if its base does.
        _own_rg: bool
        #: Reason why it may not be changed in place while gradients are recorded: a kind of
        #: ``graph.views``, or "".
        _kind: str
        #: Version of its memory for which its node was made. At another version the node is made
        #: again, or an error is raised if there is a kind.
        _attr_version: int

    requires_grad: bool

    # -- properties --------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """Size of each dimension; assigning another shape of as many elements reshapes."""
        return sizes[self._data.shape]

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        tensor: Any = self
        tensor.data = tensor.reshape(shape).detach()

    @property
    def size(self) -> ElementCount:
        """Number of elements, an int; called, the shape (``size()``) or one size (``size(0)``)."""
        return ElementCount(sizes[self._data.shape])

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._data.shape)

    def dim(self) -> int:
        """Number of dimensions.

        Example:
            >>> tt.zeros(2, 3).dim()
            2
        """
        return len(self._data.shape)

    ndimension = dim

    def numel(self) -> int:
        """Number of elements.

        Example:
            >>> tt.zeros(2, 3).numel()
            6
        """
        return int(self._data.size)

    nelement = numel

    @property
    def dtype(self) -> dtypes.dtype:
        """Type of the elements."""
        return self._xp.dtype_of(self._data)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return int(self._data.dtype.itemsize)

    def element_size(self) -> int:
        """Bytes per element.

        Example:
            >>> tt.zeros(2, dtype=tt.float64).element_size()
            8
        """
        return int(self._data.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(self._data.nbytes)

    @property
    def backend(self) -> Backend:
        """Backend of the array; ``str()`` of it is its name."""
        return self._xp

    @property
    def device(self) -> device:
        """Device of the array."""
        return device(self._xp.device_type, self._xp.device_index(self._data))

    @property
    def layout(self) -> layout:
        """Layout of the tensor: ``tinytorch.strided`` if it is dense."""
        return strided

    def get_device(self) -> int:
        """Number of the device, -1 on the CPU.

        Example:
            >>> tt.zeros(2, device="cpu").get_device()
            -1
        """
        index = self._xp.device_index(self._data)
        return -1 if index is None else index

    def is_floating_point(self) -> bool:
        """Whether the elements are real floating-point numbers.

        Example:
            >>> tt.tensor(1.0).is_floating_point()
            True
        """
        return bool(self._data.dtype.kind in "fV")

    def is_complex(self) -> bool:
        """Whether the elements are complex numbers.

        Example:
            >>> tt.tensor(1j).is_complex()
            True
        """
        return bool(self._data.dtype.kind == "c")

    def is_signed(self) -> bool:
        """Whether the elements can be negative.

        Example:
            >>> tt.zeros(2, dtype=tt.uint8).is_signed()
            False
        """
        return self.dtype.is_signed

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        """Steps, in elements, to the next element along each dimension (or along ``dim``).

        Example:
            >>> tt.zeros(2, 3).stride()
            (3, 1)
        """
        data = self._data
        strides = tuple(int(s) // data.dtype.itemsize for s in data.strides)
        if not data.size and not any(strides):  # the library has none
            strides = _row_major_strides(data.shape)
        elif 0 in strides:
            strides = _fill_unit_strides(data.shape, strides)
        return strides if dim is None else strides[dim]

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps in bytes to the next element along each dimension, as in NumPy."""
        return tuple(self._data.strides)

    def is_contiguous(self, memory_format: memory_format = contiguous_format) -> bool:
        """Whether the elements lie in memory in the format's order, without gaps.

        Args:
            memory_format: Default ``contiguous_format``, row-major.

        Example:
            >>> tt.zeros(2, 3).T.is_contiguous()
            False
        """
        if memory_format is contiguous_format:
            return bool(self._data.flags.c_contiguous)
        return check_format("is_contiguous", memory_format).holds(self._data)

    def _form(self) -> tuple[tuple[int, ...], Any]:
        """Return the shape and the native dtype, of a sparse tensor as well."""
        return self._data.shape, self._data.dtype

    # -- conversions to Python and NumPy -------------------------------------------------

    def numpy(self, *, force: bool = False) -> numpy.ndarray[Any, Any]:
        """Elements as a NumPy array, which shares the memory if the backend is NumPy.

        Args:
            force: Whether to detach the tensor and copy it from the device where that is necessary.

        Raises:
            RuntimeError: If the tensor requires grad and operations are recorded.
            TypeError: If it is on another device than the CPU.

        Example:
            >>> tt.ones(2).numpy()
            array([1., 1.], dtype=float32)
        """
        if not force:
            if self.requires_grad and grad_enabled():
                raise RuntimeError(
                    "Can't call numpy() on Tensor that requires grad. Use "
                    "tensor.detach().numpy() instead."
                )
            if self._xp.device_type != "cpu":
                raise TypeError(
                    f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() "
                    "to copy the tensor to host memory first."
                )
        return self._xp.to_numpy(self._data)

    def tolist(self) -> Any:
        """Elements as nested lists of Python numbers (a number for a 0-d tensor).

        Example:
            >>> tt.eye(2).tolist()
            [[1.0, 0.0], [0.0, 1.0]]
        """
        return self._xp.to_numpy(self._data).tolist()

    def item(self) -> int | float | bool:
        """Single element as a Python number; RuntimeError for more or fewer elements.

        Example:
            >>> tt.tensor([3]).item()
            3
        """
        try:
            return self._xp.item(self._data)  # type: ignore[no-any-return]
        except ValueError:
            size = self._data.size
            if size == 1:
                raise
            raise RuntimeError(
                f"a Tensor with {size} elements cannot be converted to Scalar"
            ) from None

    def tobytes(self) -> bytes:
        """Bytes of the elements in row-major order.

        Example:
            >>> tt.tensor([1, 256], dtype=tt.int16).tobytes()
            b'\\x01\\x00\\x00\\x01'
        """
        return self._xp.to_numpy(self._data).tobytes()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """NumPy array of the elements; warns once if that cuts off a gradient."""
        if self.requires_grad and grad_enabled():
            warn_once(
                "A tensor that requires grad was read as an array of NumPy's, through which no "
                "gradient flows. Use tensor.detach() to say that this is meant."
            )
            array = self.detach().numpy()  # type: ignore[attr-defined]
        else:
            array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __bool__(self) -> bool:
        if self._data.size != 1:
            if self._data.size == 0:
                raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self._xp.item(self._data))

    def _scalar(self) -> Any:
        """Return the single element; ValueError for more or fewer, as for Python's conversions."""
        if self._data.size != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars, got one of "
                f"{self._data.size} elements"
            )
        return self._xp.item(self._data)

    def __int__(self) -> int:
        return int(self._real("int64_t"))

    def __float__(self) -> float:
        self._warn_of_gradient()
        return float(self._real("double"))

    def _warn_of_gradient(self) -> None:
        """Warn that a Python number made of this tensor has no gradient."""
        if self._rg and grad_enabled() and self.requires_grad:
            warn_once(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first."
            )

    def _real(self, kind: str) -> Any:
        """Return the single element as a real number.

        Args:
            kind: Name of the C type, for the error.

        Raises:
            ValueError: For more or fewer elements.
            RuntimeError: For a complex number with an imaginary part.
        """
        value = self._scalar()
        if not isinstance(value, complex):
            return value
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
        return value.real

    def __complex__(self) -> complex:
        self._warn_of_gradient()
        return complex(self._scalar())

    def __index__(self) -> int:
        if self._data.dtype.kind not in "iub" or self._data.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return operator.index(int(self._xp.item(self._data)))

    def __len__(self) -> int:
        if not self._data.shape:
            raise TypeError("len() of a 0-d tensor")
        return int(self._data.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self._data.shape:
            raise TypeError("iteration over a 0-d tensor")
        rows: Any = self.unbind(0)  # type: ignore[attr-defined]
        return iter(rows)

    def __reversed__(self) -> Any:
        """Tensor with its first dimension reversed; a 0-d tensor itself."""
        return self.flip(0) if self._data.shape else self  # type: ignore[attr-defined]

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Storage, bool, int, float, complex)):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}."
            )
        return bool((self == element).any())  # type: ignore[attr-defined]


#: Attributes in the ``__dict__`` of tensors for the library's own use.
_OWN = frozenset((
    "_backward_hooks", "_post_accumulate_grad_hooks", "_retains_grad", "_keeping", "_inference",
    "_mapped", "_shift", "_level", "_whole",
))  # fmt: skip


def check_grad(tensor: Storage, value: Any) -> None:
    """Raise TypeError or RuntimeError if ``value`` cannot be the gradient of ``tensor``."""
    if not isinstance(value, Storage):
        raise TypeError(
            "assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(value).__name__}"
        )
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    shape, dtype = value._form()
    if dtype != tensor._data.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{value.dtype.name}' to a tensor with "
            f"dtype '{tensor.dtype.name}'. The gradient must match the tensor's dtype"
        )
    if value._xp is not tensor._xp:
        raise RuntimeError(
            f"attempting to assign a gradient on device '{value.device}' to a tensor on device "
            f"'{tensor.device}'. Please ensure that the gradient and the tensor are on the same "
            "device"
        )
    if shape != tensor._data.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
            f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same "
            "size"
        )


def attributes(tensor: Any) -> dict[str, Any]:
    """Attributes that users have set on a tensor, without the tables of its hooks."""
    return {name: value for name, value in vars(tensor).items() if name not in _OWN}


def _fill_unit_strides(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Return strides with PyTorch's values along dimensions of size 1, for which the library has 0.

    Such a stride is the size times the stride of the next dimension, as in row-major order.

    Args:
        shape: Size of each dimension.
        strides: Stride of each dimension, in elements.
    """
    found: list[int] = []
    row_major = 1
    for n, step in zip(reversed(shape), reversed(strides), strict=True):
        step = row_major if n == 1 and step == 0 else step
        found.append(step)
        row_major = n * step
    return tuple(reversed(found))


def _row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a shape in row-major order; an empty dimension counts as size 1."""
    steps = accumulate((max(n, 1) for n in reversed(shape[1:])), operator.mul, initial=1)
    return tuple(steps)[::-1] if shape else ()


class _DeviceSlot:
    """Descriptor of a slot that makes the owner's device current when the slot is read.

    Args:
        slot: The descriptor of the slot.
        backend: The descriptor of the slot that holds the owner's backend.
    """

    def __init__(self, slot: Any, backend: Any) -> None:
        self._slot = slot
        self._backend = backend

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        if owner is None:
            return self
        xp = self._backend.__get__(owner)
        if xp.several:
            xp.here()
        return self._slot.__get__(owner)

    def __set__(self, owner: Any, value: Any) -> None:
        self._slot.__set__(owner, value)

    def replace(self, old: Any, new: Any) -> None:
        """Use another descriptor in the place of ``old``."""
        self._slot = new if self._slot is old else self._slot
        self._backend = new if self._backend is old else self._backend


def follow_devices() -> None:
    """Run operations on the device of their inputs, and gradient rules on the device of their node.

    Code that computes reads the array of a tensor, or the backend of a node, just before. A
    process with one device does not call this, so that reading the slots costs nothing there;
    ``docs/internals.md`` has the cost of the alternatives.
    """
    for cls, backend, slots in ((Storage, "_xp", ("_data", "_xp")), (Node, "xp", ("xp",))):
        backend_slot = vars(cls)[backend]
        if not isinstance(backend_slot, _DeviceSlot):
            for name in slots:
                setattr(cls, name, _DeviceSlot(vars(cls)[name], backend_slot))


Backend.when_several.append(follow_devices)
