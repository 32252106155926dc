"""Forward mode: ``jvp`` and ``linearize``, computed by two backward passes.

Let ``g(w)`` be the gradient of a function's outputs with weights ``w``. It is linear in ``w``, and
its matrix is the transposed Jacobian. So the gradient of ``g`` with respect to ``w``, with a
tangent as weights, is the Jacobian times the tangent. It does not depend on ``w``, which is zero.
Reference: https://j-towns.github.io/2017/06/12/A-new-trick.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

from ..autograd.functional import gradients, zeros_for
from ..autograd.levels import JacobianProduct, check_tangent_shape
from ..core.tensor import Tensor
from ..state import is_grad_enabled
from ._level import Aux, Function, R, enter_call_level, flatten_output, split_aux
from ._trees import flatten, map_leaves, unflatten

_JVP = "jvp(f, primals, tangents)"


@overload
def jvp(
    func: Callable[..., R], primals: Any, tangents: Any, *, strict: bool = False,
    has_aux: Literal[False] = False,
) -> tuple[R, R]: ...  # fmt: skip
@overload
def jvp(
    func: Callable[..., tuple[R, Aux]], primals: Any, tangents: Any, *, strict: bool = False,
    has_aux: Literal[True],
) -> tuple[R, R, Aux]: ...  # fmt: skip
def jvp(
    func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """Return the result of ``func`` and its tangent: the Jacobian times ``tangents``.

    It takes two backward passes. There are two differences to PyTorch's forward mode: the results
    of a ``no_grad`` block inside ``func`` are constants, and ``func`` may not overwrite in place a
    tensor that the gradient of an earlier operation needs.

    Args:
        func: Takes ``primals``, returns tensors.
        primals: A tuple of arguments: tensors of a floating or complex dtype, or trees of them.
        tangents: A tree of the structure of ``primals``, with tensors of the same shapes.
        strict: Whether an output that does not depend on ``primals`` is an error; otherwise its
            tangent is zeros; default False.
        has_aux: Whether ``func`` returns ``(output, aux)``, of which only ``output`` is
            differentiated; default False.

    Returns:
        ``(output, tangent)`` or ``(output, tangent, aux)``; ``tangent`` has the structure of
        ``output``.

    Raises:
        RuntimeError: If ``primals`` is not a tuple, ``tangents`` has another structure, ``func``
            returns a value that is not a tensor, or, under ``strict``, for an independent output.
        ValueError: If ``primals`` are integers.

    Example:
        >>> tt.func.jvp(tt.sin, (tt.tensor([0.0, 1.0]),), (tt.ones(2),))
        (tensor([0.0000, 0.8415]), tensor([1.0000, 0.5403]))

    Reference: https://pytorch.org/docs/stable/generated/torch.func.jvp.html
    """
    vector = _flatten_tangents(primals, tangents)
    with enter_call_level() as level:
        output, aux = split_aux(_JVP, func(*level.arguments(primals, None, True)), has_aux)
        outputs, structure = flatten_output(_JVP, output)
        product = JacobianProduct(level, outputs)
        _check_dependence(product, strict)
        tangent = product(vector, level.recording)
    result = (unflatten(structure, [level.export(out) for out in outputs]),
              unflatten(structure, tangent))  # fmt: skip
    return (*result, map_leaves(level.export, aux)) if has_aux else result


def _flatten_tangents(primals: Any, tangents: Any) -> tuple[Tensor, ...]:
    """Check that ``tangents`` match ``primals`` in structure and shapes; return their leaves."""
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
        check_tangent_shape(primal, tangent)
    return tuple(vector)


def _check_tensors(leaves: list[Any], what: str) -> None:
    """Raise a RuntimeError if there are no leaves, or one is not a tensor; ``what`` names them."""
    if not leaves:
        raise RuntimeError(f"{_JVP}: Expected {what} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{_JVP}: Expected {what} to only contain Tensors, got {type(leaf)}")


def _check_dependence(product: JacobianProduct, strict: bool) -> None:
    """Raise a RuntimeError if ``strict`` and an output does not depend on an input."""
    for out in product.outputs if strict else ():
        found = gradients((out,), product.level.inputs, (zeros_for(out),), False)
        if all(g is None for g in found):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )


def linearize(func: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., R]]:
    """Return the result of ``func`` and a function that multiplies tangents with its Jacobian.

    ``func`` is called once, even if the function is called several times. The results of a
    ``no_grad`` block inside ``func`` are constants, as for ``jvp``.

    Args:
        func: Takes ``primals``, returns tensors.
        primals: Tensors of a floating or complex dtype, or trees of them.

    Returns:
        ``(output, jvp_fn)``. ``jvp_fn(*tangents)`` takes trees of the structure of ``primals``, of
        the same shapes and dtypes, and returns a tree of the structure of ``output``.

    Raises:
        RuntimeError: If ``func`` returns a value that is not a tensor; in ``jvp_fn`` if tangents do
            not match ``primals``.
        ValueError: If a leaf of ``primals`` is not a tensor.

    Example:
        >>> output, jvp_fn = tt.func.linearize(tt.sin, tt.tensor([0.0, 1.0]))
        >>> jvp_fn(tt.ones(2))
        tensor([1.0000, 0.5403])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.linearize.html
    """
    name = "linearize(f, *primals)"
    with enter_call_level() as level:
        outputs, structure = flatten_output(name, func(*level.arguments(primals, None, True)))
        product = JacobianProduct(level, outputs)

    def jvp_fn(*tangents: Any) -> Any:
        vector, given = flatten(tangents)
        if given != level.structure:
            raise RuntimeError(
                f"Expected the tangents {given} to have the same argspec as the primals "
                f"{level.structure}"
            )
        for i, (primal, tangent) in enumerate(zip(level.inputs, vector, strict=True)):
            _check_tangent(i, primal, tangent)
        return unflatten(structure, product(tuple(vector), is_grad_enabled()))

    return unflatten(structure, [level.export(out) for out in outputs]), jvp_fn


def _check_tangent(i: int, primal: Tensor, tangent: Any) -> None:
    """Raise a RuntimeError if a tangent and its primal differ in shape, device or dtype."""
    for attribute in ("shape", "device", "dtype"):
        value, expected = getattr(tangent, attribute), getattr(primal, attribute)
        if value != expected:
            raise RuntimeError(
                f"tangent:{i} with {attribute} {value} in flattened pytree doesn't match the "
                f"{attribute} {expected} of the corresponding primal."
            )
