"""Unpicklers of checkpoints: of weights only, by a list of names, and of trusted files."""

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
    make_storage,
    rebuild_with_state,
    unsupported_text,
)

#: Function that returns the storage of a type, key, location and number of elements.
ReadStorage = Callable[[StorageType, str, str, int], LoadedStorage]

_ADVICE = (
    "Weights only load failed. This file can still be loaded, if you trust where it comes from: "
    "with weights_only=False it can execute any code; or name what it may use with "
    "tinytorch.serialization.add_safe_globals.\n\tWeightsUnpickler error: "
)

#: Opcodes of Python 3's pickles, except those that call without ``REDUCE`` or ``NEWOBJ``, or that
#: import by number.
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

#: Modules whose names are never allowed, as in PyTorch.
_BLOCKED = ("sys", "os", "posix", "nt")


def weights_error(text: str) -> pickle.UnpicklingError:
    """Return the error for a checkpoint that holds more than weights."""
    return pickle.UnpicklingError(_ADVICE + text)


class _Opcodes(dict[int, Any]):
    """Table of an unpickler's opcodes, which raises for all others."""

    def __missing__(self, code: int) -> Any:
        raise weights_error(f"Unsupported operand {code}")


class WeightsUnpickler(PythonUnpickler):  # type: ignore[misc]  # its parts are private
    """Unpickler of tensors, containers, numbers and text, which calls listed functions only.

    Args:
        file: The pickle.
        read_storage: The function that makes a storage.
        safe: Further classes and functions that the user allows, by full name.
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
            # Errors that a truncated or forged pickle causes in the unpickler.
            raise weights_error(f"the pickle is broken: {type(error).__name__}: {error}") from error

    def find_class(self, module: str, name: str) -> Any:
        module = {"__builtin__": "builtins"}.get(module, module)
        full_name = f"{module}.{name}"
        if full_name in self._safe and module not in _BLOCKED:
            return self._safe[full_name]
        for names in (CALLED, NAMED):
            if (module, name) in names:
                return names[module, name]
        text = unsupported_text(NAMED, module, name)
        if text is not None:
            raise NotImplementedError(text)
        if module in _BLOCKED:
            raise weights_error(
                f"Trying to load unsupported GLOBAL {full_name} whose module {module} is blocked."
            )
        raise weights_error(
            f"Unsupported global: GLOBAL {full_name} was not an allowed global by default. Please "
            f"use `tinytorch.serialization.add_safe_globals([{name}])` to allow it, if you trust "
            "this class or function."
        )

    def persistent_load(self, pid: Any) -> Any:
        return storage_of(pid, self._read_storage)

    def _is_safe(self, value: Any) -> bool:
        """Whether a value is one of the globals that the program allows."""
        return any(value is each for each in self._safe.values())

    def _may_call(self, function: Any) -> bool:
        """Whether a pickle may call a function."""
        return self._is_safe(function) or any(function is each for each in CALLED.values())

    def _reduce(self) -> None:
        """Opcode REDUCE: call a function, if that is allowed."""
        function, args = self.stack[-2], self.stack[-1]
        if not isinstance(args, tuple):
            raise weights_error(
                f"Trying to call {function!r} with a {type(args).__name__} of arguments"
            )
        # rebuild_with_state calls its first argument.
        inner = args[:1] if function is rebuild_with_state else ()
        for each in (function, *inner):
            if not self._may_call(each):
                raise weights_error(f"Trying to call reduce for unrecognized function {each!r}")
        PythonUnpickler.dispatch[pickle.REDUCE[0]](self)

    def _new_object(self) -> None:
        """Opcode NEWOBJ: create an instance of a class, if that is allowed."""
        cls = self.stack[-2]
        if not (self._is_safe(cls) or cls is OrderedDict):
            raise weights_error(
                "Can only create new object for OrderedDict or classes allowlisted via "
                f"`add_safe_globals` but got {cls!r}"
            )
        PythonUnpickler.dispatch[pickle.NEWOBJ[0]](self)

    def _build(self) -> None:
        """Opcode BUILD: set the state of an object, if its class is allowed."""
        target = self.stack[-2]
        if type(target) is OrderedDict and isinstance(self.stack[-1], dict):
            target.__dict__.update(self.stack.pop())
            return
        if not self._is_safe(type(target)):
            raise weights_error(
                "Can only build OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(target)!r}"
            )
        PythonUnpickler.dispatch[pickle.BUILD[0]](self)

    def _bytes(self) -> None:
        """Opcode BYTEARRAY8: read a bytearray."""
        # Python's own opcode allocates as many bytes as the pickle claims before it reads them.
        (size,) = struct.unpack("<Q", self.read(8))
        self.append(bytearray(self.read(size)))

    dispatch[pickle.BYTEARRAY8[0]] = _bytes
    dispatch[pickle.REDUCE[0]] = _reduce
    dispatch[pickle.NEWOBJ[0]] = _new_object
    dispatch[pickle.BUILD[0]] = _build


def _check_container(
    code: bytes, kind: type, target: Callable[[Any], Any]
) -> Callable[[Any], None]:
    """Return an opcode that adds elements to containers of one class, and raises for others.

    Args:
        code: The opcode of which it is the checked form.
        kind: The class of the containers.
        target: Function that returns the container on the unpickler's stack.
    """
    add = PythonUnpickler.dispatch[code[0]]

    def add_checked(unpickler: Any) -> None:
        if not isinstance(target(unpickler), kind):
            raise weights_error(f"Can only add elements to a {kind.__name__}")
        add(unpickler)

    return add_checked


def _container_at_mark(unpickler: Any) -> Any:
    """Return the container to which the items after the last mark are added."""
    return unpickler.metastack[-1][-1]


for _code, _kind, _target in (
    (pickle.APPEND, list, lambda unpickler: unpickler.stack[-2]),
    (pickle.SETITEM, dict, lambda unpickler: unpickler.stack[-3]),
    (pickle.APPENDS, list, _container_at_mark), (pickle.SETITEMS, dict, _container_at_mark),
    (pickle.ADDITEMS, set, _container_at_mark),
):  # fmt: skip
    WeightsUnpickler.dispatch[_code[0]] = _check_container(_code, _kind, _target)


def storage_of(pid: Any, read_storage: ReadStorage) -> Any:
    """Return the storage of a persistent id.

    Args:
        pid: ``("storage", type, key, location, number of elements)``.
        read_storage: Function that reads the storage of these values.
    """
    if isinstance(pid, tuple):  # its texts are bytes in pickles of Python 2
        pid = tuple(part.decode("ascii") if type(part) is bytes else part for part in pid)
    if not (isinstance(pid, tuple) and len(pid) in (5, 6) and pid[0] == "storage"):
        raise pickle.UnpicklingError(f"persistent id: expected that of a storage, got {pid!r}")
    kind, key, location, count = pid[1:5]
    if not isinstance(kind, StorageType):
        raise pickle.UnpicklingError(f"persistent id: {kind!r} is not a type of storage")
    if type(count) is not int or count < 0:
        raise pickle.UnpicklingError(f"persistent id: {count!r} is not a number of elements")
    view = pid[5] if len(pid) == 6 else None
    if view is not None:
        raise NotImplementedError("the checkpoint holds a view of a storage")
    return make_storage(read_storage(kind, key, location, count), kind)


def trusting_unpickler(base: Any) -> Any:
    """Subclass ``base``, a pickle module's ``Unpickler``, for tensors and PyTorch's names."""

    class Unpickler(base):  # type: ignore[misc]  # the base is the user's
        read_storage: ReadStorage

        def find_class(self, module: str, name: str) -> Any:
            known = CALLED.get((module, name), NAMED.get((module, name)))
            if known is not None and module.partition(".")[0] == "torch":
                return known
            text = unsupported_text(NAMED, module, name)
            if text is not None:
                raise NotImplementedError(text)
            if module.partition(".")[0] == "torch":
                return counterpart(module, name)
            return super().find_class(module, name)

        def persistent_load(self, pid: Any) -> Any:
            return storage_of(pid, self.read_storage)

    return Unpickler


def counterpart(module: str, name: str) -> Any:
    """Return the counterpart of a global of PyTorch's, from its module here or a parent of it.

    Raises:
        AttributeError: If there is none.
    """
    parts = ["tinytorch", *module.split(".")[1:]]
    while parts:
        try:
            value: Any = importlib.import_module(".".join(parts))
            for attribute in name.split("."):
                value = getattr(value, attribute)
            return partial(_result, value) if module == "torch.return_types" else value
        except (ImportError, AttributeError):
            parts.pop()
    raise AttributeError(f"Can't get {module}.{name}: tinytorch has no counterpart of it")


def _result(cls: Any, fields: Any, more: Any = None) -> Any:
    """Make a named result of the arguments of PyTorch's: a tuple, and an empty dictionary."""
    return cls(*fields)
