"""Backward passes from sparse tensors and to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.layout import sparse_coo
from ...core.tensor import Tensor, wrap
from ...graph.late_bound import LATE_BOUND
from ...graph.sparse_gradients import SparseGradient
from .layouts import sparse_mask
from .pattern import Pattern
from .tensor import SparseTensor, handles, make_sparse


@handles("backward")
def backward(
    input: Any, gradient: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, inputs: Any = None,
) -> None:  # fmt: skip
    """``Tensor.backward``: the gradient of a sparse tensor has its pattern."""
    LATE_BOUND.backward(input, gradient, retain_graph, create_graph, inputs=inputs)


@handles("autograd.backward")
def backward_from(
    tensors: Any, grad_tensors: Any = None, *, function: Any, inputs: Any = None, **options: Any
) -> None:  # fmt: skip
    """``autograd.backward`` with sparse tensors among its arguments."""
    roots = list(tensors) if isinstance(tensors, (tuple, list)) else [tensors]
    grads = _root_gradients(roots, grad_tensors)
    inputs = None if inputs is None else _unwrap(inputs)
    function(_unwrap(roots), grads, inputs=inputs, **options)


def _root_gradients(roots: list[Any], given: Any) -> Any:
    """Return the gradients of roots; that of a sparse root as its elements."""
    if given is None:
        return None
    grads = given if isinstance(given, (tuple, list)) else [given]
    return [
        sparse_mask(g, root)._elements if isinstance(root, SparseTensor) and g is not None else g
        for root, g in zip(roots, grads, strict=True)
    ]


def _unwrap(tensors: Any) -> Any:
    """Return tensors with the elements of sparse ones in their place."""
    if isinstance(tensors, (tuple, list)):
        return [_unwrap(each) for each in tensors]
    return tensors._elements if isinstance(tensors, SparseTensor) else tensors


@handles("autograd.grad")
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, *, function: Any, **options: Any
) -> Any:  # fmt: skip
    """``autograd.grad``: the gradient of a sparse tensor has its pattern."""
    given = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    roots = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    grads = _root_gradients(roots, grad_outputs)
    found = function(_unwrap(roots), _unwrap(given), grads, **options)
    return tuple(
        x.make_like(g) if isinstance(x, SparseTensor) and g is not None else g
        for x, g in zip(given, found, strict=True)
    )


@handles("register_hook")
def register_hook(input: SparseTensor, hook: Callable[[Any], Any]) -> Any:
    """Register a hook of the gradient, which it gets with the pattern of the tensor."""

    def call(g: Tensor) -> Any:
        found = hook(input.make_like(g))
        return None if found is None else sparse_mask(found, input)._elements

    return input._elements.register_hook(call)


@handles("retain_grad")
def retain_grad(input: SparseTensor) -> None:
    """Keep the gradient of a tensor that is not a leaf."""
    input._elements.retain_grad()


def make_of_gradient(g: SparseGradient) -> SparseTensor:
    """Return the tensor of a sparse gradient of a backward pass: COO with one sparse dimension."""
    index = wrap(g.rows.reshape(1, -1), g.xp)
    pattern = Pattern(sparse_coo, (index,), g.shape, int(index.shape[1]) < 2)
    return make_sparse(pattern, wrap(g.values, g.xp))
