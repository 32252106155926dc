"""The engine: ``GraphTask`` runs a backward pass from the roots to the leaves, newest node first.

A node is always created after the nodes of its inputs, so visiting pending nodes by descending
creation number is a topological order: no recursion, no marking pass, and a chain of any length
works. In a normal backward pass the gradient rules compute with raw arrays and the node's backend.
Under ``create_graph=True`` the same loop calls them with tensors and the differentiable namespace,
so that their computation is recorded.

A pass accumulates the gradients of all leaves at its end. If a leaf has hooks, ``LeafGraphTask``
first counts how many gradients each leaf receives and calls its hooks as soon as the last one
arrives: a hook can then use a gradient and free it before the next one is computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from ..backends.storage import dense_order, match_order
from ..state import Variable, bind
from ..state.recorder import RECORDER
from ..warnings import warn
from .hooks import (
    AfterAccumulation, BeforeAccumulation, call_hook, call_tensor_hook, check_count,
    check_returns_none,
)  # fmt: skip
from .late_bound import LATE_BOUND
from .nodes import (
    Edge, Node, NodeOutput, backend_of, node_of, reachable, shape_and_dtype, sum_to_shape,
)  # fmt: skip
from .saved_tensors import check_versions, release, saved_arguments
from .sparse_gradients import (
    NotDenseError, SparseGradient, accumulate_sparse, add_gradients, to_raw, unwrap_gradient,
    wrap_gradient,
)  # fmt: skip


def note_origin(error: Exception, node: Any, warning: bool) -> None:
    """Add a note to an error that names the operation whose gradient raised it, only once.

    ``node`` is None if none was visited. ``warning``: whether to warn, as PyTorch's anomaly mode.
    """
    if node is None or getattr(error, "_has_origin", False):
        return
    if not getattr(error, "_in_hook", False):  # ``call_hook`` has already named the user's hook
        inputs = [None if e is None else list(shape_and_dtype(e)[0]) for e in node.edges]
        name = node.op.name if getattr(node.op, "public", True) else node.name()
        error.add_note(
            f"in the gradient of {name!r}: inputs of shape {inputs}, result of shape {node.shape}"
        )
    traceback = (node.extra or {}).get("traceback")
    forward = f"Traceback of forward call that caused the error:\n{''.join(traceback or ())}"
    if traceback:
        error.add_note(forward)
    error._has_origin = True  # type: ignore[attr-defined]
    if warning:
        unknown = (
            "No forward pass information available. Enable detect anomaly during forward pass for "
            "more information."
        )
        warn(f"Error detected in {node.name()}. {forward if traceback else unknown}")


Gradient = Any  # a raw array, or a Tensor under create_graph


class Anomaly:
    """State of anomaly mode: ``enabled`` is read when an operation is recorded."""

    enabled = False
    check_nan = True


#: The running backward pass: set while it calls hooks; always if ``Recording.needs_current``.
CURRENT: Variable[GraphTask | None] = Variable("task", None)


def call_after_backward(callback: Callable[[], object]) -> None:
    """Register a function with the running backward pass, to be called when it is complete.

    Raises:
        RuntimeError: If no backward pass is running.
    """
    task = CURRENT.get()
    if task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task.callbacks.append(callback)


class GraphTask:
    """One backward pass.

    If there are edges to ``capture``, whose gradients ``collect`` returns, only the nodes that lead
    to them are visited. A gradient is *fresh* if no other object holds its memory, so that the pass
    may add to it in place.
    """

    capturing: bool
    #: Whether captured gradients are added to ``grad``, as in ``backward(inputs=...)``.
    accumulates_captured: bool
    #: Whether a rule of this pass has computed a sparse gradient.
    has_sparse = False

    def __init__(self, retain_graph: bool, create_graph: bool, capture: Sequence[Edge]) -> None:
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        # node.seq -> [node, gradient (a list of them for several results), fresh]
        self.pending: dict[int, list[Any]] = {}
        # ``-node.seq`` of each pending node, so that the newest node is popped first
        self.heap: list[int] = []
        # id(leaf) -> [leaf, gradient, fresh]
        self.leaves: dict[int, list[Any]] = {}
        # node.seq -> by index, the outputs that received a gradient and have hooks, or are captured
        self.outputs: dict[int, dict[int, NodeOutput]] = {}
        # id(edge) -> gradient, for the edges to capture
        self.captured: dict[int, Gradient] = dict.fromkeys(map(id, capture))
        self.capturing, self.accumulates_captured = bool(self.captured), False
        self.special: bool = self.capturing or Anomaly.enabled
        #: ``seq`` of the nodes that lead to a captured edge.
        self.needed: set[int] = set()
        self.roots: Sequence[Edge] = ()
        #: ``reachable(roots)``; None until needed.
        self.reached: set[int] | None = None
        self.namespace: Any | None = LATE_BOUND.graph_namespace() if create_graph else None
        #: Functions to call when the pass is complete.
        self.callbacks: list[Callable[[], object]] = []
        #: Values that hooks store from one call to the next in this pass, each under its own key.
        self.stored: dict[Any, Any] = {}

    def needs(self, edge: Edge) -> bool:
        """Whether a gradient along ``edge`` leads to a captured one."""
        if not self.capturing or id(edge) in self.captured:
            return True
        node = node_of(edge)
        return node is not None and node.seq in self.needed

    def reaches(self, edge: Edge) -> bool:
        """Whether a gradient will come along ``edge`` in this pass."""
        if self.reached is None:
            self.reached = reachable(self.roots)
        return id(edge) in self.reached and self.needs(edge)

    # -- sending gradients along edges ---------------------------------------------------

    def send(self, edge: Edge, g: Gradient, fresh: bool) -> None:
        """Add ``g`` to the pending gradient of the node or leaf at the end of ``edge``."""
        kind = edge.__class__
        if kind is Node:
            entry = self.pending.get(edge.seq)
            if entry is None:
                self.pending[edge.seq] = [edge, g, fresh]
                heappush(self.heap, -edge.seq)
            else:
                self._add(entry, g, edge.xp)
        elif kind is NodeOutput:
            self._send_to_output(edge, g)
        else:
            self._send_to_leaf(edge, g, fresh)

    def _add(self, entry: list[Any], g: Gradient, xp: Any) -> None:
        """Add ``g`` to the gradient of an entry of ``pending`` or ``leaves``, of backend ``xp``."""
        # An entry is a list: the node or leaf, the gradient, and whether the gradient is fresh.
        entry[1] = self._sum(entry[1], g, entry[2], xp)
        entry[2] = True

    def _sum(self, pending: Gradient, g: Gradient, fresh: bool, xp: Any) -> Gradient:
        """Return ``pending + g``, gradients of backend ``xp``; in place if ``pending`` is fresh."""
        # NumPy's gradients of 0-d tensors may be scalars, which cannot be written to.
        if fresh and not self.create_graph and pending.__class__ is xp.array_type:
            return xp.add(pending, g, out=pending)
        total = pending + g
        if self.create_graph or total.__class__ is xp.array_type:
            return total
        return xp.asarray(total)

    def _send_to_output(self, output: NodeOutput, g: Gradient) -> None:
        """Add ``g`` to the pending gradient of one of several results of a node."""
        node = output.node
        entry = self.pending.get(node.seq)
        if entry is None:
            entry = self.pending[node.seq] = [node, [None] * len(node.shape), False]
            heappush(self.heap, -node.seq)
        grads = entry[1]
        pending = grads[output.index]
        grads[output.index] = g if pending is None else self._sum(pending, g, False, node.xp)
        if output.hooks or self.capturing:
            self.outputs.setdefault(node.seq, {})[output.index] = output

    def _send_to_leaf(self, leaf: Any, g: Gradient, fresh: bool) -> None:
        """Add ``g`` to the pending gradient of a leaf."""
        entry = self.leaves.get(id(leaf))
        if entry is None:
            self.leaves[id(leaf)] = [leaf, g, fresh]
        elif self.has_sparse:
            entry[1], entry[2] = add_gradients(entry[1], g, leaf._xp), False
        else:
            self._add(entry, g, leaf._xp)

    # -- the loop ------------------------------------------------------------------------

    def run(self) -> None:
        """Visit pending nodes, the newest first, until none is left."""
        visit: Any = self._visit_graph if self.create_graph else self._visit_raw
        recorder = RECORDER.get()
        if recorder is not None:
            visit = recorder.visits(visit)
        pending, heap, outputs = self.pending, self.heap, self.outputs
        special = self.special
        node: Any = None
        try:
            while heap:
                node, g, _ = pending.pop(-heappop(heap))
                if special or node.hooks or node.extra or outputs:
                    g = self._call_pre_hooks(node, g)
                    if self.capturing and node.seq not in self.needed:
                        continue
                visit(node, g)
        except Exception as error:
            note_origin(error, node, Anomaly.enabled)
            raise

    def _visit_raw(self, node: Node, g: Gradient) -> None:
        """Compute the gradients of ``node``'s inputs as raw arrays and send them.

        Long, because this is the inner loop of a backward pass: a call for each edge would cost as
        much as the rest of the work.
        """
        op = node.op
        args = node.args
        packed = None
        if args.__class__ is not tuple:
            packed = args
            packed.restore(node, self)  # raises if it was freed
            args = node.args
        else:
            for tensor in node.saved:
                if tensor._vc is not None:
                    check_versions(node)
                    break
            if node.out_version is not None:
                check_versions(node)
        xp = node.xp
        if g.__class__ is list or node.extra or self.special:
            self._visit_joint(node, xp, g, args)
        elif op.joint is not None:
            self._send_jointly(node, g, args)
        else:
            pending = self.pending
            for edge, (at, rule) in zip(node.edges, op.direct_rules):  # strict costs 50 ns
                if edge is None:
                    continue
                if at is None:
                    h = rule(xp, g, node.out, shape_and_dtype(edge)[0], args)
                else:
                    h = rule(xp, g) if at < 0 else rule(xp, g, args[at])
                if edge.__class__ is Node:
                    shape = edge.shape
                    dtype = edge.dtype
                else:
                    shape, dtype = shape_and_dtype(edge)
                if h is g:
                    if node.shape != shape or node.dtype is not dtype:
                        h = fit_raw(xp, h, shape, dtype)
                    fresh = False
                else:
                    if h.__class__ is not g.__class__:
                        h = xp.asarray(h)
                    if h.shape != shape or h.dtype is not dtype:
                        h = fit_raw(xp, h, shape, dtype)
                    fresh = h.base is None
                if edge.__class__ is Node:
                    entry = pending.get(edge.seq)
                    if entry is None:
                        pending[edge.seq] = [edge, h, fresh]
                        heappush(self.heap, -edge.seq)
                    else:
                        self._add(entry, h, edge.xp)
                else:
                    self.send(edge, h, fresh)
        if self.retain_graph:
            if packed is not None:
                packed.strip(node)
        elif packed is not None or node.saved or node.out is not None or op.frees:
            release(node)

    def _send_jointly(self, node: Node, g: Gradient, args: Any) -> None:
        """Part of ``_visit_raw``: compute all gradients by the node's joint rule, and send them."""
        xp, edges = node.xp, node.edges
        nothing: Any = (None, None)
        targets = [nothing if edge is None else shape_and_dtype(edge) for edge in edges]
        shapes = [shape for shape, _ in targets]
        results = node.op.joint(xp, g, node.out, shapes, args)
        may_be_fresh = node.op.makes_gradients
        for edge, h, (shape, dtype) in zip(edges, results, targets, strict=True):
            if edge is not None and h is not None:
                if h.__class__ is not g.__class__:
                    h = to_raw(self, edge, h)
                if h.shape != shape or h.dtype is not dtype:
                    h = fit_raw(backend_of(edge), h, shape, dtype)
                self.send(edge, h, may_be_fresh and h is not g and h.base is None)

    def _visit_graph(self, node: Node, g: Gradient) -> None:
        """Compute the gradients of ``node``'s inputs as recorded tensors and send them."""
        packed = None
        if node.args.__class__ is not tuple:
            packed = node.args
            packed.restore(node, self)
        elif node.saved or node.out_version is not None:
            check_versions(node)
        self._visit_joint(node, self.namespace, g, saved_arguments(node))
        if self.retain_graph:
            if packed is not None:
                packed.strip(node)
        elif packed is not None or node.saved or node.out is not None or node.op.frees:
            release(node)

    def _visit_joint(self, node: Node, xp: Any, g: Gradient, args: Any) -> None:
        """Compute the gradients of all inputs, then fit and send them: the slow path of a visit.

        ``g`` is a list for several results. ``xp`` and ``args`` are the node's backend and raw
        arguments; under ``create_graph`` the differentiable namespace and tensors.
        """
        op = node.op
        out = node.out
        if self.create_graph and out is not None:
            out = LATE_BOUND.output_of(node)
        if g.__class__ is list:
            g = self._materialize(node, g) if op.materialize else tuple(g)
        edges = node.edges
        if self.capturing:
            edges = tuple(edge if self.needs(edge) else None for edge in edges)
        shapes = [None if edge is None else shape_and_dtype(edge)[0] for edge in edges]
        if op.joint is not None:
            results = op.joint(xp, g, out, shapes, args)
        else:
            rules = op.compiled_rules
            results = [
                None if edge is None else rules[i](xp, g, out, shapes[i], args)
                for i, edge in enumerate(edges)
            ]
        if node.extra is not None and "post_hooks" in node.extra:
            results = self._call_post_hooks(node, results, g)
        if Anomaly.enabled and Anomaly.check_nan:
            self._check_nan(node, results)
        given = g if g.__class__ is tuple else (g,)
        for i, (edge, h) in enumerate(zip(edges, results, strict=True)):
            if edge is not None and h is not None:
                h = self._fit(edge, h)
                if i in op.piecewise and self.create_graph:
                    # As in PyTorch, second derivatives are zeros, not None: the gradient depends on
                    # the result, if it is computed from that, else on the input.
                    from_result = op.saves_out and h.shape == node.shape
                    h = LATE_BOUND.add_zero_edge(h, node if from_result else edge)
                self.send(edge, h, self._is_fresh(op, h, given))

    def _fit(self, edge: Edge, h: Gradient) -> Gradient:
        """Convert a gradient to the shape and dtype of the input at the end of ``edge``."""
        shape, dtype = shape_and_dtype(edge)
        if not self.create_graph:
            xp = backend_of(edge)
            if h.__class__ is not xp.array_type:
                h = to_raw(self, edge, h)
            return fit_raw(xp, h, shape, dtype)
        if tuple(h.shape) != shape:
            h = sum_to_shape(h, shape)
        if h._data.dtype != dtype:
            wanted = backend_of(edge).dtype_of_native(dtype)
            h = (h.real if h.is_complex() and not wanted.is_complex else h).to(wanted)
        return h

    def _is_fresh(self, op: Any, h: Gradient, given: tuple[Gradient, ...]) -> bool:
        """Whether ``h``, which a rule of ``op`` computed from ``given``, is a new array.

        A rule returns each new array only once.
        """
        if self.create_graph or not op.makes_gradients or h.base is not None:
            return False
        return all(h is not g for g in given)

    def _check_nan(self, node: Node, results: Any) -> None:
        """Raise a RuntimeError if a gradient has a NaN."""
        for i, h in enumerate(results):
            raw = getattr(h, "_data", h)
            if h is not None and raw.dtype.kind in "fcV" and bool(node.xp.isnan(raw).any()):
                raise RuntimeError(
                    f"Function '{node.name()}' returned nan values in its {i}th output."
                )

    def _materialize(self, node: Node, grads: list[Gradient]) -> tuple[Gradient, ...]:
        """Replace None by zeros in the gradients of a node's several results."""

        def zero(i: int) -> Gradient:
            raw = node.xp.zeros(node.shape[i], node.dtype[i])
            return LATE_BOUND.wrap(raw, node.xp) if self.create_graph else raw

        return tuple(zero(i) if g is None else g for i, g in enumerate(grads))

    # -- hooks and captures ----------------------------------------------------------------

    def _call_pre_hooks(self, node: Node, g: Gradient) -> Gradient:
        """Call the hooks of a node's results and its pre-hooks; returns the changed gradient."""
        if g.__class__ is list:
            for index, output in sorted(self.outputs.pop(node.seq, {}).items()):
                before = g[index]
                g[index] = self._call_hooks(output.hooks, before, node.xp)
                self._capture(output, node, before, g[index])
        else:
            before = g
            g = self._call_hooks(node.hooks, before, node.xp)
            self._capture(node, node, before, g)
        if self.capturing and not self.accumulates_captured and node.seq not in self.needed:
            return g  # this node is not visited
        for hook in list((node.extra or {}).get("pre_hooks", {}).values()):
            several = g.__class__ is list
            with self.mode():
                given = tuple(self._tensor(h, node.xp) for h in (g if several else [g]))
                result = call_hook(hook, f"pre-hook of {node.name()}", given)
            if result is not None:
                check_count(hook, result, len(g) if several else 1)
                values = [self._unwrap(h) for h in result]
                g = values if several else values[0]
        return g

    def _capture(self, edge: Edge, node: Node, before: Gradient, after: Gradient) -> None:
        """Store the gradient of ``edge``, before or after its hooks, if it is captured.

        As in PyTorch, the gradient before the hooks is stored if the pass visits the node as well.
        """
        if id(edge) in self.captured:
            self.captured[id(edge)] = before if node.seq in self.needed else after

    def _call_post_hooks(self, node: Node, results: Any, g: Gradient) -> Any:
        """Call ``hook(grad_inputs, grad_outputs)`` of a node; returns the changed ``results``."""
        assert node.extra is not None
        for hook in list(node.extra["post_hooks"].values()):
            grad_inputs = tuple(None if h is None else self._tensor(h, node.xp) for h in results)
            with self.mode():
                several = g if isinstance(g, tuple) else (g,)
                grad_outputs = tuple(self._tensor(h, node.xp) for h in several)
                changed = call_hook(hook, f"hook of {node.name()}", grad_inputs, grad_outputs)
            if changed is not None:
                check_count(hook, changed, len(results))
                results = [None if h is None else self._unwrap(h) for h in changed]
        return results

    def _call_hooks(self, hooks: dict[int, Any] | None, g: Gradient, xp: Any) -> Gradient:
        """Call tensor hooks one after the other; returns ``g`` as they have changed it."""
        if not hooks:
            return g
        tensor = self._tensor(g, xp)
        with bind(CURRENT, self), self.mode():
            for hook in list(hooks.values()):
                tensor = call_tensor_hook(hook, tensor)
        return self._unwrap(tensor)

    def mode(self) -> Any:
        """Grad mode in which a user's hook runs: enabled under ``create_graph``."""
        return LATE_BOUND.enable_grad() if self.create_graph else LATE_BOUND.no_grad()

    def _tensor(self, g: Gradient, xp: Any) -> Any:
        """Convert a gradient of the pass to the tensor that a user's hook receives."""
        if g is None:
            return None
        return conjugate(g if self.create_graph else wrap_gradient(g, xp))

    def _unwrap(self, tensor: Any) -> Gradient:
        """Convert a tensor that a user's hook returned to a gradient of the pass."""
        tensor = conjugate(tensor)
        return tensor if self.create_graph else unwrap_gradient(tensor)

    # -- the ends ----------------------------------------------------------------------------

    def finish(self) -> None:
        """Call the functions that hooks have registered for the end of the pass."""
        while self.callbacks:
            self.callbacks.pop(0)()

    def deliver(self) -> None:
        """Call the hooks of the leaves and add the gradients of the leaves to their ``grad``."""
        recorder = RECORDER.get()
        accumulate: Any = self.accumulate_any if self.has_sparse else self.accumulate
        if recorder is not None:
            accumulate = recorder.accumulations(accumulate)
        for leaf, g, fresh in self.leaves.values():
            if leaf._backward_hooks:
                g, fresh = self._call_leaf_hooks(leaf, g), False
            accumulate(leaf, g, fresh)
            if leaf._post_accumulate_grad_hooks:
                self.call_post_accumulate_hooks(leaf, g)

    def _call_leaf_hooks(self, leaf: Any, g: Gradient) -> Gradient:
        """Call the hooks of the tensor first, then the pre-hooks of its ``AccumulateGrad``."""
        hooks = (leaf._backward_hooks or {}).items()
        for of_node in (False, True):
            chosen = {i: h for i, h in hooks if isinstance(h, BeforeAccumulation) is of_node}
            g = self._call_hooks(chosen, g, leaf._xp)
        return g

    def call_post_accumulate_hooks(self, leaf: Any, g: Gradient) -> None:
        """Call the hooks of a leaf to whose ``grad`` the gradient ``g`` has been added."""
        with bind(CURRENT, self), self.mode():
            hooks = list(leaf._post_accumulate_grad_hooks.values())
            node_hooks = [h.hook for h in hooks if isinstance(h, AfterAccumulation)]
            for hook in hooks:
                if not isinstance(hook, AfterAccumulation):
                    of = f"post-accumulate hook of a tensor of shape {tuple(leaf._data.shape)}"
                    check_returns_none(call_hook(hook, of, leaf), leaf)
            for hook in node_hooks:
                call_hook(hook, "hook of AccumulateGrad", (), (self._tensor(g, leaf._xp),))

    def accumulate(self, leaf: Any, g: Gradient, fresh: bool) -> None:
        """Add the gradient ``g`` to ``grad`` of ``leaf``, if it still requires grad."""
        if leaf._rg is not True and not leaf.requires_grad:
            return
        if leaf._xp.traces:
            leaf._xp.check_state(leaf._data)
        if leaf._data.dtype.kind == "c":
            g, fresh = (conjugate(g), False) if self.create_graph else (leaf._xp.conj(g), True)
        if self.create_graph:
            with LATE_BOUND.enable_grad():
                leaf._grad = copy_like(g, leaf) if leaf._grad is None else leaf._grad + g
        elif leaf._grad is None:
            leaf._grad = LATE_BOUND.wrap(match_order(leaf._xp, g, leaf._data, fresh), leaf._xp)
        else:
            try:
                _add_into(leaf._grad, g)
            except NotDenseError:
                leaf._grad = LATE_BOUND.wrap(leaf._xp.array(g), leaf._xp) + leaf._grad

    def accumulate_any(self, leaf: Any, g: Gradient, fresh: bool) -> None:
        """``accumulate`` for a pass with sparse gradients."""
        if g.__class__ is SparseGradient:
            accumulate_sparse(leaf, g)
        else:
            self.accumulate(leaf, g, fresh)

    def collect(self, edges: Iterable[Edge]) -> list[Gradient]:
        """Return the captured gradients, those of leaves included, in the order of ``edges``."""
        results = []
        for edge in edges:
            if id(edge) in self.leaves:
                self._call_captured_leaf_hooks(edge)
                results.append(self.leaves[id(edge)][1])
            else:
                results.append(self.captured.get(id(edge)))
        return results

    def _call_captured_leaf_hooks(self, leaf: Any) -> None:
        """Call the hooks of a captured leaf; those of ``AccumulateGrad`` only if it accumulates."""
        entry = self.leaves[id(leaf)]
        if self.accumulates_captured:
            entry[1] = self._call_leaf_hooks(leaf, entry[1])
            return
        hooks = (leaf._backward_hooks or {}).items()
        chosen = {i: h for i, h in hooks if not isinstance(h, BeforeAccumulation)}
        entry[1] = self._call_hooks(chosen, entry[1], leaf._xp)


