"""Calls of operations that a model makes, at one or several sizes of its inputs.

A trace has the calls of public operations with their arguments, in order. Tensors stand for the
values of the recorded program (``capture``), so that views and in-place changes are followed, and a
number that the model reads from a tensor is noticed.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from ..capture.arrays import ProgramArray
from ..capture.graph import Value, values_in
from ..capture.recorder import caller
from ..capture.recording import Recording, record
from ..capture.trees import tensors_in
from ..core.tensor import Tensor
from ..nn.module import Module
from ..nn.rnn import GRU, LSTM, RNN
from ..state import bind, no_grad
from ..state.bindings import contextmanager
from ..state.recorder import RECORDER


class ExportError(RuntimeError):
    """A model cannot be exported; the message names the operation and the line."""


class Size(int):
    """Size that depends on the sizes of inputs: an integer, and its formula.

    As an int it is the size of the example.

    Attributes:
        terms: Factor of each named dimension; None if the size is no sum of multiples of them.
        constant: The rest.
    """

    terms: dict[str, int] | None
    constant: int

    @staticmethod
    def make(size: int, constant: int, terms: dict[str, int] | None) -> Size:
        """Return ``constant`` plus the sum of the terms, which is ``size`` in the example."""
        found = Size(size)
        found.constant, found.terms = constant, terms
        return found

    def evaluate(self, sizes: dict[str, int]) -> int | None:
        """Return its value for other sizes of the dimensions; None if that is unknown."""
        if self.terms is None:
            return None
        return self.constant + sum(factor * sizes[name] for name, factor in self.terms.items())

    def __repr__(self) -> str:
        if self.terms is None:
            return "?"
        parts = [f"{factor}*{name}" if factor != 1 else name for name, factor in self.terms.items()]
        return " + ".join([*parts, *([str(self.constant)] if self.constant else [])])


@dataclass(eq=False)
class Ref:
    """A tensor at one point of a trace.

    Attributes:
        value: Its value in the recorded program.
        shape: Its sizes; a ``Size`` where a size depends on the inputs.
        dtype: NumPy's dtype.
        array: The elements in the example.
        tensor: The tensor itself; None of an array that an operation has made of one.
        version: Number of constants that the trace had changed in place before.
    """

    value: Value
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    array: numpy.ndarray[Any, Any]
    tensor: Any = None
    version: int = sys.maxsize


@dataclass
class OperationCall:
    """Call of an operation.

    Attributes:
        name: Its name.
        arguments: Its arguments by name; tensors are ``Ref``.
        results: The tensors that it returned.
        line: ``file:line`` of the caller.
        module: Path and class of the module whose ``forward`` called it.
        operation: Its qualified name in the registry; "" of a layer.
        args, options: Its arguments as they were passed.
        outer: Name of the composite operation around it, if there is one.
        written: The tensor to which it assigned items, afterwards.
    """

    name: str
    arguments: dict[str, Any]
    results: list[Ref]
    line: str
    module: tuple[str, str] = ("", "")
    operation: str = ""
    args: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    outer: str = ""
    written: Ref | None = None

    @property
    def public_name(self) -> str:
        """Name of the composite operation around the call, or else its own name."""
        return self.outer or self.name


@dataclass
class ModuleCalls:
    """Calls of one module.

    Attributes:
        kind: Name of its class.
        count: Number of calls.
        result: What the last call returned: a tensor, or tuples, lists and dicts of them; None for
            all else.
    """

    kind: str
    count: int = 0
    result: Any = None


@dataclass
class Trace:
    """Calls of one run.

    Attributes:
        calls: The calls.
        inputs, outputs: The tensors that went in and came out.
        result: What the model returned; tensors are ``Ref``.
        modules: The modules of the model by path, in the order of ``named_modules``.
        writes: Each constant that was changed in place, and its elements before.
        changed_buffers: Names of the model's buffers that it changed; they were restored.
        recording: The recorded program.
    """

    calls: list[OperationCall] = field(default_factory=list)
    inputs: list[Ref] = field(default_factory=list)
    outputs: list[Ref] = field(default_factory=list)
    result: Any = None
    modules: dict[str, ModuleCalls] = field(default_factory=dict)
    writes: list[tuple[Any, Any]] = field(default_factory=list)
    changed_buffers: list[str] = field(default_factory=list)
    recording: Recording | None = None

    def elements(self, ref: Ref) -> Any:
        """Return the elements that a constant had when the reference was made.

        They are None if they were changed afterwards through another view.
        """
        for array, before in self.writes[ref.version :]:
            if numpy.may_share_memory(array, ref.array):
                is_same = array.__array_interface__ == ref.array.__array_interface__
                return before if is_same else None
        return ref.array


def map_refs(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to the leaves of nested tuples, lists, dicts and slices."""
    if isinstance(tree, (tuple, list)):
        items = [map_refs(function, item) for item in tree]
        return tuple(items) if isinstance(tree, tuple) else items
    if isinstance(tree, dict):
        return {key: map_refs(function, item) for key, item in tree.items()}
    if isinstance(tree, slice):
        return slice(*[map_refs(function, item) for item in (tree.start, tree.stop, tree.step)])
    return function(tree)


