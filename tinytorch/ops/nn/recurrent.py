"""Recurrent networks: RNN, LSTM and GRU cells, and networks of several layers and directions.

``run`` computes a network of any kind; ``lstm``, ``gru``, ``rnn_tanh`` and ``rnn_relu`` are its
public forms, with the parameters of the modules in ``nn``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...core.torch_function import PLAIN
from ...dispatch import autocast
from ...dispatch.op import Array, Backend, accepts_none, composite, op, reads_results
from ...state import grad_enabled
from ..linalg.matmul import linear
from ..shape.joining import cat, stack
from .dropout import dropout as apply_dropout
from .recurrent_sequences import gru_sequence, lstm_sequence


def _sigmoid(xp: Backend, x: Array) -> Array:
    """Sigmoid of ``x``, a new array."""
    # exp overflows to infinity for large negative numbers, whose reciprocal is the right 0.
    out = -x
    xp.exp(out, out)
    out += 1
    return xp.divide(1, out, out)


def _chunk(array: Any, count: int) -> list[Any]:
    """Split ``(batch, count * size)`` into ``count`` arrays ``(batch, size)``."""
    size = array.shape[1] // count
    return [array[:, i * size : (i + 1) * size] for i in range(count)]


@op(public=False, node="MulBackward0")
def _lstm_gates(xp: Backend, gates: Array, cell: Array) -> tuple[Array, Array, Array, Array]:
    """One step of an LSTM.

    Args:
        xp: The backend.
        gates: Input, forget, cell and output gate before their activations,
            ``(batch, 4 * hidden_size)``.
        cell: The cell state, ``(batch, hidden_size)``.

    Returns:
        The new hidden state, the new cell state, and for the gradient the activated gates and the
        tanh of the new cell state.
    """
    active = _sigmoid(xp, gates)
    i, f, z, o = _chunk(active, 4)
    z[...] = xp.tanh(_chunk(gates, 4)[2])
    new_cell = f * cell
    new_cell += i * z
    tanh_cell = xp.tanh(new_cell)
    return o * tanh_cell, new_cell, active, tanh_cell


@reads_results(2, 3)
def _lstm_rule(xp: Any, g: Any, cell: Any, out: Any) -> Any:
    """Gradients of the gates and the cell state of ``_lstm_gates``.

    ``g`` has the gradients of its four results, each of which may be None.
    """
    g_hidden, g_cell, g_active, g_tanh_cell = g
    i, f, z, o = _chunk(out[2], 4)
    tanh_cell = out[3]  # not computed from the cell state, which may be changed in place
    g_hidden = _zeros_for_none(g_hidden, tanh_cell)
    g_tanh = g_hidden * o if g_tanh_cell is None else g_hidden * o + g_tanh_cell
    g_tanh = g_tanh * (1 - tanh_cell * tanh_cell)
    g_cell = g_tanh if g_cell is None else g_cell + g_tanh
    g_each = [g_cell * z, g_cell * cell, g_cell * i, g_hidden * tanh_cell]
    if g_active is not None:
        g_each = [a + b for a, b in zip(g_each, _chunk(g_active, 4), strict=True)]
    derivatives = [i * (1 - i), f * (1 - f), 1 - z * z, o * (1 - o)]
    products = [a * b for a, b in zip(g_each, derivatives, strict=True)]
    return xp.concatenate(products, 1), g_cell * f


def _zeros_for_none(g: Any, like: Any) -> Any:
    """``g``, or zeros in the shape of ``like`` if it is None."""
    return like * 0 if g is None else g


_lstm_gates.vjp_joint("gates", "cell")(accepts_none(_lstm_rule))


@op(public=False, node="AddBackward0")
def _gru_gates(
    xp: Backend, projected: Array, recurrent: Array, hidden: Array
) -> tuple[Array, Array]:
    """One step of a GRU: the new hidden state and, for the gradient, the activated gates.

    ``projected`` and ``recurrent`` are the products of the input and of the hidden state with the
    weights of the reset, update and new gate, ``(batch, 3 * hidden_size)`` each.
    """
    size = hidden.shape[1]
    both = _sigmoid(xp, projected[:, : 2 * size] + recurrent[:, : 2 * size])
    r, u = _chunk(both, 2)
    n = r * recurrent[:, 2 * size :]
    n += projected[:, 2 * size :]
    xp.tanh(n, n)
    out = hidden - n
    out *= u
    out += n
    return out, xp.concatenate([both, n], 1)


@reads_results(1)
def _gru_rule(xp: Any, g: Any, recurrent: Any, hidden: Any, out: Any) -> Any:
    """Gradients of the three arguments of ``_gru_gates``.

    ``g`` has the gradients of both results, each of which may be None.
    """
    g_hidden, g_active = g
    active = out[1]
    size = hidden.shape[1]
    r, u, n = _chunk(active, 3)
    g_hidden = _zeros_for_none(g_hidden, hidden)
    g_update, g_new = g_hidden * (hidden - n), g_hidden * (1 - u)
    if g_active is not None:
        g_update = g_update + g_active[:, size : 2 * size]
        g_new = g_new + g_active[:, 2 * size :]
    g_update, g_new = g_update * (u * (1 - u)), g_new * (1 - n * n)
    g_reset = g_new * recurrent[:, 2 * size :]
    if g_active is not None:
        g_reset = g_reset + g_active[:, :size]
    g_reset = g_reset * (r * (1 - r))
    g_projected = xp.concatenate([g_reset, g_update, g_new], 1)
    g_recurrent = xp.concatenate([g_reset, g_update, g_new * r], 1)
    return g_projected, g_recurrent, g_hidden * u


_gru_gates.vjp_joint("projected", "recurrent", "hidden")(accepts_none(_gru_rule))


def lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """New hidden and cell state, as tensors; see ``_lstm_gates``."""
    hidden, new_cell, *_ = _lstm_gates(gates, cell)
    return hidden, new_cell


def gru_step(projected: Tensor, recurrent: Tensor, hidden: Tensor) -> Tensor:
    """New hidden state, as a tensor; see ``_gru_gates``."""
    new_hidden, _ = _gru_gates(projected, recurrent, hidden)
    return new_hidden


def _check_sizes(
    name: str, gates: int, input: Any, states: tuple[Any, ...], w_ih: Any, w_hh: Any
) -> None:
    """Raise RuntimeError unless sizes of input and states match each other and the weights.

    Args:
        name: The function, for errors.
        gates: Number of gates: 1 for an RNN, 3 for a GRU, 4 for an LSTM.
        input: ``(batch, input_size)``.
        states: Hidden state, and the cell state of an LSTM, ``(batch, hidden_size)``.
        w_ih: ``(gates * hidden_size, input_size)``.
        w_hh: ``(gates * hidden_size, hidden_size)``.
    """
    batch, features, hidden_size = input.shape[0], input.shape[1], w_hh.shape[1]
    if features != w_ih.shape[1]:
        raise RuntimeError(
            f"{name}: input has inconsistent input_size: got {features} expected {w_ih.shape[1]}"
        )
    for number, state in enumerate(states):
        if state.shape[0] != batch:  # one row would be broadcast
            raise RuntimeError(
                f"{name}: Input batch size {batch} doesn't match hidden{number} batch size "
                f"{state.shape[0]}"
            )
        if state.shape[1] != hidden_size:
            raise RuntimeError(
                f"{name}: hidden{number} has inconsistent hidden_size: got {state.shape[1]}, "
                f"expected {hidden_size}"
            )
    for argument, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.shape[0] != gates * hidden_size:
            raise RuntimeError(
                f"{name}: {argument} first dim must be {gates} * hidden_size = "
                f"{gates * hidden_size}, but got {weight.shape[0]}"
            )


def _check_pair(hx: Any) -> None:
    """Raise an error unless ``hx``, the states of an LSTM cell, is a pair of tensors."""
    if isinstance(hx, Tensor):
        raise TypeError(
            "lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor"
        )
    if len(hx) != 2:
        raise RuntimeError(f"lstm_cell expects two hidden states, got {len(hx)}")


@composite
def lstm_cell(
    input: Tensor,
    hx: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of a long short-term memory (LSTM).

    With i, f, z, o the quarters of ``input @ w_ih.T + b_ih + h @ w_hh.T + b_hh``:
    c' = σ(f) · c + σ(i) · tanh(z), h' = σ(o) · tanh(c').

    Args:
        input: Shape ``(batch, input_size)``.
        hx: h and c, shape ``(batch, hidden_size)`` each.
        w_ih: Shape ``(4 * hidden_size, input_size)``.
        w_hh: Shape ``(4 * hidden_size, hidden_size)``.
        b_ih: Shape ``(4 * hidden_size,)``. Default: none.
        b_hh: The same. Default: none.

    Returns:
        h' and c'.

    Raises:
        RuntimeError: If the sizes do not fit.

    Example:
        >>> x, h, c = tt.ones(1, 2), tt.zeros(1, 3), tt.ones(1, 3)
        >>> tt.lstm_cell(x, (h, c), tt.zeros(12, 2), tt.zeros(12, 3))[1]
        tensor([[0.5000, 0.5000, 0.5000]])

    Reference:
        S. Hochreiter and J. Schmidhuber, "Long short-term memory" (1997).
    """
    _check_pair(hx)
    hidden, cell = hx
    _check_sizes("lstm_cell", 4, input, hx, w_ih, w_hh)
    return lstm_step(linear(input, w_ih, b_ih) + linear(hidden, w_hh, b_hh), cell)


