"""Recurrent cells: one step at a time."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.factories import empty
from ..ops.nn.recurrent import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from . import init
from .module import Module
from .parameter import Parameter

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]

_NONLINEARITIES = {"tanh": rnn_tanh_cell, "relu": rnn_relu_cell}


class RNNCellBase(Module):
    """Base class of the cells; the parameters are drawn from U(-k, k), k = 1 / √hidden_size.

    Args:
        input_size: Size of the input.
        hidden_size: Size of the hidden state.
        bias: Whether there are biases. Default: True.
        num_chunks: Number of gates.

    Example:
        >>> isinstance(tt.nn.GRUCell(2, 3), tt.nn.RNNCellBase)
        True
    """

    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Parameter
    weight_hh: Parameter
    #: May be None, but typed as in PyTorch, so that ``layer.bias_ih.data`` type-checks.
    bias_ih: Parameter
    bias_hh: Parameter

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((gates, input_size), **factory))
        self.weight_hh = Parameter(empty((gates, hidden_size), **factory))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(gates, **factory)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters again."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            shown += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        if nonlinearity != "tanh":
            shown += f", nonlinearity={nonlinearity}"
        return shown

    @property
    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _check_ndim(self, name: str, value: Tensor) -> None:
        """Check that a tensor, called ``name`` in the error, has one or two dimensions."""
        if value.ndim not in (1, 2):
            raise ValueError(
                f"{self._get_name()}: Expected {name} to be 1D or 2D, got {value.ndim}D instead"
            )

    def _prepare(self, input: Tensor, hx: Tensor | None) -> tuple[Any, Any, bool]:
        """Check the arguments of ``forward`` and add a batch dimension to an unbatched input.

        Returns:
            The input ``(batch, input_size)``, the state ``(batch, hidden_size)``, by default zeros,
            and whether the given input has a batch dimension.
        """
        self._check_ndim("input", input)
        if hx is not None:
            self._check_ndim("hidden", hx)
        batched = input.ndim == 2
        x: Any = input if batched else input.unsqueeze(0)
        if hx is None:
            return x, x.new_zeros(x.shape[0], self.hidden_size), batched
        return x, hx if batched else hx.unsqueeze(0), batched


class RNNCell(RNNCellBase):
    """One step of a simple recurrent network: tanh(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        nonlinearity: ``"tanh"`` or ``"relu"``. Default: ``"tanh"``.

    Attributes:
        weight_ih: Shape ``(hidden_size, input_size)``.
        weight_hh: Shape ``(hidden_size, hidden_size)``.
        bias_ih: Shape ``(hidden_size,)``, or None.
        bias_hh: Same shape as ``bias_ih``, or None.

    Example:
        >>> cell, state = tt.nn.RNNCell(10, 20), tt.zeros(3, 20)
        >>> for x in tt.randn(6, 3, 10):
        ...     state = cell(x, state)
        >>> state.shape
        tinytorch.Size([3, 20])

    Reference:
        J. Elman, "Finding structure in time" (1990).
    """

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Compute the next state.

        Args:
            input: Shape ``(batch, input_size)``, or ``(input_size,)``.
            hx: Shape ``(batch, hidden_size)``, or ``(hidden_size,)``. Default: zeros.

        Returns:
            The new state, of the shape of ``hx``.

        Raises:
            ValueError: If a tensor has neither one nor two dimensions.
            RuntimeError: If the sizes do not fit, or the nonlinearity is unknown.
        """
        x, state, batched = self._prepare(input, hx)
        if self.nonlinearity not in _NONLINEARITIES:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        new = _NONLINEARITIES[self.nonlinearity](x, state, *self._weights)
        return new if batched else new.squeeze(0)


class LSTMCell(RNNCellBase):
    """One step of a long short-term memory; see ``tinytorch.lstm_cell``.

    Attributes:
        weight_ih: Shape ``(4 * hidden_size, input_size)``.
        weight_hh: Shape ``(4 * hidden_size, hidden_size)``.
        bias_ih: Shape ``(4 * hidden_size,)``, or None.
        bias_hh: Same shape as ``bias_ih``, or None.

    Example:
        >>> cell, state = tt.nn.LSTMCell(10, 20), None
        >>> for x in tt.randn(6, 3, 10):
        ...     state = cell(x, state)
        >>> state[0].shape
        tinytorch.Size([3, 20])

    Reference:
        S. Hochreiter and J. Schmidhuber, "Long short-term memory" (1997).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute the next state.

        Args:
            input: Shape ``(batch, input_size)``, or ``(input_size,)``.
            hx: Hidden and cell state, shape ``(batch, hidden_size)``, or ``(hidden_size,)``,
                each. Default: zeros.

        Returns:
            The new hidden and cell state, of the same shapes.

        Raises:
            ValueError: If a tensor has neither one nor two dimensions.
            RuntimeError: If the sizes do not fit.
        """
        self._check_ndim("input", input)
        for place, state in enumerate(() if hx is None else hx):
            self._check_ndim(f"hx[{place}]", state)
        batched = input.ndim == 2
        x: Any = input if batched else input.unsqueeze(0)
        if hx is None:
            zeros = x.new_zeros(x.shape[0], self.hidden_size)
            hx = (zeros, zeros)
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        hidden, cell = lstm_cell(x, hx, *self._weights)
        return (hidden, cell) if batched else (hidden.squeeze(0), cell.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit; see ``tinytorch.gru_cell``.

    Attributes:
        weight_ih: Shape ``(3 * hidden_size, input_size)``.
        weight_hh: Shape ``(3 * hidden_size, hidden_size)``.
        bias_ih: Shape ``(3 * hidden_size,)``, or None.
        bias_hh: Same shape as ``bias_ih``, or None.

    Example:
        >>> cell, state = tt.nn.GRUCell(10, 20), None
        >>> for x in tt.randn(6, 3, 10):
        ...     state = cell(x, state)
        >>> state.shape
        tinytorch.Size([3, 20])

    Reference:
        K. Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Compute the next state.

        Args:
            input: Shape ``(batch, input_size)``, or ``(input_size,)``.
            hx: Shape ``(batch, hidden_size)``, or ``(hidden_size,)``. Default: zeros.

        Returns:
            The new state, of the shape of ``hx``.

        Raises:
            ValueError: If a tensor has neither one nor two dimensions.
            RuntimeError: If the sizes do not fit.
        """
        x, state, batched = self._prepare(input, hx)
        new = gru_cell(x, state, *self._weights)
        return new if batched else new.squeeze(0)
