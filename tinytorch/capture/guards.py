"""Guards: the conditions under which a recorded program stands for a call of its function.

A call has a *signature*: for each tensor among its arguments backend, shape, dtype, strides and
``requires_grad``, for each other argument type and value, and the modes that are active. Two calls
run the same program if their signatures are equal and everything that the function reads besides
(``reach.Reach``) is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, is_, ne
from types import ModuleType
from typing import Any

import numpy

from ..autograd.levels import is_transforming
from ..backends import load
from ..backends.standard.store import StoredArray
from ..core import torch_function
from ..core.storage import attributes
from ..core.tensor import Tensor
from ..dispatch import autocast
from ..graph.engine import Anomaly
from ..graph.saved_tensors import HOOK_STACK
from ..nn.module.global_hooks import CALLS
from ..nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from ..state import current_backend, default_dtype, generator, grad_enabled, inference_enabled
from ..state import settings
from .host_copies import SEPARATE
from .python_values import MOST_TERMS, OFTEN, SIMPLE, GuardText, is_simple
from .reach import Reach
from .traced_memory import change_owner, memory_id
from .trees import OBJECT, find_container

#: Classes of tensors that are recorded; they override nothing and are not lazy.
TENSORS = frozenset((Tensor, Parameter, Buffer))
_NUMPY = load("numpy")
_NONE: frozenset[int] = frozenset()
#: Types of numbers whose texts are compared.
_REPRESENTED = frozenset((float, complex, *numpy.sctypeDict.values()))
_array = attrgetter("_data")
_requires_grad = attrgetter("_rg")
_state = attrgetter("_data", "_rg")
_kind = attrgetter("__class__", "_xp")


def is_eager_scope(backend: Any) -> bool:
    """Whether calls run eagerly in the active scopes, whatever the function is.

    These are functions that a transform of ``func`` or forward mode differentiates, modes that
    override operations, hooks of all modules, hooks for saved tensors, anomaly mode, and functions
    that the backend's library traces.

    Args:
        backend: The active backend.
    """
    return bool(
        is_transforming() or torch_function.modes.get() or CALLS or HOOK_STACK.get()
        or Anomaly.enabled or backend.traces and backend.raw_library.is_tracing()
    )  # fmt: skip


def other_backend(backend: Any, engine: str, is_checked: bool) -> str:
    """Return why the active backend is not recorded; ``""`` if it is.

    Args:
        backend: The active backend.
        engine: The engine that the program chose, or ``"auto"``.
        is_checked: Whether replays are compared with eager calls.
    """
    if backend is _NUMPY and engine not in ("jax", "cuda"):
        return ""
    if is_checked and backend is not _NUMPY:
        return f"the active backend is {backend.name!r}, and mode='check' needs 'numpy'"
    if backend.engine and engine in ("auto", backend.engine):
        return ""
    if backend is _NUMPY or backend.engine:
        return f"the active backend is {backend.name!r}, which the engine {engine!r} cannot run"
    return f"the active backend is {backend.name!r}; 'numpy', 'cupy' and 'jax' are recorded"


def modes(backend: Any) -> list[Any]:
    """Return the modes that decide what operations compute on the active backend."""
    on = autocast._ON.get()
    casts = (on, tuple(autocast._DTYPES.get().items())) if on else ()
    return [
        grad_enabled(), inference_enabled(), default_dtype(), backend, generator(backend),
        casts, *settings.values.values(),
    ]  # fmt: skip


class Signature:
    """Arguments of a call as guards compare them.

    Args:
        backend: The active backend.
        args: Arguments by position.
        kwargs: Arguments by name.

    Attributes:
        key: Flat list of values, equal for calls that may run the same program.
        tensors: The tensors, from left to right.
        objects: Arguments that are compared by identity, and classes of dataclasses.
        containers: Lists and dicts, with the place of each.
        roots: Ids of the arrays that own the memory of the tensors.
        unsupported: A description of an argument that cannot be recorded, or ``""``.
    """

    __slots__ = ("containers", "key", "objects", "roots", "tensors", "unsupported")

    def __init__(self, backend: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.tensors: list[Any] = []
        self.objects: list[Any] = []
        self.containers: list[Any] = []
        self.unsupported = ""
        self.key: list[Any] = modes(backend)
        self.key += (len(args), *kwargs)
        if args:
            self._add(args)
        if kwargs:
            self._add(kwargs.values())
        self.roots: frozenset[int] | set[int] = _NONE
        if self.tensors:
            arrays = [tensor._data for tensor in self.tensors]
            self.roots = {
                id(a) if a.__class__ is numpy.ndarray and a.base is None else memory_id(a)
                for a in arrays
            }
            if len(self.roots) < len(arrays):
                self.key += ("same memory", *self._aliases())

    def _add(self, values: Iterable[Any]) -> None:
        """Append values to the key."""
        key = self.key
        for value in values:
            kind = value.__class__
            if kind in TENSORS:
                data = value._data
                rg = value._rg
                if rg.__class__ is not bool:
                    rg = value.requires_grad
                if rg:
                    rg = 1 + value.is_leaf
                key += (kind, value._xp, data.shape, data.dtype, data.strides, rg, data.__class__)
                if value._grad is not None or value.__dict__:
                    self._add_attributes(value)
                self.tensors.append(value)
            elif kind in SIMPLE:
                key += (kind, value)
            elif kind in _REPRESENTED:  # NaN, and the sign of zero
                key += (kind, repr(value))
            else:
                self._add_other(kind, value)

    def _add_attributes(self, tensor: Any) -> None:
        """Append what else a function may read of a tensor: ``.grad``, attributes of the user's."""
        key = self.key
        key += ("grad", tensor._grad is None, tensor.is_inference())
        for name, value in attributes(tensor).items():
            key += (name, repr(value) if is_simple(value) else id(value))

    def _add_other(self, kind: Any, value: Any) -> None:
        """Append a container, or an object by its identity, to the key."""
        if isinstance(value, Tensor):
            self.unsupported = f"an argument is of class {kind.__name__}"
            return
        if kind is tuple or kind is list:
            self.key += (kind, len(value))
            self._note_container(value)
            self._add(value)
            return
        container = find_container(value)
        if container is None or kind is type(None):
            self.key += (kind, id(value))
            self.objects.append(value)
            return
        if container is OBJECT:
            self.objects.append(kind)  # whose methods may be called
        self.key += (kind, container.context(value))
        self._note_container(value)
        self._add(container.children(value))

    def _note_container(self, value: Any) -> None:
        """Remember a list or a dict, to which the function may write."""
        if not isinstance(value, tuple):
            self.containers.append(value)

    def _aliases(self) -> list[Any]:
        """For each tensor the place of the first one that is the same, and that shares memory."""
        same: dict[int, int] = {}
        shared: dict[int, int] = {}
        return [
            (same.setdefault(id(t), i), shared.setdefault(memory_id(t._data), i))
            for i, t in enumerate(self.tensors)
        ]

    def unique(self) -> list[Any]:
        """Return the tensors without repetitions, in order."""
        if len(self.roots) == len(self.tensors):
            return self.tensors
        return list({id(tensor): tensor for tensor in self.tensors}.values())

    def shared_ids(self, reach: Reach) -> list[int]:
        """For each different tensor its id if the function reaches it, too, else 0."""
        return [id(tensor) if id(tensor) in reach.tensors else 0 for tensor in self.unique()]

    def overlaps(self, reach: Reach) -> bool:
        """Whether an argument shares memory with a tensor that the function reaches."""
        return any(
            memory_id(tensor._data) in self.roots for tensor in dense(reach.tensors.values())
        )


