"""Other shapes of the same elements: views, broadcasting, rearranging, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tinytorch as tt
from tests.oracles import compare, complexes, numbers
from tinytorch.autograd import gradcheck, gradgradcheck

X = numbers(2, 3, 4)
M = numbers(3, 4)
Z = complexes(2, 3)

CASES: dict[str, tuple[Any, ...]] = {
    "reshape": (lambda lib, x: x.reshape(4, -1), X),
    "reshape_as": (lambda lib, x: x.reshape_as(lib.zeros(6, 4)), X),
    "view": (lambda lib, x: x.view(6, 4), X),
    "view_as": (lambda lib, x: x.view_as(lib.zeros(4, 6)), X),
    "flatten": (lambda lib, x: (x.flatten(), x.flatten(1), x.ravel()), X),
    "unflatten": (lambda lib, x: x.unflatten(-1, (2, -1)), X),
    "squeeze": (lambda lib, x: (x[None].squeeze(), x[:, :1].squeeze((0, 1)), x.squeeze(0)), X),
    "unsqueeze": (lambda lib, x: (x.unsqueeze(0), x.unsqueeze(-1), x.unsqueeze(-4)), X),
    "transpose": (lambda lib, x: lib.transpose(x, -1, 0), X),
    "swapaxes": (lambda lib, x: (lib.swapaxes(x, 0, 1), x.swapdims(1, 2)), X),
    "permute": (lambda lib, x: x.permute(2, 0, 1), X),
    "movedim": (lambda lib, x: (x.movedim(0, 2), lib.moveaxis(x, (0, 1), (-1, 0))), X),
    "t": (lambda lib, x: (x.t(), x.T, x.mT), M),
    "H": (lambda lib, x: (x.H, x.mH, x.adjoint()), Z),
    "mH of real": (lambda lib, x: x.mH, X),
    "expand": (lambda lib, x: (x[:, :1].expand(-1, 5, -1), x.expand(2, 2, 3, 4)), X),
    "expand_as": (lambda lib, x: x.expand_as(lib.zeros(5, 2, 3, 4)), X),
    "broadcast_to": (lambda lib, x: lib.broadcast_to(x, (2, 2, 3, 4)), X),
    "broadcast_tensors": (lambda lib, x, y: lib.broadcast_tensors(x, y), X, M[:, :1]),
    "sum_to_size": (lambda lib, x: (x.sum_to_size(3, 1), x.sum_to_size(())), X),
    "contiguous": (lambda lib, x: x.t().contiguous(), M),
    "flip": (lambda lib, x: (lib.flip(x, (0, -1)), lib.fliplr(x), lib.flipud(x)), X),
    "roll": (lambda lib, x: (lib.roll(x, 5), lib.roll(x, (1, -1), (0, 2)), x.roll(-1, 1)), X),
    "rot90": (lambda lib, x: [lib.rot90(x, k, (0, 2)) for k in range(-1, 4)], X),
    "tile": (lambda lib, x: (lib.tile(x, (2,)), x.tile(2, 1, 1, 2), x.tile(())), X),
    "repeat": (lambda lib, x: (x.repeat(1, 2, 1), x.repeat(2, 1, 1, 3), x.repeat(0, 1, 1)), X),
    "repeat_interleave": (lambda lib, x: (x.repeat_interleave(2), x.repeat_interleave(3, 1)), X),
    "repeat_interleave counts": (
        lambda lib, x, n: lib.repeat_interleave(x, n, -1, output_size=6), X, np.array([1, 0, 3, 2])
    ),
    "repeat_interleave alone": (lambda lib, n: lib.repeat_interleave(n), np.array([1, 0, 3])),
    "diag of a vector": (lambda lib, x: (lib.diag(x), lib.diag(x, -2)), M[0]),
    "diag of a matrix": (lambda lib, x: (lib.diag(x), x.diag(2), x.diag(-5)), M),
    "diagonal": (lambda lib, x: (x.diagonal(), x.diagonal(-1, 1, 2), x.diagonal(9)), X),
    "diag_embed": (lambda lib, x: (lib.diag_embed(x), lib.diag_embed(x, 1, 0, 2)), M),
    "diagflat": (lambda lib, x: lib.diagflat(x, 1), M[:2, :2]),
    "tril": (lambda lib, x: (lib.tril(x), x.tril(-1), x.tril(7)), X),
    "triu": (lambda lib, x: (lib.triu(x, 1), x.triu(-9)), X),
    "as_strided_copy": (lambda lib, x: lib.as_strided_copy(x, (2, 2), (1, 3)), M),
    "copies": (
        lambda lib, x: (
            lib.alias_copy(x), lib.diagonal_copy(x), lib.expand_copy(x, (2, 3, 4)),
            lib.narrow_copy(x, 0, 1, 2), lib.permute_copy(x, (1, 0)), lib.squeeze_copy(x[:1]),
            lib.split_with_sizes_copy(x, [1, 2]), lib.t_copy(x), lib.transpose_copy(x, 0, 1),
            lib.unbind_copy(x), lib.unfold_copy(x, 1, 2, 2), lib.unsqueeze_copy(x, 0),
            lib.view_copy(x, (12,)),
        ), M,
    ),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", CASES)
def test_results_and_derivatives_of_shape_functions_are_pytorchs(name: str) -> None:
    call, *arrays = CASES[name]
    compare(call, *arrays)


def test_derivatives_of_shape_functions_are_finite_differences() -> None:
    x = tt.tensor(M, requires_grad=True)
    for call in (
        lambda x: x.roll(2, 1), lambda x: x.repeat(2, 2), lambda x: x.tril(),
        lambda x: x.diagonal(1),
        lambda x: x.repeat_interleave(tt.tensor([2, 0, 1]), 0), lambda x: x.unfold(1, 2, 1),
    ):  # fmt: skip
        assert gradcheck(call, (x,)) and gradgradcheck(call, (x,))


# -- views ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.view(12), lambda x: x.t(), lambda x: x.movedim(0, 1), lambda x: x.diagonal(),
        lambda x: x.unsqueeze(0), lambda x: x[1:], lambda x: x.flatten(),
        lambda x: x.narrow(0, 0, 1),
        lambda x: x.unbind()[1], lambda x: x.split(2)[0], lambda x: x.unfold(0, 2, 1),
        lambda x: x.view(tt.int32), lambda x: x.as_strided((2, 2), (1, 1)), lambda x: x.mH,
        lambda x: x.chunk(2, 1)[1], lambda x: x.tensor_split(2)[0],
        lambda x: x.unflatten(1, (2, 2)),
    ],
)  # fmt: skip
def test_views_share_memory(call: Any) -> None:
    x = tt.zeros(3, 4)
    shown = call(x)
    assert shown._is_view()
    x.fill_(7)
    assert (shown == call(tt.full((3, 4), 7.0))).all()


@pytest.mark.parametrize("name", ["flip", "roll", "tile", "repeat"])
def test_copies_do_not_share_memory(name: str) -> None:
    x = tt.zeros(3)
    copy = getattr(x, name)((0,) if name == "flip" else 1)
    x.fill_(7)
    assert copy.sum().item() == 0


@pytest.mark.torch
def test_view_in_another_dtype_is_pytorchs() -> None:
    for array, dtype in (
        (numbers(2, 4), "float32"), (numbers(2, 4), "int64"),
        (numbers(3).astype("float32"), "uint8"),
        (complexes(2), "float64"), (np.arange(8, dtype="uint8"), "int32"),
    ):  # fmt: skip
        compare(lambda lib, x: x.view(getattr(lib, dtype)), array, orders=0)
    compare(lambda lib, x: lib.zeros(3, 0, 2).view(lib.int8), array, orders=0)
    compare(lambda lib, x: lib.zeros(3, 0, 2).view(lib.float64), array, orders=0)
    compare(lambda lib, x: lib.view_as_complex(lib.zeros(3, 0, 2)), numbers(1), orders=0)
    assert not tt.ones(2, requires_grad=True).view(tt.float64).requires_grad


def test_sizes_change_in_place() -> None:
    x = tt.zeros(1, 2, 3)
    assert x.squeeze_() is x and x.shape == (2, 3)
    assert x.t_().shape == (3, 2) and x.unsqueeze_(1).shape == (3, 1, 2)
    assert x.transpose_(0, 2).shape == (2, 1, 3) and x.swapaxes_(0, 1).shape == (1, 2, 3)
    assert x.resize_(4).shape == (4,) and x.resize_(2, 5).numel() == 10
    assert x.resize_as_(tt.zeros(2, 2)).shape == (2, 2)


@pytest.mark.torch
def test_gradients_pass_changes_of_sizes_in_place() -> None:
    def program(library: Any, leaf: Any) -> Any:
        x = leaf * 2
        x.unsqueeze_(0).transpose_(0, 1)
        part = (x * x)[1:]
        part.squeeze_()
        return part * part

    compare(program, M)


# -- random shapes -------------------------------------------------------------------------------

shapes = st.lists(st.integers(0, 3), min_size=0, max_size=4).map(tuple)


@settings(deadline=None, max_examples=60)
@given(shapes, st.data())
def test_any_shape_is_rearranged_as_numpy_does(shape: tuple[int, ...], data: Any) -> None:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    x = tt.tensor(values)
    ndim = len(shape)
    order = data.draw(st.permutations(range(ndim)))
    signs = data.draw(st.lists(st.sampled_from([0, ndim]), min_size=ndim, max_size=ndim))
    dims = [d - sign for d, sign in zip(order, signs, strict=True)][: data.draw(st.integers(0, 4))]
    pairs = [
        (x.permute(order), values.transpose(order)),
        (x.reshape(-1) if values.size else x.ravel(), values.reshape(-1)),
        (x.flip(dims), np.flip(values, dims) if dims else values),
        (x.squeeze(), values.squeeze()),
        (x.unsqueeze(-1), values[..., None]),
        (x.sum(dims or None), values.sum(tuple(dims) if dims else None)),
        (tt.broadcast_to(x, (2, *shape)), np.broadcast_to(values, (2, *shape))),
        (tt.tile(x, (2, 1)), np.tile(values, (2, 1))),
        (tt.roll(x, 1), np.roll(values, 1)),
    ]
    if dims:
        pairs.append((x.movedim(dims[0], 0), np.moveaxis(values, dims[0], 0)))
        pairs.append((tt.cumsum(x, dims[0]), np.cumsum(values, dims[0])))
        pairs.append((tt.sort(x, dims[0]).values, np.sort(values, dims[0])))
    for ours, expected in pairs:
        np.testing.assert_array_equal(ours, expected)
        assert tuple(ours.shape) == expected.shape


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.sampled_from([1, 1, 2, 3]), max_size=3),
    st.lists(st.sampled_from([1, 2]), max_size=3),
)
def test_broadcast_shapes_agree_with_numpy(a: list[int], b: list[int]) -> None:
    try:
        expected = np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        with pytest.raises(RuntimeError, match="broadcast"):
            tt.broadcast_shapes(a, b)
    else:
        assert tuple(tt.broadcast_shapes(a, b)) == expected


# -- NumPy's dialect -----------------------------------------------------------------------------


def test_shape_functions_accept_numpys_arguments() -> None:
    x = tt.tensor(M)
    for ours, expected in (
        (tt.flip(x, axis=1), np.flip(M, axis=1)), (tt.roll(x, 2, axis=0), np.roll(M, 2, axis=0)),
        (tt.flip(x), np.flip(M)), (x.transpose(), M.T), (x.transpose((1, 0)), M.T),
        (tt.tril(x, k=1), np.tril(M, k=1)), (tt.triu(x, k=-1), np.triu(M, k=-1)),
        (tt.diag(x, k=1), np.diag(M, k=1)), (tt.diagflat(x[0], k=1), np.diagflat(M[0], k=1)),
        (tt.rot90(x, axes=(1, 0)), np.rot90(M, axes=(1, 0))), (tt.tile(x, 2), np.tile(M, 2)),
        (x.repeat(2, axis=1), np.repeat(M, 2, axis=1)),
        (tt.tril_indices(3)[1], np.tril_indices(3)[1]),
        (tt.triu_indices(3, k=1)[0], np.triu_indices(3, k=1)[0]),
    ):  # fmt: skip
        np.testing.assert_array_equal(ours, expected)


# -- errors --------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "reshape": (
        lambda: tt.ones(6).reshape(4, 2), RuntimeError, r"shape '\[4, 2\]' is invalid.*size 6"
    ),
    "reshape -1": (lambda: tt.ones(6).reshape(-1, -1), RuntimeError, "only one dimension"),
    "reshape -1 beside 0": (
        lambda: tt.ones(6).reshape(2, 0, -1), RuntimeError, r"shape '\[2, 0, -1\]' is invalid"
    ),
    "reshape of nothing": (
        lambda: tt.ones(0).view(0, -1), RuntimeError,
        r"cannot reshape tensor of 0 elements into shape \[0, -1\] because the unspecified"
    ),
    "reshape -2": (
        lambda: tt.ones(6).view(3, -2), RuntimeError,
        r"invalid shape dimension -2 at index 1 of shape \[3, -2\]"
    ),
    "view": (lambda: tt.ones(2, 3).t().view(6), RuntimeError, "view size is not compatible"),
    "view bytes": (
        lambda: tt.ones(3).view(tt.float64), RuntimeError, "divisible by 2 to view Float"
    ),
    "view number": (lambda: tt.tensor(1.0).view(tt.float64), RuntimeError, "cannot be 0 to view"),
    "flatten": (lambda: tt.ones(2, 3).flatten(1, 0), RuntimeError, "start_dim cannot come after"),
    "unflatten": (lambda: tt.ones(4).unflatten(0, (3, 2)), RuntimeError, "don't multiply up"),
    "squeeze": (lambda: tt.ones(2).squeeze(1), IndexError, "squeeze: Dimension out of range"),
    "permute": (lambda: tt.ones(2, 3).permute(0), RuntimeError, "number of dimensions"),
    "permute twice": (lambda: tt.ones(2, 3).permute(0, 0), RuntimeError, "duplicate dims"),
    "movedim": (
        lambda: tt.ones(2, 3).movedim((0, 1), (0,)), RuntimeError, "Invalid source or dest"
    ),
    "movedim twice": (
        lambda: tt.ones(2, 3).movedim((0, 0), (0, 1)), RuntimeError, "repeated dim in `source`"
    ),
    "t": (lambda: tt.ones(2, 3, 4).t(), RuntimeError, "<= 2 dimensions"),
    "H": (lambda: tt.ones(3).H, RuntimeError, "only supported on matrices"),
    "mT": (lambda: tt.ones(3).mT, RuntimeError, "matrices or batches of matrices"),
    "expand": (lambda: tt.ones(3, 1).expand(4, 4), RuntimeError, "must match the existing size"),
    "expand -1": (
        lambda: tt.ones(3).expand(-1, 3), RuntimeError, "leading, non-existing dimension"
    ),
    "broadcast": (
        lambda: tt.broadcast_tensors(tt.ones(2), tt.ones(3)), RuntimeError,
        r"a \(2\) must match.*b \(3\)",
    ),
    "broadcast_shapes": (
        lambda: tt.broadcast_shapes((2,), (3,)), RuntimeError, "Mismatching argument at index 1"
    ),
    "sum_to_size": (
        lambda: tt.ones(2, 3).sum_to_size(3, 3), RuntimeError, "is not expandable to size"
    ),
    "flip": (lambda: tt.ones(2, 2).flip(0, 0), RuntimeError, "multiple times in the list of dims"),
    "fliplr": (lambda: tt.fliplr(tt.ones(2)), RuntimeError, "must be >= 2-d"),
    "roll": (lambda: tt.ones(2).roll((1, 2), 0), RuntimeError, "shifts and dimensions must align"),
    "rot90": (
        lambda: tt.rot90(tt.ones(2, 2), dims=(0, 0)), RuntimeError, "rotation dims to be different"
    ),
    "repeat": (lambda: tt.ones(2, 2).repeat(2), RuntimeError, "can not be smaller than number"),
    "repeat_interleave": (lambda: tt.ones(2).repeat_interleave(-1), RuntimeError, "non-negative"),
    "repeat counts": (
        lambda: tt.repeat_interleave(tt.ones(3), tt.tensor([1, 2])), RuntimeError,
        "same size as input",
    ),
    "diag": (lambda: tt.diag(tt.ones(1, 1, 1)), RuntimeError, "1D or 2D"),
    "diagonal": (lambda: tt.ones(2, 2).diagonal(0, 1, 1), RuntimeError, "cannot be identical 1, 1"),
    "diag_embed": (lambda: tt.diag_embed(tt.ones(2), dim1=9), IndexError, r"\[-2, 1\], but got 9"),
    "tril": (lambda: tt.tril(tt.ones(2)), RuntimeError, "at least 2 dimensions"),
    "resize_": (
        lambda: tt.ones(2, requires_grad=True).resize_(3), RuntimeError, "cannot resize variables"
    ),
    "squeeze_": (
        lambda: tt.ones(1, requires_grad=True).squeeze_(), RuntimeError, "a leaf Variable"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_use_of_shape_functions_is_refused(name: str) -> None:
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        call()


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:.* deprecated on 0-D tensors")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: x.mT, lambda m, x: x.mH, lambda m, x: m.adjoint(x), lambda m, x: x.flip(0),
        lambda m, x: m.flip(x, (-1,)),
    ],
)  # fmt: skip
def test_a_0d_tensor_is_its_own(call: Any, dtype: str) -> None:
    compare(call, np.array(1.5 + (2j if dtype == "complex128" else 0), dtype=dtype))


@pytest.mark.parametrize("shape", [(2, 3), (1, 2, 3)])
def test_broadcast_to_a_shape_of_as_many_elements_may_be_written_to(shape: tuple[int, ...]) -> None:
    x = tt.ones(2, 3)
    x.broadcast_to(shape).data.mul_(2)
    assert x.tolist() == [[2.0] * 3] * 2
