"""``tinytorch.numpy`` as a namespace: what it lists, protocols, files, ``out=`` and ``where=``."""

from __future__ import annotations

import ast
import inspect
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.fresh import run
from tests.numpy import names

STUBS = Path(__file__).parents[2] / "stubs" / "tinytorch"
#: Values, not functions.
PLAIN = """False_ True_ bool bool_ c_ cdouble complex128 complex64 double dtype e errstate
    euler_gamma finfo float16 float32 float64 half iinfo index_exp inf int16 int32 int64 int8 int_
    intp long mgrid nan ndarray newaxis ogrid pi r_ s_ short single uint16 uint32 uint64 uint8
    vectorize""".split()
#: The library's own that are forwarded, being no mathematics of tensors.
FORWARDED = ("from_dlpack", "typename")
FUNCTIONS = [name for name in names.ANSWERED if name not in (*PLAIN, *FORWARDED)]
#: NumPy's own, which it documents.
OF_HOST = """can_cast common_type isdtype isscalar issubdtype min_scalar_type promote_types
    result_type""".split()
#: They hand keywords to the function they are given.
PASSING_ON = ("apply_along_axis", "fromfunction")
OWN = (*names.WANTED, *names.STANDARD_ONLY)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_says_what_it_does(name: str) -> None:
    function = getattr(tnp, name)
    assert inspect.getdoc(function)
    if name in OF_HOST:
        assert function.__wrapped__ is getattr(np, name)
        return
    assert inspect.signature(function).return_annotation is not inspect.Signature.empty
    assert function.__module__.startswith("tinytorch")


@pytest.mark.parametrize("name", [name for name in OWN if name in FUNCTIONS])
def test_function_of_the_top_level_shows_its_use(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(tt, name)) or "")
    assert "**kwargs" not in str(inspect.signature(getattr(tt, name))) or name in PASSING_ON


@pytest.mark.parametrize("stub", ["__init__.pyi", "numpy/__init__.pyi"])
def test_each_stub_declares_every_name(stub: str) -> None:
    declared = set()
    for node in ast.parse((STUBS / stub).read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            declared.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            declared.add(ast.unparse(node.target))
        elif isinstance(node, ast.Assign):
            declared.add(ast.unparse(node.targets[0]))
        elif isinstance(node, ast.ImportFrom):
            declared.update(alias.asname for alias in node.names if alias.asname)
    wanted = OWN if stub == "__init__.pyi" else names.ANSWERED
    assert [n for n in wanted if n not in declared and n not in FORWARDED] == []


def test_dir_lists_every_name() -> None:
    assert [n for n in names.ANSWERED if n not in (*dir(tnp), *FORWARDED)] == []


@pytest.mark.parametrize("name", names.OUT_OF_SCOPE)
def test_names_out_of_scope_are_forwarded_to_numpy_or_missing(name: str) -> None:
    """Functions and classes are forwarded to the library as they are; values are not here."""
    with tt.backend_context("numpy"):
        theirs = getattr(np, name, None)
        if isinstance(theirs, type):
            assert getattr(tt, name) is theirs
        elif callable(theirs) and name in np.__all__:
            assert getattr(tt, name).__wrapped__ is theirs
        else:
            assert not hasattr(tt, name)


def test_misspelt_name_says_what_was_meant() -> None:
    with pytest.raises(AttributeError, match="Did you mean: 'linspace'"):
        tnp.linspacee


# -- what NumPy's functions do with tensors ------------------------------------------------------

X = [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x), lambda x: np.mean(x, axis=0), lambda x: np.max(x, axis=1),
        lambda x: np.std(x), lambda x: np.exp(x), lambda x: np.ones((2, 3)) * x,
        lambda x: np.float64(2) * x, lambda x: np.concatenate([x, x]), lambda x: np.dot(x, x.T),
        lambda x: np.add.reduce(x), lambda x: np.maximum.reduce(x, axis=1),
        lambda x: np.add.accumulate(x), lambda x: np.multiply.outer(x[0], x[1]),
        lambda x: np.linalg.norm(x), lambda x: np.where(x > 2, x, 0), lambda x: np.sort(x),
        lambda x: np.ones((4, 2)) @ x, lambda x: np.stack([x, x]), lambda x: np.pad(x, 1),
        lambda x: np.einsum("ij->j", x), lambda x: np.clip(x, 2, 5), lambda x: np.ptp(x, axis=0),
        lambda x: np.fft.ifft(np.fft.fft(x)).real, lambda x: np.subtract(x, 1),
    ],
)  # fmt: skip
def test_numpys_function_of_tensors_is_recorded(call: Any) -> None:
    x = tt.tensor(X, dtype=tt.float64, requires_grad=True)
    found = call(x)
    assert isinstance(found, tt.Tensor) and found.requires_grad
    wanted = call(np.array(X))
    assert found.dtype.name == wanted.dtype.name
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-12)


