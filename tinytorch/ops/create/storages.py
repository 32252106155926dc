"""The storage of a tensor as an object: ``untyped_storage``, ``storage`` and ``set_``."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...backends.storage import row_major
from ...backends.weak_references import CallingRef
from ...core.tensor import Tensor, wrap
from ...dispatch.op import Array, composite
from ...graph.special_nodes import error_node
from ...graph.views import check_inplace, edge_of
from ...state import grad_enabled
from ..shape.strides import check_bounds
from .typed_storage import TypedStorage, deprecate
from .untyped_storage import UntypedStorage

#: References to the tensors whose memory is used by other streams, by their id.
_USES: dict[int, CallingRef] = {}


def _memory(input: Tensor, is_untyped: bool = False) -> Array:
    """All memory of a tensor as a flat array of its dtype; NotImplementedError if it has gaps.

    If the memory has some bytes more than elements of the dtype, these are left out, or with
    ``is_untyped`` the array is of another dtype.
    """
    if not input.numel():
        return input._xp.empty(0, input._data.dtype)
    # Use the tensor's whole memory: for a window CuPy has no base, only the whole allocation.
    found = input._xp.memory(input._memory())
    if found is None:
        raise NotImplementedError(
            f"storage: a tensor of shape {list(input.shape)} and strides {input.stride()} runs "
            "backwards through its memory, or is a part of memory with gaps; clone() it"
        )
    flat, dtype = found[0], input._data.dtype
    rest = flat.nbytes % dtype.itemsize
    if rest and is_untyped:
        return flat
    return flat.view("uint8")[:-rest].view(dtype) if rest else flat.view(dtype)


@composite(namespaces=("Tensor",))
def untyped_storage(input: Tensor) -> UntypedStorage:
    """The storage of ``input``, in bytes.

    Raises:
        NotImplementedError: If the memory was allocated by another library and has gaps.

    Example:
        >>> x = tt.ones(3)
        >>> x.untyped_storage().data_ptr() == x.view(3, 1).untyped_storage().data_ptr()
        True
    """
    return _wrap_tensor_memory(UntypedStorage, input)  # type: ignore[no-any-return]


@composite(namespaces=("Tensor",))
def storage(input: Tensor) -> TypedStorage:
    """The storage of ``input``, in elements of its dtype; deprecated, as in PyTorch.

    Raises:
        NotImplementedError: If the memory was allocated by another library and has gaps.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     len(tt.zeros(2, 3)[0].storage())
        6
    """
    deprecate()
    return _wrap_tensor_memory(TypedStorage, input)  # type: ignore[no-any-return]


@composite(namespaces=("Tensor",), public=True)
def _typed_storage(input: Tensor) -> TypedStorage:
    """``storage`` without its warning.

    Example:
        >>> len(tt.zeros(2, 3)[0]._typed_storage())
        6
    """
    return _wrap_tensor_memory(TypedStorage, input)  # type: ignore[no-any-return]


@composite(namespaces=("Tensor",))
def record_stream(input: Tensor, stream: Any) -> None:
    """Mark the memory of ``input`` as used by a stream, so that it is not reused too early.

    The memory is reused only after the work that the stream has when the tensor is deleted.

    Args:
        input: Tensor on a GPU whose memory is used by another stream than its own.
        stream: The ``cuda.Stream``.

    Raises:
        NotImplementedError: If ``input`` is on the CPU.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.ones(2, device="cuda").record_stream(tt.cuda.current_stream())
    """
    if not input.is_cuda:
        raise NotImplementedError(
            f"Could not run 'aten::record_stream' with arguments from the "
            f"'{input.device.type.upper()}' backend: only memory of a GPU belongs to streams"
        )
    for key, use in tuple(_USES.items()):
        if use() is None:
            _USES.pop(key, None)
    # The list references the memory until a CUDA callback, after the stream's work, clears it.
    launch = partial(stream._raw.launch_host_func, list.clear, [input._memory().data.mem])
    use = CallingRef(input, launch)
    _USES[id(use)] = use


def _wrap_tensor_memory(kind: Any, input: Tensor) -> Any:
    """Storage of class ``kind`` of a tensor's memory; ``_lent`` forbids to resize it."""
    made = kind._from_array(_memory(input, kind is UntypedStorage), input._xp)
    made._lent = True
    return made


