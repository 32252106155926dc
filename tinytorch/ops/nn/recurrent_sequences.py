"""LSTM and GRU over whole sequences, one layer in one direction: one node for all time steps.

The rows of all time steps are adjacent in memory, those of step 0 first, also for packed sequences,
of which fewer and fewer have a step. ``sizes`` holds the number of rows of each step. In the
comments, a step's carry is its state before the step, ``(rows, hidden_size)``.

The derivatives that do not depend on the gradients of later steps are computed for all rows at
once, and so is the gradient of the weights. What remains for each step is a few products.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dispatch.op import Array, Backend, accepts_none, op, reads_results
from ...graph.nodes import Node


def name_of_join(node: Node) -> str:
    """PyTorch's name of the node that joins the steps: ``cat`` for packed sequences."""
    return "CatBackward0" if len(node.shape[0]) == 2 else "StackBackward0"


def _steps(sizes: tuple[int, ...], backwards: bool) -> Iterator[slice]:
    """Yield the rows of each time step in the order of the computation."""
    ends, end = [], 0
    for size in sizes:
        end += size
        ends.append(slice(end - size, end))
    return iter(ends[::-1] if backwards else ends)


def _next_carry(xp: Any, state: Any, first: Any, count: int) -> Any:
    """The carry of ``count`` rows from the ``state`` after the step before and the ``first`` one.

    Sequences end at a step and, backwards, begin at one.
    """
    before = state.shape[0]
    if count <= before:
        return state if count == before else state[:count]
    return xp.concatenate((state, first[before:count]))


def _carries(xp: Any, states: Any, first: Any, sizes: tuple[int, ...], backwards: bool) -> Any:
    """The carry of every row, in the order of the rows, from the states after all steps."""
    parts, state = [], first
    for rows in _steps(sizes, backwards):
        parts.append(_next_carry(xp, state, first, rows.stop - rows.start))
        state = states[rows]
    return xp.concatenate(parts[::-1] if backwards else parts)


def _sigmoid_in_place(xp: Backend, x: Array) -> None:
    """Overwrite ``x`` with its sigmoid."""
    # exp overflows to infinity for large negative numbers, whose reciprocal is the right 0.
    xp.negative(x, x)
    xp.exp(x, x)
    x += 1
    xp.divide(1, x, x)


def _as_rows(x: Any) -> Any:
    """``x`` with all dimensions but the last as one; None stays None."""
    return x if x is None else x.reshape((-1, x.shape[-1]))


def _add(a: Any, b: Any) -> Any:
    """``a + b`` of gradients, of which None counts as zeros."""
    return b if a is None else a if b is None else a + b


@op(public=False, node=name_of_join)
def lstm_sequence(
    xp: Backend, projected: Array, hidden: Array, cell: Array, w_hh: Array,
    sizes: tuple[int, ...], backwards: bool, recorded: bool,
) -> tuple[Array, ...]:  # fmt: skip
    """LSTM over the rows of ``projected``, the inputs times their weights plus all biases.

    Args:
        xp: The backend.
        projected: ``(rows, 4 * hidden_size)``; the rows may have two dimensions.
        hidden: The first hidden state, ``(sequences, hidden_size)``.
        cell: The first cell state, ``(sequences, hidden_size)``.
        w_hh: ``(4 * hidden_size, hidden_size)``.
        sizes: Number of rows of each time step.
        backwards: Whether to begin with the last step.
        recorded: Whether there will be a gradient; else the last two results hold one step alone.

    Returns:
        The hidden states after all steps, ``(rows, hidden_size)``, and for the gradient and the
        final states the same again, the cell states, their tanh, and the activated gates.
    """
    size, weight = hidden.shape[1], xp.ascontiguousarray(w_hh.T)
    inputs = projected.reshape(-1, 4 * size)
    hiddens, cells = (xp.empty((len(inputs), size), inputs.dtype) for _ in range(2))
    saved = len(inputs) if recorded else max(sizes)
    tanhs, gates = (xp.empty((saved, n * size), inputs.dtype) for n in (1, 4))
    h, c = hidden, cell
    for rows in _steps(sizes, backwards):
        count = rows.stop - rows.start
        h, c = _next_carry(xp, h, hidden, count), _next_carry(xp, c, cell, count)
        part = rows if recorded else slice(count)
        active, tanh = gates[part], tanhs[part]
        xp.matmul(h, weight, out=active)
        active += inputs[rows]
        z = xp.tanh(active[:, 2 * size : 3 * size])
        _sigmoid_in_place(xp, active)  # in half the time of its three quarters
        active[:, 2 * size : 3 * size] = z
        before, c = c, cells[rows]
        xp.multiply(active[:, size : 2 * size], before, c)
        c += active[:, :size] * z
        xp.tanh(c, tanh)
        h = hiddens[rows]
        xp.multiply(active[:, 3 * size :], tanh, h)
    out = (xp.array(hiddens) if recorded else hiddens).reshape((*projected.shape[:-1], size))
    return out, hiddens, cells, tanhs, gates


