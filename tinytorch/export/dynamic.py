"""Traces of a model whose inputs have dynamic sizes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy

from ..capture.trees import tensors_in
from ..core.tensor import Tensor
from .tracing import ExportError, Trace, map_refs, merge, trace


def dynamic_dims(names: Sequence[str], given: Any) -> dict[str, dict[int, str]]:
    """Return the name of each dynamic dimension, by input and dimension."""
    if not given:
        return {}
    items = given.items() if isinstance(given, Mapping) else zip(names, given, strict=False)
    found: dict[str, dict[int, str]] = {}
    for name, dims in items:
        if isinstance(dims, Mapping):
            found[name] = {axis: _dim_name(dim, name, axis) for axis, dim in dims.items() if dim}
        elif dims and all(isinstance(dim, int) for dim in dims):
            found[name] = {axis: f"{name}_dim_{axis}" for axis in dims}
        else:
            named = enumerate(dims or ())
            found[name] = {axis: _dim_name(dim, name, axis) for axis, dim in named if dim}
    return found


def _dim_name(dim: Any, name: str, axis: int) -> str:
    """Return the name of a dimension: a str, or an object with a name such as ``export.Size``."""
    if isinstance(dim, str):
        return dim
    return getattr(dim, "__name__", None) or f"{name}_dim_{axis}"


def trace_sizes(
    model: Any, example: Any, names: Sequence[str], dynamic: dict[str, dict[int, str]],
    known: Container[str], whole_layers: bool = False,
) -> Trace:  # fmt: skip
    """Trace the example, and inputs of other sizes if some are dynamic.

    Args:
        model: Module or function.
        example: Its arguments.
        names: A name for each tensor in them.
        dynamic: The name of each dynamic dimension, by input and dimension.
        known, whole_layers: See ``trace``.
    """
    tensors = dict(zip(names, tensors_in(example), strict=True))
    here: dict[str, int] = {}
    for name, dims in dynamic.items():
        if name not in tensors:
            continue  # the name of an output
        for axis, dim in dims.items():
            size = tensors[name].shape[axis]
            if here.setdefault(dim, size) != size:
                raise ValueError(f"{dim!r} has sizes {here[dim]} and {size}")
    run = functools.partial(trace, known=known, whole_layers=whole_layers)
    base = run(model, example)
    if here:

        def call(sizes: dict[str, int]) -> Trace:
            return run(model, _resize(example, names, dynamic, sizes))

        others = {}
        for dim in here:
            sizes, other = _trace_resized(call, {dim: here[dim]}, 1)
            others[dim] = sizes[dim], other
        there, last = _trace_resized(call, here, 2)
        merge(base, others, last, here, there)
    return base


def _trace_resized(
    call: Callable[[dict[str, int]], Trace], sizes: dict[str, int], times: int
) -> tuple[dict[str, int], Trace]:
    """Trace inputs of other sizes that the model takes: multiples, larger or smaller ones.

    Returns:
        The sizes and the trace.
    """
    candidates = [
        {dim: size * (1 + times) for dim, size in sizes.items()},
        {dim: size + times for dim, size in sizes.items()},
        {dim: max(size // (1 + times), 1) for dim, size in sizes.items()},
    ]
    refusal: Exception | None = None
    for found in candidates:
        if found == sizes:
            continue
        try:
            return found, call(found)
        except ExportError:
            raise
        except Exception as error:  # a size that the model refuses
            refusal = error
    raise ExportError(
        f"the model takes no inputs of other sizes than {sizes}: {refusal}"
    ) from refusal


def _resize(
    example: Any, names: Sequence[str], dynamic: dict[str, dict[int, str]], sizes: dict[str, int]
) -> Any:
    """Return the example with some dimensions resized: elements are repeated in turn."""
    left = iter(names)

    def resize(item: Any) -> Any:
        if not isinstance(item, Tensor):
            return item
        for axis, dim in dynamic.get(next(left), {}).items():
            if dim in sizes:
                positions = numpy.arange(sizes[dim]) % max(item.shape[axis], 1)
                item = item.index_select(axis, type(item)(positions.tolist()).long())
        return item

    return map_refs(resize, example)
