"""CUDA graphs, which CuPy cannot record: its products of matrices refuse it."""

from __future__ import annotations

from typing import Any, NoReturn

from .streams import is_current_stream_capturing as is_current_stream_capturing

__all__ = [
    "CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing",
    "make_graphed_callables",
]  # fmt: skip


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"cuda.{name}: graphs cannot be recorded, for CuPy refuses cuBLAS and cuRAND while a "
        "stream is captured; run the operations themselves"
    )


class CUDAGraph:
    """Refused: there are no graphs here.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> try:
        ...     tt.cuda.CUDAGraph()
        ... except NotImplementedError:
        ...     print("refused")
        refused
    """

    def __init__(self, keep_graph: bool = False) -> None:
        _refuse("CUDAGraph")


class graph:  # a context manager, named as a function
    """Refused: there are no graphs here.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> try:
        ...     tt.cuda.graph(None)
        ... except NotImplementedError:
        ...     print("refused")
        refused
    """

    def __init__(self, cuda_graph: Any, *args: Any, **options: Any) -> None:
        _refuse("graph")


def graph_pool_handle() -> tuple[int, int]:
    """Refused: there are no graphs here.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> try:
        ...     tt.cuda.graph_pool_handle()
        ... except NotImplementedError:
        ...     print("refused")
        refused
    """
    _refuse("graph_pool_handle")


def make_graphed_callables(callables: Any, sample_args: Any, *args: Any, **options: Any) -> Any:
    """Refused: there are no graphs here.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> try:
        ...     tt.cuda.make_graphed_callables(abs, (tt.ones(1),))
        ... except NotImplementedError:
        ...     print("refused")
        refused
    """
    _refuse("make_graphed_callables")
