"""``autograd.Function``: operations whose forward and backward a user writes."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ...core.tensor import Tensor, wrap
from ...graph.inference import APPLYING
from ...graph.nodes import FREED, TWICE, Node, Slot
from ...graph.saved_packing import Packed, SavedOutput
from ...graph.views import FUNCTION, SEVERAL, edge_of
from ...state import grad_enabled, no_grad
from ...warnings import warn
from .apply_type import Applied, R
from .forward_rule import PUSHING, likes, transposed
from .outputs import check_dirty, check_marks, fresh, is_among, save, set_history
from .user_gradients import as_user, fits, from_user


class FunctionCtx:
    """What ``forward`` leaves for ``backward``: tensors, flags, any attribute of your own.

    Attributes:
        needs_input_grad: Per argument of ``forward``, whether its gradient is wanted.

    Example:
        >>> import tinytorch as tt
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
        self._likes: tuple[Any, ...] = ()
        self._constant: tuple[int, ...] = ()

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``jvp``, which finds them as ``saved_tensors``.

        Example:
            >>> import tinytorch as tt
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
        """Keep tensors for ``backward``; they are checked for in-place changes."""
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What ``save_for_backward`` was given.

        Raises:
            RuntimeError: If the graph was freed.
        """
        node = self._node()
        if node is not None and node.args is FREED:
            raise RuntimeError(TWICE)
        if self._for_forward is not None and PUSHING.get():
            return self._for_forward
        return tuple(self._kept(saved) for saved in self._saved)

    @property
    def saved_variables(self) -> tuple[Tensor, ...]:
        """The former name of ``saved_tensors``."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def _kept(self, saved: Any) -> Any:
        if isinstance(saved, Packed):
            return saved.tensor()
        return self._output(saved) if isinstance(saved, SavedOutput) else saved

    def _output(self, saved: SavedOutput) -> Tensor:
        data = saved.data.tensor()._data if isinstance(saved.data, Packed) else saved.data
        out = wrap(data, saved.xp)
        node = self._node()
        if node is not None and saved.differentiable:
            out._node = node if saved.index is None else Slot(node, saved.index)
            out._rg = True
        return out

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs ``forward`` changed in place; it must return them.

        Example:
            >>> import tinytorch as tt
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
        """Say which outputs no gradient flows through."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether ``backward`` gets zeros (default) or None for unused outputs."""
        self._materialize = value


class _FunctionOp:
    """What the engine asks of an operation, for a ``Function`` subclass."""

    saved_positions: tuple[int, ...] = ()
    sequence = None
    #: A user's ``backward`` may return one tensor for several inputs, or one it keeps.
    makes_gradients = False
    frees = False
    rule_list: tuple[Any, ...] = ()
    flat: tuple[int, ...] = ()

    def __init__(
        self, cls: type[Function], materialize: bool, outputs: tuple[Any, ...],
        args: tuple[Any, ...],
    ) -> None:  # fmt: skip
        own_vjp = cls.vjp is not Function.vjp
        if own_vjp and cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        self.backward: Any = cls.vjp if own_vjp else cls.backward
        self.jvp: Any = None if cls.jvp is Function.jvp else cls.jvp
        #: Which of the results are tensors; ``backward`` gets None for the others.
        self.places = tuple(i for i, out in enumerate(outputs) if isinstance(out, Tensor))
        self.count = len(outputs)
        self.arguments = len(args)
        self.complex = tuple(isinstance(a, Tensor) and a.is_complex() for a in args)
        self.name = cls.__name__
        self.backward_name = cls.__name__ + "Backward"
        self.materialize = materialize

    def context(self, node: Node) -> FunctionCtx:
        """The ``ctx`` of a node; RuntimeError once its graph was freed."""
        if node.args is FREED:
            raise RuntimeError(TWICE)
        return node.args[0]  # type: ignore[no-any-return]

    def joint(self, xp: Any, g: Any, out: Any, shapes: Any, args: Any) -> list[Any]:
        """The gradients ``backward`` returns, for the tensor arguments alone."""
        given = g if isinstance(g, tuple) else (g,)
        graph_mode = any(isinstance(h, Tensor) for h in given)
        with nullcontext() if graph_mode else no_grad():
            results = self._call_backward(given, graph_mode, *args)
        for i, (h, shape) in enumerate(zip(results, shapes, strict=True)):
            if h is not None and shape is not None and not fits(tuple(h.shape), shape):
                raise RuntimeError(
                    f"Function {self.backward_name} returned an invalid gradient at index {i} - "
                    f"got {list(h.shape)} but expected shape compatible with {list(shape)}"
                )
        return results

    def _call_backward(
        self, given: tuple[Any, ...], graph_mode: bool, ctx: Any, positions: Any, backend: Any
    ) -> list[Any]:
        grads: list[Any] = [None] * self.count
        for place, h in zip(self.places, given, strict=True):
            grads[place] = as_user(h, backend)
        if self.jvp is not None and PUSHING.get():
            results = transposed(self.jvp, ctx, grads)
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
        return [from_user(self, results[i], graph_mode) for i in positions]


