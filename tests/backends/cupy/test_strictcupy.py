"""The stand-in for CuPy has teeth: what would fail or wait on a GPU fails or is logged here."""

from __future__ import annotations

import copy
import doctest
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import strictcupy as xp
from strictcupy import MANIFEST, record_syncs

HOST = np.arange(6.0).reshape(2, 3)


@pytest.fixture
def x() -> Any:
    return xp.asarray(HOST)


def host(array: Any) -> np.ndarray:
    return xp.asnumpy(array)


def kinds(function: Callable[[], Any]) -> list[str]:
    """Return the kinds of the transfers and waits inside ``function``."""
    with record_syncs() as log:
        function()
    return [entry.kind for entry in log]


class TestNumpyBehindTheBackend:
    """An op that calls NumPy instead of ``xp``."""

    @pytest.mark.parametrize(
        "call",
        [
            np.sin, np.sum, np.asarray, np.array, np.stack, np.exp, np.where, np.argmax, np.shape,
            np.ascontiguousarray, np.linalg.inv, np.fft.fft, np.result_type, np.isnan, np.copy,
            lambda a: np.add(a, 1), lambda a: np.add(1, a), lambda a: np.add.reduce(a),
            lambda a: np.add.at(a, 0, 1), lambda a: np.matmul(a, a.T),
            lambda a: np.multiply(HOST, a), lambda a: np.concatenate([a, a]),
            lambda a: np.copyto(np.empty((2, 3)), a), lambda a: np.array([a[0], a[1]]),
            lambda a: np.float64(1.0).__add__(a) + np.sin(a),
        ],
    )  # fmt: skip
    def test_numpy_functions_called_on_cupy_arrays_raise(
        self, x: Any, call: Callable[[Any], Any]
    ) -> None:
        with pytest.raises(TypeError):
            call(x)

    def test_the_error_of_implicit_conversion_suggests_get(self, x: Any) -> None:
        with pytest.raises(TypeError, match=r"Implicit conversion .* use `\.get\(\)`"):
            np.asarray(x)

    def test_there_is_no_buffer_and_no_interface(self, x: Any) -> None:
        with pytest.raises(TypeError):
            memoryview(x)
        assert not hasattr(x, "__array_interface__")
        assert not isinstance(x, np.ndarray)


class TestMixedArrays:
    @pytest.mark.parametrize(
        "call",
        [
            lambda a: a + HOST, lambda a: HOST + a, lambda a: a * HOST, lambda a: HOST @ a.T,
            lambda a: a @ HOST.T, lambda a: a == HOST, lambda a: HOST < a, lambda a: a ** HOST,
            lambda a: xp.add(a, HOST), lambda a: xp.maximum(HOST, a), lambda a: xp.sin(HOST),
            lambda a: xp.sum(HOST), lambda a: xp.stack([a, HOST]), lambda a: xp.dot(a, HOST.T),
            lambda a: xp.where(a > 0, a, HOST), lambda a: xp.add(a, a, out=HOST),
            lambda a: xp.sum(a, axis=0, out=np.empty(3)), lambda a: a.clip(0, HOST),
        ],
    )  # fmt: skip
    def test_operations_on_cupy_and_numpy_arrays_raise(
        self, x: Any, call: Callable[[Any], Any]
    ) -> None:
        with pytest.raises(TypeError, match="Unsupported type <class 'numpy.ndarray'>"):
            call(x)

    @pytest.mark.parametrize("other", [[1.0, 2.0, 3.0], (1.0, 2.0, 3.0), None, "a"])
    def test_ufuncs_take_no_sequences(self, x: Any, other: Any) -> None:
        with pytest.raises(TypeError, match="Unsupported type"):
            xp.add(x, other)

    @pytest.mark.parametrize("name", ["sum", "mean", "reshape", "transpose", "cumsum", "sort"])
    def test_functions_take_no_lists_for_arrays(self, name: str) -> None:
        with pytest.raises((TypeError, AttributeError)):
            getattr(xp, name)([1.0, 2.0])

    @pytest.mark.parametrize("scalar", [2, 2.0, True, np.float32(2), np.int64(2)])
    def test_scalars_may_be_mixed_in(self, x: Any, scalar: Any) -> None:
        assert np.array_equal(host(x * scalar), HOST * scalar)
        assert np.array_equal(host(scalar * x), scalar * HOST)

    def test_host_values_are_not_assigned_to_slices(self, x: Any) -> None:
        with pytest.raises(ValueError, match="cannot be used for fill"):
            x[0] = HOST[0]


