"""CUDA graphs, which are unsupported: CuPy cannot capture matrix products (cuBLAS) or cuRAND."""

from __future__ import annotations

from typing import Any, NoReturn

from .streams import is_current_stream_capturing as is_current_stream_capturing

__all__ = [
    "CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing",
    "make_graphed_callables",
]  # fmt: skip


def _raise_unsupported(name: str) -> NoReturn:
    """Raise the error of ``cuda.<name>``."""
    raise NotImplementedError(
        f"cuda.{name}: CUDA graphs cannot be captured, because CuPy raises for cuBLAS and cuRAND "
        "while a stream is being captured; call the operations directly"
    )


class CUDAGraph:
    """CUDA graph; unsupported, so the constructor raises.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> try:
        ...     tt.cuda.CUDAGraph()
        ... except NotImplementedError:
        ...     print("unsupported")
        unsupported
    """

    def __init__(self, keep_graph: bool = False) -> None:
        _raise_unsupported("CUDAGraph")


class graph:  # a context manager, named as a function
    """Context manager that captures a CUDA graph; unsupported, so the constructor raises.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> try:
        ...     tt.cuda.graph(None)
        ... except NotImplementedError:
        ...     print("unsupported")
        unsupported
    """

    def __init__(self, cuda_graph: Any, *args: Any, **options: Any) -> None:
        _raise_unsupported("graph")


def graph_pool_handle() -> tuple[int, int]:
    """Raise ``NotImplementedError``: memory pools of CUDA graphs are unsupported.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> try:
        ...     tt.cuda.graph_pool_handle()
        ... except NotImplementedError:
        ...     print("unsupported")
        unsupported
    """
    _raise_unsupported("graph_pool_handle")


def make_graphed_callables(callables: Any, sample_args: Any, *args: Any, **options: Any) -> Any:
    """Raise ``NotImplementedError``: callables cannot be captured in CUDA graphs.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> try:
        ...     tt.cuda.make_graphed_callables(abs, (tt.ones(1),))
        ... except NotImplementedError:
        ...     print("unsupported")
        unsupported
    """
    _raise_unsupported("make_graphed_callables")
