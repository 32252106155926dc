"""The public functions that run a backward pass: ``backward`` and ``grad``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core import torch_function
from ..core.tensor import Size, Tensor, wrap
from ..graph.engine import CURRENT, GraphTask, LeafGraphTask, conjugate
from ..graph.grad_fn import AccumulateGrad
from ..graph.hooks import LeafHooks
from ..graph.late_bound import LATE_BOUND
from ..graph.nodes import Edge, Node, NodeOutput, backend_of, needed_nodes, node_of, shape_and_dtype
from ..graph.saved_tensors import Recording
from ..graph.sparse_gradients import SparseGradient
from ..graph.views import edge_of
from ..state import bind
from ..state.tracebacks import short
from ..warnings import warn
from .graph import GradientEdge

Tensors = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]


@short
def backward(
    tensors: Tensors, grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, inputs: Tensors | None = None,
) -> None:  # fmt: skip
    """Add the gradient of ``tensors`` to ``grad`` of the leaves they were computed from.

    Args:
        tensors: A tensor or a ``GradientEdge``, or several.
        grad_tensors: The gradient of each of them, of its shape; None stands for 1 for a tensor of
            one element.
        retain_graph: Whether the graph keeps its saved tensors; the default is ``create_graph``.
        create_graph: Whether the backward pass is recorded, for higher derivatives.
        inputs: If given, gradients are accumulated into these only.

    Raises:
        RuntimeError: If no tensor requires grad, a gradient is missing or of the wrong shape,
            or the graph was freed by an earlier pass.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> tt.autograd.backward((x * 3).sum())
        >>> x.grad
        tensor([3., 3.])
    """
    is_fast = tensors.__class__ in torch_function.PLAIN and grad_tensors is None and inputs is None
    values = () if is_fast else torch_function.find_overriding((tensors, inputs, grad_tensors), {})
    if values:
        options = {"grad_tensors": grad_tensors, "inputs": inputs, "retain_graph": retain_graph}
        torch_function.dispatch_override(
            backward, values, (tensors,), {**options, "create_graph": create_graph}
        )
        return
    if create_graph:
        warn(
            "Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient, which keeps the memory of both: use autograd.grad, or "
            "reset the .grad fields of the parameters to None after use."
        )
    wanted = None if inputs is None else _as_tuple(inputs)
    if wanted is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots, grads = _prepare_roots(tensors, grad_tensors, create_graph)
    if wanted is None:
        task = _run_task(roots, grads, retain_graph, create_graph, (), True)
        task.deliver()
        if task.callbacks:
            task.finish()
        return
    edges = [_edge(t) for t in wanted]
    for tensor in wanted:
        if isinstance(tensor, Tensor):
            tensor.retain_grad()  # also in later backward passes; no effect on a leaf
    task = _run_task(roots, grads, retain_graph, create_graph, edges, True)
    for tensor, edge, g in zip(wanted, edges, task.collect(edges), strict=True):
        target = edge if isinstance(tensor, GradientEdge) else tensor
        is_leaf = node_of(target) is None and (target is edge or target.is_leaf)
        if g is not None and is_leaf:  # ``retain_grad`` has set ``grad`` of the others
            task.accumulate_any(target, g, False)
            if target._post_accumulate_grad_hooks:
                task.call_post_accumulate_hooks(target, g)
    task.finish()


_ONLY_INPUTS = (
    "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
    "gradient for other parts of the graph, please use torch.autograd.backward."
)
_UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in the graph. Set "
    "allow_unused=True if this is the desired behavior."
)


@short
def grad(
    outputs: Tensors, inputs: Tensors, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
    is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Gradients of the sum of ``outputs`` with respect to ``inputs``, leaves or not.

    Args:
        outputs: The tensors to differentiate, or their ``GradientEdge``.
        inputs: The tensors to differentiate with respect to, or their ``GradientEdge``.
        grad_outputs: Weights of the outputs' elements; None stands for 1 for an output of one
            element.
        retain_graph: Whether the graph keeps its saved tensors; the default is ``create_graph``.
        create_graph: Whether the backward pass is recorded, for higher derivatives.
        only_inputs: Accepted; gradients of other tensors are never accumulated.
        allow_unused: Whether the gradient of an input on which no output depends is None; otherwise
            it is an error. The default is ``materialize_grads``.
        is_grads_batched: Whether ``grad_outputs`` have a leading batch dimension; the result has
            it, too.
        materialize_grads: Whether zeros are returned instead of None.

    Returns:
        One gradient per input.

    Raises:
        RuntimeError: For an unused input unless allowed, and as for ``backward``.

    Example:
        >>> x = tt.tensor(2.0, requires_grad=True)
        >>> (first,) = tt.autograd.grad(x ** 3, x, create_graph=True)
        >>> tt.autograd.grad(first, x)
        (tensor(12.),)
    """
    values = torch_function.find_overriding((outputs, inputs, grad_outputs), {})
    if values or torch_function.has_mode():
        return torch_function.dispatch_override(grad, values, (outputs, inputs), {  # type: ignore[no-any-return]
            "grad_outputs": grad_outputs, "retain_graph": retain_graph,
            "create_graph": create_graph, "only_inputs": only_inputs,
            "allow_unused": allow_unused, "is_grads_batched": is_grads_batched,
            "materialize_grads": materialize_grads,
        })  # fmt: skip
    if not only_inputs:
        warn(_ONLY_INPUTS, FutureWarning)
    if is_grads_batched:
        return _grad_batched(
            outputs, inputs, grad_outputs, retain_graph, create_graph,
            allow_unused=allow_unused, materialize_grads=materialize_grads,
        )  # fmt: skip
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    wanted = _as_tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    for tensor in wanted:
        if isinstance(tensor, Tensor) and not tensor.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    roots, grads = _prepare_roots(outputs, grad_outputs, create_graph)
    edges = [_edge(t) for t in wanted]
    task = _run_task(roots, grads, retain_graph, create_graph, edges)
    results = []
    for at, (edge, g) in enumerate(zip(edges, task.collect(edges), strict=True)):
        if g is not None:
            g = conjugate(g if create_graph else _wrap_dense(g, backend_of(edge)))
        elif materialize_grads:
            g = _zeros(wanted[at], edge).requires_grad_(create_graph)
        elif not allow_unused:
            raise RuntimeError(_UNUSED.format(at))
        results.append(g)
    task.finish()
    return tuple(results)


