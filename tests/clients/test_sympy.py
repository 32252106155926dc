"""SymPy takes tensors for numbers and arrays, and tensors what it makes functions of."""

from __future__ import annotations

import pytest

import tinytorch as tt

sympy = pytest.importorskip("sympy")


def test_tensors_are_converted_to_sympy_numbers_and_arrays() -> None:
    assert float(sympy.sympify(tt.tensor([0.5, 0.25])[1])) == 0.25
    assert sympy.sympify(tt.tensor(3)) == 3 and sympy.sympify(tt.tensor(3)).is_Integer
    assert sympy.sympify(tt.ones(2, 3, dtype=tt.int64)).shape == (2, 3)
    x = sympy.Symbol("x")
    assert tt.tensor(2) * x == 2 * x and x + tt.tensor(2) == x + 2
    assert sympy.Matrix(tt.eye(2, dtype=tt.int64)) == sympy.eye(2)


def test_lambdified_expressions_compute_and_differentiate_tensors() -> None:
    x = sympy.Symbol("x")
    function = sympy.lambdify(x, sympy.sin(x) * sympy.exp(x) + x**2, modules=[tt, "numpy"])
    t = tt.tensor([0.5, 1.0], requires_grad=True)
    function(t).sum().backward()
    wanted = (t.sin() * t.exp() + t.cos() * t.exp() + 2 * t).detach()
    tt.testing.assert_close(t.grad, wanted)