class TestMissingNamesAndKeywords:
    @pytest.mark.parametrize("name", ["errstate", "geomspace", "insert", "nditer", "vecdot"])
    def test_a_function_that_cupy_lacks_raises_attribute_error(self, name: str) -> None:
        assert hasattr(np, name)
        with pytest.raises(AttributeError, match=f"module 'cupy' has no attribute '{name}'"):
            getattr(xp, name)

    def test_every_missing_name_is_missing(self) -> None:
        for namespace, module in (("cupy", xp), ("cupy.linalg", xp.linalg), ("cupy.fft", xp.fft)):
            missing = MANIFEST["namespaces"][namespace]["missing"]
            assert not [name for name in missing if hasattr(module, name)]

    @pytest.mark.parametrize("name", "sum prod max min mean std var any all".split())
    @pytest.mark.parametrize("keyword", ["where", "initial"])
    def test_reductions_take_no_where_and_no_initial(self, x: Any, name: str, keyword: str) -> None:
        for reduction in (lambda **k: getattr(xp, name)(x, **k), getattr(x, name)):
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{keyword}'"):
                reduction(**{keyword: x > 0})

    @pytest.mark.parametrize("keyword", ["where", "order", "subok", "signature"])
    def test_ufuncs_take_out_dtype_and_casting_alone(self, x: Any, keyword: str) -> None:
        with pytest.raises(TypeError, match="Wrong arguments"):
            xp.add(x, x, **{keyword: True})

    def test_parameters_have_their_cupy_names(self, x: Any) -> None:
        assert xp.flip(a=x, axis=0).shape == (2, 3)
        with pytest.raises(TypeError, match="'m'"):
            xp.flip(m=x, axis=0)
        with pytest.raises(TypeError, match="'arrays'"):
            xp.concatenate(arrays=[x, x])
        with pytest.raises(TypeError, match="'mode'"):
            xp.take(x, xp.asarray([0]), mode="clip")

    @pytest.mark.parametrize("name", ["ctypes", "setflags", "resize", "__array_namespace__"])
    def test_array_attributes_that_cupy_lacks_raise_attribute_error(
        self, x: Any, name: str
    ) -> None:
        with pytest.raises(AttributeError):
            getattr(x, name)

    def test_at_is_for_few_ufuncs_and_dtypes(self) -> None:
        target, index = xp.zeros(3), xp.asarray([0, 0, 2])
        xp.add.at(target, index, 1.0)
        assert host(target).tolist() == [2, 0, 1]
        with pytest.raises(NotImplementedError, match=r"cupy_multiply\.at"):
            xp.multiply.at(target, index, 2.0)
        for dtype in ("bool", "int8", "int16", "complex64"):
            with pytest.raises(TypeError, match=r"cupy\.add\.at only supports"):
                xp.add.at(xp.zeros(3, dtype), index, xp.ones(3, dtype))

    def test_reduce_is_for_two_ufuncs(self, x: Any) -> None:
        assert xp.add.reduce(x).shape == (3,)
        with pytest.raises(NotImplementedError, match=r"`cupy_maximum\.reduce`"):
            xp.maximum.reduce(x)

    def test_generators_lack_the_methods_that_cupys_lack(self) -> None:
        generator = xp.random.default_rng(0)
        assert generator.random(3).shape == (3,)
        for name in ("normal", "permutation", "shuffle", "choice"):
            assert not hasattr(generator, name)

    def test_sorting_has_one_algorithm(self, x: Any) -> None:
        with pytest.raises(ValueError, match="kind can only be None or 'stable'"):
            xp.sort(x, kind="quicksort")

    def test_compiling_a_kernel_raises_not_implemented(self) -> None:
        for name, make in {
            "RawKernel": lambda: xp.RawKernel("", "name"),
            "kernels": lambda: xp.RawModule(code=""),
            "kernels ": lambda: xp.ElementwiseKernel("T x", "T y", "y = x", "mine"),
        }.items():
            with pytest.raises(NotImplementedError, match=name.strip()):
                make()

    def test_elementwise_kernels_follow_the_memory_order(self) -> None:
        source = "typedef float T;\n__global__ void softmax(const T* x, T* out, long long n)"
        softmax = xp.RawModule(code=source).get_function("softmax")
        x, out = xp.asarray(np.eye(2, 3, dtype="f4")), xp.empty((2, 3), "f4")
        softmax((2,), (32,), (x, out, 3))
        np.testing.assert_allclose(out.get().sum(1), 1, rtol=1e-6)
        for wrong in (x.T, x.astype("f8"), xp.zeros((2, 2), "f4")):
            with pytest.raises(ValueError, match="a kernel"):
                softmax((2,), (32,), (wrong, out, 3))
        with pytest.raises(ValueError, match="configuration"):
            softmax((0,), (32,), (x, out, 3))