def _wrap_dense(g: Any, xp: Any) -> Tensor:
    """Wrap a raw gradient; it is copied if a stride is zero or negative."""
    if g.__class__ is SparseGradient:
        sparse: Tensor = LATE_BOUND.sparse_tensor(g)
        return sparse
    if not g.flags.c_contiguous and min(g.strides) <= 0:
        g = xp.ascontiguousarray(g)
    return wrap(g, xp)


def _grad_batched(
    outputs: Tensors, inputs: Tensors, grad_outputs: Any, retain_graph: bool | None,
    create_graph: bool, **unused: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """``grad`` with ``is_grads_batched=True``: one backward pass for each item of the batch."""
    batched = _as_tuple(grad_outputs)
    for at, (root, g) in enumerate(zip(_as_tuple(outputs), batched, strict=False)):
        edge = _edge(root)
        shape = Size(() if edge is None else shape_and_dtype(edge)[0])
        if edge is not None and isinstance(g, Tensor) and g.shape[1:] != shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                "match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{at}] has a shape of {g.shape} and output[{at}] has a shape of "
                f"{shape}."
            )
    last = len(batched[0]) - 1
    rows = [
        grad(
            outputs, inputs, [g[i] for g in batched], True if i < last else retain_graph,
            create_graph, **unused,
        )
        for i in range(last + 1)
    ]  # fmt: skip
    from ..ops.shape.joining import stack

    columns: Any = zip(*rows, strict=True)
    return tuple(None if column[0] is None else stack(list(column)) for column in columns)


def _as_tuple(tensors: Any) -> tuple[Any, ...]:
    """Return a tensor, a ``GradientEdge``, or a sequence of these as a tuple."""
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)


def _edge(tensor: Tensor | GradientEdge) -> Edge:
    """Return the edge of a tensor, or the edge that a ``GradientEdge`` describes."""
    if isinstance(tensor, Tensor):
        return edge_of(tensor)
    if isinstance(tensor.node, AccumulateGrad):
        return tensor.node.variable
    node = tensor.node._node
    if tensor.ownership_token is not None and node_of(tensor.ownership_token) is node:
        return tensor.ownership_token
    return NodeOutput(node, tensor.output_nr) if isinstance(node.dtype, tuple) else node


