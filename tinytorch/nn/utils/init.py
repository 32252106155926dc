"""Modules made without the work of initialising them."""

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
    """A module whose parameters are yet to be set; no random numbers are used up.

    Args:
        module_cls: The class, which takes a ``device``.
        *args: Its arguments.
        **kwargs: Its keyword arguments.

    Raises:
        RuntimeError: If ``module_cls`` is no Module, or takes no ``device``.

    Example:
        >>> from tinytorch import nn
        >>> nn.utils.skip_init(nn.Linear, 2, 3).weight.shape
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
