"""How outputs follow inputs: ``jvp`` and ``linearize``.

The gradient ``g(w)`` of a function's outputs, weighted by ``w``, is linear in the weights, and its
matrix is the transposed Jacobian. So its own gradient by the weights, weighted by a tangent, is the
Jacobian times the tangent: two backward passes do what forward mode does, exactly. Their value does
not depend on ``w``, which is zero.
Reference: https://j-towns.github.io/2017/06/12/A-new-trick.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

from ..autograd.functional import gradients, zeros_for
from ..autograd.levels import Push, check_sizes
from ..core.tensor import Tensor
from ..state import is_grad_enabled
from ._level import Aux, Function, R, entered_call, parted, tensors_of
from ._trees import flatten, map_leaves, unflatten

_JVP = "jvp(f, primals, tangents)"


@overload
def jvp(
    func: Callable[..., R],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: Literal[False] = False,
) -> tuple[R, R]: ...
@overload
def jvp(
    func: Callable[..., tuple[R, Aux]],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: Literal[True],
) -> tuple[R, R, Aux]: ...
def jvp(
    func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """The result of ``func`` and its change along ``tangents``: the Jacobian times a vector.

    It takes two backward passes and gives what forward mode gives. Two things are different: a
    ``no_grad`` block inside ``func`` is a constant to it, which forward mode takes no notice of,
    and what ``func`` writes over in place must not be what an earlier gradient is computed from.

    Args:
        func: Takes ``primals``, returns tensors.
        primals: A tuple of arguments: tensors of a floating or complex dtype, or trees of them.
        tangents: A tree like ``primals``, of the same shapes.
        strict: Whether an output that does not depend on ``primals`` is an error rather than one
            that does not change; default False.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.

    Returns:
        ``(output, tangent)`` or ``(output, tangent, aux)``; the tangent is a tree like ``output``.

    Raises:
        RuntimeError: If ``primals`` are no tuple, ``tangents`` no tree like them, ``func`` returns
            something that is no tensor, or as ``strict`` says.
        ValueError: If ``primals`` are integers.

    Example:
        >>> tt.func.jvp(tt.sin, (tt.tensor([0.0, 1.0]),), (tt.ones(2),))
        (tensor([0.0000, 0.8415]), tensor([1.0000, 0.5403]))

    Reference: https://pytorch.org/docs/stable/generated/torch.func.jvp.html
    """
    vector = _checked(primals, tangents)
    with entered_call() as level:
        output, aux = parted(_JVP, func(*level.arguments(primals, None, True)), has_aux)
        outputs, structure = tensors_of(_JVP, output)
        push = Push(level, outputs)
        _check_dependence(push, strict)
        moved = push(vector, level.recording)
    result = (unflatten(structure, [level.let_out(out) for out in outputs]),
              unflatten(structure, moved))  # fmt: skip
    return (*result, map_leaves(level.let_out, aux)) if has_aux else result


def _checked(primals: Any, tangents: Any) -> tuple[Tensor, ...]:
    """The leaves of ``tangents``, which must be like ``primals``."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    given, structure = flatten(primals)
    vector, other = flatten(tangents)
    if structure != other:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {structure} and tangents with structure {other}"
        )
    _check_tensors(given, "primals")
    _check_tensors(vector, "tangents")
    for primal, tangent in zip(given, vector, strict=True):
        if not (primal.is_floating_point() or primal.is_complex()):
            raise ValueError(
                f"Expected primal to be floating point or complex, but got: {primal.dtype}"
            )
        check_sizes(primal, tangent)
    return tuple(vector)


def _check_tensors(leaves: list[Any], what: str) -> None:
    if not leaves:
        raise RuntimeError(f"{_JVP}: Expected {what} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{_JVP}: Expected {what} to only contain Tensors, got {type(leaf)}")


def _check_dependence(push: Push, strict: bool) -> None:
    for out in push.outputs if strict else ():
        found = gradients((out,), push.level.given, (zeros_for(out),), False)
        if all(g is None for g in found):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )


def linearize(func: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., R]]:
    """The result of ``func`` and a function that multiplies tangents with its Jacobian there.

    ``func`` runs once, however often the other is called; of ``no_grad`` inside it, see ``jvp``.

    Args:
        func: Takes ``primals``, returns tensors.
        primals: Tensors of a floating or complex dtype, or trees of them.

    Returns:
        ``(output, jvp_fn)``. ``jvp_fn(*tangents)`` takes trees like ``primals``, of the same shapes
        and dtypes, and returns a tree like ``output``.

    Raises:
        RuntimeError: If ``func`` returns something that is no tensor, and by ``jvp_fn`` for
            tangents unlike ``primals``.
        ValueError: If ``primals`` hold something that is no tensor.

    Example:
        >>> output, jvp_fn = tt.func.linearize(tt.sin, tt.tensor([0.0, 1.0]))
        >>> jvp_fn(tt.ones(2))
        tensor([1.0000, 0.5403])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.linearize.html
    """
    name = "linearize(f, *primals)"
    with entered_call() as level:
        outputs, structure = tensors_of(name, func(*level.arguments(primals, None, True)))
        push = Push(level, outputs)

    def jvp_fn(*tangents: Any) -> Any:
        vector, given = flatten(tangents)
        if given != level.structure:
            raise RuntimeError(
                f"Expected the tangents {given} to have the same argspec as the primals "
                f"{level.structure}"
            )
        for i, (primal, tangent) in enumerate(zip(level.given, vector, strict=True)):
            _check_likeness(i, primal, tangent)
        return unflatten(structure, push(tuple(vector), is_grad_enabled()))

    return unflatten(structure, [level.let_out(out) for out in outputs]), jvp_fn


def _check_likeness(i: int, primal: Tensor, tangent: Any) -> None:
    for what in ("shape", "device", "dtype"):
        have, wanted = getattr(tangent, what), getattr(primal, what)
        if have != wanted:
            raise RuntimeError(
                f"tangent:{i} with {what} {have} in flattened pytree doesn't match the {what} "
                f"{wanted} of the corresponding primal."
            )
