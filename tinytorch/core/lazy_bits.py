"""Lazily conjugated or negated views: ``z.conj()``, and its ``imag``.

PyTorch marks such a tensor by a bit, the conj bit or the neg bit. Here the class of the tensor is
that bit: the fast paths test for the class Tensor and so leave these views to the slow path, and
other tensors cost nothing more. ``_data`` is the array of the conjugated or negated elements.
``stored_array`` is the array in memory, which in-place operations write to.

Reference: https://docs.pytorch.org/docs/stable/complex_numbers.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..dtypes import dtype as DType
from ..graph.inference import copy_marks
from ..graph.special_nodes import identity_node
from . import torch_function
from .size import Size, sizes
from .storage import Storage
from .tensor import Tensor, share, wrap

if TYPE_CHECKING:
    from ..backends.base import Array

_SLOT: Any = Storage.__dict__["_data"]
#: Attributes that views have beside their array; see ``graph.views``.
_OF_VIEWS = ("_view_ops", "_own_rg", "_kind", "_attr_version")


class LazyView(Tensor):
    """View whose elements are the results of a function of the elements in memory."""

    __slots__ = ()

    _is_lazy: ClassVar[bool] = True
    #: Library function from the elements in memory to those of the view; its own inverse.
    _function: ClassVar[str]
    #: PyTorch's names of the bit, and of the method that returns a tensor without it.
    _words: ClassVar[tuple[str, str]]

    @property
    def _data(self) -> Array:
        return self._apply_bit(stored_array(self))

    @_data.setter
    def _data(self, array: Array) -> None:
        self.__class__ = Tensor  # type: ignore[assignment]
        self._data = array

    def _apply_bit(self, array: Array) -> Array:
        """Apply the function of the bit to ``array``, of memory or of the view."""
        return self._xp.asarray(getattr(self._xp, self._function)(array))

    def _shared_as(self, cls: type[Tensor]) -> Tensor:
        """Return a lazy view of the same memory; for another class, a copy of the elements."""
        if cls is not Tensor:
            return wrap(self._data, self._xp, cls)
        return mark_lazy(share(cls, physical_view(self)), type(self))

    @property  # type: ignore[misc]  # a new shape has no memory to be assigned to
    def shape(self) -> Size:
        return sizes[stored_array(self).shape]

    @property
    def ndim(self) -> int:
        return len(stored_array(self).shape)

    @property
    def dtype(self) -> DType:
        return self._xp.dtype_of(stored_array(self))

    def stride(self, dim: int | None = None) -> Any:
        return physical_view(self).stride(dim)

    def is_contiguous(self, *args: Any, **options: Any) -> bool:
        return physical_view(self).is_contiguous(*args, **options)

    def numpy(self, *, force: bool = False) -> Any:
        if not force and self._base is not None:
            bit, method = self._words
            raise RuntimeError(
                f"Can't call numpy() on Tensor that has {bit} bit set. Use "
                f"tensor.{method}().numpy() instead."
            )
        array = resolve(self.detach()).numpy(force=force)
        # PyTorch raises for a detached tensor, too. Reading the copy is harmless, writing is not.
        if not force:  # the copy is writable
            array.flags.writeable = False
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return resolve(self).__array__(dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) not in memo:
            memo[id(self)] = resolve(self).__deepcopy__(memo)
        return memo[id(self)]  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return resolve(self).__reduce_ex__(protocol)


class Conjugate(LazyView):
    """View with the conj bit: the conjugates of the elements in memory."""

    __slots__ = ()
    _function = "conjugate"
    _words = "conjugate", "resolve_conj"


class Negative(LazyView):
    """View with the neg bit, such as the imaginary part of a ``Conjugate``."""

    __slots__ = ()
    _function = "negative"
    _words = "negative", "resolve_neg"


def _hide(cls: type[LazyView]) -> None:
    """Give a class the name of Tensor, which is the class that users see."""
    torch_function.exclude_lazy_class(cls)
    cls.__name__ = cls.__qualname__ = "Tensor"
    cls.__module__ = Tensor.__module__


_hide(Conjugate)
_hide(Negative)


def stored_array(tensor: Tensor) -> Array:
    """Return the array of a tensor in memory, without its conj or neg bit."""
    return _SLOT.__get__(tensor)


def set_stored_array(tensor: Tensor, array: Array) -> None:
    """Set the array of a tensor in memory; its conj or neg bit stays."""
    _SLOT.__set__(tensor, array)


def stored_pair(target: Tensor, array: Array) -> tuple[Array, Array]:
    """Return the array of ``target`` in memory, and the array to copy there.

    For a lazily conjugated or negated target it is the conjugate or negative of ``array``, else
    ``array`` itself.
    """
    if isinstance(target, LazyView):
        return stored_array(target), target._apply_bit(array)
    return target._data, array


def mark_lazy(tensor: Tensor, cls: type[LazyView]) -> Tensor:
    """Make ``tensor``, a new one of class Tensor, a lazy view of class ``cls``."""
    tensor.__class__ = cls
    return tensor


def physical_view(tensor: Tensor) -> Tensor:
    """Return a tensor of class Tensor of the elements in memory, without conj or neg bit.

    It has the edge of ``tensor`` in the graph, and its attributes as a view.
    """
    out = wrap(stored_array(tensor), tensor._xp)
    vars(out).update(vars(tensor))
    copy_marks(out, tensor)
    if tensor._vc is None:
        tensor._vc = [0]
    out._rg, out._node, out._vc = tensor._rg, tensor._node, tensor._vc
    if tensor._rg is True and tensor._node is None:
        out._node = identity_node(tensor)
    out._base = tensor._base
    if out._base is not None:
        for name in _OF_VIEWS:
            if hasattr(tensor, name):
                setattr(out, name, getattr(tensor, name))
    return out


def resolve(tensor: Tensor) -> Tensor:
    """Copy the elements of a lazy view into memory of their own; the result is a leaf."""
    out = wrap(tensor._data, tensor._xp)
    out._rg = tensor.requires_grad
    return out
