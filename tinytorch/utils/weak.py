"""``torch.utils.weak``: references that do not keep what they refer to, told apart by identity.

Tensors are equal element by element, so that ``weakref.WeakKeyDictionary`` cannot look them up.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any
from weakref import ref as WeakRef

from ..core.tensor import Tensor

__all__ = [
    "TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakRef", "WeakTensorKeyDictionary",
]  # fmt: skip


class WeakIdRef(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that is equal to another one if both are to the same object.

    Args:
        key: The object.
        callback: Called with the reference when the object is gone.

    Example:
        >>> from tinytorch.utils.weak import WeakIdRef
        >>> x = tt.ones(2)
        >>> WeakIdRef(x) == WeakIdRef(x), WeakIdRef(x) == WeakIdRef(tt.ones(2))
        (True, False)
    """

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, others = self(), other() if isinstance(other, weakref.ref) else None
        return mine is others if mine is not None and others is not None else self is other


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary of objects by identity, which it does not keep alive.

    The entry of a key that is gone is removed when the dictionary is next used.

    Args:
        dict: What it holds first: a mapping or pairs.
        ref_type: What keys are referred to by. Default: ``WeakIdRef``.

    Example:
        >>> from tinytorch.utils.weak import WeakIdKeyDictionary
        >>> x = tt.ones(2)
        >>> names = WeakIdKeyDictionary({x: "x"})
        >>> names[x], len(names)
        ('x', 1)
        >>> del x
        >>> len(names)
        0
    """

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.ref_type = ref_type
        self._data: Any = {}
        # References to keys that are gone. Their callback is a C function: Python drops what a
        # Python function raises there, such as the KeyboardInterrupt of Ctrl-C.
        self._dead: list[Any] = []
        self.update({} if dict is None else dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._dead.append)] = value

    @property
    def data(self) -> dict[Any, Any]:
        """The values by the references to their keys."""
        with contextlib.suppress(IndexError):  # another thread may empty the list, too
            while self._dead:
                self._data.pop(self._dead.pop(), None)
        return self._data  # type: ignore[no-any-return]

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):  # entries may go meanwhile
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # nothing refers weakly to a number
            return False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self) -> list[Any]:
        """The references to the keys.

        Example:
            >>> from tinytorch.utils.weak import WeakIdKeyDictionary
            >>> WeakIdKeyDictionary().keyrefs()
            []
        """
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary:
        """Another one with the same entries.

        Example:
            >>> from tinytorch.utils.weak import WeakIdKeyDictionary
            >>> len(WeakIdKeyDictionary().copy())
            0
        """
        made = type(self)(ref_type=self.ref_type)
        made.update(self)
        return made

    __copy__ = copy


#: By PyTorch's name for such a dictionary of tensors.
WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor.

    Args:
        tensor: The tensor.

    Raises:
        AssertionError: If it is none.

    Example:
        >>> x = tt.ones(2)
        >>> tt.utils.weak.TensorWeakRef(x)() is x
        True
    """

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
