"""How a checkpoint's pickle is read: weights alone, by a list of names; or anything, on trust."""

from __future__ import annotations

import importlib
import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

from .archive import PythonUnpickler
from .names import (
    CALLED,
    NAMED,
    LoadedStorage,
    StorageType,
    opened,
    rebuild_with_state,
    unsupported,
)

#: Returns a storage: of a type, by key, location and number of elements.
ReadStorage = Callable[[StorageType, str, str, int], LoadedStorage]

_ADVICE = (
    "Weights only load failed. This file can still be loaded, if you trust where it comes from: "
    "with weights_only=False it can execute any code; or name what it may use with "
    "tinytorch.serialization.add_safe_globals.\n\tWeightsUnpickler error: "
)

#: What each opcode does in the pickles of Python 3, those left out that call without ``REDUCE``
#: or ``NEWOBJ``, or that import by number.
_CODES = (
    "PROTO", "STOP", "MARK", "POP", "POP_MARK", "DUP", "FRAME", "MEMOIZE", "PUT", "BINPUT",
    "LONG_BINPUT", "GET", "BINGET", "LONG_BINGET", "NONE", "NEWTRUE", "NEWFALSE", "INT", "BININT",
    "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES",
    "SHORT_BINBYTES", "BINBYTES8", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3",
    "EMPTY_LIST", "LIST", "APPEND", "APPENDS", "EMPTY_DICT", "DICT", "SETITEM", "SETITEMS",
    "EMPTY_SET", "ADDITEMS", "FROZENSET", "GLOBAL", "STACK_GLOBAL", "REDUCE", "NEWOBJ", "BUILD",
    "BINPERSID",
)  # fmt: skip
_ALLOWED = {
    code: PythonUnpickler.dispatch[code] for code in (getattr(pickle, name)[0] for name in _CODES)
}

#: Modules of which nothing may be named, whatever the user allows; as in PyTorch.
_BLOCKED = ("sys", "os", "posix", "nt")


def refused(text: str) -> pickle.UnpicklingError:
    """The error of a checkpoint that is more than weights."""
    return pickle.UnpicklingError(_ADVICE + text)


class _Opcodes(dict[int, Any]):
    """An unpickler's table; what is not in it is refused."""

    def __missing__(self, code: int) -> Any:
        raise refused(f"Unsupported operand {code}")


class WeightsUnpickler(PythonUnpickler):  # type: ignore[misc]  # its parts are private
    """Reads tensors, containers, numbers and text, and calls nothing that is not listed.

    Args:
        file: The pickle.
        read_storage: What makes a storage.
        safe: By full name, the classes and functions that the user allows besides.
        **options: ``encoding``, ``errors``.
    """

    dispatch: _Opcodes = _Opcodes(_ALLOWED)

    def __init__(
        self, file: Any, read_storage: ReadStorage, safe: dict[str, Any], **options: Any
    ) -> None:
        super().__init__(file, **options)
        self._read_storage = read_storage
        self._safe = safe

    def load(self) -> Any:
        try:
            return super().load()
        except (IndexError, KeyError, ValueError, UnicodeError, AttributeError) as error:
            # What a pickle that is cut off or made up does to the machine that runs it.
            raise refused(f"the pickle is broken: {type(error).__name__}: {error}") from error

    def find_class(self, module: str, name: str) -> Any:
        module = {"__builtin__": "builtins"}.get(module, module)
        full_name = f"{module}.{name}"
        if full_name in self._safe and module not in _BLOCKED:
            return self._safe[full_name]
        for names in (CALLED, NAMED):
            if (module, name) in names:
                return names[module, name]
        text = unsupported(NAMED, module, name)
        if text is not None:
            raise NotImplementedError(text)
        if module in _BLOCKED:
            raise refused(
                f"Trying to load unsupported GLOBAL {full_name} whose module {module} is blocked."
            )
        raise refused(
            f"Unsupported global: GLOBAL {full_name} was not an allowed global by default. Please "
            f"use `tinytorch.serialization.add_safe_globals([{name}])` to allow it, if you trust "
            "this class or function."
        )

    def persistent_load(self, pid: Any) -> Any:
        return storage_of(pid, self._read_storage)

    def _is_safe(self, value: Any) -> bool:
        return any(value is each for each in self._safe.values())

    def _may_call(self, function: Any) -> bool:
        return self._is_safe(function) or any(function is each for each in CALLED.values())

    def _reduce(self) -> None:
        function, args = self.stack[-2], self.stack[-1]
        if not isinstance(args, tuple):
            raise refused(f"Trying to call {function!r} with a {type(args).__name__} of arguments")
        # That one calls its first argument.
        inner = args[:1] if function is rebuild_with_state else ()
        for each in (function, *inner):
            if not self._may_call(each):
                raise refused(f"Trying to call reduce for unrecognized function {each!r}")
        PythonUnpickler.dispatch[pickle.REDUCE[0]](self)

    def _new_object(self) -> None:
        cls = self.stack[-2]
        if not (self._is_safe(cls) or cls is OrderedDict):
            raise refused(
                "Can only create new object for OrderedDict or classes allowlisted via "
                f"`add_safe_globals` but got {cls!r}"
            )
        PythonUnpickler.dispatch[pickle.NEWOBJ[0]](self)

    def _build(self) -> None:
        target = self.stack[-2]
        if type(target) is OrderedDict and isinstance(self.stack[-1], dict):
            target.__dict__.update(self.stack.pop())
            return
        if not self._is_safe(type(target)):
            raise refused(
                "Can only build OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(target)!r}"
            )
        PythonUnpickler.dispatch[pickle.BUILD[0]](self)

    def _bytes(self) -> None:
        # Python's own makes room for as many as the pickle claims before it reads them.
        (size,) = struct.unpack("<Q", self.read(8))
        self.append(bytearray(self.read(size)))

    dispatch[pickle.BYTEARRAY8[0]] = _bytes
    dispatch[pickle.REDUCE[0]] = _reduce
    dispatch[pickle.NEWOBJ[0]] = _new_object
    dispatch[pickle.BUILD[0]] = _build


