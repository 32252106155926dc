"""``mode="check"``: each replay is compared with the function, which runs, too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..warnings import warn
from .entry import GuardedEntry
from .errors import ReplayError
from .graph import Program, Value
from .guards import Signature
from .python_values import is_same
from .record_call import CallRecording, record_call
from .replay import engines_of
from .traced_memory import address


def check_replay(
    name: str, entry: GuardedEntry, signature: Signature, listed: Sequence[Any],
    function: Callable[[], Any],
) -> Any:  # fmt: skip
    """Run a recording on copies, then the function itself, and return the result of the latter.

    Args:
        name: Name of the function.
        entry: The recording.
        signature: The arguments.
        listed: The tensors to record, see ``compiled.list_tensors``.
        function: The function without arguments.

    Raises:
        ReplayError: If the results, the memory that was written or the gradients differ by more
            than rounding. It names the first operation that differs from a new recording.
    """
    arrays = list(map(copy_layout, entry.call.arrays(signature)))
    programs = entry.call.lanes.program, entry.call.backward_lanes.program
    backend = entry.call.backend
    grads = [(tensor, tensor._grad) for tensor in listed]
    states = [
        (each, each.snapshot()) for program in programs for each in engines_of(program, backend)
    ]
    try:
        outputs = entry.call.lanes.run(arrays)
        gradients = entry.call.gradients(arrays, outputs)
    except Exception as error:  # without checks such a call runs eagerly, too; see Undo
        result = function()
        warn(f"{name}: the function runs since the replay raises {error!r}")
        return result
    finally:  # the function must draw the same random numbers as the replay
        for engine, state in reversed(states):
            engine.rewind(state)
        for tensor, grad in grads:  # which the replay may have cleared
            tensor._grad = grad
    call = record_call(function, listed)
    found = [leaf._data for leaf in call.leaves]
    writes = entry.call.lanes.program.writes
    found += [t._grad._data for t, _ in call.grads if t._grad is not None]
    # The values that the backward program reads follow the results in outputs.
    pairs = list(zip(found, outputs, strict=False))
    pairs += [(source, arrays[number]) for number, source in entry.call.memory_to_write(signature)]
    pairs += zip(call.gradients_for_ones(listed), gradients, strict=True)
    if len(call.writes) != len(writes) or not all(map(_agree, *zip(*pairs, strict=True))):
        raise ReplayError(
            f"{name}: the replay of a recording differs from the function; the first operation "
            f"that differs is {first_difference(entry.call.lanes.program, call)}"
        )
    return call.result


def copy_layout(array: Any) -> Any:
    """Return a copy with the same strides, for which an engine may have compiled the program."""
    if not array.size:
        return numpy.empty_like(array)
    low, high = numpy.lib.array_utils.byte_bounds(array)
    memory = numpy.empty(high - low, numpy.uint8)
    copy: Any = numpy.ndarray(
        array.shape, array.dtype, memory, address(array) - low, array.strides
    )  # fmt: skip
    copy[...] = array
    return copy


def _agree(eager: Any, replayed: Any) -> bool:
    """Whether two arrays are equal up to rounding."""
    if eager is None or replayed is None:
        return eager is replayed
    if eager.shape != replayed.shape or eager.dtype != replayed.dtype:
        return False
    if eager.dtype.kind not in "fc":
        return bool(numpy.array_equal(eager, replayed))
    tolerance = 1e4 * float(numpy.finfo(eager.dtype).eps)
    with numpy.errstate(all="ignore"):
        scale = numpy.nanmax(numpy.abs(eager), initial=1.0, where=numpy.isfinite(eager))
        return bool(numpy.allclose(eager, replayed, tolerance, tolerance * scale, equal_nan=True))


def first_difference(program: Program, call: CallRecording) -> str:
    """Return the operation of the first node that differs between a program and a new recording."""
    numbers = dict(zip(program.inputs, call.recorder.program.inputs, strict=False))
    for old, new in zip(program.nodes, call.recorder.program.nodes, strict=False):
        same = functools.partial(_is_same_tree, numbers)
        if old.name != new.name or not same((old.args, old.kwargs), (new.args, new.kwargs)):
            line = f", at {new.tag.line}" if new.tag.line else ""
            return f"{new.tag.operation or new.name!r}{line}"
        pairs = zip(old.outputs, new.outputs, strict=False)
        numbers.update((a, b) for a, b in pairs if a is not None and b is not None)
    return "none: the same operations gave other values"


def _is_same_tree(numbers: dict[Value, Value], old: Any, new: Any) -> bool:
    """Whether the arguments of two nodes are equal."""
    if isinstance(old, Value):
        return numbers.get(old) is new
    if type(old) is not type(new):
        return False
    if isinstance(old, (tuple, list)):
        return len(old) == len(new) and all(
            _is_same_tree(numbers, a, b) for a, b in zip(old, new, strict=True)
        )
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(
            _is_same_tree(numbers, old[key], new[key]) for key in old
        )
    if isinstance(old, numpy.ndarray):
        return bool(numpy.array_equal(old, new, equal_nan=old.dtype.kind in "fc"))
    return is_same(old, new) or callable(old) or old.__class__.__module__.startswith("tinytorch")
