"""Recurrent networks: layers of cells that run along sequences."""

from __future__ import annotations

import math
import numbers
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from ..core.tensor import Holder, Tensor
from ..dispatch import autocast
from ..ops.create.factories import empty
from ..ops.nn.recurrent import run
from ..warnings import warn
from . import init
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "RNNBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Base class of RNN, LSTM and GRU.

    Args:
        mode: ``"LSTM"``, ``"GRU"``, ``"RNN_TANH"`` or ``"RNN_RELU"``.
        input_size: Size of the input's last dimension.
        hidden_size: Size of the hidden state.
        num_layers: Number of layers. Default: 1.
        bias: Whether there are biases. Default: True.
        batch_first: Whether input and output have shape ``(batch, time, features)`` instead of
            ``(time, batch, features)``. Default: False.
        dropout: Probability of elements between the layers to be zeroed. Default: 0.
        bidirectional: Whether each layer also runs backwards along the sequence. Default: False.
        proj_size: Size to which the hidden state is projected; 0 means no projection. Default: 0.

    Raises:
        ValueError: If a size is not positive, ``proj_size`` is not below ``hidden_size``, or
            ``dropout`` is not in [0, 1].
        TypeError: If an argument has the wrong type.

    Example:
        >>> isinstance(tt.nn.LSTM(2, 3), tt.nn.RNNBase)
        True
    """

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(
        self,
        mode: str,
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
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_configuration()
        self.dropout = float(dropout)
        self._all_weights = [
            self._make_weights(layer, suffix, device=device, dtype=dtype)
            for layer in range(num_layers)
            for suffix in ("", "_reverse")[: self._directions]
        ]
        self._init_flat_weights()
        self.reset_parameters()

    def _check_configuration(self) -> None:
        """Check the arguments of the class."""
        self._check_dropout()
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int),
                           ("hidden_size", int)):  # fmt: skip
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(
                    f"{name} should be of type {kind.__name__}, got: {type(value).__name__}"
                )
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {self.mode}")

    def _check_dropout(self) -> None:
        """Check that dropout is in [0, 1]; warn if it has no effect in a single layer."""
        p = self.dropout
        if not isinstance(p, numbers.Number) or isinstance(p, bool) or not 0 <= p <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                "element being zeroed"
            )
        if p > 0 and self.num_layers == 1:
            warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={p} and "
                f"num_layers={self.num_layers}"
            )

    @property
    def _directions(self) -> int:
        """Number of directions in which each layer runs."""
        return 2 if self.bidirectional else 1

    @property
    def _output_size(self) -> int:
        """Size of a layer's output in one direction."""
        return self.proj_size or self.hidden_size

    def _make_weights(self, layer: int, suffix: str, **factory: Any) -> list[str]:
        """Register the parameters of one layer in one direction, and return their names."""
        gates = _GATES[self.mode] * self.hidden_size
        inputs = self.input_size if layer == 0 else self._output_size * self._directions
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (gates, inputs),
            "weight_hh": (gates, self._output_size),
        }
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = [f"{name}_l{layer}{suffix}" for name in shapes]
        for name, shape in zip(names, shapes.values(), strict=True):
            setattr(self, name, Parameter(empty(shape, **factory)))
        return names

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """Parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        """Names of the parameters, in PyTorch's order."""
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        """Parameters in the order of ``_flat_weights_names``; None for a deleted one."""
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights: Sequence[Any]) -> None:
        for name, weight in zip(self._flat_weights_names, weights, strict=True):
            if weight is not None and weight is not getattr(self, name, None):
                setattr(self, name, weight)

    @property
    def _flat_weight_refs(self) -> list[Any]:
        """Weak references to the parameters of ``_flat_weights``; None for a deleted one."""
        return [None if weight is None else weakref.ref(weight) for weight in self._flat_weights]

    def _init_flat_weights(self) -> None:
        """Call ``flatten_parameters``; no list of weights is stored, as they are read by name."""
        self.flatten_parameters()

    def _weights_have_changed(self) -> bool:
        """Whether the stored list of weights is out of date: False, as none is stored."""
        return False

    def _update_flat_weights(self) -> None:
        """Call ``_init_flat_weights`` if weights have changed; ``forward`` calls it."""
        if self._weights_have_changed():
            self._init_flat_weights()

    def flatten_parameters(self) -> None:
        """Do nothing; in PyTorch it copies the parameters to contiguous memory for cuDNN.

        Example:
            >>> tt.nn.GRU(2, 3).flatten_parameters()
        """

    def reset_parameters(self) -> None:
        """Draw the parameters again from U(-k, k), k = 1 / √hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        defaults = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False,
                    "dropout": 0, "bidirectional": False}  # fmt: skip
        shown = [f"{n}={getattr(self, n)}" for n, d in defaults.items() if getattr(self, n) != d]
        return ", ".join([str(self.input_size), str(self.hidden_size), *shown])

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Check dtype and sizes of a batched input; ``forward`` calls it.

        Args:
            input: The input; with ``batch_sizes``, the data of a packed sequence.
            batch_sizes: The batch's size at each time step of a packed sequence, or None.

        Raises:
            ValueError: If the dtype differs from that of the weights.
            RuntimeError: If the number of dimensions or the number of features is wrong.

        Example:
            >>> tt.nn.GRU(2, 3).check_input(tt.zeros(5, 1, 2), None)
        """
        weight = getattr(self, self._all_weights[0][0])
        if input.dtype != weight.dtype and not autocast.is_on():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        ndim = 3 if batch_sizes is None else 2
        if input.ndim != ndim:
            raise RuntimeError(f"input must have {ndim} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. "
                f"Expected {self.input_size}, got {input.shape[-1]}"
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Return the shape of the hidden state for an input.

        Args:
            input: The input, batched or packed.
            batch_sizes: The batch's size at each time step of a packed sequence, or None.

        Example:
            >>> tt.nn.GRU(2, 3).get_expected_hidden_size(tt.zeros(5, 1, 2), None)
            (1, 1, 3)
        """
        batch = int(batch_sizes[0]) if batch_sizes is not None else self._batch_size(input)
        return self.num_layers * self._directions, batch, self._output_size

    def _batch_size(self, input: Tensor) -> int:
        """Return the batch size of a batched input."""
        return input.shape[0 if self.batch_first else 1]

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Check the shape of a state; ``check_forward_args`` calls it.

        Args:
            hx: The state.
            expected_hidden_size: The expected shape.
            msg: Format string of the error, for the expected and the actual shape.

        Raises:
            RuntimeError: If the shape differs.

        Example:
            >>> tt.nn.GRU(2, 3).check_hidden_size(tt.zeros(1, 1, 3), (1, 1, 3))
        """
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Check a batched input and its state; ``forward`` calls it.

        Args:
            input: The input; with ``batch_sizes``, the data of a packed sequence.
            hidden: The state.
            batch_sizes: The batch's size at each time step of a packed sequence, or None.

        Raises:
            ValueError: If the input's dtype differs from that of the weights.
            RuntimeError: If a size is wrong.

        Example:
            >>> tt.nn.GRU(2, 3).check_forward_args(tt.zeros(5, 1, 2), tt.zeros(1, 1, 3), None)
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Reorder the batch of a state.

        Args:
            hx: The state.
            permutation: The new order; None leaves the state as it is.

        Example:
            >>> state = tt.tensor([[[1.0], [2.0]]])
            >>> tt.nn.GRU(2, 1).permute_hidden(state, tt.tensor([1, 0]))
            tensor([[[2.],
                     [1.]]])
        """
        return hx if permutation is None else self._map_state(_select(permutation), hx)

    def _map_state(self, function: Callable[[Any], Any], hx: Any) -> Any:
        """Apply a function to each tensor of a state."""
        return function(hx)

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """Return the initial state of zeros for ``input``."""
        return input.new_zeros(self.get_expected_hidden_size(input, batch_sizes))

    def _run(self, input: Any, hx: Any) -> tuple[Any, Any]:
        """Compute ``forward``, of an input with or without a batch dimension or a packed sequence.

        A batch dimension of size 1 is added to an unbatched input and removed from the results.
        """
        self._update_flat_weights()
        if isinstance(input, PackedSequence):
            return self._run_packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        batched = input.ndim == 3
        if hx is not None:
            self._check_state_dims(hx, batched)
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            hx = None if hx is None else self._map_state(lambda part: part.unsqueeze(1), hx)
        if hx is None:
            hx = self._zero_state(input, None)
        else:
            hx = self.permute_hidden(hx, None)
        self.check_forward_args(input, hx, None)
        output, final = self._run_layers(input.transpose(0, 1) if self.batch_first else input, hx)
        final = self.permute_hidden(final, None)
        if not batched:
            return output.squeeze(1), self._map_state(lambda part: part.squeeze(1), final)
        return (output.transpose(0, 1) if self.batch_first else output), final

    def _run_packed(self, packed: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        """Compute ``forward`` of a packed sequence.

        Its sequences are sorted by length: bring the state ``hx`` into that order, and back.
        """
        data, batch_sizes, order, inverse = packed
        if hx is None:
            hx = self._zero_state(data, batch_sizes)
        else:
            hx = self.permute_hidden(hx, order)
        self.check_forward_args(data, hx, batch_sizes)
        output, final = self._run_layers(data, hx, batch_sizes.tolist())
        packed = PackedSequence(output, batch_sizes, order, inverse)
        return packed, self.permute_hidden(final, inverse)

    def _run_layers(self, input: Any, hx: Any, sizes: list[int] | None = None) -> tuple[Any, Any]:
        """Run all layers.

        Args:
            input: Shape ``(time, batch, features)``, or the data of a packed sequence.
            hx: The initial state: a tensor, or for an LSTM a tuple of two.
            sizes: The batch sizes of a packed sequence, else None.

        Returns:
            The output of the last layer, and the final state in the form of ``hx``.
        """
        if not input.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        dropout = self.dropout if self.training else 0.0
        weights = [self._layer_weights(names) for names in self._all_weights]
        state = hx if isinstance(hx, tuple) else (hx,)
        output, final = run(self.mode, input, state, weights, self._directions, dropout, sizes)
        return output, final if isinstance(hx, tuple) else final[0]

    def _layer_weights(self, names: list[str]) -> list[Any]:
        """Return ``w_ih, w_hh, b_ih, b_hh, w_hr`` of one layer; None for one that does not exist.

        ``names`` are the names of the existing weights, in this order.
        """
        weights = iter(getattr(self, name) for name in names)
        present = (True, True, self.bias, self.bias, self.proj_size > 0)
        return [next(weights) if exists else None for exists in present]

    def _check_state_dims(self, hx: Any, batched: bool) -> None:
        """Check that each tensor of the state is 3-D if the input is batched, else 2-D."""
        kind, ndim = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
        state = hx if isinstance(hx, (tuple, list)) else (hx,)
        if any(part.ndim != ndim for part in state):
            found = ", ".join(f"{part.ndim}-D" for part in state)
            names = "hx" if len(state) == 1 else "hx and cx"
            raise RuntimeError(
                f"For {kind} input, {names} should also be {ndim}-D but got ({found}) tensors"
            )


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """Select along a dimension; other libraries import this name of PyTorch's file.

    Args:
        tensor: The tensor.
        permutation: Indices, int64.
        dim: The dimension. Default: 1.
    """
    warn(
        "`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` "
        "instead",
        FutureWarning,
    )
    return tensor.index_select(dim, permutation)


def _select(permutation: Tensor) -> Callable[[Any], Any]:
    """Return a function that permutes the batch dimension of a tensor."""
    return lambda part: part.index_select(1, permutation)


class _OneState(RNNBase):
    """Base class of RNN and GRU, whose state is the hidden state alone."""

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
        """Run the layers along sequences.

        Args:
            input: Shape ``(time, batch, input_size)``, or ``(time, input_size)``, or packed.
            hx: The initial state, shape ``(num_layers * directions, batch, hidden_size)``.
                Default: zeros.

        Returns:
            The hidden states of the last layer at all times, ``(time, batch, directions *
            hidden_size)`` or packed, and the last state of every layer, of the shape of ``hx``.

        Raises:
            ValueError: If the input has a wrong number of dimensions or a wrong dtype.
            RuntimeError: If a size is wrong.
        """
        return self._run(input, hx)


class RNN(_OneState):
    """Simple recurrent layers: h' = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        nonlinearity: ``"tanh"`` or ``"relu"``. Default: ``"tanh"``.

    Attributes:
        weight_ih_l0: Shape ``(hidden_size, input_size)``; the weight of
            layer 1 is ``weight_ih_l1``, that of the reverse direction ``weight_ih_l0_reverse``.
        weight_hh_l0: Shape ``(hidden_size, hidden_size)``.
        bias_ih_l0: Shape ``(hidden_size,)``.
        bias_hh_l0: Same shape as ``bias_ih_l0``.

    Example:
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
        _check_unsupported(unsupported)
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
    """Layers of long short-term memory; ``tinytorch.lstm_cell`` has the formula of a step.

    Attributes:
        weight_ih_l0: Shape ``(4 * hidden_size, input_size)``; the weight of
            layer 1 is ``weight_ih_l1``, that of the reverse direction ``weight_ih_l0_reverse``.
        weight_hh_l0: Shape ``(4 * hidden_size, proj_size or hidden_size)``.
        bias_ih_l0: Shape ``(4 * hidden_size,)``.
        bias_hh_l0: Same shape as ``bias_ih_l0``.
        weight_hr_l0: Shape ``(proj_size, hidden_size)``, with projection.

    Example:
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
        """Return the shape of the cell state for an input.

        Args:
            input: The input, batched or packed.
            batch_sizes: The batch's size at each time step of a packed sequence, or None.

        Example:
            >>> tt.nn.LSTM(2, 3, proj_size=1).get_expected_cell_size(tt.zeros(5, 4, 2), None)
            (1, 4, 3)
        """
        batch = int(batch_sizes[0]) if batch_sizes is not None else self._batch_size(input)
        return self.num_layers * self._directions, batch, self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Check a batched input and its state; ``forward`` calls it.

        Args:
            input: The input; with ``batch_sizes``, the data of a packed sequence.
            hidden: The hidden and the cell state.
            batch_sizes: The batch's size at each time step of a packed sequence, or None.

        Raises:
            ValueError: If the input's dtype differs from that of the weights.
            RuntimeError: If a size is wrong.

        Example:
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
        """Apply a function to the hidden and to the cell state."""
        return function(hx[0]), function(hx[1])

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """Return zeros as the hidden and the cell state for an input."""
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
        """Run the layers along sequences.

        Args:
            input: Shape ``(time, batch, input_size)``, or ``(time, input_size)``, or packed.
            hx: The initial hidden and cell state, shape ``(num_layers * directions, batch,
                size)`` each. Default: zeros.

        Returns:
            The hidden states of the last layer at all times, ``(time, batch, directions *
            size)`` or packed, and the last states of every layer, of the shapes of ``hx``.

        Raises:
            ValueError: If the input has a wrong number of dimensions or a wrong dtype.
            RuntimeError: If a size is wrong.
        """
        return self._run(input, hx)


class GRU(_OneState):
    """Layers of gated recurrent units; ``tinytorch.gru_cell`` has the formula of a step.

    Attributes:
        weight_ih_l0: Shape ``(3 * hidden_size, input_size)``; the weight of
            layer 1 is ``weight_ih_l1``, that of the reverse direction ``weight_ih_l0_reverse``.
        weight_hh_l0: Shape ``(3 * hidden_size, hidden_size)``.
        bias_ih_l0: Shape ``(3 * hidden_size,)``.
        bias_hh_l0: Same shape as ``bias_ih_l0``.

    Example:
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
        _check_unsupported(unsupported)
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, 0, device, dtype,
        )  # fmt: skip


def _check_unsupported(unsupported: dict[str, Any]) -> None:
    """Raise if there is a keyword argument that the class does not accept."""
    if "proj_size" in unsupported:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if unsupported:
        name = next(iter(unsupported))
        raise TypeError(f"__init__() got an unexpected keyword argument '{name}'")
