"""Errors of compiled functions, under PyTorch's names in ``torch._dynamo.exc``."""

from __future__ import annotations


class TorchDynamoException(RuntimeError):
    """Base class of the errors of compiled functions."""


class Unsupported(TorchDynamoException):
    """A call could not be recorded, and ``fullgraph=True`` forbids to run it eagerly.

    Attributes:
        case_name: Accepted for compatibility; None.
    """

    case_name: str | None = None


class RecompileError(TorchDynamoException):
    """A call would be recorded anew, and the stance ``"fail_on_recompile"`` forbids that."""


class FailOnRecompileLimitHit(Exception):
    """A function with ``fullgraph=True`` would be recorded more often than the limit allows."""


class ReplayError(TorchDynamoException):
    """With ``mode="check"``: a replayed program differs from the eager function."""
