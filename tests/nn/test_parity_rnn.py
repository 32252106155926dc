"""Recurrent layers, cells and packed sequences are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, words
from tests.nn import parity
from tests.oracles import assert_same_behavior, assert_same_error, error_texts

pytestmark = pytest.mark.torch

array = parity.array
LENGTHS = [5, 3, 3, 1]


def flat(result: Any) -> list[Any]:
    """The tensors of an output and a state, however nested."""
    if isinstance(result, (list, tuple)) and not hasattr(result, "batch_sizes"):
        return [leaf for part in result for leaf in flat(part)]
    return [result.data, result.batch_sizes] if hasattr(result, "batch_sizes") else [result]


def total(lib: Any, tensors: list[Any]) -> Any:
    """A sum with weights that differ from element to element."""
    return sum(
        (x * lib.cos(lib.arange(x.numel(), dtype=x.dtype)).reshape(x.shape)).sum()
        for x in tensors
        if x.requires_grad
    )


def trained(lib: Any, layer: Any, x: Any, state: Any) -> list[Any]:
    """Outputs, and the gradients of everything."""
    outputs = flat(layer(x, state))
    total(lib, outputs).backward()
    return [
        [(name, param) for name, param in layer.named_parameters()],
        outputs,
        [param.grad for param in layer.parameters()],
    ]


LAYERS: list[Call] = [
    lambda nn: nn.RNN(3, 4),
    lambda nn: nn.RNN(3, 4, 2, "relu", bidirectional=True),
    lambda nn: nn.RNN(3, 4, bias=False, batch_first=True),
    lambda nn: nn.LSTM(3, 4),
    lambda nn: nn.LSTM(3, 4, num_layers=3, bidirectional=True, batch_first=True),
    lambda nn: nn.LSTM(3, 4, num_layers=2, bias=False, proj_size=2, bidirectional=True),
    lambda nn: nn.LSTM(3, 4, proj_size=3),
    lambda nn: nn.GRU(3, 4),
    lambda nn: nn.GRU(3, 4, num_layers=2, bidirectional=True, bias=False),
    lambda nn: nn.GRU(3, 4, batch_first=True),
]


def make(lib: Any, text: Call) -> Any:
    return parity.build(lib, text).double()


def first_state(lib: Any, layer: Any, *batch: int) -> Any:
    directions = layer.num_layers * (2 if layer.bidirectional else 1)
    sizes = [layer.proj_size or layer.hidden_size]
    if layer.mode == "LSTM":
        sizes.append(layer.hidden_size)
    parts = tuple(
        lib.tensor(array(directions, *batch, n, dtype="float64", seed=n), requires_grad=True)
        for n in sizes
    )
    return parts if layer.mode == "LSTM" else parts[0]


@pytest.mark.parametrize("text", LAYERS, ids=words)
@pytest.mark.parametrize("with_state", [False, True])
@pytest.mark.parametrize("batched", [False, True])
def test_outputs_and_gradients_of_recurrent_layers_are_pytorchs(
    text: Call, with_state: bool, batched: bool
) -> None:
    def run(lib: Any) -> Any:
        layer = make(lib, text)
        shape = (5, 4, 3) if batched else (5, 3)
        x = lib.tensor(array(*shape, dtype="float64"), requires_grad=True)
        batch = ((5 if layer.batch_first else 4),) if batched else ()
        state = first_state(lib, layer, *batch) if with_state else None
        result = trained(lib, layer, x, state)
        return [*result, x.grad, [part.grad for part in flat(state)] if with_state else None]

    assert_same_behavior(run)


@pytest.mark.parametrize("text", LAYERS, ids=words)
@pytest.mark.parametrize("enforce_sorted", [False, True])
def test_recurrent_layers_on_packed_sequences_are_pytorchs(
    text: Call, enforce_sorted: bool
) -> None:
    lengths = LENGTHS if enforce_sorted else [3, 1, 5, 3]

    def run(lib: Any) -> Any:
        layer = make(lib, text)
        x = lib.tensor(array(5, 4, 3, dtype="float64"), requires_grad=True)
        packed = lib.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=enforce_sorted)
        state = first_state(lib, layer, 4)
        result = trained(lib, layer, packed, state)
        return [*result, x.grad, [part.grad for part in flat(state)]]

    assert_same_behavior(run)


@pytest.mark.parametrize(
    "text",
    [lambda nn: nn.LSTM(3, 4, 3, dropout=0.5), lambda nn: nn.GRU(3, 4, 2, dropout=0.5)],
    ids=words,
)
@pytest.mark.parametrize("mode", [True, False])
def test_dropout_between_recurrent_layers_is_pytorchs(text: Call, mode: bool) -> None:
    def run(lib: Any) -> Any:
        layer = make(lib, text).train(mode)
        return flat(layer(lib.tensor(array(5, 4, 3, dtype="float64"))))

    assert_same_behavior(run)


@pytest.mark.parametrize("text", [*LAYERS, lambda nn: nn.LSTM(3, 4, 2, dropout=0.25)], ids=words)
def test_repr_and_initial_weights_of_recurrent_layers_are_pytorchs(text: Call) -> None:
    assert_same_behavior(lambda lib: [repr(make(lib, text)), make(lib, text).float().state_dict()])


CELLS: list[Call] = [
    lambda nn: nn.RNNCell(3, 4),
    lambda nn: nn.RNNCell(3, 4, False, "relu"),
    lambda nn: nn.LSTMCell(3, 4),
    lambda nn: nn.GRUCell(3, 4),
    lambda nn: nn.LSTMCell(3, 4, bias=False),
    lambda nn: nn.GRUCell(3, 4, bias=False),
]


@pytest.mark.parametrize("text", CELLS, ids=words)
@pytest.mark.parametrize("batched", [False, True])
def test_outputs_and_gradients_of_recurrent_cells_are_pytorchs(text: Call, batched: bool) -> None:
    def run(lib: Any) -> Any:
        cell = make(lib, text)
        shape = (2,) if batched else ()
        state = None
        inputs = [
            lib.tensor(array(*shape, 3, dtype="float64", seed=seed), requires_grad=True)
            for seed in range(3)
        ]
        for x in inputs:
            state = cell(x, state)
        outputs = flat(state)
        total(lib, outputs).backward()
        grads = [x.grad for x in [*inputs, *cell.parameters()]]
        return [repr(cell), outputs, grads]

    assert_same_behavior(run)


@pytest.mark.parametrize("text", CELLS[:4], ids=words)
def test_second_derivatives_of_recurrent_cells_are_pytorchs(text: Call) -> None:
    def run(lib: Any) -> Any:
        cell = make(lib, text)
        x = lib.tensor(array(2, 3, dtype="float64"), requires_grad=True)
        out = total(lib, flat(cell(x, cell(x))))
        grads = lib.autograd.grad(out, [x, cell.weight_hh], create_graph=True)
        return [grads, lib.autograd.grad(total(lib, list(grads)), [x, *cell.parameters()])]

    assert_same_behavior(run)


def test_functions_of_recurrent_cells_are_pytorchs() -> None:
    def run(lib: Any) -> Any:
        made = [lib.tensor(array(*shape)) for shape in ((2, 3), (2, 4), (2, 4), (16, 3), (16, 4))]
        x, h, c, w_ih, w_hh = made
        return [
            lib.lstm_cell(x, (h, c), w_ih, w_hh),
            lib.gru_cell(x, h, w_ih[:12], w_hh[:12]),
            lib.rnn_tanh_cell(x, h, w_ih[:4], w_hh[:4], w_ih[:4, 0], w_hh[:4, 0]),
            lib.rnn_relu_cell(x, h, w_ih[:4], w_hh[:4]),
        ]

    assert_same_behavior(run)


ERRORS: list[Call] = [
    lambda nn, lib: nn.RNN(3, 4)(lib.ones(5, 2, 2)),
    lambda nn, lib: nn.RNN(3, 4)(lib.ones(5)),
    lambda nn, lib: nn.LSTM(3, 4)(lib.ones(1, 5, 2, 3)),
    lambda nn, lib: nn.GRU(3, 4)(lib.ones(5, 2, 3, dtype=lib.float64)),
    lambda nn, lib: nn.GRU(3, 4)(lib.ones(5, 2, 3), lib.ones(1, 3, 4)),
    lambda nn, lib: nn.GRU(3, 4)(lib.ones(5, 2, 3), lib.ones(1, 4)),
    lambda nn, lib: nn.GRU(3, 4)(lib.ones(5, 3), lib.ones(1, 2, 4)),
    lambda nn, lib: nn.LSTM(3, 4)(lib.ones(5, 2, 3), (lib.ones(1, 2, 4), lib.ones(1, 3, 4))),
    lambda nn, lib: nn.LSTM(3, 4)(lib.ones(5, 3), (lib.ones(1, 1, 4), lib.ones(1, 1, 4))),
    lambda nn, lib: nn.LSTM(3, 4)(lib.ones(0, 2, 3)),
    lambda nn, lib: nn.GRU(3, 4, batch_first=True)(lib.ones(2, 0, 3)),
    lambda nn, lib: nn.RNN(3, 4)(lib.ones(0, 3)),
    lambda nn: nn.RNN(3, 4, nonlinearity="abs"),
    lambda nn: nn.RNN(0, 4),
    lambda nn: nn.RNN(3, 4.5),
    lambda nn: nn.RNN(3, 4, dropout=2),
    lambda nn: nn.GRU(3, 4, bias=1),
    lambda nn: nn.GRU(3, 4, proj_size=2),
    lambda nn: nn.LSTM(3, 4, proj_size=5),
    lambda nn, lib: nn.RNNCell(3, 4)(lib.ones(1, 1, 3)),
    lambda nn, lib: nn.LSTMCell(3, 4)(lib.ones(1, 3), (lib.ones(1, 1, 4), lib.ones(1, 4))),
    lambda nn, lib: nn.RNNCell(3, 4, nonlinearity="abs")(lib.ones(1, 3)),
    lambda nn, lib: nn.utils.rnn.pack_padded_sequence(lib.ones(3, 2), [2, 3]),
    lambda nn, lib: nn.utils.rnn.pack_padded_sequence(lib.ones(3, 2), [3, 0]),
    lambda nn, lib: nn.utils.rnn.pack_padded_sequence(lib.ones(3, 2), [3]),
    lambda nn: nn.utils.rnn.pad_sequence(3),
    lambda nn: nn.utils.rnn.pad_sequence([]),
    lambda nn, lib: nn.utils.rnn.pad_sequence([lib.ones(2)], padding_side="top"),
]


@pytest.mark.parametrize("use", ERRORS, ids=words)
def test_recurrent_layers_raise_pytorchs_errors(use: Call) -> None:
    assert_same_error(parity.as_library_call(use))


CELL_ERRORS: list[Call] = [
    lambda nn, lib: nn.RNNCell(3, 4)(lib.ones(2, 3), lib.ones(1, 4)),
    lambda nn, lib: nn.RNNCell(3, 4, nonlinearity="relu")(lib.ones(2, 3), lib.ones(2, 5)),
    lambda nn, lib: nn.GRUCell(3, 4)(lib.ones(1, 3), lib.ones(2, 4)),
    lambda nn, lib: nn.GRUCell(3, 4)(lib.ones(2, 4)),
    lambda nn, lib: nn.LSTMCell(3, 4)(lib.ones(2, 3), (lib.ones(2, 4), lib.ones(1, 4))),
    lambda nn, lib: nn.LSTMCell(3, 4)(lib.ones(2, 3), (lib.ones(2, 4), lib.ones(2, 5))),
]


@pytest.mark.parametrize("use", CELL_ERRORS, ids=words)
def test_cells_refuse_sizes_that_would_be_broadcast(use: Call) -> None:
    ours, theirs = error_texts(parity.as_library_call(use))
    assert theirs in ours


@pytest.mark.parametrize(
    "use",
    [
        lambda nn, lib: nn.LSTMCell(3, 4)(lib.ones(2, 3), lib.ones(2, 4)),
        lambda nn, lib: nn.LSTMCell(3, 4)(lib.ones(3), lib.ones(4)),
        lambda nn, lib: nn.LSTMCell(3, 4)(lib.ones(2, 3), (lib.ones(2, 4),)),
        lambda nn, lib: nn.LSTMCell(3, 4)(lib.ones(2, 3), ()),
        lambda lib: lib.lstm_cell(lib.ones(2, 3), lib.ones(2, 4), lib.ones(16, 3), lib.ones(16, 4)),
    ],
    ids=words,
)
def test_an_lstm_cell_refuses_a_state_that_is_not_a_pair(use: Call) -> None:
    ours, theirs = error_texts(parity.as_library_call(use))
    assert theirs in ours


# -- packing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_first", [False, True])
def test_packing_and_padding_of_sequences_are_pytorchs(batch_first: bool) -> None:
    def run(lib: Any) -> Any:
        rnn = lib.nn.utils.rnn
        x = lib.tensor(array(4, 5, 2) if batch_first else array(5, 4, 2))
        packed = rnn.pack_padded_sequence(x, lib.tensor([3, 1, 5, 3]), batch_first, False)
        back, lengths = rnn.pad_packed_sequence(packed, batch_first, -1.0, total_length=6)
        unpadded = rnn.unpad_sequence(x, lengths, batch_first)
        return [list(packed), back, back.stride(), lengths, unpadded]

    assert_same_behavior(run)


def test_lists_of_sequences_are_packed_and_padded_as_by_pytorch() -> None:
    def run(lib: Any) -> Any:
        rnn = lib.nn.utils.rnn
        given = [lib.tensor(array(n, 2, seed=n)) for n in LENGTHS]
        packed = rnn.pack_sequence(given)
        return [
            list(packed)[:2],
            rnn.unpack_sequence(packed),
            rnn.pad_sequence(given, padding_value=7.0),
            rnn.pad_sequence(given, batch_first=True, padding_side="left"),
            rnn.invert_permutation(lib.tensor([2, 0, 1])),
        ]

    assert_same_behavior(run)


def test_a_packed_sequence_is_converted_with_its_indices_unchanged() -> None:
    packed = tt.nn.utils.rnn.pack_sequence([tt.ones(1), tt.ones(2)], enforce_sorted=False)
    wide = packed.double()
    assert wide.data.dtype == tt.float64 and packed.to(tt.float32) is packed
    assert wide.sorted_indices.tolist() == [1, 0] and not wide.is_cuda
    assert np.array_equal(wide.batch_sizes, [2, 1])


def test_conversions_of_a_packed_sequence_have_pytorchs_dtypes() -> None:
    names = ["byte", "char", "double", "float", "half", "int", "long", "short"]

    def run(lib: Any) -> Any:
        packed = lib.nn.utils.rnn.pack_sequence([lib.ones(1), lib.ones(2)], enforce_sorted=False)
        made = [getattr(packed, name)() for name in names]
        assert not packed.is_pinned()
        return [[x.data, x.batch_sizes, x.sorted_indices] for x in made]

    assert_same_behavior(run)
