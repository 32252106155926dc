"""Every public name of NumPy's namespaces is there, or it is said why not."""

from __future__ import annotations

import importlib
import operator
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tinytorch.numpy.namespace import NUMPY_ONLY

#: What NumPy has in its namespaces and here is not, and why.
MISSING = {
    "linalg.test": "runs NumPy's tests",
    "fft.test": "runs NumPy's tests",
    "polynomial.test": "runs NumPy's tests",
    "random.test": "runs NumPy's tests",
    "random.mtrand": "a module that NumPy keeps to itself",
    "random.bit_generator": "a module that NumPy keeps to itself",
    "ndarray.__array_finalize__": "of subclasses, where they define it",
    "ndarray.__array_struct__": "memory for C; __array_interface__ says the same",
    "ndarray.__array_wrap__": "of functions that know no __array_ufunc__",
    "ndarray.__setstate__": "pickles are made anew by a function",
}


def public(module: Any) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that NumPy is about to drop
        return [name for name in dir(module) if not name.startswith("_")]


@pytest.mark.parametrize("name", public(np))
def test_name_is_there_or_numpys_alone(name: str) -> None:
    if name not in NUMPY_ONLY:
        assert hasattr(tnp, name) and name in dir(tnp)
        return
    with pytest.raises(AttributeError, match=f"np.{name}: NumPy alone has .+: "):
        getattr(tnp, name)
    assert name not in dir(tnp) and not hasattr(tnp, name)


def test_names_listed_as_numpys_alone_exist_in_numpy() -> None:
    gone = {"recarray", "record"}
    assert [name for name in NUMPY_ONLY if not hasattr(np, name) and name not in gone] == []


@pytest.mark.parametrize(
    "home", ["linalg", "fft", "random", "emath", "testing", "exceptions", "polynomial"]
)
def test_each_module_has_every_name_of_numpys(home: str) -> None:
    ours, theirs = getattr(tnp, home), getattr(np, home)
    lacking = {name for name in public(theirs) if not hasattr(ours, name)}
    assert lacking == {n.partition(".")[2] for n in MISSING if n.partition(".")[0] == home}


def test_arrays_have_every_member_of_numpys() -> None:
    lacking = {f"ndarray.{name}" for name in dir(np.ndarray) if not hasattr(tnp.ndarray, name)}
    assert lacking == {name for name in MISSING if name.startswith("ndarray.")}


def test_star_import_brings_what_numpys_does() -> None:
    found: dict[str, Any] = {}
    exec("from tinytorch.numpy import *", found)
    assert found["array"]([1.0]).sum() == 1
    assert set(np.__all__) - found.keys() <= NUMPY_ONLY.keys()


@pytest.mark.parametrize(
    "name", ["emath", "testing", "typing", "linalg", "fft", "random", "lib", "polynomial"]
)
def test_module_is_imported_by_name(name: str) -> None:
    assert importlib.import_module(f"tinytorch.numpy.{name}") is getattr(tnp, name)


def test_version_is_numpys() -> None:
    assert tnp.__version__ == np.__version__


# -- NumPy's own functions -----------------------------------------------------------------------

