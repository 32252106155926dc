"""``summary``: a table of a model's layers, output shapes, parameters and FLOPs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..core.tensor import Tensor
from ..dtypes import as_dtype
from ..nn.module import Module
from ..ops.create.factories import zeros
from ..state import default_dtype, no_grad
from ._pytree import tree_map
from .flop_counter import FlopCounterMode, count_program

__all__ = ["LayerInfo", "ModelSummary", "summary"]


@dataclass
class LayerInfo:
    """Information about one module of a model.

    Attributes:
        name: Its name in the model, such as ``"encoder.0"``; ``""`` for the model itself.
        kind: Name of its class.
        depth: Number of modules around it.
        input_size: Shapes of its arguments, nested as these are; None if it was not called.
        output_size: Shapes of its result in the last call, nested as the result is.
        num_params: Number of elements in its parameters, including those of its submodules; a
            shared parameter counts for the first module.
        trainable_params: Number of these elements that require grad.
        flops: Floating-point operations of the products in all its calls, including submodules.
        calls: Number of calls.

    Example:
        >>> tt.summary(tt.nn.Linear(3, 2), (4, 3)).layers[0].output_size
        (4, 2)
    """

    name: str
    kind: str
    depth: int
    input_size: Any = None
    output_size: Any = None
    num_params: int = 0
    trainable_params: int = 0
    flops: int = 0
    calls: int = 0


@dataclass
class ModelSummary:
    """Result of ``summary``; its text is a table.

    Attributes:
        layers: All modules, the model first; those below ``depth`` are not in the table.
        depth: Depth of modules in the table.
        total_params: Number of elements in all parameters, each counted once.
        trainable_params: Number of these elements that require grad.
        param_bytes: Memory of the parameters.
        total_flops: Floating-point operations of the products of one forward pass.

    Example:
        >>> found = tt.summary(tt.nn.Linear(3, 2), (4, 3))
        >>> found.total_params, found.total_flops
        (8, 48)
    """

    layers: list[LayerInfo]
    depth: int
    param_bytes: int
    total_params: int = field(init=False)
    trainable_params: int = field(init=False)
    total_flops: int = field(init=False)

    def __post_init__(self) -> None:
        whole = self.layers[0]
        self.total_params, self.trainable_params = whole.num_params, whole.trainable_params
        self.total_flops = whole.flops

    def __str__(self) -> str:
        rows = [("Layer", "Output shape", "Parameters", "FLOPs"), *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [_line(row, widths) for row in rows]
        rule = "-" * len(lines[0])
        frozen = self.total_params - self.trainable_params
        totals = [
            f"Parameters: {self.total_params:,}" + (f" ({frozen:,} frozen)" if frozen else ""),
            f"Memory of parameters: {self.param_bytes:,} bytes",
            f"FLOPs of a forward pass: {self.total_flops:,}",
        ]
        return "\n".join([lines[0], rule, *lines[1:], rule, *totals])

    __repr__ = __str__

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield the rows of the table.

        The counts of a layer do not include those of its submodules that have rows.
        """
        parts_of: dict[str, list[LayerInfo]] = {}
        for layer in self.layers[1:]:
            parts_of.setdefault(layer.name.rpartition(".")[0], []).append(layer)

        def flops_of(layer: LayerInfo) -> int:
            """FLOPs of a layer; of a container that is not called, those of its parts."""
            parts = () if layer.calls else parts_of.get(layer.name, ())
            return layer.flops or sum(map(flops_of, parts))

        for layer in self.layers:
            if layer.depth > self.depth:
                continue
            parts = parts_of.get(layer.name, []) if layer.depth < self.depth else []
            params = layer.num_params - sum(part.num_params for part in parts)
            flops = flops_of(layer) - sum(map(flops_of, parts))
            last = layer.name.rpartition(".")[2]
            called = f"{last}: {layer.kind}" if layer.depth else layer.kind
            times = f" ({layer.calls} calls)" if layer.calls > 1 else ""
            shape = "--" if layer.output_size is None else str(layer.output_size)
            counts = (f"{n:,}" if n > 0 else "--" for n in (params, flops))
            yield "  " * layer.depth + called + times, shape, *counts  # type: ignore[misc]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Line of the table: two columns aligned to the left, and the others to the right."""
    left = [text.ljust(width) for text, width in zip(row[:2], widths[:2])]
    right = [text.rjust(width) for text, width in zip(row[2:], widths[2:])]
    return "  ".join([*left, *right])


