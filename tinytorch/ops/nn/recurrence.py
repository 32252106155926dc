"""Running recurrent cells along sequences, in both directions and in layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch import autocast
from ..linalg.matmul import linear
from ..shape.joining import cat, stack
from .dropout import dropout as zero_some
from .recurrent import gru_step, lstm_step

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
    with autocast.Off():
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
