"""NumPy's floating-point warnings stop at this package, and nowhere else.

What is computed in silence is in tests/ops/pointwise/test_silence.py.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tinytorch as tt
from tests.fresh import process, run


def divided() -> float:
    return (tt.ones(1) / 0).item()


@pytest.mark.parametrize("action", ["error", "always", "default"])
def test_numpy_warnings_stay_silent_under_any_filter_of_the_user(action: str) -> None:
    with warnings.catch_warnings(record=True) as caught, ThreadPoolExecutor(1) as pool:
        warnings.simplefilter(action)
        assert [divided(), pool.submit(divided).result(30)] == [float("inf")] * 2
    assert not caught


def test_the_users_own_numpy_warns_as_before() -> None:
    before = np.geterr()
    divided()
    assert np.geterr() == before
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.ones(1) / 0


def test_importing_tinytorch_changes_no_warning_filter() -> None:
    def program() -> None:
        import warnings

        import numpy  # noqa: F401  # it changes some

        before = list(warnings.filters)
        import tinytorch as tt

        tt.ones(1) / 0
        print(warnings.filters == before)

    assert run(program) == "True"


def test_a_program_that_turns_warnings_into_errors_runs() -> None:
    def program() -> None:
        import tinytorch as tt

        model = tt.nn.Sequential(tt.nn.Linear(2, 2), tt.nn.Softmax(1), tt.nn.BatchNorm1d(2))
        optimizer = tt.optim.Adam(model.parameters())
        for _ in range(2):
            model(tt.full((4, 2), 3e38)).log().sum().backward()
            optimizer.step()
        print(next(model.parameters()))

    done = process(program, options=["-W", "error"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "nan" in done.stdout
