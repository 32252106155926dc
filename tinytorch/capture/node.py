"""Calls of a recorded program with gradients: one node of autograd for each call.

The program of a recording is split. The forward program returns the results and the *residuals*:
what the backward program reads of it. The backward program computes the gradients of the inputs
from the gradients of the results, the residuals and the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any

from ..autograd import grad
from ..backends import load
from ..core.tensor import Tensor, wrap
from ..graph.engine import conjugate
from ..graph.nodes import FREED, Node, NodeOutput
from ..graph.special_nodes import NodeOp
from ..graph.views import edge_of
from ..state import enable_grad, generator
from ..dispatch.node_recording import note_versions
from . import engines
from .draws import Snapshot
from .entry import Binding, Choice, Lanes, Listed, Refusal, ResultTree, used_inputs
from .graph import Kind, Node as Step, Program, Tag, Value
from .guards import Signature
from .record_call import CallRecording, HistoryCut
from .replay import Undo
from .traced_memory import memory_id
from .trees import tensors_in

_NUMPY = load("numpy")


def split_backward(call: CallRecording) -> tuple[Program, list[Value], list[Value]]:
    """Split the backward pass from a recording.

    Returns:
        The backward program, whose inputs are the residuals, the inputs of the recording that it
        reads and the gradients of the results, in the order of the two lists that follow; the
        residuals; and the other inputs.
    """
    makers = _makers(call)
    written = {call.program.inputs[number] for number, _ in call.writes}
    inputs = set(call.recorder.program.inputs)
    wanted = [value for value in call.gradients if value is not None]
    residuals: dict[Value, None] = {}
    read: dict[Value, None] = {}
    draws = enumerate(call.recorder.program.nodes[call.split :], call.split)
    nodes = {place: node for place, node in draws if node.kind is Kind.DRAW}
    pending, seen = list(reversed(wanted)), set()
    for node in nodes.values():  # of a checkpoint that draws the same numbers again
        pending.extend(node.reads)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in inputs:
            (residuals if value in written else read)[value] = None
            continue
        place, node = makers[value]
        if place >= call.split or _is_cheap(node):
            nodes[place] = node
            pending.extend(node.reads)
        else:
            residuals[value] = None
    program = Program([nodes[place] for place in sorted(nodes)], [*residuals, *read], wanted)
    return program, list(residuals), list(read)


def _makers(call: CallRecording) -> dict[Value, tuple[int, Step]]:
    """Return for each value its node, with the number of the node."""
    return {
        value: (place, node)
        for place, node in enumerate(call.recorder.program.nodes)
        for value in node.outputs if value is not None
    }  # fmt: skip


def _is_cheap(node: Step) -> bool:
    """Whether the backward program makes a value of the forward program again."""
    if node.kind in (Kind.VIEW, Kind.CONSTANT):
        return True
    return node.kind is Kind.CALL and not node.reads


def memory_of(call: CallRecording) -> set[int]:
    """Return the ids of the arrays of inputs that are no listed tensors."""
    return {id(source.array) for source in call.sources if source.kind == "memory"}


class _Op(NodeOp):
    """``Node.op`` of the node of a call."""

    name = qualname = "compiled_function"
    backward_name = "CompiledFunctionBackward"
    frees = True
    makes_gradients = True

    def joint(self, xp: Any, g: Any, out: Any, shapes: Any, args: Any) -> list[Any]:
        """Return the gradients of the inputs that require grad."""
        (run,) = args
        grads = g if isinstance(g, (tuple, list)) else (g,)
        if any(isinstance(each, Tensor) for each in grads):
            return run.record_again(grads)  # type: ignore[no-any-return]
        return run.backward(grads)  # type: ignore[no-any-return]


_OP = _Op()


class ProgramCall:
    """Calls of a recorded program.

    Args:
        call: The recording.
        listed: The tensors that were listed for it.
        engine: The engine.
        outside: Parts for containers that the function did not make; see ``ResultTree``.

    Raises:
        Refusal: If the recording cannot be replayed.
    """

    def __init__(
        self, call: CallRecording, listed: Listed, engine: str,
        outside: dict[int, tuple[str, Any]],
    ) -> None:  # fmt: skip
        self.backend: Any = call.recorder.backend
        backward, residuals, read = split_backward(call)
        forward = call.program
        self._given = len(forward.outputs)
        forward.outputs = [*forward.outputs, *residuals]
        cotangents = [value for value in call.cotangents if value is not None]
        given = {value: i for i, value in enumerate(cotangents)}
        kinds = [source.kind != "cotangent" for source in call.sources]
        forward.inputs = list(compress(forward.inputs, kinds))
        inputs = {value: i for i, value in enumerate(forward.inputs)}
        self._binding = Binding(list(compress(call.sources, kinds)), listed)
        self.results = ResultTree(call.result, call.leaves, listed, memory_of(call), outside)
        #: For each input that the backward program reads: a number of an input or a cotangent.
        self._read = [("cotangent", given[v]) if v in given else ("input", inputs[v]) for v in read]
        self._cotangents = [(value.shape, value.dtype) for value in cotangents]
        self._list_tensors(call, listed)
        self._outputs = len(call.outputs)
        self._freed, self._actions = call.freed, call.recorder.actions
        #: Snapshots of generators, which a checkpoint takes: each call has its own states.
        owners = [getattr(node.function, "__self__", None) for node in forward.nodes]
        self.snapshots = [owner for owner in owners if isinstance(owner, Snapshot)]
        self._spare: list[Any] = []
        self.times_called = self.times_recorded_again = 0
        self.draws = any(node.kind is Kind.DRAW for node in forward.nodes)
        self._undo = Undo(forward, self.backend)
        if self.backend is _NUMPY:
            prepare = partial(engines.prepare, engine=engine)
            clear = self._clear_grads(self._find_spare(call, listed, forward))
            self.lanes: Any = Lanes(forward, lambda program: prepare(clear(program)))
            self.backward_lanes: Any = Lanes(backward, prepare)
        else:
            compile_for = {"jax": self._compile_for_jax, "cuda": self._compile_for_cuda}
            compile_for[self.backend.engine](call, listed, forward, backward)

    def _list_tensors(self, call: CallRecording, listed: Listed) -> None:
        """Choose the tensors that have gradients, are saved, written, or get a ``.grad``."""
        self.differentiable = [i for i, v in enumerate(call.cotangents) if v is not None]
        needs = [i for i, tensor in enumerate(listed.tensors) if tensor.requires_grad]
        self._gradients = [call.gradients[place] is not None for place in needs]
        self.needs = Choice(needs, listed)
        places = self._binding.places
        inputs_read = [i for kind, i in self._read if kind == "input"]
        self.saved = Choice([p for i in inputs_read if (p := places[i]) is not None], listed)
        self._written = [number for number, _ in call.writes]
        written = [places[number] for number in self._written]
        self.writes_memory = None in written
        self.writes = Choice([place for place in written if place is not None], listed)
        inputs_set = {id(tensor): i for i, tensor in enumerate(listed.tensors)}
        self._set = Choice([inputs_set[id(tensor)] for tensor, _ in call.grads], listed)
        self._is_set = [value is not None for _, value in call.grads]

    def _compile_for_cuda(
        self, call: CallRecording, listed: Listed, forward: Program, backward: Program
    ) -> None:
        """Compile the kernels of the two programs, and run each once."""
        from .cuda_engine import prepare_both

        if any(tensor._xp is not self.backend for tensor in call.leaves):
            raise Refusal("a result is on the CPU")
        arrays = self._binding.arrays(listed.tensors[: listed.count])
        complete = partial(self._backward_inputs, arrays)
        self.lanes, self.backward_lanes = prepare_both(
            forward, backward, arrays, self.backend, complete
        )

    def _compile_for_jax(
        self, call: CallRecording, listed: Listed, forward: Program, backward: Program
    ) -> None:
        """Let JAX trace the two programs."""
        from .jax_engine import prepare_both

        sources = [source.array for source in call.sources if source.kind != "cotangent"]
        arrays = dict(zip(forward.inputs, sources, strict=True))
        spare = self._find_spare(call, listed, forward)
        self._spare = list(spare.values())
        self.lanes, self.backward_lanes = prepare_both(
            forward, backward, arrays, self.backend, list(spare)
        )
        self._undo.written.clear()  # it writes after everything is computed
        self._undo.is_needed = any(node.name == "holds" for node in forward.nodes)

    def _find_spare(self, call: CallRecording, listed: Listed, forward: Program) -> dict[int, Any]:
        """Return the inputs that are gradients which calls replace unread, with their owners."""
        replaced = {id(tensor) for tensor, value in call.grads if value is not None}
        used = used_inputs(forward)
        owners = {
            number: listed.owners[place]
            for number, place in enumerate(self._binding.places) if place in listed.owners
        }  # fmt: skip
        arguments = set(map(id, listed.owned[: listed.count]))  # others at each call
        return {
            number: owner for number, owner in owners.items()
            if id(owner) in replaced - arguments and forward.inputs[number] not in used
            and type(owner._grad) is Tensor and owner._grad._xp is self.backend
        }  # fmt: skip

    def _clear_grads(self, spare: dict[int, Any]) -> Callable[[Program], Program]:
        """Return a function that adds a node to a program, which sets ``.grad`` of tensors to None.

        The program replaces these gradients unread: their memory is free as soon as no node raises
        any more.

        Args:
            spare: The tensors by the numbers of the inputs.
        """
        owners = list(spare.values())
        self._binding.leave_out(spare)

        def clear() -> None:
            for owner in owners:
                owner._grad = None

        def add(program: Program) -> Program:
            nodes = program.nodes.copy()
            nodes.insert(self._undo.end, Step(Kind.ACTION, "clear_grads", clear, (), {}, Tag()))
            return replace(program, nodes=nodes) if owners else program

        return add

    def __call__(self, signature: Signature, again: Callable[[], Any]) -> Any:
        """Return the result of a call.

        Args:
            signature: The arguments.
            again: Function that calls the compiled function eagerly with the same arguments.
        """
        self.times_called += 1
        tensors = signature.unique()
        draws = self.draws and self.differentiable
        state = default_engine(self.backend).snapshot() if draws else None
        arrays = self._binding.arrays(tensors)
        restore = self._undo.begin(arrays) if self._undo.is_needed else None
        try:
            if self._spare:
                found = self.lanes.run(arrays, [owner._grad for owner in self._spare])
            else:
                found = self.lanes.run(arrays)
        except Exception:
            if restore is None:
                raise
            restore()
            return again()  # which raises what eager code raises, if it does
        if self._written:
            for tensor in self.writes.tensors(tensors):
                tensor._bump()
        for action in self._actions:
            action()
        if self._is_set:
            self._set_grads(self._set.tensors(tensors), found[self._outputs : self._given])
        outputs = [wrap(array, self.backend) for array in found[: self._outputs]]
        if self.differentiable:
            run = _Run(self, arrays, found[self._given :], tensors, again, state)
            run.attach(outputs)
        for place in self._freed:
            outputs[place]._node, outputs[place]._rg = _freed_node(outputs[place]), True
        return self.results.build(outputs, tensors, signature.containers)

    def is_differentiated_twice(self) -> bool:
        """Whether most calls run eagerly again, for second derivatives."""
        return self.times_recorded_again > 2 and 2 * self.times_recorded_again > self.times_called

    def operations(self) -> list[str]:
        """Return the names of the program's operations, each once, in order."""
        nodes = self.lanes.program.nodes
        return list(dict.fromkeys(node.tag.operation or node.name for node in nodes))

    def gradients(self, arrays: Sequence[Any], found: Sequence[Any]) -> list[Any]:
        """Return the gradients of the inputs for gradients of ones, of what ``lanes.run`` returned.

        Args:
            arrays: The arrays of the inputs.
            found: The outputs of the forward program.
        """
        return self.backward_lanes.run(  # type: ignore[no-any-return]
            self._backward_inputs(arrays, found)
        )

    def _backward_inputs(self, arrays: Sequence[Any], found: Sequence[Any]) -> list[Any]:
        """Return the inputs of the backward program for gradients of ones; see ``gradients``."""
        ones = [self.backend.ones(shape, dtype) for shape, dtype in self._cotangents]
        read = [ones[i] if kind == "cotangent" else arrays[i] for kind, i in self._read]
        return [*found[self._given :], *read]

    def arrays(self, signature: Signature) -> list[Any]:
        """Return an array for each input of the forward program at a call."""
        return self._binding.arrays(signature.unique())

    def memory_to_write(self, signature: Signature) -> list[tuple[int, Any]]:
        """Return the numbers of the inputs that the program writes, each with its memory."""
        arrays = self.arrays(signature)
        return [(number, arrays[number]) for number in self._written]

    def _set_grads(self, tensors: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Set the gradients that the function sets."""
        left = iter(arrays)
        for tensor, is_set in zip(tensors, self._is_set, strict=True):
            tensor._grad = wrap(next(left), self.backend) if is_set else None


class _Run:
    """One call whose gradients are wanted: what its node keeps.

    Args:
        call: The program.
        arrays: The arrays of the inputs.
        residuals: What the forward program returned for the backward program.
        tensors: The tensors among the arguments, each once.
        again: Function that calls the compiled function eagerly.
        state: State of the random generator before the call, if the program draws.
    """

    def __init__(
        self, call: ProgramCall, arrays: Sequence[Any], residuals: Sequence[Any],
        tensors: Sequence[Any], again: Callable[[], Any], state: Any,
    ) -> None:  # fmt: skip
        self._call, self._residuals, self._tensors = call, residuals, tensors
        self._again, self._state = again, state
        self._snapshots = [snapshot.state for snapshot in call.snapshots]
        self._inputs = [arrays[i] if kind == "input" else None for kind, i in call._read]

    def attach(self, outputs: list[Any]) -> None:
        """Make a node, and set it as the history of the results that require grad."""
        call = self._call
        results = [outputs[place] for place in call.differentiable]
        shapes = tuple([result._data.shape for result in results])
        kinds = tuple([result._data.dtype for result in results])
        is_single = len(results) == 1
        node = Node(
            _OP, call.backend, tuple(map(edge_of, call.needs.tensors(self._tensors))), (self,),
            tuple(call.saved.tensors(self._tensors)),
            shapes[0] if is_single else shapes, kinds[0] if is_single else kinds,
        )  # fmt: skip
        note_versions(node)
        for i, result in enumerate(results):
            result._node, result._rg = (node if is_single else NodeOutput(node, i)), True

    def backward(self, grads: Sequence[Any]) -> list[Any]:
        """Return the gradients of the inputs from those of the results."""
        call = self._call
        given = [
            as_row_major(call.backend, g, shape, dtype)
            for g, (shape, dtype) in zip(grads, call._cotangents, strict=True)
        ]
        read = [
            given[i] if kind == "cotangent" else array
            for (kind, i), array in zip(call._read, self._inputs, strict=True)
        ]
        for snapshot, state in zip(call.snapshots, self._snapshots, strict=True):
            snapshot.state = state
        arrays = call.backward_lanes.run([*self._residuals, *read])
        found = iter(_own([array.conj() if array.dtype.kind == "c" else array for array in arrays]))
        return [next(found) if is_found else None for is_found in call._gradients]

    def record_again(self, grads: Sequence[Any]) -> list[Any]:
        """Return the gradients as tensors that autograd records: run the function eagerly."""
        call = self._call
        call.times_recorded_again += 1
        inputs = call.needs.tensors(self._tensors)
        cuts = {id(each): HistoryCut(each) for each in inputs if not each.is_leaf}
        try:
            with enable_grad():
                leaves = self._call_again()
                results = [leaves[place] for place in call.differentiable]
                wanted = [cuts[id(each)].leaf if id(each) in cuts else each for each in inputs]
                given = [conjugate(each) for each in grads]
                found = grad(results, wanted, given, create_graph=True, allow_unused=True)
                return [None if each is None else conjugate(each) for each in found]
        finally:
            for cut in cuts.values():
                cut.rejoin()

    def _call_again(self) -> list[Any]:
        """Return the tensors of the result of an eager call that has no other effect."""
        call = self._call
        written = call.writes.tensors(self._tensors)
        if call.writes_memory:
            raise NotImplementedError(
                "second derivatives of a compiled function that writes to memory which no tensor "
                "of its arguments or its module owns"
            )
        before = [(tensor._data, tensor._data.copy()) for tensor in written]
        engine = default_engine(call.backend)
        now = engine.snapshot()
        if self._state is not None:
            engine.rewind(self._state)
        try:
            return tensors_in(self._again())
        finally:
            engine.rewind(now)
            for array, values in before:
                array[...] = values


def default_engine(backend: Any) -> Any:
    """Return the engine of the active generator of a backend."""
    found = generator(backend)
    return getattr(found, "_engine", found)


def as_row_major(backend: Any, gradient: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return a gradient of the engine's as a row-major array of a shape and dtype.

    The engine's gradients of complex values are the conjugates of those that ``grad`` returns.
    """
    array = backend.ascontiguousarray(gradient, dtype)
    if array.dtype.kind == "c":
        array = array.conj()
    return array if array.shape == shape else array.reshape(shape)


def _own(arrays: Sequence[Any]) -> list[Any]:
    """Return arrays of which each has memory of its own, to which the engine may add."""
    seen: set[int] = set()
    found = []
    for array in arrays:
        owner = memory_id(array)
        found.append(array.copy() if owner in seen else array)
        seen.add(owner)
    return found


def _freed_node(tensor: Any) -> Node:
    """Return the node of a result whose graph the function has freed."""
    data = tensor._data
    return Node(_OP, tensor._xp, (), FREED, (), data.shape, data.dtype)