class SeparateMemory:
    """Scope in which tensors that share memory have arrays without a common owner.

    The recorder then takes each for an input of its own, which is right unless one is written.

    Args:
        arguments: Different tensors among the arguments.
        others: Different tensors that the function reaches.

    Attributes:
        tensors: The tensors that share memory with an argument.
    """

    def __init__(self, arguments: Sequence[Any], others: Iterable[Any]) -> None:
        given = {id(tensor) for tensor in arguments}
        owners: dict[int, list[Any]] = {}
        for tensor in [*arguments, *(t for t in others if id(t) not in given)]:
            if tensor._data.size:
                owners.setdefault(memory_id(tensor._data), []).append(tensor)
        self.tensors: list[Any] = [
            tensor
            for group in owners.values() if len(group) > 1 and any(id(t) in given for t in group)
            for tensor in group
        ]  # fmt: skip
        self._arrays: list[Any] = []

    def __enter__(self) -> None:
        self._arrays = [tensor._data for tensor in self.tensors]
        for tensor, array in zip(self.tensors, self._arrays, strict=True):
            tensor._data = _separate(array)
        self._token = SEPARATE.set(frozenset([id(tensor._data) for tensor in self.tensors]))

    def __exit__(self, *exception: object) -> None:
        SEPARATE.reset(self._token)
        for tensor, array in zip(self.tensors, self._arrays, strict=True):
            tensor._data = array


