"""Names that few programs use: PyTorch's values, gradients and refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare

randn = np.random.randn
pytestmark = pytest.mark.filterwarnings("ignore:at..[a-z]*_norm is deprecated")


def assert_equal_or_errors(call: Any) -> None:
    """Assert that a call gives the same, or an error of the same type, in both libraries."""
    import torch

    found = []
    for library in (tt, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = call(library)
            except (RuntimeError, TypeError, IndexError, ValueError) as error:
                found.append(type(error))
                continue
        if isinstance(value, (library.Tensor, tuple)):
            parts = value if isinstance(value, tuple) else (value,)
            found.append([(np.asarray(p).dtype, np.asarray(p).tolist()) for p in parts])
        else:
            found.append(value)
    assert found[0] == found[1]


# -- ranges ------------------------------------------------------------------------------------

RANGES = [(0, 3), (1, 2, 0.5), (5, 1, -2), (0.5, 3.2), (0, 5, 2.5), (2, 2), (3, 0), (0, 3, 0),
          (0, float("inf"))]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("dtype", [None, "float64", "float16", "int64", "int32", "uint8"])
@pytest.mark.parametrize("bounds", RANGES)
def test_range_is_pytorchs(dtype: Any, bounds: Any) -> None:
    if bounds == (1, 2, 0.5) and "int" in str(dtype):
        pytest.skip("PyTorch divides by the step rounded to 0")
    assert_equal_or_errors(lambda t: t.range(*bounds, dtype=dtype and getattr(t, dtype)))


def test_range_refuses_steps_that_round_to_nothing() -> None:
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="step must be nonzero"):
        tt.range(0, 1, 0.5, dtype=tt.int64)  # on which PyTorch ends the process


def test_range_says_that_it_is_deprecated() -> None:
    with pytest.warns(UserWarning, match="range is deprecated"):
        tt.range(0, 1)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["bool", "complex64"])
def test_range_in_dtypes_without_order_is_pytorchs(dtype: str) -> None:
    assert_equal_or_errors(lambda t: t.range(0, 1, dtype=getattr(t, dtype)))


# -- fill_diagonal_ --------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        (3, 3),
        (2, 5),
        (7, 2),
        (7, 3),
        (0, 2),
        (2, 0),
        (3, 3, 3),
        (1, 4),
        (4, 1),
        (2, 3, 2),
        (3,),
        (),
    ],  # fmt: skip
)
def test_fill_diagonal_is_pytorchs(shape: Any, wrap: bool) -> None:
    assert_equal_or_errors(lambda t: t.zeros(shape).fill_diagonal_(2, wrap))


@pytest.mark.parametrize("dtype", ["uint8", "int64"])
def test_offsets_of_diagonals_may_be_tensors(dtype: str) -> None:
    offset = tt.tensor(1, dtype=getattr(tt, dtype))
    x = np.arange(16.0).reshape(4, 4)
    assert tt.diag(tt.tensor(x), offset).tolist() == np.diag(x, 1).tolist()
    assert tt.diagonal(tt.tensor(x), offset).tolist() == np.diagonal(x, 1).tolist()
    assert tt.diag_embed(tt.tensor([1.0]), offset).tolist() == np.diag([1.0], 1).tolist()


@pytest.mark.torch
def test_fill_diagonal_of_other_layouts_and_values() -> None:
    assert_equal_or_errors(lambda t: t.zeros(3, 2).t().fill_diagonal_(1))
    assert_equal_or_errors(lambda t: t.zeros(2, 7).t().fill_diagonal_(1))
    assert_equal_or_errors(lambda t: t.zeros(4, 4)[1:, ::2].fill_diagonal_(1))
    assert_equal_or_errors(lambda t: t.zeros(2, 2, dtype=t.int32).fill_diagonal_(1.7))
    assert_equal_or_errors(lambda t: t.zeros(2, 2).fill_diagonal_(t.tensor(3.0)))
    assert_equal_or_errors(lambda t: t.zeros(2, 2).fill_diagonal_(1j))


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 2, 2)])
def test_gradients_of_fill_diagonal_are_pytorchs(shape: Any) -> None:
    compare(lambda t, x: (x * x).fill_diagonal_(2.0, True), randn(*shape))


# -- Python functions of elements ------------------------------------------------------------------

MAPPED = {
    "apply": lambda t: t.tensor([1.0, 2.0]).apply_(lambda v: v * 2),
    "integers": lambda t: t.tensor([1, 2]).apply_(lambda v: v + 0.7),
    "booleans": lambda t: t.tensor([True, False]).apply_(lambda v: not v),
    "complex": lambda t: t.zeros(2, dtype=t.complex64).apply_(lambda v: v + 1j),
    "halves": lambda t: t.zeros(2).half().apply_(lambda v: v + 1),
    "a tensor": lambda t: t.ones(2).apply_(lambda v: t.tensor(2.0)),
    "columns": lambda t: t.arange(6).reshape(2, 3).t().apply_(lambda v: v * v),
    "none": lambda t: t.ones(2).apply_(lambda v: None),
    "text": lambda t: t.ones(2).apply_(lambda v: "1"),
    "imaginary": lambda t: t.ones(2).apply_(lambda v: 1j),
    "no function": lambda t: t.ones(2).apply_(3),
    "grad": lambda t: t.ones(2, requires_grad=True).apply_(lambda v: v),
    "map": lambda t: t.tensor([7, 9]).map_(t.tensor([2, 5]), lambda a, b: a % b),
    "map expands": lambda t: t.ones(2, 3).map_(t.tensor([1.0, 2.0, 3.0]), lambda a, b: a + b),
    "map of another shape": lambda t: t.ones(3).map_(t.ones(2), lambda a, b: a),
    "map of another dtype": lambda t: t.ones(3).map_(t.ones(3).double(), lambda a, b: a),
    "map of a number": lambda t: t.ones(3).map_(3, lambda a, b: a),
    "map of grad": lambda t: t.ones(2).map_(t.ones(2, requires_grad=True), lambda a, b: a),
    "map2": lambda t: t.ones(2).map2_(t.ones(2), t.ones(2), lambda a, b, c: a + b + c),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", MAPPED)
def test_map_and_apply_functions_are_pytorchs(case: str) -> None:
    if not tt.ones(1).is_cpu:
        pytest.skip("these are for the CPU")
    assert_equal_or_errors(MAPPED[case])


def test_a_failing_function_leaves_the_tensor_alone() -> None:
    x = tt.tensor([1.0, 0.0], device="cpu")
    with pytest.raises(ZeroDivisionError):
        x.apply_(lambda v: 1 / v)
    assert x.tolist() == [1.0, 0.0] and x._version == 0


# -- norms -----------------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, (0, 1), (-1,), [2, 0], ()])
def test_frobenius_norm_is_pytorchs(dim: Any, keepdim: bool) -> None:
    compare(lambda t, x: t.frobenius_norm(x, dim, keepdim), randn(2, 3, 4))
    compare(lambda t, x: t.frobenius_norm(x, dim, keepdim), randn(2, 3, 4) + 1j * randn(2, 3, 4))


@pytest.mark.torch
def test_nuclear_norm_is_pytorchs() -> None:
    compare(lambda t, x: t.nuclear_norm(x), randn(3, 4))
    compare(lambda t, x: t.nuclear_norm(x, True), randn(3, 4))
    compare(lambda t, x: t.nuclear_norm(x), randn(2, 3, 4))
    compare(lambda t, x: t.nuclear_norm(x, (0, 2), True), randn(2, 3, 4))
    compare(lambda t, x: t.nuclear_norm(x, dim=(1, 0)), randn(3, 2))
    assert_equal_or_errors(lambda t: t.nuclear_norm(t.ones(3)))


@pytest.mark.torch
@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_norm_except_dim_is_pytorchs(power: int, dim: int) -> None:
    compare(lambda t, x: t.norm_except_dim(x, power, dim), randn(2, 3, 4))


@pytest.mark.torch
def test_norms_refuse_what_pytorchs_refuse() -> None:
    assert_equal_or_errors(lambda t: t.norm_except_dim(t.ones(2, 3), 2, 2))
    assert_equal_or_errors(lambda t: t.frobenius_norm(t.ones(2, 2).int(), 0))
    assert_equal_or_errors(lambda t: t.frobenius_norm(t.ones(2, 2, 2), (0, 1, 2)))
    assert_equal_or_errors(lambda t: t.frobenius_norm(t.ones(2, 2)))


# -- copies of views ---------------------------------------------------------------------------

COPIES: dict[str, Any] = {
    "select": lambda t, x: t.select_copy(x, 1, 2),
    "slice": lambda t, x: t.slice_copy(x, 1, 1, 4, 2),
    "slice to the end": lambda t, x: t.slice_copy(x, -1, -2),
    "slice of all": lambda t, x: t.slice_copy(x),
    "slice past the end": lambda t, x: t.slice_copy(x, 0, 1, 9),
    "split": lambda t, x: t.split_copy(x, 2, 1),
    "real": lambda t, x: t.view_as_real_copy(t.complex(x, x * 2)),
}


@pytest.mark.torch
@pytest.mark.parametrize("case", COPIES)
def test_copies(case: str) -> None:
    compare(COPIES[case], randn(3, 4))
    x = tt.tensor(randn(3, 4))
    parts = COPIES[case](tt, x)
    for part in parts if isinstance(parts, tuple) else (parts,):
        assert part._base is None and part.data_ptr() != x.data_ptr()


@pytest.mark.torch
def test_complex_copies_are_pytorchs() -> None:
    assert_equal_or_errors(lambda t: t.view_as_complex_copy(t.arange(6.0).reshape(3, 2)))
    x = tt.ones(2, 2)
    tt.view_as_complex_copy(x).mul_(2)
    assert x.tolist() == [[1.0, 1.0]] * 2


def test_detach_copy_shares_no_memory() -> None:
    x = tt.ones(2, requires_grad=True)
    y = tt.detach_copy(x)
    y += 1
    assert x.tolist() == [1.0, 1.0] and not y.requires_grad


@pytest.mark.torch
@pytest.mark.parametrize("step", [0, -1])
def test_slice_copy_refuses_negative_steps(step: int) -> None:
    assert_equal_or_errors(lambda t: t.slice_copy(t.arange(5), 0, 1, 2, step))


# -- layout ----------------------------------------------------------------------------------------

LAYOUTS = {
    "rows": lambda t: t.zeros(2, 3, 4),
    "permuted": lambda t: t.zeros(2, 3, 4).permute(2, 0, 1),
    "reversed": lambda t: t.zeros(2, 3, 4).permute(2, 1, 0),
    "ones": lambda t: t.zeros(2, 1, 1, 3),
    "expanded": lambda t: t.zeros(2, 1, 3).expand(2, 4, 3),
    "one in front": lambda t: t.zeros(2, 1, 3).permute(2, 1, 0),
    "0-d": lambda t: t.zeros(()),
    "steps": lambda t: t.zeros(6)[::2],
    "a column": lambda t: t.zeros(4, 3)[:, :1].t(),
    "expanded column": lambda t: t.zeros(3, 1).expand(3, 2).t(),
}


@pytest.mark.torch
@pytest.mark.parametrize("case", LAYOUTS)
def test_dim_order_is_pytorchs(case: str) -> None:
    assert_equal_or_errors(lambda t: LAYOUTS[case](t).dim_order())


@pytest.mark.torch
@pytest.mark.parametrize("case", LAYOUTS)
def test_dim_order_with_ambiguity_check_is_pytorchs(case: str) -> None:
    assert_equal_or_errors(lambda t: LAYOUTS[case](t).dim_order(ambiguity_check=True))
    assert_equal_or_errors(lambda t: LAYOUTS[case](t).dim_order(
        ambiguity_check=[t.contiguous_format, t.channels_last]))  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("given", [None, 1, "yes", [1], (True,)])
def test_dim_order_refuses_an_invalid_ambiguity_check(given: Any) -> None:
    assert_equal_or_errors(lambda t: t.zeros(2).dim_order(ambiguity_check=given))


@pytest.mark.torch
def test_is_set_to_is_pytorchs() -> None:
    assert_equal_or_errors(lambda t: [
        (x := t.zeros(2, 3)).is_set_to(x), x.is_set_to(x.detach()), x.is_set_to(x.view(6)),
        x.is_set_to(x.clone()), x.is_set_to(x[:]), x[1:].is_set_to(x[1:]), x.is_set_to(x[1:]),
        t.zeros(2).is_set_to(t.zeros(2).long()), t.empty(0).is_set_to(t.empty(0)),
        x[:0].is_set_to(x[:0]), (y := t.zeros(0)).is_set_to(y.view(0)),
    ])  # fmt: skip


# -- other kinds of tensors ------------------------------------------------------------------------

OF_DENSE = ["is_ipu", "is_maia", "is_mkldnn", "is_mps", "is_mtia", "is_nested", "is_sparse_csr",
            "is_vulkan", "is_xla", "is_xpu"]  # fmt: skip
QUESTIONS = ["is_distributed", "dense_dim", "sparse_dim", "to_dense", "dequantize",
             "coalesce", "indices", "values", "is_coalesced", "crow_indices", "col_indices",
             "ccol_indices", "row_indices"]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", OF_DENSE)
def test_attributes_of_dense_tensors_are_pytorchs(name: str) -> None:
    assert_equal_or_errors(lambda t: getattr(t.ones(2), name))


@pytest.mark.torch
@pytest.mark.parametrize("name", QUESTIONS)
def test_methods_of_dense_tensors_return_pytorchs_values(name: str) -> None:
    assert_equal_or_errors(lambda t: getattr(t.ones(2, 3), name)())


@pytest.mark.parametrize("name", ["coalesce", "values", "crow_indices", "row_indices"])
def test_refusals_of_dense_tensors_in_the_same_words(torch: Any, name: str) -> None:
    texts = []
    for library in (tt, torch):
        with pytest.raises(RuntimeError) as caught:
            getattr(library.ones(2), name)()
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@pytest.mark.torch
def test_to_dense_and_dequantize_of_dense_tensors_are_pytorchs() -> None:
    assert_equal_or_errors(lambda t: t.ones(2).to_dense(t.float64))
    assert_equal_or_errors(lambda t: t.arange(3).dequantize())
    assert_equal_or_errors(lambda t: t.ones(2, dtype=t.float16).dequantize())
    assert_equal_or_errors(lambda t: t.spmm(t.eye(2), t.ones(2, 3)))
    assert_equal_or_errors(lambda t: t.dsmm(t.ones(2, 2), t.ones(2, 3)))
    x = tt.ones(2)
    assert x.to_dense() is x


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tt.sparse_bsr_tensor([0, 1], [0], [[[1.0]]]), "COO, CSR and CSC are supported"),
        (lambda: tt.ones(2, 2).to_sparse_bsr((2, 2)), "COO, CSR and CSC are supported"),
        (lambda: tt.smm(tt.ones(2, 2), tt.ones(2, 2)), "COO, CSR and CSC are supported"),
        (lambda: tt.ones(2).q_scale(), "quantized tensors are not supported"),
        (lambda: tt.quantize_per_tensor(tt.ones(2), 0.1, 0, None), "quantized tensors"),
        (lambda: tt.ones(2).to_mkldnn(), "every tensor is strided"),
        (lambda: tt.ones(2).to_padded_tensor(0.0), "nested tensors are not supported"),
        (lambda: tt.ones(2).chalf(), "complex32"),
    ],
)
def test_kinds_that_there_are_none_of(call: Any, text: str) -> None:
    with pytest.raises(NotImplementedError, match=text):
        call()


# -- former names ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["eig", "lstsq", "solve", "symeig", "matrix_rank"])
def test_removed_functions_raise_pytorchs_error(torch: Any, name: str) -> None:
    more = 1 if name in ("lstsq", "solve") else 0
    for library in (tt, torch):
        with pytest.raises(RuntimeError, match="deprecated since version 1.9 and is now removed"):
            getattr(library, name)(library.eye(2), *[library.eye(2)] * more)
        if name != "matrix_rank":
            with pytest.raises(RuntimeError, match="is now removed"):
                getattr(library.eye(2), name)(*[library.eye(2)] * more)


def test_reinforce_raises_pytorchs_error(torch: Any) -> None:
    for library in (tt, torch):
        with pytest.raises(RuntimeError, match=r"reinforce\(\) was removed"):
            library.ones(1).reinforce(1.0)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:non-inplace resize")
def test_resize_to_as_many_elements() -> None:
    compare(lambda t, x: (x * x).resize(3, 2), randn(2, 3))
    compare(lambda t, x: (x * x).resize(6), randn(2, 3))
    compare(lambda t, x: (x * x).resize_as(t.ones(3, 2)), randn(2, 3))
    assert_equal_or_errors(lambda t: t.ones(3).resize(2))
    assert_equal_or_errors(lambda t: t.ones(3).resize_as(t.ones(2)))


def test_resize_out_of_place_warns_of_its_deprecation() -> None:
    with pytest.warns(UserWarning, match="non-inplace resize is deprecated"):
        tt.ones(2).resize(1, 2)
    with pytest.warns(UserWarning, match="non-inplace resize_as is deprecated"):
        tt.ones(2).resize_as(tt.ones(1, 2))


@pytest.mark.torch
def test_pieces_that_are_no_views() -> None:
    compare(lambda t, x: t.unsafe_split_with_sizes(x, [1, 3], 1), randn(2, 4))
    x = tt.ones(4, requires_grad=True)
    first, _ = (x * 1).unsafe_split_with_sizes([1, 3])
    first.mul_(2)  # which a view of several would not allow
    assert first._base is None
