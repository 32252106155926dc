"""The backward pass: from the roots to the leaves, newest node first.

A node is always younger than its inputs, so visiting pending nodes by falling creation
number is a topological order: no recursion, no marking pass, and a chain of any length
works. The same loop serves a normal backward, where rules see raw arrays and the node's
backend, and ``create_graph=True``, where they see tensors and the differentiable
namespace, so that what they compute is recorded in turn.

A pass accumulates the gradients of all leaves at its end. If a leaf has hooks, ``LeafSweep``
first counts how many gradients each leaf receives and runs its hooks as soon as the last one is
there: a hook can then use a gradient and free it before the next one is computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from ..backends.storage import dense_order, match_order
from ..state import Variable
from ..state.recorder import RECORDER
from ..warnings import warn
from .hooks import (
    AfterAccumulation,
    BeforeAccumulation,
    call_hook,
    check_count,
    check_nothing,
    hooked,
)
from .late_bound import LATE_BOUND
from .nodes import (
    Edge,
    Node,
    Slot,
    backend_of,
    node_of,
    reachable,
    sum_to_shape,
    target_of,
)
from .saved_tensors import check_versions, release, saved_arguments


def explain(error: Exception, node: Any, warning: bool) -> None:
    """Note on an error which gradient it came from, once.

    Args:
        error: Raised while the gradient was computed.
        node: The operation's node; None if it was raised before the first.
        warning: Whether a warning says so, too, as PyTorch's anomaly mode does.
    """
    if node is None or getattr(error, "_explained", False):
        return
    if not getattr(error, "_in_hook", False):  # which is the user's, and named already
        inputs = [None if e is None else list(target_of(e)[0]) for e in node.edges]
        name = node.op.name if getattr(node.op, "public", True) else node.name()
        error.add_note(
            f"in the gradient of {name!r}: inputs of shape {inputs}, result of shape {node.shape}"
        )
    traceback = (node.extra or {}).get("traceback")
    made = f"Traceback of forward call that caused the error:\n{''.join(traceback or ())}"
    if traceback:
        error.add_note(made)
    error._explained = True  # type: ignore[attr-defined]
    if warning:
        unknown = (
            "No forward pass information available. Enable detect anomaly during forward pass for "
            "more information."
        )
        warn(f"Error detected in {node.name()}. {made if traceback else unknown}")


Gradient = Any  # a raw array, or a Tensor under create_graph


class Anomaly:
    """State of anomaly mode: ``enabled`` is read when an operation is recorded."""

    enabled = False
    check_nan = True


#: The pass whose hooks are running.
CURRENT: Variable[Sweep | None] = Variable("sweep", None)


def call_after_backward(callback: Callable[[], object]) -> None:
    """Have the backward pass whose hooks are running call a function when it is complete.

    Raises:
        RuntimeError: If no hook is running.
    """
    sweep = CURRENT.get()
    if sweep is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    sweep.callbacks.append(callback)


class Sweep:
    """One backward pass."""

    capturing: bool
    adding: bool

    def __init__(self, retain_graph: bool, create_graph: bool, capture: Sequence[Edge]) -> None:
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        # node.seq -> [node, gradient (a list of them for several results), whether nobody else
        # holds the gradient's memory]
        self.pending: dict[int, list[Any]] = {}
        self.heap: list[int] = []
        # id(leaf) -> [leaf, gradient, whether nobody else holds the gradient's memory]
        self.leaves: dict[int, list[Any]] = {}
        # node.seq -> by index, the slots that gradients came through and whose hooks, or captures,
        # wait for their sum
        self.slots: dict[int, dict[int, Slot]] = {}
        self.captured: dict[int, Gradient] = dict.fromkeys(map(id, capture))
        self.capturing, self.adding = bool(self.captured), False  # what is captured, to grad
        self.special: bool = self.capturing or Anomaly.enabled
        self.needed: set[int] = set()
        self.roots: Sequence[Edge] = ()
        self.reached: set[int] | None = None
        self.namespace: Any | None = LATE_BOUND.graph_namespace() if create_graph else None
        #: Functions that run when the pass is complete.
        self.callbacks: list[Callable[[], object]] = []
        #: Values that hooks keep from one call to the next in this pass, each under its own key.
        self.stored: dict[Any, Any] = {}

    def wants(self, edge: Edge) -> bool:
        """Whether a gradient along ``edge`` leads to a captured one."""
        if not self.capturing or id(edge) in self.captured:
            return True
        node = node_of(edge)
        return node is not None and node.seq in self.needed

    def reaches(self, edge: Edge) -> bool:
        """Whether a gradient will come along ``edge`` in this pass."""
        if self.reached is None:
            self.reached = reachable(self.roots)
        return id(edge) in self.reached and self.wants(edge)

    # -- sending gradients along edges ---------------------------------------------------

    def send(self, edge: Edge, g: Gradient, fresh: bool) -> None:
        """Add ``g`` to what flows along ``edge``; ``fresh``: its memory is ours alone."""
        kind = edge.__class__
        if kind is Node:
            entry = self.pending.get(edge.seq)
            if entry is None:
                self.pending[edge.seq] = [edge, g, fresh]
                heappush(self.heap, -edge.seq)
            else:
                self._add(entry, g, edge.xp)
        elif kind is Slot:
            self._send_to_slot(edge, g)
        else:
            self._send_to_leaf(edge, g, fresh)

    def _add(self, entry: list[Any], g: Gradient, xp: Any) -> None:
        entry[1] = self._sum(entry[1], g, entry[2], xp)
        entry[2] = True

    def _sum(self, have: Gradient, g: Gradient, owned: bool, xp: Any) -> Gradient:
        # NumPy's gradients of 0-d tensors may be scalars, which cannot be written to.
        if owned and not self.create_graph and have.__class__ is xp.array_type:
            return xp.add(have, g, out=have)
        total = have + g
        if self.create_graph or total.__class__ is xp.array_type:
            return total
        return xp.asarray(total)

    def _send_to_slot(self, slot: Slot, g: Gradient) -> None:
        node = slot.node
        entry = self.pending.get(node.seq)
        if entry is None:
            entry = self.pending[node.seq] = [node, [None] * len(node.shape), False]
            heappush(self.heap, -node.seq)
        grads = entry[1]
        have = grads[slot.index]
        grads[slot.index] = g if have is None else self._sum(have, g, False, node.xp)
        if slot.hooks or self.capturing:
            self.slots.setdefault(node.seq, {})[slot.index] = slot

    def _send_to_leaf(self, leaf: Any, g: Gradient, fresh: bool) -> None:
        entry = self.leaves.get(id(leaf))
        if entry is None:
            self.leaves[id(leaf)] = [leaf, g, fresh]
        else:
            self._add(entry, g, leaf._xp)

    # -- the loop ------------------------------------------------------------------------

    def run(self) -> None:
        """Visit every pending node until only leaves are left."""
        visit: Any = self._visit_graph if self.create_graph else self._visit_raw
        recorder = RECORDER.get()
        if recorder is not None:
            visit = recorder.visits(visit)
        pending, heap, slots = self.pending, self.heap, self.slots
        special = self.special
        node: Any = None
        try:
            while heap:
                node, g, _ = pending.pop(-heappop(heap))
                if special or node.hooks or node.extra or slots:
                    g = self._before(node, g)
                    if self.capturing and node.seq not in self.needed:
                        continue
                visit(node, g)
        except Exception as error:
            explain(error, node, Anomaly.enabled)
            raise

    def _visit_raw(self, node: Node, g: Gradient) -> None:
        """Compute and send the gradients of ``node``'s inputs, as raw arrays.

        Long, because it holds what it would otherwise call for every edge: this is the inner loop
        of a backward pass, and a call costs as much as the rest.
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
            for edge, (at, rule) in zip(node.edges, op.plain_rules):  # strict costs 50 ns
                if edge is None:
                    continue
                if at is None:
                    h = rule(xp, g, node.out, target_of(edge)[0], args)
                else:
                    h = rule(xp, g) if at < 0 else rule(xp, g, args[at])
                if edge.__class__ is Node:
                    shape = edge.shape
                    dtype = edge.dtype
                else:
                    shape, dtype = target_of(edge)
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
        """What ``_visit_raw`` does, for a rule that gives all gradients at once."""
        xp, edges = node.xp, node.edges
        nothing: Any = (None, None)
        targets = [nothing if edge is None else target_of(edge) for edge in edges]
        shapes = [shape for shape, _ in targets]
        results = node.op.joint(xp, g, node.out, shapes, args)
        ours = node.op.makes_gradients
        for edge, h, (shape, dtype) in zip(edges, results, targets, strict=True):
            if edge is not None and h is not None:
                if h.__class__ is not g.__class__:
                    h = backend_of(edge).asarray(h)
                if h.shape != shape or h.dtype is not dtype:
                    h = fit_raw(backend_of(edge), h, shape, dtype)
                self.send(edge, h, ours and h is not g and h.base is None)

    def _visit_graph(self, node: Node, g: Gradient) -> None:
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
        """The general visit: all gradients are computed, then fitted and sent."""
        op = node.op
        out = node.out
        if self.create_graph and out is not None:
            out = LATE_BOUND.output_of(node)
        if g.__class__ is list:
            g = self._materialize(node, g) if op.materialize else tuple(g)
        edges = node.edges
        if self.capturing:
            edges = tuple(edge if self.wants(edge) else None for edge in edges)
        shapes = [None if edge is None else target_of(edge)[0] for edge in edges]
        if op.joint is not None:
            results = op.joint(xp, g, out, shapes, args)
        else:
            rules = op.rule_list
            results = [
                None if edge is None else rules[i](xp, g, out, shapes[i], args)
                for i, edge in enumerate(edges)
            ]
        if node.extra is not None and "post_hooks" in node.extra:
            results = self._after(node, results, g)
        if Anomaly.enabled and Anomaly.check_nan:
            self._refuse_nan(node, results)
        given = g if g.__class__ is tuple else (g,)
        for i, (edge, h) in enumerate(zip(edges, results, strict=True)):
            if edge is not None and h is not None:
                h = self._fit(node, edge, h)
                if i in op.flat and self.create_graph:
                    # Computed from the result, as in torch it depends on that one, to any order.
                    whole = op.saves_out and h.shape == node.shape
                    h = LATE_BOUND.without_slope(h, node if whole else edge)
                self.send(edge, h, self._is_fresh(op, h, given))

    def _fit(self, node: Node, edge: Edge, h: Gradient) -> Gradient:
        shape, dtype = target_of(edge)
        if not self.create_graph:
            xp = backend_of(edge)
            if h.__class__ is not xp.array_type:
                h = xp.asarray(h)
            return fit_raw(xp, h, shape, dtype)
        if tuple(h.shape) != shape:
            h = sum_to_shape(h, shape)
        if h._data.dtype != dtype:
            wanted = backend_of(edge).dtype_of_native(dtype)
            h = (h.real if h.is_complex() and not wanted.is_complex else h).to(wanted)
        return h

    def _is_fresh(self, op: Any, h: Gradient, given: tuple[Gradient, ...]) -> bool:
        """Whether a rule made ``h`` itself, by the contract that it never gives it twice."""
        if self.create_graph or not op.makes_gradients or h.base is not None:
            return False
        return all(h is not g for g in given)

    def _refuse_nan(self, node: Node, results: Any) -> None:
        for i, h in enumerate(results):
            raw = getattr(h, "_data", h)
            if h is not None and raw.dtype.kind in "fcV" and bool(node.xp.isnan(raw).any()):
                raise RuntimeError(
                    f"Function '{node.name()}' returned nan values in its {i}th output."
                )

    def _materialize(self, node: Node, grads: list[Gradient]) -> tuple[Gradient, ...]:
        def zero(i: int) -> Gradient:
            raw = node.xp.zeros(node.shape[i], node.dtype[i])
            return LATE_BOUND.wrap(raw, node.xp) if self.create_graph else raw

        return tuple(zero(i) if g is None else g for i, g in enumerate(grads))

    # -- hooks and captures ----------------------------------------------------------------

    def _before(self, node: Node, g: Gradient) -> Gradient:
        if g.__class__ is list:
            for index, slot in sorted(self.slots.pop(node.seq, {}).items()):
                before = g[index]
                g[index] = self._call_hooks(slot.hooks, before, node.xp)
                self._capture(slot, node, before, g[index])
        else:
            before = g
            g = self._call_hooks(node.hooks, before, node.xp)
            self._capture(node, node, before, g)
        on = self.adding or not self.capturing or node.seq in self.needed  # else it ends here
        for hook in list((node.extra or {}).get("pre_hooks", {}).values()) if on else ():
            many = g.__class__ is list
            with self.mode():
                given = tuple(self._tensor(h, node.xp) for h in (g if many else [g]))
                result = call_hook(hook, f"pre-hook of {node.name()}", given)
            if result is not None:
                check_count(hook, result, len(g) if many else 1)
                values = [self._unwrap(h) for h in result]
                g = values if many else values[0]
        return g

    def _capture(self, edge: Edge, node: Node, before: Gradient, after: Gradient) -> None:
        """Keep a captured gradient; as in torch without its hooks where it is passed on, too."""
        if id(edge) in self.captured:
            self.captured[id(edge)] = before if node.seq in self.needed else after

    def _after(self, node: Node, results: Any, g: Gradient) -> Any:
        outputs = g if isinstance(g, tuple) else (g,)
        assert node.extra is not None
        for hook in list(node.extra["post_hooks"].values()):
            given = tuple(None if h is None else self._tensor(h, node.xp) for h in results)
            with self.mode():
                shown = tuple(self._tensor(h, node.xp) for h in outputs)
                changed = call_hook(hook, f"hook of {node.name()}", given, shown)
            if changed is not None:
                check_count(hook, changed, len(results))
                results = [None if h is None else self._unwrap(h) for h in changed]
        return results

    def _call_hooks(self, hooks: dict[int, Any] | None, g: Gradient, xp: Any) -> Gradient:
        if not hooks:
            return g
        tensor = self._tensor(g, xp)
        token = CURRENT.set(self)
        try:
            with self.mode():
                for hook in list(hooks.values()):
                    tensor = hooked(hook, tensor)
        finally:
            CURRENT.reset(token)
        return self._unwrap(tensor)

    def mode(self) -> Any:
        """Whether what a user's hook computes is recorded."""
        return LATE_BOUND.enable_grad() if self.create_graph else LATE_BOUND.no_grad()

    def _tensor(self, g: Gradient, xp: Any) -> Any:
        """A gradient as users see it."""
        if g is None:
            return None
        return conjugate(g if self.create_graph else LATE_BOUND.wrap(g, xp))

    def _unwrap(self, tensor: Any) -> Gradient:
        """A gradient as the pass carries it."""
        tensor = conjugate(tensor)
        return tensor if self.create_graph else tensor._data

    # -- the ends ----------------------------------------------------------------------------

    def finish(self) -> None:
        """Call the functions that hooks have registered for the end of the pass."""
        while self.callbacks:
            self.callbacks.pop(0)()

    def deliver(self) -> None:
        """Run the leaves' hooks and add what arrived to their ``grad``."""
        recorder = RECORDER.get()
        accumulate: Any = self.accumulate
        if recorder is not None:
            accumulate = recorder.accumulations(accumulate)
        for leaf, g, fresh in self.leaves.values():
            if leaf._backward_hooks:
                g, fresh = self._call_leaf_hooks(leaf, g), False
            accumulate(leaf, g, fresh)
            if leaf._post_accumulate_grad_hooks:
                self.accumulated(leaf, g)

    def _call_leaf_hooks(self, leaf: Any, g: Gradient) -> Gradient:
        """Those of the tensor first, and then those of the node that accumulates."""
        hooks = (leaf._backward_hooks or {}).items()
        for before in (False, True):
            chosen = {i: h for i, h in hooks if isinstance(h, BeforeAccumulation) is before}
            g = self._call_hooks(chosen, g, leaf._xp)
        return g

    def accumulated(self, leaf: Any, g: Gradient) -> None:
        """Run the hooks of a leaf whose ``grad`` was added to."""
        token = CURRENT.set(self)
        try:
            with self.mode():
                self._call_accumulate_hooks(leaf, g)
        finally:
            CURRENT.reset(token)

    def _call_accumulate_hooks(self, leaf: Any, g: Gradient) -> None:
        hooks = list(leaf._post_accumulate_grad_hooks.values())
        of_node = [h.hook for h in hooks if isinstance(h, AfterAccumulation)]
        for hook in hooks:
            if not isinstance(hook, AfterAccumulation):
                of = f"post-accumulate hook of a tensor of shape {tuple(leaf._data.shape)}"
                check_nothing(call_hook(hook, of, leaf), leaf)
        for hook in of_node:
            call_hook(hook, "hook of AccumulateGrad", (), (self._tensor(g, leaf._xp),))

    def accumulate(self, leaf: Any, g: Gradient, fresh: bool) -> None:
        """Add what arrived at ``leaf``, unless it requires grad no more, to its ``grad``."""
        if leaf._rg is not True and not leaf.requires_grad:
            return
        if leaf._data.dtype.kind == "c":
            g, fresh = (conjugate(g), False) if self.create_graph else (leaf._xp.conj(g), True)
        if self.create_graph:
            with LATE_BOUND.enable_grad():
                leaf._grad = copy_like(g, leaf) if leaf._grad is None else leaf._grad + g
        elif leaf._grad is None:
            leaf._grad = LATE_BOUND.wrap(match_order(leaf._xp, g, leaf._data, fresh), leaf._xp)
        else:
            _add_into(leaf._grad, g)

    def collect(self, edges: Iterable[Edge]) -> list[Gradient]:
        """The captured gradients, leaves included, in the order of ``edges``."""
        results = []
        for edge in edges:
            if id(edge) in self.leaves:
                self._run_hooks(edge)
                results.append(self.leaves[id(edge)][1])
            else:
                results.append(self.captured.get(id(edge)))
        return results

    def _run_hooks(self, leaf: Any) -> None:
        """Run the hooks of a captured leaf; those of the node that accumulates only if it does."""
        if self.adding:
            self.leaves[id(leaf)][1] = self._call_leaf_hooks(leaf, self.leaves[id(leaf)][1])
            return
        hooks = (leaf._backward_hooks or {}).items()
        chosen = {i: h for i, h in hooks if not isinstance(h, BeforeAccumulation)}
        entry = self.leaves[id(leaf)]
        entry[1] = self._call_hooks(chosen, entry[1], leaf._xp)


