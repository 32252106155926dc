"""Embeddings: tables of vectors that are looked up by index."""

from __future__ import annotations

from typing import Any, Self

from ..core.tensor import Tensor
from ..ops.create.factories import empty
from ..state import no_grad
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """Base class of embeddings: a matrix whose rows are looked up.

    Args:
        num_embeddings: Number of rows.
        embedding_dim: Size of each row.
        max_norm: Rows with a larger norm are scaled down to it, in place, when they are looked
            up. Default: None, no limit.
        norm_type: Order of that norm. Default: 2.
        scale_grad_by_freq: Whether gradients are divided by the number of times that their row
            occurs in the input. Default: False.
        sparse: Whether the gradient of ``weight`` is sparse. Default: False.

    Attributes:
        weight: Shape ``(num_embeddings, embedding_dim)``, initially drawn from N(0, 1).

    Raises:
        AssertionError: If ``padding_idx`` is not the index of a row.
    """

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Parameter

    def _make_weight(self, given: Tensor | None, frozen: bool, **factory: Any) -> None:
        """Set the weight.

        Args:
            given: The weight, or None for random rows.
            frozen: Whether the weight does not require grad.
            **factory: Device and dtype of random rows.
        """
        shape = (self.num_embeddings, self.embedding_dim)
        if given is None:
            self.weight = Parameter(empty(shape, **factory), requires_grad=not frozen)
            self.reset_parameters()
            return
        if tuple(given.shape) != shape:
            raise AssertionError(
                "Shape of weight does not match num_embeddings and embedding_dim: "
                f"expected {shape}, got {tuple(given.shape)}"
            )
        self.weight = Parameter(given, requires_grad=not frozen)

    def reset_parameters(self) -> None:
        """Draw the rows again; the row of ``padding_idx`` is zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        """Set the row of ``padding_idx`` to 0; ``reset_parameters`` calls it."""
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """Look-up of the rows of a matrix by index.

    Args:
        padding_idx: Index of a row that is initially zero and gets no gradient. Default: none.

    Example:
        >>> tt.nn.Embedding(10, 3)(tt.tensor([[1, 2], [4, 5]])).shape
        tinytorch.Size([2, 2, 3])
    """

    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx: int | None = _normalize_index("Padding_idx", padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight(_weight, _freeze, device=device, dtype=dtype)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        """Look up rows.

        Args:
            input: Indices, an integer tensor of any shape.

        Returns:
            Shape ``(*input.shape, embedding_dim)``.
        """
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip

    def extra_repr(self) -> str:
        text = _configuration(self, padding_idx=None, max_norm=None)
        return f"{text}, sparse=True" if self.sparse else text

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """Make an Embedding with given rows.

        Args:
            embeddings: Shape ``(num_embeddings, embedding_dim)``; the memory is shared.
            freeze: Whether they need no gradients. Default: True.
            padding_idx: See the class. Default: none.
            max_norm: See the class. Default: no limit.
            norm_type: See the class. Default: 2.
            scale_grad_by_freq: See the class. Default: False.
            sparse: See the class. Default: False.

        Raises:
            AssertionError: If ``embeddings`` is not a matrix.

        Example:
            >>> table = tt.nn.Embedding.from_pretrained(tt.eye(3))
            >>> table(tt.tensor([1]))
            tensor([[0., 1., 0.]])
        """
        rows, columns = _matrix_shape(embeddings)
        return cls(
            num_embeddings=rows, embedding_dim=columns, _weight=embeddings, _freeze=freeze,
            padding_idx=padding_idx, max_norm=max_norm, norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq, sparse=sparse,
        )  # fmt: skip


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of rows of a matrix; a bag is a list of indices.

    Args:
        mode: ``"sum"``, ``"mean"`` or ``"max"``. Default: ``"mean"``.
        include_last_offset: Whether the last offset is the number of indices. Default: False.
        padding_idx: Index of a row that is left out of the bags. Default: none.

    Example:
        >>> bag = tt.nn.EmbeddingBag.from_pretrained(tt.eye(3), mode="sum")
        >>> bag(tt.tensor([0, 1, 2, 2]), tt.tensor([0, 2]))
        tensor([[1., 1., 0.],
                [0., 0., 2.]])
    """

    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    mode: str
    sparse: bool
    include_last_offset: bool

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx: int | None = _normalize_index("padding_idx", padding_idx, num_embeddings)
        self._make_weight(_weight, False, device=device, dtype=dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Look up bags of rows and reduce each.

        Args:
            input: Indices: a matrix with a bag in each row, or a vector of all bags concatenated.
            offsets: Start of each bag in a vector; None for a matrix.
            per_sample_weights: Factors of the rows, of the shape of ``input``; only with the mode
                ``"sum"``.

        Returns:
            Shape ``(bags, embedding_dim)``.
        """
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        text = f"{_configuration(self, max_norm=None)}, mode={self.mode!r}"
        return text if self.padding_idx is None else f"{text}, padding_idx={self.padding_idx}"

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Make an EmbeddingBag with given rows.

        Args:
            embeddings: Shape ``(num_embeddings, embedding_dim)``; the memory is shared.
            freeze: Whether they need no gradients. Default: True.
            max_norm: See the class. Default: no limit.
            norm_type: See the class. Default: 2.
            scale_grad_by_freq: See the class. Default: False.
            mode: See the class. Default: ``"mean"``.
            sparse: See the class. Default: False.
            include_last_offset: See the class. Default: False.
            padding_idx: See the class. Default: none.

        Raises:
            AssertionError: If ``embeddings`` is not a matrix.

        Example:
            >>> bag = tt.nn.EmbeddingBag.from_pretrained(tt.eye(3), mode="max")
            >>> bag(tt.tensor([[0, 2]]))
            tensor([[1., 0., 1.]])
        """
        rows, columns = _matrix_shape(embeddings)
        bag = cls(
            num_embeddings=rows, embedding_dim=columns, _weight=embeddings, max_norm=max_norm,
            norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse,
            include_last_offset=include_last_offset, padding_idx=padding_idx,
        )  # fmt: skip
        bag.weight.requires_grad_(not freeze)
        return bag


def _normalize_index(name: str, padding_idx: int | None, rows: int) -> int | None:
    """Return ``padding_idx`` as the nonnegative index of a row; None stays None.

    ``name`` is the argument's name for the error, and ``rows`` the number of rows.
    """
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(
            f"{name} must be within num_embeddings: got {padding_idx} for {rows} rows"
        )
    return padding_idx % rows


def _matrix_shape(embeddings: Tensor) -> tuple[int, int]:
    """Return the numbers of rows and columns; AssertionError if it is not a matrix."""
    if embeddings.ndim != 2:
        raise AssertionError(
            "Embeddings parameter is expected to be 2-dimensional, "
            f"got shape {tuple(embeddings.shape)}"
        )
    rows, columns = embeddings.shape
    return rows, columns


def _configuration(table: Any, **optional: Any) -> str:
    """Return the sizes of a table, and the options that differ from their defaults, for ``repr``.

    ``optional`` has the defaults of the options that only one of the two classes has.
    """
    defaults = {**optional, "norm_type": 2.0, "scale_grad_by_freq": False}
    shown = [
        f"{name}={getattr(table, name)}"
        for name, default in defaults.items()
        if getattr(table, name) != default
    ]
    return ", ".join([str(table.num_embeddings), str(table.embedding_dim), *shown])
