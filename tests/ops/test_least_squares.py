"""What ``linalg.lstsq`` returns for vectors and by each driver."""

from __future__ import annotations

import pytest

from tests.ops.matrices import draw
from tests.ops.same_as_torch import same


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shapes", [((4, 2), (4,)), ((3, 4, 2), (3, 4)), ((3, 4, 2), (3, 4, 2))])
def test_least_squares_for_vectors(driver: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    same(
        lambda lib, a, b: list(lib.linalg.lstsq(a, b, driver=driver)),
        draw(*shapes[0]), draw(*shapes[1]), orders=0,
    )  # fmt: skip
