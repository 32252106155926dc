"""Derivatives of functions by a backward pass: ``vjp``, ``grad`` and ``grad_and_value``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Literal, overload

from ..autograd.functional import fill_missing, gradients
from ..autograd.levels import force_recording
from ..core.tensor import Tensor, unwrap_holder
from ..state import is_grad_enabled
from ..state.tracebacks import short
from ._level import (
    A, ArgNums, Aux, CallLevel, Function, P, R, detach_constants, enter_call_level, flatten_output,
    split_aux,
)  # fmt: skip
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
    """Return the result of ``func`` and a function that multiplies vectors with its Jacobian.

    Args:
        func: Takes ``primals``, returns tensors of a floating or complex dtype.
        primals: Tensors, or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.

    Returns:
        ``(output, vjp_fn)`` or ``(output, vjp_fn, aux)``. ``vjp_fn(cotangents)`` takes a tree like
        ``output`` and returns a tuple with a tree of gradients for each of ``primals``. It may be
        called several times.

    Raises:
        ValueError: If a leaf of ``primals`` is not a tensor.
        RuntimeError: If ``func`` returns a value that is not a tensor, or a tensor of integers.

    Example:
        >>> output, vjp_fn = tt.func.vjp(tt.sin, tt.tensor([0.0, 1.0]))
        >>> vjp_fn(tt.ones(2))
        (tensor([1.0000, 0.5403]),)

    Reference: https://pytorch.org/docs/stable/generated/torch.func.vjp.html
    """
    with enter_call_level() as level:
        outputs, structure, aux = call_recorded(level, func, primals, None, has_aux)

    def vjp_fn(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> tuple[Any, ...]:
        weights = _flatten_cotangents(cotangents, structure)
        recording = is_grad_enabled() if create_graph is None else create_graph
        found = pull_back(level, outputs, weights, recording)
        return unflatten(level.structure, found)  # type: ignore[no-any-return]

    result = unflatten(structure, [level.export(out) for out in outputs])
    return (result, vjp_fn, map_leaves(level.export, aux)) if has_aux else (result, vjp_fn)


def call_recorded(
    level: CallLevel, func: Function, primals: tuple[Any, ...], argnums: ArgNums, has_aux: bool
) -> tuple[tuple[Tensor, ...], Tree, Any]:
    """Call ``func`` in a level.

    Returns:
        The recorded outputs, the structure of their tree, and the auxiliary values.
    """
    output, aux = split_aux(_VJP, func(*level.arguments(primals, argnums)), has_aux)
    outputs, structure = flatten_output(_VJP, output)
    for out in outputs:
        if not (out.is_floating_point() or out.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {out.dtype}"
            )
    return outputs, structure, aux


def _flatten_cotangents(cotangents: Any, structure: Tree) -> tuple[Tensor, ...]:
    """Return the leaves of ``cotangents``, which must have the structure of the outputs."""
    leaves, given = flatten(cotangents)
    if given != structure:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs "
            f"to the function. cotangents: {given.pretty()}, primal output: {structure.pretty()}"
        )
    return tuple(leaves)


def pull_back(
    level: CallLevel, outputs: tuple[Tensor, ...], weights: tuple[Tensor, ...], recording: bool
) -> list[Tensor]:
    """Return the gradient of ``outputs``, with ``weights``, for each input of ``level``.

    ``recording`` is whether it may require grad outside the level.
    """
    sources = (t for t in (*outputs, *weights) if isinstance(t, Tensor) and t.requires_grad)
    record = recording and any(map(level.is_recorded_outside, sources))
    with force_recording():
        found = gradients(outputs, level.inputs, weights, record)
    filled = fill_missing(found, level.inputs, False, record, "back")
    return [level.export(g, recording) for g in filled]


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
    """Return a function that computes the gradient of ``func`` and its value.

    Args:
        func: Returns a tensor of no dimensions.
        argnums: Position of the argument to differentiate with respect to, or a tuple of positions
            for a tuple of gradients; default 0. The arguments are tensors or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.

    Returns:
        A function of the same arguments that returns ``(gradient, output)`` or
        ``(gradient, (output, aux))``. The gradient is a tree like the argument.

    Raises:
        RuntimeError: If ``argnums`` is empty, out of range or has a position twice, or ``func``
            returns anything else; when the function is called.
        ValueError: If a leaf of an argument at ``argnums`` is not a tensor.

    Example:
        >>> tt.func.grad_and_value(lambda x: (x ** 2).sum())(tt.tensor([1.0, 3.0]))
        (tensor([2., 6.]), tensor(10.))

    Reference: https://pytorch.org/docs/stable/generated/torch.func.grad_and_value.html
    """

    @functools.wraps(func, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        with enter_call_level() as level:
            given = level.arguments(args, check_argnums(argnums))
            output, aux = split_aux(_GRAD, func(*given, **detach_constants(kwargs)), has_aux)
            (output,), kind = _check_scalar(output)
            found, value = level.gradients(output)
            value = unflatten(kind, [value])
        tree = unflatten(level.structure, found)
        gradient = tree[0] if isinstance(argnums, int) else tree
        return gradient, (value, map_leaves(level.export, aux)) if has_aux else value

    return short(wrapper)


def check_argnums(argnums: Any) -> Any:
    """Return ``argnums``; raise a RuntimeError for None, which means all arguments internally."""
    if argnums is None:
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    return argnums


def _check_scalar(output: Any) -> tuple[list[Tensor], Tree]:
    """Flatten an output that is a tensor, or a ``tinytorch.numpy`` array, of no dimensions.

    Raises:
        RuntimeError: For any other output.
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
    """Return a function that computes the gradient of ``func``.

    It can be differentiated itself: ``grad(grad(f))``. The grad mode around the call has no effect;
    the results of a ``no_grad`` block inside ``func`` are constants.

    Args:
        func: Returns a tensor of no dimensions.
        argnums: Position of the argument to differentiate with respect to, or a tuple of positions
            for a tuple of gradients; default 0. The arguments are tensors or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.

    Returns:
        A function of the same arguments that returns the gradient, a tree like the argument, or
        ``(gradient, aux)``.

    Raises:
        RuntimeError: If ``argnums`` is empty, out of range or has a position twice, or ``func``
            returns anything else; when the function is called.
        ValueError: If a leaf of an argument at ``argnums`` is not a tensor.

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