class TestDtypes:
    @pytest.mark.parametrize("dtype", ["object", "str", "longdouble", "clongdouble", "M8[s]"])
    def test_dtypes_that_cupy_lacks_are_refused(self, dtype: str, x: Any) -> None:
        for make in (xp.zeros, xp.empty, lambda shape, dtype: x.astype(dtype)):
            with pytest.raises(ValueError, match="Unsupported dtype"):
                make(2, dtype)

    @pytest.mark.parametrize("name", ["bool", "uint8", "int64", "uint64", "float16", "complex128"])
    def test_dtypes_that_cupy_has_are_accepted(self, name: str) -> None:
        assert xp.ones(2, name).dtype == np.dtype(name)

    def test_a_ufunc_has_only_the_loops_of_the_manifest(self) -> None:
        with pytest.raises(TypeError):
            xp.left_shift(xp.ones(2), 1)

    @pytest.mark.parametrize(
        ("dtype", "scalar"),
        [("float32", 2.5), ("uint8", 1), ("int32", 2.5), ("int64", 1j), ("bool", 1)],
    )
    def test_python_scalars_do_not_decide_the_result_dtype(self, dtype: str, scalar: Any) -> None:
        expected = (np.ones(2, dtype) + scalar).dtype
        assert (xp.ones(2, dtype) + scalar).dtype == expected
        assert xp.add(xp.ones(2, dtype), scalar).dtype == expected


class TestZeroDimensionalResults:
    @pytest.mark.parametrize(
        "call",
        [
            lambda a: a.sum(), lambda a: xp.sum(a), lambda a: a.max(), lambda a: a[0, 0],
            lambda a: xp.dot(a[0], a[0]), lambda a: xp.argmax(a), lambda a: xp.allclose(a, a),
            lambda a: xp.count_nonzero(a), lambda a: xp.linalg.norm(a), lambda a: a[0, 0] + 1,
            lambda a: xp.array_equal(a, a), lambda a: xp.sin(a[0, 0]), lambda a: a[0] @ a[0],
            lambda a: xp.trace(a), lambda a: xp.einsum("ij,ij", a, a), lambda a: a.mean(),
        ],
    )  # fmt: skip
    def test_a_reduction_to_a_scalar_returns_a_zero_dimensional_array(
        self, x: Any, call: Callable[[Any], Any]
    ) -> None:
        result = call(x)
        assert type(result) is xp.ndarray
        assert result.shape == ()

    def test_an_element_is_a_view(self, x: Any) -> None:
        element = x[1, 2]
        x[1, 2] = 100.0
        assert element.item() == 100.0
        assert element.base is x

    def test_a_zero_dimensional_array_is_not_accepted_as_an_index(self, x: Any) -> None:
        with pytest.raises(TypeError):
            range(x[0, 1])
        with pytest.raises(TypeError):
            [1, 2][x[0, 1]]


