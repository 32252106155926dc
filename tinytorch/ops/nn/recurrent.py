"""Recurrent networks: simple, LSTM and GRU cells, and their run along sequences.

``run`` goes through sequences in both directions and in layers; the functions of whole networks
take the parameters that the layers of ``nn`` hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch import autocast
from ...dispatch.op import Array, Backend, accepts_none, composite, op, reads_results
from ..linalg.matmul import linear
from ..shape.joining import cat, stack
from .dropout import dropout as zero_some


def _sigmoid(xp: Backend, x: Array) -> Array:
    # exp overflows to infinity for large negative numbers, whose reciprocal is the right 0.
    out = -x
    xp.exp(out, out)
    out += 1
    return xp.divide(1, out, out)


def _blocks(array: Any, count: int) -> list[Any]:
    """Equal parts of the rows, one beside the other."""
    size = array.shape[1] // count
    return [array[:, at * size : (at + 1) * size] for at in range(count)]


@op(public=False, node="MulBackward0")
def _lstm_gates(xp: Backend, gates: Array, cell: Array) -> tuple[Array, Array, Array, Array]:
    """Hidden state, cell state, and what the rule needs.

    That is the gates after their nonlinearities, those of input, forgetting, cell and output one
    after the other, and the squashed cell state.
    """
    active = _sigmoid(xp, gates)
    i, f, z, o = _blocks(active, 4)
    z[...] = xp.tanh(_blocks(gates, 4)[2])
    new_cell = f * cell
    new_cell += i * z
    squashed = xp.tanh(new_cell)
    return o * squashed, new_cell, active, squashed


@reads_results(2, 3)
def _lstm_rule(xp: Any, g: Any, cell: Any, out: Any) -> Any:
    g_hidden, g_cell, g_active, g_squashed = g
    i, f, z, o = _blocks(out[2], 4)
    squashed = out[3]  # not of the cell state, which users mask in place
    g_hidden = _zeros_for_none(g_hidden, squashed)
    through = g_hidden * o if g_squashed is None else g_hidden * o + g_squashed
    through = through * (1 - squashed * squashed)
    g_cell = through if g_cell is None else g_cell + through
    g_each = [g_cell * z, g_cell * cell, g_cell * i, g_hidden * squashed]
    if g_active is not None:
        g_each = [a + b for a, b in zip(g_each, _blocks(g_active, 4), strict=True)]
    slopes = [i * (1 - i), f * (1 - f), 1 - z * z, o * (1 - o)]
    products = [a * b for a, b in zip(g_each, slopes, strict=True)]
    return xp.concatenate(products, 1), g_cell * f


def _zeros_for_none(g: Any, like: Any) -> Any:
    return like * 0 if g is None else g


_lstm_gates.vjp_joint("gates", "cell")(accepts_none(_lstm_rule))


@op(public=False, node="AddBackward0")
def _gru_gates(xp: Backend, given: Array, recurrent: Array, hidden: Array) -> tuple[Array, Array]:
    """Hidden state, and the gates after their nonlinearities.

    ``given`` and ``recurrent`` are what input and hidden state say to the gates of reset, update
    and new state, one after the other.
    """
    size = hidden.shape[1]
    both = _sigmoid(xp, given[:, : 2 * size] + recurrent[:, : 2 * size])
    r, u = _blocks(both, 2)
    n = r * recurrent[:, 2 * size :]
    n += given[:, 2 * size :]
    xp.tanh(n, n)
    out = hidden - n
    out *= u
    out += n
    return out, xp.concatenate([both, n], 1)


@reads_results(1)
def _gru_rule(xp: Any, g: Any, recurrent: Any, hidden: Any, out: Any) -> Any:
    g_hidden, g_active = g
    active = out[1]
    size = hidden.shape[1]
    r, u, n = _blocks(active, 3)
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
    g_given = xp.concatenate([g_reset, g_update, g_new], 1)
    g_recurrent = xp.concatenate([g_reset, g_update, g_new * r], 1)
    return g_given, g_recurrent, g_hidden * u


_gru_gates.vjp_joint("given", "recurrent", "hidden")(accepts_none(_gru_rule))


def lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """New hidden and cell state from the sum of what input and hidden state say."""
    hidden, new_cell, *_ = _lstm_gates(gates, cell)
    return hidden, new_cell


def gru_step(given: Tensor, recurrent: Tensor, hidden: Tensor) -> Tensor:
    """New hidden state from what input and hidden state say."""
    new_hidden, _ = _gru_gates(given, recurrent, hidden)
    return new_hidden


def _check_sizes(
    name: str, gates: int, input: Any, states: tuple[Any, ...], w_ih: Any, w_hh: Any
) -> None:
    """RuntimeError unless input and states have one batch size, and the weights' features."""
    batch, features, hidden_size = input.shape[0], input.shape[1], w_hh.shape[1]
    if features != w_ih.shape[1]:
        raise RuntimeError(
            f"{name}: input has inconsistent input_size: got {features} expected {w_ih.shape[1]}"
        )
    for place, state in enumerate(states):
        if state.shape[0] != batch:  # one row would be broadcast
            raise RuntimeError(
                f"{name}: Input batch size {batch} doesn't match hidden{place} batch size "
                f"{state.shape[0]}"
            )
        if state.shape[1] != hidden_size:
            raise RuntimeError(
                f"{name}: hidden{place} has inconsistent hidden_size: got {state.shape[1]}, "
                f"expected {hidden_size}"
            )
    for what, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.shape[0] != gates * hidden_size:
            raise RuntimeError(
                f"{name}: {what} first dim must be {gates} * hidden_size = {gates * hidden_size}, "
                f"but got {weight.shape[0]}"
            )


