"""Late-bound imports: functions of upper layers that the graph and the tensors call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .nodes import Edge, Node


class Writing(NamedTuple):
    """How a tensor's history goes on where its memory was written to."""

    #: What a base gets of a view of it that has changed.
    view_scatter: Any
    #: Of the value that was written, and of the old value beside it.
    assigned: Any
    written_over: Any


@dataclass(slots=True, eq=False, repr=False)
class Above:
    """What the graph and the tensors need of the layers above, which they must not import."""

    #: Wraps a raw array and its backend in a Tensor.
    wrap: Callable[[Any, Any], Any]
    #: The namespace rules run in under ``create_graph``: ``tinytorch.numpy.functions``.
    graph_namespace: Callable[[], Any]
    #: A tensor that stands for a node's result, for rules that use ``out``.
    output_of: Callable[[Node], Any]
    #: A gradient in the same place of the graph, and in front of an edge it does not change with.
    without_slope: Callable[[Any, Edge], Any]
    #: Context managers for the grad mode.
    enable_grad: Callable[[], Any]
    no_grad: Callable[[], Any]
    #: ``autograd.backward``.
    backward: Callable[..., None]
    #: The tensor that ``Tensor(...)`` is made of.
    legacy_source: Callable[..., Any]
    #: The rules of what is written to memory.
    writing: Callable[[], Writing]


#: Filled once, by ``facade.late_imports``; empty until then.
ABOVE = object.__new__(Above)
