"""``torch._dynamo`` for programs that tell its compiler what to leave: nothing is compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, TypeVar

from ..compiler import _same
from ..compiler import allow_in_graph as allow_in_graph
from ..compiler import assume_constant_result as assume_constant_result
from ..compiler import disable as disable
from ..compiler import is_compiling as is_compiling
from ..compiler import list_backends as list_backends
from ..compiler import reset as reset
from ..compiler import set_stance as set_stance
from ..nn.module import Module
from .module_aliases import publish
from .unsupported import Absent, absent

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable",
    "disallow_in_graph", "explain", "export", "forbid_in_graph", "graph_break",
    "is_compile_supported", "is_compiling", "is_dynamo_supported", "list_backends",
    "mark_dynamic", "mark_static", "mark_static_address", "maybe_mark_dynamic", "optimize",
    "reset", "set_stance",
]  # fmt: skip

_F = TypeVar("_F")
_WHY = "tinytorch compiles nothing: Python runs as it is written"


class _Settings(SimpleNamespace):
    """Settings, and scopes in which they are others."""

    @contextlib.contextmanager
    def patch(self, arg1: Any = None, arg2: Any = None, **kwargs: Any) -> Iterator[None]:
        """Other settings for a block, or while a function runs.

        Args:
            arg1: The name of one, or names and values in a dict. Default: none.
            arg2: The value of the one that is named.
            **kwargs: Names and values.
        """
        given = {arg1: arg2} if isinstance(arg1, str) else arg1 or {}
        before = dict(vars(self))
        vars(self).update(given, **kwargs)
        try:
            yield
        finally:
            vars(self).clear()
            vars(self).update(before)


#: Settings of the compiler, which programs set; nothing reads them.
config = _Settings(
    cache_size_limit=8, recompile_limit=8, suppress_errors=False, verbose=False,
    capture_scalar_outputs=False, optimize_ddp=True, disable=False,
)  # fmt: skip
explain = absent("_dynamo.explain", _WHY)
export = absent("_dynamo.export", _WHY)


class OptimizedModule(Absent, Module, why=_WHY):
    """What ``compile`` makes of a module in PyTorch; here it returns the module itself."""


class TransformGetItemToIndex(contextlib.AbstractContextManager[None]):
    """A scope in which tensors may be indexed by those that ``vmap`` maps: they always may."""

    def __exit__(self, *error: object) -> None:
        """Nothing."""


def is_dynamo_supported() -> bool:
    """Whether programs are compiled: False."""
    return False


def is_compile_supported(device_type: str) -> bool:
    """Whether programs are compiled for a kind of device: False."""
    return False


def optimize(*args: Any, **kwargs: Any) -> Any:
    """A decorator that returns what it is given, as ``compile`` does."""
    return _same


def disallow_in_graph(fn: _F) -> _F:
    """``fn`` itself."""
    return fn


forbid_in_graph = disallow_in_graph


def graph_break(msg: str = "") -> None:
    """Nothing: there is no graph to break."""


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Nothing: sizes are what they are at each call."""


maybe_mark_dynamic = mark_static = mark_dynamic


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Nothing: no addresses are kept."""


publish(__name__, "eval_frame external_utils utils _trace_wrapped_higher_order_op")
