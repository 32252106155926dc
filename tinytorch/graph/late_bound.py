"""Late-bound imports: functions of upper layers that the graph and the tensors call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .nodes import Edge, Node


class WriteRules(NamedTuple):
    """``Backward`` of each operation that records a write to a tensor's memory."""

    #: Of the base of a view that was written to.
    view_scatter: Any
    #: Of the value that was written, and of the old value that it replaced.
    assigned: Any
    overwritten: Any


@dataclass(slots=True, eq=False, repr=False)
class LateBound:
    """Functions of upper layers that the graph and the tensors call but must not import."""

    #: Wraps a raw array and its backend in a Tensor.
    wrap: Callable[[Any, Any], Any]
    #: Namespace in which rules run under ``create_graph``: ``tinytorch.numpy.functions``.
    graph_namespace: Callable[[], Any]
    #: Makes the tensor of a node's result, for rules that use ``out``.
    output_of: Callable[[Node], Any]
    #: Returns a gradient whose node has a further edge, along which its derivative is 0.
    add_zero_edge: Callable[[Any, Edge], Any]
    #: Context managers for the grad mode.
    enable_grad: Callable[[], Any]
    no_grad: Callable[[], Any]
    #: ``autograd.backward``.
    backward: Callable[..., None]
    #: Makes the tensor for ``Tensor(...)``.
    legacy_source: Callable[..., Any]
    #: Makes the sparse tensor of a ``SparseGradient``.
    sparse_tensor: Callable[[Any], Any]
    #: Gives a tensor that may have views the data of another tensor.
    replace_data: Callable[[Any, Any], None]
    #: Returns the rules of writes to memory.
    write_rules: Callable[[], WriteRules]


#: Filled once, by ``facade.late_imports``; empty until then.
LATE_BOUND = object.__new__(LateBound)
