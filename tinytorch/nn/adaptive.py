"""Adaptive softmax, for very many classes that are sorted by frequency."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..ops.shape.joining import cat
from . import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """Output of the module.

    Attributes:
        output: Log probability of each target.
        loss: Negated mean of these.
    """

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log softmax over classes sorted by frequency, in clusters with ever smaller projections.

    Args:
        in_features: Size of the input's last dimension.
        n_classes: Number of classes.
        cutoffs: First class of each cluster after the frequent classes, in ascending order.
        div_value: Factor by which each cluster's projection is smaller than the previous one.
            Default: 4.
        head_bias: Whether ``head`` has a bias. Default: False.

    Attributes:
        head: Linear that computes the scores of the frequent classes and of the clusters.
        tail: ModuleList that computes the scores of the classes in each cluster.

    Raises:
        ValueError: If the cutoffs are not ascending ints between 1 and ``n_classes - 1``.

    Example:
        >>> softmax = tt.nn.AdaptiveLogSoftmaxWithLoss(16, 100, cutoffs=[10, 50])
        >>> output, loss = softmax(tt.randn(4, 16), tt.tensor([0, 99, 10, 49]))
        >>> output.shape, loss.shape
        (tinytorch.Size([4]), tinytorch.Size([]))

    Reference:
        E. Grave et al., "Efficient softmax approximation for GPUs" (2016).
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_cutoffs(list(cutoffs), n_classes)
        factory = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size: int = self.cutoffs[0]
        self.n_clusters: int = len(self.cutoffs) - 1
        self.head_size: int = self.shortlist_size + self.n_clusters
        self.head: Linear = Linear(in_features, self.head_size, bias=head_bias, **factory)
        self.tail: ModuleList = ModuleList()
        for cluster, (start, end) in enumerate(pairwise(self.cutoffs), 1):
            hidden = int(in_features // div_value**cluster)
            first = Linear(in_features, hidden, bias=False, **factory)
            self.tail.append(Sequential(first, Linear(hidden, end - start, False, **factory)))

    def reset_parameters(self) -> None:
        """Draw the parameters again."""
        self.head.reset_parameters()
        for projection in self.tail:
            for layer in projection.children():
                layer.reset_parameters()  # type: ignore[attr-defined]

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Compute the targets' log probabilities, and the loss.

        Args:
            input_: Shape ``(batch, in_features)``, or ``(in_features,)``.
            target_: Class indices, shape ``(batch,)``, or 0-d.

        Returns:
            The named tuple ``(output, loss)``; the first of the shape of ``target_``.

        Raises:
            RuntimeError: If the shapes do not match, or a target is not a class.
        """
        _check_shapes(input_, target_)
        x = input_ if input_.ndim == 2 else input_.unsqueeze(0)
        target = target_.reshape(-1)
        target._xp.check_all(
            (target._data >= 0) & (target._data < self.n_classes),
            f"Target values should be in [0, {self.n_classes - 1}]",
        )
        # Add the log probability of the class, or of its cluster, to that within the cluster.
        head = F.log_softmax(self.head(x), 1)
        column, output = target, x.new_zeros(target.shape)
        for cluster, (start, end) in enumerate(pairwise(self.cutoffs)):
            inside = (target >= start) & (target < end)
            column = column.masked_fill(inside, self.shortlist_size + cluster)
            rows = inside.nonzero().squeeze(1)
            if rows.numel():
                log_probs = F.log_softmax(self.tail[cluster](x[rows]), 1)
                within = (target[rows] - start).unsqueeze(1)
                output = output.index_copy(0, rows, log_probs.gather(1, within).squeeze(1))
        output = output + head.gather(1, column.unsqueeze(1)).squeeze(1)
        return _ASMoutput(output.reshape(target_.shape), -output.mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log probabilities of all classes.

        Args:
            input: Shape ``(batch, in_features)``.

        Returns:
            Shape ``(batch, n_classes)``.

        Example:
            >>> softmax = tt.nn.AdaptiveLogSoftmaxWithLoss(16, 100, cutoffs=[10, 50])
            >>> softmax.log_prob(tt.randn(4, 16)).exp().sum(1).detach().round(decimals=3)
            tensor([1., 1., 1., 1.])
        """
        return self._get_full_log_prob(input, self.head(input))

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        """Return the log probabilities of all classes, given the output of ``head``."""
        head = F.log_softmax(head_output, 1)
        parts = [head[:, : self.shortlist_size]]
        for cluster, projection in enumerate(self.tail, self.shortlist_size):
            log_probs = F.log_softmax(projection(input), 1)
            parts.append(log_probs + head[:, cluster].unsqueeze(1))
        return cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable class of each sample.

        Args:
            input: Shape ``(batch, in_features)``.

        Returns:
            Shape ``(batch,)``, int64.

        Example:
            >>> softmax = tt.nn.AdaptiveLogSoftmaxWithLoss(16, 100, cutoffs=[10, 50])
            >>> softmax.predict(tt.randn(4, 16)).shape
            tinytorch.Size([4])
        """
        head_output = self.head(input)
        scores = head_output.argmax(1)
        # If a frequent class has a higher score than every cluster, it is the most probable class.
        undecided = scores >= self.shortlist_size
        if not undecided.any():
            return scores
        return self._get_full_log_prob(input, head_output).argmax(1).where(undecided, scores)


def _check_cutoffs(cutoffs: list[int], n_classes: int) -> None:
    """Check that the cutoffs are ascending whole numbers between 1 and ``n_classes - 1``."""
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    ascending = all(low < high for low, high in pairwise(cutoffs))
    whole = all(int(cutoff) == cutoff for cutoff in cutoffs)
    if not (ascending and whole and cutoffs[0] > 0 and cutoffs[-1] < n_classes):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            "order, where each value is between 1 and n_classes-1"
        )


def _check_shapes(input: Tensor, target: Tensor) -> None:
    """Check that the target has one dimension less than the input, and the batch sizes."""
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim == 1 and input.shape[0] != target.shape[0]:
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
            f"inputs with size {input.shape}"
        )
