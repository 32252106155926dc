"""Names that programs check conditions by and compare with: PyTorch's, and what they answer."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import tinytorch as tt


def result(library: Any, call: Any) -> tuple[str, str]:
    """What a call gives, or the type and text of its error."""
    try:
        return "", repr(call(library)).replace("tinytorch", "torch")
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError) as error:
        return type(error).__name__, str(error).partition(" (Could this error")[0]


CONDITIONS = {
    "_assert": lambda t: t._assert(1 > 0, "no"),
    "_assert fails": lambda t: t._assert(1 < 0, "no"),
    "_assert of a tensor": lambda t: t._assert(t.tensor(False), "none"),
    "_assert_async": lambda t: [t._assert_async(t.tensor(x)) for x in (True, [-2], [[0.5]], 2j)],
    "_assert_async fails": lambda t: t._assert_async(t.tensor([0.0])),
    "_assert_async with a text": lambda t: t._assert_async(t.tensor(0j), assert_msg="none"),
    "_assert_async of two": lambda t: t._assert_async(t.ones(2), "none"),
    "_assert_async of none": lambda t: t._assert_async(t.ones(0)),
    "_assert_async of a bool": lambda t: t._assert_async(True),
    "_assert_async with an int": lambda t: t._assert_async(t.ones(1), 3),
    "_check": lambda t: t._check(True),
    "_check fails": lambda t: t._check(False, lambda: "told"),
    "_check fails without a word": lambda t: t._check(False),
    "_check of an int": lambda t: t._check(3),
    "_check with a text": lambda t: t._check(False, "text"),
    "_check_index": lambda t: t._check_index(False, lambda: 3),
    "_check_value": lambda t: t._check_value(False, lambda: "told"),
    "_check_type": lambda t: t._check_type(False, lambda: "told"),
    "_check_not_implemented": lambda t: t._check_not_implemented(False, lambda: "told"),
    "_check_with": lambda t: t._check_with(ValueError, False, lambda: "x"),
    "_check_tensor_all": lambda t: t._check_tensor_all(t.tensor([True, True])),
    "_check_tensor_all fails": lambda t: t._check_tensor_all(t.tensor([True, False])),
    "_check_tensor_all of a bool": lambda t: t._check_tensor_all(True),
    "_check_tensor_all of floats": lambda t: t._check_tensor_all(t.ones(2)),
    "_check_tensor_all_with": lambda t: t._check_tensor_all_with(
        ValueError, t.tensor([[True, False]]), lambda: "told"
    ),
    "_check_tensor_all_with of all": lambda t: t._check_tensor_all_with(ValueError, t.ones(2) > 0),
    "_check_tensor_all_with of a bool": lambda t: t._check_tensor_all_with(ValueError, True),
}


@pytest.mark.parametrize("case", CONDITIONS)
def test_check_functions_raise_pytorchs_errors(torch: Any, case: str) -> None:
    ours, theirs = (result(library, CONDITIONS[case]) for library in (tt, torch))
    assert ours[0] == theirs[0] and ours[1].replace("tinytorch", "torch") == theirs[1]


@pytest.mark.filterwarnings("ignore:_check_is_size will be removed")
def test_sizes_are_checked(torch: Any) -> None:
    for library in (tt, torch):
        library._check_is_size(3, max=3)
        for wrong in ({"i": -1}, {"i": 3, "max": 2}):
            with pytest.raises(RuntimeError, match="told"):
                library._check_is_size(**wrong, message=lambda: "told")


SYMBOLS = {
    "sym_int": lambda t: (t.sym_int(3.7), t.sym_int(-3.7), t.sym_int(True)),
    "sym_float": lambda t: (t.sym_float(3), t.sym_float(0.5)),
    "sym_not": lambda t: (t.sym_not(True), t.sym_not(False)),
    "sym_max": lambda t: (t.sym_max(1, 2), t.sym_max(2, 1.0), t.sym_max(1.5, 2)),
    "sym_min": lambda t: (t.sym_min(1, 2), t.sym_min(2.0, 1), t.sym_min(1.5, 2)),
    "sym_sqrt": lambda t: (t.sym_sqrt(4), t.sym_sqrt(2.0)),
    "sym_sum": lambda t: (t.sym_sum([1, 2, 3]), t.sym_sum([1])),
    "sym_ite": lambda t: (t.sym_ite(True, 1, 2), t.sym_ite(False, 1, 2)),
    "sizes": lambda t: [isinstance(n, (t.SymInt, t.SymFloat, t.SymBool)) for n in t.ones(2).shape],
}


@pytest.mark.parametrize("case", SYMBOLS)
def test_sym_functions_of_python_numbers_are_pytorchs(torch: Any, case: str) -> None:
    assert result(tt, SYMBOLS[case]) == result(torch, SYMBOLS[case])
    assert result(tt, SYMBOLS[case])[0] == ""


def test_constructing_a_symbolic_number_is_refused() -> None:
    for kind in (tt.SymInt, tt.SymFloat, tt.SymBool):
        with pytest.raises(NotImplementedError, match=f"{kind.__name__}: .* no symbolic numbers"):
            kind(None)


def test_every_layout_of_pytorchs_exists_and_differs_from_strided(torch: Any) -> None:
    names = [n for n in dir(torch) if isinstance(getattr(torch, n), torch.layout) and n[0] != "_"]
    assert "sparse_coo" in names and "jagged" in names
    for name in names:
        layout = getattr(tt, name)
        assert isinstance(layout, tt.layout) and repr(layout) == f"tinytorch.{name}"
        assert pickle.loads(pickle.dumps(layout)) is layout
        assert (tt.ones(2).layout == layout) == (torch.ones(2).layout == getattr(torch, name))
        assert (layout == name) == (getattr(torch, name) == name)
        if name != "strided":
            with pytest.raises(NotImplementedError, match=f"zeros: the layout tinytorch.{name} is"):
                tt.zeros(2, layout=layout)
            for like in (tt.zeros_like, tt.rand_like, tt.randn_like):
                with pytest.raises(NotImplementedError, match=f"layout tinytorch.{name} is"):
                    like(tt.ones(2), layout=layout)
            for call in (lambda: tt.randint_like(tt.ones(2), 3, layout=layout),
                         lambda: tt.normal(0.0, 1.0, (2,), layout=layout)):  # fmt: skip
                with pytest.raises(NotImplementedError, match=f"layout tinytorch.{name} is"):
                    call()
    for library in (tt, torch):
        with pytest.raises(TypeError, match="argument 'layout' must be .*torch.layout, not str"):
            library.zeros(2, layout="strided")


def test_handles_of_hooks_have_their_class() -> None:
    from tinytorch.utils.hooks import RemovableHandle

    handles = [tt.ones(1, requires_grad=True).register_hook(lambda g: None),
               tt.nn.ReLU().register_forward_hook(lambda *a: None)]  # fmt: skip
    assert all(isinstance(handle, RemovableHandle) for handle in handles)


def test_resize_as_is_a_function_too(torch: Any) -> None:
    for library in (tt, torch):
        x = library.arange(4)
        assert library.resize_as_(x, library.zeros(2, 2)) is x and tuple(x.shape) == (2, 2)


@pytest.mark.skipif(
    "config.getoption('--backend') == 'strict'", reason="the stand-in hands its memory to nobody"
)
def test_to_dlpack_is_at_the_top_too(torch: Any) -> None:
    for library in (tt, torch):
        y = library.zeros(2, device="cpu")
        assert library.from_dlpack(library.to_dlpack(y)).data_ptr() == y.data_ptr()
