"""``autograd.functional``: derivatives of functions, as tensors and as products with vectors.

Each function takes ``func``, its ``inputs`` (a tensor or a tuple of tensors), and

* ``create_graph``: whether the result can be differentiated; default False;
* ``strict``: whether an output that does not depend on an input is an error; otherwise its
  derivative is zeros; default False.

For a tuple of inputs the result is a tuple of derivatives; for a function that returns a tuple it
is a tuple with such a result for each output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from ..core.tensor import Tensor, wrap
from ..dispatch.op import NAMESPACES
from ..state import enable_grad, is_grad_enabled, set_grad_enabled
from ..state.tracebacks import short
from .backward_pass import grad

Tensors = Tensor | tuple[Tensor, ...]

OUTPUTS = "outputs of the user-provided function"
ONE_OUTPUT = "the user-provided function returns a single Tensor with a single element"
ONE_INPUT = "the input to the user-provided function is a single Tensor with a single element"


def as_tuple(given: Any, what: str, name: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Return whether an argument is a tuple, and its tensors as a tuple.

    Args:
        given: A tensor or a tuple of tensors.
        what: The description of ``given`` in the error, such as ``"inputs"``.
        name: The name of the public function, for the error.

    Raises:
        TypeError: If a value is not a tensor.
    """
    values = given if isinstance(given, tuple) else (given,)
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            where = f"the value at index {i}" if isinstance(given, tuple) else f"the given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but "
                f"{where} has type {type(value)}."
            )
    return isinstance(given, tuple), values


def prepare_inputs(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """Return new tensors on the memory of the inputs, for the function to differentiate.

    They are views of the inputs under ``create_graph``, and detached from them otherwise.
    """
    return tuple(
        t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_()
        for t in inputs
    )


def detach_results(results: Any, create_graph: bool, several: bool) -> Any:
    """Return the tuple of results, or the only one; detached unless under ``create_graph``."""
    detached = tuple(t if create_graph else t.detach() for t in results)
    return detached if several else detached[0]


def zero_weights(outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return zeros like each output, which require grad and stand for ``grad_outputs``.

    ``jvp`` differentiates a gradient by them. The gradient is linear in them, so its derivative
    does not depend on their values.
    """
    return tuple(zeros_for(out).requires_grad_() for out in outputs)


def zeros_for(tensor: Tensor) -> Tensor:
    """Zeros of the shape and dtype of ``tensor``."""
    zeros: Tensor = tensor.new_zeros(tensor.shape)
    return zeros


def unit(like: Tensor, j: int | None, value: complex = 1) -> Tensor:
    """Zeros of the shape and dtype of ``like``, with ``value`` as element ``j``, if not None."""
    xp = like._xp
    raw = xp.zeros(like._data.size, like._data.dtype)
    if j is not None:
        raw[j] = value
    return wrap(raw.reshape(like._data.shape), xp)


def single_element(result: Any, name: str, strict: bool) -> Tensor:
    """Check that a function returned one tensor of one element; return it without dimensions."""
    several, outputs = as_tuple(result, OUTPUTS, name)
    check_grad(outputs, "outputs", strict)
    if several:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    single: Tensor = outputs[0].squeeze()
    return single


def as_vector(
    v: Tensors | None, like: tuple[Tensor, ...], name: str, unless: str
) -> tuple[Tensor, ...] | None:
    """Return the argument ``v`` of a product with a Jacobian or Hessian as a tuple of tensors.

    Args:
        v: A tensor or a tuple of tensors. None stands for 1 if ``like`` is one tensor of one
            element.
        like: The inputs or outputs, whose shapes ``v`` must have.
        name: The name of the public function, for errors.
        unless: The condition under which None is allowed, as text for the error.
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {unless}.")
        return (like[0].new_ones(like[0].shape),)
    _, vector = as_tuple(v, "v", name)
    vector = tuple(t.detach() if not t.requires_grad else t.view_as(t) for t in vector)
    if len(like) == 1 and len(vector) != 1:
        raise RuntimeError("The given v should contain a single Tensor.")
    if len(vector) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(vector)}."
        )
    for i, (t, other) in enumerate(zip(vector, like, strict=True)):
        if t.shape != other.shape:
            entry = f"Entry {i} in v" if len(like) > 1 else "v"
            raise RuntimeError(
                f"{entry} has invalid size: should be {other.shape} but got {t.shape}."
            )
    return vector