def conjugate(tensor: Any) -> Any:
    """Between the user's gradients and the pass's, which are their conjugates.

    Then the rule of a holomorphic function is its plain derivative.
    """
    return tensor.conj_physical() if tensor._data.dtype.kind == "c" else tensor


def zero_in_place(grad: Any) -> None:
    """Fill a gradient with zeros, and detach it from the graph that computed it."""
    if grad.grad_fn is None:  # a view of a bucket of DDP's is one of these
        grad.requires_grad_(False)
    else:
        grad.detach_()
    grad.zero_()


def copy_like(g: Any, leaf: Any) -> Any:
    """Copy a recorded gradient into memory laid out as that of ``leaf``.

    What arrives may be expanded, a view, or the gradient of another leaf, too.
    """
    data = leaf._data
    if data.flags.c_contiguous or dense_order(data) is None:
        return g.clone() if g._data.flags.c_contiguous else g.contiguous()
    return g.new_empty_strided(leaf.shape, leaf.stride()).copy_(g)


def _add_into(grad: Any, g: Gradient) -> None:
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
    """``g`` in the shape and dtype of the input it belongs to; the real part for a real one."""
    if g.shape != shape:
        # NumPy's sum of all elements is a scalar, which cannot be written to.
        g = xp.asarray(sum_to_shape(g, shape, xp.sum))
    if g.dtype == dtype:
        return g
    if g.dtype.kind == "c" and dtype.kind != "c":
        g = g.real
    return g.astype(dtype)


