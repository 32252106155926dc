"""Calls of several steps for ``test_calls_taken``."""

from __future__ import annotations

from typing import Any

import numpy as np

# -- results in other kinds ------------------------------------------------------------------------


def lstsq_into_given_results(L: Any) -> Any:
    o = L.zeros(0).double(), *L.zeros(2, 0)
    return L.linalg.lstsq(L.eye(3), L.ones(3, 1), out=(*o, o[1]))


# -- results in other shapes -----------------------------------------------------------------------


def arange_into_a_transpose(L: Any) -> Any:
    o = L.zeros(2, 2)
    L.arange(4, out=o.t())
    return o


# -- truth among indices ---------------------------------------------------------------------------


def truth_among_indices_is_written_to(L: Any, T: Any) -> Any:
    x = L.zeros(2, 3, 4)
    x[0, :, True] = T([[1.0], [2.0], [3.0]]).expand(3, 1, 4)
    return x


def gradient_through_truth_among_indices(L: Any) -> Any:
    x = L.zeros(2, 3, requires_grad=True)
    x[0, :, True].sum().backward()
    return x.grad


# -- shapes of leaves ------------------------------------------------------------------------------


def t_of_a_leaf(L: Any) -> Any:
    x = L.ones(6).reshape(2, 3).requires_grad_()
    L.no_grad()(x.t_)()
    return [x.requires_grad, x.is_leaf]


def t_of_a_leaf_that_is_a_view(L: Any) -> Any:
    x = L.ones(2, 3)[:].requires_grad_()
    L.no_grad()(x.t_)()
    return L.autograd.grad((x**2).sum(), x)


def unsqueeze_of_a_leaf_that_is_a_view(L: Any) -> Any:
    x = L.ones(6)[:].requires_grad_()
    L.no_grad()(x.unsqueeze_)(0)
    return x[0].requires_grad


def unsqueeze_of_a_leaf(L: Any) -> Any:
    x = L.ones(6).requires_grad_()
    L.no_grad()(x.unsqueeze_)(0)
    return [x.requires_grad, x.is_leaf]


# -- gradients -------------------------------------------------------------------------------------


def gradient_of_renorm_without_bound(L: Any) -> Any:
    x = L.ones(2, 2, requires_grad=True)
    L.renorm(x, 2, 0, float("inf")).sum().backward()
    return x.grad


def gradient_of_an_expanded_complex(L: Any) -> Any:
    c = (L.ones(1) * 1j).expand(3).requires_grad_()
    x = c.as_strided((2,), (0,)).abs().sum()
    return L.autograd.grad(x, c, create_graph=True)


def second_derivatives_of_polar(L: Any) -> Any:
    a, b = L.ones(2, 1, requires_grad=True), L.ones(1, 3, requires_grad=True)
    g = L.autograd.grad(L.polar(a, b), (a, b), L.ones(2, 3) * (1 + 0.5j), create_graph=True)
    return L.autograd.grad(g[0].sum() + (g[1] ** 2).sum(), (a, b))


# -- several ellipses ------------------------------------------------------------------------------


def several_ellipses_are_written_to(L: Any) -> Any:
    x = L.zeros(2, 3)
    x[..., 0, ...] = 5
    return x


def gradient_through_several_ellipses(L: Any) -> Any:
    x = L.zeros(2, 3, requires_grad=True)
    x[..., 0, ...].sum().backward()
    return x.grad


# -- roots of minus zero ---------------------------------------------------------------------------


def gradient_of_a_root_at_zero(T: Any) -> Any:
    x = T([-0.0, 0.0, 4.0], requires_grad=True)
    (x**0.5).sum().backward()
    return x.grad


def second_derivative_of_a_root_at_zero(L: Any, T: Any) -> Any:
    x = T([-0.0, 1.0, 4.0], requires_grad=True)
    (g,) = L.autograd.grad((x**0.5).sum(), x, create_graph=True)
    return L.autograd.grad(g[1:].sum(), x)[0][1:]


# -- buffers ---------------------------------------------------------------------------------------


def asarray_copies_a_bytearray(L: Any) -> Any:
    x = bytearray(b"abcd")
    y = L.asarray(x, dtype=L.uint8, copy=True)
    y[0] = 5
    return list(x)


def asarray_of_a_memoryview(L: Any) -> Any:
    x = np.ones((2, 2)) * 1j
    return L.asarray(memoryview(x[0]), dtype=L.complex128)


# -- in place --------------------------------------------------------------------------------------


def gradient_of_digamma_in_place(T: Any) -> Any:
    x = T([0.5, 2.5], requires_grad=True)
    x.clone().polygamma_(0).sum().backward()
    return x.grad


def gradient_of_trigamma_in_place(T: Any) -> Any:
    x = T([0.5, 2.5], requires_grad=True)
    x.clone().polygamma_(1).sum().backward()
    return x.grad


def polygamma_in_place_on_a_column(L: Any) -> Any:
    x = L.ones(2, 3).double()
    x[:, 1].polygamma_(2)
    return x