def test_a_forwarded_function_returns_numpys_values_and_warns_of_the_lost_gradient() -> None:
    x, file = tt.tensor([1.0, 2.0, 4.0]), io.StringIO()
    np.savetxt(file, x)
    assert np.loadtxt(file.getvalue().splitlines()).tolist() == [1, 2, 4]
    with pytest.warns(UserWarning, match="no gradient flows"):
        np.savetxt(file, x.requires_grad_())
    np.savetxt(file, x)  # which has been said


def test_a_forwarded_ufunc_returns_a_tensor_and_refuses_gradients() -> None:
    x = tt.tensor([1.0, 2.0, 4.0])
    spacing = np.spacing(x)
    assert isinstance(spacing, tt.Tensor)
    np.testing.assert_array_equal(spacing.numpy(), np.spacing(x.numpy()))
    with pytest.raises(RuntimeError, match="requires grad"):
        np.spacing(x.requires_grad_())


def test_array_is_written_to_as_an_array() -> None:
    array = np.zeros(2)
    array += tt.ones(2)
    np.add(array, tt.ones(2), out=array)
    np.copyto(array[:1], tt.tensor([7.0]))
    assert type(array) is np.ndarray and array.tolist() == [7.0, 2.0]


def test_namespace_of_tensors_is_numpys() -> None:
    assert tnp.ones(2).__array_namespace__() is tnp
    assert tnp.ones(2).__array_namespace__(api_version="2023.12") is tnp
    assert isinstance(tt.ones(2).__array_namespace__().zeros(2), tt.Tensor)
    with pytest.raises(ValueError, match="'1999.1' is not supported"):
        tt.ones(2).__array_namespace__(api_version="1999.1")
    info = tnp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == np.dtype("float64")
    of_tensors = tt.ones(2).__array_namespace__().__array_namespace_info__()
    assert of_tensors.default_dtypes()["real floating"] is tt.float64
    assert of_tensors.default_device() == tt.ones(2).device
    assert set(info.dtypes(kind="signed integer")) == {"int8", "int16", "int32", "int64"}
    assert info.default_device() == tnp.ones(2).device and info.default_device() in info.devices()


# -- keywords of elementwise functions -----------------------------------------------------------


def test_ufuncs_accept_out_where_and_dtype() -> None:
    x, out = tnp.array([1.0, 4.0]), tnp.zeros(2)
    assert tnp.sqrt(x, out=out) is out and out.tolist() == [1, 2]
    tnp.add(x, 10, out=out, where=[True, False])
    assert out.tolist() == [11, 2]
    assert tnp.add(x, 1, dtype="float32").dtype == tt.float32
    assert tnp.sum(x, out=tnp.zeros(())).item() == 5
    with pytest.raises(ValueError, match="output|broadcast"):
        tnp.add(x, 1, out=tnp.zeros(3))
    with pytest.raises(TypeError, match="must be Tensors"):
        tnp.add(x, 1, out=[0, 0])  # type: ignore[arg-type]


