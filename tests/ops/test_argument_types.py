"""Arguments of a type that PyTorch refuses: bools, floats, text for ints; numbers for tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

X: Any = tt.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
F: Any = tt.nn.functional

#: name: a call with one argument that is no int.
NO_INTS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda n: X.sum(n),
    "mean": lambda n: X.mean((0, n)),
    "softmax": lambda n: X.softmax(n),
    "cumsum": lambda n: X.cumsum(n),
    "max": lambda n: X.max(n),
    "argmax": lambda n: X.argmax(n),
    "topk": lambda n: X.topk(n),
    "kthvalue": lambda n: X.kthvalue(n),
    "transpose": lambda n: X.transpose(0, n),
    "permute": lambda n: X.permute(0, n),
    "unsqueeze": lambda n: X.unsqueeze(n),
    "squeeze": lambda n: X.squeeze(n),
    "view": lambda n: X.view(n, 6),
    "reshape": lambda n: X.reshape(n, 6),
    "expand": lambda n: X[:1].expand(n, 3),
    "flip": lambda n: X.flip(n),
    "roll": lambda n: X.roll(n, 0),
    "narrow from": lambda n: X.narrow(0, n, 1),
    "narrow to": lambda n: X.narrow(0, 0, n),
    "select": lambda n: X.select(0, n),
    "split": lambda n: X.split(n),
    "chunk": lambda n: X.chunk(n),
    "repeat": lambda n: X.repeat(1, n),
    "tile": lambda n: X.tile(n),
    "repeat_interleave": lambda n: X.repeat_interleave(n),
    "cat": lambda n: tt.cat([X, X], n),
    "stack": lambda n: tt.stack([X, X], n),
    "tril": lambda n: X.tril(n),
    "matrix_power": lambda n: tt.linalg.matrix_power(X[:, :2], n),
    "one_hot": lambda n: F.one_hot(tt.tensor([0]), n),
    "zeros": lambda n: tt.zeros(n),
}


@pytest.mark.parametrize("name", NO_INTS)
@pytest.mark.parametrize("value", [True, 1.0, "a"])
def test_what_is_no_int(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match="int|tuple|dtype|positional"):
        NO_INTS[name](value)


@pytest.mark.parametrize("name", NO_INTS)
@pytest.mark.parametrize("one", [np.int64(1), np.uint8(1), tt.tensor(1)])
def test_what_stands_for_an_int(name: str, one: Any) -> None:
    if name == "max" and isinstance(one, tt.Tensor):
        pytest.skip("a tensor is what to compare with")
    ours, expected = NO_INTS[name](one), NO_INTS[name](1)
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
        NotImplementedError, "\"cross\" not implemented for 'Bool'"),
    "float of many": (lambda: float(X), ValueError, "only one element tensors can be converted"),
    "int of many": (lambda: int(X), ValueError, "only one element tensors can be converted"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_types(name: str) -> None:
    call, error, text = OTHERS[name]
    with pytest.raises(error, match=text):
        call()


def test_nothing_is_equal_to_none() -> None:
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
def test_several_shapes_that_do_not_broadcast(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle")
    call, shapes = SEVERAL[name]
    with pytest.raises(RuntimeError) as wanted:
        call(torch, *map(torch.ones, shapes))
    with pytest.raises(RuntimeError) as info:
        call(tt, *map(tt.ones, shapes))
    assert str(wanted.value) in str(info.value)
    assert str(info.value).startswith(f"{name.partition(':')[0]}: ")
    assert all(str(list(shape)) in str(info.value) for shape in shapes)
