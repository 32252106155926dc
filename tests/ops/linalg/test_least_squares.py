"""What ``linalg.lstsq`` returns for vectors and by each driver."""

from __future__ import annotations

import pytest

import tinytorch as tt
from tests.ops.linalg.matrices import draw
from tests.oracles import compare


@pytest.mark.torch
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shapes", [((4, 2), (4,)), ((3, 4, 2), (3, 4)), ((3, 4, 2), (3, 4, 2))])
def test_lstsq_for_vectors_is_pytorchs(driver: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    compare(
        lambda lib, a, b: list(lib.linalg.lstsq(a, b, driver=driver)),
        draw(*shapes[0]), draw(*shapes[1]), orders=0,
    )  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("driver", ["gelsd", "gelss"])
@pytest.mark.parametrize("rcond", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("shape", [(2, 1), (4, 2), (3, 3), (2, 4)])
def test_a_limit_that_leaves_nothing_is_the_drivers(
    driver: str, rcond: float, shape: tuple[int, int]
) -> None:
    a, b = draw(*shape), draw(shape[0], 2)
    compare(lambda m, x, y: m.linalg.lstsq(x, y, rcond, driver=driver)[0], a, b, orders=0)
    compare(lambda m, x, y: m.linalg.lstsq(x, y, rcond, driver=driver)[2], a, b, orders=0)


def test_gelsy_leaves_one_singular_value() -> None:
    found = tt.linalg.lstsq(tt.tensor([[3.0, 0.0], [0.0, 1.0]]), tt.ones(2, 1), 1.5)
    assert found.rank.item() == 1
    assert found.solution.flatten().tolist() == pytest.approx([1 / 3, 0])
    assert tt.linalg.lstsq(tt.zeros(2, 2), tt.ones(2, 1), 1.5).rank.item() == 0
