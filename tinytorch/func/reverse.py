"""Derivatives by a backward pass: ``vjp``, ``grad`` and ``grad_and_value``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Literal, overload

from ..autograd.functional import filled, gradients
from ..autograd.levels import recorded_anyway
from ..core.tensor import Tensor, unwrap_holder
from ..state import is_grad_enabled
from ..state.tracebacks import short
from ._level import (
    A,
    ArgNums,
    Aux,
    CallLevel,
    Function,
    P,
    R,
    entered_call,
    parted,
    tensors_of,
)
from ._trees import Tree, flatten, map_leaves, unflatten

_VJP, _GRAD = "vjp(f, *primals)", "grad_and_value(f)(*args)"


@overload
def vjp(
    func: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[R, Callable[..., tuple[Any, ...]]]: ...
@overload
def vjp(
    func: Callable[..., tuple[R, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Callable[..., tuple[Any, ...]], Aux]: ...
def vjp(func: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The result of ``func`` and a function that multiplies vectors with its Jacobian.

    Args:
        func: Takes ``primals``, returns tensors of a floating or complex dtype.
        primals: Tensors, or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.

    Returns:
        ``(output, vjp_fn)`` or ``(output, vjp_fn, aux)``. ``vjp_fn(cotangents)`` takes a tree like
        ``output`` and returns a tuple with a tree of gradients for each of ``primals``. It may be
        called again.

    Raises:
        ValueError: If ``primals`` hold something that is no tensor.
        RuntimeError: If ``func`` returns something that is no tensor, or of integers.

    Example:
        >>> output, vjp_fn = tt.func.vjp(tt.sin, tt.tensor([0.0, 1.0]))
        >>> vjp_fn(tt.ones(2))
        (tensor([1.0000, 0.5403]),)

    Reference: https://pytorch.org/docs/stable/generated/torch.func.vjp.html
    """
    with entered_call() as level:
        outputs, structure, aux = recorded(level, func, primals, None, has_aux)

    def vjp_fn(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> tuple[Any, ...]:
        weights = _weights(cotangents, structure)
        recording = is_grad_enabled() if create_graph is None else create_graph
        found = pulled_back(level, outputs, weights, recording)
        return unflatten(level.structure, found)  # type: ignore[no-any-return]

    result = unflatten(structure, [level.let_out(out) for out in outputs])
    return (result, vjp_fn, map_leaves(level.let_out, aux)) if has_aux else (result, vjp_fn)


def recorded(
    level: CallLevel, func: Function, primals: tuple[Any, ...], argnums: ArgNums, has_aux: bool
) -> tuple[tuple[Tensor, ...], Tree, Any]:
    """Run ``func`` at a level.

    Returns:
        The outputs as it recorded them, the tree they are in, and auxiliary values.
    """
    output, aux = parted(_VJP, func(*level.arguments(primals, argnums)), has_aux)
    outputs, structure = tensors_of(_VJP, output)
    for out in outputs:
        if not (out.is_floating_point() or out.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {out.dtype}"
            )
    return outputs, structure, aux


def _weights(cotangents: Any, structure: Tree) -> tuple[Tensor, ...]:
    leaves, given = flatten(cotangents)
    if given != structure:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs "
            f"to the function. cotangents: {given.pretty()}, primal output: {structure.pretty()}"
        )
    return tuple(leaves)


def pulled_back(
    level: CallLevel, outputs: tuple[Tensor, ...], weights: tuple[Tensor, ...], recording: bool
) -> list[Tensor]:
    """The gradient of ``outputs``, weighted, for each stand-in of ``level``."""
    tied = (t for t in (*outputs, *weights) if isinstance(t, Tensor) and t.requires_grad)
    record = recording and any(map(level.is_tied, tied))
    with recorded_anyway():
        found = gradients(outputs, level.given, weights, record)
    done = filled(found, level.given, False, record, "back")
    return [level.let_out(g, recording) for g in done]


