"""Sequences of different lengths in one tensor: padded, or packed without padding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

from ...core.tensor import Tensor
from ...dtypes import float16, float32, float64, int8, int16, int32, int64, uint8
from ...ops.create.factories import tensor
from ...ops.create.ranges import arange
from ...ops.shape.joining import cat, stack
from ...state.tracebacks import short

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """Sequences without padding, in order of time; ``pack_padded_sequence`` makes one.

    Attributes:
        data: The elements of all sequences, shape ``(sum of the lengths, *)``: those of the first
            time step, longest sequence first, then those of the second, and so on.
        batch_sizes: Number of sequences that have each time step, int64 on the CPU.
        sorted_indices: Permutation that sorted the sequences by length; None if they were sorted.
        unsorted_indices: The inverse permutation, or None.

    Example:
        >>> tt.nn.utils.rnn.pack_sequence([tt.tensor([1, 2, 3]), tt.tensor([4])]).batch_sizes
        tensor([2, 1, 1])
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if batch_sizes is None:
            data, batch_sizes = data
        assert batch_sizes is not None
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never "
                "be created manually. They should be instantiated by functions like "
                "pack_sequence and pack_padded_sequences in nn.utils.rnn."
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.device.type == "cuda"

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert or move the data as ``Tensor.to`` does.

        Example:
            >>> tt.nn.utils.rnn.pack_sequence([tt.ones(2)]).to(tt.float64).data.dtype
            tinytorch.float64
        """
        data: Any = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = (
            None if indices is None else indices.to(data.device)
            for indices in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, *moved)

    def cpu(self) -> Self:
        """Move the data to the CPU."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Self:
        """Move the data to a GPU."""
        return self.to("cuda" if device is None else device)

    def double(self) -> Self:
        """Convert the data to float64."""
        return self.to(float64)

    def float(self) -> Self:
        """Convert the data to float32."""
        return self.to(float32)

    def half(self) -> Self:
        """Convert the data to float16."""
        return self.to(float16)

    def long(self) -> Self:
        """Convert the data to int64."""
        return self.to(int64)

    def int(self) -> Self:
        """Convert the data to int32."""
        return self.to(int32)

    def short(self) -> Self:
        """Convert the data to int16."""
        return self.to(int16)

    def char(self) -> Self:
        """Convert the data to int8."""
        return self.to(int8)

    def byte(self) -> Self:
        """Convert the data to uint8."""
        return self.to(uint8)

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        data: Any = self.data
        return bool(data.is_pinned())

    def pin_memory(self) -> Self:
        """Return a copy in pinned memory, from which copies to a GPU can be asynchronous."""
        data, order, inverse = (
            None if tensor is None else tensor.pin_memory()
            for tensor in (self.data, self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, order, inverse)  # type: ignore[arg-type]


@short
def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the inverse of a permutation.

    Args:
        permutation: Vector of indices, or None, for which the result is None.

    Example:
        >>> tt.nn.utils.rnn.invert_permutation(tt.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    inverse = permutation.new_empty(permutation.shape)
    inverse[permutation] = arange(permutation.numel(), device=permutation.device)
    return inverse


@short
def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack padded sequences.

    Args:
        input: Shape ``(time, batch, *)``.
        lengths: Length of each sequence, positive.
        batch_first: Whether the input has shape ``(batch, time, *)``. Default: False.
        enforce_sorted: Whether the sequences must be sorted by descending length; if not, the
            function sorts them. Default: True.

    Raises:
        RuntimeError: If a length is not positive, the number of lengths is not the batch size, or
            they are not sorted although ``enforce_sorted``.

    Example:
        >>> x = tt.tensor([[1, 2, 3], [4, 5, 0]])
        >>> tt.nn.utils.rnn.pack_padded_sequence(x, [3, 2], batch_first=True).data
        tensor([1, 4, 2, 5, 3])
    """
    x: Any = input.transpose(0, 1) if batch_first else input
    if not x.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    counts = _to_ints(lengths)
    order = None
    if not enforce_sorted:
        ranks = sorted(range(len(counts)), key=lambda place: -counts[place])
        counts = [counts[place] for place in ranks]
        order = tensor(ranks, device=x.device)
        x = x.index_select(1, order)
    _check_lengths(counts, x)
    sizes = [sum(count > time for count in counts) for time in range(counts[0])]
    data = cat([x[time, :size] for time, size in enumerate(sizes)])
    return PackedSequence(data, tensor(sizes, dtype=int64), order)


def _to_ints(lengths: Any) -> list[int]:
    """Return lengths, a vector or a sequence, as a list of ints."""
    if not isinstance(lengths, Tensor):
        return [int(n) for n in lengths]
    if lengths.ndim != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D"
        )
    return [int(n) for n in lengths.tolist()]


def _check_lengths(counts: list[int], x: Tensor) -> None:
    """Check the lengths of sequences ``(time, batch, *)``."""
    if x.ndim < 2:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{x.ndim}, {x.ndim - 1}], but "
            "got 1)"
        )
    if len(counts) != x.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} "
            f"(batch_size={x.shape[1]})"
        )
    if min(counts) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if counts != sorted(counts, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    if counts[0] > x.shape[0]:
        raise RuntimeError(f"Expected lengths of at most {x.shape[0]}, got {counts[0]}")


@short
def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Undo ``pack_padded_sequence``.

    Args:
        sequence: The packed sequences.
        batch_first: Whether the result has shape ``(batch, time, *)``. Default: False.
        padding_value: Value of the padding. Default: 0.
        total_length: Size of the result's time dimension. Default: the longest length.

    Returns:
        The padded sequences, shape ``(time, batch, *)``, and their lengths.

    Raises:
        ValueError: If ``total_length`` is less than the longest length.

    Example:
        >>> packed = tt.nn.utils.rnn.pack_sequence([tt.tensor([1, 2, 3]), tt.tensor([4])])
        >>> tt.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        (tensor([[1, 2, 3],
                [4, 0, 0]]), tensor([3, 1]))
    """
    sizes = sequence.batch_sizes.tolist()
    length = len(sizes) if total_length is None else total_length
    if length < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {len(sizes)}"
        )
    data: Any = sequence.data
    rows = list(data.split(sizes))
    batch, features = sizes[0], data.shape[1:]
    padded = [_pad_to(row, batch, padding_value) for row in rows]
    padded += [data.new_full((batch, *features), padding_value)] * (length - len(sizes))
    out: Any = stack(padded)
    if batch_first:
        out = out.transpose(0, 1)
    lengths: Any = tensor([sum(size > place for size in sizes) for place in range(batch)])
    if sequence.unsorted_indices is not None:
        # After the transpose, so that the result is contiguous in both cases.
        out = out.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return out, lengths


@short
def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Pad sequences to the length of the longest and stack them.

    Args:
        sequences: Tensors of shape ``(length, *)``.
        batch_first: Whether the result has shape ``(batch, time, *)``. Default: False.
        padding_value: Value of the padding. Default: 0.
        padding_side: ``"right"`` or ``"left"``. Default: ``"right"``.

    Returns:
        Shape ``(time, batch, *)``.

    Raises:
        RuntimeError: If ``sequences`` is not iterable or empty, or ``padding_side`` is unknown.

    Example:
        >>> tt.nn.utils.rnn.pad_sequence([tt.ones(3), tt.ones(1)], batch_first=True)
        tensor([[1., 1., 1.],
                [1., 0., 0.]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    tensors: list[Any] = list(sequences)
    if not tensors:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    for place, each in enumerate(tensors):
        if not isinstance(each, Tensor):
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got {type(each).__name__}"
            )
        if not each.ndim:
            raise RuntimeError(f"pad_sequence: element {place} is a 0-d tensor, not a sequence")
    longest = max(each.shape[0] for each in tensors)
    padded = [_pad_to(each, longest, padding_value, padding_side == "left") for each in tensors]
    return stack(padded, 0 if batch_first else 1)


def _pad_to(sequence: Any, length: int, value: float, left: bool = False) -> Any:
    """Pad the first dimension of a tensor to ``length``, on the right or the left."""
    missing = length - sequence.shape[0]
    if not missing:
        return sequence
    filler = sequence.new_full((missing, *sequence.shape[1:]), value)
    return cat([filler, sequence] if left else [sequence, filler])


@short
def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Undo ``pad_sequence``.

    Args:
        padded_sequences: Shape ``(time, batch, *)``.
        lengths: Length of each sequence.
        batch_first: Whether the input has shape ``(batch, time, *)``. Default: False.

    Example:
        >>> x = tt.tensor([[1, 2, 3], [4, 0, 0]])
        >>> tt.nn.utils.rnn.unpad_sequence(x, tt.tensor([3, 1]), batch_first=True)
        [tensor([1, 2, 3]), tensor([4])]
    """
    rows: Any = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]


@short
def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences.

    Args:
        sequences: Tensors of shape ``(length, *)``.
        enforce_sorted: Whether the sequences must be sorted by descending length. Default: True.

    Example:
        >>> tt.nn.utils.rnn.pack_sequence([tt.tensor([1, 2]), tt.tensor([4])]).data
        tensor([1, 4, 2])
    """
    lengths = [each.shape[0] for each in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


@short
def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Undo ``pack_sequence``.

    Example:
        >>> packed = tt.nn.utils.rnn.pack_sequence([tt.tensor([1, 2]), tt.tensor([4])])
        >>> tt.nn.utils.rnn.unpack_sequence(packed)
        [tensor([1, 2]), tensor([4])]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences))
