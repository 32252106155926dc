"""Learning-rate schedulers: call ``scheduler.step()`` after ``optimizer.step()``.

Example:
    >>> optimizer = tt.optim.SGD([tt.ones(2, requires_grad=True)], lr=1.0)
    >>> scheduler = tt.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    >>> for epoch in range(3):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step()
    ...     scheduler.step()
    [1.0]
    [0.5]
    [0.25]
"""

from __future__ import annotations

from ._lr_base import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from ._lr_base import ConstantLR as ConstantLR
from ._lr_base import CosineAnnealingLR as CosineAnnealingLR
from ._lr_base import ExponentialLR as ExponentialLR
from ._lr_base import LambdaLR as LambdaLR
from ._lr_base import LinearLR as LinearLR
from ._lr_base import LRScheduler as LRScheduler
from ._lr_base import MultiplicativeLR as MultiplicativeLR
from ._lr_base import MultiStepLR as MultiStepLR
from ._lr_base import PolynomialLR as PolynomialLR
from ._lr_base import StepLR as StepLR
from ._lr_base import _enable_get_lr_call as _enable_get_lr_call
from ._lr_compose import ChainedScheduler as ChainedScheduler
from ._lr_compose import ReduceLROnPlateau as ReduceLROnPlateau
from ._lr_compose import SequentialLR as SequentialLR
from ._lr_cycle import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from ._lr_cycle import CyclicLR as CyclicLR
from ._lr_cycle import OneCycleLR as OneCycleLR

#: The old name of the base class.
_LRScheduler = LRScheduler

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