def _check_pair(hx: Any) -> None:
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
    """One step of a long short-term memory.

    With i, f, z, o = ``input @ w_ih.T + b_ih + h @ w_hh.T + b_hh`` cut in four:
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
    """One step of a gated recurrent unit.

    With the thirds of a = ``input @ w_ih.T + b_ih`` and b = ``hx @ w_hh.T + b_hh``:
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


@composite
def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """max(0, input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh).

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
        >>> tt.rnn_relu_cell(tt.ones(1, 1), tt.zeros(1, 1), tt.ones(1, 1), tt.ones(1, 1))
        tensor([[1.]])
    """
    _check_sizes("rnn_relu_cell", 1, input, (hx,), w_ih, w_hh)
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).relu()


State = tuple[Any, ...]
#: Takes what the input says at one time, and the state; returns the new state.
Step = Callable[[Tensor, State], State]


def _rnn_step(squash: Callable[[Any], Any]) -> Callable[..., Step]:
    def make(w_hh: Tensor, b_hh: Tensor | None, w_hr: Tensor | None) -> Step:
        return lambda given, state: (squash(given + linear(state[0], w_hh, b_hh)),)

    return make


def _gru(w_hh: Tensor, b_hh: Tensor | None, w_hr: Tensor | None) -> Step:
    return lambda given, state: (gru_step(given, linear(state[0], w_hh, b_hh), state[0]),)


def _lstm(w_hh: Tensor, b_hh: Tensor | None, w_hr: Tensor | None) -> Step:
    def step(given: Tensor, state: State) -> State:
        hidden, cell = lstm_step(given + linear(state[0], w_hh, b_hh), state[1])
        return hidden if w_hr is None else linear(hidden, w_hr), cell

    return step


STEPS: dict[str, Callable[..., Step]] = {
    "RNN_TANH": _rnn_step(lambda x: x.tanh()),
    "RNN_RELU": _rnn_step(lambda x: x.relu()),
    "GRU": _gru,
    "LSTM": _lstm,
}


def run(
    mode: str,
    input: Tensor,
    state: State,
    weights: Sequence[Sequence[Any]],
    directions: int,
    dropout: float,
    batch_sizes: Sequence[int] | None = None,
) -> tuple[Tensor, State]:
    """Run all layers along all sequences.

    Args:
        mode: A name in ``STEPS``.
        input: Shape ``(time, batch, features)``; packed, ``(all steps, features)``.
        state: Tensors of shape ``(layers * directions, batch, features)``.
        weights: Per layer and direction ``(w_ih, w_hh, b_ih, b_hh, w_hr)``, with None for what
            there is not.
        directions: 1, or 2 to run backwards, too.
        dropout: Probability with which elements between the layers are zeroed.
        batch_sizes: For packed input, how many sequences go on at each time.

    Returns:
        The output of the last layer, of the form of ``input``, and the final states, of the
        form of ``state``.
    """
    if mode == "LSTM" and batch_sizes is None and weights[0][4] is None and _is_lowered(input):
        return _run_lowered(input, state, weights, directions, dropout)
    finals: list[State] = []
    for layer in range(0, len(weights), directions):
        outputs = []
        for direction in range(directions):
            first = tuple(part[layer + direction] for part in state)
            output, final = _run_direction(
                mode, input, first, weights[layer + direction], direction == 1, batch_sizes
            )
            outputs.append(output)
            finals.append(final)
        input = outputs[0] if directions == 1 else cat(outputs, -1)
        if dropout and layer + directions < len(weights):
            input = zero_some(input, dropout, True)
    return input, tuple(stack(list(parts)) for parts in zip(*finals, strict=True))


def _is_lowered(input: Tensor) -> bool:
    """Whether PyTorch leaves the whole to oneDNN, whose function is on the list of autocast."""
    device_type = input._xp.device_type
    on = device_type == "cpu" and autocast.is_on() and autocast.is_autocast_enabled("cpu")
    return on and input.dtype is not dtypes.float64


def _run_lowered(
    input: Tensor, state: State, weights: Sequence[Any], directions: int, dropout: float
) -> tuple[Tensor, State]:
    """An LSTM on numbers in the lower dtype: in float32, the results rounded once."""
    low = autocast.get_autocast_dtype("cpu")
    given: Any = input, state, weights
    for dtype in (low, dtypes.float32):
        given = autocast.cast_inside(given, "cpu", dtype)
    with autocast.NoAutocast():
        input, state, weights = given
        output, final = run("LSTM", input, state, weights, directions, dropout)
        return output.to(low), tuple(part.to(low) for part in final)


def _run_direction(
    mode: str,
    input: Tensor,
    state: State,
    weights: Sequence[Any],
    backwards: bool,
    batch_sizes: Sequence[int] | None,
) -> tuple[Tensor, State]:
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    # What the input says is one product for all times; only the state has to wait.
    given = linear(input, w_ih, b_ih)
    times = given.unbind(0) if batch_sizes is None else given.split(list(batch_sizes))
    outputs, final = _run_steps(STEPS[mode](w_hh, b_hh, w_hr), times, state, backwards)
    return (stack(outputs) if batch_sizes is None else cat(outputs)), final


def _run_steps(
    step: Step, times: Sequence[Tensor], first: State, backwards: bool
) -> tuple[list[Tensor], State]:
    """Step along the times; sequences, longest first, may end (or, backwards, begin) on the way."""
    outputs: list[Any] = [None] * len(times)
    ended: list[State] = []
    order = range(len(times))[:: -1 if backwards else 1]
    state = _rows(first, 0, times[order[0]].shape[0])
    for time in order:
        going, before = times[time].shape[0], state[0].shape[0]
        if going < before:
            ended.append(_rows(state, going, before))
            state = _rows(state, 0, going)
        elif going > before:
            state = _joined([state, _rows(first, before, going)])
        state = step(times[time], state)
        outputs[time] = state[0]
    return outputs, _joined([state, *reversed(ended)])


def _rows(state: State, start: int, end: int) -> State:
    if start == 0 and end == state[0].shape[0]:
        return state
    return tuple(part[start:end] for part in state)


def _joined(states: list[State]) -> State:
    if len(states) == 1:
        return states[0]
    return tuple(cat(list(parts)) for parts in zip(*states, strict=True))


_SIZES = "num_layers: int, dropout: float, train: bool, bidirectional: bool"
_MORE = "params: Sequence[Tensor], has_biases: bool, " + _SIZES
_PAIR = "tuple[Tensor, Tensor]"
#: The two ways of calling: with a batch of one length, and with the data of a packed one.
_FORMS = (
    f"(input: Tensor, hx: Tensor, {_MORE}, batch_first: bool) -> {_PAIR}",
    f"(data: Tensor, batch_sizes: Tensor, hx: Tensor, {_MORE}) -> {_PAIR}",
)
_PADDED, _PACKED = (re.findall(r"(\w+):", form) for form in _FORMS)
_LSTM_FORMS = tuple(
    form.replace("hx: Tensor", "hx: Sequence[Tensor]").replace(_PAIR, "tuple[Tensor, ...]")
    for form in _FORMS
)


def _called(
    name: str, mode: str, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Tensor, tuple[Any, ...]]:
    """The output and the last states of a call in either form."""
    given = _bound(name, args, options)
    sizes = given.get("batch_sizes")
    input = given["input" if sizes is None else "data"]
    state = _states(name, mode, given["hx"])
    directions = 2 if given["bidirectional"] else 1
    count = given["num_layers"] * directions
    weights = _by_layer(name, given["params"], given["has_biases"], count, _projected(state))
    swapped = given.get("batch_first", False)
    times = input.transpose(0, 1) if swapped else input
    _check(name, times, state, count, weights, sizes)
    dropout = given["dropout"] if given["train"] else 0.0
    steps = None if sizes is None else sizes.tolist()
    output, final = run(mode, times, state, weights, directions, dropout, steps)
    return output.transpose(0, 1) if swapped else output, final


