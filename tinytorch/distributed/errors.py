"""Errors of ``torch.distributed``."""

from __future__ import annotations

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "QueueEmptyError"]


class DistError(RuntimeError):
    """Base of the errors of ``torch.distributed``.

    Example:
        >>> issubclass(tt.distributed.DistError, RuntimeError)
        True
    """


class DistBackendError(DistError):
    """Error of the backend: for example a timeout, or a rank whose process has ended.

    Example:
        >>> issubclass(tt.distributed.DistBackendError, tt.distributed.DistError)
        True
    """


class DistNetworkError(DistError):
    """Error of the network: processes that cannot connect to each other.

    Example:
        >>> issubclass(tt.distributed.DistNetworkError, tt.distributed.DistError)
        True
    """


class DistStoreError(DistError):
    """Error of a store, such as a timeout while waiting for a key.

    Example:
        >>> issubclass(tt.distributed.DistStoreError, tt.distributed.DistError)
        True
    """


class QueueEmptyError(DistStoreError):
    """Error of an empty queue of a store; the stores of tinytorch have no queues.

    Example:
        >>> issubclass(tt.distributed.QueueEmptyError, tt.distributed.DistStoreError)
        True
    """
