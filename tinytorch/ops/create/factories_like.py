"""Making tensors after another: in its shape, its dtype and its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import OPS, Array, Backend, Shape, composite, op
from ..memory_order import in_order, order_like
from .factories import tensor

if TYPE_CHECKING:
    from ...core.device import device as Device


class Placement(TypedDict, total=False):
    """How a tensor made after another may differ from it."""

    dtype: dtypes.dtype | None
    layout: Any
    device: Device | str | int | None
    pin_memory: bool
    requires_grad: bool
    memory_format: Any
    backend: Backend | str | None
    shape: Any


def _like(name: str, input: Tensor, size: Any, options: Any, *values: Any) -> Tensor:
    """A creation function with ``input``'s shape, dtype and backend as defaults."""
    data = input._data
    if not options and size is None and data.flags.c_contiguous:
        xp = input._xp
        return wrap(OPS[name].kernel(xp, data.shape, *values, dtype=data.dtype), xp)
    if options.get("device") is None and options.get("backend") is None:
        options["backend"] = input._xp
    if options.get("dtype") is None:
        options["dtype"] = input.dtype
    wanted = options.pop("memory_format", None)
    size = options.pop("shape", size)
    if size is not None:
        return OPS[name].function(size, *values, **options)  # type: ignore[no-any-return]
    order, _ = order_like(input._data, wanted)
    out: Tensor = OPS[name].function([input.shape[d] for d in order], *values, **options)
    out._data = in_order(out._xp, input.shape, order, lambda shape: out._data)
    return out


@composite(elementwise=True)
def zeros_like(input: Tensor, **options: Unpack[Placement]) -> Tensor:
    """Zeros in the shape, dtype and place of ``input``.

    Args:
        input: The model.
        **options: ``dtype``, ``device``, ``requires_grad`` to differ from it.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros_like(tt.tensor([1, 2]))
        tensor([0, 0])
    """
    return _like("zeros", input, None, options)


@op
def _zeros_like(xp: Backend, input: Array) -> Array:
    if input.flags.c_contiguous:
        return xp.zeros(input.shape, input.dtype)
    order, _ = order_like(input, None)
    return in_order(xp, input.shape, order, lambda shape: xp.zeros(shape, input.dtype))


zeros_like.plainly(_zeros_like)


@composite(elementwise=True)
def ones_like(input: Tensor, **options: Unpack[Placement]) -> Tensor:
    """Ones in the shape, dtype and place of ``input``.

    Args:
        input: The model.
        **options: ``dtype``, ``device``, ``requires_grad`` to differ from it.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones_like(tt.tensor([1, 2]))
        tensor([1, 1])
    """
    return _like("ones", input, None, options)


@op
def _ones_like(xp: Backend, input: Array) -> Array:
    if input.flags.c_contiguous:
        return xp.ones(input.shape, input.dtype)
    order, _ = order_like(input, None)
    return in_order(xp, input.shape, order, lambda shape: xp.ones(shape, input.dtype))


ones_like.plainly(_ones_like)


@composite
def empty_like(input: Tensor, **options: Unpack[Placement]) -> Tensor:
    """Uninitialised memory in the shape, dtype and place of ``input``.

    Args:
        input: The model.
        **options: ``dtype``, ``device``, ``requires_grad`` to differ from it.

    Example:
        >>> import tinytorch as tt
        >>> tt.empty_like(tt.zeros(2, 3)).shape
        tinytorch.Size([2, 3])
    """
    return _like("empty", input, None, options)


@composite(elementwise=True)
def full_like(input: Tensor, fill_value: Any, **options: Unpack[Placement]) -> Tensor:
    """One value everywhere, in the shape, dtype and place of ``input``.

    Args:
        input: The model.
        fill_value: The number.
        **options: ``dtype``, ``device``, ``requires_grad`` to differ from it.

    Example:
        >>> import tinytorch as tt
        >>> tt.full_like(tt.zeros(2), 7)
        tensor([7., 7.])
    """
    return _like("full", input, None, options, fill_value)


@composite(namespaces=("Tensor",))
def new_zeros(input: Tensor, *size: int | Sequence[int], **options: Unpack[Placement]) -> Tensor:
    """Zeros of another shape, in the dtype and place of ``input``.

    Args:
        input: Tensor of any shape.
        *size: The shape, as a sequence or as ints one by one.
        **options: ``dtype``, ``device`` and ``requires_grad`` where they are to differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1]).new_zeros(2)
        tensor([0, 0])
    """
    return _like("zeros", input, _sizes(size, options), options)


@composite(namespaces=("Tensor",))
def new_ones(input: Tensor, *size: int | Sequence[int], **options: Unpack[Placement]) -> Tensor:
    """Ones of another shape, in the dtype and place of ``input``.

    Args:
        input: Tensor of any shape.
        *size: The shape, as a sequence or as ints one by one.
        **options: ``dtype``, ``device`` and ``requires_grad`` where they are to differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1]).new_ones(2)
        tensor([1, 1])
    """
    return _like("ones", input, _sizes(size, options), options)


@composite(namespaces=("Tensor",))
def new_empty(input: Tensor, *size: int | Sequence[int], **options: Unpack[Placement]) -> Tensor:
    """Uninitialised memory of another shape, in the dtype and place of ``input``.

    Args:
        input: Tensor of any shape.
        *size: The shape, as a sequence or as ints one by one.
        **options: ``dtype``, ``device`` and ``requires_grad`` where they are to differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1]).new_empty(2).dtype
        tinytorch.int64
    """
    return _like("empty", input, _sizes(size, options), options)


@composite(namespaces=("Tensor",))
def new_full(input: Tensor, size: Shape, fill_value: Any, **options: Unpack[Placement]) -> Tensor:
    """One value everywhere in another shape, in the dtype and place of ``input``.

    Args:
        input: Tensor of any shape.
        size: The shape, a sequence.
        fill_value: The value.
        **options: ``dtype``, ``device`` and ``requires_grad`` where they are to differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1]).new_full((2,), 5)
        tensor([5, 5])
    """
    return _like("full", input, size, options, fill_value)


def _sizes(size: tuple[Any, ...], options: Any) -> Any:
    if "size" in options:
        return options.pop("size")
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


@composite(namespaces=("Tensor",))
def new_tensor(input: Tensor, data: Any, **options: Unpack[Placement]) -> Tensor:
    """``tt.tensor(data)`` in the dtype and place of ``input``.

    Args:
        input: Tensor of any shape.
        data: A number, nested sequences, an array or a tensor; it is copied.
        **options: ``dtype``, ``device`` and ``requires_grad`` where they are to differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(1).new_tensor([1, 2])
        tensor([1., 2.])
    """
    given: Any = options
    if given.get("dtype") is None:
        given["dtype"] = input.dtype
    if given.get("device") is None:
        given["backend"] = input._xp
    return tensor(data, **given)


@composite(namespaces=("Tensor",))
def new_empty_strided(
    input: Tensor, size: Shape, stride: Sequence[int], **options: Unpack[Placement]
) -> Tensor:
    """Uninitialised memory of given sizes and strides, in the dtype and place of ``input``.

    Args:
        input: Tensor of any shape.
        size: The shape, a sequence.
        stride: Elements from one place to the next, for every dimension.
        **options: ``dtype``, ``device`` and ``requires_grad`` where they are to differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([1]).new_empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    return _like("empty_strided", input, size, options, stride)
