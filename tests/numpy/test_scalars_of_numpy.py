"""NumPy's scalar types and dtypes, as ``tinytorch.numpy`` has them."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.calls import words

TYPES = [
    name
    for name in dir(np)
    if isinstance(getattr(np, name), type)
    and issubclass(getattr(np, name), np.generic)
    and name not in ("datetime64", "timedelta64", "record")
]
ABSTRACT = """complexfloating floating generic inexact integer number signedinteger
    unsignedinteger""".split()
#: Of which there are no arrays here.
ALONE = """bytes_ character clongdouble complex256 flexible float128 longdouble object_ str_
    void""".split()
CONCRETE = [name for name in TYPES if name not in (*ABSTRACT, *ALONE)]


@pytest.mark.parametrize("name", CONCRETE)
def test_scalar_type_is_numpys(name: str) -> None:
    ours, theirs = getattr(tnp, name), getattr(np, name)
    assert np.dtype(ours) == np.dtype(theirs)
    assert ours == np.dtype(theirs).type or np.dtype(theirs).char in "qQ"
    assert hash(ours) == hash(np.dtype(ours).type)
    assert tnp.zeros(2, ours).dtype == tnp.zeros(2, theirs).dtype == np.dtype(theirs) == ours
    assert pickle.loads(pickle.dumps(ours)) is ours
    for value in (1, True, "1"):
        assert ours(value).shape == () and ours(value).dtype == np.dtype(theirs)
        assert ours(value).item() == theirs(value).item()
    assert ours([0, 1]).tolist() == theirs([0, 1]).tolist()
    assert ours().item() == theirs().item()


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("other", ["bool", "int8", "uint64", "float32", "float64", "complex64"])
def test_arrays_of_one_element_are_instances_as_numpys_numbers_are(name: str, other: str) -> None:
    ours, theirs = getattr(tnp, name), getattr(np, name)
    wanted = isinstance(np.ones(1, other)[0], theirs)
    if np.dtype("q") == np.dtype("l") and name in ("longlong", "ulonglong"):
        wanted = np.dtype(theirs) == np.dtype(other)
    assert isinstance(tnp.ones(1, other)[0], ours) is wanted
    assert isinstance(np.ones(1, other)[0], ours) is wanted
    assert not isinstance(tnp.ones(1, other), ours) and not isinstance(tt.ones(1)[0], ours)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("other", ["int8", "float32", *ABSTRACT])
def test_subclass_relations_of_scalar_types_are_numpys(name: str, other: str) -> None:
    wanted = issubclass(getattr(np, other), getattr(np, name))
    assert issubclass(getattr(tnp, other), getattr(tnp, name)) is wanted
    if name not in ("longlong", "ulonglong"):
        wanted = np.issubdtype(getattr(np, other), getattr(np, name))
        for lib in (np, tnp):
            assert lib.issubdtype(getattr(tnp, other), getattr(tnp, name)) is wanted
            assert lib.issubdtype(getattr(np, other), getattr(tnp, name)) is wanted


@pytest.mark.parametrize("name", ABSTRACT)
def test_abstract_scalar_types_cannot_be_constructed(name: str) -> None:
    with pytest.raises(TypeError, match="cannot create|cannot be created|abstract"):
        getattr(tnp, name)()


def test_casts_are_recorded_and_keep_the_class() -> None:
    x = tnp.array([1.5, 2.5])
    x.requires_grad = True
    tnp.float32(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1, 1] and x.grad.dtype == np.float64
    assert isinstance(tnp.float32(tt.ones(2)), tt.Tensor)
    assert tnp.int32(x.detach()).tolist() == [1, 2]


@pytest.mark.parametrize("call", [
    lambda lib: lib.uint8(300), lambda lib: lib.int8(-129), lambda lib: lib.array([300], "u1"),
    lambda lib: lib.uint8([-1]), lambda lib: lib.full(2, 300, "u1"),
    lambda lib: lib.zeros(2, "u1").fill(300), lambda lib: lib.asarray(-1, dtype="u4"),
    lambda lib: lib.zeros(2, "u1").__setitem__(0, 300),
    lambda lib: lib.zeros(2, "u1").__setitem__(slice(None), [1, 300]),
])  # fmt: skip
def test_numbers_that_do_not_fit_are_refused(call: Any) -> None:
    for lib in (np, tnp):
        with pytest.raises(OverflowError, match="out of bounds for u?int"):
            call(lib)


def test_writing_nan_to_an_integer_array_is_refused() -> None:
    for lib in (np, tnp):
        with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
            lib.zeros(1, int)[0] = float("nan")


@pytest.mark.parametrize(
    "text", ["f", "d", "l", "q", "<f8", "=i4", "?", "int", "float", "uint8", "F", "complex", "e"]
)
def test_dtypes_are_read_as_numpy_reads_them(text: str) -> None:
    for make in (
        lambda lib: lib.zeros(2, text), lambda lib: lib.array([0, 1], dtype=text),
        lambda lib: lib.arange(3).astype(text), lambda lib: lib.ones(2).sum(dtype=text),
        lambda lib: lib.arange(2, dtype=text), lambda lib: lib.eye(2, dtype=text),
        lambda lib: lib.full(2, 1, text), lambda lib: lib.asanyarray([1], text),
        lambda lib: lib.fromiter([1], text), lambda lib: lib.zeros_like([1], text),
        lambda lib: lib.identity(2, text), lambda lib: lib.tri(2, dtype=text),
    ):  # fmt: skip
        assert make(tnp).dtype.name == make(np).dtype.name


@pytest.mark.parametrize(("dtype", "use"), [
    ("O", "Python objects"), ("U3", "strings"), (bytes, "strings"), ("M8[s]", "dates"),
    ("m8", "times"), ([("x", int)], "array for each field"), (np.longdouble, "use float64"),
    (">f4", "order of bytes"), (np.dtype(">i2"), "order of bytes"),
])  # fmt: skip
def test_numpys_own_dtypes_are_refused(dtype: Any, use: str) -> None:
    for make in (
        lambda: tnp.zeros(2, dtype), lambda: tnp.array([1, 2], dtype=dtype),
        lambda: tnp.ones(2).astype(dtype), lambda: tnp.asarray(tnp.ones(2), dtype),
        lambda: tnp.astype(tnp.ones(2), dtype), lambda: tnp.empty(2, dtype),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=use):
            make()


@pytest.mark.parametrize("value", ["a", ["a", "b"], [1, None], None, [[1], ["b"]], 10**30])
def test_arrays_of_non_numeric_dtypes_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="is NumPy's alone"):
        tnp.array(value)


RULES: list[Any] = [
    lambda lib, a: lib.result_type(a("f4"), 3.0), lambda lib, a: lib.result_type(a("i1"), a("u1")),
    lambda lib, a: lib.result_type(lib.int8, "f2", 1j), lambda lib, a: lib.result_type(a("f4")[0]),
    lambda lib, a: lib.promote_types("i8", "f4"), lambda lib, a: lib.promote_types(lib.bool, "S2"),
    lambda lib, a: lib.can_cast(a("f4").dtype, lib.float64), lambda lib, a: lib.can_cast("f8", int),
    lambda lib, a: lib.common_type(a("i4"), a("f4")), lambda lib, a: lib.common_type(a("F")),
    lambda lib, a: lib.min_scalar_type(-300), lambda lib, a: lib.min_scalar_type(a("u1")[0]),
    lambda lib, a: lib.min_scalar_type(1e50), lambda lib, a: lib.min_scalar_type(a("f4")),
    lambda lib, a: lib.isdtype(a("f4").dtype, "real floating"),
    lambda lib, a: lib.isdtype(lib.int8, (lib.int16, "signed integer")),
    lambda lib, a: lib.issubdtype(a("f4").dtype, lib.floating),
    lambda lib, a: lib.issubdtype(lib.float32, float), lambda lib, a: lib.issubdtype(bool, int),
    lambda lib, a: lib.isscalar(a("f4")[0]), lambda lib, a: lib.isscalar(a("f4")),
    lambda lib, a: lib.isscalar(3.0), lambda lib, a: lib.isscalar("text"),
    lambda lib, a: lib.finfo(a("f4").dtype).eps, lambda lib, a: lib.finfo(lib.float64).max,
    lambda lib, a: lib.iinfo(lib.int8).min, lambda lib, a: lib.iinfo(a("u1")[0].dtype).max,
    lambda lib, a: lib.dtype(lib.float32), lambda lib, a: lib.dtype("f4").type(3),
    lambda lib, a: lib.mintypecode(["d", "F"]), lambda lib, a: lib.typename("d"),
    lambda lib, a: lib.typecodes["AllInteger"],
]  # fmt: skip


@pytest.mark.parametrize("rule", range(len(RULES)))
def test_promotion_and_casting_rules_are_numpys(rule: int) -> None:
    ours = RULES[rule](tnp, lambda kind: tnp.ones(2, kind))
    theirs = RULES[rule](np, lambda kind: np.ones(2, kind))
    assert ours == theirs
    assert isinstance(ours, np.dtype) or not isinstance(theirs, np.dtype)


def test_promotion_rules_accept_arrays_that_require_grad() -> None:
    x = tnp.ones(2)
    x.requires_grad = True
    assert tnp.result_type(x, 1j) == np.complex128
    assert tnp.min_scalar_type(x[0]) == np.min_scalar_type(np.float64(1))


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_limits_are_numpys_in_pythons_numbers(name: str) -> None:
    theirs = np.finfo(name)
    for given in (getattr(tnp, name), tnp.ones(2, name), tnp.ones(1, name)[0], np.dtype(name)):
        ours = tnp.finfo(given)
        for limit in ("eps", "max", "min", "smallest_normal", "tiny", "smallest_subnormal"):
            assert getattr(ours, limit) == getattr(theirs, limit)
            assert type(getattr(ours, limit)) is float
        assert (ours.bits, ours.dtype, ours.nmant) == (theirs.bits, theirs.dtype, theirs.nmant)
        assert repr(ours) == repr(theirs) and ours == tnp.finfo(name) == pickle.loads(
            pickle.dumps(ours)
        )
    with pytest.raises(ValueError, match="not inexact"):
        tnp.finfo(int)


#: What is an index: scalars that functions and methods give, and arrays without dimensions.
INTEGERS: list[Any] = [
    lambda lib, i, f: lib.argmin(f), lambda lib, i, f: f.argmax(), lambda lib, i, f: i[1],
    lambda lib, i, f: next(iter(i)), lambda lib, i, f: i.min(), lambda lib, i, f: lib.sum(i),
    lambda lib, i, f: lib.int64(1), lambda lib, i, f: lib.uint8(1), lambda lib, i, f: lib.add(0, 1),
    lambda lib, i, f: lib.count_nonzero(i), lambda lib, i, f: i[1] + 0, lambda lib, i, f: -i[1],
    lambda lib, i, f: i.flat[1], lambda lib, i, f: lib.array(1)[()], lambda lib, i, f: lib.array(1),
    lambda lib, i, f: lib.asarray(1), lambda lib, i, f: lib.asarray(i[1]),
    lambda lib, i, f: lib.zeros((), int), lambda lib, i, f: i[1, ...],
    lambda lib, i, f: i[1:2].squeeze(), lambda lib, i, f: i[1:2].reshape(()),
    lambda lib, i, f: lib.take(i, 1), lambda lib, i, f: i[1].astype("i4"),
    lambda lib, i, f: lib.array(1.0).astype(int), lambda lib, i, f: lib.where(True, 1, 0),
    lambda lib, i, f: i[1].copy(), lambda lib, i, f: lib.array(1).copy(),
    lambda lib, i, f: lib.dot(i, i), lambda lib, i, f: lib.unique(i)[-1],
    lambda lib, i, f: lib.nonzero(i)[0][0], lambda lib, i, f: lib.unravel_index(1, (3,))[0],
    lambda lib, i, f: divmod(i[1], 1)[0], lambda lib, i, f: lib.bool_(True),
    lambda lib, i, f: lib.array(True), lambda lib, i, f: i.any(), lambda lib, i, f: lib.ptp(i),
    lambda lib, i, f: [n for _, n in lib.ndenumerate(i)][1], lambda lib, i, f: max(i),
    lambda lib, i, f: lib.random.RandomState(0).randint(0, 1), lambda lib, i, f: i[1].T,
    lambda lib, i, f: i[1].real, lambda lib, i, f: lib.array(1).T, lambda lib, i, f: i[1].squeeze(),
]  # fmt: skip
#: Where it stands in the index.
PLACES: list[Any] = [
    lambda k: k, lambda k: (k,), lambda k: (slice(None), k), lambda k: (k, slice(None)),
    lambda k: (k, k), lambda k: (..., k), lambda k: (k, ...), lambda k: (k, None),
    lambda k: (k, [0, 1]), lambda k: (k, slice(None), [0, 1]), lambda k: (slice(None), k, [0]),
    lambda k: (k, k, k), lambda k: [k], lambda k: [0, k], lambda k: slice(k, None),
    lambda k: slice(None, k), lambda k: ([k], slice(None), k), lambda k: (k, k, ...),
]  # fmt: skip


def indexed(lib: Any, integer: Any, place: Any, records: bool) -> Any:
    """What an index gives, and the array after a write to that; or the error's class."""
    i, f = lib.array([0, 1]), lib.array([3.0, 1.0, 2.0])
    v = lib.arange(8.0).reshape(2, 2, 2)
    if lib is tnp and records:
        v.requires_grad = True
        v = v * 1
    try:
        k = integer(lib, i, f)
        part = v[place(k)]
    except (IndexError, TypeError):  # NumPy's subclass of IndexError is its own
        return "no index"
    kinds = isinstance(k, lib.generic), isinstance(part, lib.generic), part.shape
    if not isinstance(part, lib.generic):
        part[...] = -5
    return *kinds, (v.detach() if lib is tnp else v).tolist()


