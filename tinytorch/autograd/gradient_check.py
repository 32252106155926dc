"""``gradcheck`` and ``gradgradcheck``: gradients and tangents against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

from .. import dtypes
from ..core.tensor import Tensor, wrap
from ..state import enable_grad
from ..warnings import warn
from .backward_pass import grad


class GradcheckError(RuntimeError):
    """A gradient differs from its finite differences."""


class Limits(NamedTuple):
    """Which output is looked at, and how much its derivatives may differ."""

    at: int
    atol: float
    rtol: float

    def differ(self, analytical: complex, numerical: complex) -> bool:
        """Whether they differ by more, as NaN does."""
        return not abs(analytical - numerical) <= self.atol + self.rtol * abs(numerical)


def differentiable_outputs(func: Callable[..., Any], args: tuple[Any, ...]) -> list[Tensor]:
    """Call ``func`` and return its floating-point and complex results."""
    out = func(*args)
    outs = out if isinstance(out, (tuple, list)) else (out,)
    return [o for o in outs if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex())]


def directions(tensor: Tensor) -> list[complex]:
    """Along which each element moves."""
    return [1.0, 1j] if tensor.is_complex() else [1.0]


def check_forward(
    func: Any, args: tuple[Any, ...], watched: list[Tensor], numerical: list[Any], limits: Limits
) -> None:
    """GradcheckError if the tangents of an output differ from its finite differences.

    Args:
        func: The function.
        args: Its arguments.
        watched: Those that require grad.
        numerical: For each of them a row per element of the output, and part of it where it is
            complex: how that changes with each element of the argument, ``1j`` times with its
            imaginary part.
        limits: Which output, and the tolerances.
    """
    for number, (tensor, rows) in enumerate(zip(watched, numerical, strict=True)):
        for column in range(tensor.numel()):
            for part in directions(tensor):
                moved = _tangent(func, args, tensor, column, part, limits.at)
                for row, have in zip(rows, moved, strict=True):
                    want = complex(row[column])
                    want = want.real if part == 1.0 else want.imag
                    if limits.differ(have, want):
                        raise GradcheckError(
                            f"Jacobian computed with forward mode mismatch for output {limits.at} "
                            f"with respect to input {number}, at element {column} of the input: "
                            f"numerical {want}, analytical {have}"
                        )


def _tangent(
    func: Any, args: tuple[Any, ...], tensor: Tensor, column: int, part: complex, at: int
) -> list[float]:
    """How each element of the output, or each part of it, moves with one of the input."""
    from .forward_ad import dual_level, make_dual, unpack_dual

    with dual_level():
        duals = [
            make_dual(arg.detach(), _unit(arg, column if arg is tensor else None, part))
            if isinstance(arg, Tensor) and arg.requires_grad else arg for arg in args
        ]  # fmt: skip
        out = differentiable_outputs(func, tuple(duals))[at]
        moved = unpack_dual(out).tangent
    parts = len(directions(out))
    if moved is None:
        return [0.0] * (out.numel() * parts)
    values = moved.detach().reshape(-1).tolist()
    return [x for v in values for x in ((v.real, v.imag) if parts == 2 else (v,))]


def _unit(like: Tensor, column: int | None, part: complex) -> Tensor:
    """Zeros like a tensor, but for one element."""
    data = like._xp.zeros(like._data.shape, like._data.dtype)
    if column is not None:
        data.reshape(-1)[column] = part
    return wrap(data, like._xp)


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    **options: Any,
) -> bool:
    """Compare the gradients of ``func`` with central differences.

    Outputs that do not require grad are left out, as in torch; where none does, none may change
    with the inputs. Every element of every input that requires grad is moved by ``eps`` (and by
    ``eps * 1j`` if complex): use small float64 inputs, away from kinks.

    Args:
        func: Function of tensors giving a tensor or several.
        inputs: Its arguments, or its only argument.
        eps: Step of the differences.
        atol: Absolute tolerance.
        rtol: Relative tolerance.
        raise_exception: Raise on a difference (default) or return False.
        nondet_tol: How much two backward passes of the same gradient may differ; default 0.
        check_forward_ad: Whether what dual tensors give is compared, too: the ``jvp`` of a
            ``Function``, where it has one. Default: False.
        check_backward_ad: Whether the backward pass is. Default: True.
        **options: torch's other switches (``fast_mode``, ``check_batched_grad``, ...), which
            change nothing: every element is checked, and batches go one by one anyway.

    Returns:
        Whether all agree.

    Raises:
        GradcheckError: On a difference, with the two Jacobians' first wrong entry.
        ValueError: If no input requires grad.
        RuntimeError: If one element of an input stands for several.
        AssertionError: If nothing is to be checked, or the results change their shape or dtype.
        TypeError: For an option torch does not have.

    Example:
        >>> x = tt.tensor([0.5, 1.0], dtype=tt.float64, requires_grad=True)
        >>> tt.autograd.gradcheck(lambda x: x.sin(), (x,))
        True
    """
    return _check(
        func, inputs, _with_history, eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad, **options,
    )  # fmt: skip


def _check(
    func: Any, inputs: Any, choose: Callable[[list[Tensor]], list[int]], *, eps: float = 1e-6,
    atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True, nondet_tol: float = 0.0,
    **options: Any,
) -> bool:  # fmt: skip
    """``gradcheck`` of those outputs whose places ``choose`` picks."""
    forward, backward = _modes(options)
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    watched = [a for a in args if isinstance(a, Tensor) and a.requires_grad]
    if not watched:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the "
            "them have requires_grad=True."
        )
    _warn_of_singles(args)
    _check_apart(args)
    try:
        for at in choose(differentiable_outputs(func, args)):
            numerical = [_numeric(func, args, tensor, at, eps) for tensor in watched]
            limits = Limits(at, atol, rtol)
            if backward:
                out = differentiable_outputs(func, args)[at]
                _check_backward(out, watched, numerical, limits, nondet_tol)
            if forward:
                check_forward(func, args, watched, numerical, limits)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _with_history(outputs: list[Tensor]) -> list[int]:
    """The places of outputs that require grad, or all where none does."""
    return [i for i, o in enumerate(outputs) if o.requires_grad] or _every(outputs)


def _every(outputs: list[Tensor]) -> list[int]:
    """All places: a gradient that lost its history is wrong, unless it is constant."""
    return list(range(len(outputs)))


_SWITCHES = {
    "check_backward_ad", "check_batched_forward_grad", "check_batched_grad", "check_forward_ad",
    "check_grad_dtypes", "check_sparse_nnz", "check_undefined_grad", "fast_mode", "masked",
}  # fmt: skip


def _modes(options: dict[str, Any]) -> tuple[bool, bool]:
    """Whether tangents are checked, and whether gradients are."""
    for option in options.keys() - _SWITCHES:
        raise TypeError(f"gradcheck() got an unexpected keyword argument {option!r}")
    forward = options.get("check_forward_ad", False)
    backward = options.get("check_backward_ad", True)
    if not (forward or backward):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    for batched, mode, on in (
        ("check_batched_grad", "check_backward_ad", backward),
        ("check_batched_forward_grad", "check_forward_ad", forward),
    ):
        if options.get(batched) and not on:
            raise AssertionError(f"Setting {batched}=True requires {mode} to be True")
    return bool(forward), bool(backward)


def _check_backward(
    out: Tensor, watched: list[Tensor], numerical: list[Any], limits: Limits, nondet_tol: float
) -> None:
    for number, (tensor, numeric) in enumerate(zip(watched, numerical, strict=True)):
        if not tensor.numel():
            continue  # no direction to move in
        analytic = _analytic(out, tensor)
        _check_again(analytic, _analytic(out, tensor), nondet_tol)
        for row, (have, want) in enumerate(zip(analytic, numeric, strict=True)):
            for column, (a, n) in enumerate(zip(have, want, strict=True)):
                if limits.differ(a, n):
                    if not out.requires_grad:
                        raise GradcheckError("Numerical gradient for function expected to be zero")
                    raise GradcheckError(
                        f"Jacobian mismatch for output {limits.at} with respect to input {number}, "
                        f"at element {row} of the gradient, direction {column}: numerical {n}, "
                        f"analytical {a}"
                    )
    if out.requires_grad:
        _check_scales(out, watched)


def _check_scales(out: Tensor, watched: list[Tensor]) -> None:
    """A gradient is linear in that of what was computed: of nothing comes nothing."""
    nothing = wrap(out._xp.zeros(out._data.shape, out._data.dtype), out._xp)
    for g in grad(out, watched, nothing, retain_graph=True, allow_unused=True):
        if any(value != 0 for value in _flat(g, out)):
            raise GradcheckError("backward not multiplied by grad_output")


def _check_again(first: list[list[complex]], second: list[list[complex]], tolerance: float) -> None:
    for row, again in zip(first, second, strict=True):
        if any(abs(a - b) > tolerance for a, b in zip(row, again, strict=True)):
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and "
                "grad_output multiple times gives different values. The tolerance for "
                f"nondeterminism was {tolerance}."
            )


def _analytic(out: Tensor, tensor: Tensor) -> list[list[complex]]:
    """Per element of the output (and direction), the gradient of ``tensor``'s elements."""
    rows: list[list[complex]] = []
    size = out.numel()
    for i in range(size):
        for direction in directions(out):
            weight = wrap(out._xp.zeros(out._data.shape, out._data.dtype), out._xp)
            weight._data.reshape(-1)[i] = direction
            g: Any = None
            if out.requires_grad:
                (g,) = grad(out, tensor, weight, retain_graph=True, allow_unused=True)
            rows.append(_flat(g, tensor))
    return rows


