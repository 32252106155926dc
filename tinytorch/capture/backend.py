"""The backend that kernels and gradient rules run on while a function is recorded.

Each of its functions calls that of the NumPy backend on the real arrays and records the call. What
the NumPy backend does by several calls of NumPy's (sums by products, selections by bits,
convolutions) is one node, which calls the NumPy backend again at a replay.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy

from ..backends import load
from ..backends.base import Backend
from ..backends.numpy.backend import NumpyBackend
from ..backends.numpy.quiet import QuietNamespace
from ..backends.storage import whole_memory
from ..state import backend_context
from .arrays import ProgramArray
from .calls import call, call_named, call_numpy, call_ufunc, mutate, symbols, unwrap
from .graph import Kind
from .numbers import TracedNumber, WithFloats, increase_count, trace_group
from .recorder import arrays_in, current_recorder, has_arrays
from .traced_memory import map_tree

NUMPY: Any = load("numpy")

#: Operations that make a tensor of an array of the program.
_CONVERSIONS = frozenset(("from_numpy", "as_tensor", "asarray", "tensor", "from_dlpack"))


def _call(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return call(name, function, args, kwargs)


class RecordedUfunc:
    """Ufunc of NumPy's whose calls are recorded."""

    def __init__(self, ufunc: Any) -> None:
        self.ufunc, self.__name__ = ufunc, ufunc.__name__
        self.nin, self.nout, self.identity = ufunc.nin, ufunc.nout, ufunc.identity

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_ufunc(self.ufunc, args, kwargs)

    def at(self, *args: Any) -> None:
        """``ufunc.at``."""
        mutate(f"{self.__name__}.at", self.ufunc.at, args, {})

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.ufunc, name)
        if name not in ("reduce", "accumulate", "reduceat", "outer"):
            return method
        return lambda *args, **kwargs: call(f"{self.__name__}.{name}", method, args, kwargs)


def wrap_function(name: str, value: Any) -> Any:
    """Return what kernels get for a member of NumPy's or of a module of it."""
    if isinstance(value, numpy.ufunc):
        return RecordedUfunc(value)
    if isinstance(value, (types.ModuleType, QuietNamespace)):
        return RecordedNamespace(name, value)
    if isinstance(value, type):
        return ProgramArray if value is numpy.ndarray else value
    if not callable(value):
        return value
    return lambda *args, **kwargs: call_numpy(name, value, args, kwargs)


class RecordedNamespace:
    """Module of NumPy's whose functions are recorded."""

    def __init__(self, name: str, module: Any) -> None:
        self._name, self._module = name, module
        self.__name__ = getattr(module, "__name__", name)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        made = wrap_function(f"{self._name}.{name}", getattr(value, "_implementation", value))
        setattr(self, name, made)
        return made