@composite
def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a gated recurrent unit (GRU).

    With a₁, a₂, a₃ the thirds of ``input @ w_ih.T + b_ih``, and b of ``hx @ w_hh.T + b_hh``:
    r = σ(a₁ + b₁), u = σ(a₂ + b₂), n = tanh(a₃ + r · b₃), h' = (1 - u) · n + u · h.

    Args:
        input: Shape ``(batch, input_size)``.
        hx: Shape ``(batch, hidden_size)``.
        w_ih: Shape ``(3 * hidden_size, input_size)``.
        w_hh: Shape ``(3 * hidden_size, hidden_size)``.
        b_ih: Shape ``(3 * hidden_size,)``. Default: none.
        b_hh: The same. Default: none.

    Returns:
        h', shape ``(batch, hidden_size)``.

    Raises:
        RuntimeError: If the sizes do not fit.

    Example:
        >>> x, h = tt.ones(1, 2), tt.ones(1, 3)
        >>> tt.gru_cell(x, h, tt.zeros(9, 2), tt.zeros(9, 3))
        tensor([[0.5000, 0.5000, 0.5000]])

    Reference:
        K. Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014).
    """
    _check_sizes("gru_cell", 3, input, (hx,), w_ih, w_hh)
    return gru_step(linear(input, w_ih, b_ih), linear(hx, w_hh, b_hh), hx)


@composite
def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """tanh(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh).

    Args:
        input: Shape ``(batch, input_size)``.
        hx: Shape ``(batch, hidden_size)``.
        w_ih: Shape ``(hidden_size, input_size)``.
        w_hh: Shape ``(hidden_size, hidden_size)``.
        b_ih: Shape ``(hidden_size,)``. Default: none.
        b_hh: The same. Default: none.

    Returns:
        Shape ``(batch, hidden_size)``.

    Raises:
        RuntimeError: If the sizes do not fit.

    Example:
        >>> tt.rnn_tanh_cell(tt.ones(1, 1), tt.zeros(1, 1), tt.ones(1, 1), tt.ones(1, 1))
        tensor([[0.7616]])
    """
    _check_sizes("rnn_tanh_cell", 1, input, (hx,), w_ih, w_hh)
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).tanh()


@composite(like=rnn_tanh_cell)
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """max(0, input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh).

    Returns:
        Shape ``(batch, hidden_size)``.

    Raises:
        RuntimeError: If the sizes do not fit.

    Example:
        >>> tt.rnn_relu_cell(tt.ones(1, 1), tt.zeros(1, 1), tt.ones(1, 1), tt.ones(1, 1))
        tensor([[1.]])
    """
    _check_sizes("rnn_relu_cell", 1, input, (hx,), w_ih, w_hh)
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).relu()


State = tuple[Any, ...]
#: Function of the projected input of one time step and the state; returns the new state.
Step = Callable[[Tensor, State], State]


def _make_rnn_step(activation: Callable[[Any], Any]) -> Callable[..., Step]:
    """Return the entry of ``STEPS`` for an RNN with this activation function.

    The entry makes a step: a function from the projected input and the state to the new state.
    """

    def make_step(w_hh: Tensor, b_hh: Tensor | None, w_hr: Tensor | None) -> Step:
        return lambda projected, state: (activation(projected + linear(state[0], w_hh, b_hh)),)

    return make_step


def _make_gru_step(w_hh: Tensor, b_hh: Tensor | None, w_hr: Tensor | None) -> Step:
    """Step of a GRU: a function from the projected input and the state to the new state."""
    return lambda projected, state: (gru_step(projected, linear(state[0], w_hh, b_hh), state[0]),)


def _make_lstm_step(w_hh: Tensor, b_hh: Tensor | None, w_hr: Tensor | None) -> Step:
    """Step of an LSTM: a function from the projected input and the state to the new state.

    The state is the pair of hidden and cell state. ``w_hr`` projects the hidden state if given.
    """

    def step(projected: Tensor, state: State) -> State:
        hidden, cell = lstm_step(projected + linear(state[0], w_hh, b_hh), state[1])
        return hidden if w_hr is None else linear(hidden, w_hr), cell

    return step


STEPS: dict[str, Callable[..., Step]] = {
    "RNN_TANH": _make_rnn_step(lambda x: x.tanh()),
    "RNN_RELU": _make_rnn_step(lambda x: x.relu()),
    "GRU": _make_gru_step,
    "LSTM": _make_lstm_step,
}


def run(
    mode: str, input: Tensor, state: State, weights: Sequence[Sequence[Any]], directions: int,
    dropout: float, batch_sizes: Sequence[int] | None = None,
) -> tuple[Tensor, State]:  # fmt: skip
    """Run all layers of a network over a batch of sequences.

    Args:
        mode: A name in ``STEPS``.
        input: Shape ``(time, batch, features)``; packed, ``(all steps, features)``.
        state: Tensors of shape ``(layers * directions, batch, features)``.
        weights: For each layer and direction ``(w_ih, w_hh, b_ih, b_hh, w_hr)``, with None for
            those that it does not have.
        directions: 1, or 2 to run backwards, too.
        dropout: Probability of dropout between the layers.
        batch_sizes: For packed input, the number of sequences at each time step.

    Returns:
        The output of the last layer, in the form of ``input``, and the final states, in the
        form of ``state``.
    """
    if mode == "LSTM" and batch_sizes is None and weights[0][4] is None and _uses_autocast(input):
        return _run_autocast(input, state, weights, directions, dropout)
    finals: list[State] = []
    for layer in range(0, len(weights), directions):
        outputs = []
        for direction in range(directions):
            first = tuple(part[layer + direction] for part in state)
            parameters = weights[layer + direction]
            output, final = _run_direction(
                mode, input, first, parameters, direction == 1, batch_sizes
            )
            outputs.append(output)
            finals.append(final)
        input = outputs[0] if directions == 1 else cat(outputs, -1)
        if dropout and layer + directions < len(weights):
            input = apply_dropout(input, dropout, True)
    return input, tuple(stack(list(parts)) for parts in zip(*finals, strict=True))


def _uses_autocast(input: Tensor) -> bool:
    """Whether autocast casts the arguments of the LSTM that ``input`` is for.

    PyTorch then runs one oneDNN function, which is in autocast's list.
    """
    device_type = input._xp.device_type
    on = device_type == "cpu" and autocast.is_on() and autocast.is_autocast_enabled("cpu")
    return on and input.dtype is not dtypes.float64


def _run_autocast(
    input: Tensor, state: State, weights: Sequence[Any], directions: int, dropout: float
) -> tuple[Tensor, State]:
    """``run`` of an LSTM with arguments rounded to the autocast dtype.

    As in PyTorch, it is computed in float32, and the results are rounded once.
    """
    low = autocast.get_autocast_dtype("cpu")
    args: Any = input, state, weights
    for dtype in (low, dtypes.float32):
        args = autocast.cast_inside(args, "cpu", dtype)
    with autocast.NoAutocast():
        input, state, weights = args
        output, final = run("LSTM", input, state, weights, directions, dropout)
        return output.to(low), tuple(part.to(low) for part in final)


def _run_direction(
    mode: str, input: Tensor, state: State, weights: Sequence[Any], backwards: bool,
    batch_sizes: Sequence[int] | None,
) -> tuple[Tensor, State]:  # fmt: skip
    """Run one layer in one direction; return its output and its final state.

    ``weights`` are ``(w_ih, w_hh, b_ih, b_hh, w_hr)``. The other arguments are those of ``run``;
    ``state`` is that of the layer and direction, without the first dimension.
    """
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    if mode in ("LSTM", "GRU") and w_hr is None and _is_uniform(input, *state, w_ih, w_hh):
        sizes = tuple(batch_sizes or (input.shape[1],) * input.shape[0])
        return _run_sequence(mode, input, state, weights, backwards, sizes)
    # One product for the inputs of all time steps.
    projected = linear(input, w_ih, b_ih)
    times = projected.unbind(0) if batch_sizes is None else projected.split(list(batch_sizes))
    outputs, final = _run_steps(STEPS[mode](w_hh, b_hh, w_hr), times, state, backwards)
    return (stack(outputs) if batch_sizes is None else cat(outputs)), final


def _is_uniform(*tensors: Tensor) -> bool:
    """Whether tensors are all of float32 or all of float64, without autocast and overrides."""
    dtype = tensors[0].dtype
    if autocast.is_on() or dtype not in (dtypes.float32, dtypes.float64):
        return False
    return all(tensor.__class__ in PLAIN and tensor.dtype is dtype for tensor in tensors)


def _run_sequence(
    mode: str, input: Tensor, state: State, weights: Sequence[Any], backwards: bool,
    sizes: tuple[int, ...],
) -> tuple[Tensor, State]:  # fmt: skip
    """``_run_direction`` of an LSTM or GRU as one operation.

    ``sizes`` is the number of sequences at each time step.
    """
    w_ih, w_hh, b_ih, b_hh, _ = weights
    if mode == "LSTM" and b_hh is not None:
        b_ih = b_ih + b_hh
    projected = linear(input, w_ih, b_ih)
    factors = projected, *state, w_hh, *(() if b_hh is None else (b_hh,))
    order = sizes, backwards, grad_enabled() and any(t.requires_grad for t in factors)
    if mode == "GRU":
        output, *states = gru_sequence(projected, state[0], w_hh, b_hh, *order)[:2]
    else:
        output, *states = lstm_sequence(projected, state[0], state[1], w_hh, *order)[:3]
    return output, tuple(_final_rows(rows, sizes, backwards) for rows in states)


def _final_rows(rows: Any, sizes: tuple[int, ...], backwards: bool) -> Any:
    """The final state of each sequence, from the rows of the states after all time steps."""
    if backwards:
        return rows[: sizes[0]]
    parts, end, ended = [], rows.shape[0], 0
    for size in reversed(sizes):
        if size > ended:
            parts.append(rows[end - size + ended : end])
        end, ended = end - size, size
    return parts[0] if len(parts) == 1 else cat(parts)


def _run_steps(
    step: Step, times: Sequence[Tensor], first: State, backwards: bool
) -> tuple[list[Tensor], State]:
    """Call ``step`` for each time step, on the sequences that have it.

    Sequences are sorted, the longest first, so that those that end (or, backwards, begin) at a
    time step are the last rows of the state.

    Args:
        step: Function of the projected input and the state, which returns the new state.
        times: The projected input of each time step, ``(sequences that have it, features)``.
        first: The initial state of all sequences.
        backwards: Whether to begin with the last time step.

    Returns:
        The hidden state of each time step, and the final state of all sequences.
    """
    outputs: list[Any] = [None] * len(times)
    finals: list[State] = []
    order = range(len(times))[:: -1 if backwards else 1]
    state = _slice_state(first, 0, times[order[0]].shape[0])
    for time in order:
        count, before = times[time].shape[0], state[0].shape[0]
        if count < before:
            finals.append(_slice_state(state, count, before))
            state = _slice_state(state, 0, count)
        elif count > before:
            state = _concatenate_states([state, _slice_state(first, before, count)])
        state = step(times[time], state)
        outputs[time] = state[0]
    return outputs, _concatenate_states([state, *reversed(finals)])


def _slice_state(state: State, start: int, end: int) -> State:
    """``state`` of the sequences ``start`` to ``end``."""
    if start == 0 and end == state[0].shape[0]:
        return state
    return tuple(part[start:end] for part in state)


def _concatenate_states(states: list[State]) -> State:
    """The state of the sequences of all ``states``."""
    if len(states) == 1:
        return states[0]
    return tuple(cat(list(parts)) for parts in zip(*states, strict=True))


_SIZES = "num_layers: int, dropout: float, train: bool, bidirectional: bool"
_MORE = "params: Sequence[Tensor], has_biases: bool, " + _SIZES
_PAIR = "tuple[Tensor, Tensor]"
#: Two signatures: for a batch of sequences of one length, and for packed sequences.
_FORMS = (
    f"(input: Tensor, hx: Tensor, {_MORE}, batch_first: bool) -> {_PAIR}",
    f"(data: Tensor, batch_sizes: Tensor, hx: Tensor, {_MORE}) -> {_PAIR}",
)
_PADDED, _PACKED = (re.findall(r"(\w+):", form) for form in _FORMS)
_LSTM_FORMS = tuple(
    form.replace("hx: Tensor", "hx: Sequence[Tensor]").replace(_PAIR, "tuple[Tensor, ...]")
    for form in _FORMS
)


def _call(
    name: str, mode: str, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Tensor, tuple[Any, ...]]:
    """Output and final states of a call of the public function ``name``, with either signature.

    ``mode`` is a name in ``STEPS``; ``args`` and ``options`` are the arguments of the call.
    """
    given = _bind(name, args, options)
    sizes = given.get("batch_sizes")
    input = given["input" if sizes is None else "data"]
    state = _check_state(name, mode, given["hx"])
    has_projection = len(state) == 2 and state[0].shape[-1] != state[1].shape[-1]
    directions = 2 if given["bidirectional"] else 1
    count = given["num_layers"] * directions
    weights = _split_parameters(name, given["params"], given["has_biases"], count, has_projection)
    batch_first = given.get("batch_first", False)
    times = input.transpose(0, 1) if batch_first else input
    _check(name, times, state, count, weights, sizes)
    dropout = given["dropout"] if given["train"] else 0.0
    steps = None if sizes is None else sizes.tolist()
    output, final = run(mode, times, state, weights, directions, dropout, steps)
    return output.transpose(0, 1) if batch_first else output, final


def _bind(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a call of ``name`` as a dict by parameter.

    There is one signature for packed sequences and one for others. It is the first if
    ``batch_sizes`` is given by name, or if the fourth argument is a list: that is its ``params``,
    which are the third argument of the other signature.
    """
    packed = "batch_sizes" in options or (len(args) > 3 and isinstance(args[3], (list, tuple)))
    names = _PACKED if packed else _PADDED
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or given.keys() & options or {*given, *options} != {*names}:
        raise TypeError(
            f"{name}() received an invalid combination of arguments: expected "
            f"({', '.join(_PADDED)}) or ({', '.join(_PACKED)}), got {len(args)} by position and "
            f"{sorted(options)} by name"
        )
    return given | options