def _flat(g: Tensor | None, tensor: Tensor) -> list[complex]:
    if g is None:
        return [0.0] * tensor.numel()
    values: list[complex] = g.detach().reshape(-1).tolist()
    return values


def _numeric(func: Any, args: Any, tensor: Tensor, at: int, eps: float) -> list[list[complex]]:
    """The same by central differences: the real (and imaginary) part of conj(w) * out."""
    if not tensor.numel():
        return []
    columns = [
        [
            _difference(func, args, tensor, place, at, eps * step) / (2 * eps)
            for step in directions(tensor)
        ]
        for place in product(*(range(n) for n in tensor.shape))
    ]
    rows: list[list[complex]] = []
    sample = columns[0][0]
    for i in range(sample.size):
        rows.extend([_combine(column, i, w) for column in columns] for w in _directions_of(sample))
    return rows


def _directions_of(sample: Any) -> list[complex]:
    return [1.0, 1j] if sample.dtype.kind == "c" else [1.0]


def _combine(column: list[Any], i: int, w: complex) -> complex:
    """Gradient of Re(conj(w) out) by one element: along 1, and along i for complex inputs."""
    parts = [(complex(w).conjugate() * complex(d.reshape(-1)[i])).real for d in column]
    return parts[0] if len(parts) == 1 else complex(parts[0], parts[1])


