"""PyTorch's layouts and memory formats: orders in which elements may lie in memory."""

from __future__ import annotations

from typing import Any

from .. import dtypes


class _Named:
    """Constant that is pickled by its name."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"{dtypes.shown_as}.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class layout(_Named):  # as torch calls it
    """Layout of a tensor: ``tinytorch.strided`` of a dense one, or that of a sparse one.

    Sparse tensors are of the layouts ``sparse_coo``, ``sparse_csr`` and ``sparse_csc``.
    ``sparse_bsr``, ``sparse_bsc`` and ``jagged`` exist for comparisons: no tensor has them.

    Example:
        >>> tt.ones(2).layout is tt.strided
        True
    """

    __slots__ = ()


class memory_format(_Named):  # as torch calls it
    """Order in which the dimensions of a tensor lie in memory.

    ``contiguous_format`` is row-major. ``channels_last`` and ``channels_last_3d`` have the channels
    of an element of an image side by side. ``preserve_format`` is the order of the input.

    Example:
        >>> tt.ones(1, 2, 3, 3).to(memory_format=tt.channels_last).stride()
        (18, 1, 6, 2)
    """

    __slots__ = ("_order",)

    def __init__(self, name: str, order: tuple[int, ...] | None = None) -> None:
        super().__init__(name)
        self._order = order

    def order(self, ndim: int) -> tuple[int, ...] | None:
        """Dimensions from the outermost in memory to the innermost; None for their own order.

        Raises:
            RuntimeError: If the format is for tensors with another number of dimensions.

        Example:
            >>> tt.channels_last.order(4)
            (0, 2, 3, 1)
        """
        if self._order is not None and len(self._order) != ndim:
            raise RuntimeError(
                f"required rank {len(self._order)} tensor to use {self._name} format, got a "
                f"tensor of rank {ndim}"
            )
        return self._order

    def holds(self, array: Any) -> bool:
        """Whether the elements of ``array`` lie in this order, without gaps.

        Example:
            >>> tt.channels_last.holds(tt.ones(1, 2, 3, 3).numpy())
            False
        """
        order = self._order
        if order is None:
            return bool(array.flags.c_contiguous)
        return len(order) == array.ndim and bool(array.transpose(order).flags.c_contiguous)


strided: layout = layout("strided")
sparse_coo: layout = layout("sparse_coo")
sparse_csr: layout = layout("sparse_csr")
sparse_csc: layout = layout("sparse_csc")
sparse_bsr: layout = layout("sparse_bsr")
sparse_bsc: layout = layout("sparse_bsc")
jagged: layout = layout("jagged")
contiguous_format: memory_format = memory_format("contiguous_format")
#: Former name of ``contiguous_format``.
legacy_contiguous_format: memory_format = contiguous_format
preserve_format: memory_format = memory_format("preserve_format")
channels_last: memory_format = memory_format("channels_last", (0, 2, 3, 1))
channels_last_3d: memory_format = memory_format("channels_last_3d", (0, 2, 3, 4, 1))


def check_layout(name: str, given: Any) -> None:
    """Check that a layout is ``strided``, the one that this function creates."""
    if given is None or given is strided:
        return
    if not isinstance(given, layout):
        raise TypeError(
            f"{name}(): argument 'layout' must be tinytorch.layout, not {type(given).__name__}"
        )
    raise NotImplementedError(
        f"{name}: the layout {given} is not supported: the result is dense, of the layout "
        "tinytorch.strided; Tensor.to_sparse and sparse_coo_tensor create sparse tensors"
    )


def check_format(name: str, given: Any) -> memory_format:
    """Return ``given``, an argument of the function ``name``; TypeError if it is not a format."""
    if isinstance(given, memory_format):
        return given
    raise TypeError(
        f"{name}(): argument 'memory_format' must be tinytorch.memory_format, not "
        f"{type(given).__name__}"
    )
