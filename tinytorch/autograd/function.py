"""``autograd.Function``: operations with a user-defined forward and backward.

Forward mode uses the ``jvp`` of a ``Function`` in place of its ``backward``. Tangents are computed
by two backward passes, see ``func.forward``. The first one multiplies with the transposed Jacobian:
for a ``Function`` with ``jvp`` it computes the gradient of the results of ``jvp`` with respect to
the tangents.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Protocol, TypeVar

from ..core.tensor import Tensor, wrap
from ..dispatch.node_recording import note_versions
from ..graph.engine import conjugate
from ..graph.inference import APPLYING
from ..graph.late_bound import LATE_BOUND
from ..graph.nodes import FREED, FREED_MESSAGE, Node, NodeOutput
from ..graph.saved_tensors import HOOK_STACK, Packed, Recording, SavedOutput
from ..graph.special_nodes import NodeOp
from ..graph.views import FUNCTION, SEVERAL, check_inplace, edge_of, rebase
from ..state import Variable, enable_grad, grad_enabled, no_grad
from ..warnings import warn
from .functional import gradients

R = TypeVar("R", covariant=True)


class Applied(Protocol[R]):
    """Type of a ``Function`` class whose ``forward`` returns ``R``, with any arguments."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> R:
        """As in ``Function``."""


#: Whether the running backward pass is the first one of forward mode, which uses ``jvp``.
FORWARD_MODE: Variable[bool] = Variable("pushing_tangents", False)