class LeafSweep(Sweep):
    """A pass that hands each leaf its gradient when that is complete.

    Attributes:
        accumulating: Whether captured gradients are added to leaves, not returned.
        missing: By ``id``, how many gradients a leaf has still to get; None before the first.
        hooked: The ``id`` of captured leaves whose hooks have run.
    """

    leaves: dict[int, list[Any]]

    accumulating = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.missing: Counter[int] | None = None
        self.hooked: set[int] = set()

    def _send_to_leaf(self, leaf: Any, g: Gradient, fresh: bool) -> None:
        if self.missing is None:
            self.missing = self._count()
        super()._send_to_leaf(leaf, g, fresh)
        self.missing[id(leaf)] -= 1
        if not self.missing[id(leaf)]:
            self._complete(leaf)

    def _count(self) -> Counter[int]:
        """How many gradients will come to each leaf, unless rules leave some out."""
        counts: Counter[int] = Counter()
        seen: set[int] = set()
        stack = [edge for edge in self.roots if self.wants(edge)]
        while stack:
            edge = stack.pop()
            node = node_of(edge)
            if node is None:
                counts[id(edge)] += 1
            elif node.seq not in seen and (not self.capturing or node.seq in self.needed):
                seen.add(node.seq)
                stack.extend(e for e in node.edges if e is not None and self.wants(e))
        return counts

    def _complete(self, leaf: Any) -> None:
        if self.capturing and not self.accumulating:
            self._run_hooks(leaf)
            return
        # What a rule sends later all the same is a gradient of its own.
        entry = self.leaves.pop(id(leaf))
        others, self.leaves = self.leaves, {id(leaf): entry}
        self.deliver()
        self.leaves = others

    def _run_hooks(self, leaf: Any) -> None:
        if id(leaf) not in self.hooked:
            super()._run_hooks(leaf)
            self.hooked.add(id(leaf))