def conjugate(tensor: Any) -> Any:
    """Conjugate a complex gradient; a real one is returned as it is.

    The gradients of the pass are the conjugates of PyTorch's, which users see. So the rule of a
    holomorphic function multiplies by its complex derivative, without a conjugate.
    """
    return tensor.conj_physical() if tensor.is_complex() else tensor


def zero_in_place(grad: Any) -> None:
    """Fill a gradient with zeros, and detach it from the graph that computed it."""
    if grad.grad_fn is None:  # ``detach_`` is an error for a view, such as one of a bucket of DDP
        grad.requires_grad_(False)
    else:
        grad.detach_()
    grad.zero_()


def copy_like(g: Any, leaf: Any) -> Any:
    """Copy a recorded gradient into new memory with the strides of ``leaf``.

    ``g`` may be an expanded tensor, a view, or the gradient of another leaf as well.
    """
    data = leaf._data
    if data.flags.c_contiguous or dense_order(data) is None:
        return g.clone() if g._data.flags.c_contiguous else g.contiguous()
    return g.new_empty_strided(leaf.shape, leaf.stride()).copy_(g)


def _add_into(grad: Any, g: Gradient) -> None:
    """Add a raw gradient to the tensor ``grad`` in place."""
    grad._bump()
    try:
        grad._xp.add(grad._data, g, out=grad._data)
    except ValueError:
        raise RuntimeError(
            f"a gradient of shape {list(g.shape)} cannot be added to .grad of shape "
            f"{list(grad._data.shape)}: the size of the tensors must match; set .grad to None "
            "after data of another shape is assigned"
        ) from None