def _bound(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name: the parameters come third, or after ``batch_sizes`` fourth."""
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


def _states(name: str, mode: str, hx: Any) -> tuple[Any, ...]:
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


def _projected(state: tuple[Any, ...]) -> bool:
    return len(state) == 2 and state[0].shape[-1] != state[1].shape[-1]


def _by_layer(
    name: str, params: Any, biases: bool, count: int, projected: bool
) -> list[tuple[Any, ...]]:
    """``(w_ih, w_hh, b_ih, b_hh, w_hr)`` of each layer and direction, with None for none."""
    there = (True, True, biases, biases, projected)
    each = sum(there)
    if len(params) != count * each:
        raise RuntimeError(
            f"{name}: got an incorrect number of RNN parameters: expected {count} times {each}, "
            f"got {len(params)}"
        )
    given = iter(params)
    return [tuple(next(given) if wanted else None for wanted in there) for _ in range(count)]


def _check(name: str, input: Any, state: Any, count: int, weights: list[Any], sizes: Any) -> None:
    """Refuse shapes that do not fit, before one row is broadcast to many."""
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
    for place, part in enumerate(state):
        size = (count, batch, hidden if place == 0 else part.shape[-1])
        if tuple(part.shape) != size:
            raise RuntimeError(
                f"{name}: Expected hidden[{place}] size {size}, got {list(part.shape)}"
            )


@composite(forms=_LSTM_FORMS)
def lstm(*args: Any, **options: Any) -> tuple[Tensor, ...]:
    """Layers of long short-term memory along sequences, with parameters that are given.

    Args:
        input: Shape ``(time, batch, input_size)``.
        hx: The first h and c, ``(num_layers * directions, batch, hidden_size)`` each; where their
            last sizes differ, h is projected.
        params: A list: for each layer and direction w_ih, w_hh, b_ih, b_hh and, with a
            projection, w_hr, as ``nn.LSTM`` has them.
        has_biases: Whether b_ih and b_hh are among them.
        num_layers: How many layers.
        dropout: Probability with which elements between the layers are zeroed.
        train: Whether they are.
        bidirectional: Whether each layer runs backwards, too.
        batch_first: Whether ``input`` and the output have their first two dimensions swapped.
        *args: These by position.
        **options: These by name.

    For packed sequences ``data`` and ``batch_sizes`` come in the place of ``input``, and there is
    no ``batch_first``.

    Returns:
        The output, and the last h and c of all layers.

    Raises:
        RuntimeError: If the sizes do not fit, or there are more or fewer parameters.

    Example:
        >>> net, state = tt.nn.LSTM(2, 3), tt.zeros(1, 5, 3)
        >>> parameters = list(net.parameters())
        >>> sizes = True, 1, 0.0, False, False, False
        >>> [x.shape[0] for x in tt.lstm(tt.ones(4, 5, 2), (state, state), parameters, *sizes)]
        [4, 1, 1]
    """
    output, final = _called("lstm", "LSTM", args, options)
    return output, *final


@composite(forms=_FORMS)
def gru(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Layers of gated recurrent units along sequences; arguments as of ``lstm``, ``hx`` a tensor.

    Args:
        *args: What ``lstm`` takes, by position; ``hx`` is one tensor of the shape of h.
        **options: The same by name.

    Example:
        >>> parameters = list(tt.nn.GRU(2, 3).parameters())
        >>> sizes = True, 1, 0.0, False, False, False
        >>> tt.gru(tt.ones(4, 5, 2), tt.zeros(1, 5, 3), parameters, *sizes)[0].shape
        tinytorch.Size([4, 5, 3])
    """
    output, (state,) = _called("gru", "GRU", args, options)
    return output, state


@composite(forms=_FORMS)
def rnn_tanh(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Simple recurrent layers with tanh along sequences; arguments as of ``gru``.

    Args:
        *args: What ``lstm`` takes, by position; ``hx`` is one tensor of the shape of h.
        **options: The same by name.

    Example:
        >>> parameters = [tt.ones(1, 1), tt.zeros(1, 1)]
        >>> sizes = False, 1, 0.0, False, False, False
        >>> tt.rnn_tanh(tt.ones(1, 1, 1), tt.zeros(1, 1, 1), parameters, *sizes)[0]
        tensor([[[0.7616]]])
    """
    output, (state,) = _called("rnn_tanh", "RNN_TANH", args, options)
    return output, state


@composite(forms=_FORMS)
def rnn_relu(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Simple recurrent layers with relu along sequences; arguments as of ``gru``.

    Args:
        *args: What ``lstm`` takes, by position; ``hx`` is one tensor of the shape of h.
        **options: The same by name.

    Example:
        >>> parameters = [tt.ones(1, 1), tt.zeros(1, 1)]
        >>> sizes = False, 1, 0.0, False, False, False
        >>> tt.rnn_relu(tt.ones(1, 1, 1), tt.zeros(1, 1, 1), parameters, *sizes)[0]
        tensor([[[1.]]])
    """
    output, (state,) = _called("rnn_relu", "RNN_RELU", args, options)
    return output, state