def _separate(array: Any) -> Any:
    """Return an array on the same memory; of NumPy's one with another owner."""
    if isinstance(array, numpy.ndarray):
        return change_owner(array)
    return array.alias() if isinstance(array, StoredArray) else array.view()


class TensorGuard:
    """State of the tensors that a function reads besides its arguments.

    Args:
        tensors: The tensors.

    Attributes:
        arrays: Their arrays at the last check.
        is_strict: Whether they must have the same arrays, not only arrays of the same kind.
    """

    is_strict: bool = False

    def __init__(self, tensors: Iterable[Any]) -> None:
        self.tensors = list(tensors)
        self.arrays = list(map(_array, self.tensors))
        self._grads = list(map(_requires_grad, self.tensors))
        self._kinds = list(map(_kind, self.tensors))
        self._state = list(self._read_state())
        #: How often all arrays were the same, and the function that compares them after that.
        self._matches = 0
        self._test: Callable[[], bool] | None = None

    def _read_state(self) -> Iterator[Any]:
        """Yield the array and ``requires_grad`` of each tensor."""
        return chain.from_iterable(map(_state, self.tensors))

    def holds(self) -> bool:
        """Whether backends, shapes, dtypes, strides and ``requires_grad`` are as they were."""
        test = self._test
        if test is not None and test():
            return True
        if all(map(is_, self._read_state(), self._state)):
            self._matches += 1
            if self._matches == OFTEN and 2 * len(self.tensors) <= MOST_TERMS:
                self._test = self._write_test()
            return True
        if self.is_strict or any(map(ne, map(_requires_grad, self.tensors), self._grads)):
            return False
        current = list(map(_array, self.tensors))
        if list(map(_kind, self.tensors)) != self._kinds or not all(
            map(is_like, current, self.arrays)
        ):
            return False
        self.arrays = current
        self._state = list(self._read_state())
        self._test, self._matches = None, 0
        return True

    def _write_test(self) -> Callable[[], bool]:
        """Return a function that is True if all arrays and ``requires_grad`` are the same."""
        text = GuardText()
        for tensor, array, grad in zip(self.tensors, self.arrays, self._grads, strict=True):
            text.add_attribute(tensor, "_data", array)
            text.add_attribute(tensor, "_rg", grad)
        return text.compile()


def is_like(a: Any, b: Any) -> bool:
    """Whether two arrays have one type, shape, dtype and strides."""
    return (
        a is b or type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype
        and a.strides == b.strides
    )  # fmt: skip


def dense(tensors: Iterable[Any]) -> Iterator[Any]:
    """Iterate over the tensors that have an array; those of other classes run eagerly."""
    return (tensor for tensor in tensors if type(tensor) in TENSORS)


def is_lazy(tensors: Iterable[Any]) -> bool:
    """Whether the parameters of a lazy module are created by this call."""
    lazy = UninitializedParameter, UninitializedBuffer
    return any(isinstance(tensor, lazy) for tensor in tensors)


def unsupported_tensor(tensors: Iterable[Any]) -> str:
    """Return why a tensor cannot be recorded; ``""`` if all can be."""
    active = current_backend()
    for tensor in tensors:
        kind = type(tensor)
        if kind not in TENSORS:
            return f"a tensor is of class {kind.__name__}"
        if tensor._xp is not _NUMPY and tensor._xp is not active:
            return (
                f"a tensor is on the backend {tensor._xp.name!r}; only those of the active backend "
                "are recorded"
            )
        if vars(tensor).get("_inference") and not inference_enabled():
            return "an inference tensor is read outside of inference mode"
    return ""


#: Attributes by which a function gets an array of CuPy's from a tensor, or a tensor from one.
_EXCHANGES = frozenset(("unwrap", "__cuda_array_interface__", "from_dlpack", "to_dlpack"))


def calls_cupy(reach: Reach) -> bool:
    """Whether a function calls CuPy itself: the recorder, which computes on the host, cannot."""
    backend: Any = current_backend()
    if backend.engine != "cuda":
        return False
    library = backend.library.__name__
    modules = (
        value.__name__ if isinstance(value, ModuleType) else type(value).__module__
        for value in reach.objects.values()
    )
    roots = {str(module).partition(".")[0] for module in modules}
    return not (roots.isdisjoint((library, f"{library}x")) and reach.names.isdisjoint(_EXCHANGES))