@overload
def grad_and_value(
    func: Callable[Concatenate[A, P], R],
) -> Callable[Concatenate[A, P], tuple[A, R]]: ...
@overload
def grad_and_value(
    func: Callable[P, Any], argnums: int | tuple[int, ...], has_aux: bool = False
) -> Callable[P, tuple[Any, Any]]: ...
@overload
def grad_and_value(func: Callable[P, Any], *, has_aux: bool) -> Callable[P, tuple[Any, Any]]: ...
def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """A function that computes the gradient of ``func`` and its value.

    Args:
        func: Returns a tensor of no dimensions.
        argnums: Which arguments the gradient is for: the place of one, or a tuple of places, which
            gives a tuple of gradients; default 0. The arguments are tensors or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.

    Returns:
        A function of the same arguments that returns ``(gradient, output)`` or
        ``(gradient, (output, aux))``. The gradient is a tree like the argument.

    Raises:
        RuntimeError: If ``argnums`` names no argument, or one twice, or ``func`` returns anything
            else. The function raises it when it is called.
        ValueError: If an argument named holds something that is no tensor.

    Example:
        >>> tt.func.grad_and_value(lambda x: (x ** 2).sum())(tt.tensor([1.0, 3.0]))
        (tensor([2., 6.]), tensor(10.))

    Reference: https://pytorch.org/docs/stable/generated/torch.func.grad_and_value.html
    """

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        with entered_call() as level:
            given = level.arguments(args, argnums_of(argnums))
            output, aux = parted(_GRAD, func(*given, **level.others(kwargs)), has_aux)
            (output,), kind = _scalar(output)
            found, value = level.gradients(output)
            value = unflatten(kind, [value])
        tree = unflatten(level.structure, found)
        gradient = tree[0] if isinstance(argnums, int) else tree
        return gradient, (value, map_leaves(level.let_out, aux)) if has_aux else value

    return short(wrapper)


def argnums_of(argnums: Any) -> Any:
    """``argnums``, refusing None, which stands for all arguments elsewhere."""
    if argnums is None:
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    return argnums


def _scalar(output: Any) -> tuple[list[Tensor], Tree]:
    """A result of no dimensions, and what it is in: itself, or an array of NumPy's dialect.

    Raises:
        RuntimeError: For anything else.
    """
    tensor = unwrap_holder(output)
    if not isinstance(tensor, Tensor):
        raise RuntimeError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
    if tensor.dim() != 0:
        raise RuntimeError(
            f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {tensor.dim()} "
            "dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    return flatten(output)


@overload
def grad(func: Callable[Concatenate[A, P], Any]) -> Callable[Concatenate[A, P], A]: ...
@overload
def grad(
    func: Callable[P, Any], argnums: int | tuple[int, ...], has_aux: bool = False
) -> Callable[P, Any]: ...
@overload
def grad(func: Callable[P, Any], *, has_aux: bool) -> Callable[P, Any]: ...
def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that computes the gradient of ``func``.

    The gradient can be differentiated in its turn: ``grad(grad(f))``. Whether gradients are
    recorded around the call does not matter; a ``no_grad`` block inside ``func`` does.

    Args:
        func: Returns a tensor of no dimensions.
        argnums: Which arguments the gradient is for: the place of one, or a tuple of places, which
            gives a tuple of gradients; default 0. The arguments are tensors or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.

    Returns:
        A function of the same arguments that returns the gradient, a tree like the argument, or
        ``(gradient, aux)``.

    Raises:
        RuntimeError: If ``argnums`` names no argument, or one twice, or ``func`` returns anything
            else. The function raises it when it is called.
        ValueError: If an argument named holds something that is no tensor.

    Example:
        >>> from tinytorch.func import grad
        >>> grad(lambda x: x ** 3)(tt.tensor(2.0)), grad(grad(lambda x: x ** 3))(tt.tensor(2.0))
        (tensor(12.), tensor(12.))

    Reference: https://pytorch.org/docs/stable/generated/torch.func.grad.html
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return short(wrapper)
