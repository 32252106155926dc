"""Late-bound imports: fills the functions of upper layers that the graph and the tensors call."""

from __future__ import annotations

import functools
from typing import Any

from ..core.tensor import wrap
from ..dispatch.creation import legacy_constructor_source
from ..dispatch.node_recording import saved_result
from ..dispatch.registry import load_numpy
from ..graph.late_bound import LATE_BOUND, LateBound, Writing
from ..graph.nodes import Edge
from ..graph.special_nodes import without_slope
from ..graph.views import edge_of
from ..state import enable_grad, no_grad


def fill_late_imports() -> None:
    """Fill ``LATE_BOUND``. Modules that not every program uses are imported at their first use."""
    LateBound.__init__(
        LATE_BOUND,
        wrap=wrap,
        graph_namespace=load_numpy,
        output_of=saved_result,
        without_slope=_drop_slope,
        enable_grad=enable_grad,
        no_grad=no_grad,
        backward=_backward,
        legacy_source=legacy_constructor_source,
        writing=_writing,
    )


def _drop_slope(gradient: Any, edge: Edge) -> Any:
    """Return the gradient at its place in the graph, with derivative 0 along ``edge``."""
    out = wrap(gradient._data, gradient._xp)
    out._node = without_slope(gradient, edge_of(gradient), edge)
    out._rg = True
    return out


@functools.cache
def _backward_function() -> Any:
    from ..autograd.backward_pass import backward

    return backward


def _backward(*args: Any, **options: Any) -> None:
    _backward_function()(*args, **options)


@functools.cache
def _writing() -> Writing:
    from ..ops.create import conversion

    operations = conversion._view_scatter, conversion._copy_assigned, conversion._overwrite
    return Writing(*(operation.op.backward for operation in operations))