def gradients(
    outputs: tuple[Any, ...], inputs: tuple[Tensor, ...], weights: tuple[Tensor, ...] | None,
    create_graph: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradient of the outputs with respect to each input, None if none depends on it.

    Args:
        outputs: Tensors or None; those that do not require grad are ignored.
        inputs: Tensors that require grad.
        weights: The weights of each output's elements. None: 1, for outputs of one element.
        create_graph: Whether the backward pass is recorded. The graph keeps its saved tensors.
    """
    weights = weights or (None,) * len(outputs)  # type: ignore[assignment]
    pairs = [
        (out, weight) for out, weight in zip(outputs, weights or (), strict=True)
        if out is not None and out.requires_grad
    ]  # fmt: skip
    if not pairs:
        return (None,) * len(inputs)
    roots, given = zip(*pairs, strict=True)
    return grad(roots, inputs, given, True, create_graph, allow_unused=True)


def jacobian_of(
    i: int, out: Tensor, inputs: tuple[Tensor, ...], create_graph: bool, strict: bool
) -> tuple[Tensor, ...]:
    """Return the Jacobian of output ``i`` for each input, by a backward pass for each element.

    Args:
        i: Position of the output, for errors.
        out: The output.
        inputs: The inputs; the shape of each result is that of ``out``, then that of the input.
        create_graph: Whether the backward passes are recorded.
        strict: Whether independence of an input is an error; otherwise the Jacobian has zeros.
    """
    rows: list[list[Tensor]] = [[] for _ in inputs]
    if out.is_complex() and out.requires_grad:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {out.dtype}"
        )
    for j in range(out.numel()):
        found = gradients((out,), inputs, (unit(out, j),), create_graph)
        for k, (input, g) in enumerate(zip(inputs, found, strict=True)):
            if strict and g is None:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {k}. This "
                    "is not allowed in strict mode."
                )
            if strict and create_graph and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {k}. This "
                    "is not allowed in strict mode when create_graph=True."
                )
            rows[k].append(zeros_for(input) if g is None else g)
    stack = NAMESPACES[""]["stack"]
    return tuple(
        (stack(each) if each else input.new_empty((0,))).reshape((*out.shape, *input.shape))
        for each, input in zip(rows, inputs, strict=True)
    )


def fill_missing(
    grads: tuple[Any, ...], like: tuple[Tensor, ...], strict: bool, create_graph: bool, stage: str
) -> tuple[Tensor, ...]:
    """Replace None in ``grads`` by zeros of the shapes and dtypes of ``like``.

    Under ``strict`` None is an error, and under ``create_graph`` a gradient that does not require
    grad, too; ``stage`` is the key of its message.
    """
    for i, g in enumerate(grads):
        if strict and g is None:
            raise RuntimeError(_INDEPENDENT[stage].format(i=i))
        if strict and create_graph and not g.requires_grad:
            raise RuntimeError(_CONSTANT[stage].format(i=i))
    return tuple(zeros_for(t) if g is None else g for g, t in zip(grads, like, strict=True))


_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {i}. This is not "
    "allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the "
    "grad_outputs when using the double backward trick to compute forward mode gradients. This is "
    "not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This "
    "is not allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in "
    "the grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
    "backward trick to replace forward mode AD.",
}
_CONSTANT = {
    "back": "The jacobian of the user-provided function is independent of input {i}. This is not "
    "allowed in strict mode when create_graph=True.",
    "back_trick": "The gradient of the user-provided function is independent of input {i}. This is "
    "not allowed in strict mode when create_graph=True.",
    "double_back": "The hessian of the user-provided function is independent of input {i}. This is "
    "not allowed in strict mode when create_graph=True.",
    "double_back_trick": "The hessian of the user-provided function is independent of input {i}. "
    "This is not allowed in strict mode when create_graph=True.",
}


def check_grad(tensors: tuple[Any, ...], what: str, strict: bool) -> None:
    """Raise a RuntimeError if ``strict`` and a tensor is None or does not require grad.

    ``what`` is the key of the error's message.
    """
    for i, tensor in enumerate(tensors if strict else ()):
        if tensor is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {i}. This is "
                "not allowed in strict mode."
            )
        if not tensor.requires_grad:
            raise RuntimeError(_NO_GRAD[what].format(i=i))


_NO_GRAD = {
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs "
    "must be computed in a differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the "
    "user-provided function. This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {i} is independent of the input. This is not allowed in strict "
    "mode. You should ensure that your function is twice differentiable and that the jacobian "
    "depends on the inputs (this would be violated by a linear function for example).",
    "hessian": "The hessian of the user-provided function with respect to input {i} is independent "
    "of the input. This is not allowed in strict mode. You should ensure that your function is "
    "thrice differentiable and that the hessian depends on the inputs.",
}


def check_strategy(create_graph: bool, strict: bool, vectorize: bool, strategy: str) -> None:
    """Raise PyTorch's errors for arguments of ``jacobian`` that exclude each other."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode" and create_graph:
        raise NotImplementedError(
            'jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
            "together (yet). Please either set `create_graph=False` or "
            '`strategy="reverse-mode"`.'
        )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            'jacobian: `vectorize=False` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `vectorize=True` or `strategy="reverse-mode"`.'
        )
    if strict and vectorize:
        raise RuntimeError(
            "jacobian: `strict=True` and `vectorize=True` are not supported together. Please "
            "either set `strict=False` or `vectorize=False`."
        )


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]