def fit_raw(xp: Any, g: Gradient, shape: tuple[int, ...], dtype: Any) -> Gradient:
    """Return ``g`` in the shape and dtype of its input: summed over broadcast dimensions.

    For a real input it is the real part.
    """
    if g.shape != shape:
        # NumPy's sum of all elements is a scalar, which cannot be written to.
        g = xp.asarray(sum_to_shape(g, shape, xp.sum))
    if g.dtype == dtype:
        return g
    if g.dtype.kind == "c" and dtype.kind != "c":
        g = g.real
    return g.astype(dtype)


class LeafGraphTask(GraphTask):
    """Backward pass that accumulates the gradient of each leaf as soon as it is complete.

    Attributes:
        accumulating: Whether captured gradients are added to leaves, not returned.
        missing: By ``id`` of a leaf, the number of gradients that it has not received yet; None
            before the first arrives.
        hooks_called: The ``id`` of captured leaves whose hooks have been called.
    """

    leaves: dict[int, list[Any]]

    accumulating = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.missing: Counter[int] | None = None
        self.hooks_called: set[int] = set()

    def _send_to_leaf(self, leaf: Any, g: Gradient, fresh: bool) -> None:
        """Add ``g`` to the gradient of a leaf, and complete the leaf if it was the last one."""
        if self.missing is None:
            self.missing = self._count()
        super()._send_to_leaf(leaf, g, fresh)
        self.missing[id(leaf)] -= 1
        if not self.missing[id(leaf)]:
            self._complete(leaf)

    def _count(self) -> Counter[int]:
        """Number of edges that lead to each leaf; rules may send fewer gradients."""
        counts: Counter[int] = Counter()
        seen: set[int] = set()
        stack = [edge for edge in self.roots if self.needs(edge)]
        while stack:
            edge = stack.pop()
            node = node_of(edge)
            if node is None:
                counts[id(edge)] += 1
            elif node.seq not in seen and (not self.capturing or node.seq in self.needed):
                seen.add(node.seq)
                stack.extend(e for e in node.edges if e is not None and self.needs(e))
        return counts

    def _complete(self, leaf: Any) -> None:
        """Call the hooks of a leaf whose gradient is complete, and accumulate it."""
        if self.capturing and not self.accumulating:
            self._call_captured_leaf_hooks(leaf)
            return
        # The leaf is removed: a gradient that arrives after it was complete is accumulated apart.
        entry = self.leaves.pop(id(leaf))
        others, self.leaves = self.leaves, {id(leaf): entry}
        self.deliver()
        self.leaves = others

    def _call_captured_leaf_hooks(self, leaf: Any) -> None:
        """Call the hooks of a captured leaf, unless they have been called in this pass."""
        if id(leaf) not in self.hooks_called:
            super()._call_captured_leaf_hooks(leaf)
            self.hooks_called.add(id(leaf))