def _filling(code: bytes, kind: type, target: Callable[[Any], Any]) -> Callable[[Any], None]:
    """An opcode that adds to a container, for those of this kind alone."""
    add = PythonUnpickler.dispatch[code[0]]

    def checked(unpickler: Any) -> None:
        if not isinstance(target(unpickler), kind):
            raise refused(f"Can only add elements to a {kind.__name__}")
        add(unpickler)

    return checked


def _below_mark(unpickler: Any) -> Any:
    return unpickler.metastack[-1][-1]


for _code, _kind, _target in (
    (pickle.APPEND, list, lambda unpickler: unpickler.stack[-2]),
    (pickle.SETITEM, dict, lambda unpickler: unpickler.stack[-3]),
    (pickle.APPENDS, list, _below_mark), (pickle.SETITEMS, dict, _below_mark),
    (pickle.ADDITEMS, set, _below_mark),
):  # fmt: skip
    WeightsUnpickler.dispatch[_code[0]] = _filling(_code, _kind, _target)


def storage_of(pid: Any, read_storage: ReadStorage) -> Any:
    """The storage that a persistent id names."""
    if isinstance(pid, tuple):  # whose texts are bytes where Python 2 wrote them
        pid = tuple(part.decode("ascii") if type(part) is bytes else part for part in pid)
    if not (isinstance(pid, tuple) and len(pid) in (5, 6) and pid[0] == "storage"):
        raise pickle.UnpicklingError(f"persistent id: expected that of a storage, got {pid!r}")
    kind, key, location, count = pid[1:5]
    if not isinstance(kind, StorageType):
        raise pickle.UnpicklingError(f"persistent id: {kind!r} is no type of storage")
    if type(count) is not int or count < 0:
        raise pickle.UnpicklingError(f"persistent id: {count!r} is no number of elements")
    view = pid[5] if len(pid) == 6 else None
    if view is not None:
        raise NotImplementedError("the checkpoint holds a view of a storage")
    return opened(read_storage(kind, key, location, count), kind)


def trusting_unpickler(base: Any) -> Any:
    """``base``, a pickle module's ``Unpickler``, with tensors, and PyTorch's names made ours."""

    class Unpickler(base):  # type: ignore[misc]  # the base is the user's
        read_storage: ReadStorage

        def find_class(self, module: str, name: str) -> Any:
            known = CALLED.get((module, name), NAMED.get((module, name)))
            if known is not None and module.partition(".")[0] == "torch":
                return known
            text = unsupported(NAMED, module, name)
            if text is not None:
                raise NotImplementedError(text)
            if module.partition(".")[0] == "torch":
                return counterpart(module, name)
            return super().find_class(module, name)

        def persistent_load(self, pid: Any) -> Any:
            return storage_of(pid, self.read_storage)

    return Unpickler


def counterpart(module: str, name: str) -> Any:
    """What goes by one of PyTorch's names here, in that module or in one of those around it.

    Raises:
        AttributeError: If nothing does.
    """
    parts = ["tinytorch", *module.split(".")[1:]]
    while parts:
        try:
            found: Any = importlib.import_module(".".join(parts))
            for attribute in name.split("."):
                found = getattr(found, attribute)
            return partial(_result, found) if module == "torch.return_types" else found
        except (ImportError, AttributeError):
            parts.pop()
    raise AttributeError(f"Can't get {module}.{name}: tinytorch has no counterpart of it")


def _result(cls: Any, fields: Any, more: Any = None) -> Any:
    """A named result: PyTorch's are made of a tuple, and a dictionary that is empty."""
    return cls(*fields)
