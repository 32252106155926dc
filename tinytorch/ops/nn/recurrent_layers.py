"""Recurrent networks as functions of their parameters: what the layers of ``nn`` run."""

from __future__ import annotations

import re
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from .recurrence import run

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


@composite(method=False, forms=_LSTM_FORMS)
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
        >>> import tinytorch as tt
        >>> net, state = tt.nn.LSTM(2, 3), tt.zeros(1, 5, 3)
        >>> parameters = list(net.parameters())
        >>> sizes = True, 1, 0.0, False, False, False
        >>> [x.shape[0] for x in tt.lstm(tt.ones(4, 5, 2), (state, state), parameters, *sizes)]
        [4, 1, 1]
    """
    output, final = _called("lstm", "LSTM", args, options)
    return output, *final


@composite(method=False, forms=_FORMS)
def gru(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Layers of gated recurrent units along sequences; arguments as of ``lstm``, ``hx`` a tensor.

    Args:
        *args: What ``lstm`` takes, by position; ``hx`` is one tensor of the shape of h.
        **options: The same by name.

    Example:
        >>> import tinytorch as tt
        >>> parameters = list(tt.nn.GRU(2, 3).parameters())
        >>> sizes = True, 1, 0.0, False, False, False
        >>> tt.gru(tt.ones(4, 5, 2), tt.zeros(1, 5, 3), parameters, *sizes)[0].shape
        tinytorch.Size([4, 5, 3])
    """
    output, (state,) = _called("gru", "GRU", args, options)
    return output, state


@composite(method=False, forms=_FORMS)
def rnn_tanh(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Simple recurrent layers with tanh along sequences; arguments as of ``gru``.

    Args:
        *args: What ``lstm`` takes, by position; ``hx`` is one tensor of the shape of h.
        **options: The same by name.

    Example:
        >>> import tinytorch as tt
        >>> parameters = [tt.ones(1, 1), tt.zeros(1, 1)]
        >>> sizes = False, 1, 0.0, False, False, False
        >>> tt.rnn_tanh(tt.ones(1, 1, 1), tt.zeros(1, 1, 1), parameters, *sizes)[0]
        tensor([[[0.7616]]])
    """
    output, (state,) = _called("rnn_tanh", "RNN_TANH", args, options)
    return output, state


@composite(method=False, forms=_FORMS)
def rnn_relu(*args: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Simple recurrent layers with relu along sequences; arguments as of ``gru``.

    Args:
        *args: What ``lstm`` takes, by position; ``hx`` is one tensor of the shape of h.
        **options: The same by name.

    Example:
        >>> import tinytorch as tt
        >>> parameters = [tt.ones(1, 1), tt.zeros(1, 1)]
        >>> sizes = False, 1, 0.0, False, False, False
        >>> tt.rnn_relu(tt.ones(1, 1, 1), tt.zeros(1, 1, 1), parameters, *sizes)[0]
        tensor([[[1.]]])
    """
    output, (state,) = _called("rnn_relu", "RNN_RELU", args, options)
    return output, state
