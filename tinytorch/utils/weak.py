"""``torch.utils.weak``: weak references and dictionaries that compare keys by identity.

``weakref.WeakKeyDictionary`` cannot look up tensors, because ``==`` compares their elements.
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
    """A weak reference that is equal to another one if both refer to the same object.

    Args:
        key: The object.
        callback: Called with the reference when the object is destroyed.

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
        left, right = self(), other() if isinstance(other, weakref.ref) else None
        return left is right if left is not None and right is not None else self is other


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are compared by identity and held by weak references.

    The entry of a destroyed key is removed when the dictionary is next used.

    Args:
        dict: Initial items: a mapping or pairs. Default: none.
        ref_type: Class of the references to keys. Default: ``WeakIdRef``.

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
        # References to destroyed keys. Their callback is a C function, because Python ignores
        # exceptions of callbacks, so that a KeyboardInterrupt would be lost.
        self._dead: list[Any] = []
        self.update({} if dict is None else dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._dead.append)] = value

    @property
    def data(self) -> dict[Any, Any]:
        """Dict from references to values."""
        with contextlib.suppress(IndexError):  # another thread may empty the list, too
            while self._dead:
                self._data.pop(self._dead.pop(), None)
        return self._data  # type: ignore[no-any-return]

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):  # entries may be removed during the loop
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # a key without weak references, such as a number
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
        """A new dictionary with the same entries.

        Example:
            >>> from tinytorch.utils.weak import WeakIdKeyDictionary
            >>> len(WeakIdKeyDictionary().copy())
            0
        """
        result = type(self)(ref_type=self.ref_type)
        result.update(self)
        return result

    __copy__ = copy


#: PyTorch's name of a dictionary with tensors as keys.
WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor.

    Args:
        tensor: The tensor.

    Raises:
        AssertionError: If ``tensor`` is not a tensor.

    Example:
        >>> x = tt.ones(2)
        >>> tt.utils.weak.TensorWeakRef(x)() is x
        True
    """

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref: weakref.ref[Tensor] = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
