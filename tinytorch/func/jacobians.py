"""All derivatives of a function: ``jacrev``, ``jacfwd`` and ``hessian``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, overload

from ..autograd.functional import jacobian_of, unit
from ..autograd.levels import Push
from ..core.tensor import Tensor
from ..dispatch.op import NAMESPACES
from ..state.tracebacks import short
from ._level import (
    A,
    ArgNums,
    CallLevel,
    Function,
    P,
    chosen,
    entered_call,
    parted,
    refuse_complex,
    tensors_of,
)
from ._randomness import check_randomness, drawing
from ._trees import Tree, flatten, map_leaves, unflatten
from .reverse import argnums_of, recorded

#: The Jacobian by output and by input, both flat.
Blocks = list[list[Tensor]]


@overload
def jacrev(
    func: Callable[Concatenate[Tensor, P], Tensor], *, chunk_size: int | None = None
) -> Callable[Concatenate[Tensor, P], Tensor]: ...
@overload
def jacrev(
    func: Function,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Function: ...
def jacrev(
    func: Function,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Function:
    """A function that computes the Jacobian of ``func`` by backward passes.

    ``func`` runs once, and there is a backward pass for every element of its outputs.

    Args:
        func: Takes positional arguments, returns tensors.
        argnums: Which arguments to differentiate by: the place of one, or a tuple of places, which
            gives a tuple of Jacobians; default 0. The arguments are tensors or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.
        chunk_size: Accepted; the result is the same.

    Returns:
        A function of the same arguments that returns the Jacobian, of the output's shape and the
        input's: a tree like the output, of trees like the argument. With ``has_aux`` it returns
        ``(jacobian, aux)``.

    Raises:
        ValueError: If ``chunk_size`` is not positive, or an argument is no tensor.
        RuntimeError: For complex tensors, and as ``vjp``. The function raises it when it is called.

    Example:
        >>> tt.func.jacrev(tt.sin)(tt.tensor([0.0, 1.0]))
        tensor([[1.0000, 0.0000],
                [0.0000, 0.5403]])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.jacrev.html
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func, updated=())
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacrev", args, "inputs")
        with entered_call() as level:
            outputs, structure, aux = recorded(level, func, args, argnums_of(argnums), has_aux)
            refuse_complex("jacrev", outputs, "outputs")
            blocks = _rows(level, outputs)
        return _arranged(level, blocks, structure, argnums, has_aux, aux)

    return short(wrapper)


def _rows(level: CallLevel, outputs: tuple[Tensor, ...]) -> Blocks:
    """The Jacobian by backward passes, one for each element of ``outputs``."""
    record = level.depends(outputs)
    return [list(jacobian_of(i, out, level.given, record, False)) for i, out in enumerate(outputs)]


def _arranged(
    level: CallLevel, blocks: Blocks, structure: Tree, argnums: ArgNums, has_aux: bool, aux: Any
) -> Any:
    """The Jacobian as a tree like the output, of trees like the arguments."""
    rows = []
    for row in blocks:
        tree = unflatten(level.structure, [level.let_out(block) for block in row])
        rows.append(tree[0] if isinstance(argnums, int) else tree)
    jacobian = unflatten(structure, rows)
    return (jacobian, map_leaves(level.let_out, aux)) if has_aux else jacobian


