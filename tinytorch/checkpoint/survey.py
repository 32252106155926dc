"""What a pickle refers to, found without importing or calling any of it."""

from __future__ import annotations

import io
import pickle
from typing import Any

from .names import NAMED, StorageType

#: Python's own unpickler in Python, whose opcodes can be replaced one by one.
PythonUnpickler: Any = pickle._Unpickler


class _Inert:
    """Stands for whatever the pickle would import or make."""

    def __init__(self, module: str = "", name: str = "") -> None:
        self.module = module
        self.name = name

    def ignore(self, *args: Any) -> None:
        """Take what the pickle would put into a container."""

    append = extend = add = update = __setitem__ = ignore


class Survey(PythonUnpickler):  # type: ignore[misc]  # its parts are private to pickle
    """Reads a pickle with an inert object in the place of everything that is imported or called.

    Attributes:
        names: The globals it names, as module and name, in their order.
        itemsizes: By its key, the bytes of an element of each storage.
    """

    dispatch: dict[Any, Any] = dict(PythonUnpickler.dispatch)

    def __init__(self, file: Any) -> None:
        super().__init__(file, encoding="utf-8")
        self.names: dict[tuple[str, str], None] = {}
        self.itemsizes: dict[str, int] = {}

    def find_class(self, module: str, name: str) -> Any:
        module = {"__builtin__": "builtins"}.get(module, module)
        self.names[module, name] = None
        return _Inert(module, name)

    def persistent_load(self, pid: Any) -> Any:
        if isinstance(pid, tuple) and len(pid) > 2 and isinstance(pid[1], _Inert):
            kind = NAMED.get((pid[1].module, pid[1].name))
            dtype = kind.dtype if isinstance(kind, StorageType) else None
            self.itemsizes[pid[2]] = 1 if dtype is None else dtype.itemsize
        return _Inert()

    def get_extension(self, code: int) -> None:
        self.append(_Inert("copyreg", f"extension {code}"))

    def _replace(self, count: int) -> None:
        """An inert object in the place of the topmost so many."""
        del self.stack[-count:]
        self.append(_Inert())

    def _below_mark(self) -> None:
        self.pop_mark()
        self.append(_Inert())

    dispatch[pickle.REDUCE[0]] = dispatch[pickle.NEWOBJ[0]] = lambda self: self._replace(2)
    dispatch[pickle.NEWOBJ_EX[0]] = lambda self: self._replace(3)
    dispatch[pickle.BUILD[0]] = lambda self: self.stack.pop()
    dispatch[pickle.OBJ[0]] = _below_mark

    def _instance(self) -> None:
        module, name = (self.readline()[:-1].decode("ascii") for _ in range(2))
        self.find_class(module, name)
        self._below_mark()

    dispatch[pickle.INST[0]] = _instance


#: What a pickle that is damaged or made up does to the machine that runs it.
BROKEN = (IndexError, KeyError, ValueError, AttributeError, TypeError)


def survey(data: Any) -> Survey:
    """The survey of a pickle.

    Raises:
        pickle.UnpicklingError: If it is broken.
    """
    found = Survey(io.BytesIO(data))
    try:
        found.load()
    except BROKEN as error:
        raise pickle.UnpicklingError(f"the pickle is broken: {error}") from error
    return found