def _check_state(name: str, mode: str, hx: Any) -> tuple[Any, ...]:
    """``hx`` as the tuple of states of a network: a pair for an LSTM, else one tensor."""
    if mode != "LSTM":
        if not isinstance(hx, Tensor):
            raise TypeError(f"{name}(): argument 'hx' must be Tensor, not {type(hx).__name__}")
        return (hx,)
    if not isinstance(hx, (list, tuple)):
        raise TypeError(
            f"{name}(): argument 'hx' must be tuple of Tensors, not {type(hx).__name__}"
        )
    if len(hx) != 2:
        raise RuntimeError(f"{name} expects two hidden states, got {len(hx)}")
    return tuple(hx)


def _split_parameters(
    name: str, params: Any, biases: bool, count: int, projection: bool
) -> list[tuple[Any, ...]]:
    """``(w_ih, w_hh, b_ih, b_hh, w_hr)`` of each layer and direction, None for missing ones.

    Args:
        name: The function, for errors.
        params: The parameters of all layers, in order.
        biases: Whether there are ``b_ih`` and ``b_hh``.
        count: Number of layers times directions.
        projection: Whether there is ``w_hr``.
    """
    exists = (True, True, biases, biases, projection)
    number = sum(exists)
    if len(params) != count * number:
        raise RuntimeError(
            f"{name}: got an incorrect number of RNN parameters: expected {count} times {number}, "
            f"got {len(params)}"
        )
    given = iter(params)
    return [tuple(next(given) if is_given else None for is_given in exists) for _ in range(count)]


