"""Strided windows into a tensor's memory, and broadcasting.

A *geometry* describes the positions of elements in memory: sizes, strides and the start, all
counted in elements.
"""

from __future__ import annotations

from typing import Any

from ...backends.storage import extent, row_major
from ...core.lazy_bits import stored_array
from ...core.tensor import Size, Tensor
from ...dispatch.op import Array, Backend, Out, Reduced, Shape, composite, op
from ...graph.nodes import sum_to_shape
from ...graph.views import replay_from_base
from ..checks import as_ints
from ..index.positions import int64_range
from ..memory_order import as_row_major, copy_with_strides, has_strides
from .sizes import expand
from .views import own_copy

# -- reading and writing by geometry, both linear --------------------------------------------------


@op
def _read_window(xp: Backend, input: Array, size: Any, stride: Any, start: int) -> Array:
    """Copy a window of a one-dimensional array.

    Args:
        xp: The backend.
        input: Array of shape ``(n,)``.
        size: The window's sizes.
        stride: The window's strides, in elements.
        start: Position of the window's first element.
    """
    flat = as_row_major(xp, input)
    steps = tuple(s * flat.itemsize for s in stride)
    return xp.array(xp.as_strided(flat[start:], tuple(size), steps), order="C")


@op
def _add_window(xp: Backend, input: Array, count: int, size: Any, stride: Any, start: int) -> Array:
    """Add ``input`` to ``count`` zeros at the positions that ``_read_window`` would read."""
    places: Any = start
    for d, (n, s) in enumerate(zip(size, stride, strict=True)):
        steps = int64_range(xp, n, s) if s else int64_range(xp, n) * 0
        places = places + steps.reshape(tuple(-1 if i == d else 1 for i in range(len(size))))
    flat = xp.zeros(count, input.dtype)
    places = xp.broadcast_to(xp.asarray(places), tuple(size)).reshape(-1)
    xp.index_add(flat, places, input.reshape(-1))
    return flat


_read_window.vjp(
    input=lambda xp, g, in_shape, size, stride, start: xp.call(
        _add_window, g, in_shape[0], size, stride, start
    )
)
_add_window.vjp(
    input=lambda xp, g, size, stride, start: xp.call(_read_window, g, size, stride, start)
)

# -- windows ---------------------------------------------------------------------------------------


@op(view=True)
def _as_strided(
    xp: Backend, input: Array, size: Any, stride: Any, start: int, own: Any, limits: Any
) -> Array:
    """Window into the memory of ``input``.

    Args:
        xp: The backend.
        input: Any array.
        size: The window's sizes.
        stride: The window's strides.
        start: The window's first element, relative to the first element of ``input``.
        own: The strides of ``input``, None if it is row-major; a gradient in its place may have
            other strides.
        limits: The first position that may be read, and the position after the last.
    """
    span = extent(size, stride)
    if start < limits[0] or start + span > limits[1]:
        check_bounds(input.itemsize, size, stride, start - limits[0], limits[1] - limits[0])
    array = input
    if not (array.flags.c_contiguous if own is None else has_strides(array, own)):
        array = copy_with_strides(xp, array, own)
    if array.flags.c_contiguous and 0 <= start <= array.size - span:
        flat, first = array.reshape(-1), start if span else 0
    else:
        flat, here = xp.memory(array) or (array.reshape(-1), 0)
        first = here + start if span else here
        if not xp.is_view(flat, array) or not 0 <= first <= flat.size - span:
            raise RuntimeError("as_strided: the tensor's memory cannot be reached from here")
    item = array.itemsize
    window = xp.as_strided(flat[first:] if first else flat, size, tuple([s * item for s in stride]))
    # A window whose elements share memory, as an expanded tensor's, must not be writable.
    return xp.broadcast_to(window, size) if _has_overlap(size, stride) else window


def check_bounds(itemsize: int, size: Any, stride: Any, start: int, count: int) -> None:
    """Raise unless a window is within ``count`` elements; an empty window always is."""
    reach = start + extent(size, stride)
    if 0 not in size and (start < 0 or reach > count):
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and "
            f"itemsize {itemsize} requiring a storage size of {reach * itemsize} are out of "
            f"bounds for storage of size {count * itemsize}"
        )


