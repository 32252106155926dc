"""ONNX operators with a loop or a branch: LSTM, GRU, RNN, If, Loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..core.tensor import Tensor
from .operators import F, T, operator

_ACTIVATIONS: dict[str, Callable[[Any, float | None, float | None], Any]] = {
    "sigmoid": lambda x, a, b: T.sigmoid(x),
    "tanh": lambda x, a, b: T.tanh(x),
    "relu": lambda x, a, b: T.relu(x),
    "affine": lambda x, a, b: (1.0 if a is None else a) * x + (0.0 if b is None else b),
    "leakyrelu": lambda x, a, b: F.leaky_relu(x, 0.01 if a is None else a),
    "thresholdedrelu": lambda x, a, b: T.where(x > (1.0 if a is None else a), x, 0.0 * x),
    "scaledtanh": lambda x, a, b: a * T.tanh(b * x),
    "hardsigmoid": lambda x, a, b: T.clamp(
        (0.2 if a is None else a) * x + (0.5 if b is None else b), 0, 1
    ),
    "elu": lambda x, a, b: F.elu(x, 1.0 if a is None else a),
    "softsign": lambda x, a, b: F.softsign(x),
    "softplus": lambda x, a, b: F.softplus(x),
}  # fmt: skip


def _activations(
    names: list[str] | None, default: list[str], directions: int, alphas: list[float] | None,
    betas: list[float] | None,
) -> list[list[Any]]:  # fmt: skip
    """Return the activation functions of each direction."""
    chosen = [each.lower() for each in names or default * directions]
    for name in chosen:
        if name not in _ACTIVATIONS:
            raise NotImplementedError(f"activation {name!r} is not supported")
    alpha = dict(enumerate(alphas or ()))
    beta = dict(enumerate(betas or ()))

    def make(i: int, name: str) -> Any:
        return lambda x: _ACTIVATIONS[name](x, alpha.get(i), beta.get(i))

    functions = [make(i, name) for i, name in enumerate(chosen)]
    count = len(default)
    return [functions[i * count : (i + 1) * count] for i in range(directions)]


def _scan(
    x: Tensor, states: tuple[Tensor, ...], step: Any, lengths: Tensor | None, reverse: bool
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Run one direction of a recurrent layer.

    Args:
        x: The input, of shape ``(length, batch, features)``.
        states: The initial states, of shape ``(batch, hidden)``; the first one is the output.
        step: Function from one input and the states to the new states.
        lengths: Length of each sequence, or None. States stop at it, and outputs are zero after.
        reverse: Whether to begin at the end.

    Returns:
        The outputs, of shape ``(length, batch, hidden)``, and the last states.
    """
    outputs: list[Any] = [None] * x.shape[0]
    for t in reversed(range(x.shape[0])) if reverse else range(x.shape[0]):
        new = step(x[t], *states)
        outputs[t] = new[0]
        if lengths is not None:
            runs = (lengths > t).unsqueeze(1)
            outputs[t] = T.where(runs, new[0], T.zeros_like(new[0]))
            new = tuple(T.where(runs, n, s) for n, s in zip(new, states, strict=True))
        states = new
    return T.stack(outputs), states


