"""``torch._dynamo.config``: settings of compiled functions, which programs set.

``recompile_limit`` (or its former name ``cache_size_limit``), ``disable``, ``error_on_recompile``
and ``fail_on_recompile_limit_hit`` have an effect, the others none.

Example:
    >>> config = tt._dynamo.config
    >>> with config.patch(recompile_limit=20):
    ...     config.recompile_limit
    20
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..state.bindings import contextmanager


_DEFAULT_LIMIT = 8

recompile_limit: int = _DEFAULT_LIMIT
cache_size_limit: int = _DEFAULT_LIMIT
accumulated_recompile_limit: int = 256
accumulated_cache_size_limit: int = 256
#: Whether compiled functions run eagerly; PyTorch's environment variables set it, too.
disable: bool = "1" in (
    os.environ.get("TORCH_COMPILE_DISABLE"), os.environ.get("TORCHDYNAMO_DISABLE")
)  # fmt: skip
error_on_recompile: bool = False
fail_on_recompile_limit_hit: bool = False

suppress_errors: bool = False
verbose: bool = False
capture_scalar_outputs: bool = False
capture_dynamic_output_shape_ops: bool = False
optimize_ddp: bool = True
assume_static_by_default: bool = True
automatic_dynamic_shapes: bool = True
allow_unspec_int_on_nn_module: bool = False
guard_nn_modules: bool = True
inline_inbuilt_nn_modules: bool = True
skip_nnmodule_hook_guards: bool = True
compiled_autograd: bool = False
numpy_default_float: str = "float64"


@contextmanager
def patch(arg1: Any = None, arg2: Any = None, **kwargs: Any) -> Iterator[None]:
    """Change settings inside a block, or while a function runs.

    Args:
        arg1: The name of a setting, or a dict of names and values. Default: none.
        arg2: The value of the setting named by ``arg1``.
        **kwargs: Further names and values.

    Example:
        >>> with tt._dynamo.config.patch("disable", True):
        ...     y = tt.compile(tt.sin)(tt.zeros(1))
    """
    given = {**({arg1: arg2} if isinstance(arg1, str) else arg1 or {}), **kwargs}
    space = globals()
    before = {name: space[name] for name in given if name in space}
    try:
        space.update(given)
        yield
    finally:
        for name in given:
            space.pop(name, None)
        space.update(before)


def find_limit() -> int:
    """Return how often a function is recorded at most: of two names, that which a program set."""
    limits = {recompile_limit, cache_size_limit} - {_DEFAULT_LIMIT}
    return min(limits, default=_DEFAULT_LIMIT)