@composite(namespaces=("Tensor",))
def set_(
    input: Tensor,
    source: Tensor | UntypedStorage | None = None,
    storage_offset: int = 0,
    size: Any = None,
    stride: Any = None,
) -> Tensor:
    """Change ``input`` in place to a window into other memory of the same dtype.

    It is not differentiable: a backward pass through it raises.

    Args:
        input: Tensor.
        source: A tensor, whose offset, shape and strides are the defaults; a storage; or None for
            a tensor without elements.
        storage_offset: The window's first element, relative to that of ``source``.
        size: The window's sizes; for a storage the default is all of it.
        stride: The window's strides; default row-major.

    Returns:
        ``input``.

    Raises:
        TypeError: If ``source`` is of another type.
        RuntimeError: If the dtypes differ (also that of a typed storage), the window exceeds the
            memory, or ``input`` is a leaf that requires grad.

    Example:
        >>> tt.ones(2).set_(tt.zeros(3))
        tensor([0., 0., 0.])
        >>> tt.ones(2).set_(tt.arange(6.0).untyped_storage(), 1, (2, 2))
        tensor([[1., 2.],
                [3., 4.]])
    """
    edges: tuple[Any, ...] = ()
    if grad_enabled() and input._base is None:
        edges = tuple(edge_of(t) for t in (input, source) if isinstance(t, Tensor))
    if grad_enabled() and input.requires_grad:
        check_inplace(input)
    if isinstance(source, Tensor) and source.dtype is not input.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source.dtype.name} to a tensor of type "
            f"{input.dtype.name}"
        )
    if not isinstance(source, (Tensor, UntypedStorage, type(None))):
        raise TypeError(
            "set_(): argument 'source' (position 1) must be Tensor or UntypedStorage, not "
            f"{type(source).__name__}"
        )
    if isinstance(source, UntypedStorage):
        source._check_dtype(input.dtype)
    if source is None:
        input._take_array(wrap(input._xp.empty(0, input._data.dtype), input._xp))
    elif isinstance(source, Tensor) and size is None:
        input._take_array(source)
    else:
        _take_window(input, source, storage_offset, size, stride)
    input._bump()
    if any(edge is not None for edge in edges):
        input._node, input._rg = error_node("set_", input, edges), True
    return input


def _take_window(input: Tensor, source: Any, start: int, size: Any, stride: Any) -> None:
    """Make ``input`` a window into the memory of ``source``: the slow path of ``set_``.

    Args:
        input: The tensor that is changed.
        source: A tensor or a storage.
        start: Position of the first element.
        size: Shape of the window. Default: all elements from ``start`` on.
        stride: Strides in elements. Default: row-major.
    """
    array, xp = (_memory(source) if isinstance(source, Tensor) else source._array), source._xp
    if isinstance(source, Tensor):
        start += source.storage_offset() + source._shift
    flat = array.reshape(-1).view(input._data.dtype)
    size = (flat.size - start,) if size is None else tuple(size)
    stride = row_major(size) if stride is None else tuple(stride)
    check_bounds(flat.itemsize, size, stride, start, flat.size)
    steps = tuple(step * flat.itemsize for step in stride)
    input._data, input._xp = xp.as_strided(flat[start:], size, steps), xp
    input._whole = flat


@composite
def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is a storage.

    Args:
        obj: Any object.

    Example:
        >>> tt.is_storage(tt.ones(1)), tt.is_storage(tt.ones(1).untyped_storage())
        (False, True)
    """
    return isinstance(obj, UntypedStorage)
