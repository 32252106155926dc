"""``functionalize``: a function without changes in place, which here is the function."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ._level import P, R


def functionalize(func: Callable[P, R], *, remove: str = "mutations") -> Callable[P, R]:
    """A function that gives what ``func`` gives.

    PyTorch's replaces what ``func`` does in place, for compilers that cannot; the results are the
    same, arguments it changes included. Nothing is compiled here, and so nothing replaced.

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
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        if remove not in ("mutations", "mutations_and_views"):
            raise RuntimeError(
                "functionalize(f, remove='mutations'): received invalid argument for "
                f"remove={remove}. Valid options are: remove='mutations': all inplace operators; "
                "remove='mutations_and_views': views, too."
            )
        return func(*args, **kwargs)

    return wrapped
