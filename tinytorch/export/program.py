"""``ExportedProgram``: the operations of a model, which run without the model's code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..capture.trees import tensors_in
from ..core.tensor import Tensor
from ..nn.module import Module
from ..nn.parameter import Buffer, Parameter
from ..ops.create.factories import empty
from ..state import bind
from ..state.recorder import PROGRAM_MODULES
from ..utils.graph_drawing import Drawing
from .drawing import ProgramDrawing
from .dynamic import dynamic_dims, trace_sizes
from .steps import ITEMS, TensorSlot, ProgramStep, describe
from .tracing import ExportError, ModuleCalls, Ref, Size, Trace, depends_on_arguments, map_refs


class _Everything:
    """Container of all names: each operation that the model calls is one call."""

    def __contains__(self, name: object) -> bool:
        return True


class ExportedProgram:
    """Operations of a model, in order, with its parameters.

    ``torch.export.export`` makes one. It runs with the sizes of the example; those that were named
    as dynamic may differ.

    Attributes:
        steps: The operations.
        inputs: The slots of the tensors among the arguments, in order.
        tensors: Parameters, buffers and constants by the name of their slot.
        result: What a call returns, with slots for tensors.
        shapes: Sizes and dtype of each input; a ``Size`` where it is dynamic.
        modules: The modules of the model by path, with their classes and numbers of calls; slots
            for the tensors that they returned last.

    Example:
        >>> model = tt.nn.Linear(2, 1)
        >>> program = tt.export.export(model, (tt.ones(3, 2),))
        >>> tt.equal(program.module()(tt.ones(3, 2)), model(tt.ones(3, 2)))
        True
        >>> program
        ExportedProgram(input: float32[3, 2], weight: float32[1, 2], bias: float32[1])
            linear = nn.functional.linear(input, weight, bias)
            return linear
    """

    def __init__(
        self, steps: list[ProgramStep], inputs: list[TensorSlot],
        shapes: list[tuple[tuple[int, ...], Any]], tensors: dict[str, Tensor], result: Any,
        modules: dict[str, ModuleCalls],
    ) -> None:  # fmt: skip
        self.steps: list[ProgramStep] = steps
        self.inputs: list[TensorSlot] = inputs
        self.shapes: list[tuple[tuple[int, ...], Any]] = shapes
        self.tensors: dict[str, Tensor] = tensors
        self.result: Any = result
        self.modules: dict[str, ModuleCalls] = modules
        self._around: dict[str, tuple[str, ...]] = {}

    def __call__(self, *args: Any) -> Any:
        """Run the program.

        Args:
            *args: The arguments of the example, with other values.

        Raises:
            RuntimeError: If the number, sizes or dtypes of the tensors differ.
        """
        return self._run(tensors_in(args), self.tensors)

    def module(self) -> Module:
        """Return a module that runs the program, with its parameters and buffers."""
        return ProgramModule(self)

    def parameters(self) -> Iterator[Parameter]:
        """Iterate over the parameters.

        Example:
            >>> program = tt.export.export(tt.nn.Linear(2, 1), (tt.ones(2),))
            >>> [parameter.shape for parameter in program.parameters()]
            [tinytorch.Size([1, 2]), tinytorch.Size([1])]
        """
        return (tensor for _, tensor in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Iterate over the names and parameters.

        Example:
            >>> program = tt.export.export(tt.nn.Linear(2, 1), (tt.ones(2),))
            >>> [name for name, parameter in program.named_parameters()]
            ['weight', 'bias']
        """
        return ((n, t) for n, t in self.tensors.items() if isinstance(t, Parameter))

    @property
    def state_dict(self) -> dict[str, Tensor]:
        """Parameters and buffers by name."""
        return {n: t for n, t in self.tensors.items() if isinstance(t, (Parameter, Buffer))}

    def _run(self, given: Sequence[Any], tensors: Mapping[str, Any]) -> Any:
        """Run the steps on input tensors."""
        sizes = self._check(given)
        values: dict[str, Any] = dict(tensors)
        values.update({slot.name: tensor for slot, tensor in zip(self.inputs, given, strict=True)})

        def read(item: Any) -> Any:
            if item.__class__ is TensorSlot:
                return values[item.name]
            return item.evaluate(sizes) if item.__class__ is Size else item

        outer = PROGRAM_MODULES.get()
        for step in self.steps:
            with bind(PROGRAM_MODULES, outer + self._running_modules(step)):
                found = step.function(*map_refs(read, step.args), **map_refs(read, step.options))
            for slot, tensor in zip(step.results, tensors_in(found), strict=True):
                values[slot.name] = tensor
        return map_refs(read, self.result)

    def _running_modules(self, step: ProgramStep) -> tuple[str, ...]:
        """Return the names of the modules around a step: ``("Net", "Net.0")``."""
        path = step.module[0]
        if path not in self._around and "" in self.modules:
            parts = path.split(".") if path else []
            paths = [".".join(parts[:i]) for i in range(len(parts) + 1)]
            kind = self.modules[""].kind
            called = [p for p in paths if p in self.modules and self.modules[p].count]
            self._around[path] = tuple(f"{kind}.{p}" if p else kind for p in called)
        return self._around.get(path, ())

    def walk(
        self, sizes: Mapping[str, int] | None = None, values: dict[str, Tensor] | None = None
    ) -> Iterator[tuple[ProgramStep, tuple[str, ...], Any, Any, list[Tensor]]]:
        """Iterate over the operations without running them.

        Args:
            sizes: Sizes of the dynamic dimensions by name. Default: those of the example.
            values: Dict to which each tensor is added by the name of its slot.

        Yields:
            The step, the names of the modules around it, its arguments, its options and its
            results; all tensors are on the device ``meta``.

        Raises:
            ValueError: If ``sizes`` has unknown names, or a size cannot be computed from them.

        Example:
            >>> model = tt.nn.Sequential(tt.nn.Linear(2, 1))
            >>> program = tt.export.export(model, (tt.ones(3, 2),), dynamic_shapes=[{0: "n"}])
            >>> for step, modules, args, options, results in program.walk({"n": 7}):
            ...     print(step.operation, modules, results[0].shape)
            nn.functional.linear ('Sequential', 'Sequential.0') tinytorch.Size([7, 1])
        """
        values = {} if values is None else values
        values.update((name, _meta(t.shape, t.dtype)) for name, t in self.tensors.items())
        known = self._dynamic_sizes()
        if sizes and not sizes.keys() <= known.keys():
            raise ValueError(f"expected sizes of {sorted(known)}, got {sorted(sizes)}")
        known.update(sizes or {})

        def evaluate(item: Any) -> Any:
            if item.__class__ is TensorSlot:
                return values[item.name]
            if item.__class__ is not Size or not sizes:
                return item
            found = item.evaluate(known)
            if found is None:
                raise ValueError(f"a size of {step} is no sum of multiples of {sorted(known)}")
            return found

        for slot, (shape, dtype) in zip(self.inputs, self.shapes, strict=True):
            values[slot.name] = _meta(map_refs(evaluate, shape), dtype)
        for step in self.steps:
            args, options = map_refs(evaluate, (step.args, step.options))
            results = [_meta(map_refs(evaluate, shape), dtype) for shape, dtype in step.shapes]
            values.update(zip((slot.name for slot in step.results), results, strict=True))
            yield step, self._running_modules(step), args, options, results

    def _dynamic_sizes(self) -> dict[str, int]:
        """Return the sizes of the dynamic dimensions in the example."""
        found = [size for shape, _ in self.shapes for size in shape if isinstance(size, Size)]
        return {name: int(size) for size in found for name in size.terms or ()}

    def _check(self, given: Sequence[Any]) -> dict[str, int]:
        """Compare inputs with the example; return the sizes of the dynamic dimensions."""
        if len(given) != len(self.inputs):
            raise RuntimeError(f"expected {len(self.inputs)} tensors, got {len(given)}")
        sizes: dict[str, int] = {}
        for slot, tensor, (shape, dtype) in zip(self.inputs, given, self.shapes, strict=True):
            fits = len(tensor.shape) == len(shape) and tensor.dtype == dtype
            for size, expected in zip(tensor.shape, shape, strict=fits):
                if isinstance(expected, Size) and expected.terms:
                    (name,) = expected.terms
                    fits = fits and sizes.setdefault(name, size) == size
                else:
                    fits = fits and size == expected
            if not fits:
                raise RuntimeError(
                    f"expected {slot.name} to be {describe(shape, dtype)}, got "
                    f"{describe(tensor.shape, tensor.dtype)}: the program was exported for that"
                )
        return sizes

    def draw(self, depth: int | None = None) -> Drawing:
        """Draw the program: boxes for operations and modules, in frames for the modules around.

        A box shows the weights of more than one dimension and the shape of the result.
        ``tt.utils.draw(program, depth=depth)`` does the same.

        Args:
            depth: Number of modules inside each other that are drawn, as in ``summary``: a module
                at this depth is one box. Default: all.

        Returns:
            ``Drawing``; ``print`` shows it in DOT, ``svg()`` is the picture.

        Raises:
            ValueError: If ``depth`` is below 1.

        Example:
            >>> drawing = tt.export.export(tt.nn.ReLU(), (tt.ones(2),)).draw()
            >>> print(drawing.source.splitlines()[-2])
              n0 -> y
        """
        if depth is not None and depth < 1:
            raise ValueError(f"draw(): expected depth of at least 1, got {depth}")
        drawing = ProgramDrawing(self.steps, self.tensors, self.modules, depth)
        return Drawing(drawing.text([*zip(self.inputs, self.shapes)], self.result))

    def __repr__(self) -> str:
        shapes = [f"{s.name}: {describe(*each)}" for s, each in zip(self.inputs, self.shapes)]
        tensors = [f"{name}: {describe(t.shape, t.dtype)}" for name, t in self.tensors.items()]
        lines = [f"ExportedProgram({', '.join([*shapes, *tensors])})", *map(repr, self.steps)]
        return "\n    ".join([*lines, f"return {self.result!r}"])


