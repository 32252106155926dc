"""Programs as they are written for NumPy: each runs on the namespace that it is given."""

from __future__ import annotations

from typing import Any


def k_means(np: Any) -> Any:
    np.random.seed(0)
    places = [np.array(c) for c in ((0, 0), (5, 5), (0, 6))]
    x = np.concatenate([np.random.randn(50, 2) + c for c in places])
    centers = x[np.random.choice(len(x), 3, replace=False)]
    for _ in range(20):
        labels = np.argmin(np.linalg.norm(x[:, None] - centers[None], axis=2), axis=1)
        centers = np.array([x[labels == k].mean(axis=0) for k in range(3)])
    return centers[np.argsort(centers[:, 0] + 10 * centers[:, 1])], np.bincount(labels)


def principal_components(np: Any) -> Any:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(100, 3)) @ np.array([[3, 1, 0], [0, 1, 0.5], [0, 0.2, 0.1]])
    x = x - np.mean(x, axis=0)
    w, v = np.linalg.eigh(np.cov(x, rowvar=False))
    order = np.argsort(w)[::-1]
    w, v = w[order], v[:, order]
    _, s, _ = np.linalg.svd(x, full_matrices=False)
    return w, np.allclose(s**2 / 99, w), np.abs(x @ v[:, :2])[:3], np.cumsum(w) / np.sum(w)


def low_pass_filter(np: Any) -> Any:
    t = np.linspace(0, 1, 500, endpoint=False)
    x = np.sin(2 * np.pi * 5 * t) + 0.5 * np.cos(2 * np.pi * 60 * t)
    spectrum, f = np.fft.rfft(x), np.fft.rfftfreq(len(t), d=t[1] - t[0])
    spectrum[f > 20] = 0
    y = np.fft.irfft(spectrum, n=len(t))
    return y, f[np.argmax(np.abs(spectrum))], y.dtype == np.float64


def game_of_life(np: Any) -> Any:
    cells = np.zeros((8, 8), dtype=int)
    cells[1, 2] = cells[2, 3] = cells[3, 1:4] = 1
    steps = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    for _ in range(10):
        count = sum(np.roll(np.roll(cells, i, 0), j, 1) for i, j in steps)
        cells = ((count == 3) | ((cells == 1) & (count == 2))).astype(int)
    return cells.sum(), np.argwhere(cells)


def monte_carlo(np: Any) -> Any:
    rng = np.random.default_rng(42)
    x, y = rng.random(1000), rng.uniform(-1, 1, size=1000)
    area = 2 * np.mean(x**2 + y**2 <= 1)
    steps = 0.03 / 50 + 0.2 * np.sqrt(1 / 50) * rng.standard_normal((200, 50))
    last = 100 * np.exp(np.cumsum(steps, axis=1))[:, -1]
    price = np.exp(-0.05) * np.mean(np.maximum(last - 100, 0))
    drawn = rng.integers(0, 10, 5), rng.choice([1.5, 2.5, 3.5], 4), rng.permutation(5)
    return area, price, np.percentile(last, [5, 50, 95]), drawn


def finite_differences(np: Any) -> Any:
    x = np.linspace(0, 1, 50)
    dx = x[1] - x[0]
    u = np.exp(-100 * (x - 0.5) ** 2)
    for _ in range(100):
        u[1:-1] += 0.4 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[-1] = 0
    a = np.diag(-2 * np.ones(4)) + np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    solved = np.linalg.solve(a, np.ones(4)), np.linalg.det(a)
    return u[::10], np.trapezoid(u, x), np.gradient(u, dx)[:3], solved


def image_convolution(np: Any) -> Any:
    image = np.arange(36, dtype=float).reshape(6, 6)
    kernel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]])
    padded = np.pad(image, 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    strides = (*padded.strides, *padded.strides)
    same = np.lib.stride_tricks.as_strided(padded, shape=(6, 6, 3, 3), strides=strides)
    edges = np.einsum("ijkl,kl->ij", windows, kernel)
    return edges, np.tensordot(same, kernel, axes=([2, 3], [0, 1]))


def linear_regression(np: Any) -> Any:
    rng = np.random.RandomState(3)
    x = np.c_[np.ones(30), rng.rand(30, 2)]
    y = x @ np.array([1.0, -2.0, 3.0]) + 0.01 * rng.randn(30)
    w, residuals, rank, s = np.linalg.lstsq(x, y, rcond=None)
    by_inverse = np.linalg.inv(x.T @ x) @ x.T @ y
    steps = np.zeros(3)
    for _ in range(100):
        steps -= 0.3 * x.T.dot(x.dot(steps) - y) / len(y)
    explained = 1 - ((y - x @ w) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    return w, residuals, rank, s, by_inverse, np.linalg.pinv(x).dot(y), steps, explained


def markov_chain(np: Any) -> Any:
    moves = np.array([[0.9, 0.075, 0.025], [0.15, 0.8, 0.05], [0.25, 0.25, 0.5]])
    w, v = np.linalg.eig(moves.T)
    stationary = np.real(v[:, np.isclose(w, 1)][:, 0])
    np.random.seed(7)
    state, visits = 0, np.zeros(3)
    for _ in range(200):
        state = np.random.choice(3, p=moves[state])
        visits[state] += 1
    return np.linalg.matrix_power(moves, 50)[0], stationary / stationary.sum(), visits


def pendulum(np: Any) -> Any:
    def slope(y: Any) -> Any:
        return np.array([y[1], -np.sin(y[0])])

    y, h, path = np.array([1.0, 0.0]), 0.05, []
    for _ in range(100):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + h * k3))
        path.append(y.copy())
    found = np.vstack(path)
    energy = 0.5 * found[:, 1] ** 2 + 1 - np.cos(found[:, 0])
    crossed = np.where(np.diff(np.sign(found[:, 0])))[0]
    times = np.arange(1, 101) * h
    return found[-1], np.ptp(energy) < 1e-6, np.interp(2.0, times, found[:, 0]), crossed


PROGRAMS = (
    k_means, principal_components, low_pass_filter, game_of_life, monte_carlo,
    finite_differences, image_convolution, linear_regression, markov_chain, pendulum,
)  # fmt: skip
#: Draw numbers, which are NumPy's on the NumPy backend alone.
DRAWING = ("k_means", "principal_components", "monte_carlo", "linear_regression", "markov_chain")