def _as_strided_gradient(
    xp: Any, g: Any, in_shape: Any, size: Any, stride: Any, start: int, own: Any
) -> Any:
    """Gradient of ``input``; elements that share memory share its gradient equally."""
    first, own = min(start, 0), row_major(in_shape) if own is None else own
    if len(own) != len(in_shape):
        raise RuntimeError(
            f"as_strided: the data of the input have {len(own)} dimensions, and its gradient has "
            f"shape {list(in_shape)}, because other data were assigned to it"
        )
    count = max(start + extent(size, stride), extent(in_shape, own)) - first
    memory = xp.call(_add_window, g, count, size, stride, start - first)
    if _has_overlap(in_shape, own):
        ones = xp.zeros(tuple(in_shape), dtype=g.dtype) + 1
        shared = xp.call(_add_window, ones, count, in_shape, own, -first)
        memory = memory / (shared + xp.astype(shared == 0, g.dtype))
    return xp.call(_read_window, memory, tuple(in_shape), own, -first)


def _has_overlap(shape: Any, stride: Any) -> bool:
    """Whether a dimension has stride 0, so that elements share memory."""
    return 0 in stride and any(n > 1 and not s for n, s in zip(shape, stride, strict=True))


_as_strided.vjp(input=_as_strided_gradient)


def checked_window(size: Any, stride: Any, start: int | None) -> tuple[Any, Any]:
    """Convert sizes and strides to tuples of ints; raise if they are not a valid window."""
    sizes = as_ints("as_strided", "size", size)
    strides = as_ints("as_strided", "stride", stride)
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"as_strided: mismatch in length of strides and shape, got {list(sizes)} and "
            f"{list(strides)}"
        )
    if sizes and min(sizes) < 0:
        raise RuntimeError(f"as_strided: sizes must not be negative, got {list(sizes)}")
    if (start or 0) < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {start}")
    if strides and min(strides) < 0:
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(strides)}, storage_offset: {start}"
        )
    return sizes, strides