def summary(
    model: Any, input_size: Any = None, *, input_data: Any = None, dtypes: Any = None,
    depth: int = 3, mode: str = "eval", **kwargs: Any,
) -> ModelSummary:  # fmt: skip
    """Run a model once, and list the output shape, parameters and FLOPs of each layer.

    The model is called without recording gradients. The input is zeros unless it is given. The
    training mode of each module is restored afterwards. A program of ``export.export`` is not run:
    it has the shapes, and its operations have the modules that call them.

    Args:
        model: The model, or an ``ExportedProgram``.
        input_size: Shape of the input, including the batch, or a list of shapes for several
            inputs. Of a program: the sizes of its dynamic dimensions by name; by default those of
            the example.
        input_data: The input, instead of its shape: a tensor, a tuple or list of positional
            arguments, or a dict of keyword arguments.
        dtypes: The dtype of the input, or a list of one for each input. Default: that of the
            model's first floating-point parameter or buffer, else the default dtype.
        depth: Depth of modules in the table. Default: 3.
        mode: ``"eval"``, ``"train"``, or ``"same"`` for the model's current mode. Default:
            ``"eval"``.
        **kwargs: Further arguments of the model.

    Returns:
        ``ModelSummary``; ``print`` shows it as a table.

    Raises:
        TypeError: If ``model`` is no Module and no program, or shapes are not of integers.
        ValueError: If neither or both of ``input_size`` and ``input_data`` are given, if the
            number of dtypes is not that of the shapes, or for another ``mode``.

    Example:
        >>> model = tt.nn.Sequential(tt.nn.Linear(784, 128), tt.nn.ReLU(), tt.nn.Linear(128, 10))
        >>> print(tt.summary(model, (64, 784)))
        Layer        Output shape  Parameters       FLOPs
        -------------------------------------------------
        Sequential   (64, 10)              --          --
          0: Linear  (64, 128)        100,480  12,845,056
          1: ReLU    (64, 128)             --          --
          2: Linear  (64, 10)           1,290     163,840
        -------------------------------------------------
        Parameters: 101,770
        Memory of parameters: 407,080 bytes
        FLOPs of a forward pass: 13,008,896
    """
    if hasattr(model, "walk"):  # an ExportedProgram
        return _summarize_program(model, input_size, depth)
    if not isinstance(model, Module):
        raise TypeError(f"summary(): expected a Module, got {type(model).__name__}")
    if mode not in ("eval", "train", "same"):
        raise ValueError(f"summary(): expected mode 'eval', 'train' or 'same', got {mode!r}")
    args, named = _arguments(model, input_size, input_data, dtypes)
    layers = {
        id(module): LayerInfo(name, type(module).__name__, name.count(".") + bool(name))
        for name, module in model.named_modules()
    }
    counter = FlopCounterMode(display=False)
    with use_mode(model, mode), no_grad(), counter, _record_calls(model, layers, counter):
        model(*args, **named, **kwargs)
    return _summarize(model, {layer.name: layer for layer in layers.values()}, depth)


def _summarize(model: Any, layers: dict[str, LayerInfo], depth: int) -> ModelSummary:
    """Count the parameters of a model or program, and return the summary of its layers."""
    _count_parameters(model, layers)
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    return ModelSummary([*layers.values()], depth, size)


def _summarize_program(program: Any, sizes: Mapping[str, int] | None, depth: int) -> ModelSummary:
    """Summary of an ``ExportedProgram``; ``sizes`` are those of its dynamic dimensions."""
    values: dict[str, Tensor] = {}
    counts = count_program(program, sizes, values=values).get_flop_counts()

    def shapes(tree: Any) -> Any:
        return _shapes(tree_map(lambda slot: values.get(getattr(slot, "name", ""), slot), tree))

    layers = {"": LayerInfo("", type(program).__name__, 0, output_size=shapes(program.result))}
    layers[""].flops = sum(counts.get("Global", {}).values())
    root = program.modules[""].kind if program.modules else ""
    for path, calls in program.modules.items():
        layer = layers[path] = LayerInfo(path, calls.kind, path.count(".") + bool(path))
        layer.calls = calls.count
        layer.output_size = shapes(calls.result) if calls.count else None
        layer.flops = sum(counts.get(f"{root}.{path}" if path else "Global", {}).values())
    return _summarize(program, layers, depth)


