"""A recorded program as a call of its function: guards, inputs bound to tensors, the result.

``node.py`` has the calls themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

import numpy

from ..core.tensor import Tensor
from ..graph.views import FUNCTION
from ..state.recorder import RECORDER
from .graph import Program, Value
from .memory import nbytes, trim_heap
from .guards import Signature, TensorGuard, dense, is_like
from .profiling import run_prepared
from .python_values import is_simple
from .reach import Reach
from .traced_memory import Input, is_within, memory_id
from .trees import find_container, flatten_tree, rebuild_tree


#: Bytes of a program's memory, and of its inputs, from which planning ends with a trim of the heap.
_TRIMMED = 1 << 20


class Refusal(Exception):
    """A recording cannot be replayed, for the reason that is its message."""


class GuardedEntry:
    """One recording of a function, or the decision to run it eagerly, with its guards.

    Args:
        signature: The arguments of the recorded call.
        reach: What the function reads besides.
        reason: Why calls run eagerly; ``""`` if the recording is replayed.

    Attributes:
        call: What replays the recording: a ``node.ProgramCall``.
        is_guarded: Whether more than the arguments is compared. Not for a decision to run eagerly
            since the function changes what it reads.
    """

    call: Any = None
    is_guarded: bool = True

    def __init__(self, signature: Signature, reach: Reach, reason: str = "") -> None:
        self.key, self.reach, self.reason = signature.key, reach, reason
        self.overlaps = signature.overlaps(reach)
        self._same = signature.shared_ids(reach)
        self._objects = signature.objects  # they keep their ids
        self._roots = frozenset(memory_id(t._data) for t in dense(reach.tensors.values()))
        self.tensors = TensorGuard(dense(reach.tensors.values()))
        self._numbers: list[tuple[Callable[[], Any], Any]] = []
        #: Tensors with the array of their ``.grad``, None, or ``SET``.
        self._grads: list[tuple[Any, Any]] = []
        #: Choices of tensors of one number that are equal.
        self._counts: list[Choice] = []

    def matches(self, signature: Signature) -> bool:
        """Whether a call may run this recording."""
        if signature.key != self.key:
            return False
        if not self.is_guarded:
            return True
        if not self.reach.holds():
            return False
        if self._roots.isdisjoint(signature.roots) is self.overlaps:
            return False
        if self.overlaps and signature.shared_ids(self.reach) != self._same:
            return False
        if not self.tensors.holds():
            return False
        for read, value in self._numbers:
            if read() != value:
                return False
        for tensor, expected in self._grads:
            grad = tensor._grad
            if grad is None or expected is None:
                if grad is not expected:
                    return False
            elif expected is not SET and not is_like(grad._data, expected):
                return False
        for count in self._counts:
            if len({t._data.item() for t in count.tensors(signature.unique())}) > 1:
                return False
        return True

    def guard_counts(self, counts: list[Choice]) -> None:
        """Compare the counts of each choice of tensors, which must be equal."""
        self._counts = counts

    def guard_numbers(self, numbers: list[tuple[Callable[[], Any], Any]]) -> None:
        """Compare what functions return at each call."""
        self._numbers = numbers

    def guard_grads(self, grads: list[tuple[Any, Any]]) -> None:
        """Compare gradients: tensors, each with the array of its ``.grad``, None, or ``SET``."""
        self._grads = grads

    def describe(self) -> list[str]:
        """Return the guards as lines of text."""
        return [
            f"{len(self.key)} values of arguments and modes",
            f"{len(self.tensors.tensors)} parameters, buffers and other tensors",
            *self.reach.describe(),
        ]


class _Set:
    """Type of ``SET``."""

    def __repr__(self) -> str:
        return "any gradient"


#: Stands for any gradient that is not None.
SET = _Set()


class Listed:
    """The tensors that are listed for a recording: its first inputs.

    Args:
        arguments: The different tensors among the arguments.
        reached: The tensors that the function reaches.

    Attributes:
        tensors: The arguments, the tensors that are reached, and the gradients of the latter.
        count: The number of arguments.
        owners: For the place of each gradient the tensor whose ``.grad`` it is.
        grads: For each argument and each tensor that is reached its gradient, or None.
    """

    def __init__(self, arguments: Sequence[Any], reached: Iterable[Any]) -> None:
        found = {id(tensor): tensor for tensor in [*arguments, *reached]}
        self.count = len(arguments)
        self.owned: list[Any] = list(found.values())
        self.grads = [tensor._grad for tensor in self.owned]
        self.owners: dict[int, Any] = {}
        self.tensors: list[Any] = list(self.owned)
        for tensor, grad in zip(self.owned, self.grads, strict=True):
            if grad is not None and id(grad) not in found:
                self.owners[len(self.tensors)] = tensor
                self.tensors.append(grad)


class Choice:
    """A list of tensors at a call: arguments, gradients, and others, the same at each call.

    Args:
        places: The places of the tensors among the listed ones.
        listed: The tensors that were listed for the recording.
    """

    __slots__ = ("_arguments", "_grads", "_template")

    def __init__(self, places: Sequence[int], listed: Listed) -> None:
        self._template = [
            None if place < listed.count or place in listed.owners else listed.tensors[place]
            for place in places
        ]
        self._arguments = [(i, place) for i, place in enumerate(places) if place < listed.count]
        self._grads = [
            (i, listed.owners[place]) for i, place in enumerate(places) if place in listed.owners
        ]

    def tensors(self, arguments: Sequence[Any]) -> list[Any]:
        """Return the tensors at a call with these arguments; the list must not be changed."""
        if not self._arguments and not self._grads:
            return self._template
        found = self._template.copy()
        for i, place in self._arguments:
            found[i] = arguments[place]
        for i, owner in self._grads:
            found[i] = owner._grad
        return found


class Binding:
    """The arrays of a program's inputs at a call.

    Args:
        sources: The origin of each input.
        listed: The tensors that were listed for the recording.

    Attributes:
        places: For each input the place of its tensor among the listed ones, or None.
    """

    def __init__(self, sources: Sequence[Input], listed: Listed) -> None:
        self._template: list[Any] = [source.array for source in sources]
        #: Inputs with their place among the arguments, and inputs with another tensor or gradient.
        self._arguments: list[tuple[int, int]] = []
        self._tensors: list[tuple[int, Any]] = []
        self._grads: list[tuple[int, Any]] = []
        #: Arrays that bind inputs for gradients which the program does not read.
        self._no_grads: dict[int, Any] = {}
        self._numbers: list[tuple[int, Callable[[], Any]]] = []
        self.places: list[int | None] = [
            source.index if source.kind == "argument" and not source.root else None
            for source in sources
        ]
        for i, source in enumerate(sources):
            if source.kind == "number" and source.read is not None:
                self._numbers.append((i, source.read))
            elif source.kind == "argument" and not source.root:
                self._template[i] = None
                if source.index < listed.count:
                    self._arguments.append((i, source.index))
                elif source.index in listed.owners:
                    self._grads.append((i, listed.owners[source.index]))
                    self._no_grads[i] = placeholder(source.array, listed.tensors[source.index]._xp)
                else:
                    self._tensors.append((i, listed.tensors[source.index]))

    def leave_out(self, numbers: Container[int]) -> None:
        """Bind no gradients to the inputs of these numbers, which the program does not read."""
        for i, owner in self._grads:
            if i in numbers:
                self._template[i] = self._no_grads[i]
        self._grads = [(i, owner) for i, owner in self._grads if i not in numbers]

    def arrays(self, tensors: Sequence[Any]) -> list[Any]:
        """Return an array for each input.

        Args:
            tensors: The tensors among the arguments, each once.
        """
        arrays = self._template.copy()
        for i, place in self._arguments:
            arrays[i] = tensors[place]._data
        for i, tensor in self._tensors:
            arrays[i] = tensor._data
        for i, owner in self._grads:
            arrays[i] = self._no_grads[i] if owner._grad is None else owner._grad._data
        for i, read in self._numbers:
            arrays[i] = numpy.array(read(), numpy.float64)
        return arrays


def placeholder(array: Any, backend: Any) -> Any:
    """Return an array of zeros with the shape and dtype of ``array``; NumPy's takes no memory."""
    if isinstance(array, numpy.ndarray) and not backend.engine:
        return numpy.broadcast_to(numpy.zeros((), array.dtype), array.shape)
    return backend.zeros_like(array)