def _as_ref(item: Any) -> Any:
    """Return a ``Ref`` for a tensor or a recorded array, anything else as it is."""
    data = item._data if isinstance(item, Tensor) else item
    if data.__class__ is ProgramArray:
        tensor = item if isinstance(item, Tensor) else None
        return Ref(data.value(), tuple(data.shape), data.dtype, data.host, tensor)
    if isinstance(item, Tensor):
        raise ExportError("expected tensors on the NumPy backend")
    return item


class _CallLog:
    """Profiler that keeps the calls of operations.

    Args:
        known: Names of the operations that are kept whole; others are kept if they have no
            operations inside.
    """

    def __init__(self, known: Container[str]) -> None:
        self.calls: list[OperationCall] = []
        self.module = ("", "")
        self.modules: dict[str, ModuleCalls] = {}
        self.writes: list[tuple[Any, Any]] = []
        self.depends: dict[Value, bool] = {}
        self._known, self._inside = known, False
        self._outer = ""

    def operation(self, name: str, run: Callable[[], Any], op: Any, args: Any, options: Any) -> Any:
        """Run an operation, and keep its call."""
        is_leaf = op is not None and getattr(op, "kernel", None) is not None
        if self._inside:
            return run()
        if not (name in self._known or is_leaf):
            return self._run_composite(name, run)
        names = op.plan.params if op is not None else ()
        named = dict(zip(names, args, strict=False))
        named.update(options)
        if len(args) > len(names):
            named["args"] = tuple(args) if not names else tuple(args[len(names) - 1 :])
        named = map_refs(self._ref, named)  # before a change in place
        passed = map_refs(self._ref, tuple(args)), map_refs(self._ref, dict(options))
        if name == "_setitem_" or (name.endswith("_") and name[0] != "_"):
            self._save_constant(next(iter(named.values()), None))
        self._save_constant(named.get("out"))
        result = self.keep(name, named, run, getattr(op, "qualname", name), *passed)
        if name == "_setitem_":
            self.calls[-1].written = self._ref(args[0])
        return result

    def _ref(self, item: Any) -> Any:
        """Return a ``Ref`` of the current version for a tensor, anything else as it is."""
        found = _as_ref(item)
        if isinstance(found, Ref) and found is not item:
            found.version = len(self.writes)
        return found

    def _save_constant(self, ref: Any) -> None:
        """Keep the elements of a tensor that does not depend on the inputs, before a change."""
        if isinstance(ref, Ref) and not depends_on_arguments(ref.value, self.depends):
            self.writes.append((ref.array, ref.array.copy()))

    def _run_composite(self, name: str, run: Callable[[], Any]) -> Any:
        """Run a composite operation, whose operations are kept instead."""
        outer, self._outer = self._outer, self._outer or name
        try:
            return run()
        finally:
            self._outer = outer

    def keep(
        self, name: str, named: dict[str, Any], run: Callable[[], Any], *operation: Any
    ) -> Any:
        """Call ``run`` and keep it as one call, without the operations inside."""
        if self._inside:
            return run()
        arguments, line = map_refs(self._ref, named), caller()
        self._inside = True
        try:
            result = run()
        finally:
            self._inside = False
        results = [self._ref(tensor) for tensor in tensors_in(result)]
        call = OperationCall(name, arguments, results, line, self.module, *operation)
        call.outer = self._outer
        self.calls.append(call)
        return result

    def visits(self, visit: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """Return ``visit``; there is no backward pass."""
        return visit

    def accumulations(self, accumulate: Any) -> Any:
        """Return ``accumulate``; there is no backward pass."""
        return accumulate

    def part(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Return a scope that does nothing."""
        return contextlib.nullcontext()


_RECURRENT = {LSTM: "nn.LSTM", GRU: "nn.GRU", RNN: "nn.RNN"}


def _modules_of(model: Any) -> list[Module]:
    """Return a model that is a module, or the modules that a function names."""
    if isinstance(model, Module) or not inspect.isfunction(model):
        return [model] if isinstance(model, Module) else []
    names = inspect.getclosurevars(model)
    return [
        m for m in (*names.nonlocals.values(), *names.globals.values()) if isinstance(m, Module)
    ]


@contextmanager
def _watched_modules(model: Any, log: _CallLog, whole_layers: bool) -> Iterator[None]:
    """Name the modules in calls, and keep each call of a recurrent layer as one if wanted."""
    found = {m: name for top in _modules_of(model) for name, m in reversed([*top.named_modules()])}
    names = {name: type(module).__name__ for module, name in reversed(found.items())}
    log.modules = {name: ModuleCalls(kind) for name, kind in names.items()}
    for module, name in found.items():
        kind = _RECURRENT.get(type(module)) if whole_layers else None
        module.forward = _watch(module, name, kind, log)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for module in found:
            del module.forward


def _watch(module: Module, name: str, kind: str | None, log: _CallLog) -> Callable[..., Any]:
    """Return a forward function that tells the log of the module."""
    forward = module.forward

    def run(*args: Any, **options: Any) -> Any:
        outer, log.module = log.module, (name, type(module).__name__)
        calls = log.modules[name]
        calls.count += 1
        try:
            result = forward(*args, **options)
        finally:
            log.module = outer
        calls.result = map_refs(_as_ref, result)
        return result

    def keep(input: Any, state: Any = None) -> Any:
        named = {"layer": module, "input": input, "state": state}
        named.update(module.named_parameters())
        return log.keep(str(kind), named, lambda: run(input, state))

    return run if kind is None else keep


@contextmanager
def _restored_buffers(model: Any, changed: list[str]) -> Iterator[None]:
    """Restore the buffers of a model, and add the names of those that it has changed."""
    pairs = [pair for top in _modules_of(model) for pair in top.named_buffers()]
    buffers = [(name, b) for name, b in pairs if isinstance(b._data, b._xp.array_type)]
    before = [numpy.array(b._xp.to_numpy(b._data)) for _, b in buffers]
    try:
        yield
    finally:
        for (name, buffer), array in zip(buffers, before, strict=True):
            if buffer._xp.to_numpy(buffer._data).tobytes() != array.tobytes():
                changed.append(name)
                buffer._data[...] = buffer._xp.from_numpy(array)


def trace(
    model: Callable[..., Any],
    args: Sequence[Any],
    known: Container[str],
    whole_layers: bool = False,
) -> Trace:
    """Run a model on tensors, and return its calls.

    Args:
        model: Module or function.
        args: Its arguments, with tensors at any depth.
        known: Names of the operations that are kept whole.
        whole_layers: Whether a call of a recurrent layer is one call.

    Raises:
        ExportError: If the model reads a number from a tensor.
    """
    log, found = _CallLog(known), Trace()
    tensors = tensors_in(args)

    def run() -> Any:
        found.inputs = [_as_ref(tensor) for tensor in tensors]
        log.depends = {ref.value: True for ref in found.inputs}
        result = model(*args)
        found.result = map_refs(_as_ref, result)
        map_refs(lambda x: found.outputs.append(x) if isinstance(x, Ref) else None, found.result)
        return result

    with (
        bind(RECORDER, log),
        no_grad(),
        _watched_modules(model, log, whole_layers),
        _restored_buffers(model, found.changed_buffers),
    ):
        found.recording = record(run, tensors)
    for what, line in found.recording.breaks:
        raise ExportError(
            f"{line} reads a number from a tensor ({what}), which would be the same "
            "at each run of the exported model"
        )
    found.calls, found.modules, found.writes = log.calls, log.modules, log.writes
    return found


def depends_on_arguments(value: Value, known: dict[Value, bool]) -> bool:
    """Whether a value is computed from an input of the model; ``known`` holds what is settled."""
    pending = [value]
    while pending:
        last = pending[-1]
        node = last.node
        before = [] if node is None else [*values_in(node.args), *values_in(node.kwargs)]
        rest = [each for each in before if each not in known]
        if last in known or not rest:
            known.setdefault(last, any(known[each] for each in before))
            pending.pop()
        else:
            pending.extend(rest)
    return known[value]


def merge(
    base: Trace, traces: dict[str, tuple[int, Trace]], last: Trace, here: dict[str, int],
    there: dict[str, int],
) -> None:  # fmt: skip
    """Replace sizes in ``base`` by formulas.

    Args:
        base: The trace of the example.
        traces: For each named dimension another size, and the trace in which it alone has it.
        last: A trace with other sizes of all dimensions, which shows where a size is no sum of
            multiples of them.
        here, there: The sizes of the named dimensions in ``base`` and in ``last``.

    Raises:
        ExportError: If the traces differ in more than sizes.
    """
    for name, (size, other) in traces.items():
        _merge_one(base, other, functools.partial(_add_term, name, here[name], size))
    _merge_one(base, last, lambda old, new: _check_formula(old, int(new), there))


def _add_term(name: str, size: int, other: int, old: int, new: int) -> int:
    """Return a size that becomes ``new`` where the dimension ``name`` has ``other``."""
    factor, rest = divmod(int(new) - int(old), other - size)
    if not factor and not rest:
        return old
    constant, terms = (old.constant, old.terms) if isinstance(old, Size) else (int(old), {})
    if rest or terms is None:
        return Size.make(int(old), 0, None)
    return Size.make(int(old), constant - factor * size, {**(terms or {}), name: factor})


def _check_formula(old: int, new: int, sizes: dict[str, int]) -> int:
    """Return ``old`` if its formula gives ``new``, else a size without a formula."""
    expected = old.evaluate(sizes) if isinstance(old, Size) else old
    return old if expected == new else Size.make(int(old), 0, None)


def _merge_one(base: Trace, other: Trace, join: Callable[[int, int], int]) -> None:
    """Replace each integer in ``base`` by ``join`` of it and its twin in ``other``."""
    pairs = itertools.zip_longest(base.calls, other.calls)
    for call, twin in pairs:
        if call is None or twin is None or call.name != twin.name:
            at = call or base.calls[-1]
            raise ExportError(
                "the model runs other operations for inputs of other sizes, beginning "
                f"with {at.name!r} at {at.line}"
            )
        merger = _SizeMerger(join, call)
        call.arguments = merger.merge(call.arguments, twin.arguments)
        call.args = merger.merge(call.args, twin.args)
        call.options = merger.merge(call.options, twin.options)
        call.results = merger.merge(call.results, twin.results)
    whole = _SizeMerger(join, OperationCall("the model", {}, [], "its end"))
    base.inputs = whole.merge(base.inputs, other.inputs)
    base.result = whole.merge(base.result, other.result)


class _SizeMerger:
    """Comparison of the arguments of one call in two traces."""

    def __init__(self, join: Callable[[int, int], int], call: OperationCall) -> None:
        self._join, self._call = join, call

    def merge(self, old: Any, new: Any) -> Any:
        """Return ``old`` with its integers joined with those of ``new``."""
        if isinstance(old, Ref):
            old.shape = self.merge(old.shape, new.shape)
        elif isinstance(old, dict):
            return {key: self.merge(old[key], new[key]) for key in old}
        elif isinstance(old, (tuple, list)):
            if len(old) != len(new):
                raise self._error(f"{len(old)} and {len(new)} items")
            items = [self.merge(a, b) for a, b in zip(old, new, strict=True)]
            return tuple(items) if isinstance(old, tuple) else items
        elif isinstance(old, slice):
            parts = [
                self.merge(getattr(old, p), getattr(new, p)) for p in ("start", "stop", "step")
            ]
            return slice(*parts)
        elif isinstance(old, int) and not isinstance(old, bool):
            return self._join(old, new)
        elif isinstance(old, (float, str)) and old != new:
            raise self._error(f"{old!r} and {new!r}")
        return old

    def _error(self, found: str) -> ExportError:
        return ExportError(
            f"an argument of {self._call.name!r} at {self._call.line} depends on the sizes of the "
            f"inputs and is no sum of multiples of them: {found} for two sizes"
        )