@overload
def jacfwd(
    func: Callable[Concatenate[Tensor, P], Tensor], *, randomness: str = "error"
) -> Callable[Concatenate[Tensor, P], Tensor]: ...
@overload
def jacfwd(
    func: Function,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Function: ...
def jacfwd(
    func: Function,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Function:
    """A function that computes the Jacobian of ``func`` as forward mode does.

    ``func`` runs once. Where it has many more outputs than inputs, there are two backward passes
    for every element of the inputs, see ``jvp``; else there is one for every element of the outputs
    as in ``jacrev``, which costs less and gives the same.

    Args:
        func: Takes positional arguments, returns tensors.
        argnums: Which arguments to differentiate by: the place of one, or a tuple of places, which
            gives a tuple of Jacobians; default 0. The arguments are tensors or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.
        randomness: ``"error"`` (the default) refuses random functions inside ``func``; ``"same"``
            and ``"different"`` allow them. As ``func`` runs once, all columns see the same numbers.

    Returns:
        A function of the same arguments that returns the Jacobian, of the output's shape and the
        input's: a tree like the output, of trees like the argument. With ``has_aux`` it returns
        ``(jacobian, aux)``.

    Raises:
        RuntimeError: For complex tensors, and as ``jvp``. The function raises it when it is called.
        ValueError: If an argument is no tensor, or of integers.

    Example:
        >>> tt.func.jacfwd(lambda t: tt.stack([t, t ** 2, t ** 3]))(tt.tensor(2.0))
        tensor([ 1.,  4., 12.])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.jacfwd.html
    """

    @functools.wraps(func, updated=())
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacfwd", args, "inputs")
        _check_inputs(args, argnums_of(argnums))
        check_randomness(randomness)
        name = "jvp(f, primals, tangents)"
        with entered_call() as level:
            given = level.arguments(args, argnums, True)
            with drawing(randomness, args):
                result = func(*given)
            output, aux = parted(name, result, has_aux)
            outputs, structure = tensors_of(name, output)
            refuse_complex("jacfwd", outputs, "outputs")
            columns = _columns if _prefers_columns(level, outputs) else _rows
            blocks = columns(level, outputs)
        return _arranged(level, blocks, structure, argnums, has_aux, aux)

    return short(wrapper)


def _check_inputs(args: tuple[Any, ...], argnums: Any) -> None:
    for leaf in flatten([args[i] for i in chosen(argnums, len(args))])[0]:
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        if not leaf.is_floating_point():
            raise ValueError(
                f"Expected primal to be floating point or complex, but got: {leaf.dtype}"
            )


def _prefers_columns(level: CallLevel, outputs: tuple[Tensor, ...]) -> bool:
    """Whether the Jacobian is to be computed by columns.

    A column costs about two rows. It has the dtype of its output, and a row that of its input:
    where they differ, only columns give what forward mode gives.
    """
    if len({t.dtype for t in (*outputs, *level.given)}) > 1:
        return True
    return sum(out.numel() for out in outputs) > 2 * sum(t.numel() for t in level.given)


def _columns(level: CallLevel, outputs: tuple[Tensor, ...]) -> Blocks:
    """The Jacobian by tangents, one for each element of the stand-ins."""
    push = Push(level, outputs)
    blocks: Blocks = [[] for _ in outputs]
    for k, input in enumerate(level.given):
        columns: list[list[Tensor]] = [[] for _ in outputs]
        for j in range(input.numel()):
            tangents: list[Tensor | None] = [None] * len(level.given)
            tangents[k] = unit(input, j)
            for column, moved in zip(columns, push(tuple(tangents), level.recording), strict=True):
                column.append(moved)
        for block, column, out in zip(blocks, columns, outputs, strict=True):
            block.append(_side_by_side(column, out).reshape((*out.shape, *input.shape)))
    return blocks


def _side_by_side(columns: list[Tensor], out: Tensor) -> Tensor:
    if not columns:
        return out.new_empty((*out.shape, 0))
    stacked: Tensor = NAMESPACES[""]["stack"](columns, -1)
    return stacked


@overload
def hessian(func: Callable[Concatenate[A, P], Any]) -> Callable[Concatenate[A, P], A]: ...
@overload
def hessian(func: Function, argnums: int | tuple[int, ...]) -> Function: ...
def hessian(func: Function, argnums: int | tuple[int, ...] = 0) -> Function:
    """A function that computes the second derivatives of ``func``: ``jacfwd(jacrev(func))``.

    Args:
        func: Takes positional arguments, returns tensors.
        argnums: Which arguments to differentiate by, twice: the place of one, or a tuple of places,
            which gives a tuple of tuples; default 0. The arguments are tensors or trees of them.

    Returns:
        A function of the same arguments that returns a tree like the output, of trees like the
        argument, of trees like the argument. Each tensor has the output's shape and the input's
        twice over.

    Raises:
        RuntimeError: As ``jacrev`` and ``jacfwd``.
        ValueError: If an argument is no tensor, or of integers.

    Example:
        >>> tt.func.hessian(lambda x: (x ** 3).sum())(tt.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.hessian.html
    """
    return jacfwd(jacrev(func, argnums), argnums)