X = [[1.0, 2.0], [3.0, 4.5]]
HOSTED: list[Any] = [
    lambda lib, x: lib.spacing(x), lambda lib, x: lib.base_repr(x.astype(int)[1, 0], 2),
    lambda lib, x: lib.binary_repr(5, 8), lambda lib, x: lib.packbits(x > 2, axis=1),
    lambda lib, x: lib.unpackbits(x.astype("u1")[:, :1], axis=1),
    lambda lib, x: lib.mask_indices(3, lib.triu), lambda lib, x: lib.iterable(x),
    lambda lib, x: lib.iterable(3), lambda lib, x: lib.isfortran(x.T),
    lambda lib, x: lib.einsum_path("ij,jk,kl->il", x, x, x)[0],
    lambda lib, x: lib.loadtxt(["1 2", "3 4"]), lambda lib, x: lib.fromstring("1 2", sep=" "),
    lambda lib, x: lib.genfromtxt(["1,2", "3,"], delimiter=","),
    lambda lib, x: lib.frompyfunc(lambda a, b: a + 2 * b, 2, 1)(x, 1).astype(float),
    lambda lib, x: lib.frompyfunc(operator.add, 2, 1).reduce(x.astype(int), axis=1).astype(int),
    lambda lib, x: list(lib.ndindex(2, 2)), lambda lib, x: list(lib.ndenumerate(x)),
    lambda lib, x: list(lib.broadcast(x, x[0])), lambda lib, x: lib.broadcast(x, x[0, 0]).shape,
    lambda lib, x: lib.apply_over_axes(lib.sum, x, [0, 1]), lambda lib, x: lib.real_if_close(x),
    lambda lib, x: lib.real_if_close(x + 1e-15j), lambda lib, x: lib.real_if_close(x + 1j),
    lambda lib, x: lib.sort_complex(x[0][::-1]), lambda lib, x: lib.sort_complex(x.astype("i1")),
    lambda lib, x: lib.asfortranarray(x).strides, lambda lib, x: lib.asfortranarray(2.0),
    lambda lib, x: lib.require(x, "f4", ["F"]), lambda lib, x: lib.require(x.T, None, "C").strides,
    lambda lib, x: lib.asarray_chkfinite(x), lambda lib, x: lib.from_dlpack(x),
    lambda lib, x: lib.shares_memory(x, x[1:]), lambda lib, x: lib.shares_memory(x[:1], x[1:]),
    lambda lib, x: lib.may_share_memory(x, x.copy()), lambda lib, x: lib.may_share_memory(x, x.T),
    lambda lib, x: lib.frombuffer(b"abcd", lib.uint8), lambda lib, x: lib.frombuffer(bytes(8)),
    lambda lib, x: lib.frombuffer(b"abcd", ">i2").astype(int), lambda lib, x: lib.little_endian,
    lambda lib, x: lib.emath.sqrt(-x), lambda lib, x: lib.emath.log(x - 2.5),
    lambda lib, x: lib.emath.arccos(x), lambda lib, x: lib.emath.arcsin(x / 9),
    lambda lib, x: lib.emath.arctanh(x / 4), lambda lib, x: lib.emath.logn(2, -x),
    lambda lib, x: lib.emath.power([2, 4], -2), lambda lib, x: lib.emath.power(-x, 0.5),
    lambda lib, x: lib.emath.log2(x.astype("f4")), lambda lib, x: lib.emath.log10([-1]),
    lambda lib, x: lib.lib.scimath.sqrt(-1), lambda lib, x: lib.geterr(),
]  # fmt: skip


def assert_same_on_backend(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same_on_backend(a, b)
    elif hasattr(theirs, "dtype"):
        assert isinstance(ours, tnp.ndarray) and ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape and ours.backend.name == tt.get_backend()
        np.testing.assert_allclose(ours.tolist(), theirs, rtol=1e-13)
    else:
        assert type(ours) is type(theirs) and ours == theirs


@pytest.mark.parametrize("call", range(len(HOSTED)))
def test_call_gives_what_numpys_does(call: int) -> None:
    assert_same_on_backend(HOSTED[call](tnp, tnp.array(X)), HOSTED[call](np, np.array(X)))


@pytest.mark.parametrize("call", [
    lambda x: tnp.spacing(x), lambda x: tnp.packbits(x), lambda x: tnp.base_repr(x[0]),
    lambda x: tnp.frompyfunc(abs, 1, 1)(x),
])  # fmt: skip
def test_numpys_own_functions_lose_no_gradient_silently(call: Any) -> None:
    x = tnp.array([1.0, 2.0])
    x.requires_grad = True
    with pytest.raises(RuntimeError, match="NumPy's own function and not differentiable"):
        call(x)


@pytest.mark.parametrize("function", [
    lambda x: tnp.real_if_close(x), lambda x: tnp.emath.sqrt(x), lambda x: tnp.emath.logn(2, x),
    lambda x: tnp.apply_over_axes(tnp.sum, x, [0]), lambda x: tnp.asfortranarray(x) ** 2,
    lambda x: tnp.sort_complex(x[0]).real, lambda x: tnp.asarray_chkfinite(x) * 2,
    lambda x: sum(a * b for a, b in tnp.broadcast(x, x[0])),
    lambda x: sum(value * sum(place) for place, value in tnp.ndenumerate(x)),
])  # fmt: skip
def test_functions_are_recorded_for_gradients(function: Any) -> None:
    x = tt.tensor(X, dtype=tt.float64, requires_grad=True)
    assert tt.autograd.gradcheck(lambda t: tt.as_tensor(function(tnp.asarray(t))), [x])


def test_object_results_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="is NumPy's alone"):
        tnp.frompyfunc(str, 1, 1)([1, 2])


