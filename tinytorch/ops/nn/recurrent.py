"""One step of a recurrent network: simple, LSTM and GRU cells."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op, reads_results
from ..linalg.matmul import linear


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


@op(public=False, materialize=False, node="MulBackward0")
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


_lstm_gates.vjp_joint("gates", "cell")(_lstm_rule)


@op(public=False, materialize=False, node="AddBackward0")
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


_gru_gates.vjp_joint("given", "recurrent", "hidden")(_gru_rule)


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


@composite(method=False)
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
        >>> import tinytorch as tt
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


@composite(method=False)
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
        >>> import tinytorch as tt
        >>> x, h = tt.ones(1, 2), tt.ones(1, 3)
        >>> tt.gru_cell(x, h, tt.zeros(9, 2), tt.zeros(9, 3))
        tensor([[0.5000, 0.5000, 0.5000]])

    Reference:
        K. Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014).
    """
    _check_sizes("gru_cell", 3, input, (hx,), w_ih, w_hh)
    return gru_step(linear(input, w_ih, b_ih), linear(hx, w_hh, b_hh), hx)


@composite(method=False)
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
        >>> import tinytorch as tt
        >>> tt.rnn_tanh_cell(tt.ones(1, 1), tt.zeros(1, 1), tt.ones(1, 1), tt.ones(1, 1))
        tensor([[0.7616]])
    """
    _check_sizes("rnn_tanh_cell", 1, input, (hx,), w_ih, w_hh)
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).tanh()


@composite(method=False)
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
        >>> import tinytorch as tt
        >>> tt.rnn_relu_cell(tt.ones(1, 1), tt.zeros(1, 1), tt.ones(1, 1), tt.ones(1, 1))
        tensor([[1.]])
    """
    _check_sizes("rnn_relu_cell", 1, input, (hx,), w_ih, w_hh)
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).relu()