class View:
    """A result that is a view of an input or of another result.

    Args:
        view: The result.
        source: The input or the other result.
        place: Its place among the listed tensors, or among the outputs.

    Raises:
        Refusal: If the two differ in dtype.
    """

    def __init__(self, view: Any, source: Any, place: int) -> None:
        if view.dtype is not source.dtype:
            raise Refusal("a result is a view of another dtype")
        self.place = place
        self._geometry = tuple(view.shape), view.stride()
        offset = view._xp.address(view._data) - source._xp.address(source._data)
        self._offset = offset // view.element_size()
        self._is_detached = source.requires_grad and not view.requires_grad

    def make(self, source: Any) -> Any:
        """Return the view of ``source``."""
        base = source.detach() if self._is_detached else source
        return base.as_strided(*self._geometry, source.storage_offset() + self._offset)


def has_own_gradient(tensor: Any) -> bool:
    """Whether a tensor is a view that a function of the program's with a gradient rule returned."""
    return bool(tensor.requires_grad and getattr(tensor, "_kind", "") == FUNCTION)


def may_overlap(a: Any, b: Any) -> bool:
    """Whether two arrays share memory, as far as that can be found out quickly."""
    if not (isinstance(a, numpy.ndarray) and isinstance(b, numpy.ndarray)):
        return memory_id(a) == memory_id(b)
    work: Any = 1000
    try:
        return bool(numpy.shares_memory(a, b, max_work=work))
    except numpy.exceptions.TooHardError:
        return True


