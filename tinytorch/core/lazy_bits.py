"""Views whose elements wait in memory to be conjugated, or negated: ``z.conj()``, its ``imag``.

PyTorch marks such a tensor by a bit. Here its class says it: the paths for plain tensors look at
the class and leave these alone, so that real tensors pay nothing. Whoever reads ``_data`` gets the
elements as they are meant; ``in_memory`` is where they lie, which is what is written to.

Reference: https://docs.pytorch.org/docs/stable/complex_numbers.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..dtypes import dtype as DType
from ..graph.special_nodes import towards
from . import torch_function
from .size import Size, sizes
from .storage import Storage
from .tensor import Tensor, share, wrap

if TYPE_CHECKING:
    from ..backends.base import Array

_SLOT: Any = Storage.__dict__["_data"]
#: What a view has of its own beside its array; see ``graph.views``.
_OF_VIEWS = ("_steps", "_wanted", "_kind", "_attr_version")


class Waiting(Tensor):
    """A tensor whose elements wait in memory for a function."""

    __slots__ = ()

    _waits: ClassVar[bool] = True
    #: The library's function that makes the elements of what is in memory, and that of them.
    _function: ClassVar[str]
    #: PyTorch's words for it: of the bit, and of the method that makes a tensor without it.
    _words: ClassVar[tuple[str, str]]

    @property
    def _data(self) -> Array:
        return self._meant(in_memory(self))

    @_data.setter
    def _data(self, array: Array) -> None:
        self.__class__ = Tensor  # type: ignore[assignment]
        self._data = array

    def _meant(self, array: Array) -> Array:
        """``array`` from the memory as it is meant, or the other way round."""
        return self._xp.asarray(getattr(self._xp, self._function)(array))

    def _shared_as(self, cls: type[Tensor]) -> Tensor:
        """Waiting as well; of another class its elements in memory of their own."""
        if cls is not Tensor:
            return wrap(self._data, self._xp, cls)
        return let_wait(share(cls, plain(self)), type(self))

    @property  # type: ignore[misc]  # a new shape has no memory to be assigned to
    def shape(self) -> Size:
        return sizes[in_memory(self).shape]

    @property
    def ndim(self) -> int:
        return len(in_memory(self).shape)

    @property
    def dtype(self) -> DType:
        return self._xp.dtype_of(in_memory(self))

    def stride(self, dim: int | None = None) -> Any:
        return plain(self).stride(dim)

    def is_contiguous(self, *args: Any, **options: Any) -> bool:
        return plain(self).is_contiguous(*args, **options)

    def numpy(self, *, force: bool = False) -> Any:
        if not force and self._base is not None:
            bit, method = self._words
            raise RuntimeError(
                f"Can't call numpy() on Tensor that has {bit} bit set. Use "
                f"tensor.{method}().numpy() instead."
            )
        array = resolved(self.detach()).numpy(force=force)
        # PyTorch refuses a detached one, too. Its numbers do no harm, but to write to these would.
        array.flags.writeable = force
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return resolved(self).__array__(dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) not in memo:
            memo[id(self)] = resolved(self).__deepcopy__(memo)
        return memo[id(self)]  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return resolved(self).__reduce_ex__(protocol)


class Conjugate(Waiting):
    """A tensor whose complex numbers wait to be conjugated."""

    __slots__ = ()
    _function = "conjugate"
    _words = "conjugate", "resolve_conj"


class Negative(Waiting):
    """A tensor whose numbers wait to be negated: the imaginary parts of a ``Conjugate``."""

    __slots__ = ()
    _function = "negative"
    _words = "negative", "resolve_neg"


def _hide(cls: type[Waiting]) -> None:
    """Let a class show itself as Tensor, which is what its instances are to users."""
    torch_function.never_plain(cls)
    cls.__name__ = cls.__qualname__ = "Tensor"
    cls.__module__ = Tensor.__module__


_hide(Conjugate)
_hide(Negative)


def in_memory(tensor: Tensor) -> Array:
    """The array that a tensor lies in, whatever its elements wait for."""
    return _SLOT.__get__(tensor)


def move(tensor: Tensor, array: Array) -> None:
    """Let a tensor lie in ``array`` from now on; its elements wait for what they waited for."""
    _SLOT.__set__(tensor, array)


def put(target: Tensor, array: Array) -> tuple[Array, Array]:
    """The memory of ``target``, and ``array`` as it has to lie there."""
    if isinstance(target, Waiting):
        return in_memory(target), target._meant(array)
    return target._data, array


def let_wait(tensor: Tensor, cls: type[Waiting]) -> Tensor:
    """Make ``tensor``, which is plain and new, one whose elements wait."""
    tensor.__class__ = cls
    return tensor


def plain(tensor: Tensor) -> Tensor:
    """A tensor in the place of ``tensor`` in memory and in the graph whose elements do not wait."""
    if tensor._vc is None:
        tensor._vc = [0]
    out = wrap(in_memory(tensor), tensor._xp)
    vars(out).update(vars(tensor))
    out._rg, out._node, out._vc = tensor._rg, tensor._node, tensor._vc
    if tensor._rg is True and tensor._node is None:
        out._node = towards(tensor)
    out._base = tensor._base
    if out._base is not None:
        for name in _OF_VIEWS:
            if hasattr(tensor, name):
                setattr(out, name, getattr(tensor, name))
    return out


def resolved(tensor: Tensor) -> Tensor:
    """The elements of a tensor that waits in memory of their own: a leaf."""
    out = wrap(tensor._data, tensor._xp)
    out._rg = tensor.requires_grad
    return out
