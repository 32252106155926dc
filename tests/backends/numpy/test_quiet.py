"""Silent copies of NumPy's functions, and int64 indices where NumPy's have 32 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tinytorch.backends.numpy import quiet


def test_a_quiet_function_does_not_warn_and_leaves_the_state_of_errors() -> None:
    divide = quiet.quiet(lambda a, b: np.divide(a, b))
    with np.errstate(all="raise"):
        assert divide(np.array(1.0), np.array(0.0)) == np.inf
        with pytest.raises(FloatingPointError):
            np.divide(np.array(1.0), np.array(0.0))


def test_quiet_functions_may_call_each_other() -> None:
    inner = quiet.quiet(lambda x: np.log(x))
    outer = quiet.quiet(lambda x: inner(x) + np.log(x))
    with np.errstate(all="raise"):
        assert outer(np.array(0.0)) == -np.inf


def test_the_functions_of_a_module_are_made_quiet_on_first_access() -> None:
    linalg = quiet.QuietNamespace("numpy.linalg")
    assert "norm" not in vars(linalg)
    with np.errstate(all="raise"):
        assert linalg.norm(np.array([1e300, 1e300])) == np.inf
    assert vars(linalg)["norm"] is linalg.norm
    assert linalg.LinAlgError is np.linalg.LinAlgError
    with pytest.raises(AttributeError):
        linalg.no_such_name


def narrow(found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Convert arrays of indices to int32."""
    return tuple(each.astype("int32") for each in found)


class Narrow:
    """A backend whose indices have 32 bits, and which raises on others, as NumPy's then do."""

    def argsort(self, array: Any) -> Any:
        return np.argsort(array).astype("int32")

    def nonzero(self, array: Any) -> Any:
        return narrow(np.nonzero(array))

    def where(self, condition: Any, *values: Any) -> Any:
        found = np.where(condition, *values)
        return found if values else narrow(found)

    def unique(self, array: Any, return_index: bool = False) -> Any:
        found = np.unique(array, return_index=return_index)
        return (found[0], *narrow(found[1:])) if return_index else found

    def take(self, array: Any, indices: Any, axis: Any = None) -> Any:
        if getattr(indices, "dtype", None) == "int64":
            raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32')")
        return np.take(array, indices, axis)


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(quiet, "FUNCTIONS", ("argsort", "nonzero"))
    monkeypatch.setattr(quiet, "TAKERS", {"take": 1})
    kind = type("Wide", (Narrow,), dict(vars(Narrow)))
    quiet.widen(kind)
    return kind()


def test_indices_returned_by_numpy_functions_are_int64(wide: Any) -> None:
    x = np.array([3.0, 0.0, 2.0, 3.0])
    for found, wanted in (
        (wide.argsort(x), np.argsort(x)), (wide.nonzero(x)[0], np.nonzero(x)[0]),
        (wide.where(x > 1)[0], np.where(x > 1)[0]),
        (wide.unique(x, return_index=True)[1], np.unique(x, return_index=True)[1]),
    ):  # fmt: skip
        assert found.dtype == "int64"
        np.testing.assert_array_equal(found, wanted)
    narrow_values = np.array([1, 2], "int32")
    assert wide.where(x[:2] > 1, narrow_values, narrow_values).dtype == "int32"
    assert wide.unique(narrow_values).dtype == "int32"


def test_int64_indices_are_accepted_and_stay_out_of_bounds(wide: Any) -> None:
    x = np.arange(5.0)
    assert wide.take(x, np.array([4, 0])).tolist() == [4.0, 0.0]
    assert wide.take(x, 3) == 3.0
    with pytest.raises(IndexError):
        wide.take(x, np.array([2**40]))
