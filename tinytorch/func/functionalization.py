"""``functionalize``: accepted for programs that use it; in-place operations need no replacement."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ._level import P, R


def functionalize(func: Callable[P, R], *, remove: str = "mutations") -> Callable[P, R]:
    """Return a function that returns the results of ``func``.

    PyTorch's replaces in-place operations by others, for compilers; the results, and the changes of
    arguments, are the same. ``compile`` records in-place operations as they are, so they stay.

    Args:
        func: Takes tensors.
        remove: ``"mutations"`` (default) or ``"mutations_and_views"``.

    Raises:
        RuntimeError: For another ``remove``, when the function is called.

    Example:
        >>> tt.func.functionalize(lambda x: x.clone().add_(1))(tt.ones(2))
        tensor([2., 2.])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.functionalize.html
    """

    @functools.wraps(func)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if remove not in ("mutations", "mutations_and_views"):
            raise RuntimeError(
                "functionalize(f, remove='mutations'): received invalid argument for "
                f"remove={remove}. Valid options are: remove='mutations': all inplace operators; "
                "remove='mutations_and_views': views, too."
            )
        return func(*args, **kwargs)

    return wrapper