@pytest.mark.parametrize("records", [False, True])
@pytest.mark.parametrize("integer", INTEGERS, ids=words)
def test_scalars_are_integers_where_they_are_an_index(integer: Any, records: bool) -> None:
    for place in PLACES:
        theirs = indexed(np, integer, place, records)
        assert indexed(tnp, integer, place, records) == theirs, words(place)


def _changed_in_place(x: Any) -> tuple[float, bool]:
    y = x
    y += 1
    return float(y), y is x


@pytest.mark.parametrize("use", [
    lambda lib, x: {x: 1}[x.item()], lambda lib, x: len({x, x.item()}),
    lambda lib, x: isinstance(x, lib.generic), lambda lib, x: isinstance(x, lib.number),
    lambda lib, x: lib.isscalar(x), lambda lib, x: _changed_in_place(x),
    lambda lib, x: isinstance(pickle.loads(pickle.dumps(x)), lib.generic),
    lambda lib, x: isinstance(copy.copy(x), lib.generic),
    lambda lib, x: isinstance(copy.deepcopy(x), lib.generic),
    lambda lib, x: isinstance(x.copy(), lib.generic), lambda lib, x: str(x),
    lambda lib, x: isinstance(x, lib.generic) or repr(x), lambda lib, x: f"{x}",
    lambda lib, x: x.base is None,
    lambda lib, x: isinstance(x[()], lib.generic), lambda lib, x: isinstance(x[...], lib.generic),
    lambda lib, x: isinstance(x.reshape(()), lib.generic),
    lambda lib, x: isinstance(x.view(), lib.generic), lambda lib, x: isinstance(x.T, lib.generic),
    lambda lib, x: isinstance(x.real, lib.generic), lambda lib, x: isinstance(-x, lib.generic),
    lambda lib, x: isinstance(x.imag, lib.generic), lambda lib, x: isinstance(x == 1, lib.generic),
    lambda lib, x: isinstance(lib.asarray(x), lib.generic), lambda lib, x: x.is_integer(),
    lambda lib, x: isinstance(lib.float64(x), lib.generic), lambda lib, x: lib.add(1, 2, out=x),
    lambda lib, x: isinstance(x.byteswap(), lib.generic), lambda lib, x: iter(x),
    lambda lib, x: operator.setitem(x, (), 2) or x.tolist(), lambda lib, x: [4, 5, 6][x],
    lambda lib, x: lib.copyto(x, 7) or x.tolist(), lambda lib, x: lib.array([x, x]).shape,
], ids=words)  # fmt: skip
@pytest.mark.parametrize("make", [
    lambda lib: lib.array(1.5), lambda lib: lib.float64(1.5), lambda lib: lib.array([1.5, 2.0])[0],
    lambda lib: lib.sum(lib.array([1.0, 0.5])), lambda lib: lib.array(2), lambda lib: lib.int64(2),
], ids=words)  # fmt: skip
def test_scalars_and_arrays_without_dimensions_behave_as_numpys(make: Any, use: Any) -> None:
    def outcome(lib: Any) -> Any:
        try:
            return use(lib, make(lib))
        except (TypeError, AttributeError) as error:
            return type(error)

    assert outcome(tnp) == outcome(np)
