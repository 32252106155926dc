"""Losses for regression, probabilities, classification and label sequences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from ..core.tensor import Tensor
from ..warnings import warn
from . import functional as F
from ._reduction import Loss, WeightedLoss
from .linear import Linear

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CrossEntropyLoss", "GaussianNLLLoss", "HuberLoss",
    "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss", "LinearCrossEntropyOptions", "MSELoss",
    "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss",
]  # fmt: skip


class L1Loss(Loss):
    """|input - target|.

    Example:
        >>> tt.nn.L1Loss()(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(Loss):
    """(input - target)².

    Example:
        >>> tt.nn.MSELoss()(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """d² / (2 beta) where d = |input - target| is below beta, else d - beta / 2.

    Args:
        beta: Bound between the quadratic and the linear part, not negative. Default: 1.

    Example:
        >>> tt.nn.SmoothL1Loss(reduction="none")(tt.tensor([1.0, 2.0]), tt.tensor([1.5, 4.0]))
        tensor([0.1250, 1.5000])

    Reference:
        R. Girshick, "Fast R-CNN" (2015).
    """

    beta: float

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Loss):
    """d² / 2 where d = |input - target| is below delta, else delta · (d - delta / 2).

    Args:
        delta: Bound between the quadratic and the linear part, positive. Default: 1.

    Raises:
        TypeError: If ``delta`` is neither a float nor an int.

    Example:
        >>> tt.nn.HuberLoss("none", 2.0)(tt.tensor([1.0, 2.0]), tt.tensor([1.5, 6.0]))
        tensor([0.1250, 6.0000])

    Reference:
        P. Huber, "Robust estimation of a location parameter" (1964).
    """

    delta: float

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class KLDivLoss(Loss):
    """target · (log target - input), where ``input`` contains logarithms of probabilities.

    Args:
        reduction: ``"batchmean"``, which is the mathematical definition, ``"mean"``,
            ``"sum"`` or ``"none"``. Default: ``"mean"``.
        log_target: Whether the target contains logarithms, too. Default: False.

    Example:
        >>> loss = tt.nn.KLDivLoss(reduction="batchmean")
        >>> loss(tt.tensor([[0.5, 0.5]]).log(), tt.tensor([[0.25, 0.75]]))
        tensor(0.1308)

    Reference:
        S. Kullback and R. Leibler, "On information and sufficiency" (1951).
    """

    log_target: bool

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(WeightedLoss):
    """-(target · log(input) + (1 - target) · log(1 - input)), with logarithms of at least -100.

    Args:
        weight: Factor of each element. Default: all 1.

    Example:
        >>> tt.nn.BCELoss()(tt.tensor([0.5, 0.9]), tt.tensor([0.0, 1.0]))
        tensor(0.3993)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape, with elements in [0, 1]."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(Loss):
    """BCELoss of the sigmoid of the input, computed without overflow.

    Args:
        weight: Factor of each element. Default: all 1.
        pos_weight: Factor of the loss where the target is 1, broadcast. Default: 1.

    Example:
        >>> tt.nn.BCEWithLogitsLoss()(tt.tensor([0.0, 2.0]), tt.tensor([0.0, 1.0]))
        tensor(0.4100)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of logits and a target of one shape."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class PoissonNLLLoss(Loss):
    """exp(input) - target · input, where the target has a Poisson distribution.

    Args:
        log_input: Whether the input is the logarithm of the rate; if not, the loss is
            input - target · log(input + eps). Default: True.
        full: Whether to add Stirling's approximation of log(target!). Default: False.
        eps: Added to the input before the logarithm. Default: 1e-8.

    Example:
        >>> tt.nn.PoissonNLLLoss()(tt.tensor([0.0, 1.0]), tt.tensor([1.0, 2.0]))
        tensor(0.8591)
    """

    log_input: bool
    full: bool
    eps: float

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps,
            reduction=self.reduction,
        )  # fmt: skip


class GaussianNLLLoss(Loss):
    """(log var + (input - target)² / var) / 2, where the target has a normal distribution.

    Args:
        full: Whether to add log(2π) / 2. Default: False.
        eps: Lower bound of the variance. Default: 1e-6.

    Example:
        >>> tt.nn.GaussianNLLLoss()(tt.zeros(2), tt.tensor([1.0, 2.0]), tt.ones(2))
        tensor(1.2500)

    Reference:
        D. Nix and A. Weigend, "Estimating the mean and variance of the target probability
        distribution" (1994).
    """

    full: bool
    eps: float

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """Compute the loss.

        Args:
            input: The expected values.
            target: Samples, of the same shape.
            var: The variances: the same shape, or that shape without its last dimension or with
                size 1 in it; or one number.
        """
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class NLLLoss(WeightedLoss):
    """-input[target], where ``input`` contains the logarithms of the classes' probabilities.

    Args:
        ignore_index: Targets with this value do not contribute. Default: -100.
        reduction: ``"mean"`` (weighted), ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Example:
        >>> log_probs = tt.log_softmax(tt.zeros(2, 4), dim=1)
        >>> tt.nn.NLLLoss()(log_probs, tt.tensor([1, 3]))
        tensor(1.3863)
    """

    ignore_index: int

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss.

        Args:
            input: Shape ``(batch, classes, *)``, or ``(classes,)``.
            target: Class indices, shape ``(batch, *)``, or 0-d.
        """
        return F.nll_loss(
            input, target, weight=self.weight, ignore_index=self.ignore_index,
            reduction=self.reduction,
        )  # fmt: skip


class NLLLoss2d(NLLLoss):
    """Deprecated name of ``NLLLoss``.

    Warns:
        FutureWarning: Always, as the name is deprecated.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     loss = tt.nn.NLLLoss2d()
        >>> loss(tt.tensor([[0.25, 0.75]]).log(), tt.tensor([1]))
        tensor(0.2877)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        warn("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead.", FutureWarning)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(WeightedLoss):
    """Cross entropy between the softmax of the input and the target classes.

    Args:
        ignore_index: Targets with this value do not contribute. Default: -100.
        reduction: ``"mean"`` (weighted), ``"sum"`` or ``"none"``. Default: ``"mean"``.
        label_smoothing: Fraction of the target that is spread over all classes. Default: 0.

    Example:
        >>> tt.nn.CrossEntropyLoss()(tt.zeros(2, 4), tt.tensor([1, 3]))
        tensor(1.3863)

    Reference:
        C. Szegedy et al., "Rethinking the Inception architecture for computer vision" (2015),
        for label smoothing.
    """

    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss.

        Args:
            input: Logits, shape ``(batch, classes, *)``, or ``(classes,)``.
            target: Class indices, shape ``(batch, *)``, or 0-d; or probabilities of the shape
                of ``input``.
        """
        return F.cross_entropy(
            input, target, weight=self.weight, ignore_index=self.ignore_index,
            reduction=self.reduction, label_smoothing=self.label_smoothing,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LinearCrossEntropyOptions:
    """Options of ``linear_cross_entropy`` that save memory in PyTorch; they have no effect here.

    Args:
        allow_retain_graph: Whether a second backward pass is possible. Here it always is.
        batch_chunk_size: Number of inputs per chunk. Default: None, chosen by PyTorch.
        chunking_method: ``"auto"`` or None. Default: ``"auto"``.
        acc_policy: ``"accurate"``, ``"balanced"``, ``"compact"`` or ``"auto"``, the default.
        acc_dtype: Floating-point dtype of sums of gradients. Default: None, chosen by PyTorch.

    Raises:
        ValueError: If an argument has another value.

    Example:
        >>> tt.nn.LinearCrossEntropyOptions(batch_chunk_size=64).batch_chunk_size
        64
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: Literal["accurate", "balanced", "compact", "auto"] = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        size, dtype = self.batch_chunk_size, self.acc_dtype
        if size is not None and (not isinstance(size, int) or size < 1):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size}")
        if self.chunking_method not in ("auto", None):
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        if self.acc_policy not in ("accurate", "balanced", "compact", "auto"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if dtype is not None and not getattr(dtype, "is_floating_point", False):
            raise ValueError(f"acc_dtype must be a floating-point dtype or None, got {dtype}")


class LinearCrossEntropyLoss(WeightedLoss):
    """Cross entropy of the output of a linear layer, which is part of the module.

    Args:
        in_features: Size of the input's last dimension.
        num_classes: Number of classes.
        out_features: Sizes of further dimensions of the logits. Default: ``()``.
        bias: Whether the layer has a bias. Default: False.
        reduction: ``"mean"`` (weighted), ``"sum"`` or ``"none"``. Default: ``"mean"``.
        weight: Factor of each class, shape ``(num_classes,)``. Default: all 1.
        ignore_index: Targets with this value do not contribute. Default: none.
        label_smoothing: Fraction of the target that is spread over all classes. Default: 0.
        options: Has no effect; in PyTorch it limits the memory used. Default: None.

    Raises:
        RuntimeError: If ``weight`` has another shape, or ``label_smoothing`` is not in [0, 1].

    Example:
        >>> loss = tt.nn.LinearCrossEntropyLoss(3, 4)
        >>> loss(tt.zeros(2, 3), tt.tensor([1, 3])).detach()
        tensor(1.3863)
    """

    num_classes: int
    out_features: tuple[int, ...]
    ignore_index: int | None
    label_smoothing: float

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        logits = math.prod(out_features, start=num_classes)
        self.linear: Linear = Linear(in_features, logits, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss.

        Args:
            input: Shape ``(batch, in_features)``, or ``(in_features,)``.
            target: Class indices, shape ``(batch, *out_features)``, or 0-d; or probabilities of
                the shape of the logits.
        """
        shape = (self.num_classes, *self.out_features)
        bias: Any = self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape((*shape, self.linear.in_features)), target,
            linear_bias=None if bias is None else bias.reshape(shape), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


class CTCLoss(Loss):
    """Negative log probability of a label sequence, summed over all its alignments.

    Args:
        blank: Index of the blank class, which stands for no label. Default: 0.
        reduction: ``"mean"`` (of the losses divided by the targets' lengths), ``"sum"`` or
            ``"none"``. Default: ``"mean"``.
        zero_infinity: Whether infinite losses, and their gradients, become 0. Default: False.

    Example:
        >>> log_probs = tt.zeros(5, 1, 3).log_softmax(2)
        >>> targets, lengths = tt.tensor([[1, 2]]), (tt.tensor([5]), tt.tensor([2]))
        >>> tt.nn.CTCLoss()(log_probs, targets, *lengths)
        tensor(0.9689)

    Reference:
        A. Graves et al., "Connectionist temporal classification" (2006).
    """

    blank: int
    zero_infinity: bool

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any
    ) -> Tensor:
        """Compute the loss.

        Args:
            log_probs: Shape ``(time, batch, classes)``.
            targets: Labels, shape ``(batch, length)``, or all samples' labels concatenated.
            input_lengths: Number of time steps of each sample.
            target_lengths: Number of labels of each sample.
        """
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
            self.zero_infinity,
        )  # fmt: skip
