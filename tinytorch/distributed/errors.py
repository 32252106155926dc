"""What goes wrong between processes, under PyTorch's names."""

from __future__ import annotations

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "QueueEmptyError"]


class DistError(RuntimeError):
    """A fault of work that several processes share.

    Example:
        >>> issubclass(tt.distributed.DistError, RuntimeError)
        True
    """


class DistBackendError(DistError):
    """A fault of what carries the messages: a rank that does not answer, or is gone.

    Example:
        >>> issubclass(tt.distributed.DistBackendError, tt.distributed.DistError)
        True
    """


class DistNetworkError(DistError):
    """Processes that cannot reach each other.

    Example:
        >>> issubclass(tt.distributed.DistNetworkError, tt.distributed.DistError)
        True
    """


class DistStoreError(DistError):
    """A key that nobody has set in a store, in time.

    Example:
        >>> issubclass(tt.distributed.DistStoreError, tt.distributed.DistError)
        True
    """


class QueueEmptyError(DistStoreError):
    """A queue of a store that has nothing; no store here has queues.

    Example:
        >>> issubclass(tt.distributed.QueueEmptyError, tt.distributed.DistStoreError)
        True
    """