def _meta(shape: Sequence[int], dtype: Any) -> Tensor:
    """Return a tensor without values."""
    return empty(tuple(map(int, shape)), dtype=dtype, device="meta")


class ProgramModule(Module):
    """Module that runs a program.

    Args:
        program: The program.
    """

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__()
        self.program = program
        for name, tensor in program.tensors.items():
            owner = self
            *path, last = name.split(".")
            for part in path:
                if part not in owner._modules:
                    owner.add_module(part, Module())
                owner = owner._modules[part]  # type: ignore[assignment]
            if isinstance(tensor, Parameter):
                owner.register_parameter(last, tensor)
            else:
                owner.register_buffer(last, tensor, persistent=isinstance(tensor, Buffer))

    def forward(self, *args: Any) -> Any:
        """Run the program with the module's parameters and buffers."""
        tensors = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        return self.program._run(tensors_in(args), tensors)


def export(
    mod: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any] | None = None, *,
    dynamic_shapes: Any = None, strict: bool = False, preserve_module_call_signature: Any = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:  # fmt: skip
    """Record the operations of a model as a program.

    The model runs once on the example, and once or twice more for dynamic sizes: each size in the
    arguments of its operations must be a sum of multiples of them.

    Args:
        mod: A Module, or a function of tensors.
        args: The example's arguments, tensors among them.
        kwargs: Not supported: must be empty.
        dynamic_shapes: For each tensor a dict of dimension to ``Dim`` or name, or None; a dict by
            the names ``input_0``, ``input_1`` (``input`` if there is one), or a sequence.
        strict, preserve_module_call_signature, prefer_deferred_runtime_asserts_over_guards:
            Accepted for compatibility.

    Raises:
        ExportError: If the model reads a number from a tensor, runs other operations for other
            sizes, or changes part of a tensor outside of operations.

    Example:
        >>> batch = tt.export.Dim("batch")
        >>> program = tt.export.export(
        ...     tt.nn.ReLU(), (tt.ones(2, 3),), dynamic_shapes=[{0: batch}]
        ... )
        >>> program.module()(-tt.ones(5, 3)).shape
        tinytorch.Size([5, 3])
    """
    if kwargs:
        raise NotImplementedError("export.export: keyword arguments are not supported")
    count = len(tensors_in(args))
    names = [f"input_{i}" if count > 1 else "input" for i in range(count)]
    found = trace_sizes(mod, tuple(args), names, dynamic_dims(names, dynamic_shapes), _Everything())
    return _Builder(found, names, mod).build()


