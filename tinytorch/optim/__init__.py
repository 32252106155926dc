"""Optimizers and learning-rate schedulers.

Example:
    >>> w = tt.tensor([3.0, -4.0], requires_grad=True)
    >>> optimizer = tt.optim.SGD([w], lr=0.25)
    >>> for _ in range(3):
    ...     optimizer.zero_grad()
    ...     (w * w).sum().backward()
    ...     optimizer.step()
    >>> w
    tensor([ 0.3750, -0.5000], requires_grad=True)
"""

from __future__ import annotations

from . import adamw as adamw
from . import lr_scheduler as lr_scheduler
from . import swa_utils as swa_utils
from .adadelta import Adadelta as Adadelta
from .adafactor import Adafactor as Adafactor
from .adagrad import Adagrad as Adagrad
from .adam import Adam as Adam
from .adam import AdamW as AdamW
from .adamax import Adamax as Adamax
from .asgd import ASGD as ASGD
from .lbfgs import LBFGS as LBFGS
from .muon import Muon as Muon
from .nadam import NAdam as NAdam
from .optimizer import Optimizer as Optimizer
from .radam import RAdam as RAdam
from .rmsprop import RMSprop as RMSprop
from .rprop import Rprop as Rprop
from .sgd import SGD as SGD
from .sparse_adam import SparseAdam as SparseAdam

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]
