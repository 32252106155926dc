"""Recurrent networks: layers of cells run along sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from ..core.holder import Holder
from ..core.tensor import Tensor
from .rnn_base import RNNBase
from .utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN"]


class _OneState(RNNBase):
    """What layers share whose cells hand on nothing but their output."""

    if TYPE_CHECKING:

        @overload  # type: ignore[override]
        def __call__(
            self, input: Tensor | Holder, hx: Tensor | None = None
        ) -> tuple[Tensor, Tensor]: ...
        @overload
        def __call__(
            self, input: PackedSequence, hx: Tensor | None = None
        ) -> tuple[PackedSequence, Tensor]: ...
        def __call__(self, input: Any, hx: Any = None) -> Any: ...

    def forward(
        self, input: Tensor | PackedSequence, hx: Tensor | None = None
    ) -> tuple[Any, Tensor]:
        """Run along sequences.

        Args:
            input: Shape ``(time, batch, input_size)``, or ``(time, input_size)``, or packed.
            hx: The first state, shape ``(num_layers * directions, batch, hidden_size)``.
                Default: zeros.

        Returns:
            The states of the last layer at all times, ``(time, batch, directions *
            hidden_size)`` or packed, and the last state of every layer, of the shape of ``hx``.

        Raises:
            ValueError: If the input's number of dimensions or dtype is another.
            RuntimeError: If a size is.
        """
        return self._run(input, hx)


class RNN(_OneState):
    """Simple recurrent layers: h' = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        input_size: Size of the input's last dimension.
        hidden_size: Size of the state.
        num_layers: How many layers. Default: 1.
        nonlinearity: ``"tanh"`` or ``"relu"``. Default: ``"tanh"``.
        bias: Whether there are biases. Default: True.
        batch_first: Whether input and output have shape ``(batch, time, features)`` instead of
            ``(time, batch, features)``. Default: False.
        dropout: Probability with which elements between the layers are zeroed. Default: 0.
        bidirectional: Whether each layer runs backwards, too. Default: False.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Attributes:
        weight_ih_l0: Shape ``(hidden_size, input_size)``; of layer 1 ``weight_ih_l1``, and so
            on, backwards ``weight_ih_l0_reverse``.
        weight_hh_l0: Shape ``(hidden_size, hidden_size)``.
        bias_ih_l0: Shape ``(hidden_size,)``.
        bias_hh_l0: The same.

    Example:
        >>> import tinytorch as tt
        >>> output, state = tt.nn.RNN(10, 20, num_layers=2)(tt.randn(5, 3, 10))
        >>> output.shape, state.shape
        (tinytorch.Size([5, 3, 20]), tinytorch.Size([2, 3, 20]))

    Reference:
        J. Elman, "Finding structure in time" (1990).
    """

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
        **unsupported: Any,
    ) -> None:
        _refuse(unsupported)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(
            f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first,
            dropout, bidirectional, 0, device, dtype,
        )  # fmt: skip
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Layers of long short-term memory; see ``tinytorch.lstm_cell`` for a step.

    Args:
        input_size: Size of the input's last dimension.
        hidden_size: Size of the cell state.
        num_layers: How many layers. Default: 1.
        bias: Whether there are biases. Default: True.
        batch_first: Whether input and output have shape ``(batch, time, features)`` instead of
            ``(time, batch, features)``. Default: False.
        dropout: Probability with which elements between the layers are zeroed. Default: 0.
        bidirectional: Whether each layer runs backwards, too. Default: False.
        proj_size: Size to which the hidden state is projected; 0 for no projection. Default: 0.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Attributes:
        weight_ih_l0: Shape ``(4 * hidden_size, input_size)``; of layer 1 ``weight_ih_l1``, and
            so on, backwards ``weight_ih_l0_reverse``.
        weight_hh_l0: Shape ``(4 * hidden_size, proj_size or hidden_size)``.
        bias_ih_l0: Shape ``(4 * hidden_size,)``.
        bias_hh_l0: The same.
        weight_hr_l0: Shape ``(proj_size, hidden_size)``, with projection.

    Example:
        >>> import tinytorch as tt
        >>> output, (h, c) = tt.nn.LSTM(10, 20, num_layers=2)(tt.randn(5, 3, 10))
        >>> output.shape, h.shape, c.shape
        (tinytorch.Size([5, 3, 20]), tinytorch.Size([2, 3, 20]), tinytorch.Size([2, 3, 20]))

    Reference:
        S. Hochreiter and J. Schmidhuber, "Long short-term memory" (1997). H. Sak et al., "Long
        short-term memory based recurrent neural network architectures" (2014), for the
        projection.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, proj_size, device, dtype,
        )  # fmt: skip

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Shape of the cell state that fits an input.

        Args:
            input: The input, batched or packed.
            batch_sizes: The batch's size at each time step of a packed sequence, or None.

        Example:
            >>> import tinytorch as tt
            >>> tt.nn.LSTM(2, 3, proj_size=1).get_expected_cell_size(tt.zeros(5, 4, 2), None)
            (1, 4, 3)
        """
        batch = int(batch_sizes[0]) if batch_sizes is not None else self._batch_size(input)
        return self.num_layers * self._directions, batch, self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Check input and state, batched; ``forward`` calls it.

        Args:
            input: The input; packed data where there are ``batch_sizes``.
            hidden: The hidden and the cell state.
            batch_sizes: The batch's size at each time step of a packed sequence, or None.

        Raises:
            ValueError: If the input's dtype differs from that of the weights.
            RuntimeError: If a size is wrong.

        Example:
            >>> import tinytorch as tt
            >>> state = tt.zeros(1, 1, 3), tt.zeros(1, 1, 3)
            >>> tt.nn.LSTM(2, 3).check_forward_args(tt.zeros(5, 1, 2), state, None)
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0],
            self.get_expected_hidden_size(input, batch_sizes),
            "Expected hidden[0] size {}, got {}",
        )
        self.check_hidden_size(
            hidden[1],
            self.get_expected_cell_size(input, batch_sizes),
            "Expected hidden[1] size {}, got {}",
        )

    def _map_state(self, function: Callable[[Any], Any], hx: Any) -> Any:
        return function(hx[0]), function(hx[1])

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        hidden, cell = self.get_expected_hidden_size, self.get_expected_cell_size
        return tuple(input.new_zeros(size(input, batch_sizes)) for size in (hidden, cell))

    if TYPE_CHECKING:

        @overload  # type: ignore[override]
        def __call__(
            self, input: Tensor | Holder, hx: tuple[Tensor, Tensor] | None = None
        ) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...
        @overload
        def __call__(
            self, input: PackedSequence, hx: tuple[Tensor, Tensor] | None = None
        ) -> tuple[PackedSequence, tuple[Tensor, Tensor]]: ...
        def __call__(self, input: Any, hx: Any = None) -> Any: ...

    def forward(
        self, input: Tensor | PackedSequence, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """Run along sequences.

        Args:
            input: Shape ``(time, batch, input_size)``, or ``(time, input_size)``, or packed.
            hx: The first hidden and cell state, shape ``(num_layers * directions, batch,
                size)`` each. Default: zeros.

        Returns:
            The hidden states of the last layer at all times, ``(time, batch, directions *
            size)`` or packed, and the last states of every layer, of the shapes of ``hx``.

        Raises:
            ValueError: If the input's number of dimensions or dtype is another.
            RuntimeError: If a size is.
        """
        return self._run(input, hx)


class GRU(_OneState):
    """Layers of gated recurrent units; see ``tinytorch.gru_cell`` for a step.

    Args:
        input_size: Size of the input's last dimension.
        hidden_size: Size of the state.
        num_layers: How many layers. Default: 1.
        bias: Whether there are biases. Default: True.
        batch_first: Whether input and output have shape ``(batch, time, features)`` instead of
            ``(time, batch, features)``. Default: False.
        dropout: Probability with which elements between the layers are zeroed. Default: 0.
        bidirectional: Whether each layer runs backwards, too. Default: False.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Attributes:
        weight_ih_l0: Shape ``(3 * hidden_size, input_size)``; of layer 1 ``weight_ih_l1``, and
            so on, backwards ``weight_ih_l0_reverse``.
        weight_hh_l0: Shape ``(3 * hidden_size, hidden_size)``.
        bias_ih_l0: Shape ``(3 * hidden_size,)``.
        bias_hh_l0: The same.

    Example:
        >>> import tinytorch as tt
        >>> output, state = tt.nn.GRU(10, 20, bidirectional=True)(tt.randn(5, 3, 10))
        >>> output.shape, state.shape
        (tinytorch.Size([5, 3, 40]), tinytorch.Size([2, 3, 20]))

    Reference:
        K. Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
        **unsupported: Any,
    ) -> None:
        _refuse(unsupported)
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, 0, device, dtype,
        )  # fmt: skip


def _refuse(unsupported: dict[str, Any]) -> None:
    if "proj_size" in unsupported:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if unsupported:
        name = next(iter(unsupported))
        raise TypeError(f"__init__() got an unexpected keyword argument '{name}'")
