"""Other libraries take arrays of NumPy's dialect as they take NumPy's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.calls import words

X = np.arange(12.0).reshape(6, 2) ** 1.5
Y = X @ [1.0, 2.0] + 3


def pandas_frame(x: Any, y: Any) -> Any:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(x, columns=["a", "b"])
    frame["y"] = y
    frame.loc[1, "a"] = x[2, 0]
    return frame.describe().to_numpy(), pd.Series(y).rolling(2).mean().to_numpy()


def pandas_groups(x: Any, y: Any) -> Any:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    return pd.DataFrame({"k": (y > 20), "y": y}).groupby("k").sum().to_numpy()


def scipy_solve(x: Any, y: Any) -> Any:
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is not installed")
    return linalg.solve(x.T @ x, x.T @ y), linalg.svdvals(x)


def scipy_minimum(x: Any, y: Any) -> Any:
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    found = optimize.minimize(lambda w: float(((x @ w - y) ** 2).sum()), x[0])
    return np.round(found.x, 3)


def scipy_statistics(x: Any, y: Any) -> Any:
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    return stats.zscore(y), stats.pearsonr(x[:, 0], y).statistic


def scipy_interpolation(x: Any, y: Any) -> Any:
    interpolate = pytest.importorskip("scipy.interpolate", reason="SciPy is not installed")
    return interpolate.CubicSpline(x[:, 0], y)([1.0, 2.5])


def scipy_functions(x: Any, y: Any) -> Any:
    special = pytest.importorskip("scipy.special", reason="SciPy is not installed")
    written = np.zeros(y.shape)
    special.erf(y, out=written)
    return special.gammaln(x), special.sici(y), special.xlogy(x[:, 0], np.ones(1)), written


def sklearn_regression(x: Any, y: Any) -> Any:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="no scikit-learn")
    model = linear_model.LinearRegression().fit(x, y)
    return model.predict(x), model.score(x, y)


def sklearn_classes(x: Any, y: Any) -> Any:
    neighbors = pytest.importorskip("sklearn.neighbors", reason="no scikit-learn")
    model = neighbors.KNeighborsClassifier(1).fit(x, (y > 20).astype(int))
    return model.predict(x[::-1])


def matplotlib_lines(x: Any, y: Any) -> Any:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2)
    (line,) = axes[0, 0].plot(x[:, 0], y)
    bars = axes[0, 1].bar(x[:, 0], y)
    image = axes[1, 0].imshow(x)
    counts, edges, _ = axes[1, 1].hist(y, bins=3)
    figure.canvas.draw()
    plt.close(figure)
    heights = [bar.get_height() for bar in bars]
    return line.get_ydata(), heights, image.get_array(), counts, edges


USES: list[Callable[[Any, Any], Any]] = [
    pandas_frame, pandas_groups, scipy_solve, scipy_minimum, scipy_statistics,
    scipy_interpolation, scipy_functions, sklearn_regression, sklearn_classes, matplotlib_lines,
]  # fmt: skip


@pytest.mark.parametrize("use", USES, ids=words)
def test_other_libraries_compute_the_same_of_tinytorchs_arrays(
    use: Callable[[Any, Any], Any],
) -> None:
    with tt.backend_context("numpy"):
        found = use(tnp.array(X), tnp.array(Y))
    wanted = use(X, Y)
    mine = found if isinstance(found, tuple) else (found,)
    theirs = wanted if isinstance(wanted, tuple) else (wanted,)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9)