class TestSynchronisation:
    @pytest.mark.parametrize(
        ("call", "kind"),
        [
            (lambda a: a.sum().item(), "item"), (lambda a: float(a.sum()), "float"),
            (lambda a: int(a.sum()), "int"), (lambda a: bool(a.sum()), "bool"),
            (lambda a: complex(a.sum()), "complex"), (lambda a: a.tolist(), "tolist"),
            (lambda a: a.get(), "get"), (lambda a: xp.asnumpy(a), "asnumpy"),
            (lambda a: a[a > 2], "mask"), (lambda a: a.__setitem__(a > 2, 0.0), "mask"),
            (lambda a: a.nonzero(), "nonzero"), (lambda a: xp.unique(a), "unique"),
            (lambda a: repr(a), "repr"), (lambda a: f"{a.sum()}", "repr"),
            (lambda a: xp.asarray(HOST), "upload"), (lambda a: a[[0, 1]], "upload"),
            (lambda a: pickle.dumps(a), "get"), (lambda a: 1 if a.sum() > 0 else 2, "bool"),
            (lambda a: math.sqrt(a.sum()), "float"), (lambda a: xp.where(a), "nonzero"),
            (lambda a: xp.cuda.Device().synchronize(), "synchronize"),
        ],
    )  # fmt: skip
    def test_a_call_that_waits_for_the_device_is_logged(
        self, x: Any, call: Callable[[Any], Any], kind: str
    ) -> None:
        assert kind in kinds(lambda: call(x))

    @pytest.mark.parametrize(
        "call",
        [
            lambda a: (a + 1) * 2 - a, lambda a: a.sum(axis=0).reshape(3, 1), lambda a: a[0, 1:],
            lambda a: xp.where(a > 2, a, 0.0), lambda a: a @ a.T, lambda a: a.shape + a.strides,
            lambda a: xp.concatenate([a, a]), lambda a: a.__setitem__(0, 5.0), len,
            lambda a: xp.take(a, xp.arange(2), axis=1), lambda a: a.astype("float32"),
            lambda a: xp.zeros(3), lambda a: copy.deepcopy(a), lambda a: a[xp.arange(2)],
        ],
    )  # fmt: skip
    def test_computing_does_not_wait(self, x: Any, call: Callable[[Any], Any]) -> None:
        assert kinds(lambda: call(x)) == []

    def test_the_log_names_the_file_that_waited(self, x: Any) -> None:
        with record_syncs() as log:
            x.sum().item()
        assert log[0].where.rpartition(":")[0].endswith("test_strictcupy.py")

    def test_recordings_nest_and_end(self, x: Any) -> None:
        with record_syncs() as outer:
            with record_syncs() as inner:
                pass
            x.tolist()
        x.tolist()
        assert len(outer) == 1
        assert inner == []


class TestIndexing:
    def test_out_of_bounds_index_arrays_wrap(self, x: Any) -> None:
        index = xp.asarray([0, 5, -7])
        assert np.array_equal(host(x[index]), HOST[[0, 1, 1]])
        assert np.array_equal(host(xp.take(x, index, axis=1)), HOST[:, [0, 2, 2]])
        assert np.array_equal(host(x[:, index]), HOST[:, [0, 2, 2]])
        x[xp.asarray([3])] = 9.0
        assert host(x)[1].tolist() == [9, 9, 9]

    def test_take_along_axis_wraps_indices_out_of_bounds(self, x: Any) -> None:
        index = xp.asarray([[4], [3]])
        assert host(xp.take_along_axis(x, index, 1)).tolist() == [[1], [3]]

    def test_out_of_bounds_numbers_raise(self, x: Any) -> None:
        with pytest.raises(IndexError, match="Index 5 is out of bounds for axis 1 with size 3"):
            x[:, 5]

    def test_float_arrays_are_no_indices(self, x: Any) -> None:
        with pytest.raises(IndexError, match="must be of integer or boolean type"):
            x[x]

    @pytest.mark.parametrize(
        "key",
        [0, -1, (0, 1), slice(1), (..., 0), None, (slice(None), None), (0, ..., None), (1, [0, 2]),
         ([0, 1], slice(None)), ([[0], [1]], [[0, 1]])],
        ids=str,
    )  # fmt: skip
    def test_indexing_in_bounds_equals_numpys(self, x: Any, key: Any) -> None:
        expected = HOST[key]
        assert np.array_equal(host(x[key]), expected)
        values = xp.asarray(-np.ones_like(expected))
        changed = HOST.copy()
        changed[key] = -1
        x[key] = values
        assert np.array_equal(host(x), changed)

    def test_the_last_of_several_values_need_not_win(self) -> None:
        x = xp.zeros(3)
        x[xp.asarray([1, 1])] = xp.asarray([5.0, 6.0])
        assert host(x).tolist() == [0, 5, 0]

    @pytest.mark.parametrize(
        "call",
        [
            lambda n: xp.zeros(n), lambda n: xp.zeros((2, n)), lambda n: xp.arange(6).reshape(n, 2),
            lambda n: xp.sum(xp.ones((2, 2)), axis=n), lambda n: xp.reshape(xp.ones(4), (n, 2)),
            lambda n: xp.eye(n), lambda n: xp.ones(4)[:n],
        ],
    )  # fmt: skip
    def test_sizes_given_as_arrays_are_refused(self, call: Callable[[Any], Any]) -> None:
        with pytest.raises(TypeError):
            call(xp.asarray(2))

    def test_boolean_masks_read_and_write_as_in_numpy(self, x: Any) -> None:
        assert np.array_equal(host(x[x > 2]), HOST[HOST > 2])
        x[x > 2] = 0.0
        assert np.array_equal(host(x), np.where(HOST > 2, 0, HOST))