@composite(method=True)
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Window into the memory of ``input``, or of the tensor of which it is a view.

    Args:
        input: Tensor of any shape.
        size: The window's sizes.
        stride: Steps, in elements, along each dimension; not negative.
        storage_offset: The window's first element, counted from the start of the memory; default
            the offset of ``input``.

    Returns:
        A view, whose elements may overlap.

    Raises:
        RuntimeError: If the window reaches beyond the memory.

    Example:
        >>> tt.arange(5).as_strided((3, 2), (1, 2))
        tensor([[0, 2],
                [1, 3],
                [2, 4]])
    """
    size, stride = checked_window(size, stride, storage_offset)
    here, count = place(input)
    if storage_offset is None and not input._data.size:
        count = here  # an empty array may have any position in the memory
    start = 0 if storage_offset is None else storage_offset + input._shift - here
    out = _as_strided(input, size, stride, start, own_strides(input), (-here, count - here))
    if input._base is not None and out._base is input._base:
        _rebase_window(out, size, stride, here + start)
    return out


def _rebase_window(window: Any, size: Any, stride: Any, first: int) -> None:
    """Replay a window of a view from the view's base, if the window is within the base.

    Args:
        window: The window.
        size: The window's sizes.
        stride: The window's strides.
        first: The window's first element, counted from the start of the memory.
    """
    base: Any = window._base
    if base._is_lazy or window._is_lazy or base._data.dtype != window._data.dtype:
        return
    here, count = place(base)
    start = first - here
    if 0 <= start <= extent(base.shape, base.stride()) - extent(size, stride):
        arguments = size, stride, start, own_strides(base), (-here, count - here)
        replay_from_base(window, window._view_ops[1], arguments)


def own_strides(input: Tensor) -> Any:
    """Strides of a tensor, None if it is row-major; see ``_as_strided``."""
    return None if input._data.flags.c_contiguous else input.stride()


def place(input: Tensor) -> tuple[int, int]:
    """Position of the first element of ``input`` in its memory, and the memory's size.

    Both are counted in elements.
    """
    whole = input._memory()
    if whole is input._data:
        count = whole.size if whole.flags.c_contiguous else extent(whole.shape, input.stride())
        return 0, count
    distance = input._xp.address(stored_array(input)) - input._xp.address(whole)
    last = extent(whole.shape, [step // whole.itemsize for step in whole.strides])
    return distance // input.itemsize, last * whole.itemsize // input.itemsize


@composite(
    method=True, node="AsStridedBackward0_copy", out=Out.EXACT, like=as_strided,
    reduced=Reduced.NATIVE,
)  # fmt: skip
def as_strided_copy(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """Copy of ``as_strided(...)``.

    Example:
        >>> tt.as_strided_copy(tt.arange(4), (2,), (2,))
        tensor([0, 2])
    """
    return own_copy(as_strided(input, size, stride, storage_offset))


@op(node="AsStridedScatterBackward0")
def _strided_scatter(
    xp: Backend, input: Array, src: Array, size: Any, stride: Any, start: int, own: Any,
    lies_at: Any,
) -> Array:  # fmt: skip
    """Copy of ``input`` with ``src`` written to a window of its memory.

    Args:
        xp: The backend.
        input: Any array.
        src: Array of the window's shape.
        size: The window's sizes.
        stride: The window's strides.
        start: Position of the window's first element in the memory.
        own: The strides of ``input``.
        lies_at: Position of the first element of ``input`` in the memory, and the memory's size.
            The memory may have elements outside of ``input``.
    """
    here, count = lies_at
    check_bounds(input.itemsize, size, stride, start, count)
    if input.size == count and own == row_major(input.shape):  # the whole memory
        flat = xp.array(input, order="C").reshape(-1)
    else:
        flat = xp.call(_add_window, input, count, input.shape, own, here)
    window = xp.as_strided(flat[start:], size, tuple(s * input.itemsize for s in stride))
    window[...] = src
    return xp.as_strided(flat[here:], input.shape, tuple(s * input.itemsize for s in own))


def _src_gradient(
    xp: Any, g: Any, size: Any, stride: Any, start: int, own: Any, lies_at: Any
) -> Any:
    """Gradient of ``src``: the window into the memory of ``g``."""
    memory = xp.call(_add_window, g, lies_at[1], tuple(g.shape), own, lies_at[0])
    return xp.call(_read_window, memory, size, stride, start)


def _input_gradient(
    xp: Any, g: Any, size: Any, stride: Any, start: int, own: Any, lies_at: Any
) -> Any:
    """Gradient of ``input`` as in torch: that of the overwritten elements, zeros elsewhere."""
    part = _src_gradient(xp, g, size, stride, start, own, lies_at)
    memory = xp.call(_add_window, part, lies_at[1], size, stride, start)
    return xp.call(_read_window, memory, tuple(g.shape), own, lies_at[0])


_strided_scatter.vjp(input=_input_gradient, src=_src_gradient)


@composite(method=True)
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """Copy of ``input`` with ``src`` written to a window of its memory; see ``as_strided``.

    The gradient of ``input`` is that of PyTorch 2.13, which is not the derivative: it is the
    gradient of the window and zeros elsewhere, instead of the reverse.

    Args:
        input: Tensor of any shape. The result has its strides.
        src: Tensor of the window's shape.
        size: The window's sizes.
        stride: Steps, in elements, along each dimension.
        storage_offset: The window's first element, counted as in ``as_strided``.

    Returns:
        A copy. Elements of the window outside of ``input`` do not appear in it.

    Raises:
        RuntimeError: If ``src`` has another shape, or the window reaches beyond the memory.

    Example:
        >>> tt.as_strided_scatter(tt.zeros(4), tt.ones(2), (2,), (2,))
        tensor([1., 0., 1., 0.])
    """
    sizes, strides = checked_window(size, stride, storage_offset)
    if src._data.shape != sizes:
        raise RuntimeError(
            "as_strided_scatter: expected src to have a size equal to the slice of self. src size "
            f"= {list(src.shape)}, slice size = {list(sizes)}"
        )
    own = input.stride()
    if _has_overlap(input._data.shape, own):
        input = input.contiguous()  # elements that share memory cannot be written separately
        own = input.stride()
    here, count = place(input)
    start = here if storage_offset is None else storage_offset
    return _strided_scatter(input, src, sizes, strides, start, own, (here, count))


@op(method=True, view=True, node="ExpandBackward0")
def broadcast_to(xp: Backend, input: Array, size: Shape) -> Array:
    """Expand ``input`` to the shape ``size`` by broadcasting; see ``Tensor.expand``.

    Args:
        input: Tensor whose sizes are 1 or those of ``size``, aligned at the last dimension.
        size: The shape, as a sequence or as ints one by one.

    Example:
        >>> tt.broadcast_to(tt.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    return expand.kernel(xp, input, size)


broadcast_to.vjp(input=lambda xp, g: g)


@composite(method=True)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Expand ``input`` to the shape of ``other`` without copying; see ``expand``.

    Args:
        input: Tensor whose shape broadcasts to that of ``other``.
        other: Tensor of the new shape.

    Example:
        >>> tt.tensor([1, 2]).expand_as(tt.zeros(3, 2)).shape
        tinytorch.Size([3, 2])
    """
    return expand(input, other._data.shape)


@composite
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of the given shapes broadcast to.

    Args:
        *shapes: Sequences of ints; an int means a shape of one dimension.

    Returns:
        A ``Size``.

    Raises:
        RuntimeError: If the shapes do not broadcast.

    Example:
        >>> tt.broadcast_shapes((2, 1), (3,))
        tinytorch.Size([2, 3])
    """
    return Size(common_shape(*[as_ints("broadcast_shapes", "shapes", s) for s in shapes]))


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """``broadcast_shapes`` of tuples of ints."""
    if any(n < 0 for shape in shapes for n in shape):
        raise ValueError(
            f"broadcast_shapes: Attempting to broadcast a dimension with negative length! "
            f"{list(shapes)}"
        )
    ndim = max((len(shape) for shape in shapes), default=0)
    result = [1] * ndim
    for i, shape in enumerate(shapes):
        for d, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and result[d] not in (1, n):
                raise RuntimeError(
                    f"broadcast_shapes: Attempting to broadcast a dimension of length {n} at "
                    f"{d - ndim}! Mismatching argument at index {i} had {shape}; but expected "
                    f"shape should be broadcastable to {result}"
                )
            result[d] = n if n != 1 else result[d]
    return tuple(result)


@composite
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Expand the tensors to their common shape without copying.

    Args:
        *tensors: Tensors whose shapes broadcast, one by one or as a sequence.

    Returns:
        A tuple of views; tensors that have the common shape already are returned themselves.

    Raises:
        RuntimeError: If the shapes do not broadcast.

    Example:
        >>> a, b = tt.broadcast_tensors(tt.zeros(2, 1), tt.zeros(3))
        >>> a.shape, b.shape
        (tinytorch.Size([2, 3]), tinytorch.Size([2, 3]))
    """
    many = tensors_of(tensors)
    shapes = [tensor._data.shape for tensor in many]
    common = shapes[0] if many else ()
    for shape in shapes[1:]:
        common = common if shape == common else _common_shape(common, shape)
    pairs = zip(many, shapes, strict=True)
    return tuple([t if shape == common else expand(t, common) for t, shape in pairs])


def tensors_of(given: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Tensors that are passed one by one or as one sequence."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    for tensor in given:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensors, but got {type(tensor).__name__}")
    return given


def _common_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Broadcast two shapes, with PyTorch's error for tensors."""
    shape = []
    for k, (n, m) in enumerate(zip(reversed(a), reversed(b))):
        if n != m and n != 1 and m != 1:
            raise RuntimeError(
                f"The size of tensor a ({n}) must match the size of tensor b ({m}) at "
                f"non-singleton dimension {max(len(a), len(b)) - k - 1}"
            )
        shape.append(m if n == 1 else n)
    longer = a if len(a) > len(b) else b
    return (*longer[: len(longer) - len(shape)], *reversed(shape))


@composite(namespaces=("Tensor",))
def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Sum ``input`` to the shape ``size``: the reverse of broadcasting.

    Args:
        input: Tensor of any shape.
        *size: A shape that broadcasts to ``input``'s, as a sequence or one by one.

    Returns:
        Tensor of shape ``size``.

    Raises:
        RuntimeError: If ``size`` does not broadcast to the shape of ``input``.

    Example:
        >>> tt.ones(2, 3).sum_to_size(1, 3)
        tensor([[2., 2., 2.]])
    """
    many = len(size) == 1 and isinstance(size[0], (tuple, list))
    wanted = as_ints("sum_to_size", "size", size[0] if many else size)
    lead = input.ndim - len(wanted)
    if lead < 0 or any(n not in (1, m) for n, m in zip(wanted, input.shape[lead:], strict=True)):
        raise RuntimeError(
            f"sum_to_size: size {list(wanted)} is not expandable to size {list(input.shape)}."
        )
    if not wanted:
        return input.sum()
    same = input.shape == wanted
    return input if same else sum_to_shape(input, wanted)
