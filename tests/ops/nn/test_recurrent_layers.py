"""Recurrent networks as functions, ``tt.lstm`` and its like: PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
#: Layers, whether in both directions, whether with biases, size of a projection or 0.
NETS = [(1, False, True, 0), (2, True, False, 0), (3, False, True, 0), (2, True, True, 2)]


def drawn(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.RandomState(sum(shape)).uniform(-0.7, 0.7, shape)


def weights(name: str, layers: int, both: bool, biases: bool, projected: int) -> list[Any]:
    """The arrays of a network of input size 3 and hidden size 4, as PyTorch orders them."""
    found = []
    for layer in range(layers):
        for _ in range(both + 1):
            rows, hidden = GATES[name] * 4, projected or 4
            columns = hidden * (both + 1) if layer else 3
            found += [drawn(rows, columns), drawn(rows, hidden)]
            found += [drawn(rows), drawn(rows) / 2] if biases else []
            found += [drawn(projected, 4)] if projected else []
    return found


def states(name: str, count: int, batch: int, projected: int) -> list[Any]:
    hidden = drawn(count, batch, projected or 4)
    return [hidden, drawn(count, batch, 4)] if name == "lstm" else [hidden]


CASES = [(name, net) for name in GATES for net in NETS if name == "lstm" or not net[3]]


@pytest.mark.torch
@pytest.mark.parametrize(("name", "net"), CASES, ids=str)
@pytest.mark.parametrize("form", ["time first", "batch first", "packed"])
def test_recurrent_functions_are_pytorchs(
    name: str, net: tuple[int, bool, bool, int], form: str
) -> None:
    layers, both, biases, projected = net
    given = states(name, layers * (both + 1), 2, projected)
    x = drawn(7, 3) if form == "packed" else drawn(2, 5, 3) if "batch" in form else drawn(5, 2, 3)

    def call(library: Any, x: Any, *rest: Any) -> Any:
        hx = list(rest[:2]) if name == "lstm" else rest[0]
        last = hx, list(rest[len(given) :]), biases, layers, 0.5, False, both
        if form == "packed":
            sizes = library.tensor([2, 2, 2, 1], device="cpu")
            return getattr(library, name)(x, sizes, *last)
        return getattr(library, name)(x, *last, form == "batch first")

    for orders in (0, 2):  # without gradients, a network keeps less
        compare(call, x, *given, *weights(name, *net), orders=orders)


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_results_of_a_layer_may_be_changed_in_place(kind: str) -> None:
    def call(library: Any, x: Any) -> Any:
        library.manual_seed(0)
        layer = getattr(library.nn, kind)(3, 4).to(x.dtype)
        output, final = layer(x)
        output *= 2
        (final if kind == "GRU" else final[1]).add_(1)
        return output, final

    compare(call, drawn(5, 2, 3), orders=1)


@pytest.mark.torch
def test_recurrent_functions_accept_arguments_by_name() -> None:
    def call(library: Any, x: Any, hx: Any, *params: Any) -> Any:
        rest = {"has_biases": True, "num_layers": 1, "dropout": 0.0, "train": True,
                "bidirectional": False, "hx": hx, "params": params}  # fmt: skip
        sizes = library.tensor([2, 2, 2, 1], device="cpu")
        return (library.gru(input=x.reshape(-1, 2, 3)[:2], batch_first=False, **rest),
                library.gru(data=x[:7], batch_sizes=sizes, **rest))  # fmt: skip

    compare(call, drawn(8, 3), drawn(1, 2, 4), *weights("gru", 1, False, True, 0), orders=1)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        tt.gru(tt.ones(2, 2, 3), tt.ones(1, 2, 4), [])  # type: ignore[call-overload]


def test_dropout_between_layers_applies_in_training_alone() -> None:
    call = (drawn(2, 1, 4), weights("gru", 2, False, True, 0), True, 2)
    x = tt.tensor(drawn(5, 1, 3))
    hx, params = tt.tensor(call[0]), [tt.tensor(w) for w in call[1]]
    plain, trained, evaluated = (
        tt.gru(x, hx, params, True, 2, p, train, False, False)[0]
        for p, train in ((0.0, True), (1.0, True), (1.0, False))
    )
    assert evaluated.equal(plain) and not trained.equal(plain)
    # Everything between the layers is zeroed: the second hears nothing but its biases.
    second = tt.gru(x[:, :, :1].expand(5, 1, 4) * 0, hx[1:], params[4:], True, 1, 0.0, True, False,
                    False)  # fmt: skip
    assert trained.equal(second[0])


WRONG: dict[str, tuple[type[Exception], Any]] = {
    "lstm expects two hidden states": (
        RuntimeError, lambda t, x, h, w: t.lstm(x, (h,), w * 4, *SIZES)),
    "incorrect number of RNN parameters": (
        RuntimeError, lambda t, x, h, w: t.rnn_tanh(x, h, w[:3], *SIZES)),
    "must be Tensor, not tuple": (TypeError, lambda t, x, h, w: t.gru(x, (h,), w, *SIZES)),
    "must have 3 dimensions, got 2": (
        RuntimeError, lambda t, x, h, w: t.rnn_relu(x[0], h, w, *SIZES)),
    "input.size.-1. must be equal to input_size. Expected 3, got 2": (
        RuntimeError, lambda t, x, h, w: t.rnn_relu(x[:, :, :2], h, w, *SIZES)),
    r"Expected hidden\[0\] size \(1, 2, 4\), got \[1, 1, 4\]": (
        RuntimeError, lambda t, x, h, w: t.rnn_relu(x, h[:, :1], w, *SIZES)),
    "sequence length to be larger than 0": (
        RuntimeError, lambda t, x, h, w: t.rnn_relu(x[:0], h, w, *SIZES)),
}  # fmt: skip
SIZES = (True, 1, 0.0, False, False, False)


@pytest.mark.parametrize("text", WRONG)
def test_recurrent_functions_refuse_wrong_arguments(text: str) -> None:
    """PyTorch refuses some of these deep inside, and broadcasts or misreads others."""
    error, call = WRONG[text]
    params = [tt.tensor(w) for w in weights("rnn_tanh", 1, False, True, 0)]
    with pytest.raises(error, match=text):
        call(tt, tt.tensor(drawn(5, 2, 3)), tt.tensor(drawn(1, 2, 4)), params)
