"""Linear algebra and Fourier transforms on shapes, strides and equations at random."""

from __future__ import annotations

import string
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tinytorch as tt

sizes = st.integers(0, 4)
some = st.integers(1, 4)
seeds = st.integers(0, 2**31 - 1)


def draw(seed: int, shape: tuple[int, ...], complex_: bool = False) -> Any:
    generator = np.random.RandomState(seed)
    real = generator.standard_normal(shape)
    return real + 1j * generator.standard_normal(shape) if complex_ else real


def strided(array: Any, seed: int) -> tuple[Any, Any]:
    """Return the array and a tensor of it whose strides are odd: reversed, spread, transposed."""
    generator = np.random.RandomState(seed)
    wide = np.repeat(array, 2, axis=-1) if array.ndim else array
    tensor = tt.tensor(wide)
    if array.ndim:
        tensor = tensor[..., ::2]
        if generator.rand() < 0.5:
            tensor, array = tensor[..., ::-1], array[..., ::-1]
    if array.ndim > 1 and generator.rand() < 0.5:
        return array, tt.tensor(np.ascontiguousarray(array.swapaxes(-1, -2))).mT
    return array, tensor


@st.composite
def factors(draw_: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shapes whose matrix product exists: leading dimensions broadcast."""
    batch = draw_(st.lists(sizes, max_size=2))
    rows, inner, columns = draw_(sizes), draw_(sizes), draw_(sizes)
    lead = [tuple(1 if draw_(st.booleans()) else n for n in batch) for _ in range(2)]
    first = (*lead[0][draw_(st.integers(0, len(batch))) :], rows, inner)
    second = (*lead[1][draw_(st.integers(0, len(batch))) :], inner, columns)
    if draw_(st.booleans()) and len(second) == 2:
        second = (inner,)
    return first, second


@settings(max_examples=150, deadline=None)
@given(factors(), seeds)
def test_matmul_is_numpys_at_any_shape(shapes: Any, seed: int) -> None:
    (a, x), (b, y) = (strided(draw(seed + i, s), seed + i) for i, s in enumerate(shapes))
    got = x @ y
    assert got.shape == np.matmul(a, b).shape
    np.testing.assert_allclose(got.numpy(), np.matmul(a, b), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(factors(), seeds)
def test_gradient_of_matmul_is_right_at_any_shape(shapes: Any, seed: int) -> None:
    x, y = (tt.tensor(draw(seed + i, s), requires_grad=True) for i, s in enumerate(shapes))
    out = x @ y
    cotangent = draw(seed, tuple(out.shape))
    out.backward(tt.tensor(cotangent))
    # <cotangent, dx @ y> = <x.grad, dx> for any dx, and the like for y.
    a, b = (t.detach().numpy() for t in (x, y))
    for leaf, moved in ((x, lambda d: d @ b), (y, lambda d: a @ d)):
        direction = draw(seed + 7, tuple(leaf.shape))
        wanted = (cotangent * moved(direction)).sum()
        assert (leaf.grad.numpy() * direction).sum() == pytest.approx(wanted, abs=1e-9)


@st.composite
def equations(draw_: Any) -> tuple[str, list[tuple[int, ...]]]:
    """Return an equation of one to four terms, and shapes that fit it."""
    labels = string.ascii_lowercase[: draw_(some)]
    size = {c: draw_(sizes) for c in labels}
    terms = draw_(st.lists(st.text(labels, max_size=3), min_size=1, max_size=4))
    used = sorted({c for t in terms for c in t})
    result = "".join(c for c in draw_(st.permutations(used)) if draw_(st.booleans()))
    dots = draw_(st.lists(sizes, max_size=1))
    shapes = [(*dots, *(size[c] for c in t)) for t in terms]
    equation = ",".join(f"...{t}" for t in terms)
    return f"{equation}->...{result}", shapes


@settings(max_examples=200, deadline=None)
@given(equations(), seeds)
def test_einsum_is_numpys_for_any_equation(case: Any, seed: int) -> None:
    equation, shapes = case
    pairs = [strided(draw(seed + i, s), seed + i) for i, s in enumerate(shapes)]
    wanted = np.einsum(equation, *(a for a, _ in pairs))
    got = tt.einsum(equation, *(x for _, x in pairs))
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got.numpy(), wanted, atol=1e-10)


matrices = st.tuples(st.lists(sizes, max_size=2), sizes, sizes).map(lambda t: (*t[0], t[1], t[2]))
squares = st.tuples(st.lists(sizes, max_size=2), sizes).map(lambda t: (*t[0], t[1], t[1]))


def host(*tensors: Any) -> Any:
    return (t.numpy() for t in tensors)


@settings(max_examples=60, deadline=None)
@given(matrices, seeds, st.booleans())
def test_factors_multiply_to_the_matrix(shape: Any, seed: int, complex_: bool) -> None:
    a, x = strided(draw(seed, shape, complex_), seed)
    p, low, up = host(*tt.linalg.lu(x))
    np.testing.assert_allclose(p @ low @ up, a, atol=1e-10)
    q, r = host(*tt.linalg.qr(x))
    np.testing.assert_allclose(q @ r, a, atol=1e-10)
    u, s, vh = host(*tt.linalg.svd(x, full_matrices=False))
    np.testing.assert_allclose(u * s[..., None, :] @ vh, a, atol=1e-10)
    np.testing.assert_allclose(tt.linalg.svdvals(x).numpy(), s, atol=1e-10)
    assert tt.linalg.pinv(x).shape == (*shape[:-2], shape[-1], shape[-2])


@settings(max_examples=60, deadline=None)
@given(squares, sizes, seeds, st.booleans())
def test_solutions_of_solve_satisfy_the_equation(
    shape: Any, count: int, seed: int, complex_: bool
) -> None:
    a = draw(seed, shape, complex_) + 9 * np.eye(shape[-1])
    b = draw(seed + 1, (*shape[:-1], count), complex_)
    x = tt.tensor(a)
    solution = tt.linalg.solve(x, tt.tensor(b)).numpy()
    np.testing.assert_allclose(a @ solution, b, atol=1e-8)
    by_factors = tt.linalg.lu_solve(*tt.linalg.lu_factor(x), tt.tensor(b)).numpy()
    np.testing.assert_allclose(by_factors, solution, atol=1e-8)
    np.testing.assert_allclose(tt.linalg.det(x).numpy(), np.linalg.det(a), rtol=1e-8)
    turned = x + x.mH
    np.testing.assert_allclose(
        tt.linalg.ldl_solve(*tt.linalg.ldl_factor(turned, hermitian=True), tt.tensor(b),
                            hermitian=True).numpy(),
        np.linalg.solve(turned.numpy(), b),
        atol=1e-6,
    )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(some, min_size=1, max_size=3), seeds, st.data())
def test_transforms_of_any_shape_are_numpys(shape: list[int], seed: int, data: Any) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = data.draw(st.none() | st.integers(1, 6))
    norm = data.draw(st.sampled_from([None, "ortho", "forward"]))
    a, x = strided(draw(seed, tuple(shape)), seed)
    for name in ("fft", "ifft", "rfft", "ihfft"):
        wanted = getattr(np.fft, name)(a, n, axis, norm)
        got = getattr(tt.fft, name)(x, n, axis, norm)
        np.testing.assert_allclose(got.numpy(), wanted, atol=1e-12)
    whole = tt.fft.ifftn(tt.fft.fftn(x, norm=norm), norm=norm)
    np.testing.assert_allclose(whole.numpy(), a, atol=1e-12)
    back = tt.fft.irfft(tt.fft.rfft(x, dim=axis), shape[axis], axis)
    np.testing.assert_allclose(back.numpy(), a, atol=1e-12)