@reads_results(1, 2, 3, 4)
def _lstm_sequence_rule(
    xp: Any, g: Any, in_shape: Any, out: Any, hidden: Any, cell: Any, w_hh: Any,
    sizes: tuple[int, ...], backwards: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of the first four arguments of ``lstm_sequence``.

    ``g`` has the gradients of its five results, each of which may be None; the last two have one
    only in a second derivative.
    """
    _, hiddens, cells, tanhs, gates = out
    size = hiddens.shape[1]
    i, f, z, o = (gates[:, k * size : (k + 1) * size] for k in range(4))
    g_hiddens, g_cells, of_tanh = _add(_as_rows(g[0]), g[1]), g[2], 1 - tanhs * tanhs
    g_cells = g_cells if g[3] is None else _add(g_cells, g[3] * of_tanh)
    slopes = xp.concatenate((i * (1 - i), f * (1 - f), 1 - z * z, o * (1 - o)), 1)
    of_gates = None if g[4] is None else g[4] * slopes
    # Three gates change the cell state, the last one the hidden state.
    factors = xp.concatenate((z, _carries(xp, cells, cell, sizes, backwards), i, tanhs), 1) * slopes
    by_cell, by_hidden = factors[:, : 3 * size].reshape((-1, 3, size)), factors[:, 3 * size :]
    to_cell, parts, g_h, g_c = o * of_tanh, [], _Carried(xp), _Carried(xp)
    for rows in _steps(sizes, not backwards):
        after_h = g_h.state_gradient(hiddens[rows], None if g_hiddens is None else g_hiddens[rows])
        after_c = g_c.state_gradient(hiddens[rows], None if g_cells is None else g_cells[rows])
        after_c = after_c + after_h * to_cell[rows]
        three = (by_cell[rows] * after_c[:, None]).reshape((-1, 3 * size))
        part = xp.concatenate((three, by_hidden[rows] * after_h), 1)
        parts.append(part if of_gates is None else part + of_gates[rows])
        g_h.value, g_c.value = xp.matmul(parts[-1], w_hh), after_c * f[rows]
    g_gates = xp.concatenate(parts if backwards else parts[::-1])
    g_w_hh = _weight_gradient(xp, in_shape[3], g_gates, hiddens, hidden, sizes, backwards)
    return (
        g_gates.reshape(in_shape[0] or g_gates.shape),
        g_h.first_gradient(),
        g_c.first_gradient(),
        g_w_hh,
    )


class _Carried:
    """Gradient of the carry of the step that is being computed, in a backward pass.

    Attributes:
        value: That gradient; None before the first step.
    """

    def __init__(self, xp: Any) -> None:
        self.xp, self.value = xp, None
        self.begun: list[Any] = []

    def state_gradient(self, state: Any, own: Any) -> Any:
        """Gradient of the ``state`` after the step before, with its ``own`` one, which may be None.

        Rows that this state does not have began with the step: they are of the first state. Rows
        that it has alone ended before the step.
        """
        count, g, zeros_like = state.shape[0], self.value, self.xp.zeros_like
        if g is not None and g.shape[0] > count:
            self.begun.append(g[count:])
            g = g[:count]
        elif g is not None and g.shape[0] < count:
            g = self.xp.concatenate((g, zeros_like(state[g.shape[0] :])))
        g = _add(g, own)
        return zeros_like(state) if g is None else g

    def first_gradient(self) -> Any:
        """Gradient of the first state, after the last step."""
        return self.xp.concatenate((self.value, *self.begun[::-1])) if self.begun else self.value


def _weight_gradient(
    xp: Any, shape: Any, g: Any, states: Any, first: Any, sizes: tuple[int, ...], backwards: bool
) -> Any:
    """Gradient of ``w_hh`` from that of all products, ``(rows, gates)``; None for no ``shape``."""
    if shape is None:
        return None
    return xp.matmul(xp.swapaxes(g, 0, 1), _carries(xp, states, first, sizes, backwards))


lstm_sequence.vjp_joint("projected", "hidden", "cell", "w_hh")(accepts_none(_lstm_sequence_rule))


@op(public=False, node=name_of_join)
def gru_sequence(
    xp: Backend, projected: Array, hidden: Array, w_hh: Array, b_hh: Array | None,
    sizes: tuple[int, ...], backwards: bool, recorded: bool,
) -> tuple[Array, ...]:  # fmt: skip
    """GRU over the rows of ``projected``, the inputs times their weights plus their biases.

    Args:
        xp: The backend.
        projected: ``(rows, 3 * hidden_size)``; the rows may have two dimensions.
        hidden: The first hidden state, ``(sequences, hidden_size)``.
        w_hh: ``(3 * hidden_size, hidden_size)``.
        b_hh: ``(3 * hidden_size,)`` or None.
        sizes: Number of rows of each time step.
        backwards: Whether to begin with the last step.
        recorded: Whether there will be a gradient; else the last two results hold one step alone.

    Returns:
        The hidden states after all steps, ``(rows, hidden_size)``, and for the gradient and the
        final states the same again, the activated gates, and the hidden state's share in the last.
    """
    size, weight = hidden.shape[1], xp.ascontiguousarray(w_hh.T)
    inputs = projected.reshape(-1, 3 * size)
    hiddens = xp.empty((len(inputs), size), inputs.dtype)
    saved = len(inputs) if recorded else max(sizes)
    shares, gates = (xp.empty((saved, n * size), inputs.dtype) for n in (1, 3))
    h = hidden
    for rows in _steps(sizes, backwards):
        count = rows.stop - rows.start
        h, part = _next_carry(xp, h, hidden, count), rows if recorded else slice(count)
        active, share, given = gates[part], shares[part], inputs[rows]
        product = xp.matmul(h, weight)
        if b_hh is not None:
            product += b_hh
        share[...] = product[:, 2 * size :]
        both, n = product[:, : 2 * size] + given[:, : 2 * size], active[:, 2 * size :]
        _sigmoid_in_place(xp, both)
        active[:, : 2 * size] = both
        xp.multiply(both[:, :size], share, n)
        n += given[:, 2 * size :]
        xp.tanh(n, n)
        before, h = h, hiddens[rows]
        xp.subtract(before, n, h)
        h *= both[:, size:]
        h += n
    out = (xp.array(hiddens) if recorded else hiddens).reshape((*projected.shape[:-1], size))
    return out, hiddens, gates, shares


@reads_results(1, 2, 3)
def _gru_sequence_rule(
    xp: Any, g: Any, in_shape: Any, out: Any, hidden: Any, w_hh: Any, sizes: tuple[int, ...],
    backwards: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of the first four arguments of ``gru_sequence``.

    ``g`` has the gradients of its four results, each of which may be None; the last two have one
    only in a second derivative.
    """
    _, hiddens, gates, shares = out
    size = hiddens.shape[1]
    r, u, n = (gates[:, k * size : (k + 1) * size] for k in range(3))
    g_hiddens, g_gates = _add(_as_rows(g[0]), g[1]), g[2]
    before = _carries(xp, hiddens, hidden, sizes, backwards)
    of_r, of_u, of_n = shares * r * (1 - r), u * (1 - u), 1 - n * n
    # The products' gradients are these times the hidden state's.
    by_n = (1 - u) * of_n
    factors = xp.concatenate((by_n * of_r, (before - n) * of_u, by_n * r), 1).reshape((-1, 3, size))
    more = None
    if g_gates is not None or g[3] is not None:
        more, more_n = _gru_second_order(xp, g_gates, g[3], r, of_r, of_u, of_n)
    parts, states, g_h = [], [], _Carried(xp)
    for rows in _steps(sizes, not backwards):
        after = g_h.state_gradient(hiddens[rows], None if g_hiddens is None else g_hiddens[rows])
        part = (factors[rows] * after[:, None]).reshape((-1, 3 * size))
        parts.append(part if more is None else part + more[rows])
        states.append(after)
        g_h.value = after * u[rows] + xp.matmul(parts[-1], w_hh)
    g_products, after = (xp.concatenate(x if backwards else x[::-1]) for x in (parts, states))
    g_n = after * by_n if more is None else after * by_n + more_n
    g_projected = xp.concatenate((g_products[:, : 2 * size], g_n), 1)
    g_w_hh = _weight_gradient(xp, in_shape[2], g_products, hiddens, hidden, sizes, backwards)
    g_b_hh = None if in_shape[3] is None else xp.sum(g_products, axis=0)
    return (
        g_projected.reshape(in_shape[0] or g_projected.shape),
        g_h.first_gradient(),
        g_w_hh,
        g_b_hh,
    )


def _gru_second_order(
    xp: Any, g_gates: Any, g_shares: Any, r: Any, of_r: Any, of_u: Any, of_n: Any
) -> tuple[Any, Any]:
    """Gradients of the products and of the last gate's argument from those of the saved results."""
    size = r.shape[1]
    if g_gates is None:
        g_gates = xp.zeros_like(xp.concatenate((r, r, r), 1))
    a, b, c = (g_gates[:, k * size : (k + 1) * size] for k in range(3))
    g_n = c * of_n
    return xp.concatenate((g_n * of_r + a * r * (1 - r), b * of_u, _add(g_n * r, g_shares)), 1), g_n


gru_sequence.vjp_joint("projected", "hidden", "w_hh", "b_hh")(accepts_none(_gru_sequence_rule))
