"""Arguments of a type that PyTorch refuses: bools, floats, text for ints; numbers for tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, words
from tests.oracles import assert_same_outcome

X: Any = tt.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
F: Any = tt.nn.functional

#: name: a call of a library with a tensor of its own and one argument that is no int.
NO_INTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sum": lambda lib, x, n: x.sum(n),
    "mean": lambda lib, x, n: x.mean((0, n)),
    "softmax": lambda lib, x, n: x.softmax(n),
    "cumsum": lambda lib, x, n: x.cumsum(n),
    "max": lambda lib, x, n: x.max(n),
    "argmax": lambda lib, x, n: x.argmax(n),
    "topk": lambda lib, x, n: x.topk(n),
    "kthvalue": lambda lib, x, n: x.kthvalue(n),
    "transpose": lambda lib, x, n: x.transpose(0, n),
    "permute": lambda lib, x, n: x.permute(0, n),
    "unsqueeze": lambda lib, x, n: x.unsqueeze(n),
    "squeeze": lambda lib, x, n: x.squeeze(n),
    "view": lambda lib, x, n: x.view(n, 6),
    "reshape": lambda lib, x, n: x.reshape(n, 6),
    "expand": lambda lib, x, n: x[:1].expand(n, 3),
    "flip": lambda lib, x, n: x.flip(n),
    "roll": lambda lib, x, n: x.roll(n, 0),
    "narrow from": lambda lib, x, n: x.narrow(0, n, 1),
    "narrow to": lambda lib, x, n: x.narrow(0, 0, n),
    "select": lambda lib, x, n: x.select(0, n),
    "split": lambda lib, x, n: x.split(n),
    "chunk": lambda lib, x, n: x.chunk(n),
    "repeat": lambda lib, x, n: x.repeat(1, n),
    "tile": lambda lib, x, n: x.tile(n),
    "repeat_interleave": lambda lib, x, n: x.repeat_interleave(n),
    "cat": lambda lib, x, n: lib.cat([x, x], n),
    "stack": lambda lib, x, n: lib.stack([x, x], n),
    "tril": lambda lib, x, n: x.tril(n),
    "matrix_power": lambda lib, x, n: lib.linalg.matrix_power(x[:, :2], n),
    "one_hot": lambda lib, x, n: lib.nn.functional.one_hot(lib.tensor([0]), n),
    "zeros": lambda lib, x, n: lib.zeros(n),
}
#: PyTorch looks at the first of several ints alone, and takes a bool after it.
LATER = ("mean", "permute", "repeat")


def matrix(lib: Any) -> Any:
    return lib.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


@pytest.mark.parametrize("name", NO_INTS)
@pytest.mark.parametrize("value", [True, 1.0, "a"])
def test_a_value_that_is_not_an_int_is_refused(torch: Any, name: str, value: Any) -> None:
    if value is True and name in LATER:
        pytest.skip("that is one")
    with pytest.raises(TypeError, match="int|tuple|dtype|positional"):
        NO_INTS[name](tt, matrix(tt), value)
    with pytest.raises(TypeError):
        NO_INTS[name](torch, matrix(torch), value)


@pytest.mark.parametrize("name", LATER)
def test_a_bool_behind_an_int_is_an_int(torch: Any, name: str) -> None:
    ours, theirs = (NO_INTS[name](lib, matrix(lib), True).tolist() for lib in (tt, torch))
    assert ours == theirs


@pytest.mark.parametrize("name", NO_INTS)
@pytest.mark.parametrize("one", [np.int64(1), np.uint8(1), tt.tensor(1)])
def test_a_value_with_an_index_method_is_accepted_as_an_int(name: str, one: Any) -> None:
    if name == "max" and isinstance(one, tt.Tensor):
        pytest.skip("a tensor is what to compare with")
    ours, expected = (NO_INTS[name](tt, matrix(tt), number) for number in (one, 1))
    assert repr(ours) == repr(expected)


OTHERS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a number times a matrix": (lambda: X @ 1, TypeError, "must be Tensor, not int"),
    "mm": (lambda: X.mm(1), TypeError, "mat2.*must be Tensor"),
    "addmm": (lambda: X.addmm(X, 1), TypeError, "mat2.*must be Tensor"),
    "linear": (lambda: F.linear(X, 1), TypeError, "weight.*must be Tensor"),
    "full of nothing": (lambda: tt.full((2,), None), TypeError, "fill_value.*NoneType"),
    "full of text": (lambda: tt.full((2,), "a"), TypeError, "fill_value.*str"),
    "a slice of floats": (lambda: X[1.0:], TypeError, "slice indices must be integers"),
    "a product of bools": (
        lambda: tt.linalg.cross(tt.ones(3, dtype=tt.bool), tt.ones(3, dtype=tt.bool)),
        NotImplementedError,
        "\"cross\" not implemented for 'Bool'",
    ),
    "float of many": (lambda: float(X), ValueError, "only one element tensors can be converted"),
    "int of many": (lambda: int(X), ValueError, "only one element tensors can be converted"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_arguments_of_other_wrong_types_raise_a_named_error(name: str) -> None:
    call, error, text = OTHERS[name]
    with pytest.raises(error, match=text):
        call()


def test_a_tensor_is_unequal_to_none() -> None:
    unequal: Any = X == None  # noqa: E711  # what is asked here
    assert unequal is False and X != None and (None == X) is False  # noqa: E711


#: By name: a call of several tensors, as a function of the library, and shapes that do not fit.
SEVERAL: dict[str, tuple[Any, tuple[tuple[int, ...], ...]]] = {
    "where: first": (lambda t, c, x, y: t.where(c > 0, x, y), ((2,), (3,), (2,))),
    "where: last": (lambda t, c, x, y: t.where(c > 0, x, y), ((2,), (1,), (4, 3))),
    "where: stretched": (lambda t, c, x, y: t.where(c > 0, x, y), ((2, 1), (1, 3), (2, 4))),
    "lerp": (lambda t, x, y, w: t.lerp(x, y, w), ((2,), (3,), (2,))),
    "addcmul": (lambda t, x, y, z: t.addcmul(x, y, z), ((5, 2), (2,), (4, 1))),
    "addcdiv": (lambda t, x, y, z: t.addcdiv(x, y, z), ((2,), (2,), (5,))),
    "clamp": (lambda t, x, low, high: t.clamp(x, low, high), ((2,), (1, 2), (3, 3))),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_shapes_that_do_not_broadcast(torch: Any, name: str) -> None:
    call, shapes = SEVERAL[name]
    with pytest.raises(RuntimeError) as wanted:
        call(torch, *map(torch.ones, shapes))
    with pytest.raises(RuntimeError) as info:
        call(tt, *map(tt.ones, shapes))
    assert str(wanted.value) in str(info.value)
    assert str(info.value).startswith(f"{name.partition(':')[0]}: ")
    assert all(str(list(shape)) in str(info.value) for shape in shapes)


#: name: a call of a library with a tensor of its own and one flag.
FLAGS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sum": lambda lib, x, flag: x.sum(0, keepdim=flag),
    "sum by position": lambda lib, x, flag: lib.sum(x, 0, flag),
    "amax": lambda lib, x, flag: x.amax(0, flag),
    "max": lambda lib, x, flag: x.max(0, flag),
    "any": lambda lib, x, flag: x.any(0, keepdim=flag),
    "var": lambda lib, x, flag: x.var(0, keepdim=flag),
    "topk": lambda lib, x, flag: x.topk(1, largest=flag),
    "topk sorted": lambda lib, x, flag: lib.topk(x, 1, 0, True, flag),
    "sort": lambda lib, x, flag: lib.sort(x, descending=flag),
    "argsort": lambda lib, x, flag: x.argsort(0, flag),
    "searchsorted": lambda lib, x, flag: lib.searchsorted(x, x, right=flag),
    "cholesky": lambda lib, x, flag: lib.linalg.cholesky(lib.eye(2), upper=flag),
    "solve_triangular": lambda lib, x, flag: lib.linalg.solve_triangular(
        lib.eye(2), lib.eye(2), upper=flag),
    "vector_norm": lambda lib, x, flag: lib.linalg.vector_norm(x, keepdim=flag),
    "allclose": lambda lib, x, flag: lib.allclose(x, x, equal_nan=flag),
    "isin": lambda lib, x, flag: lib.isin(x, x, invert=flag),
    "all": lambda lib, x, flag: lib.cartesian_prod(x[0], x[0]).all(0, flag),
    "max_pool1d": lambda lib, x, flag: lib.nn.functional.max_pool1d(x, 2, ceil_mode=flag),
    "avg_pool1d": lambda lib, x, flag: lib.nn.functional.avg_pool1d(
        x, 2, 1, 0, False, flag),
    "zeros": lambda lib, x, flag: lib.zeros(2, requires_grad=flag),
    "tensor": lambda lib, x, flag: lib.tensor(2.0, requires_grad=flag),
    "ones_like": lambda lib, x, flag: lib.ones_like(x, requires_grad=flag),
    "rand_like": lambda lib, x, flag: lib.rand_like(x, requires_grad=flag),
    "normal": lambda lib, x, flag: lib.normal(0.0, 1.0, (2,), requires_grad=flag),
}  # fmt: skip

#: Those whose flag is ``requires_grad``.
WANTED = ("zeros", "tensor", "ones_like", "rand_like", "normal")


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", ["x", 1, None, 0.0, np.bool_(True)], ids=repr)
def test_a_value_that_is_not_a_bool_is_refused_as_a_flag(torch: Any, name: str, value: Any) -> None:
    if value is None and name in WANTED:
        pytest.skip("None stands for False")
    with pytest.raises(TypeError, match="must be bool, not|invalid combination") as caught:
        FLAGS[name](tt, matrix(tt), value)
    with pytest.raises(TypeError) as theirs:
        FLAGS[name](torch, matrix(torch), value)
    if "must be bool" in str(theirs.value):
        kind = str(theirs.value).rpartition(" not ")[2]
        assert str(caught.value).rpartition(" not ")[2] == kind


#: PyTorch's Python code only tests these flags.
TESTED: dict[str, tuple[Callable[[Any, Any, Any], Any], tuple[Any, ...]]] = {
    "return_indices": (
        lambda lib, x, flag: lib.nn.functional.max_pool1d(x, 2, return_indices=flag)[0], (0, 1)),
    "full": (
        lambda lib, x, flag: lib.nn.functional.gaussian_nll_loss(x, x, x * x, full=flag), (0, 1)),
    "stable": (lambda lib, x, flag: lib.sort(x, stable=flag)[0], (None, True)),
    "requires_grad": (lambda lib, x, flag: lib.ones(2, requires_grad=flag), (None,)),
}  # fmt: skip


@pytest.mark.parametrize("name", TESTED)
def test_flags_that_are_only_tested(torch: Any, name: str) -> None:
    call, values = TESTED[name]
    for value in values:
        ours, theirs = (call(lib, matrix(lib), value).tolist() for lib in (tt, torch))
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6)


FLOATS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "elu": lambda lib, x, number: lib.nn.functional.elu(x, number),
    "elu by name": lambda lib, x, number: lib.nn.functional.elu(x, alpha=number),
    "leaky_relu": lambda lib, x, number: lib.nn.functional.leaky_relu(x, number),
    "layer_norm": lambda lib, x, number: lib.nn.functional.layer_norm(x, (3,), eps=number),
    "softplus": lambda lib, x, number: lib.nn.functional.softplus(x, beta=number),
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("number", [0.5, np.float64(0.5), np.float32(0.5), 1, np.int64(1)])
def test_numbers_of_numpy_decide_no_dtype(torch: Any, name: str, number: Any) -> None:
    ours = FLOATS[name](tt, matrix(tt), number)
    assert ours.dtype is tt.float32
    plain = FLOATS[name](tt, matrix(tt), number if isinstance(number, int) else number + 0.0)
    assert ours.tolist() == plain.tolist()
    theirs = FLOATS[name](torch, matrix(torch), number)
    np.testing.assert_allclose(np.asarray(ours.tolist()), np.asarray(theirs.tolist()), rtol=1e-5)


#: Of a library ``L``, its ``nn.functional`` as ``F``, its ``tensor`` as ``T``, six numbers ``X``.
SIZES_AND_DIMENSIONS: list[Call] = [
    lambda L, F: F.max_pool2d(L.ones(1, 1, 4, 4), [True, 2]),
    lambda L, F: F.max_pool2d(L.ones(1, 1, 4, 4), 2, [True, 1]),
    lambda L, F: F.avg_pool1d(L.ones(1, 1, 4), True),
    lambda L, F: F.avg_pool2d(L.ones(1, 1, 4, 4), [True, 2]),
    lambda L, F: F.conv2d(L.ones(1, 1, 4, 4), L.ones(1, 1, 2, 2), stride=[True, 1]),
    lambda L, F: F.conv2d(L.ones(1, 1, 4, 4), L.ones(1, 1, 2, 2), padding=True),
    lambda L, F: F.conv_transpose2d(L.ones(1, 1, 4, 4), L.ones(1, 1, 2, 2), stride=[True, 1]),
    lambda L, F: F.pad(L.ones(1, 4), [True, 1]),
    lambda L, F: F.unfold(L.ones(1, 1, 4, 4), [True, 2]),
    lambda L, F: F.fold(L.ones(1, 4, 9), [4, 4], [2, 2], stride=[True, 1]),
    lambda L, F: F.adaptive_avg_pool2d(L.ones(1, 1, 4, 4), [True, 2]),
    lambda L, F: F.adaptive_max_pool1d(L.ones(1, 1, 4), True),
    lambda L, F: F.interpolate(L.ones(1, 1, 4), [True]),
    lambda L: L.as_strided(L.ones(4), (2.0, 2), (1, 1)),
    lambda L: L.as_strided(L.ones(4), (True, 2), (1, 1)),
    lambda L: L.broadcast_shapes((2.0, 3), (3,)),
    lambda L: L.fft.fft(L.ones(2), n=True),
    lambda L, T: L.diff(T([1.0, 2.0]), True),
    lambda L, T: L.diff(T([1.0, 2.0]), 1.5),
    lambda L, T: L.ones(2, 3).transpose(T([0]), 1),
    lambda L, T: L.ones(2, 3).select(T([0]), 1),
    lambda L, T: L.ones(2, 3).unsqueeze(T([0])),
    lambda L, T: L.ones(2, 3).softmax(T([1])),
    lambda L, T: L.ones(2, 3).cumsum(T([1])),
    lambda L, T: L.ones(2, 3).cumsum(T(1)),
    lambda L, F, T: F.cross_entropy(L.ones(2, 3), T([0, 1]), ignore_index=1.5),
    lambda L, F, T: F.cross_entropy(L.ones(2, 3), T([0, 1]), ignore_index=T(1)),
    lambda L, F, T: F.nll_loss(L.ones(2, 3), T([0, 1]), ignore_index=1.5),
    lambda L, F, T: F.embedding(T([0]), L.ones(2, 2), padding_idx=1.5),
    lambda L, F, T: F.embedding_bag(T([[0, 1]]), L.ones(2, 2), padding_idx=T(1)),
    lambda F, T: F.hinge_embedding_loss(T([1.0]), T([1.0]), margin=True),
    lambda F, T: F.gaussian_nll_loss(T([1.0]), T([2.0]), T([3.0]), eps=True),
]

KINDS_OF_NUMBERS: list[Call] = [
    lambda L, T: L.isin(T([True]), T([True])),
    lambda L, T: L.isin(T([1j]), T([1j])),
    lambda L, F: F.max_pool1d(L.ones(1, 1, 4).long(), 2),
    lambda L, F: F.max_pool1d(L.ones(1, 1, 4).byte(), 2),
    lambda L, F: F.max_pool1d(L.ones(1, 1, 4).bool(), 2, return_indices=True),
    lambda L, F: F.max_pool1d(L.ones(1, 1, 4).long(), 2, return_indices=True),
    lambda L, F: F.max_pool2d(L.ones(1, 1, 4, 4).long(), 2),
    lambda L, F: F.avg_pool1d(L.ones(1, 1, 4).int(), 2),
    lambda L, F: F.avg_pool2d(L.ones(1, 1, 4, 4).byte(), 2),
    lambda L, F: F.avg_pool2d(L.ones(1, 1, 4, 4).long(), 2),
    lambda L, F: F.avg_pool3d(L.ones(1, 1, 4, 4, 4).bool(), 2),
    lambda L, F: F.max_unpool1d(L.ones(1, 1, 1).long(), L.zeros(1, 1, 1).long(), 2),
    lambda L, F: F.max_unpool2d(L.ones(1, 1, 1, 1) + 0j, L.zeros(1, 1, 1, 1).long(), 2),
    lambda L, F: F.max_unpool3d(L.ones(1, 1, 1, 1, 1).int(), L.zeros(1, 1, 1, 1, 1).long(), 2),
    lambda F, T: F.mse_loss(T([1]), T([2])),
    lambda F, T: F.mse_loss(T([1]), T([2]), reduction="sum"),
    lambda F, T: F.mse_loss(T([True]), T([False]), reduction="none"),
    lambda F, T: F.mse_loss(T([1j]), T([1j])),
    lambda F, T: F.mse_loss(T([1]), T([2.0]), reduction="none"),
    lambda F, T: F.smooth_l1_loss(T([1]), T([2])),
    lambda F, T: F.smooth_l1_loss(T([1j]), T([1j])),
    lambda F, T: F.smooth_l1_loss(T([1]), T([2.0]), reduction="none"),
    lambda F, T: F.huber_loss(T([1]), T([2])),
    lambda F, T: F.huber_loss(T([True]), T([False])),
    lambda F, T: F.huber_loss(T([1]), T([2.0])),
    lambda L, F, T: F.huber_loss(T([1.0]), T([2.0], dtype=L.float64)),
    lambda L, F, T: F.huber_loss(T([1.0], dtype=L.float64), T([2.0]), reduction="none"),
    lambda L, F, T: F.huber_loss(T(1.0), T([2.0], dtype=L.float64), reduction="none"),
    lambda L, F, T: F.soft_margin_loss(T([1.0]), T([2.0], dtype=L.float64)),
    lambda L, F, T: F.soft_margin_loss(T([1.0], dtype=L.float64), T([2.0]), reduction="none"),
    lambda F, T: F.soft_margin_loss(T([1]), T([2.0])),
    lambda L, F: F.soft_margin_loss(L.ones(2), L.ones(2, 2), reduction="none"),
    lambda L, F: F.soft_margin_loss(L.ones(2, 1), L.ones(1), reduction="none"),
    lambda F, T: F.kl_div(T([1]), T([2.0]), reduction="sum"),
    lambda F, T: F.kl_div(T([1.0]), T([True]), reduction="sum"),
    lambda F, T: F.margin_ranking_loss(T([1]), T([2]), T([1]), reduction="none"),
    lambda L, F, T: F.multi_margin_loss(L.ones(2, 3).long(), T([0, 1])),
    lambda L, F, T: F.multi_margin_loss(L.ones(2, 3) + 0j, T([0, 1])),
    lambda F, T: F.layer_norm(T([[1, 2]]), (2,)),
    lambda F, T: F.layer_norm(T([[True, False]]), (2,)),
    lambda F, T: F.rms_norm(T([[1, 2]]), (2,)),
    lambda F, T: F.rms_norm(T([[1, 2]]), (2,), eps=1e-5),
    lambda F, T: F.prelu(T([1]), T([1])),
    lambda L, F, T: F.embedding_bag(T([[0, 1]]), L.ones(2, 2).long()),
    lambda L, F, T: F.embedding_bag(T([[0, 1]]), L.ones(2, 2) + 0j, mode="sum"),
    lambda L, F: F.bilinear(L.ones(1, 2), L.ones(1, 2), L.ones(1, 2, 2), L.ones(1).double()),
    lambda L, T: L.zeros(3).index_copy(0, T([0]).int(), L.ones(1)),
    lambda L: L.resolve_conj("x"),
    lambda L: L.resolve_neg(None),
]

OUT_OF_RANGE: list[Call] = [
    lambda L, F, T: F.embedding_bag(T([[0, 5]]), L.ones(2, 2)),
    lambda L, F, T: F.embedding_bag(T([[0, -1]]), L.ones(2, 2), mode="max"),
    lambda L, F, T: F.embedding(T([[0, 5]]), L.ones(2, 2)),
    lambda L, T: L.zeros(3).index_add(0, T([5]), L.ones(1)),
    lambda L, T: L.zeros(3, 3).index_add_(0, T([5]), L.ones(1, 3)),
    lambda L, T: L.zeros(3, 3).index_add_(1, T([-1]), L.ones(3, 1)),
    lambda T: T([1.0]).type("foo"),
    lambda T: T([1.0]).type("torch.FooTensor"),
    lambda T: T([1.0]).type("torch.IntTensor"),
]

WORDS_AND_PLACES: list[Call] = [
    lambda L, T: L.repeat_interleave(repeats=T([1, 2])),
    lambda L, T: L.repeat_interleave(repeats=T([1, 2]), output_size=3),
    lambda L: L.repeat_interleave(),
    lambda L, T: str(L.result_type(tensor=T([1]), other=T([1.0]))).partition(".")[2],
    lambda L, T: str(L.result_type(scalar=1, tensor=T([1.0]))).partition(".")[2],
    lambda L: str(L.result_type(scalar1=1, scalar2=1.0)).partition(".")[2],
    lambda L, T: L.result_type(first=T([1]), other=T([1.0])),
    lambda L: L.group_norm(L.ones(1, 2, 2), 1, cudnn_enabled=True),
    lambda L: L.group_norm(L.ones(1, 2, 2), 1, None, None, 1e-5, False),
    lambda L: L.layer_norm(L.ones(1, 2, 2), (2,), None, None, 1e-5, False),
    lambda L: L.layer_norm(L.ones(1, 2, 2), (2,), cudnn_enable=False),
    lambda L: L.zeros(2).uniform_(**{"from": 0.0, "to": 1.0}),
    lambda L: L.zeros(2).random_(**{"from": 0, "to": 5}),
    lambda L: L.zeros(2).copy_(other=L.ones(2)),
]

SHARED_MEMORY: list[Call] = [
    lambda L, X: L.linalg.cross(X[:3], L.ones(3), out=X[1:4]),
    lambda L, X: L.diff(X[:5], out=X[1:5]),
    lambda L, X: L.sort(X[:5], out=(X[1:], L.zeros(5).long())),
    lambda L, X: [L.sort(X, descending=True, out=(X, L.zeros(6).long())), X],
    lambda L, X: L.msort(X[:5], out=X[1:]),
    lambda L, X: L._C._nn.gelu(X[:5], out=X[1:]),
    lambda L, X: [L._C._nn.gelu(X, out=X), X],
    lambda L, X: L.topk(X[:5], 2, out=(X[1:3], L.zeros(2).long())),
    lambda L, X: L.kthvalue(X[:5], 2, out=(X[1], L.zeros(()).long())),
    lambda L, X: L.median(X[:5], 0, out=(X[1], L.zeros(()).long())),
    lambda L, X: L.mode(X[:5], 0, out=(X[1], L.zeros(()).long())),
    lambda L, X: L.max(X.view(2, 3), 0, out=(X[1:4], L.zeros(3).long())),
    lambda L, X: L.logcumsumexp(X[:5], 0, out=X[1:]),
    lambda L, X: L.polygamma(1, X[:4], out=X[1:5]),
    lambda L, X: L.masked_select(X[:4], X[:4] > -1, out=X[1:5]),
]

CALLS = SIZES_AND_DIMENSIONS + KINDS_OF_NUMBERS + OUT_OF_RANGE + WORDS_AND_PLACES + SHARED_MEMORY


@pytest.mark.parametrize("call", CALLS, ids=words)
def test_arguments_of_unusual_types_have_pytorchs_outcome(torch: Any, call: Call) -> None:
    assert_same_outcome(call)
