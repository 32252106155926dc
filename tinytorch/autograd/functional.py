"""``autograd.functional``: derivatives of functions, as tensors and as products with vectors.

Each function takes ``func``, its ``inputs`` (a tensor or a tuple of tensors), and

* ``create_graph``: whether the result can be differentiated; default False;
* ``strict``: whether an output that does not depend on an input is an error rather than a
  derivative of zeros; default False.

What is a tuple in the result follows what was given: a tuple of inputs makes a tuple of
derivatives, a function that returns a tuple a tuple of those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from ..core.tensor import Tensor
from ..state import enable_grad, is_grad_enabled, set_grad_enabled
from ..state.tracebacks import short
from .derivatives import (
    ONE_INPUT,
    ONE_OUTPUT,
    OUTPUTS,
    Tensors,
    as_tuple,
    check_grad,
    check_strategy,
    filled,
    finished,
    gradients,
    jacobian_of,
    prepared,
    single_of,
    vector_of,
    weights_of,
)

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]


@short
def vjp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The product of a vector and the Jacobian of ``func``: what a backward pass computes.

    Args:
        func: Takes the inputs, returns a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors.
        v: A vector for each output, of its shape; may be left out for one output of one element.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.

    Returns:
        What ``func`` returns, and the product: a tensor of the shape of each input.

    Raises:
        RuntimeError: If ``v`` is missing or of another shape, or as ``strict`` says.
        TypeError: If inputs, outputs or ``v`` are no tensors.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.tensor([1.0, 2.0])
        >>> tt.autograd.functional.vjp(lambda x: x ** 2, x, tt.tensor([1.0, 10.0]))
        (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        several, given = as_tuple(inputs, "inputs", "vjp")
        given = prepared(given, create_graph)
        result = func(*given)
        several_out, outputs = as_tuple(result, OUTPUTS, "vjp")
        check_grad(outputs, "outputs", strict)
        vector = vector_of(v, outputs, "vjp", ONE_OUTPUT)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(outputs, given, vector, create_graph)
        product = filled(found, given, strict, create_graph, "back")
    return (
        finished(outputs, create_graph, several_out), finished(product, create_graph, several)
    )  # fmt: skip


@short
def jvp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The product of the Jacobian of ``func`` and a vector: how outputs follow inputs.

    It takes two backward passes.

    Args:
        func: Takes the inputs, returns a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors.
        v: A vector for each input, of its shape; may be left out for one input of one element.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.

    Returns:
        What ``func`` returns, and the product: a tensor of the shape of each output.

    Raises:
        RuntimeError: If ``v`` is missing or of another shape, or as ``strict`` says.
        TypeError: If inputs, outputs or ``v`` are no tensors.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.tensor([1.0, 2.0])
        >>> tt.autograd.functional.jvp(lambda x: x.prod(), x, tt.tensor([1.0, 0.0]))
        (tensor(2.), tensor(2.))
    """
    with enable_grad():
        _, given = as_tuple(inputs, "inputs", "jvp")
        vector = vector_of(v, given, "jvp", ONE_INPUT)
        given = prepared(given, create_graph)
        several_out, outputs = as_tuple(func(*given), OUTPUTS, "jvp")
        check_grad(outputs, "outputs", strict)
        weights = weights_of(outputs)
        backward = gradients(outputs, given, weights, True)
        check_grad(backward, "grad_inputs", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(backward, weights, vector, create_graph)
        product = filled(found, outputs, strict, create_graph, "back_trick")
    return (
        finished(outputs, create_graph, several_out),
        finished(product, create_graph, several_out),
    )


@overload
def jacobian(
    func: Callable[[Tensor], Tensor],
    inputs: Tensor,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensor: ...
@overload
def jacobian(
    func: Callable[[Tensor], tuple[Tensor, ...]],
    inputs: Tensor,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> tuple[Tensor, ...]: ...
@overload
def jacobian(
    func: Function,
    inputs: tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any: ...
@short
def jacobian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of every element of the outputs with respect to every one of the inputs.

    Args:
        func: Takes the inputs, returns a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.
        vectorize: Accepted; the result is the same.
        strategy: ``"reverse-mode"``, or ``"forward-mode"`` with ``vectorize=True``; the result is
            the same.

    Returns:
        For one input and one output a tensor of the output's shape and the input's; else tuples
        of them, by output and then by input.

    Raises:
        RuntimeError: As ``strict`` says, and with ``strict`` and ``vectorize`` together.
        NotImplementedError: For ``"forward-mode"`` without ``vectorize`` or with ``create_graph``.
        TypeError: If inputs or outputs are no tensors.

    Example:
        >>> import tinytorch as tt
        >>> tt.autograd.functional.jacobian(lambda x: x ** 2, tt.tensor([1.0, 3.0]))
        tensor([[2., 0.],
                [0., 6.]])
    """
    check_strategy(create_graph, strict, vectorize, strategy)
    with enable_grad():
        several, given = as_tuple(inputs, "inputs", "jacobian")
        given = prepared(given, create_graph)
        several_out, outputs = as_tuple(func(*given), OUTPUTS, "jacobian")
        check_grad(outputs, "outputs", strict)
        rows = [jacobian_of(i, out, given, create_graph, strict) for i, out in enumerate(outputs)]
    done = tuple(finished(row, create_graph, several) for row in rows)
    return done if several_out else done[0]


@overload
def hessian(
    func: Callable[[Tensor], Tensor],
    inputs: Tensor,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensor: ...
@overload
def hessian(
    func: Function,
    inputs: tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any: ...
@short
def hessian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function of one element: the Jacobian of its gradient.

    Args:
        func: Takes the inputs, returns a tensor of one element.
        inputs: A tensor or a tuple of tensors.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.
        vectorize: Accepted; the result is the same.
        outer_jacobian_strategy: As ``strategy`` of ``jacobian``.

    Returns:
        For one input a tensor of its shape twice over; else tuples of tuples, by input twice.

    Raises:
        RuntimeError: If ``func`` returns anything else, and as ``jacobian``.
        NotImplementedError: As ``jacobian``.

    Example:
        >>> import tinytorch as tt
        >>> tt.autograd.functional.hessian(lambda x: (x ** 3).sum(), tt.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    several, given = as_tuple(inputs, "inputs", "hessian")
    check_strategy(create_graph, strict, vectorize, outer_jacobian_strategy)

    def gradient(*values: Tensor) -> Any:
        row = jacobian(lambda *x: single_of(func(*x), "hessian", strict), values, create_graph=True)
        check_grad(row, "jacobian", strict)
        return row

    rows = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return rows if several else rows[0][0]


def _gradient_of_one(
    name: str, func: Function, inputs: Tensors, v: Tensors | None, create_graph: bool, strict: bool
) -> tuple[Any, ...]:
    """What a product with a Hessian starts from: the one element that ``func`` gives, recorded.

    Returns:
        Whether there are several inputs, the inputs, the vector, the element and its gradient.
    """
    with enable_grad():
        several, given = as_tuple(inputs, "inputs", name)
        vector = vector_of(v, given, name, ONE_INPUT)
        given = prepared(given, create_graph)
        output = single_of(func(*given), name, strict)
        gradient = gradients((output,), given, None, True)
        check_grad(gradient, "jacobian", strict)
    return several, given, vector, output, gradient


@short
def vhp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The product of a vector and the Hessian of a function of one element.

    Args:
        func: Takes the inputs, returns a tensor of one element.
        inputs: A tensor or a tuple of tensors.
        v: A vector for each input, of its shape; may be left out for one input of one element.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.

    Returns:
        What ``func`` returns, and the product: a tensor of the shape of each input.

    Raises:
        RuntimeError: If ``func`` returns anything else, and as ``vjp``.

    Example:
        >>> import tinytorch as tt
        >>> x, v = tt.tensor([1.0, 2.0]), tt.tensor([1.0, 0.0])
        >>> tt.autograd.functional.vhp(lambda x: (x ** 3).sum(), x, v)
        (tensor(9.), tensor([6., 0.]))
    """
    several, given, vector, output, gradient = _gradient_of_one(
        "vhp", func, inputs, v, create_graph, strict
    )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(gradient, given, vector, create_graph)
        product = filled(found, given, strict, create_graph, "double_back")
    return finished((output,), create_graph, False), finished(product, create_graph, several)


@short
def hvp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The product of the Hessian of a function of one element and a vector.

    It takes one backward pass more than ``vhp``, which gives the same where second derivatives
    are continuous.

    Args:
        func: Takes the inputs, returns a tensor of one element.
        inputs: A tensor or a tuple of tensors.
        v: A vector for each input, of its shape; may be left out for one input of one element.
        create_graph: Whether the result can be differentiated; default False.
        strict: Whether independence of an input is an error; default False.

    Returns:
        What ``func`` returns, and the product: a tensor of the shape of each input.

    Raises:
        RuntimeError: If ``func`` returns anything else, and as ``vjp``.

    Example:
        >>> import tinytorch as tt
        >>> x, v = tt.tensor([1.0, 2.0]), tt.tensor([1.0, 0.0])
        >>> tt.autograd.functional.hvp(lambda x: (x ** 3).sum(), x, v)
        (tensor(9.), tensor([6., 0.]))
    """
    several, given, vector, output, gradient = _gradient_of_one(
        "hvp", func, inputs, v, create_graph, strict
    )
    with enable_grad():
        weights = weights_of(given)
        backward = gradients(gradient, given, weights, True)
        check_grad(backward, "hessian", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(backward, weights, vector, create_graph)
        product = filled(found, given, strict, create_graph, "double_back_trick")
    return finished((output,), create_graph, False), finished(product, create_graph, several)
