"""Construction of modules without initialization."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ...random import get_rng_state, set_rng_state
from ...state.tracebacks import short
from ..module import Module

__all__ = ["skip_init"]

M = TypeVar("M", bound=Module)


@short
def skip_init(module_cls: Callable[..., M], *args: Any, **kwargs: Any) -> M:
    """Construct a module without changing the state of the random number generator.

    The values of its parameters are to be set by the caller.

    Args:
        module_cls: The class, whose constructor has a parameter ``device``.
        *args: Arguments of the class.
        **kwargs: Keyword arguments of the class.

    Raises:
        RuntimeError: If ``module_cls`` is not a Module class, or has no parameter ``device``.

    Example:
        >>> tt.nn.utils.skip_init(tt.nn.Linear, 2, 3).weight.shape
        tinytorch.Size([3, 2])
    """
    kind: Any = module_cls
    if not (isinstance(kind, type) and issubclass(kind, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    before = get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(before)