def _run_layer(
    x: Tensor, count: int, hidden: int, initial: list[Tensor | None], make_step: Any,
    lengths: Tensor | None, direction: str, layout: int,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Run the directions of a recurrent layer, and return ONNX's outputs.

    Args:
        x: The input.
        count: Number of directions.
        hidden: Size of the states.
        initial: The initial states, of shape ``(directions, batch, hidden)``; None for zeros.
        make_step: Function from the number of a direction to its step.
        lengths: Length of each sequence, or None.
        direction: ONNX's attribute.
        layout: 1 if the batch is the first dimension.
    """
    if layout:
        x = x.transpose(0, 1)
        initial = [None if s is None else s.transpose(0, 1) for s in initial]
    zeros = T.zeros(count, x.shape[1], hidden, dtype=x.dtype, device=x.device)
    states = [zeros if s is None else s for s in initial]
    ys, ends = [], []
    for d in range(count):
        reverse = direction == "reverse" or d == 1
        first = tuple(s[d] for s in states)
        y, end = _scan(x, first, make_step(d), lengths, reverse)
        ys.append(y)
        ends.append(end)
    result = T.stack(ys, 1), *(T.stack(parts) for parts in zip(*ends, strict=True))
    if not layout:
        return result
    return result[0].permute(2, 0, 1, 3), *(s.transpose(0, 1) for s in result[1:])


def _limit(x: Tensor, clip: float | None) -> Any:
    return x if clip is None else T.clamp(x, -clip, clip)


def _biases(b: Tensor | None, d: int, gates: int, hidden: int) -> tuple[Any, Any]:
    """Return the input's and the state's bias of a direction; zeros if there are none."""
    if b is None:
        return 0.0, 0.0
    return b[d, : gates * hidden], b[d, gates * hidden :]


@operator("LSTM")
def _lstm(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    initial_h: Tensor | None = None, initial_c: Tensor | None = None, p: Tensor | None = None, *,
    activation_alpha: list[float] | None = None, activation_beta: list[float] | None = None,
    activations: list[str] | None = None, clip: float | None = None, direction: str = "forward",
    hidden_size: int | None = None, input_forget: int = 0, layout: int = 0,
) -> Any:  # fmt: skip
    count, hidden = w.shape[0], r.shape[-1]
    functions = _activations(
        activations, ["sigmoid", "tanh", "tanh"], count, activation_alpha, activation_beta
    )

    def make_step(d: int) -> Any:
        f, g, h = functions[d]
        in_bias, state_bias = _biases(b, d, 4, hidden)
        peep = [0.0] * 3 if p is None else [p[d, k * hidden : (k + 1) * hidden] for k in range(3)]

        def step(inputs: Tensor, state: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
            gates = inputs @ w[d].t() + state @ r[d].t() + in_bias + state_bias
            i, o, forget, c = T.split(gates, hidden, 1)
            i = f(_limit(i + peep[0] * cell, clip))
            forget = 1 - i if input_forget else f(_limit(forget + peep[2] * cell, clip))
            new = forget * cell + i * g(_limit(c, clip))
            return f(_limit(o + peep[1] * new, clip)) * h(new), new

        return step

    return _run_layer(
        x, count, hidden, [initial_h, initial_c], make_step, lengths, direction, layout
    )


@operator("GRU")
def _gru(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    initial_h: Tensor | None = None, *, activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None, activations: list[str] | None = None,
    clip: float | None = None, direction: str = "forward", hidden_size: int | None = None,
    layout: int = 0, linear_before_reset: int = 0,
) -> Any:  # fmt: skip
    count, hidden = w.shape[0], r.shape[-1]
    functions = _activations(
        activations, ["sigmoid", "tanh"], count, activation_alpha, activation_beta
    )

    def make_step(d: int) -> Any:
        f, g = functions[d]
        in_bias, state_bias = _biases(b, d, 3, hidden)
        last = slice(2 * hidden, None)
        new_bias = 0.0 if b is None else state_bias[last]

        def step(inputs: Tensor, state: Tensor) -> tuple[Tensor]:
            from_input = inputs @ w[d].t() + in_bias
            update, reset = T.split(
                f(_limit((from_input + state @ r[d].t() + state_bias)[:, : 2 * hidden], clip)),
                hidden, 1,
            )  # fmt: skip
            if linear_before_reset:
                from_state = reset * (state @ r[d, last].t() + new_bias)
            else:
                from_state = (reset * state) @ r[d, last].t() + new_bias
            candidate = g(_limit(from_input[:, last] + from_state, clip))
            return ((1 - update) * candidate + update * state,)

        return step

    return _run_layer(x, count, hidden, [initial_h], make_step, lengths, direction, layout)


@operator("RNN")
def _rnn(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None, lengths: Tensor | None = None,
    initial_h: Tensor | None = None, *, activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None, activations: list[str] | None = None,
    clip: float | None = None, direction: str = "forward", hidden_size: int | None = None,
    layout: int = 0,
) -> Any:  # fmt: skip
    count, hidden = w.shape[0], r.shape[-1]
    functions = _activations(activations, ["tanh"], count, activation_alpha, activation_beta)

    def make_step(d: int) -> Any:
        in_bias, state_bias = _biases(b, d, 1, hidden)

        def step(inputs: Tensor, state: Tensor) -> tuple[Tensor]:
            total = inputs @ w[d].t() + state @ r[d].t() + in_bias + state_bias
            return (functions[d][0](_limit(total, clip)),)

        return step

    return _run_layer(x, count, hidden, [initial_h], make_step, lengths, direction, layout)


# -- control flow ------------------------------------------------------------------------------


@operator("If")
def _branch(condition: Tensor, *, then_branch: Any, else_branch: Any) -> Any:
    return then_branch() if bool(condition) else else_branch()


@operator("Loop")
def _loop(count: Tensor | None, condition: Tensor | None, *state: Any, body: Any) -> Any:
    values: tuple[Any, ...] = state
    collected: list[list[Any]] = []
    limit = None if count is None else int(count.item())
    goes_on = condition is None or bool(condition)
    i = 0
    while goes_on and (limit is None or i < limit):
        go, *results = body(T.tensor(i, dtype=dtypes.int64), T.tensor(goes_on), *values)
        values = tuple(results[: len(state)])
        collected.append(results[len(state) :])
        goes_on, i = bool(go), i + 1
    if not collected:
        if body.outputs > 1 + len(state):
            raise NotImplementedError("Loop: no iteration, so the results to stack have no shape")
        return values
    return (*values, *(T.stack(parts) for parts in zip(*collected, strict=True)))