@short
def vjp(
    func: Function, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Product of a vector and the Jacobian of ``func``, by a backward pass.

    Args:
        func: Takes the inputs, returns a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors.
        v: A vector for each output, of its shape; may be left out for one output of one element.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.

    Returns:
        The result of ``func``, and the product: a tensor of the shape of each input.

    Raises:
        RuntimeError: If ``v`` is missing or of another shape; under ``strict`` for independence.
        TypeError: If inputs, outputs or ``v`` are not tensors.

    Example:
        >>> x = tt.tensor([1.0, 2.0])
        >>> tt.autograd.functional.vjp(lambda x: x ** 2, x, tt.tensor([1.0, 10.0]))
        (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        several, given = as_tuple(inputs, "inputs", "vjp")
        given = prepare_inputs(given, create_graph)
        result = func(*given)
        several_out, outputs = as_tuple(result, OUTPUTS, "vjp")
        check_grad(outputs, "outputs", strict)
        vector = as_vector(v, outputs, "vjp", ONE_OUTPUT)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(outputs, given, vector, create_graph)
        product = fill_missing(found, given, strict, create_graph, "back")
    results = detach_results(outputs, create_graph, several_out)
    return results, detach_results(product, create_graph, several)


@short
def jvp(
    func: Function, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Product of the Jacobian of ``func`` and a vector, by two backward passes.

    Args:
        func: Takes the inputs, returns a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors.
        v: A vector for each input, of its shape; may be left out for one input of one element.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.

    Returns:
        The result of ``func``, and the product: a tensor of the shape of each output.

    Raises:
        RuntimeError: If ``v`` is missing or of another shape; under ``strict`` for independence.
        TypeError: If inputs, outputs or ``v`` are not tensors.

    Example:
        >>> x = tt.tensor([1.0, 2.0])
        >>> tt.autograd.functional.jvp(lambda x: x.prod(), x, tt.tensor([1.0, 0.0]))
        (tensor(2.), tensor(2.))
    """
    with enable_grad():
        _, given = as_tuple(inputs, "inputs", "jvp")
        vector = as_vector(v, given, "jvp", ONE_INPUT)
        given = prepare_inputs(given, create_graph)
        several_out, outputs = as_tuple(func(*given), OUTPUTS, "jvp")
        check_grad(outputs, "outputs", strict)
        weights = zero_weights(outputs)
        backward = gradients(outputs, given, weights, True)
        check_grad(backward, "grad_inputs", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(backward, weights, vector, create_graph)
        product = fill_missing(found, outputs, strict, create_graph, "back_trick")
    results = detach_results(outputs, create_graph, several_out)
    return results, detach_results(product, create_graph, several_out)


@overload
def jacobian(
    func: Callable[[Tensor], Tensor], inputs: Tensor, create_graph: bool = False,
    strict: bool = False, vectorize: bool = False, strategy: str = "reverse-mode",
) -> Tensor: ...  # fmt: skip
@overload
def jacobian(
    func: Callable[[Tensor], tuple[Tensor, ...]], inputs: Tensor, create_graph: bool = False,
    strict: bool = False, vectorize: bool = False, strategy: str = "reverse-mode",
) -> tuple[Tensor, ...]: ...  # fmt: skip
@overload
def jacobian(
    func: Function, inputs: tuple[Tensor, ...], create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any: ...  # fmt: skip
@short
def jacobian(
    func: Function, inputs: Tensors, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Jacobian: derivative of every element of the outputs with respect to every input element.

    Args:
        func: Takes the inputs, returns a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.
        vectorize: Accepted; the result is the same.
        strategy: ``"reverse-mode"``, or ``"forward-mode"`` with ``vectorize=True``; the result is
            the same.

    Returns:
        For one input and one output a tensor whose shape is the output's, then the input's;
        otherwise tuples of such tensors, by output and then by input.

    Raises:
        RuntimeError: Under ``strict`` for independence, and for ``strict`` with ``vectorize``.
        NotImplementedError: For ``"forward-mode"`` without ``vectorize`` or with ``create_graph``.
        TypeError: If inputs or outputs are not tensors.

    Example:
        >>> tt.autograd.functional.jacobian(lambda x: x ** 2, tt.tensor([1.0, 3.0]))
        tensor([[2., 0.],
                [0., 6.]])
    """
    check_strategy(create_graph, strict, vectorize, strategy)
    with enable_grad():
        several, given = as_tuple(inputs, "inputs", "jacobian")
        given = prepare_inputs(given, create_graph)
        several_out, outputs = as_tuple(func(*given), OUTPUTS, "jacobian")
        check_grad(outputs, "outputs", strict)
        rows = [jacobian_of(i, out, given, create_graph, strict) for i, out in enumerate(outputs)]
    results = tuple(detach_results(row, create_graph, several) for row in rows)
    return results if several_out else results[0]


@overload
def hessian(
    func: Callable[[Tensor], Tensor], inputs: Tensor, create_graph: bool = False,
    strict: bool = False, vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Tensor: ...  # fmt: skip
@overload
def hessian(
    func: Function, inputs: tuple[Tensor, ...], create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any: ...  # fmt: skip
@short
def hessian(
    func: Function, inputs: Tensors, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Hessian of a function that returns one element: the Jacobian of its gradient.

    Args:
        func: Takes the inputs, returns a tensor of one element.
        inputs: A tensor or a tuple of tensors.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.
        vectorize: Accepted; the result is the same.
        outer_jacobian_strategy: As ``strategy`` of ``jacobian``.

    Returns:
        For one input a tensor whose shape is the input's, twice; otherwise a tuple of tuples, by
        input and again by input.

    Raises:
        RuntimeError: If ``func`` returns anything else, and as ``jacobian``.
        NotImplementedError: As ``jacobian``.

    Example:
        >>> tt.autograd.functional.hessian(lambda x: (x ** 3).sum(), tt.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    several, given = as_tuple(inputs, "inputs", "hessian")
    check_strategy(create_graph, strict, vectorize, outer_jacobian_strategy)

    def gradient(*values: Tensor) -> Any:
        row = jacobian(
            lambda *x: single_element(func(*x), "hessian", strict), values, create_graph=True
        )
        check_grad(row, "jacobian", strict)
        return row

    rows = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return rows if several else rows[0][0]


def _scalar_gradient(
    name: str, func: Function, inputs: Tensors, v: Tensors | None, create_graph: bool, strict: bool
) -> tuple[Any, ...]:
    """Prepare a product with a Hessian: compute the result of ``func`` and its recorded gradient.

    Returns:
        Whether ``inputs`` is a tuple, the prepared inputs, the vector, the result and its gradient.
    """
    with enable_grad():
        several, given = as_tuple(inputs, "inputs", name)
        vector = as_vector(v, given, name, ONE_INPUT)
        given = prepare_inputs(given, create_graph)
        output = single_element(func(*given), name, strict)
        gradient = gradients((output,), given, None, True)
        check_grad(gradient, "jacobian", strict)
    return several, given, vector, output, gradient


@short
def vhp(
    func: Function, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Product of a vector and the Hessian of a function that returns one element.

    Args:
        func: Takes the inputs, returns a tensor of one element.
        inputs: A tensor or a tuple of tensors.
        v: A vector for each input, of its shape; may be left out for one input of one element.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.

    Returns:
        The result of ``func``, and the product: a tensor of the shape of each input.

    Raises:
        RuntimeError: If ``func`` returns anything else, and as ``vjp``.

    Example:
        >>> x, v = tt.tensor([1.0, 2.0]), tt.tensor([1.0, 0.0])
        >>> tt.autograd.functional.vhp(lambda x: (x ** 3).sum(), x, v)
        (tensor(9.), tensor([6., 0.]))
    """
    several, given, vector, output, gradient = _scalar_gradient(
        "vhp", func, inputs, v, create_graph, strict
    )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(gradient, given, vector, create_graph)
        product = fill_missing(found, given, strict, create_graph, "double_back")
    result = detach_results((output,), create_graph, False)
    return result, detach_results(product, create_graph, several)


@short
def hvp(
    func: Function, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Product of the Hessian of a function that returns one element and a vector.

    ``vhp`` takes one backward pass less. Both return the same if second derivatives are continuous.

    Args:
        func: Takes the inputs, returns a tensor of one element.
        inputs: A tensor or a tuple of tensors.
        v: A vector for each input, of its shape; may be left out for one input of one element.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.

    Returns:
        The result of ``func``, and the product: a tensor of the shape of each input.

    Raises:
        RuntimeError: If ``func`` returns anything else, and as ``vjp``.

    Example:
        >>> x, v = tt.tensor([1.0, 2.0]), tt.tensor([1.0, 0.0])
        >>> tt.autograd.functional.hvp(lambda x: (x ** 3).sum(), x, v)
        (tensor(9.), tensor([6., 0.]))
    """
    several, given, vector, output, gradient = _scalar_gradient(
        "hvp", func, inputs, v, create_graph, strict
    )
    with enable_grad():
        weights = zero_weights(given)
        backward = gradients(gradient, given, weights, True)
        check_grad(backward, "hessian", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(backward, weights, vector, create_graph)
        product = fill_missing(found, given, strict, create_graph, "double_back_trick")
    result = detach_results((output,), create_graph, False)
    return result, detach_results(product, create_graph, several)