def parts_from_outside(reach: Reach, signature: Signature) -> dict[int, tuple[str, Any]]:
    """Return the parts of results for containers that existed before a call, by their ids."""
    found: dict[int, tuple[str, Any]] = {
        number: ("constant", value) for number, value in reach.objects.items()
    }
    for i, container in enumerate(signature.containers):
        found[id(container)] = "container", i
    return found


class ResultTree:
    """The tree that a function returned, with the places of its tensors.

    Args:
        result: What the function returned.
        leaves: The tensors that the recorder found in it, in the order of the outputs.
        listed: The tensors that were listed for the recording.
        memory: Ids of the arrays that own other memory which the function reads.
        outside: By id the parts for containers that the function did not make, which results
            hold themselves.

    Raises:
        Refusal: If something in it cannot be made again at each call.
    """

    def __init__(
        self, result: Any, leaves: Sequence[Any], listed: Listed, memory: set[int],
        outside: dict[int, tuple[str, Any]],
    ) -> None:  # fmt: skip
        found: list[Any] = []
        self._structure = flatten_tree(result, found, outside)
        places = {id(leaf): i for i, leaf in enumerate(leaves)}
        inputs = {id(tensor): i for i, tensor in enumerate(listed.owned)}
        # The arguments of the recorded call must not be kept alive.
        self._count, self._reached = listed.count, listed.owned[listed.count :]
        #: For each leaf ``("output", i)``, ``("input", i)``, ``("view", View)`` of an input,
        #: ``("alias", View)`` of an output, ``("container", i)`` or ``("constant", value)``.
        self._parts: list[tuple[str, Any]] = []
        for leaf in found:
            if isinstance(leaf, Tensor):
                if id(leaf) in inputs:
                    self._parts.append(("input", inputs[id(leaf)]))
                elif type(leaf) is Tensor and id(leaf) in places:
                    self._parts.append(("output", places[id(leaf)]))
                else:
                    raise Refusal(f"a result is of class {type(leaf).__name__}")
            elif is_simple(leaf):
                self._parts.append(("constant", leaf))
            elif id(leaf) in outside and find_container(leaf) is not None:
                self._parts.append(outside[id(leaf)])
            else:
                raise Refusal(f"a result is of type {type(leaf).__name__}")
        self._is_single = len(found) == 1 and found[0] is result
        self._find_views(leaves, listed, memory)

    def _find_views(self, leaves: Sequence[Any], listed: Listed, memory: set[int]) -> None:
        """Make views of inputs, and of whole results, parts of the kind "view".

        Args:
            leaves: The tensors of the outputs.
            listed: The tensors that were listed for the recording.
            memory: Ids of the arrays that own memory which no listed tensor has.

        Raises:
            Refusal: If a result shares memory in another way.
        """
        inputs = {memory_id(tensor._data): i for i, tensor in enumerate(listed.owned)}
        hidden = memory | {memory_id(g._data) for g in listed.grads if g is not None}
        seen: list[int] = []
        found = [(at, place) for at, (kind, place) in enumerate(self._parts) if kind == "output"]
        # The whole before its parts, and what has a history before what is detached from it.
        found.sort(key=lambda p: (-leaves[p[1]]._data.size, not leaves[p[1]].requires_grad))
        for at, place in found:
            leaf = leaves[place]
            root = memory_id(leaf._data)
            if has_own_gradient(leaf):
                continue
            if root in inputs and leaf._data.size:
                source = listed.owned[inputs[root]]
                self._parts[at] = "view", View(leaf, source, inputs[root])
            elif root in hidden - inputs.keys():
                raise Refusal("a result is a view of a tensor that is no argument")
            elif place not in seen:
                self._parts[at] = self._alias(leaf, place, [leaves[i] for i in seen], seen)
                if self._parts[at][0] == "output":
                    seen.append(place)

    def _alias(
        self, leaf: Any, place: int, others: list[Any], places: list[int]
    ) -> tuple[str, Any]:  # fmt: skip
        """Return the part of a result, which may be a view of an earlier one.

        Raises:
            Refusal: If it shares memory with one in another way.
        """
        for other, number in zip(others, places, strict=True):
            if not may_overlap(leaf._data, other._data):
                continue
            is_part = is_within(leaf._data, other._data, leaf._xp.address)
            if is_part and leaf.requires_grad <= other.requires_grad:
                return "alias", View(leaf, other, number)
            raise Refusal("two results share memory")
        return "output", place

    def outputs(self) -> set[int]:
        """Numbers of the outputs that are in the result."""
        return {i for part, i in self._parts if part == "output"}

    def build(
        self, outputs: Sequence[Any], tensors: Sequence[Any], containers: Sequence[Any]
    ) -> Any:  # fmt: skip
        """Return the result of a call.

        Args:
            outputs: A tensor for each output.
            tensors: The tensors among the arguments, each once.
            containers: The lists, dicts and dataclasses among the arguments.
        """
        given = outputs, tensors, containers
        if self._is_single:
            kind, value = self._parts[0]
            return outputs[value] if kind == "output" else self._part(kind, value, *given)
        parts = [self._part(kind, value, *given) for kind, value in self._parts]
        return rebuild_tree(self._structure, iter(parts))

    def _part(
        self, kind: str, value: Any, outputs: Sequence[Any], tensors: Sequence[Any],
        containers: Sequence[Any],
    ) -> Any:  # fmt: skip
        """Return one leaf of the result."""
        if kind == "output":
            return outputs[value]
        if kind == "constant":
            return value
        if kind == "container":
            return containers[value]
        if kind == "alias":
            return value.make(outputs[value.place])
        place = value.place if kind == "view" else value
        tensor = tensors[place] if place < self._count else self._reached[place - self._count]
        return value.make(tensor) if kind == "view" else tensor


