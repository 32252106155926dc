"""Jacobians and Hessians of functions: ``jacrev``, ``jacfwd`` and ``hessian``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, overload

from ..autograd.functional import jacobian_of, unit
from ..autograd.levels import JacobianProduct
from ..core.tensor import Tensor
from ..dispatch.op import NAMESPACES
from ..state.tracebacks import short
from ._level import (
    A, ArgNums, CallLevel, Function, P, check_real, enter_call_level, flatten_output,
    normalize_argnums, split_aux,
)  # fmt: skip
from ._randomness import check_randomness, forbid_random
from ._trees import Tree, flatten, map_leaves, unflatten
from .reverse import call_recorded, check_argnums

#: The Jacobian: a tensor for each leaf of the output and each input of the level.
Blocks = list[list[Tensor]]


@overload
def jacrev(
    func: Callable[Concatenate[Tensor, P], Tensor], *, chunk_size: int | None = None
) -> Callable[Concatenate[Tensor, P], Tensor]: ...
@overload
def jacrev(
    func: Function, argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False,
    chunk_size: int | None = None,
) -> Function: ...  # fmt: skip
def jacrev(
    func: Function, argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False,
    chunk_size: int | None = None,
) -> Function:  # fmt: skip
    """Return a function that computes the Jacobian of ``func`` by backward passes.

    ``func`` is called once, and there is a backward pass for every element of its outputs.

    Args:
        func: Takes positional arguments, returns tensors.
        argnums: Position of the argument to differentiate with respect to, or a tuple of positions
            for a tuple of Jacobians; default 0. The arguments are tensors or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.
        chunk_size: Accepted; the result is the same.

    Returns:
        A function of the same arguments that returns the Jacobian: a tree like the output, whose
        leaves are trees like the argument, of tensors whose shape is the output's, then the
        input's. With ``has_aux`` it returns ``(jacobian, aux)``.

    Raises:
        ValueError: If ``chunk_size`` is not positive, or an argument is not a tensor.
        RuntimeError: For complex tensors, and as ``vjp``; when the function is called.

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
        check_real("jacrev", args, "inputs")
        with enter_call_level() as level:
            outputs, structure, aux = call_recorded(
                level, func, args, check_argnums(argnums), has_aux
            )
            check_real("jacrev", outputs, "outputs")
            blocks = _rows(level, outputs)
        return _jacobian_tree(level, blocks, structure, argnums, has_aux, aux)

    return short(wrapper)


def _rows(level: CallLevel, outputs: tuple[Tensor, ...]) -> Blocks:
    """Compute the Jacobian by backward passes, one for each element of ``outputs``."""
    record = level.needs_recording(outputs)
    return [list(jacobian_of(i, out, level.inputs, record, False)) for i, out in enumerate(outputs)]


def _jacobian_tree(
    level: CallLevel, blocks: Blocks, structure: Tree, argnums: ArgNums, has_aux: bool, aux: Any
) -> Any:
    """Return the Jacobian as a tree like the output, whose leaves are trees like the arguments."""
    rows = []
    for row in blocks:
        tree = unflatten(level.structure, [level.export(block) for block in row])
        rows.append(tree[0] if isinstance(argnums, int) else tree)
    jacobian = unflatten(structure, rows)
    return (jacobian, map_leaves(level.export, aux)) if has_aux else jacobian