def test_writing_refuses_what_is_no_tensor() -> None:
    with pytest.raises(TypeError, match=r"place\(\): .*Tensor.*list"):
        tnp.place([1, 2], [True, False], [3])


def test_place_is_recorded_for_gradients() -> None:
    values = tt.tensor([5.0, 6.0], requires_grad=True)
    target = tt.zeros(3)
    tt.place(target, [True, False, True], values)
    (target * tt.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert values.grad is not None and values.grad.tolist() == [1, 3]


# -- files and states ----------------------------------------------------------------------------


def test_saved_files_are_numpys(tmp_path: Path) -> None:
    x = tnp.array([[1.5, 2], [3, 4]])
    tnp.save(tmp_path / "x.npy", x)
    assert np.load(tmp_path / "x.npy").tolist() == x.tolist()
    assert tnp.load(tmp_path / "x.npy").tolist() == x.tolist()
    for save in (tt.savez, tt.savez_compressed, tnp.savez):
        file = io.BytesIO()
        save(file, x, named=[1, 2])
        file.seek(0)
        with tnp.load(file) as archive:
            assert archive.files == ["named", "arr_0"] and len(archive) == 2
            assert tnp.array_equal(archive["arr_0"], x) and archive["named"].tolist() == [1, 2]


def test_floating_point_errors_are_treated_as_asked() -> None:
    with tt.backend_context("numpy"):
        x = tt.ones(1)
        with tt.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
            x / 0

        @tt.errstate(all="raise")
        def root() -> Any:
            return (-x).sqrt()

        with pytest.raises(FloatingPointError, match="invalid value"):
            root()
        assert (x / 0).isinf().all()


def test_printing_options_are_numpys() -> None:
    with tnp.printoptions(precision=1):
        assert repr(tnp.array([0.25])) == repr(np.array([0.25])) == "array([0.2])"


def test_from_dlpack_accepts_numpys_arrays() -> None:
    with tt.backend_context("numpy"):
        array = np.arange(3.0)
        assert tt.from_dlpack(array).tolist() == [0, 1, 2]


def test_elements_of_tensors_are_stacked_with_their_gradient() -> None:
    a, b = tt.tensor(2.0, requires_grad=True), tt.tensor(3.0, requires_grad=True)
    (tnp.array([[a, b], [b, 1.0]]) * tnp.array([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert a.grad is not None and b.grad is not None
    assert (a.grad.item(), b.grad.item()) == (1, 5)


@pytest.mark.parametrize("call", [
    lambda: tnp.zeros(2), lambda: tnp.array([1.0]), lambda: tnp.linspace(0, 1),
    lambda: tnp.add(1, 2), lambda: tnp.hamming(5), lambda: tnp.mgrid[0:2], lambda: tnp.r_[1, 2],
    lambda: tnp.fromiter(range(2), int), lambda: tnp.indices((2,)), lambda: tnp.full(2, 1.0),
])  # fmt: skip
def test_creation_follows_the_active_backend(call: Any) -> None:
    assert call().backend.name == tt.get_backend()


@pytest.mark.parametrize("first", ["tinytorch.numpy as np; np.{}", "tinytorch as tt; tt.ndarray"])
@pytest.mark.parametrize("name", ["ndarray", "ufunc"])
def test_a_class_comes_before_the_module_it_is_in(first: str, name: str) -> None:
    def program(line: str, name: str) -> None:
        exec(line)
        import tinytorch.numpy as np

        print(getattr(np, name))

    assert run(program, f"import {first.format(name)}", name).startswith("<class ")


def test_names_whose_value_is_none_are_names() -> None:
    namespace = tt.ones(1).__array_namespace__()
    for module in (namespace, tnp, tt):
        assert module.newaxis is None and hasattr(module, "newaxis")
        assert {"newaxis", "pi", "e", "inf", "nan"} <= set(dir(module))
        exec(f"from {module.__name__} import newaxis", {})