class Lanes:
    """Executables of one program, one for each call that runs at the same time.

    Args:
        program: The program.
        prepare: Function that makes an executable of it.
    """

    def __init__(self, program: Program, prepare: Callable[[Program], Any]) -> None:
        self.program, self._prepare = program, prepare
        self._free: list[Any] = []

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Run the program; see ``engines.PreparedProgram``."""
        try:
            lane = self._free.pop()
        except IndexError:
            return self._run_first(arrays)
        is_profiled = RECORDER.get() is not None
        outputs: list[Any] = run_prepared(lane, arrays) if is_profiled else lane.run(arrays)
        self._free.append(lane)
        return outputs

    def _run_first(self, arrays: Sequence[Any]) -> list[Any]:
        """Run a new executable; give back what the recording, and arrays of eager code, have freed.

        They are scattered over the heap, which is trimmed again when the results have their places.
        """
        lane = self._prepare(self.program)
        if lane.nbytes >= _TRIMMED:
            trim_heap()
        outputs = run_prepared(lane, arrays)
        if lane.nbytes + sum(map(nbytes, self.program.inputs)) >= _TRIMMED:
            trim_heap()
        self._free.append(lane)
        return outputs

    def prepare(self) -> Any:
        """Return an executable that does not run."""
        if not self._free:
            self._free.append(self._prepare(self.program))
        return self._free[-1]


def used_inputs(program: Program) -> set[Value]:
    """Return the inputs that a program reads or writes."""
    used = {value for node in program.nodes for value in node.reads}
    used.update(program.outputs, (value for _, value in program.writes))
    return used | {program.inputs[number] for number, _ in program.writes}