def _describe_tensors(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return shape, dtype and backend of each differentiable tensor; None for other arguments."""
    return tuple(
        (a._data.shape, a._data.dtype, a._xp)
        if isinstance(a, Tensor) and a._data.dtype.kind in "fcV" else None for a in args
    )  # fmt: skip


def _transpose_jvp(jvp: Any, ctx: Any, grads: list[Any]) -> tuple[Any, ...]:
    """Return the gradients of the arguments: the product of ``grads`` and the matrix of ``jvp``.

    Args:
        jvp: The user's function of ``ctx`` and a tangent, or None, per argument.
        ctx: Context that ``forward`` or ``setup_context`` filled.
        grads: The gradients of the results, None for unused results.
    """
    leaves = [
        None if like is None else wrap(like[2].zeros(*like[:2]), like[2]).requires_grad_()
        for like in ctx._input_types
    ]
    with enable_grad():
        tangents = jvp(ctx, *(None if leaf is None else leaf.clone() for leaf in leaves))
    results = tangents if isinstance(tangents, tuple) else (tangents,)
    _check_jvp_results(ctx, results, len(grads))
    for result, g in zip(results, grads, strict=True):
        if isinstance(result, Tensor) and g is not None and result.shape != g.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the "
                "original Tensor, this is not supported. Tensor is of size "
                f"{list(g.shape)} while the given forward gradient is of size "
                f"{list(result.shape)}."
            )
    pairs = [(r, g) for r, g in zip(results, grads, strict=True)
             if isinstance(r, Tensor) and r.requires_grad and g is not None]  # fmt: skip
    if not pairs:
        return (None,) * len(leaves)
    outputs, weights = zip(*pairs, strict=True)
    variables = tuple(leaf for leaf in leaves if leaf is not None)
    computed = iter(gradients(outputs, variables, weights, True))
    return tuple(None if leaf is None else next(computed) for leaf in leaves)


def _check_jvp_results(ctx: Any, results: tuple[Any, ...], expected: int) -> None:
    """Check the number of tangents, and that those of constant results are None."""
    if len(results) != expected:
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{expected} but got {len(results)})"
        )
    for place in ctx._constant:
        if results[place] is not None:
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {place}, but the corresponding "
                "forward output is not a differentiable Tensor. You should return None at that "
                "position instead."
            )


def _is_among(value: Any, values: tuple[Any, ...]) -> bool:
    """Whether ``value`` is one of ``values``, compared by identity."""
    return any(value is other for other in values)


def _check_marks(
    ctx: Any, args: tuple[Any, ...], outputs: tuple[Any, ...], has_setup_context: bool
) -> None:
    """Check the tensors marked in ``ctx``, and count the changes of those marked as dirty.

    ``args`` and ``outputs`` are those of ``forward``; ``has_setup_context`` is whether
    ``setup_context`` filled ``ctx``.
    """
    _check_tensors("mark_dirty can only accept variables", ctx._dirty)
    _check_tensors(
        "mark_non_differentiable only accepts variable arguments", ctx._non_differentiable
    )
    if any(not _is_among(tensor, outputs) for tensor in ctx._dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as "
            "output. The inputs that are modified inplace must all be outputs of the Function."
        )
    if has_setup_context:
        _check_returned_as_is(ctx, args, outputs)
    for tensor in ctx._dirty:
        tensor._bump()


def _check_tensors(message: str, marked: tuple[Any, ...]) -> None:
    """Raise a RuntimeError, which begins with ``message``, unless all of ``marked`` are tensors."""
    for at, value in enumerate(marked):
        if not isinstance(value, Tensor):
            raise RuntimeError(f"{message}, but argument {at} is of type {type(value).__name__}")


def _check_returned_as_is(ctx: Any, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Raise a RuntimeError if an input that is an output as well is saved."""
    saved = (*ctx._to_save, *(ctx._for_forward or ()))
    for out in outputs:
        if isinstance(out, Tensor) and _is_among(out, args) and not _is_among(out, ctx._dirty):
            if _is_among(out, saved):
                raise RuntimeError(
                    "An input that has been returned as-is as output is being saved for backward. "
                    "This is not supported if you override setup_context. You should return and "
                    "save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside "
                    "the forward function itself."
                )


def _check_dirty(ctx: Any, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Raise a RuntimeError for an in-place change that cannot be recorded."""
    for tensor in ctx._dirty:
        if _is_among(tensor, ctx._non_differentiable):
            continue
        if not _is_among(tensor, args):
            warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                "have been mutated should be passed to ctx.mark_dirty()."
            )
        check_inplace(tensor)
        if tensor._base is not None and len(outputs) > 1:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your "
                "Function cannot return more than one Tensor. This is not supported by the current "
                "autograd engine. You should either make sure the input is not a view (using "
                ".clone() for example) or make your Function only return one Tensor."
            )


def _prepare_output(ctx: Any, args: tuple[Any, ...], out: Any) -> Any:
    """Return an output to which a node can be assigned.

    An input that ``forward`` returned unchanged is replaced by a view or a detached tensor.
    """
    if _is_among(out, ctx._dirty):
        is_detached = _is_among(out, ctx._non_differentiable) and out.requires_grad
        return out.detach() if is_detached else out
    if isinstance(out, Tensor) and _is_among(out, args):
        if _is_among(out, ctx._non_differentiable):
            return out.detach()
        with no_grad():
            return out.view(out.shape)
    return out


def _set_history(ctx: Any, tensor: Tensor, edge: Any) -> None:
    """Set the edge of a result; for a view that was changed in place, that of its base, too."""
    if _is_among(tensor, ctx._dirty):
        rebase(tensor, edge, LATE_BOUND.write_rules().view_scatter)
    else:
        tensor._node = edge
        tensor._rg = True


def _save_tensors(ctx: Any, node: Node, outputs: list[Tensor], single: bool) -> None:
    """Save for ``node`` the tensors of ``ctx.save_for_backward``, which may be among ``outputs``.

    ``single`` is whether the ``Function`` has one output.
    """
    hooks = HOOK_STACK.get()
    saved: list[Any] = []
    for position, tensor in enumerate(ctx._to_save):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {position} is of type "
                f"{type(tensor).__name__}"
            )
        index = next((i for i, out in enumerate(outputs) if out is tensor), None)
        if tensor is not None and index is not None:
            saved.append(SavedOutput(tensor, None if single else index, bool(tensor._rg)))
        elif tensor is not None and hooks:
            saved.append(Packed(tensor, hooks[-1], edge_of(tensor)))
        else:
            saved.append(tensor)
    ctx._saved = tuple(saved)
    ctx._to_save = ()
    node.saved = tuple(t for t in saved if isinstance(t, Tensor))
    note_versions(node)


def _can_sum_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a gradient of a shape can be summed to the shape ``target`` of an input."""
    lead = len(shape) - len(target)
    return lead >= 0 and all(n in (m, 1) for n, m in zip(target, shape[lead:], strict=True))


def _to_user(h: Any, backend: Any) -> Any:
    """Convert a gradient of the engine to a tensor for the user's ``backward``; None stays."""
    if h is None:
        return None
    return conjugate(h if isinstance(h, Tensor) else wrap(h, backend))


def _from_user(op: Any, result: Any, graph_mode: bool) -> Any:
    """Convert a result of ``backward`` for the engine: to an array, or a Tensor in graph mode."""
    if result is None:
        return None
    if not isinstance(result, Tensor):
        raise RuntimeError(
            f"{op.backward_name}: expected Variable or None (got {type(result).__name__})"
        )
    # The gradients of the engine are the conjugates of PyTorch's, which users see.
    result = conjugate(result)
    return result if graph_mode else result._data


__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class FunctionCtx:
    """Context that ``forward`` fills for ``backward``: tensors, flags, any attribute of your own.

    Attributes:
        needs_input_grad: Per argument of ``forward``, whether it requires grad.

    Example:
        >>> class Sort(tt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.shape = x.shape
        ...         values, places = x.sort()
        ...         ctx.save_for_backward(places)
        ...         ctx.mark_non_differentiable(places)
        ...         ctx.set_materialize_grads(False)
        ...         return values, places
        ...     @staticmethod
        ...     def backward(ctx, grad, _):
        ...         (places,) = ctx.saved_tensors
        ...         return tt.zeros(ctx.shape).scatter(0, places, grad)
        >>> x = tt.tensor([3.0, 1.0], requires_grad=True)
        >>> values, places = Sort.apply(x)
        >>> values[0].backward()
        >>> x.grad
        tensor([0., 1.])
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._to_save: tuple[Tensor | None, ...] = ()
        self._saved: tuple[Any, ...] = ()
        self._node: Callable[[], Node | None] = lambda: None
        self._dirty: tuple[Tensor, ...] = ()
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._materialize = True
        self._for_forward: tuple[Any, ...] | None = None
        self._input_types: tuple[Any, ...] = ()
        self._constant: tuple[int, ...] = ()

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors for ``jvp``, where they are ``ctx.saved_tensors``.

        Example:
            >>> class Square(tt.autograd.Function):
            ...     @staticmethod
            ...     def forward(x):
            ...         return x * x
            ...     @staticmethod
            ...     def setup_context(ctx, inputs, output):
            ...         ctx.save_for_forward(*inputs)
            ...     @staticmethod
            ...     def jvp(ctx, tangent):
            ...         return 2 * ctx.saved_tensors[0] * tangent
            >>> tt.func.jvp(Square.apply, (tt.tensor(3.0),), (tt.tensor(1.0),))[1]
            tensor(6.)
        """
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    "save_for_forward can only save variables, but argument is of type "
                    f"{type(tensor).__name__}"
                )
        self._for_forward = tensors

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors for ``backward``; they are checked for in-place changes."""
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors passed to ``save_for_backward``; in ``jvp`` those of ``save_for_forward``.

        Raises:
            RuntimeError: If the graph was freed.
        """
        node = self._node()
        if node is not None and node.args is FREED:
            raise RuntimeError(FREED_MESSAGE)
        if self._for_forward is not None and FORWARD_MODE.get():
            return self._for_forward
        return tuple(self._unpack(saved) for saved in self._saved)

    @property
    def saved_variables(self) -> tuple[Tensor, ...]:
        """The former name of ``saved_tensors``."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def _unpack(self, saved: Any) -> Any:
        """Return the tensor of an item of ``_saved``."""
        if isinstance(saved, Packed):
            return saved.tensor()
        return self._output(saved) if isinstance(saved, SavedOutput) else saved

    def _output(self, saved: SavedOutput) -> Tensor:
        """Return the tensor of a saved output, with the edge of that output."""
        data = saved.data.tensor()._data if isinstance(saved.data, Packed) else saved.data
        out = wrap(data, saved.xp)
        node = self._node()
        if node is not None and saved.differentiable:
            out._node = node if saved.index is None else NodeOutput(node, saved.index)
            out._rg = True
        return out

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Mark inputs that ``forward`` changed in place; it must return them.

        Example:
            >>> class AddOne(tt.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         ctx.mark_dirty(x)
            ...         return x.add_(1)
            >>> x = tt.zeros(1, requires_grad=True).clone()
            >>> AddOne.apply(x) is x
            True
        """
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Mark outputs that are not differentiable: they do not require grad."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether ``backward`` gets zeros (default) or None for unused outputs."""
        self._materialize = value


class _FunctionOp(NodeOp):
    """``Node.op`` of the node of a ``Function`` subclass."""

    #: A user's ``backward`` may return one tensor for several inputs, or store what it returns.
    makes_gradients = False

    def __init__(
        self, cls: type[Function], materialize: bool, outputs: tuple[Any, ...],
        args: tuple[Any, ...],
    ) -> None:  # fmt: skip
        overrides_vjp = cls.vjp is not Function.vjp
        if overrides_vjp and cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        self.backward: Any = cls.vjp if overrides_vjp else cls.backward
        self.jvp: Any = None if cls.jvp is Function.jvp else cls.jvp
        #: Positions of the results that are tensors; ``backward`` gets None for the others.
        self.tensor_outputs = tuple(i for i, out in enumerate(outputs) if isinstance(out, Tensor))
        self.count = len(outputs)
        self.arguments = len(args)
        self.complex = tuple(isinstance(a, Tensor) and a.is_complex() for a in args)
        self.name = cls.__name__
        self.backward_name = cls.__name__ + "Backward"
        self.materialize = materialize

    def context(self, node: Node) -> FunctionCtx:
        """Return the ``ctx`` of a node; raise a RuntimeError if the graph was freed."""
        if node.args is FREED:
            raise RuntimeError(FREED_MESSAGE)
        return node.args[0]  # type: ignore[no-any-return]

    def joint(self, xp: Any, g: Any, out: Any, shapes: Any, args: Any) -> list[Any]:
        """Return the gradients that ``backward`` computes for the arguments that are tensors."""
        grads = g if isinstance(g, tuple) else (g,)
        graph_mode = any(isinstance(h, Tensor) for h in grads)
        with nullcontext() if graph_mode else no_grad():
            results = self._call_backward(grads, graph_mode, *args)
        for i, (h, shape) in enumerate(zip(results, shapes, strict=True)):
            if h is not None and shape is not None and not _can_sum_to(tuple(h.shape), shape):
                raise RuntimeError(
                    f"Function {self.backward_name} returned an invalid gradient at index {i} - "
                    f"got {list(h.shape)} but expected shape compatible with {list(shape)}"
                )
        return results

    def _call_backward(
        self, given: tuple[Any, ...], graph_mode: bool, ctx: Any, positions: Any, backend: Any
    ) -> list[Any]:
        """Call the user's ``backward`` and check the gradients that it returns.

        ``given`` are the gradients of the results that are tensors: tensors in graph mode, under
        ``create_graph``, otherwise raw arrays. ``positions`` are those of the tensor arguments.
        """
        grads: list[Any] = [None] * self.count
        for position, h in zip(self.tensor_outputs, given, strict=True):
            grads[position] = _to_user(h, backend)
        if self.jvp is not None and FORWARD_MODE.get():
            results = _transpose_jvp(self.jvp, ctx, grads)
        else:
            results = self.backward(ctx, *grads)
        results = results if isinstance(results, tuple) else (results,)
        count = self.arguments
        surplus = any(r is not None for r in results[count:])
        if surplus or len(results) < count:
            raise RuntimeError(
                f"function {self.backward_name} returned an incorrect number of gradients "
                f"(expected {count}, got {len(results)})"
            )
        for i, result in enumerate(results[:count]):
            if result is not None and i not in positions:
                raise RuntimeError(
                    f"function {self.backward_name} returned a gradient different than None at "
                    f"position {i + 1}, but the corresponding forward input was not a Variable"
                )
            if isinstance(result, Tensor) and result.is_complex() and not self.complex[i]:
                raise RuntimeError(
                    f"function {self.backward_name} returned a complex gradient at position "
                    f"{i + 1}, but the corresponding forward input is real"
                )
        return [_from_user(self, results[i], graph_mode) for i in positions]


class Function:
    """Base class of custom functions, which define their own forward and backward.

    A subclass defines static methods ``forward(ctx, *args)`` and ``backward(ctx, *grads)``
    (or ``forward(*args)`` with ``setup_context(ctx, inputs, output)``), and is called through
    ``apply``. ``backward`` returns one gradient, or None, per argument of ``forward``.

    Example:
        >>> class Cube(tt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x ** 3
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (x,) = ctx.saved_tensors
        ...         return grad * 3 * x ** 2
        >>> x = tt.tensor(2.0, requires_grad=True)
        >>> Cube.apply(x).backward()
        >>> x.grad
        tensor(12.)
    """

    #: Without effect: ``vmap`` maps over ``forward`` and ``backward`` in any case.
    generate_vmap_rule = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Recording.needs_current = True  # ``backward`` may call ``queue_callback``

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; gradients are not recorded inside."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Fill ``ctx``; for a ``forward`` without the parameter ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any, **unused: Any) -> Any:
        """Return the gradients of the arguments, given those of the results."""
        # ``unused`` is never passed: with it type checkers allow names for a subclass's gradients.
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any, **unused: Any) -> Any:
        """Another name for ``backward``; a subclass defines one of them."""
        return Function.backward(ctx, *grad_outputs)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any, **unused: Any) -> Any:
        """Return the tangents of the results, given those of the arguments; for forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Return the result for all examples of ``func.vmap``, and its dimension of the examples.

        ``info`` has ``batch_size`` and ``randomness``. ``in_dims`` are the dimensions of the
        examples in ``args``.

        Example:
            >>> class Twice(tt.autograd.Function):
            ...     @staticmethod
            ...     def forward(x):
            ...         return x * 2
            ...     @staticmethod
            ...     def setup_context(ctx, inputs, output):
            ...         pass
            ...     @staticmethod
            ...     def vmap(info, in_dims, x):
            ...         return Twice.apply(x), in_dims[0]
            >>> tt.vmap(Twice.apply)(tt.tensor([[1.0], [2.0]]))
            tensor([[2.],
                    [4.]])
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or "
            "set generate_vmap_rule=True."
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise a RuntimeError: a ``Function`` is called by ``apply`` of its class."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            f"new-style autograd function with static forward method: {type(self).__name__}.apply"
        )

    @classmethod
    def apply(cls: type[Applied[R]], *args: Any, **kwargs: Any) -> R:
        """Call ``forward`` and record the call as a node of the autograd graph."""
        args, kwargs = _bind_arguments(cls, args, kwargs)
        rule = APPLYING.get()
        if rule is not None and (mapped := rule(cls, args, kwargs)) is not NotImplemented:
            return mapped  # type: ignore[no-any-return]
        edges = [edge_of(a) if isinstance(a, Tensor) else None for a in args]
        recording = grad_enabled() and any(e is not None for e in edges)
        ctx = FunctionCtx(tuple(e is not None for e in edges))
        with no_grad():
            output = _call_forward(cls, ctx, args, kwargs)
        outputs = output if isinstance(output, tuple) else (output,)
        _check_marks(ctx, args, outputs, _has_setup_context(cls))
        if recording and any(isinstance(out, Tensor) for out in outputs):
            outputs = _record(cls, ctx, args, edges, outputs)
        return outputs if isinstance(output, tuple) else outputs[0]  # type: ignore[return-value]


class InplaceFunction(Function):
    """A ``Function`` with an attribute ``inplace``, which has no further effect.

    Args:
        inplace: Value of the attribute. Default: False.

    Example:
        >>> class AddOne(tt.autograd.function.InplaceFunction):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.mark_dirty(x)
        ...         return x.add_(1)
        >>> AddOne.apply(tt.zeros(1))
        tensor([1.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _has_setup_context(cls: Any) -> bool:
    """Whether a ``Function`` defines ``setup_context``; its ``forward`` then has no ``ctx``."""
    return cls.setup_context is not Function.setup_context


def _call_forward(cls: Any, ctx: FunctionCtx, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``forward`` and, if it is defined, ``setup_context``; return the result of ``forward``.

    This is not a method, because a user's class may define a method of any name.
    """
    if not _has_setup_context(cls):
        return cls.forward(ctx, *args, **kwargs)
    output = cls.forward(*args, **kwargs)
    cls.setup_context(ctx, args, output)
    return output


def _bind_arguments(
    cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of ``forward``; with defaults if ``setup_context`` receives them."""
    if not _has_setup_context(cls):
        return args, kwargs
    bound = inspect.signature(cls.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _record(
    cls: Any, ctx: FunctionCtx, args: tuple[Any, ...], edges: list[Any], outputs: Any
) -> tuple[Any, ...]:
    """Create the node of a call of a ``Function`` and return its outputs with their edges.

    ``args``, with an edge or None for each, and ``outputs`` are those of ``forward``.
    """
    positions = tuple(i for i, a in enumerate(args) if isinstance(a, Tensor))
    xp = next(a._xp for a in args if isinstance(a, Tensor))
    _check_dirty(ctx, args, outputs)
    op = _FunctionOp(cls, ctx._materialize, outputs, args)
    node = Node(op, xp, tuple(edges[i] for i in positions), (ctx, positions, xp), (), None, None)
    ctx._node = weakref.ref(node)
    ctx._input_types = _describe_tensors(args) if op.jvp is not None else ()
    results = tuple(_prepare_output(ctx, args, out) for out in outputs)
    pairs = zip(results, outputs, strict=True)
    detached = tuple(new for new, out in pairs if _is_among(out, ctx._non_differentiable))
    ctx._constant = tuple(
        i for i, t in enumerate(results)
        if not isinstance(t, Tensor) or _is_among(t, detached) or t._data.dtype.kind not in "fcV"
    )  # fmt: skip
    tensors = [t for t in results if isinstance(t, Tensor)]
    single = len(results) == 1
    node.shape = tensors[0]._data.shape if single else tuple(t._data.shape for t in tensors)
    node.dtype = tensors[0]._data.dtype if single else tuple(t._data.dtype for t in tensors)
    for i, tensor in enumerate(tensors):
        if _is_among(tensor, detached):
            continue
        if tensor._base is not None and not _is_among(tensor, ctx._dirty):
            tensor._kind = FUNCTION if single else SEVERAL
        if tensor._data.dtype.kind in "fcV":
            _set_history(ctx, tensor, node if single else NodeOutput(node, i))
    _save_tensors(ctx, node, tensors, single)
    return results


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a ``backward`` that cannot be differentiated: a second derivative is an error.

    Example:
        >>> class Twice(tt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     @tt.autograd.function.once_differentiable
        ...     def backward(ctx, grad):
        ...         return grad * 2
        >>> x = tt.ones(1, requires_grad=True)
        >>> Twice.apply(x).backward()
        >>> x.grad
        tensor([2.])
    """

    @functools.wraps(backward)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        if not grad_enabled():
            return backward(ctx, *grads)
        with no_grad():
            results = backward(ctx, *grads)
        if not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return results
        several = isinstance(results, tuple)
        outputs = [_ErrorFunction.apply(r.detach(), *grads) if isinstance(r, Tensor) else r
                   for r in (results if several else (results,))]  # fmt: skip
        return tuple(outputs) if several else outputs[0]

    return wrapper


class _ErrorFunction(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, *grads: Any) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
