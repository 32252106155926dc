"""``gradcheck`` and ``gradgradcheck``: compare gradients and tangents with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

from .. import dtypes
from ..core.tensor import Tensor, wrap
from ..state import enable_grad
from ..warnings import warn
from .backward_pass import grad
from .functional import unit


class GradcheckError(RuntimeError):
    """A gradient differs from its finite differences."""


class Limits(NamedTuple):
    """Position of the output that is checked, and the tolerances of its derivatives."""

    at: int
    atol: float
    rtol: float

    def differ(self, analytical: complex, numerical: complex) -> bool:
        """Whether two derivatives differ by more than the tolerances, or one is NaN."""
        return not abs(analytical - numerical) <= self.atol + self.rtol * abs(numerical)


def differentiable_outputs(func: Callable[..., Any], args: tuple[Any, ...]) -> list[Tensor]:
    """Call ``func`` and return its floating-point and complex results."""
    out = func(*args)
    outs = out if isinstance(out, (tuple, list)) else (out,)
    return [o for o in outs if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex())]


def directions(is_complex: bool) -> list[complex]:
    """Directions in which an element is perturbed: 1, and 1j if it is complex."""
    return [1.0, 1j] if is_complex else [1.0]


def check_forward(
    func: Any, args: tuple[Any, ...], variables: list[Tensor], numerical: list[Any], limits: Limits
) -> None:
    """Raise a GradcheckError if the tangents of an output differ from its finite differences.

    Args:
        func: The function.
        args: Its arguments.
        variables: The arguments that require grad.
        numerical: The result of ``_numeric`` for each of ``variables``.
        limits: Position of the output, and the tolerances.
    """
    for number, (tensor, rows) in enumerate(zip(variables, numerical, strict=True)):
        for column in range(tensor.numel()):
            for direction in directions(tensor.is_complex()):
                tangent = _tangent(func, args, tensor, column, direction, limits.at)
                for row, analytical in zip(rows, tangent, strict=True):
                    value = complex(row[column])
                    numerical_value = value.real if direction == 1.0 else value.imag
                    if limits.differ(analytical, numerical_value):
                        raise GradcheckError(
                            f"Jacobian computed with forward mode mismatch for output {limits.at} "
                            f"with respect to input {number}, at element {column} of the input: "
                            f"numerical {numerical_value}, analytical {analytical}"
                        )


def _tangent(
    func: Any, args: tuple[Any, ...], tensor: Tensor, column: int, direction: complex, at: int
) -> list[float]:
    """Return the tangent of output ``at`` for a perturbation of one element of ``tensor``.

    It has a value for each element of the output; for a complex output the real and the imaginary
    part of each.
    """
    from .forward_ad import dual_level, make_dual, unpack_dual

    with dual_level():
        duals = [
            make_dual(arg.detach(), unit(arg, column if arg is tensor else None, direction))
            if isinstance(arg, Tensor) and arg.requires_grad else arg for arg in args
        ]  # fmt: skip
        out = differentiable_outputs(func, tuple(duals))[at]
        tangent = unpack_dual(out).tangent
    parts = len(directions(out.is_complex()))
    if tangent is None:
        return [0.0] * (out.numel() * parts)
    values = tangent.detach().reshape(-1).tolist()
    return [x for v in values for x in ((v.real, v.imag) if parts == 2 else (v,))]


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, raise_exception: bool = True, nondet_tol: float = 0.0,
    check_forward_ad: bool = False, check_backward_ad: bool = True, **options: Any,
) -> bool:  # fmt: skip
    """Compare the gradients of ``func`` with central differences.

    As in PyTorch, only outputs that require grad are checked. If no output requires grad, all are
    checked: their differences must be zero. Every element of every input that requires grad is
    perturbed by ``eps`` (and by ``eps * 1j`` if complex): use small float64 inputs at which the
    function is differentiable.

    Args:
        func: Function of tensors that returns one tensor or several.
        inputs: Its arguments, or its only argument.
        eps: Step of the differences.
        atol: Absolute tolerance.
        rtol: Relative tolerance.
        raise_exception: Whether a difference raises (default); otherwise it returns False.
        nondet_tol: Tolerance between two backward passes of the same gradient; default 0.
        check_forward_ad: Whether tangents of dual tensors are checked; they use the ``jvp`` of a
            ``Function`` that has one. Default: False.
        check_backward_ad: Whether gradients of the backward pass are checked. Default: True.
        **options: PyTorch's other options (``fast_mode``, ``check_batched_grad``, ...), without
            effect: every element is checked, and batched gradients are computed one by one.

    Returns:
        Whether all derivatives agree.

    Raises:
        GradcheckError: On a difference, with the first entry of the Jacobians that differs.
        ValueError: If no input requires grad.
        RuntimeError: If elements of an input share memory.
        AssertionError: If both checks are off, or a perturbation changes the outputs' shape or
            dtype.
        TypeError: For an option that PyTorch does not have.

    Example:
        >>> x = tt.tensor([0.5, 1.0], dtype=tt.float64, requires_grad=True)
        >>> tt.autograd.gradcheck(lambda x: x.sin(), (x,))
        True
    """
    return _check(
        func, inputs, _positions_requiring_grad, eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad, **options,
    )  # fmt: skip


def _check(
    func: Any, inputs: Any, choose: Callable[[list[Tensor]], list[int]], *, eps: float = 1e-6,
    atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True, nondet_tol: float = 0.0,
    **options: Any,
) -> bool:  # fmt: skip
    """Run ``gradcheck`` for a choice of the outputs.

    Args:
        func: The function.
        inputs: Its arguments, or its only argument.
        choose: Function of the outputs that returns the positions of those to check.
        **options: As for ``gradcheck``, as are the other parameters.
    """
    forward, backward = _modes(options)
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    variables = [a for a in args if isinstance(a, Tensor) and a.requires_grad]
    if not variables:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the "
            "them have requires_grad=True."
        )
    _warn_if_not_double(args)
    _check_no_overlap(args)
    try:
        for at in choose(differentiable_outputs(func, args)):
            numerical = [_numeric(func, args, tensor, at, eps) for tensor in variables]
            limits = Limits(at, atol, rtol)
            if backward:
                out = differentiable_outputs(func, args)[at]
                _check_backward(out, variables, numerical, limits, nondet_tol)
            if forward:
                check_forward(func, args, variables, numerical, limits)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _positions_requiring_grad(outputs: list[Tensor]) -> list[int]:
    """Positions of the outputs that require grad, or of all outputs if none does."""
    return [i for i, o in enumerate(outputs) if o.requires_grad] or _all_positions(outputs)


def _all_positions(outputs: list[Tensor]) -> list[int]:
    """Positions of all outputs: a gradient that does not require grad must be constant."""
    return list(range(len(outputs)))


_SWITCHES = {
    "check_backward_ad", "check_batched_forward_grad", "check_batched_grad", "check_forward_ad",
    "check_grad_dtypes", "check_sparse_nnz", "check_undefined_grad", "fast_mode", "masked",
}  # fmt: skip


def _modes(options: dict[str, Any]) -> tuple[bool, bool]:
    """Return whether tangents are checked, and whether gradients are."""
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
    out: Tensor, variables: list[Tensor], numerical: list[Any], limits: Limits, nondet_tol: float
) -> None:
    """Raise a GradcheckError if the gradients of an output differ from its finite differences."""
    for number, (tensor, numeric) in enumerate(zip(variables, numerical, strict=True)):
        if not tensor.numel():
            continue
        analytic = _analytic(out, tensor)
        _check_deterministic(analytic, _analytic(out, tensor), nondet_tol)
        for row, rows in enumerate(zip(analytic, numeric, strict=True)):
            for column, (a, n) in enumerate(zip(*rows, strict=True)):
                if limits.differ(a, n):
                    if not out.requires_grad:
                        raise GradcheckError("Numerical gradient for function expected to be zero")
                    raise GradcheckError(
                        f"Jacobian mismatch for output {limits.at} with respect to input {number}, "
                        f"at element {row} of the gradient, direction {column}: numerical {n}, "
                        f"analytical {a}"
                    )
    if out.requires_grad:
        _check_zero_grad_output(out, variables)


def _check_zero_grad_output(out: Tensor, variables: list[Tensor]) -> None:
    """Raise a GradcheckError unless the gradients for a ``grad_output`` of zeros are zeros."""
    for g in grad(out, variables, unit(out, None), retain_graph=True, allow_unused=True):
        if any(value != 0 for value in _flat(g, out)):
            raise GradcheckError("backward not multiplied by grad_output")


def _check_deterministic(
    first: list[list[complex]], second: list[list[complex]], tolerance: float
) -> None:  # fmt: skip
    """Raise a GradcheckError if two backward passes return different gradients."""
    for row, again in zip(first, second, strict=True):
        if any(abs(a - b) > tolerance for a, b in zip(row, again, strict=True)):
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and "
                "grad_output multiple times gives different values. The tolerance for "
                f"nondeterminism was {tolerance}."
            )


def _analytic(out: Tensor, tensor: Tensor) -> list[list[complex]]:
    """Gradients of ``tensor`` by backward passes, flattened: a row for each element of ``out``.

    A complex element has two rows, for the weights 1 and 1j.
    """
    rows: list[list[complex]] = []
    for i in range(out.numel()):
        for direction in directions(out.is_complex()):
            g: Any = None
            if out.requires_grad:
                weight = unit(out, i, direction)
                (g,) = grad(out, tensor, weight, retain_graph=True, allow_unused=True)
            rows.append(_flat(g, tensor))
    return rows


def _flat(g: Tensor | None, tensor: Tensor) -> list[complex]:
    """Elements of a gradient of ``tensor``; zeros for None."""
    if g is None:
        return [0.0] * tensor.numel()
    values: list[complex] = g.detach().reshape(-1).tolist()
    return values


def _numeric(func: Any, args: Any, tensor: Tensor, at: int, eps: float) -> list[list[complex]]:
    """Compute the rows that ``_analytic`` returns, for output ``at``, by central differences.

    A row for the weight ``w`` has the derivatives of ``Re(conj(w) * out)``.

    Args:
        func: The function.
        args: Its arguments, one of which is ``tensor``.
        tensor: The argument to differentiate with respect to.
        at: Position of the output.
        eps: Step of the differences.
    """
    if not tensor.numel():
        return []
    columns = [
        [
            _difference(func, args, tensor, index, at, eps * direction) / (2 * eps)
            for direction in directions(tensor.is_complex())
        ]
        for index in product(*(range(n) for n in tensor.shape))
    ]
    sample = columns[0][0]
    weights = directions(sample.dtype.kind == "c")
    return [[_combine(column, i, w) for column in columns]
            for i in range(sample.size) for w in weights]  # fmt: skip


def _combine(column: list[Any], i: int, w: complex) -> complex:
    """Derivative of ``Re(conj(w) * out[i])`` with respect to one element of an input.

    ``column`` has the derivative of the output along 1 and, for a complex input, along 1j; the
    result is complex then.
    """
    parts = [(complex(w).conjugate() * complex(d.reshape(-1)[i])).real for d in column]
    return parts[0] if len(parts) == 1 else complex(parts[0], parts[1])


def _difference(
    func: Any, args: Any, tensor: Tensor, index: tuple[int, ...], at: int, step: complex
) -> Any:
    """Return output ``at`` for ``tensor[index] + step`` minus that for ``tensor[index] - step``."""
    data = tensor._data
    before = data[index].copy()
    try:  # with gradients recorded: a function may choose its outputs by ``requires_grad``
        data[index] = before + step
        above = _output_on_host(func, args, at)
        data[index] = before - step
        below = _output_on_host(func, args, at)
    finally:
        data[index] = before
    for attribute in ("shape", "dtype"):
        one, other = getattr(above, attribute), getattr(below, attribute)
        if one != other:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {attribute} when inputs are "
                f"perturbed on index {index} by {step}, but got {attribute}s {one} and {other}."
            )
    return above - below


def _output_on_host(func: Any, args: Any, at: int) -> Any:
    """Call ``func`` and return a copy of its differentiable output ``at`` as a NumPy array."""
    out = differentiable_outputs(func, args)[at]
    return out._xp.to_numpy(out._data).copy()


def _check_no_overlap(args: tuple[Any, ...]) -> None:
    """Raise a RuntimeError for an input whose elements share memory, such as an expanded tensor."""
    for i, arg in enumerate(args):
        if isinstance(arg, Tensor) and arg.requires_grad:
            if any(n > 1 and not step for n, step in zip(arg.shape, arg.stride(), strict=True)):
                raise RuntimeError(
                    f"The {i}th input has a dimension with stride 0. gradcheck only supports "
                    "inputs that are non-overlapping to be able to compute the numerical gradients "
                    "correctly. You should call .contiguous on the input before passing it to "
                    "gradcheck."
                )


def _warn_if_not_double(args: tuple[Any, ...]) -> None:
    """Warn for each argument that requires grad and is neither float64 nor complex."""
    for i, arg in enumerate(args):
        if isinstance(arg, Tensor) and arg.requires_grad:
            if arg.dtype is not dtypes.float64 and not arg.is_complex():
                warn(
                    f"Input #{i} requires gradient and is not a double precision floating point or "
                    "complex. This check will likely fail if all the inputs are not of double "
                    "precision floating point or complex. "
                )


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Sequence[Tensor] | None = None, *,
    check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, **options: Any,
) -> bool:  # fmt: skip
    """Compare second derivatives of ``func`` with central differences of its gradients.

    Args:
        func: Function of tensors that returns one tensor or several.
        inputs: Its arguments, or its only argument.
        grad_outputs: Weights of the outputs. Default: fixed values from 0.5 to 1.5.
        check_fwd_over_rev: Whether tangents of the gradients are checked. Default: False.
        check_rev_over_rev: Whether gradients of the gradients are checked. Default: True.
        **options: As for ``gradcheck``; ``gen_non_contig_grad_outputs`` is accepted, too.

    Returns:
        Whether all derivatives agree.

    Raises:
        GradcheckError: On a difference.
        AssertionError: If both checks are off.

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

    def gradients(*args_and_weights: Any) -> tuple[Tensor, ...]:
        given, current_weights = args_and_weights[:count], args_and_weights[count:]
        with enable_grad():
            outs = [o for o in differentiable_outputs(func, given) if o.requires_grad]
            variables = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
            return grad(
                outs, variables, current_weights, create_graph=True, allow_unused=True,
                materialize_grads=True,
            )  # fmt: skip

    return _check(
        gradients, (*args, *weights), _all_positions, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, **options,
    )  # fmt: skip


def _weight(out: Tensor) -> Tensor:
    """Weights of an output for ``gradgradcheck``: fixed, irregular values from 0.5 to 1.5."""
    count = out.numel()
    values = [0.5 + (0.37 * (i + 1)) % 1.0 for i in range(count)]
    array = out._xp.asarray(values, dtype=out._data.dtype).reshape(out._data.shape)
    return wrap(array, out._xp).requires_grad_()