def _zeros(wanted: Any, edge: Edge) -> Tensor:
    """Return zeros for the input ``wanted``, of this edge, on which no output depends."""
    if isinstance(wanted, GradientEdge):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    xp = backend_of(edge)
    return wrap(xp.zeros(*shape_and_dtype(edge)), xp)


def _prepare_roots(tensors: Any, given: Any, create_graph: bool) -> tuple[list[Any], list[Any]]:
    """Return the edges at which a backward pass begins, and the initial gradient of each.

    The gradients, ``given`` or ones, are raw arrays; under ``create_graph`` they are tensors.
    """
    if given is None and isinstance(tensors, Tensor):
        edge = edge_of(tensors)
        return [edge], [_root_grad(edge, None, create_graph)]
    edges = [_edge(root) for root in _as_tuple(tensors)]
    grads = (None,) * len(edges) if given is None else _as_tuple(given)
    if len(grads) != len(edges):
        raise RuntimeError(f"got {len(edges)} tensors and {len(grads)} gradients")
    return edges, [_root_grad(e, g, create_graph) for e, g in zip(edges, grads, strict=True)]


def _root_grad(edge: Edge, g: Any, create_graph: bool) -> Any:
    """Check and convert the initial gradient ``g`` of a root; None stands for 1."""
    if edge is None:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if edge.__class__ is Node:
        shape, native, xp = edge.shape, edge.dtype, edge.xp
    else:
        (shape, native), xp = shape_and_dtype(edge), backend_of(edge)
    if g is None:
        if math.prod(shape) != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if native.kind == "c":
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got "
                f"{xp.dtype_of_native(native)}"
            )
        ones = xp.ones(shape, native)
        return wrap(ones, xp) if create_graph else ones
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if g._data.shape != shape:
        raise RuntimeError(
            "Mismatch in shape: grad_output[0] has a shape of "
            f"{g.shape} and output[0] has a shape of {Size(shape)}."
        )
    g = _to_root_device(g, xp)
    if g._data.dtype != native:
        dtype = xp.dtype_of_native(native)
        if (g._data.dtype.kind == "c") != (native.kind == "c"):
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same "
                f"dtype. Mismatch in dtype: grad_output[0] has a dtype of {g.dtype} and output[0] "
                f"has a dtype of {dtype}."
            )
        g = g.to(dtype)
    g = conjugate(g)
    return g if create_graph else g._data


def _to_root_device(g: Tensor, xp: Any) -> Tensor:
    """Move a gradient to its root's backend; as in PyTorch it must have no dimensions for that."""
    if g._xp is xp:
        return g
    if g._data.shape:
        expected = wrap(xp.here().empty(0), xp).device
        raise RuntimeError(
            f"invalid gradient at index 0 - expected device {expected} but got {g.device}"
        )
    return g.to(backend=xp)


def _run_task(
    roots: list[Edge], grads: list[Any], retain_graph: bool | None, create_graph: bool,
    wanted: Sequence[Edge], accumulating: bool = False,
) -> GraphTask:  # fmt: skip
    """Run a backward pass from ``roots``, the edges whose initial gradients are ``grads``.

    ``wanted`` are the edges whose gradients ``collect`` of the result returns; if there are none,
    its ``deliver`` gives all leaves their gradients. ``accumulating`` is whether gradients are
    added to ``grad``.
    """
    if wanted and any(edge is None for edge in wanted):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    create = LeafGraphTask if LeafHooks.in_use() else GraphTask
    task = create(create_graph if retain_graph is None else retain_graph, create_graph, wanted)
    task.accumulates_captured = accumulating
    if accumulating and isinstance(task, LeafGraphTask):
        task.accumulating = all(node_of(edge) is None for edge in wanted)
    task.roots = roots
    if wanted:
        task.needed = needed_nodes(roots, wanted)
    for edge, g in zip(roots, grads, strict=True):
        if not wanted or task.needs(edge):
            task.send(edge, g, False)
    if create_graph:
        with LATE_BOUND.enable_grad():
            _run(task)
    elif Recording.needs_current:
        _run(task)
    else:  # rules compute with raw arrays, and a rule that calls user code disables grad itself
        task.run()
    return task


def _run(task: GraphTask) -> None:
    """Run a backward pass with ``CURRENT`` set to it."""
    with bind(CURRENT, task):
        task.run()
