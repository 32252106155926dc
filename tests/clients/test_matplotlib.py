"""matplotlib draws tensors, those that require grad too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

pytest.importorskip("matplotlib").use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

T = tt.tensor([1.0, 2.0, 4.0])
IMAGE = tt.arange(6.0).reshape(2, 3)
PLOTS: dict[str, Callable[[Any], Any]] = {
    "plot": lambda ax: ax.plot(T, T**2),
    "bar": lambda ax: ax.bar([1, 2, 3], T),
    "barh": lambda ax: ax.barh(T, T, xerr=T),
    "scatter": lambda ax: ax.scatter(T, T, c=T, s=T),
    "imshow": lambda ax: ax.imshow(IMAGE),
    "hist": lambda ax: ax.hist(T),
    "errorbar": lambda ax: ax.errorbar(T, T, yerr=T),
    "fill_between": lambda ax: ax.fill_between(T, T, 2 * T),
    "contourf": lambda ax: ax.contourf(IMAGE),
    "boxplot": lambda ax: ax.boxplot(IMAGE),
    "pcolormesh": lambda ax: ax.pcolormesh(IMAGE),
    "quiver": lambda ax: ax.quiver(T, T, T, T),
    "stem": lambda ax: ax.stem(T),
    "pie": lambda ax: ax.pie(T),
    "limits": lambda ax: (ax.set_xlim(T[0], T[1]), ax.axhline(T[0])),
}


@pytest.fixture
def axes() -> Iterator[Any]:
    figure, axes = plt.subplots()
    yield axes
    figure.canvas.draw()
    plt.close(figure)


@pytest.mark.parametrize("draw", PLOTS.values(), ids=PLOTS)
def test_matplotlib_draws_tensors(axes: Any, draw: Callable[[Any], Any]) -> None:
    draw(axes)


def test_bars_are_as_high_as_the_numbers(axes: Any) -> None:
    assert [bar.get_height() for bar in axes.bar([1, 2, 3], T)] == [1, 2, 4]


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True to a scalar")
def test_a_tensor_that_requires_grad_is_drawn_with_a_warning(axes: Any) -> None:
    with pytest.warns(UserWarning, match="no gradient flows"):
        (line,) = axes.plot(T.clone().requires_grad_())
    np.testing.assert_array_equal(line.get_ydata(), [1, 2, 4])
    axes.plot((T * 2).requires_grad_())  # of which has been told