def _check(name: str, input: Any, state: Any, count: int, weights: list[Any], sizes: Any) -> None:
    """Raise RuntimeError for shapes that do not fit, which might broadcast.

    ``count`` is the number of layers times directions, ``weights`` is the result of
    ``_split_parameters``, and ``sizes`` are the batch sizes of a packed input, or None.
    """
    ndim = 3 if sizes is None else 2
    if input.ndim != ndim:
        raise RuntimeError(f"{name}: input must have {ndim} dimensions, got {input.ndim}")
    if not input.shape[0]:
        raise RuntimeError(f"{name}: Expected sequence length to be larger than 0 in RNN")
    if input.shape[-1] != weights[0][0].shape[1]:
        raise RuntimeError(
            f"{name}: input.size(-1) must be equal to input_size. Expected "
            f"{weights[0][0].shape[1]}, got {input.shape[-1]}"
        )
    batch = input.shape[1] if sizes is None else int(sizes[0])
    hidden = weights[0][1].shape[1]
    for number, part in enumerate(state):
        size = (count, batch, hidden if number == 0 else part.shape[-1])
        if tuple(part.shape) != size:
            raise RuntimeError(
                f"{name}: Expected hidden[{number}] size {size}, got {list(part.shape)}"
            )


@composite(forms=_LSTM_FORMS)
def lstm(*args: Any, **options: Any) -> tuple[Tensor, ...]:
    """LSTM network with several layers, as ``nn.LSTM`` with its parameters as arguments.

    Args:
        input: Shape ``(time, batch, input_size)``.
        hx: The initial h and c, ``(num_layers * directions, batch, hidden_size)`` each; h is
            projected if their last sizes differ.
        params: List of w_ih, w_hh, b_ih, b_hh and, with a projection, w_hr for each layer and
            direction, as in ``nn.LSTM``.
        has_biases: Whether ``params`` contains b_ih and b_hh.
        num_layers: Number of layers.
        dropout: Probability of dropout between the layers.
        train: Whether dropout is applied.
        bidirectional: Whether each layer runs backwards, too.
        batch_first: Whether ``input`` and the output have their first two dimensions swapped.
        *args: These by position.
        **options: These by name.

    For packed sequences, ``data`` and ``batch_sizes`` replace ``input``, and there is no
    ``batch_first``.

    Returns:
        The output, and the final h and c of all layers.

    Raises:
        RuntimeError: If the sizes or the number of parameters do not fit.

    Example:
        >>> net, state = tt.nn.LSTM(2, 3), tt.zeros(1, 5, 3)
        >>> parameters = list(net.parameters())
        >>> sizes = True, 1, 0.0, False, False, False
        >>> [x.shape[0] for x in tt.lstm(tt.ones(4, 5, 2), (state, state), parameters, *sizes)]
        [4, 1, 1]
    """
    output, final = _call("lstm", "LSTM", args, options)
    return output, *final


