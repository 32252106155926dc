"""Every keyword of NumPy's functions with values of many kinds: what NumPy accepts is accepted."""

from __future__ import annotations

import contextlib
import inspect
import io
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp

SPACES = (("", np, tnp), ("linalg.", np.linalg, tnp.linalg), ("fft.", np.fft, tnp.fft))
MATRIX = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
PLACES = np.array([2, 0, 1])
#: Positional arguments, of which each function gets those that it accepts.
ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (MATRIX,), (PLACES,), (MATRIX[0],), (MATRIX, MATRIX), (MATRIX[0], PLACES), (MATRIX[:, :2],),
    ((2, 3),), (5,), (PLACES, PLACES > 0), ([MATRIX[0], MATRIX[1]],), (MATRIX[0],) * 3,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    np.array([0, 1]), np.array([0.5, 1.5, 2.0]), np.array(1), np.array(1.5), np.int64(1), [0, 1],
    (0, 1), 1, -1, 7, 0.5, None, True, False, np.array([True, False, True]), {0, 1}, len, float,
    int, np.dtype("f4"), "C", "F", "float32", {0: 1}, 1j,
)  # fmt: skip
#: They print, read or write files, set a global state, or return memory that is not written.
LEFT_OUT = frozenset(
    """empty empty_like einsum_path busday_count busday_offset is_busday frompyfunc fromfile
    fromregex genfromtxt get_include getbufsize info load loadtxt may_share_memory ndarray
    printoptions save savetxt savez savez_compressed set_printoptions setbufsize seterr
    seterrcall shares_memory show_config show_runtime test
    datetime_as_string datetime_data""".split()
)
#: The part of the calls that are made; with 1 all 70,000 are.
PART = 0.1
#: Keywords of functions where NumPy's result is of Python objects, which there are none of here.
OBJECTS = {("polyint", "k"), ("histogramdd", "bins")}
#: Keywords that promise what does not hold here: elements are not unique, arrays not sorted.
PROMISES = {"assume_unique", "sorter", "overwrite_input"}
#: In NumPy quantiles of integers are integers where an option is no bool.
OF_INTEGERS = {"quantile", "nanquantile"}


def convert(value: Any, to: Callable[[Any], Any]) -> Any:
    """A value with its arrays copied by ``to``."""
    if isinstance(value, np.ndarray):
        return to(value)
    if type(value) in (list, tuple):
        return type(value)(convert(part, to) for part in value)
    return value


def result(function: Any, args: Any, options: Any, to: Callable[[Any], Any]) -> Any:
    """The result with arrays of NumPy's, or the error."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(function(*convert(args, to), **{k: convert(v, to) for k, v in options}))
    except Exception as error:
        return error


def plain(value: Any) -> Any:
    """A result as an array, a list of such, or a class for anything else."""
    if isinstance(value, (tt.Tensor, tnp.ndarray, np.ndarray, np.generic, int, float, complex)):
        return np.asarray(value.detach() if isinstance(value, tt.Tensor) else value)
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    return value if isinstance(value, (str, type(None))) else object


def is_same(one: Any, other: Any) -> bool:
    """Whether two results are, with shapes and dtypes."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype.kind not in "biufc":
            return one.tolist() == other.tolist()
        same = one.shape == other.shape and one.dtype == other.dtype
        return same and np.allclose(one, other, equal_nan=True)
    return type(one) is type(other) and bool(one is other or one == other)


def keywords() -> Iterator[tuple[str, Any, Any, tuple[Any, ...], str]]:
    """Function, its counterpart, positional arguments that it accepts, and a keyword."""
    for prefix, theirs, ours in SPACES:
        for name in sorted(set(dir(theirs)) - LEFT_OUT):
            function, own = getattr(theirs, name), getattr(ours, name, None)
            if name.startswith("_") or isinstance(function, type) or not callable(function):
                continue
            try:
                parameters = inspect.signature(function).parameters.values()
            except (TypeError, ValueError):
                continue
            if own is None:
                continue
            for args in ARGUMENTS:
                if isinstance(function, np.ufunc) and len(args) > function.nin:
                    continue  # The last ones are written to.
                if isinstance(result(function, args, (), np.array), Exception):
                    continue
                placed = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
                named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
                for key in (*placed[len(args) :], *named):
                    known = key in PROMISES or (name, key) in OBJECTS
                    if key not in ("out", "like", "where") and not known:
                        yield prefix + name, function, own, args, key


def test_keyword_values_of_every_kind_have_numpys_outcome() -> None:
    chosen = random.Random(20)
    wrong, count = [], 0
    for name, function, own, args, key in keywords():
        for value in VALUES:
            if chosen.random() >= PART or (isinstance(value, (set, dict)) and "ax" not in key):
                continue
            want = result(function, args, [(key, value)], np.array)
            if isinstance(want, Exception) or getattr(want, "dtype", 0) == np.dtype(object):
                continue
            count += 1
            got = result(own, args, [(key, value)], tnp.array)
            if name in OF_INTEGERS and np.asarray(want).dtype.kind == "i":
                continue
            if isinstance(got, Exception) or not is_same(want, got):
                wrong.append(f"{name}({key}={value!r}): {got!r}, not {want!r}"[:300])
    assert count > 500
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("distance", [1j, np.array([0.5, 1.0, 2.0]), np.array(0.5), True])
def test_fft_frequencies_accept_numpys_sample_spacings(name: str, distance: Any) -> None:
    n = 5 if name == "rfftfreq" else 3
    want = getattr(np.fft, name)(n, distance)
    got = getattr(tnp.fft, name)(n, convert(distance, tnp.array))
    np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("compute_uv", [True, False])
def test_svd_of_hermitian_matrices_is_numpys(compute_uv: bool) -> None:
    matrix = np.array([[1.0, 9.0, 0.0], [2.0, -5.0, 1.0], [0.0, 1.0, 3.0]])  # one triangle counts
    want = np.linalg.svd(matrix, compute_uv=compute_uv, hermitian=True)
    got = tnp.linalg.svd(tnp.array(matrix), compute_uv=compute_uv, hermitian=True)
    if not compute_uv:
        np.testing.assert_allclose(np.asarray(got), want)
        return
    u, s, vh = map(np.asarray, got)
    np.testing.assert_allclose(s, want[1])
    np.testing.assert_allclose((u * s) @ vh, (want[0] * want[1]) @ want[2], atol=1e-12)