def _difference(
    func: Any, args: Any, tensor: Tensor, place: tuple[int, ...], at: int, step: complex
) -> Any:
    data = tensor._data
    before = data[place].copy()
    try:  # recording, for a function may choose its outputs by what requires grad
        data[place] = before + step
        above = _host(func, args, at)
        data[place] = before - step
        below = _host(func, args, at)
    finally:
        data[place] = before
    for what in ("shape", "dtype"):
        one, other = getattr(above, what), getattr(below, what)
        if one != other:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed "
                f"on index {place} by {step}, but got {what}s {one} and {other}."
            )
    return above - below


def _host(func: Any, args: Any, at: int) -> Any:
    out = differentiable_outputs(func, args)[at]
    return out._xp.to_numpy(out._data).copy()


def _check_apart(args: tuple[Any, ...]) -> None:
    """RuntimeError for an input of which one element stands for several: it cannot move alone."""
    for i, arg in enumerate(args):
        if isinstance(arg, Tensor) and arg.requires_grad:
            if any(n > 1 and not step for n, step in zip(arg.shape, arg.stride(), strict=True)):
                raise RuntimeError(
                    f"The {i}th input has a dimension with stride 0. gradcheck only supports "
                    "inputs that are non-overlapping to be able to compute the numerical gradients "
                    "correctly. You should call .contiguous on the input before passing it to "
                    "gradcheck."
                )


def _warn_of_singles(args: tuple[Any, ...]) -> None:
    for i, arg in enumerate(args):
        if isinstance(arg, Tensor) and arg.requires_grad:
            if arg.dtype is not dtypes.float64 and not arg.is_complex():
                warn(
                    f"Input #{i} requires gradient and is not a double precision floating point or "
                    "complex. This check will likely fail if all the inputs are not of double "
                    "precision floating point or complex. "
                )


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Sequence[Tensor] | None = None,
    *,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    **options: Any,
) -> bool:
    """Compare second derivatives of ``func`` with central differences of its gradients.

    Args:
        func: Function of tensors giving a tensor or several.
        inputs: Its arguments, or its only argument.
        grad_outputs: Weights of the outputs; the default is fixed and irregular.
        check_fwd_over_rev: Whether tangents of the gradients are compared, too. Default: False.
        check_rev_over_rev: Whether their gradients are. Default: True.
        **options: As for ``gradcheck``; ``gen_non_contig_grad_outputs`` is accepted, too.

    Returns:
        Whether all agree.

    Raises:
        GradcheckError: On a difference.
        AssertionError: If nothing is to be checked.

    Example:
        >>> x = tt.tensor([0.5, 1.0], dtype=tt.float64, requires_grad=True)
        >>> tt.autograd.gradgradcheck(lambda x: x.sin(), (x,))
        True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    options.pop("gen_non_contig_grad_outputs", None)
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    outputs = [o for o in differentiable_outputs(func, args) if o.requires_grad]
    weights = list(grad_outputs) if grad_outputs is not None else [_weight(o) for o in outputs]
    count = len(args)

    def gradients(*everything: Any) -> tuple[Tensor, ...]:
        given, weights_now = everything[:count], everything[count:]
        with enable_grad():
            outs = [o for o in differentiable_outputs(func, given) if o.requires_grad]
            watched = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
            found = grad(
                outs, watched, weights_now, create_graph=True, allow_unused=True,
                materialize_grads=True,
            )  # fmt: skip
        return found

    return _check(
        gradients, (*args, *weights), _every, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, **options,
    )  # fmt: skip


def _weight(out: Tensor) -> Tensor:
    """Fixed weights from 0.5 to 1.5, without symmetry."""
    count = out.numel()
    values = [0.5 + (0.37 * (i + 1)) % 1.0 for i in range(count)]
    array = out._xp.asarray(values, dtype=out._data.dtype).reshape(out._data.shape)
    return wrap(array, out._xp).requires_grad_()
