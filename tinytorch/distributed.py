"""``torch.distributed`` for programs that ask whether it is there: it is not."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["destroy_process_group", "init_process_group", "is_available", "is_initialized"]


def is_available() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.is_available()
        False
    """
    return False


def is_initialized() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.is_initialized()
        False
    """
    return False


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Not available.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError("distributed: tinytorch trains in one process")


def destroy_process_group(group: Any = None) -> None:
    """Nothing: there is none.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.destroy_process_group()
    """