@composite(forms=_FORMS)
def gru(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """GRU network with several layers; arguments as for ``lstm``, with a tensor ``hx``.

    Args:
        *args: Arguments of ``lstm``, by position; ``hx`` is one tensor of the shape of h.
        **options: The same by name.

    Example:
        >>> parameters = list(tt.nn.GRU(2, 3).parameters())
        >>> sizes = True, 1, 0.0, False, False, False
        >>> tt.gru(tt.ones(4, 5, 2), tt.zeros(1, 5, 3), parameters, *sizes)[0].shape
        tinytorch.Size([4, 5, 3])
    """
    output, (state,) = _call("gru", "GRU", args, options)
    return output, state


@composite(forms=_FORMS)
def rnn_tanh(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Elman RNN with tanh and several layers; arguments as for ``gru``.

    Args:
        *args: Arguments of ``lstm``, by position; ``hx`` is one tensor of the shape of h.
        **options: The same by name.

    Example:
        >>> parameters = [tt.ones(1, 1), tt.zeros(1, 1)]
        >>> sizes = False, 1, 0.0, False, False, False
        >>> tt.rnn_tanh(tt.ones(1, 1, 1), tt.zeros(1, 1, 1), parameters, *sizes)[0]
        tensor([[[0.7616]]])
    """
    output, (state,) = _call("rnn_tanh", "RNN_TANH", args, options)
    return output, state


@composite(forms=_FORMS)
def rnn_relu(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Elman RNN with ReLU and several layers; arguments as for ``gru``.

    Args:
        *args: Arguments of ``lstm``, by position; ``hx`` is one tensor of the shape of h.
        **options: The same by name.

    Example:
        >>> parameters = [tt.ones(1, 1), tt.zeros(1, 1)]
        >>> sizes = False, 1, 0.0, False, False, False
        >>> tt.rnn_relu(tt.ones(1, 1, 1), tt.zeros(1, 1, 1), parameters, *sizes)[0]
        tensor([[[1.]]])
    """
    output, (state,) = _call("rnn_relu", "RNN_RELU", args, options)
    return output, state
