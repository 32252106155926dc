"""Evaluation of the tables' calls in a library, and the comparison of their results."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.calls import Call, call_with_names, words
from tests.numpy.data import ARRAYS
from tests.oracles import flatten

#: Names of dtypes that calls use as parameters; each has the library's dtype.
KINDS = ("float32", "float64", "int8", "int64")


#: Names that NumPy removed, and those that it still has.
NUMPYS = {"row_stack": "vstack"}
#: Pieces of calls whose behavior is newer than NumPy 2.0, and the version it is of.
SINCE = {
    "cumulative_prod": "2.1", "cumulative_sum": "2.1", "unstack": "2.1", "matvec": "2.2",
    "vecmat": "2.2", "clip(m, min=": "2.1", "reshape(m, shape=": "2.1",
    "clip(h, -300,": "2.1", "dtype='uint8'), -1, 5)": "2.1", "cov(m[:1], rowvar=False)": "2.2",
}  # fmt: skip


def reason_to_skip(text: str) -> str | None:
    """Reason for which this NumPy is too old for the call ``text``, or None."""
    version = np.lib.NumpyVersion(np.__version__)
    newer = [since for piece, since in SINCE.items() if piece in text and version < f"{since}.0"]
    return f"NumPy says so since {max(newer)}, this is {np.__version__}" if newer else None


@dataclass(frozen=True)
class Case:
    """A call with a library ``lib`` and the data as parameters; ``named`` is ``lib.<name>``."""

    call: Call
    name: str = ""

    def __str__(self) -> str:
        return str(words(self.call)).replace("named", f"lib.{self.name}")


def cases(*tables: tuple[Call, str]) -> dict[str, list[Case]]:
    """Cases by the functions' names, from pairs of a call of ``named`` and several names."""
    return {name: [Case(call, name)] for call, names in tables for name in names.split()}


def group_by_name(calls: list[Call]) -> dict[str, list[Case]]:
    """Group calls by the name of the function of ``lib`` that they begin with."""
    found: dict[str, list[Case]] = {}
    for call in calls:
        name = str(words(call)).removeprefix("lib.").partition("(")[0]
        found.setdefault(name, []).append(Case(call))
    return found


def join_tables(*tables: dict[str, list[Case]]) -> dict[str, list[Case]]:
    """Join tables of cases by name; equal cases are listed once."""
    found: dict[str, dict[str, Case]] = {}
    for table in tables:
        for name, listed in table.items():
            found.setdefault(name, {}).update({str(case): case for case in listed})
    return {name: list(listed.values()) for name, listed in found.items()}


def evaluate_in_numpy(case: Case, data: Mapping[str, Any] = ARRAYS) -> Any:
    """Evaluate a case in NumPy; skip the test if this NumPy is too old for it."""
    if (reason := reason_to_skip(str(case))) is not None:
        pytest.skip(reason)
    return evaluate(case, np, data)


class Written:
    """Copies arrays that a function writes into and returns nothing; keeps the last copy."""

    def __init__(self) -> None:
        self.last: Any = None

    def __call__(self, array: Any) -> Any:
        self.last = array.copy()
        return self.last


def evaluate(case: Case, lib: Any, data: Mapping[str, Any]) -> Any:
    """Value of a case in a library; of a function without a result, the array that it wrote."""
    written = Written()
    names = {
        **data, "W": written, "lib": lib, "nan": float("nan"), "floating": np.floating,
        "integer": np.integer, **{kind: getattr(lib, kind) for kind in KINDS},
    }  # fmt: skip
    if case.name:
        names["named"] = getattr(lib, NUMPYS.get(case.name, case.name) if lib is np else case.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of NaNs and empty slices
        value = call_with_names(case.call, names)
    return written.last if value is None and written.last is not None else value


def tensors(data: Mapping[str, Any] = ARRAYS, requires_grad: bool = False) -> dict[str, Any]:
    """The data as tensors."""
    found = {}
    for name, array in data.items():
        found[name] = tt.tensor(array)
        if requires_grad and array.dtype.kind in "fc":
            found[name].requires_grad_()
    return found


def arrays(data: Mapping[str, Any] = ARRAYS) -> dict[str, Any]:
    """The data as arrays."""
    return {name: tnp.asarray(tensor) for name, tensor in tensors(data).items()}


def is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def kind_of(value: Any) -> str:
    return str(getattr(value, "name", None) or np.dtype(value).name)


def assert_same(ours: Any, theirs: Any, dtypes: bool = True, rtol: float = 1e-12) -> None:
    """Compare shapes, values and, if asked for, dtypes; a NumPy number may be a 0-d tensor."""
    mine = flatten(tuple(ours) if isinstance(ours, tt.Size) else ours)  # NumPy's is a tuple
    wanted = flatten(theirs)
    assert len(mine) == len(wanted)
    for a, b in zip(mine, wanted, strict=True):
        if isinstance(b, (np.dtype, type)):
            assert kind_of(a) == np.dtype(b).name
        elif isinstance(b, (str, slice)) or b is None:
            assert a == b
        else:
            assert not is_array(b) or b.dtype.kind not in "US"
            plain = a.detach().__array__() if isinstance(a, (tt.Tensor, tnp.ndarray)) else a
            assert np.shape(plain) == np.shape(b)
            # CUDA's functions are off by units in the last place, as docs/numerics.md says.
            last = 1e-6 if np.asarray(b).dtype.char in "fF" else 0.0
            np.testing.assert_allclose(plain, b, rtol=max(rtol, last), atol=max(rtol, last))
            if dtypes and isinstance(a, (tt.Tensor, tnp.ndarray)) and is_array(b):
                assert a.dtype.name == b.dtype.name
            if isinstance(a, tnp.ndarray) and is_array(b) and not b.shape:
                assert isinstance(a, tnp.generic) is isinstance(b, np.generic)
