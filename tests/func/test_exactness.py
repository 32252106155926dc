"""What ``func`` computes is what PyTorch computes, and what finite differences say."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

#: Functions of a (2, 3) tensor of positive numbers in either library.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda L, x: x.exp(),
    "sqrt log": lambda L, x: x.sqrt() + x.log(),
    "quotient": lambda L, x: x / (1 + x.flip(1)),
    "power": lambda L, x: x ** x.mean(),
    "tanh sigmoid": lambda L, x: L.tanh(x) * L.sigmoid(x),
    "gelu": lambda L, x: L.nn.functional.gelu(x),
    "softplus": lambda L, x: L.nn.functional.softplus(x),
    "where": lambda L, x: L.where(x > 1, x**2, x**3),
    "clamp": lambda L, x: x.clamp(0.5, 1.2) * x,
    "abs max": lambda L, x: (x - 1).abs() + x.amax(0),
    "sum mean var": lambda L, x: x.sum(0) * x.mean() + x.var(0),
    "norm": lambda L, x: x.norm(dim=1),
    "prod cumsum": lambda L, x: x.prod(1)[:, None] * x.cumsum(1),
    "logsumexp": lambda L, x: L.logsumexp(x, 1),
    "softmax": lambda L, x: L.softmax(x, 1),
    "matmul": lambda L, x: x @ x.T @ x,
    "einsum": lambda L, x: L.einsum("ij,kj->ik", x, x.exp()),
    "bmm": lambda L, x: L.bmm(x[None], x.T[None]),
    "inverse": lambda L, x: L.linalg.inv(x @ x.T + 2 * L.eye(2, dtype=x.dtype)),
    "determinant": lambda L, x: L.linalg.det(x @ x.T),
    "cholesky": lambda L, x: L.linalg.cholesky(x @ x.T + L.eye(2, dtype=x.dtype)),
    "solve": lambda L, x: L.linalg.solve(x @ x.T, x),
    "views": lambda L, x: x.T.reshape(2, 3)[:, 1:].unsqueeze(0).expand(2, 2, 2) * x[0, 0],
    "indexing": lambda L, x: x[[0, 1, 0], [2, 1, 2]] * x[1],
    "gather": lambda L, x: x.gather(1, L.tensor([[0, 0], [2, 1]])) ** 2,
    "joining": lambda L, x: L.cat([x, L.stack([x[0], x[1] ** 2])], 1),
    "sorting": lambda L, x: x.sort(1).values * x,
    "padding": lambda L, x: L.nn.functional.pad(x, (1, 2), "constant", 3.0) ** 2,
    "convolution": lambda L, x: L.nn.functional.conv1d(x[None], x[:, :2][None], padding=1),
    "pooling": lambda L, x: L.nn.functional.max_pool1d(x[None], 2, 1) ** 2,
    "layer norm": lambda L, x: L.nn.functional.layer_norm(x, (3,)) * x,
    "cross entropy": lambda L, x: L.nn.functional.cross_entropy(x, L.tensor([2, 0])),
    "attention": lambda L, x: L.nn.functional.scaled_dot_product_attention(x, x, x),
    "complex": lambda L, x: (L.exp(1j * x) * x).abs() ** 2 + L.fft.rfft(x).real[:, :1],
    "special": lambda L, x: L.lgamma(x) + L.erf(x) + L.special.xlog1py(x, x),
}  # fmt: skip
X = np.array([[0.3, 1.1, 0.8], [1.7, 0.4, 1.3]])
V = np.array([[1.0, -0.5, 2.0], [0.7, 0.2, -1.0]])


def of_host(value: tt.Tensor) -> Any:
    return value.detach().cpu().numpy()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_by_transforms_are_pytorchs(torch: Any, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's linearize uses what PyTorch deprecates
        found, meant = (_derivatives(L, FUNCTIONS[name]) for L in (tt, torch))
    limit = 1e-8 if name == "special" else 1e-12  # PyTorch's trigamma is good to 9 digits
    for mine, theirs in zip(found, meant, strict=True):
        np.testing.assert_allclose(of_host(mine), theirs.detach().numpy(), limit, limit)


def _derivatives(library: Any, function: Callable[[Any, Any], Any]) -> list[Any]:
    F, x, v = library.func, library.tensor(X), library.tensor(V)
    f = lambda x: function(library, x)  # noqa: E731
    out, push = F.linearize(f, x)
    _, pull = F.vjp(f, x)
    scalar = lambda x: (f(x) ** 2).sum()  # noqa: E731
    batch = library.stack([x, x + 0.1, 2 * x])
    return [
        *F.jvp(f, (x,), (v,)), out, push(v), *pull(out), F.jacrev(f)(x), F.jacfwd(f)(x),
        F.grad(scalar)(x), F.jvp(F.grad(scalar), (x,), (v,))[1], F.hessian(scalar)(x),
        F.vmap(F.grad(scalar))(batch),
    ]  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_the_limits_of_differences(name: str) -> None:
    """Central differences, with an error of the square of the step."""
    x, v, step = tt.tensor(X), tt.tensor(V), 1e-6
    f = lambda x: FUNCTIONS[name](tt, x)  # noqa: E731
    difference = (f(x + step * v) - f(x - step * v)) / (2 * step)
    _, tangent = tt.func.jvp(f, (x,), (v,))
    np.testing.assert_allclose(of_host(tangent), of_host(difference), 1e-6, 1e-7)
    scalar = lambda x: (f(x) ** 2).sum()  # noqa: E731
    gradient = tt.func.grad(scalar)
    difference = (gradient(x + step * v) - gradient(x - step * v)) / (2 * step)
    along = tt.einsum("ijkl,kl->ij", tt.func.hessian(scalar)(x), v)
    np.testing.assert_allclose(of_host(along), of_host(difference), 1e-5, 1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_equals_a_loop_over_examples(name: str) -> None:
    """Against NumPy's stacking of the function's own results, and the gradient of each example."""
    batch = tt.stack([tt.tensor(X), 1.5 * tt.tensor(X)], 1).requires_grad_()
    mapped = tt.vmap(lambda x: FUNCTIONS[name](tt, x), in_dims=1, out_dims=-1)(batch)
    single = [tt.tensor(X).requires_grad_(), (1.5 * tt.tensor(X)).requires_grad_()]
    results = [FUNCTIONS[name](tt, x) for x in single]
    stacked = np.stack([of_host(r) for r in results], -1)
    # A GPU adds up another shape in another order.
    rounding = 1e-15 if tt.get_backend() == "cupy" else 0
    np.testing.assert_allclose(of_host(mapped), stacked, rounding, strict=True)
    mapped.square().sum().backward()
    for i, (x, result) in enumerate(zip(single, results, strict=True)):
        result.square().sum().backward()
        assert x.grad is not None and batch.grad is not None
        np.testing.assert_allclose(of_host(batch.grad[:, i]), of_host(x.grad), 1e-12, 1e-12)
