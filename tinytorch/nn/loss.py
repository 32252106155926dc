"""Losses of regression and of probabilities."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from ._reduction import Loss, WeightedLoss

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "GaussianNLLLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
]


class L1Loss(Loss):
    """|input - target|.

    Args:
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.L1Loss()(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(Loss):
    """(input - target)².

    Args:
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.MSELoss()(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """d² / (2 beta) where d = |input - target| is below beta, else d - beta / 2.

    Args:
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        beta: Not negative. Default: 1.

    Example:
        >>> import tinytorch as tt
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
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        delta: Positive. Default: 1.

    Raises:
        TypeError: If ``delta`` is no number.

    Example:
        >>> import tinytorch as tt
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
    """target · (log target - input), where ``input`` holds logarithms of probabilities.

    Args:
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"batchmean"``, which is the mathematical definition, ``"mean"``,
            ``"sum"`` or ``"none"``. Default: ``"mean"``.
        log_target: Whether the target holds logarithms, too. Default: False.

    Example:
        >>> import tinytorch as tt
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
    """-(target · log(input) + (1 - target) · log(1 - input)); logarithms not below -100.

    Args:
        weight: A factor for each element. Default: all 1.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.BCELoss()(tt.tensor([0.5, 0.9]), tt.tensor([0.0, 1.0]))
        tensor(0.3993)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape, with elements in [0, 1]."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(Loss):
    """BCELoss of the sigmoid of the input, computed without overflow.

    Args:
        weight: A factor for each element. Default: all 1.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        pos_weight: A factor on the loss where the target is 1, broadcast. Default: 1.

    Example:
        >>> import tinytorch as tt
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
        size_average: Deprecated; see ``reduction``.
        eps: Default: 1e-8.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Example:
        >>> import tinytorch as tt
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
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(Loss):
    """(log var + (input - target)² / var) / 2, where the target has a normal distribution.

    Args:
        full: Whether to add log(2π) / 2. Default: False.
        eps: The least variance. Default: 1e-6.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.

    Example:
        >>> import tinytorch as tt
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
            var: The variances, of the same shape, or without or with 1 in its last dimension;
                or one number.
        """
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )
