"""Late-bound imports: functions of upper layers that the graph and the tensors call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .nodes import Edge, Node


class Writing(NamedTuple):
    """Gradient rules of writes to a tensor's memory, for the history of the tensor."""

    #: Rule of a base of which a view has changed.
    view_scatter: Any
    #: Rules of the value that was written, and of the old value beside it.
    assigned: Any
    written_over: Any


@dataclass(slots=True, eq=False, repr=False)
class LateBound:
    """Functions of upper layers, which the graph and the tensors call but must not import."""

    #: Wraps a raw array and its backend in a Tensor.
    wrap: Callable[[Any, Any], Any]
    #: Namespace in which rules run under ``create_graph``: ``tinytorch.numpy.functions``.
    graph_namespace: Callable[[], Any]
    #: Makes the tensor of a node's result, for rules that use ``out``.
    output_of: Callable[[Node], Any]
    #: Returns a gradient at its place in the graph, with derivative 0 along an edge.
    without_slope: Callable[[Any, Edge], Any]
    #: Context managers for the grad mode.
    enable_grad: Callable[[], Any]
    no_grad: Callable[[], Any]
    #: ``autograd.backward``.
    backward: Callable[..., None]
    #: Makes the tensor for ``Tensor(...)``.
    legacy_source: Callable[..., Any]
    #: Rules of writes to memory.
    writing: Callable[[], Writing]


#: Filled once, by ``facade.late_imports``; empty until then.
LATE_BOUND = object.__new__(LateBound)