class _Builder:
    """Program of a trace: tensors become slots, by identity."""

    def __init__(self, found: Trace, names: Sequence[str], model: Any) -> None:
        self.trace = found
        self.inputs = [TensorSlot(name) for name in names]
        self.slots = {id(ref.tensor): s for ref, s in zip(found.inputs, self.inputs, strict=True)}
        self.tensors: dict[str, Tensor] = {}
        self.taken = {*names}
        assert found.recording is not None
        pairs = zip(found.recording.program.inputs, found.recording.sources, strict=True)
        self.depends = {value: source.kind == "argument" for value, source in pairs}
        self.names: dict[int, tuple[str, Any]] = {}
        if isinstance(model, Module):
            kept = {*model.state_dict()}
            self.names = {id(p): (name, p) for name, p in model.named_parameters()}
            for name, tensor in model.named_buffers():
                kind = Buffer(tensor) if name in kept else tensor
                self.names[id(tensor)] = name, kind

    def build(self) -> ExportedProgram:
        """Return the program."""
        steps = [self._step(call) for call in self.trace.calls]
        shapes = [(ref.shape, ref.tensor.dtype) for ref in self.trace.inputs]
        result = map_refs(self._slot, self.trace.result)
        modules = self.trace.modules
        for calls in modules.values():
            calls.result = map_refs(self._known_slot, calls.result)
        return ExportedProgram(steps, self.inputs, shapes, self.tensors, result, modules)

    def _known_slot(self, item: Any) -> TensorSlot | None:
        """Return the slot of a tensor, None for one without a slot and for all else."""
        return self.slots.get(id(item.tensor)) if isinstance(item, Ref) else None

    def _step(self, call: Any) -> ProgramStep:
        args, options = self._settle_sizes(call)
        last = call.name.rpartition(".")[2]
        in_place = last.endswith("_") and not last.startswith("_")
        name = ITEMS.get(call.name) or (last if in_place else call.operation)
        shapes = [(ref.shape, ref.tensor.dtype) for ref in call.results]
        results = []
        for ref in call.results:
            known = self.slots.get(id(ref.tensor))
            results.append(known or self._new(ref, last.strip("_") or "value"))
        return ProgramStep(name, args, options, results, shapes, call.module)

    def _settle_sizes(self, call: Any) -> Any:
        """Return the arguments of a call with slots, and -1 for an unknown size of a reshape."""
        unknown: list[Any] = []

        def settle(item: Any) -> Any:
            if isinstance(item, Size) and item.terms is None:
                unknown.append(item)
                return -1
            return self._slot(item)

        found = map_refs(settle, (call.args, call.options))
        if len(unknown) > (call.name in ("reshape", "view")):
            raise ExportError(
                f"{call.name!r} at {call.line} has a size that is no sum of multiples of the "
                "dynamic sizes of the inputs"
            )
        return found

    def _new(self, ref: Ref, name: str) -> TensorSlot:
        slot = self.slots[id(ref.tensor)] = TensorSlot(self._unique(name))
        return slot

    def _unique(self, name: str) -> str:
        found, count = name, 1
        while found in self.taken:
            found, count = f"{name}_{count}", count + 1
        self.taken.add(found)
        return found

    def _slot(self, item: Any) -> Any:
        """Return the slot of a tensor, a new one for a parameter or a constant."""
        if not isinstance(item, Ref):
            return item
        if item.tensor is None:
            item.tensor = Tensor(item.array)
        known = self.slots.get(id(item.tensor))
        if known is not None:
            return known
        if depends_on_arguments(item.value, self.depends):
            raise ExportError("a tensor was changed or computed outside of operations")
        name, tensor = self.names.get(id(item.tensor), ("constant", item.tensor))
        slot = self._new(item, name)
        self.tensors[slot.name] = tensor
        return slot