class RecordingBackend(NumpyBackend):
    """NumPy backend whose calls are recorded in the thread that records, and run in others."""

    library: Any = RecordedNamespace("numpy", numpy)
    array_type: type = ProgramArray
    block_elements: Any = None
    fuses = False
    refuses_writes = False
    checks_indices = False
    fft: Any = RecordedNamespace("numpy.fft", NUMPY.fft)
    linalg: Any = RecordedNamespace("numpy.linalg", NUMPY.linalg)

    @property
    def recorded(self) -> Any:  # type: ignore[override]
        """The backend of the tensors that this thread records."""
        recorder = current_recorder()
        return NUMPY if recorder is None else recorder.backend

    @property
    def device_type(self) -> str:  # type: ignore[override]
        """Type of the device of the tensors that this thread records."""
        return str(self.recorded.device_type)

    def serve_library(self) -> None:
        """Do nothing: ``__getattr__`` looks names up on first use."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(NUMPY, name)
        made = wrap_function(f"numpy.{name}", value)
        setattr(self, name, made)
        return made

    def __reduce__(self) -> Any:
        return NUMPY.__reduce__()

    # -- numbers ----------------------------------------------------------------------------

    def to_numpy(self, array: Any) -> Any:
        return array.note_break("numpy") if array.__class__ is ProgramArray else array

    def item(self, array: Any) -> Any:
        return array.item()

    def scalar(self, array: Any) -> Any:
        return array.as_number() if array.__class__ is ProgramArray else array.item()

    def increase(self, array: Any, by: float) -> Any:
        recorder = current_recorder()
        if recorder is None or array.__class__ is not ProgramArray:
            return NUMPY.increase(array, by)
        return increase_count(recorder, array, by)

    def trace_group(self, group: dict[str, Any]) -> dict[str, Any]:
        """Return an optimizer's parameter group whose numbers are traced or guarded."""
        recorder = current_recorder()
        return group if recorder is None else trace_group(recorder, group)

    def note_once(self, reason: str) -> None:
        """Note that the recording stands for this call alone."""
        recorder = current_recorder()
        if recorder is not None:
            recorder.once.append(reason)

    def act(self, owner: Any, action: Callable[[], Any]) -> Any:
        """Call a function outside of the recording, now and after each replay.

        Args:
            owner: Object whose attributes the function changes.
            action: The function.
        """
        recorder = current_recorder()
        if recorder is None:
            return action()
        recorder.actions.append(action)
        recorder.acting.append(owner)
        with recorder.pause(), backend_context(recorder.backend):
            return action()

    def from_numpy(self, array: Any) -> Any:
        recorder = current_recorder()
        if recorder is None:
            return array
        is_users = recorder.tag.operation in _CONVERSIONS
        return recorder.lift(array) if is_users else recorder.constant(array)

    def convert(self, data: Any, dtype: Any = None) -> Any:
        recorder = current_recorder()
        made = NUMPY.convert(data, dtype)
        if recorder is None:
            return made
        if recorder.tag.operation in _CONVERSIONS and isinstance(data, numpy.ndarray):
            recorder.note_break("an array of NumPy's")
        return recorder.constant(made)

    # Facts by which a kernel chooses its formula: the kernel becomes one call, see ``run_kernel``.
    # A gradient rule has the formula for all numbers.

    def is_finite(self, array: Any) -> bool | None:
        return NUMPY.is_finite(array.note_break("bool")) if _is_in_kernel() else None

    def loses_nan(self, matrix: Any) -> bool:
        return _is_in_kernel() and bool(NUMPY.loses_nan(matrix.note_break("bool")))

    def is_moderate(self, array: Any, axis: int) -> bool:
        return _is_in_kernel() and bool(NUMPY.is_moderate(array.note_break("bool"), axis))

    def ends(self, index: Any) -> Any:
        return NUMPY.ends(index.note_break("ends") if index.__class__ is ProgramArray else index)

    def extremes(self, index: Any) -> Any:
        return None

    def holds(self, valid: Any) -> bool:
        recorder = current_recorder()
        if recorder is None or valid.__class__ is not ProgramArray or not valid.host.all():
            return bool(NUMPY.holds(valid))
        recorder.add(Kind.CHECK, "holds", _check_true, (valid.value(),), {})
        return True

    def check_indices(self, *args: Any, **kwargs: Any) -> None:
        _check("check_indices", args, kwargs)

    def check_extremes(self, *args: Any, **kwargs: Any) -> None:
        _check("check_extremes", args, kwargs)

    def check_all(self, *args: Any, **kwargs: Any) -> None:
        _check("check_all", args, kwargs)

    # -- memory -----------------------------------------------------------------------------

    def is_view(self, out: Any, source: Any) -> bool:
        return out is source or self.owner(out) == self.owner(source)

    def owner(self, array: Any) -> Any:
        if array.__class__ is ProgramArray:
            return array.memory.store.key
        return NUMPY.owner(array)

    def address(self, array: Any) -> int:
        return int(NUMPY.address(unwrap(array)))

    def memory(self, array: Any) -> Any:
        if array.__class__ is not ProgramArray:
            return NUMPY.memory(array)
        return whole_memory(self, array)

    def asarray(self, a: Any, dtype: Any = None) -> Any:
        if a.__class__ is ProgramArray and (dtype is None or a.dtype == dtype):
            return a
        return _call("numpy.asarray", numpy.asarray, a, dtype=dtype)

    def write_item(self, target: Any, index: Any, value: Any) -> None:
        target[index] = value

    def write_zeros(self, target: Any) -> None:
        target.fill(0)

    def readonly(self, array: Any) -> bool:
        return bool(NUMPY.readonly(unwrap(array)))

    def memory_is_readonly(self, array: Any) -> bool:
        return bool(NUMPY.memory_is_readonly(unwrap(array)))

    def writable(self, array: Any) -> Any:
        return array if array.flags.writeable else _call("xp.writable", NUMPY.writable, array)

    def writable_view(self, array: Any) -> Any:
        return _call("xp.writable_view", NUMPY.writable_view, array)

    def is_shared(self, array: Any) -> bool:
        return bool(NUMPY.is_shared(unwrap(array)))

    def move_to_shared(self, array: Any) -> Any:
        raise NotImplementedError("share_memory_() cannot be recorded")

    @property
    def row_starts(self) -> Any:
        """Offsets of rows, which depend on shapes alone."""
        return NUMPY.row_starts

    @property
    def lane_starts(self) -> Any:
        """Offsets of lanes, which depend on shapes alone."""
        return NUMPY.lane_starts

    # -- functions that call functions of arrays --------------------------------------------

    def blockwise(self, function: Callable[..., Any], *arrays: Any, unit: int = 1) -> Any:
        return Backend.blockwise(self, function, *arrays, unit=unit)

    def in_parts(self, work: Any, count: int, products: bool = False) -> list[Any]:
        return [work(0, count)]

    def row_after_row(self, row: int, size: int) -> Any:
        return Backend.row_after_row(self, row, size)

    def scan(self, combine: Any, array: Any, axis: int) -> Any:
        return Backend.scan(self, combine, array, axis)

    def special(self, name: str) -> Any:
        return functools.partial(_call, f"special.{name}", NUMPY.special(name))

    def kernel(self, name: str) -> Callable[..., Any] | None:
        return _LEAVES.get(name)

    def run_kernel(self, operation: Any, values: tuple[Any, ...], out: Any) -> Any:
        run = operation.run
        if out is not None:
            return run(self, values, out, False)
        return _run_recorded(operation.name, lambda xp, *args: run(xp, args, None, False), values)

    def call(self, operation: Any, *args: Any, **kwargs: Any) -> Any:
        name = getattr(operation, "op", operation).name
        return _run_recorded(name, functools.partial(_run_kernel, operation.kernel, kwargs), args)

    # -- random numbers ---------------------------------------------------------------------

    def make_generator(self, seed: int) -> Any:
        from .draws import make_engine

        return make_engine(seed)

    def drawing(self, engine: Any) -> Any:
        """Return the engine whose draws are recorded."""
        from .draws import record_draws

        return record_draws(engine)