def _arguments(
    model: Module, sizes: Any, data: Any, dtypes: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with which ``summary`` calls the model.

    Args:
        model: The model, which determines the device and the default dtype.
        sizes: The argument ``input_size``: a shape or a list of shapes of zeros, or None.
        data: The argument ``input_data``: the arguments themselves, or None.
        dtypes: The argument ``dtypes``: a dtype for all shapes, or one for each.

    Returns:
        The positional and the keyword arguments.

    Raises:
        ValueError: Unless one of ``sizes`` and ``data`` is given, or if there are more or fewer
            dtypes than shapes.
    """
    if (sizes is None) is (data is None):
        raise ValueError("summary(): expected either input_size or input_data")
    if data is not None:
        if isinstance(data, Mapping):
            return (), dict(data)
        return (tuple(data) if isinstance(data, (tuple, list)) else (data,)), {}
    is_list = bool(sizes) and all(isinstance(size, (tuple, list)) for size in sizes)
    shapes = list(sizes) if is_list else [sizes]
    kinds = list(dtypes) if isinstance(dtypes, (tuple, list)) else [dtypes] * len(shapes)
    if len(kinds) != len(shapes):
        raise ValueError(f"summary(): got {len(kinds)} dtypes for {len(shapes)} inputs")
    tensors = [*itertools.chain(model.parameters(), model.buffers())]
    options = {"device": tensors[0].device} if tensors else {}
    usual = next((t.dtype for t in tensors if t.dtype.is_floating_point), default_dtype())
    return tuple(
        zeros(tuple(shape), dtype=usual if kind is None else as_dtype(kind), **options)
        for shape, kind in zip(shapes, kinds)
    ), {}


@contextmanager
def use_mode(model: Module, mode: str) -> Iterator[None]:
    """Set the mode of a model in a ``with`` block; restore that of each module at its end."""
    before = [(module, module.training) for module in model.modules()]
    if mode != "same":
        model.train(mode == "train")
    try:
        yield
    finally:
        for module, training in before:
            module.training = training


@contextmanager
def _record_calls(
    model: Module, layers: dict[int, LayerInfo], counter: FlopCounterMode
) -> Iterator[None]:
    """Record the calls of each module in a ``with`` block: shapes, FLOPs and their number.

    Args:
        model: The model, with its submodules.
        layers: Information about each module, by its ``id``, which is updated.
        counter: The mode that counts FLOPs.
    """
    flops_before: list[int] = []  # a stack with an entry for each running module

    def on_begin(module: Module, args: Any) -> None:
        flops_before.append(counter.get_total_flops())

    def on_end(module: Module, args: Any, kwargs: Any, result: Any) -> None:
        layer = layers[id(module)]
        layer.calls += 1
        layer.flops += counter.get_total_flops() - flops_before.pop()
        sizes = [_shapes(value) for value in (*args, *kwargs.values())]
        layer.input_size = sizes[0] if len(sizes) == 1 else sizes
        layer.output_size = _shapes(result)

    handles = [
        handle
        for module in model.modules()
        for handle in (
            module.register_forward_pre_hook(on_begin, prepend=True),
            module.register_forward_hook(on_end, with_kwargs=True),
        )
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _shapes(value: Any) -> Any:
    """Shape of a tensor; for a tuple, list or dict the same of its items; else the class name."""
    if isinstance(value, Tensor):
        return tuple(value.shape)
    if isinstance(value, Mapping):
        return {name: _shapes(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_shapes(part) for part in value]
    return type(value).__name__


def _count_parameters(model: Module, layers: dict[str, LayerInfo]) -> None:
    """Add the number of elements of each parameter to its module and all enclosing modules.

    ``layers`` has the information about each module, by its name.
    """
    for name, p in model.named_parameters():  # a shared one appears once
        while name:
            name = name.rpartition(".")[0]
            layers[name].num_params += p.numel()
            layers[name].trainable_params += p.numel() * bool(p.requires_grad)