@overload
def jacfwd(
    func: Callable[Concatenate[Tensor, P], Tensor], *, randomness: str = "error"
) -> Callable[Concatenate[Tensor, P], Tensor]: ...
@overload
def jacfwd(
    func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *,
    randomness: str = "error",
) -> Function: ...  # fmt: skip
def jacfwd(
    func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *,
    randomness: str = "error",
) -> Function:  # fmt: skip
    """Return a function that computes the Jacobian of ``func``, with the results of forward mode.

    ``func`` is called once. If it has many more outputs than inputs, there are two backward passes
    for every element of the inputs, see ``jvp``. Otherwise there is one for every element of the
    outputs, as in ``jacrev``, which costs less.

    Args:
        func: Takes positional arguments, returns tensors.
        argnums: Position of the argument to differentiate with respect to, or a tuple of positions
            for a tuple of Jacobians; default 0. The arguments are tensors or trees of them.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.
        randomness: ``"error"`` (the default) makes random functions inside ``func`` an error;
            ``"same"`` and ``"different"`` allow them. As ``func`` is called once, all columns have
            the same random numbers.

    Returns:
        A function of the same arguments that returns the Jacobian: a tree like the output, whose
        leaves are trees like the argument, of tensors whose shape is the output's, then the
        input's. With ``has_aux`` it returns ``(jacobian, aux)``.

    Raises:
        RuntimeError: For complex tensors, and as ``jvp``; when the function is called.
        ValueError: If an argument is not a tensor, or of integers.

    Example:
        >>> tt.func.jacfwd(lambda t: tt.stack([t, t ** 2, t ** 3]))(tt.tensor(2.0))
        tensor([ 1.,  4., 12.])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.jacfwd.html
    """

    @functools.wraps(func, updated=())
    def wrapper(*args: Any) -> Any:
        check_real("jacfwd", args, "inputs")
        _check_inputs(args, check_argnums(argnums))
        check_randomness(randomness)
        name = "jvp(f, primals, tangents)"
        with enter_call_level() as level:
            given = level.arguments(args, argnums, True)
            with forbid_random(randomness, args):
                result = func(*given)
            output, aux = split_aux(name, result, has_aux)
            outputs, structure = flatten_output(name, output)
            check_real("jacfwd", outputs, "outputs")
            columns = _columns if _prefers_columns(level, outputs) else _rows
            blocks = columns(level, outputs)
        return _jacobian_tree(level, blocks, structure, argnums, has_aux, aux)

    return short(wrapper)


def _check_inputs(args: tuple[Any, ...], argnums: Any) -> None:
    """Check that the arguments to differentiate are tensors of a floating-point dtype."""
    for leaf in flatten([args[i] for i in normalize_argnums(argnums, len(args))])[0]:
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        if not leaf.is_floating_point():
            raise ValueError(
                f"Expected primal to be floating point or complex, but got: {leaf.dtype}"
            )


def _prefers_columns(level: CallLevel, outputs: tuple[Tensor, ...]) -> bool:
    """Whether ``jacfwd`` computes the Jacobian by columns.

    A column costs about two rows. A column has the dtype of its output and a row that of its input:
    if they differ, only columns have the dtype of forward mode.
    """
    if len({t.dtype for t in (*outputs, *level.inputs)}) > 1:
        return True
    return sum(out.numel() for out in outputs) > 2 * sum(t.numel() for t in level.inputs)


def _columns(level: CallLevel, outputs: tuple[Tensor, ...]) -> Blocks:
    """Compute the Jacobian by tangents, one for each element of the level's inputs."""
    product = JacobianProduct(level, outputs)
    blocks: Blocks = [[] for _ in outputs]
    for k, input in enumerate(level.inputs):
        columns: list[list[Tensor]] = [[] for _ in outputs]
        for j in range(input.numel()):
            tangents: list[Tensor | None] = [None] * len(level.inputs)
            tangents[k] = unit(input, j)
            products = product(tuple(tangents), level.recording)
            for column, result in zip(columns, products, strict=True):
                column.append(result)
        for block, column, out in zip(blocks, columns, outputs, strict=True):
            stack: Any = NAMESPACES[""]["stack"]
            stacked = stack(column, -1) if column else out.new_empty((*out.shape, 0))
            block.append(stacked.reshape((*out.shape, *input.shape)))
    return blocks


@overload
def hessian(func: Callable[Concatenate[A, P], Any]) -> Callable[Concatenate[A, P], A]: ...
@overload
def hessian(func: Function, argnums: int | tuple[int, ...]) -> Function: ...
def hessian(func: Function, argnums: int | tuple[int, ...] = 0) -> Function:
    """Return a function that computes the Hessian of ``func``: ``jacfwd(jacrev(func))``.

    Args:
        func: Takes positional arguments, returns tensors.
        argnums: Position of the argument to differentiate with respect to, twice, or a tuple of
            positions for a tuple of tuples; default 0. The arguments are tensors or trees of them.

    Returns:
        A function of the same arguments that returns the second derivatives: a tree like the
        output, of trees like the argument, of trees like the argument. The shape of each tensor is
        the output's, then those of the two inputs.

    Raises:
        RuntimeError: As ``jacrev`` and ``jacfwd``.
        ValueError: If an argument is not a tensor, or of integers.

    Example:
        >>> tt.func.hessian(lambda x: (x ** 3).sum())(tt.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.hessian.html
    """
    return jacfwd(jacrev(func, argnums), argnums)