#: Breaks that a kernel may have which is recorded as one call: the shapes of its results do not
#: depend on what it reads, or a replay raises.
READ_ALONE = frozenset(("bool", "int", "float", "item", "tolist", "numpy", "ends", "index"))


class StaleProgramError(RuntimeError):
    """The numbers of a replay lead to other shapes than those that were recorded."""


def _is_in_kernel() -> bool:
    """Whether this thread records a kernel."""
    recorder = current_recorder()
    return recorder is not None and recorder.kernels > 0


def _run_kernel(kernel: Callable[..., Any], kwargs: Any, xp: Any, *args: Any) -> Any:
    return kernel(xp, *args, **kwargs)


def _run_recorded(name: str, run: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Call ``run(xp, *values)``; if it reads numbers, but writes nothing, record it as one call.

    Its results then have the shapes of this call, or a replay raises.
    """
    recorder = current_recorder()
    if recorder is None:
        return run(RECORDING, *values)
    before = [(array, array.value(), array.memory.store.version) for array in arrays_in(values)]
    mark = recorder.mark()
    recorder.kernels += 1
    try:
        result = run(RECORDING, *values)
    finally:
        recorder.kernels -= 1
    read = mark.new_breaks()
    if not read or any(what not in READ_ALONE for what, _ in read):
        return result
    if any(array.memory.store.version != version for array, _, version in before):
        return result
    kind = Kind.DRAW if mark.take_back() else Kind.CALL
    leaf = KernelCall(name, run, [_layout(each) for each in _flat(result)])
    result = call(f"op.{name}", leaf, values, {}, kind)
    recorder.see_engines()
    return result


def _check_true(valid: Any) -> None:
    """Raise StaleProgramError unless all elements are True, as they were when recorded."""
    if not valid.all():
        raise StaleProgramError("a condition does not hold that held when the program was recorded")


def _flat(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _layout(array: Any) -> Any:
    """Shape and dtype of a result."""
    return (array.shape, array.dtype) if hasattr(array, "dtype") else None


class KernelCall:
    """Kernel of an operation on a backend, which checks the shapes of its results.

    Args:
        name: Name of the operation.
        run: Function of a backend and the arguments.
        layouts: Shape and dtype of each result.
        backend: The backend.
    """

    __slots__ = ("backend", "layouts", "name", "run")

    def __init__(
        self, name: str, run: Callable[..., Any], layouts: list[Any], backend: Any = NUMPY
    ) -> None:
        self.name, self.run, self.layouts, self.backend = name, run, layouts, backend

    def __call__(self, *values: Any) -> Any:
        result = self.run(self.backend, *values)
        if [_layout(each) for each in _flat(result)] != self.layouts:
            raise StaleProgramError(
                f"{self.name}: the shape of a result depends on values, and differs from the "
                "recorded one"
            )
        return result


def _check(name: str, args: Any, kwargs: Any) -> None:
    """Record a check, which raises the same error at a replay."""
    recorder = current_recorder()
    function = getattr(NUMPY, name)
    if recorder is not None and has_arrays((args, kwargs)):
        recorder.add(Kind.CHECK, f"xp.{name}", function, symbols(args), symbols(kwargs))
    function(*map_tree(unwrap, args), **map_tree(unwrap, kwargs))


#: Methods of the NumPy backend that write to their first argument.
_MUTATING_METHODS = "add_scaled write_masked index_add".split()
#: Methods that are about dtypes and devices, and need no values.
_HOST_METHODS = (
    "native_dtype supports exposes names_of_dtypes kernel_accepts_reduced dtype_of dtype_of_native "
    "adopt unwrap errstate raising check_numbers number call fused device_index synchronize "
    "devices info here at on_device holding in_use receive download pinned is_pinned check_read "
    "served serve_library index_combine run_kernel drawing"
).split()  # fmt: skip


def _method(name: str) -> Callable[..., Any]:
    function = getattr(NUMPY, name)

    def method(self: RecordingBackend, *args: Any, **kwargs: Any) -> Any:
        return call_named(f"xp.{name}", False, function, *args, **kwargs)

    method.__name__, method.__doc__ = name, function.__doc__
    return method


def _mutating_method(name: str) -> Callable[..., Any]:
    function = getattr(NUMPY, name)

    def method(self: RecordingBackend, *args: Any, **kwargs: Any) -> Any:
        places = [i for i, arg in enumerate(args) if arg.__class__ is TracedNumber]
        names = [key for key, arg in kwargs.items() if arg.__class__ is TracedNumber]
        kwargs.pop("buffer", None)
        run = WithFloats(function, frozenset((*places, *names))) if places or names else function
        mutate(f"xp.{name}", run, args, kwargs)

    method.__name__, method.__doc__ = name, function.__doc__
    return method


def _install_methods() -> None:
    """Record every other method of the NumPy backend as one call."""
    own = vars(RecordingBackend)
    for name in dir(NumpyBackend):
        value = getattr(NUMPY, name, None)
        if name.startswith("_") or name in own or name in _HOST_METHODS or not callable(value):
            continue
        if isinstance(value, (type, numpy.ufunc)):
            continue
        make = _mutating_method if name in _MUTATING_METHODS else _method
        setattr(RecordingBackend, name, make(name))


_install_methods()


def _leaf(name: str, lacks_bias: bool) -> Callable[..., Any]:
    """Return the kernel of an operation as one call."""

    def kernel(*args: Any) -> Any:
        from ..dispatch.op import OPS

        if lacks_bias:
            args = (*args[:2], None, *args[2:])
        return call(f"op.{name}", functools.partial(OPS[name].kernel, NUMPY), args, {})

    return kernel


#: Operations that are one call, by the names of the backend's own kernels.
_LEAVES = {
    name: _leaf(f"_{name}", name == "conv_input") for name in ("conv", "conv_input", "conv_weight")
}

RECORDING = RecordingBackend()
