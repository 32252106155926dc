"""pandas with arrays and tensors as keys, masks, groupers and values; NumPy's are the oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.fresh import run

pd = pytest.importorskip("pandas")

KEYS, MASK = np.array([0, 1, 0, 1]), np.array([True, False, True, False])
PLACES, LABELS, VALUES = np.array([2, 0]), np.array([11, 13]), np.array([1.5, 2.5, 3.5, 4.5])
COLUMNS = np.array([True, False, True])


def frame() -> Any:
    columns = {"a": [1.0, 2, 3, 4], "b": [5, 6, 7, 8], "k": [0, 1, 0, 1]}
    return pd.DataFrame(columns, index=[10, 11, 12, 13])


def written(place: str, key: Any, value: Any) -> Any:
    """The frame after ``frame.place[key] = value``."""
    result = frame()
    (getattr(result, place) if place else result)[key] = value
    return result


#: Programs that use arrays made by ``c``.
GETTING: dict[str, Callable[[Any], Any]] = {
    "mask": lambda c: frame()[c(MASK)],
    "loc mask": lambda c: frame().loc[c(MASK)],
    "loc mask, column": lambda c: frame().loc[c(MASK), "a"],
    "loc labels": lambda c: frame().loc[c(LABELS)],
    "loc label": lambda c: frame().loc[c(LABELS)[0]],
    "loc label, column": lambda c: frame().loc[c(LABELS)[0], "b"],
    "loc columns": lambda c: frame().loc[:, c(COLUMNS)],
    "iloc mask": lambda c: frame().iloc[c(MASK)],
    "iloc mask, column": lambda c: frame().iloc[c(MASK), 1],
    "iloc mask, mask": lambda c: frame().iloc[c(MASK), c(COLUMNS)],
    "iloc places": lambda c: frame().iloc[c(PLACES), c(PLACES)],
    "iloc place": lambda c: frame().iloc[c(PLACES)[0]],
    "iloc slice": lambda c: frame().iloc[c(KEYS)[1] : c(PLACES)[0]],
    "at": lambda c: frame().at[c(LABELS)[1], "a"],
    "at of a series": lambda c: frame()["a"].at[c(LABELS)[1]],
    "iat": lambda c: frame().iat[c(KEYS)[1], c(KEYS)[0]],
    "series mask": lambda c: frame()["a"][c(MASK)],
    "series loc": lambda c: frame()["a"].loc[c(MASK)],
    "index mask": lambda c: frame().index[c(MASK)],
    "index places": lambda c: frame().index[c(PLACES)],
    "index of a label": lambda c: frame().index.get_loc(c(LABELS)[0]),
    "label in index": lambda c: c(LABELS)[0] in frame().index,
    "label in range": lambda c: c(LABELS)[0] in pd.RangeIndex(20),
    "column": lambda c: pd.DataFrame({0: [1], 1: [2]})[c(KEYS)[1]],
    "cross section": lambda c: frame().xs(c(LABELS)[0]),
    "head": lambda c: frame().head(c(PLACES)[0]),
    "where": lambda c: frame()["a"].where(c(MASK), c(VALUES)),
    "mask method": lambda c: frame()["a"].mask(c(MASK)),
}
WRITING: dict[str, Callable[[Any], Any]] = {
    "mask": lambda c: written("", c(MASK), 0),
    "loc": lambda c: written("loc", (c(MASK), "a"), c(VALUES)[:2]),
    "iloc": lambda c: written("iloc", (c(MASK), 1), 0),
    "at": lambda c: written("at", (c(LABELS)[0], "a"), c(VALUES)[0]),
    "column": lambda c: written("", "z", c(VALUES)),
    "one number": lambda c: written("", "z", c(VALUES)[0]),
    "assign": lambda c: frame().assign(z=c(VALUES)),
}
MAKING: dict[str, Callable[[Any], Any]] = {
    "number": lambda c: pd.Series(c(VALUES)[0]),
    "number and index": lambda c: pd.Series(c(VALUES)[0], index=[1, 2]),
    "list of numbers": lambda c: pd.Series([*c(VALUES)]),
    "dictionary": lambda c: pd.DataFrame({"x": c(VALUES), "y": c(VALUES)[0]}),
    "list of arrays": lambda c: pd.DataFrame([c(VALUES), c(VALUES)]),
    "categories": lambda c: pd.Series(pd.Categorical(c(KEYS))),
    "multi-index": lambda c: pd.MultiIndex.from_arrays([c(KEYS), c(VALUES)]),
    "time differences": lambda c: pd.to_timedelta(c(PLACES), unit="s"),
    "labels": lambda c: pd.Series(c(VALUES), index=c(KEYS)),
}
COMPUTING: dict[str, Callable[[Any], Any]] = {
    "groupby": lambda c: frame().groupby(c(KEYS)).sum(),
    "groupby two": lambda c: frame().groupby([c(KEYS), c(MASK)]).sum(),
    "groupby of a series": lambda c: frame()["a"].groupby(c(KEYS)).transform("mean"),
    "pivot": lambda c: frame().pivot_table(index=c(KEYS), values="a"),
    "crosstab": lambda c: pd.crosstab(c(KEYS), c(MASK)),
    "set_index": lambda c: frame().set_index(c(KEYS)),
    "set_index two": lambda c: frame().set_index([c(KEYS), c(VALUES)]),
    "merge": lambda c: frame().merge(frame(), left_on=c(KEYS), right_on=c(KEYS)),
    "factorize": lambda c: pd.Series(pd.factorize(c(KEYS))[0]),
    "unique": lambda c: pd.Series(pd.unique(c(KEYS))),
    "clip": lambda c: frame()["a"].clip(c(VALUES)),
    "clip to a number": lambda c: frame()["a"].clip(c(VALUES)[1]),
    "clip rows": lambda c: frame()[["a", "b"]].clip(c(VALUES), axis=0),
    "isin": lambda c: frame()["b"].isin(c(np.array([5, 8]))),
    "replace": lambda c: frame()["b"].replace(c(np.array([5, 6])), 0),
    "fillna": lambda c: pd.Series([1, np.nan]).fillna(c(VALUES)[0]),
    "add": lambda c: frame()["a"] + c(VALUES),
    "add to": lambda c: c(VALUES) + frame()["a"],
    "compare": lambda c: c(VALUES) > frame()["a"],
    "and": lambda c: (frame()["a"] > 1) & c(MASK),
}
PROGRAMS = {
    f"{kind}: {name}": program
    for kind, table in (
        ("get", GETTING), ("write", WRITING), ("make", MAKING), ("compute", COMPUTING)
    )
    for name, program in table.items()
}  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [tnp.array, tt.tensor], ids=["array", "tensor"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_arrays_and_tensors_are_taken_as_numpys(name: str, make: Any) -> None:
    found, wanted = PROGRAMS[name](make), PROGRAMS[name](np.array)
    assert type(found) is type(wanted)
    if isinstance(wanted, pd.DataFrame):
        pd.testing.assert_frame_equal(found, wanted)
    elif isinstance(wanted, pd.Series):
        pd.testing.assert_series_equal(found, wanted)
    elif isinstance(wanted, pd.Index):
        pd.testing.assert_index_equal(found, wanted)
    else:
        assert found == wanted


def test_numbers_that_require_gradients_are_read() -> None:
    loss = tt.tensor(2.5, dtype=tt.float64, requires_grad=True)
    assert pd.Series([loss, loss * 2]).tolist() == [2.5, 5.0]
    with pytest.raises(RuntimeError, match="requires grad"):
        frame().groupby(tt.ones(4, requires_grad=True)).sum()


def test_pandas_may_be_imported_later() -> None:
    def program() -> None:
        import sys

        import tinytorch as tt

        assert "pandas" not in sys.modules
        from importlib import import_module

        pd = import_module("pandas")
        print(pd.Series([5, 6, 7]).iloc[tt.tensor([True, False, True])].tolist())

    assert run(program) == "[5, 7]"


def test_warnings_name_the_line_of_the_program() -> None:
    with pytest.warns(pd.errors.ChainedAssignmentError) as caught:
        frame()["a"].fillna(0, inplace=True)
    assert caught[0].filename == __file__
