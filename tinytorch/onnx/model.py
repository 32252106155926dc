"""Modules that run the graph of an ONNX file."""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

from ..nn.module import Module
from ..nn.parameter import Parameter
from .operators import OPERATORS, T
from .reading import Graph, Step, read

__all__ = ["load"]

#: Most modules inside each other, and most ``_`` after a name.
_DEEPEST = 32
#: Inputs of operators that are not trained, though they are floats.
_NOT_TRAINED = {
    "BatchNormalization": (3, 4), "Clip": (1, 2), "Resize": (1, 2), "Pad": (2,), "Dropout": (1,),
    "OneHot": (2,), "Range": (0, 1, 2), "ConstantOfShape": (0,),
}  # fmt: skip


def load(f: Any) -> OnnxModule:
    """Load an ONNX file as a module.

    Initializers of floats are parameters, so that the module can be trained further; the running
    statistics of batch normalizations, numbers without dimensions and integers are buffers. A dot
    in a name of the file is one in ``state_dict``, too. Constants of the graph are buffers that
    ``state_dict`` leaves out. Nothing in the file is executed. External data must be in the
    folder of the file.

    Args:
        f: Path of the file, a binary file object, or bytes. Opset 13 to 21.

    Returns:
        A module. It accepts the inputs of the graph by position, or by their names, and returns
        its output, or a tuple of several. Gradients are those of the operations.

    Raises:
        ImportError: If the package ``onnx`` is not installed.
        ValueError: If the file is malformed, or reads outside its folder.
        NotImplementedError: For an unknown operator, with its name and that of the node.

    Example:
        >>> import onnx  # doctest: +SKIP
        >>> model = tt.onnx.load("model.onnx")  # doctest: +SKIP
        >>> model(tt.ones(1, 4)).shape  # doctest: +SKIP
        tinytorch.Size([1, 2])
    """
    return OnnxModule(read(f))


class OnnxModule(Module):
    """Module that runs the graph of an ONNX file; see ``load``.

    Args:
        graph: The graph.

    Attributes:
        input_names: Names of the inputs.
        output_names: Names of the outputs.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.input_names: list[str] = graph.inputs
        self.output_names: list[str] = graph.outputs
        self._graph = graph
        self._register(graph)

    def _register(self, graph: Graph) -> None:
        """Register the tensors of a graph, and of the graphs in it, as parameters and buffers."""
        fixed = {*graph.constants, *_fixed_names(graph)}
        for name, array in list(graph.tensors.items()):
            value = T.tensor(array)
            owner, field, graph.tensors[name] = self._place(name)
            if value.is_floating_point() and value.dim() and name not in fixed:
                owner.register_parameter(field, Parameter(value))
            else:
                owner.register_buffer(field, value, persistent=name not in graph.constants)
        for step in graph.steps:
            for key, value in step.attributes.items():
                if isinstance(value, Graph):
                    self._register(value)
                elif hasattr(value, "dtype"):
                    step.attributes[key] = T.tensor(value)

    def _place(self, name: str) -> tuple[Module, str, tuple[str, ...]]:
        """Return the module and the attribute for a tensor's name, and the path of both.

        The parts between dots are modules. A name that is taken, or that Python's or the module's
        own attributes have, gets a ``_``.
        """
        names = name.split(".") if name.count(".") < _DEEPEST else [name]
        *path, field = [re.sub(r"\W", "_", part) or "_" for part in names]
        owner: Module = self
        parts = []
        for part in path:
            while hasattr(owner, part) and not isinstance(owner._modules.get(part), Module):
                part += "_"
            if part not in owner._modules:
                owner.add_module(part, Module())
            owner = owner.get_submodule(part)
            parts.append(part)
        # After some names a number, which takes no longer for many names that differ in one sign.
        number = len(owner._parameters) + len(owner._buffers)
        for _ in range(_DEEPEST):
            if hasattr(owner, field):
                field += "_"
        while hasattr(owner, field):
            field, number = f"{field.rstrip('0123456789')}{number}", number + 1
        return owner, field, (*parts, field)

    # -- calls ---------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph.

        Args:
            *args: The inputs by position.
            **kwargs: The inputs by name.
        """
        names = self.input_names
        given = dict(zip(names, args, strict=False))
        wrong = [name for name in kwargs if name not in names or name in given]
        if len(args) > len(names) or wrong or len(given) + len(kwargs) < len(names):
            raise TypeError(
                f"OnnxModule.forward: expected the inputs {', '.join(names)}, got {len(args)} by "
                f"position and {', '.join(kwargs) or 'none'} by name"
            )
        results = self._run(self._graph, {**given, **kwargs})
        return results[0] if len(results) == 1 else results

    def _run(self, graph: Graph, values: dict[str, Any]) -> tuple[Any, ...]:
        """Run a graph on the values of its inputs and of the graphs around it."""
        for name, path in graph.tensors.items():
            value: Any = self
            for part in path:
                value = getattr(value, part)
            values[name] = value
        for step in graph.steps:
            try:
                self._run_step(step, values)
            except Exception as error:
                error.add_note(f"in node {step.name or step.outputs[0]!r} ({step.operator})")
                raise
        return tuple(values[name] for name in graph.outputs)

    def _run_step(self, step: Step, values: dict[str, Any]) -> None:
        """Run one node, and drop the values that no later one reads."""
        function = OPERATORS[step.operator]
        options = {
            name: _Branch(self, value, values) if isinstance(value, Graph) else value
            for name, value in step.attributes.items()
        }
        inputs = [values[name] if name else None for name in step.inputs]
        while inputs and inputs[-1] is None and step.operator != "Loop":
            inputs.pop()
        if _takes_outputs(function):
            options["outputs"] = sum(bool(name) for name in step.outputs)
        results = function(*inputs, **options)
        several = isinstance(results, (tuple, list))
        found = tuple(results) if several else (results,)
        if any(step.outputs[len(found) :]):
            raise ValueError(
                f"onnx: expected at most {len(found)} outputs of {step.operator}, the node has "
                f"{len(step.outputs)}"
            )
        values.update(zip(step.outputs, found, strict=False))
        for name in step.drops:
            values.pop(name, None)


class _Branch:
    """Graph in an attribute, with the values around it."""

    def __init__(self, module: OnnxModule, graph: Graph, values: dict[str, Any]) -> None:
        self._module, self._graph, self._values = module, graph, values
        self.outputs = len(graph.outputs)

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        given = dict(zip(self._graph.inputs, args, strict=True))
        return self._module._run(self._graph, {**self._values, **given})


@functools.cache
def _takes_outputs(function: Any) -> bool:
    """Whether the function of an operator has the number of outputs as a parameter."""
    return "outputs" in inspect.signature(function).parameters


def _fixed_names(graph: Graph) -> set[str]:
    """Return the names of the initializers that are inputs of operators which train none."""
    return {
        step.inputs[i]
        for step in graph.steps
        for i in _NOT_TRAINED.get(step.operator, ())
        if i < len(step.inputs)
    }
