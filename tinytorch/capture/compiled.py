"""A compiled function: its recordings, when it records anew, and when it runs eagerly.

A call whose guards match a recording replays it. Another call runs the function once, on real
values, and records it. If something makes a replay wrong (a value of a tensor is read, a list is
appended to), the call goes on to its end as it is, and later calls with these guards run eagerly.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable
from typing import Any

from ..backends.weak_references import WeakValues
from ..optim.lr_scheduler import LRScheduler
from ..optim.optimizer import Optimizer
from ..state import current_backend
from ..state.recorder import RECORDER
from ..warnings import warn
from . import config
from .check import check_replay
from .entry import (
    SET, Choice, GuardedEntry, Listed, Refusal, parts_from_outside, used_inputs,
)  # fmt: skip
from .errors import FailOnRecompileLimitHit, RecompileError, Unsupported
from .guards import (
    SeparateMemory, Signature, calls_cupy, is_eager_scope, is_lazy, other_backend,
    unsupported_tensor,
)  # fmt: skip
from .node import ProgramCall
from .reach import Reach
from .record_call import CallRecording, record_call
from .recorder import _recorders, current_recorder
from .settings import CompileOptions, stance
from .side_effects import SideEffects

#: How often a call whose recording stands for itself alone is recorded again before later calls
#: run eagerly: what a first call creates (an optimizer's state) is there at the second.
_ATTEMPTS = 3
_all: WeakValues[int, Compiled] = WeakValues()


class Compiled:
    """Function with its recordings.

    Args:
        function: The function; a bound method of a module for a module.
        options: The options of ``compile``.

    Attributes:
        entries: The recordings and the decisions to run eagerly.
        breaks: The reasons of the latter, in order.
    """

    def __init__(self, function: Callable[..., Any], options: CompileOptions) -> None:
        self.function, self.options = function, options
        #: Held by the thread that records.
        self._recording = threading.Lock()
        self.clear()
        _all[id(self)] = self

    def clear(self) -> None:
        """Forget all recordings."""
        self.entries: tuple[GuardedEntry, ...] = ()
        self.breaks: list[str] = []
        self._tries: list[tuple[Any, int]] = []
        self._has_warned = False

    def __reduce__(self) -> Any:
        return Compiled, (self.function, self.options)

    @property
    def name(self) -> str:
        """Name of the function, for messages."""
        owner = getattr(self.function, "__self__", None)
        if owner is not None and getattr(self.function, "__name__", "") in ("__call__", "forward"):
            return type(owner).__name__
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    # -- calls -------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _recorders and current_recorder() is not None:
            return self.function(*args, **kwargs)
        if config.disable or stance.name == "force_eager":
            return self.function(*args, **kwargs)
        backend = current_backend()
        if is_eager_scope(backend):
            return self.function(*args, **kwargs)
        reason = other_backend(backend, self.options.engine, self.options.check)
        if reason:
            return self._run_eagerly(reason, args, kwargs)
        signature = Signature(backend, args, kwargs)
        for entry in self.entries:
            if entry.matches(signature):
                return self._replay(entry, signature, args, kwargs)
        return self._miss(signature, args, kwargs)

    def _replay(
        self, entry: GuardedEntry, signature: Signature, args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:  # fmt: skip
        """Run a recording, or the function if it was decided so."""
        if entry.reason:
            return self._run_eagerly(entry.reason, args, kwargs)
        again = functools.partial(self.function, *args, **kwargs)
        if entry.call.times_recorded_again and entry.call.is_differentiated_twice():
            return again()
        if self.options.check:
            listed = Listed(signature.unique(), entry.reach.tensors.values())
            return check_replay(self.name, entry, signature, listed.tensors, again)
        profiler = RECORDER.get()
        if profiler is None:
            return entry.call(signature, again)
        with profiler.part(f"compiled {self.name}: {', '.join(entry.call.operations())}"):
            return entry.call(signature, again)

    def _run_eagerly(self, reason: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function; an error with ``fullgraph=True``, else one warning."""
        self._refuse(reason)
        return self.function(*args, **kwargs)

    def _refuse(self, reason: str) -> None:
        """Raise an error with ``fullgraph=True``; else warn once."""
        if self.options.fullgraph:
            raise Unsupported(f"{self.name} cannot be compiled with fullgraph=True: {reason}")
        if not self._has_warned and not self.options.quiet:
            self._has_warned = True
            warn(f"{self.name} is compiled, but runs eagerly: {reason}")

    def will_retry(self) -> bool:
        """Whether a call was recorded for itself alone, and the next one is recorded again."""
        return bool(self._tries) and not self.entries

    # -- recording ---------------------------------------------------------------------

    def _miss(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call, unless something forbids it."""
        if stance.name == "fail_on_recompile" or (self.entries and config.error_on_recompile):
            raise RecompileError(
                f"{self.name} would be recorded anew: no recording has the guards of this call"
            )
        if stance.name == "eager_on_recompile":
            return self.function(*args, **kwargs)
        if len(self.entries) >= config.find_limit():
            return self._exceed(args, kwargs)
        if signature.unsupported:
            return self._run_eagerly(signature.unsupported, args, kwargs)
        objects = [(type(each).__name__, each) for each in signature.objects]
        reach = Reach([(self.name, self.function), *objects])
        if is_lazy(reach.tensors.values()):
            return self.function(*args, **kwargs)
        tensors = [*signature.tensors, *reach.tensors.values()]
        reason = unsupported_tensor(tensors) or unsupported_tensor(
            tensor._grad for tensor in tensors if tensor._grad is not None
        )
        if reach.has_hooks():
            reason = "a module has a hook of Python"
        elif calls_cupy(reach):
            reason = "it calls CuPy itself"
        reason = reason or reach.unsearched
        if reason:
            self._add(GuardedEntry(signature, reach, reason))
            return self._run_eagerly(reason, args, kwargs)
        if self._is_first_step(signature, reach):
            return self.function(*args, **kwargs)
        if not self._recording.acquire(blocking=False):  # waiting could be a deadlock
            return self.function(*args, **kwargs)
        try:
            return self._record(signature, reach, args, kwargs)
        finally:
            self._recording.release()

    def _is_first_step(self, signature: Signature, reach: Reach) -> bool:
        """Whether a call is a first step of training, which creates gradients and state.

        A recording of it would stand for itself alone. With ``fullgraph=True`` it is recorded:
        a break is an error then.
        """
        if self.options.fullgraph or any(key == signature.key for key, _ in self._tries):
            return False
        optimizers = [each for each in reach.objects.values() if isinstance(each, Optimizer)]
        leaves = [t for t in reach.tensors.values() if t.requires_grad and t.is_leaf]
        if not optimizers and (not leaves or "backward" not in reach.names):
            return False
        if any(each.state for each in optimizers) or any(leaf._grad is not None for leaf in leaves):
            return False
        self._tries.append((signature.key, 1))
        return True

    def _exceed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call eagerly since the function was recorded as often as the limit allows."""
        limit = config.find_limit()
        message = (
            f"recompile_limit reached: {self.name} was recorded {limit} times, with different "
            "guards; other calls run eagerly (torch._dynamo.config.recompile_limit)"
        )
        if self.options.fullgraph or config.fail_on_recompile_limit_hit:
            raise FailOnRecompileLimitHit(message)
        return self._run_eagerly(message, args, kwargs)

    def _record(
        self, signature: Signature, reach: Reach, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:  # fmt: skip
        """Run the function once, and keep its recording."""
        listed = Listed(signature.unique(), reach.tensors.values())
        entry = GuardedEntry(signature, reach)
        effects = SideEffects(reach, signature.containers)
        memory = SeparateMemory(signature.unique(), reach.tensors.values())
        with memory, effects.watching():
            call = record_call(functools.partial(self.function, *args, **kwargs), listed.tensors)
        with contextlib.closing(call.recorder):
            return self._keep(entry, signature, call, listed, effects, memory)

    def _keep(
        self, entry: GuardedEntry, signature: Signature, call: CallRecording, listed: Listed,
        effects: SideEffects, memory: SeparateMemory,
    ) -> Any:  # fmt: skip
        """Keep a recording, or the decision to run eagerly; return the result of the call."""
        reasons, redone = find_reasons(call, effects), entries_of_actions(call)
        changes = [
            change for change in effects.changes()
            if change.where not in redone and (change.where or (0,))[0] not in redone
        ]  # fmt: skip
        changes.sort(key=lambda change: change.is_first)
        lasting = bool(reasons) or not all(change.is_first for change in changes)
        reasons += [f"it changes {change.name}" for change in changes] + call.recorder.once
        if not reasons:
            try:
                with memory:
                    check_writes(call, listed, memory)
                    guard_shared_memory(entry, call, listed)
                    guard_grads(entry, call, listed)
                    outside = parts_from_outside(entry.reach, signature)
                    entry.call = ProgramCall(call, listed, self.options.engine, outside)
            except Refusal as refusal:
                reasons, lasting = [str(refusal)], True
        if reasons:
            entry.is_guarded = not changes
            self._give_up(entry, signature, reasons[0], lasting)
            return call.result
        if not call.has_passes:
            entry.reach = Reach(entry.reach.roots, has_passes=False)
        if redone:
            entry.reach.exclude(redone)
        entry.guard_numbers(call.recorder.guards)
        entry.guard_counts([
            Choice([call.sources[i].index for i in count.inputs], listed)
            for count in call.recorder.counts.values() if len(count.inputs) > 1
        ])  # fmt: skip
        self._tries = [(key, n) for key, n in self._tries if key != signature.key]
        self._add(entry)
        return call.result

    def _give_up(
        self, entry: GuardedEntry, signature: Signature, reason: str, lasting: bool
    ) -> None:
        """Run later calls with these guards eagerly, at once or after some more attempts."""
        if not lasting:
            tries = next((n for key, n in self._tries if key == signature.key), 0) + 1
            self._tries = [(key, n) for key, n in self._tries if key != signature.key]
            self._tries.append((signature.key, tries))
            # Of calls whose arguments always differ no more are recorded than the limit allows.
            if tries < _ATTEMPTS and len(self._tries) <= config.find_limit():
                return
        self.breaks.append(reason)
        entry.reason = reason
        self._add(entry)
        self._refuse(reason)

    def _add(self, entry: GuardedEntry) -> None:
        """Keep a recording."""
        self.entries = (entry, *self.entries)


class CompiledForward:
    """``forward`` of a module of which ``Module.compile()`` was called, in its ``__dict__``.

    Args:
        module: The module.
        options: The options of ``compile``.
    """

    def __init__(self, module: Any, options: CompileOptions) -> None:
        self.module, self.options = module, options
        self._compiled: Compiled | None = None

    @property
    def __wrapped__(self) -> Any:
        """The method of the class, for ``inspect.signature``."""
        return type(self.module).forward.__get__(self.module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._compiled is None:
            self._compiled = Compiled(self.__wrapped__, self.options)
        return self._compiled(*args, **kwargs)

    def __reduce__(self) -> Any:
        return CompiledForward, (self.module, self.options)


def find_reasons(call: CallRecording, effects: SideEffects) -> list[str]:
    """Return why a recording must not be replayed, apart from what has changed."""
    breaks = [f"{what} reads a value of a tensor, at {line}" for what, line in call.recorder.breaks]
    calls = [f"it calls {name}" for name in effects.calls()]
    return [*breaks, *calls, *call.reasons]


def check_writes(call: CallRecording, listed: Listed, memory: SeparateMemory) -> None:
    """Raise Refusal if the function writes to a tensor that shares memory with an argument."""
    shared = set(map(id, memory.tensors))
    for number, _ in call.writes:
        source = call.sources[number]
        if source.kind == "argument" and id(listed.tensors[source.index]) in shared:
            raise Refusal("it writes to an argument that shares memory with another tensor")


def entries_of_actions(call: CallRecording) -> set[Any]:
    """Return the entries of containers that replays read as numbers, or change by actions.

    These are hyperparameters of optimizers that are traced, and the attributes of schedulers.
    """
    recorder = call.recorder
    found: set[Any] = {key[:2] for key in recorder.numbers}
    pending, seen = list(recorder.acting), set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Optimizer):
            groups = value.param_groups
            found |= {(id(g), name) for g in groups for name in g if name != "params"}
        elif isinstance(value, (list, dict)):
            found |= {(id(value), None), id(value)}
            pending += value.values() if isinstance(value, dict) else value
        elif isinstance(value, LRScheduler):
            pending.append(vars(value))
    return found


def guard_shared_memory(entry: GuardedEntry, call: CallRecording, listed: Listed) -> None:
    """Guard the arrays of tensors if several are parts of one memory, which the program reads.

    Raises:
        Refusal: If gradients are.
    """
    shared = [source.index for source in call.sources if source.kind == "argument" and source.root]
    if any(place in listed.owners for place in shared):
        raise Refusal("gradients of parameters share memory")
    entry.tensors.is_strict = bool(shared)


def guard_grads(entry: GuardedEntry, call: CallRecording, listed: Listed) -> None:
    """Guard gradients if the function reads or sets any: whether they are None, at least.

    Raises:
        Refusal: If it reads the gradient of an argument.
    """
    used = used_inputs(call.program)
    pairs = zip(call.sources, call.recorder.program.inputs, strict=True)
    read = {source.index for source, value in pairs
            if source.kind == "argument" and value in used}  # fmt: skip
    owners = {id(listed.owners[place]) for place in read if place in listed.owners}
    if any(id(tensor) in owners for tensor in listed.tensors[: listed.count]):
        raise Refusal("it reads the gradient of an argument")
    if not owners and not call.grads and not call.reads_grads:
        return
    reached = zip(listed.owned[listed.count :], listed.grads[listed.count :], strict=True)
    entry.guard_grads([
        (tensor, None if grad is None else grad._data if id(tensor) in owners else SET)
        for tensor, grad in reached if tensor.is_leaf and (tensor.requires_grad or grad is not None)
    ])  # fmt: skip


def reset() -> None:
    """Forget the recordings of all compiled functions."""
    for kept in _all.refs():
        compiled = kept()
        if compiled is not None:
            compiled.clear()