class TestMemory:
    @pytest.mark.parametrize(
        "view",
        [
            lambda a: a.T, lambda a: a.reshape(3, 2), lambda a: a[1:], lambda a: xp.transpose(a),
            lambda a: a.ravel(), lambda a: xp.expand_dims(a, 0), lambda a: xp.split(a, 2)[0],
            lambda a: xp.flip(a, 0), lambda a: xp.diagonal(a), lambda a: a.swapaxes(0, 1),
            lambda a: a.view(),
        ],
    )  # fmt: skip
    def test_views_share_the_memory_of_their_base(self, view: Callable[[Any], Any]) -> None:
        x = xp.zeros((2, 3))
        result = view(x)
        assert result.base is x
        assert xp.may_share_memory(result, x)
        x[...] = 7.0
        assert (host(result) == 7).all()

    def test_a_window_has_no_base(self) -> None:
        x = xp.zeros((2, 3))
        window = xp.lib.stride_tricks.as_strided(x[1], (2,), (8,))
        assert window.base is None and window.data.mem == x.data.mem
        again = xp.ndarray((4,), x.dtype, window.data - 8)
        x[1] = 7.0
        assert host(window).tolist() == [7.0, 7.0] and host(again).tolist() == [0.0, 7.0, 7.0, 7.0]

    def test_a_diagonal_can_be_written_to(self) -> None:
        x = xp.zeros((2, 2))
        xp.diagonal(x)[...] = 1.0
        x.diagonal()[0] = 5.0
        assert host(x).tolist() == [[5, 0], [0, 1]]

    def test_copies_do_not_share_memory(self, x: Any) -> None:
        for result in (x.copy(), x + 0, x[xp.arange(2)], xp.array(x), copy.copy(x), x.flatten()):
            assert result.base is None
            assert not xp.may_share_memory(result, x)

    def test_asarray_and_get_copy_between_host_and_device(self) -> None:
        source = HOST.copy()
        device = xp.asarray(source)
        source[...] = 0
        back = device.get()
        assert np.array_equal(back, HOST)
        back[...] = 0
        assert np.array_equal(host(device), HOST)

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
    def test_empty_floating_point_arrays_hold_nan(self, dtype: str) -> None:
        for array in (xp.empty(3, dtype), xp.empty_like(xp.ones(3, dtype)), xp.ndarray(3, dtype)):
            assert np.isnan(host(array)).all()

    def test_empty_integer_arrays_hold_extreme_values(self) -> None:
        assert host(xp.empty(1, "int32"))[0] == np.iinfo("int32").min
        assert host(xp.empty(1, "uint8"))[0] == 255

    def test_flags_have_no_writeable_attribute(self, x: Any) -> None:
        assert x.flags.c_contiguous
        assert not hasattr(x.flags, "writeable")

    def test_in_place_operators_return_the_same_array(self, x: Any) -> None:
        y = x
        y += 1
        y *= 2.0
        assert y is x
        assert np.array_equal(host(x), (HOST + 1) * 2)
        with pytest.raises(TypeError, match="Cannot cast"):
            whole = xp.arange(3)
            whole += 0.5

    def test_arrays_are_unhashable(self, x: Any) -> None:
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)