class Function:
    """Base of operations with a gradient of your own.

    A subclass defines static methods ``forward(ctx, *args)`` and ``backward(ctx, *grads)``
    (or ``forward(*args)`` with ``setup_context(ctx, inputs, output)``), and is called through
    ``apply``. ``backward`` returns one gradient, or None, per argument of ``forward``.

    Example:
        >>> import tinytorch as tt
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

    #: Whether ``vmap`` maps over ``forward`` and ``backward`` as they are, which it does anyway.
    generate_vmap_rule = False

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
        """Fill ``ctx``, where ``forward`` does not take it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any, **unused: Any) -> Any:
        """Gradients of the arguments, given those of the results."""
        # ``unused`` never comes: with it type checkers let a subclass name its gradients.
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
        """Tangents of the results, given those of the arguments; forward mode takes it."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """The result for all examples of ``func.vmap``, and their dimension in it.

        ``info`` has ``batch_size`` and ``randomness``, ``in_dims`` their dimension in ``args``.

        Example:
            >>> import tinytorch as tt
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
        """Refused: a function is applied by its class."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            f"new-style autograd function with static forward method: {type(self).__name__}.apply"
        )

    @classmethod
    def apply(cls: type[Applied[R]], *args: Any, **kwargs: Any) -> R:
        """Run ``forward`` and record it."""
        args, kwargs = _bound(cls, args, kwargs)
        rule = APPLYING.get()
        if rule is not None and (mapped := rule(cls, args, kwargs)) is not NotImplemented:
            return mapped  # type: ignore[no-any-return]
        edges = [edge_of(a) if isinstance(a, Tensor) else None for a in args]
        recording = grad_enabled() and any(e is not None for e in edges)
        ctx = FunctionCtx(tuple(e is not None for e in edges))
        with no_grad():
            output = _called(cls, ctx, args, kwargs)
        outputs = output if isinstance(output, tuple) else (output,)
        check_marks(ctx, args, outputs, _fills_context_apart(cls))
        if recording and any(isinstance(out, Tensor) for out in outputs):
            outputs = _record(cls, ctx, args, edges, outputs)
        return outputs if isinstance(output, tuple) else outputs[0]  # type: ignore[return-value]


class InplaceFunction(Function):
    """A ``Function`` that notes whether it is to work in place; nothing else comes of it.

    Args:
        inplace: What its attribute ``inplace`` is. Default: False.

    Example:
        >>> import tinytorch as tt
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


def _fills_context_apart(cls: Any) -> bool:
    return cls.setup_context is not Function.setup_context


def _called(cls: Any, ctx: FunctionCtx, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``forward`` gives. No method: programs give theirs any name, ``_forward`` among them."""
    if not _fills_context_apart(cls):
        return cls.forward(ctx, *args, **kwargs)
    output = cls.forward(*args, **kwargs)
    cls.setup_context(ctx, args, output)
    return output


def _bound(
    cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of ``forward``, with its defaults where ``setup_context`` sees them, too."""
    if not _fills_context_apart(cls):
        return args, kwargs
    bound = inspect.signature(cls.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _record(
    cls: Any, ctx: FunctionCtx, args: tuple[Any, ...], edges: list[Any], outputs: Any
) -> tuple[Any, ...]:
    positions = tuple(i for i, a in enumerate(args) if isinstance(a, Tensor))
    xp = next(a._xp for a in args if isinstance(a, Tensor))
    check_dirty(ctx, args, outputs)
    op = _FunctionOp(cls, ctx._materialize, outputs, args)
    node = Node(op, xp, tuple(edges[i] for i in positions), (ctx, positions, xp), (), None, None)
    ctx._node = weakref.ref(node)
    ctx._likes = likes(args) if op.jvp is not None else ()
    fixed = tuple(fresh(ctx, args, out) for out in outputs)
    pairs = zip(fixed, outputs, strict=True)
    without = tuple(new for new, out in pairs if is_among(out, ctx._non_differentiable))
    ctx._constant = tuple(
        i for i, t in enumerate(fixed)
        if not isinstance(t, Tensor) or is_among(t, without) or t._data.dtype.kind not in "fcV"
    )  # fmt: skip
    tensors = [t for t in fixed if isinstance(t, Tensor)]
    single = len(fixed) == 1
    node.shape = tensors[0]._data.shape if single else tuple(t._data.shape for t in tensors)
    node.dtype = tensors[0]._data.dtype if single else tuple(t._data.dtype for t in tensors)
    for i, tensor in enumerate(tensors):
        skip = is_among(tensor, without)
        if tensor._base is not None and not skip and not is_among(tensor, ctx._dirty):
            tensor._kind = FUNCTION if single else SEVERAL
        if tensor._data.dtype.kind in "fcV" and not skip:
            set_history(ctx, tensor, node if single else Slot(node, i))
    save(ctx, node, tensors, single)
    return fixed


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a ``backward`` that cannot be differentiated itself: asking for it raises.

    Example:
        >>> import tinytorch as tt
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
        many = isinstance(results, tuple)
        refused = [_Refuse.apply(r.detach(), *grads) if isinstance(r, Tensor) else r
                   for r in (results if many else (results,))]  # fmt: skip
        return tuple(refused) if many else refused[0]

    return wrapper


class _Refuse(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, *grads: Any) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
