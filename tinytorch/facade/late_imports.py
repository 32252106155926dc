"""Late-bound imports: fills the functions of upper layers that the graph and the tensors call."""

from __future__ import annotations

import functools
from typing import Any

from ..core.tensor import wrap
from ..dispatch.creation import legacy_constructor_source
from ..dispatch.node_recording import saved_result
from ..dispatch.registry import load_numpy
from ..graph.late_bound import LATE_BOUND, LateBound, WriteRules
from ..graph.nodes import Edge
from ..graph.special_nodes import zero_derivative_node
from ..graph.views import edge_of
from ..state import enable_grad, no_grad


def fill_late_imports() -> None:
    """Fill ``LATE_BOUND``. Modules that not every program uses are imported at their first use."""
    LateBound.__init__(
        LATE_BOUND,
        wrap=wrap,
        graph_namespace=load_numpy,
        output_of=saved_result,
        add_zero_edge=_add_zero_edge,
        enable_grad=enable_grad,
        no_grad=no_grad,
        backward=_backward,
        legacy_source=legacy_constructor_source,
        sparse_tensor=_sparse_tensor,
        replace_data=_replace_data,
        write_rules=_write_rules,
    )


def _add_zero_edge(gradient: Any, edge: Edge) -> Any:
    """Return the gradient with a further ``edge``, along which its derivative is 0."""
    out = wrap(gradient._data, gradient._xp)
    out._node = zero_derivative_node(gradient, edge_of(gradient), edge)
    out._rg = True
    return out


@functools.cache
def _backward_function() -> Any:
    from ..autograd.backward_pass import backward

    return backward


def _backward(*args: Any, **options: Any) -> None:
    _backward_function()(*args, **options)


def _sparse_tensor(gradient: Any) -> Any:
    from ..ops.sparse.creation import make_of_gradient

    return make_of_gradient(gradient)


def _replace_data(target: Any, value: Any) -> None:
    from ..ops.shape.reshaping_inplace import replace_data

    replace_data(target, value)


@functools.cache
def _write_rules() -> WriteRules:
    from ..ops.create import conversion

    operations = conversion._view_scatter, conversion._copy_assigned, conversion._overwrite
    return WriteRules(*(operation.op.backward for operation in operations))