def test_savetxt_loadtxt_tofile_and_fromfile_work_as_numpys(tmp_path: Any) -> None:
    x = tnp.array(X)
    tnp.savetxt(tmp_path / "x.txt", x)
    assert np.loadtxt(tmp_path / "x.txt").tolist() == tnp.loadtxt(tmp_path / "x.txt").tolist() == X
    x.tofile(tmp_path / "x.bin")
    assert_same_on_backend(tnp.fromfile(tmp_path / "x.bin"), np.fromfile(tmp_path / "x.bin"))


def test_floating_point_state_is_numpys() -> None:
    with np.errstate():
        assert tnp.seterr(divide="raise") == np.geterr() | {"divide": "warn"}
        assert tnp.geterr() == np.geterr() and np.geterr()["divide"] == "raise"
        with tt.backend_context("numpy"), pytest.raises(FloatingPointError, match="divide by zero"):
            tnp.ones(1) / 0


def test_ufuncs_and_scalar_types_pickle() -> None:
    for value in (tnp.add, tnp.ndarray, tnp.float64, tnp.ufunc, tnp.float32(3)):
        assert pickle.loads(pickle.dumps(value)) == value


# -- numpy.testing and numpy.typing --------------------------------------------------------------


@pytest.mark.parametrize("lib", [np, tnp], ids=["numpy", "tinytorch"])
def test_testing_compares_arrays(lib: Any) -> None:
    x = lib.array([1.0, 2.0])
    lib.testing.assert_allclose(x, [1, 2 + 1e-9])
    lib.testing.assert_equal(x[0], 1)
    lib.testing.assert_equal({"x": [x, 3]}, {"x": [x, 3]})
    lib.testing.assert_raises(ValueError, lib.reshape, x, (3,))
    with lib.testing.assert_raises_regex(ValueError, "size 2"):
        x.reshape(3)
    for check in ("assert_array_equal", "assert_allclose", "assert_equal", "assert_array_less"):
        with pytest.raises(AssertionError):
            getattr(lib.testing, check)(x, [1, 1])
    with pytest.raises(AssertionError, match="Max absolute difference among violations: 1"):
        lib.testing.assert_array_almost_equal(x, [1, 3])


def test_testing_compares_what_is_in_a_graph() -> None:
    x = tnp.ones(2)
    x.requires_grad = True
    tnp.testing.assert_allclose(x * 2, [2, 2])
    tnp.testing.assert_allclose(tt.ones(2), x)


def test_ndarray_annotations_work_as_numpys() -> None:
    found = tnp.typing.NDArray[tnp.float64]
    assert found.__origin__ is tnp.ndarray
    assert found.__args__[1] == np.dtype[tnp.float64]  # type: ignore[type-arg]
    assert tnp.typing.ArrayLike == np.typing.ArrayLike
    assert tnp.typing.DTypeLike == np.typing.DTypeLike