class TestOrder:
    """A result lies row by row, unless its order can be asked for."""

    @pytest.mark.parametrize(
        "make",
        [
            lambda t: -t, lambda t: t * 2, lambda t: t > 1, xp.exp, xp.cumsum,
            lambda t: xp.where(t > 1, t, 0.0), lambda t: t.clip(0, 1),
            lambda t: xp.concatenate([t, t]), lambda t: xp.sort(t, axis=0),
            lambda t: xp.stack([t, t], 2).sum(2), lambda t: xp.divmod(t, 2)[1],
        ],
    )  # fmt: skip
    def test_results_of_transposed_arrays_are_row_major_where_cupys_are(
        self, x: Any, make: Any
    ) -> None:
        assert not x.T.flags.c_contiguous
        assert make(x.T).flags.c_contiguous

    @pytest.mark.parametrize(
        "make",
        [xp.zeros_like, lambda t: t.copy("K"), lambda t: t.astype("f4"),
         lambda t: xp.roll(t, 1, 0), lambda t: xp.argsort(t, axis=0)],
    )  # fmt: skip
    def test_memory_order_of_transposed_arrays_is_kept_where_cupy_keeps_it(
        self, x: Any, make: Any
    ) -> None:
        assert make(x.T).flags.f_contiguous and not make(x.T).flags.c_contiguous

    def test_an_elementwise_kernel_returns_row_major_memory_unless_out_is_given(
        self, x: Any
    ) -> None:
        kernel = xp.ElementwiseKernel("T x, bool mask", "T out", "", "tinytorch_mask")
        out = xp.empty_like(x.T)
        assert kernel(x.T, x.T > 1).flags.c_contiguous
        assert kernel(x.T, x.T > 1, out) is out and not out.flags.c_contiguous
        assert (out.get() == np.where(x.T.get() > 1, x.T.get(), 0)).all()
        with pytest.raises(ValueError, match="mismatched"):
            kernel(x.T, x.T > 1, xp.empty_like(x))


def test_complex_division_by_zero_is_nan() -> None:
    z = xp.asarray([1 + 1j, 2 - 1j])
    assert np.allclose((z / z).get(), 1)
    assert np.isnan((z / 0).get().real).all() and np.isnan((z / 0).get().imag).all()


class TestSolvers:
    def test_linalg_failures_are_silent_unless_errstate_raises(self) -> None:
        singular = xp.zeros((2, 2))
        assert np.isnan(host(xp.linalg.inv(singular))).all()
        with xp.cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
            xp.linalg.inv(singular)
        assert xp.cupyx.geterr()["linalg"] == "ignore"

    def test_checking_for_linalg_failures_makes_the_host_wait(self) -> None:
        identity = xp.eye(2)
        assert kinds(lambda: xp.linalg.inv(identity)) == []
        with xp.cupyx.errstate(linalg="raise"):
            assert kinds(lambda: xp.linalg.inv(identity)) == ["linalg.inv"]


@pytest.mark.parametrize(
    "name",
    """sum mean prod std var max min any all argmax argmin cumsum cumprod sort argsort ravel copy
    transpose squeeze abs sin sqrt exp floor isnan sign square negative tanh log1p""".split(),
)
def test_special_functions_of_the_stand_in_equal_numpys(x: Any, name: str) -> None:
    assert np.array_equal(host(getattr(xp, name)(x)), getattr(np, name)(HOST), equal_nan=True)


def test_division_by_zero_is_silent(x: Any) -> None:
    assert np.isinf(host(1.0 / x)[0, 0])
    assert np.isnan(host(xp.log(-x))[0, 1])


def test_the_module_s_example_runs() -> None:
    assert doctest.testmod(xp).attempted == 4
    assert doctest.testmod(xp).failed == 0


def test_every_listed_name_resolves() -> None:
    for name in MANIFEST["namespaces"]["cupy"]["names"]:
        getattr(xp, name, None)
        assert hasattr(xp, name), name
