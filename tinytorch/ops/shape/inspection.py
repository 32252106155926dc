"""Predicates and properties of tensors: kind, device, memory order and address."""

from __future__ import annotations

from typing import Any

from ...core.layout import memory_format
from ...core.lazy_bits import Conjugate, Negative, stored_array
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..memory_order import compare_strides, sort_by_strides


@composite
def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor.

    Args:
        obj: Any object.

    Example:
        >>> tt.is_tensor(tt.ones(1)), tt.is_tensor([1.0])
        (True, False)
    """
    return isinstance(obj, Tensor)


@composite(method=True)
def is_nonzero(input: Tensor) -> bool:
    """Whether the single element of ``input`` is not zero.

    Args:
        input: Tensor of one element.

    Raises:
        RuntimeError: If ``input`` has another number of elements.

    Example:
        >>> tt.is_nonzero(tt.tensor([0.5]))
        True
    """
    return bool(input)


@composite(method=True)
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape.

    Args:
        input: Tensor of any shape.
        other: Tensor to compare with.

    Example:
        >>> tt.is_same_size(tt.ones(2, 1), tt.ones(1, 2))
        False
    """
    return bool(input.shape == other.shape)


@composite(method=True)
def is_conj(input: Tensor) -> bool:
    """Whether the conj bit of ``input`` is set: it is lazily conjugated, as by ``conj``.

    Example:
        >>> z = tt.tensor([1j])
        >>> tt.is_conj(z), tt.is_conj(z.conj()), tt.is_conj(z.conj() * 2)
        (False, True, False)
    """
    return isinstance(input, Conjugate)


@composite(method=True)
def is_neg(input: Tensor) -> bool:
    """Whether the neg bit of ``input`` is set: it is lazily negated, as ``x.conj().imag``.

    Example:
        >>> tt.is_neg(-tt.ones(1)), tt.is_neg(tt.tensor([1j]).conj().imag)
        (False, True)
    """
    return isinstance(input, Negative)


@composite
def is_inference(input: Tensor) -> bool:
    """Whether ``input`` was created in inference mode, or is a view of such a tensor.

    Outside of inference mode such a tensor cannot be saved for a backward pass or changed in
    place. Its ``clone()`` can.

    Example:
        >>> with tt.inference_mode():
        ...     x = tt.ones(2)
        >>> tt.is_inference(x), tt.is_inference(x + 1)
        (True, False)
    """
    return input.is_inference()


# -- memory and device -------------------------------------------------------------------------


@composite(namespaces=("Tensor",))
def data_ptr(input: Tensor) -> int:
    """The address of the first element in memory.

    Example:
        >>> x = tt.ones(2, 3)
        >>> x.view(6).data_ptr() == x.data_ptr()
        True
    """
    return input._xp.address(stored_array(input)) if input.numel() else 0


@composite(namespaces=("Tensor",))
def is_set_to(input: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors have the same memory, offset, shape and strides.

    Args:
        input: Tensor of any shape.
        tensor: Tensor to compare with.

    Example:
        >>> x = tt.ones(2, 3)
        >>> x.is_set_to(x.detach()), x.is_set_to(x.view(6)), x.is_set_to(x.clone())
        (True, False, False)
    """
    if input._xp is not tensor._xp or input.dtype is not tensor.dtype:
        return False
    same = input.shape == tensor.shape and input.stride() == tensor.stride()
    if input is tensor or not same:
        return same
    # data_ptr() is 0 for all empty tensors, and so are CuPy's addresses.
    here, there = stored_array(input), stored_array(tensor)
    address = input._xp.address(here)
    return address == input._xp.address(there) and (address != 0 or _is_same_memory(input, tensor))


def _is_same_memory(a: Tensor, b: Tensor) -> bool:
    """Whether two empty tensors, which have no address, share a version counter."""
    return a._vc is not None and a._vc is b._vc


@composite(namespaces=("Tensor",))
def dim_order(input: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions, ordered from the largest stride in memory to the smallest.

    Args:
        input: Tensor of any shape.
        ambiguity_check: Whether to raise if several orders describe the tensor; default False.
            A list of memory formats means the same, except that dimensions of size 1 are
            allowed if exactly one of the formats describes the tensor.

    Raises:
        RuntimeError: If ``ambiguity_check`` finds several orders.
        TypeError: If ``ambiguity_check`` is neither a bool nor a list of memory formats.

    Example:
        >>> tt.ones(2, 3, 4).permute(2, 0, 1).dim_order()
        (1, 2, 0)
    """
    formats = [] if isinstance(ambiguity_check, bool) else _check_formats(ambiguity_check)
    shape, strides = input.shape, input.stride()
    unclear = 1 in shape and sum(each.holds(input._data) for each in formats) != 1
    order = list(range(input.ndim))
    if not input.is_contiguous():
        order = list(sort_by_strides(shape, strides))
        pairs = zip(order[1:], order, strict=False)
        unclear |= any(compare_strides(shape, strides, a, b) is not False for a, b in pairs)
    if unclear and ambiguity_check is not False:
        raise RuntimeError(
            "dim_order: The tensor does not have unique dim order, or cannot map to exact one of "
            "the given memory formats."
        )
    return tuple(order)


def _check_formats(given: Any) -> list[memory_format]:
    """Return a list of memory formats; raise TypeError for anything else."""
    if isinstance(given, list) and all(isinstance(each, memory_format) for each in given):
        return given
    raise TypeError(
        "dim_order: The ambiguity_check argument must be a bool or a list of memory formats, got "
        f"{given!r}"
    )


@composite(namespaces=("Tensor",))
def storage_offset(input: Tensor) -> int:
    """Number of elements of the storage before the first element of ``input``.

    Example:
        >>> tt.arange(6).reshape(2, 3)[1].storage_offset()
        3
    """
    if not input.numel():
        return 0
    start = input._xp.address(input._memory())
    return (input.data_ptr() - start) // input.itemsize - input._shift


@composite(namespaces=("Tensor",), attribute=True)
def is_cpu(input: Tensor) -> bool:
    """Whether the tensor is on the CPU.

    Example:
        >>> tt.ones(1, device="cpu").is_cpu
        True
    """
    return input._xp.device_type == "cpu"


@composite(namespaces=("Tensor",), attribute=True)
def is_cuda(input: Tensor) -> bool:
    """Whether the tensor is on a GPU.

    Example:
        >>> tt.ones(1, device="cpu").is_cuda
        False
    """
    return input._xp.device_type == "cuda"


@composite(namespaces=("Tensor",), attribute=True)
def is_sparse(input: Tensor) -> bool:
    """Whether the layout of the tensor is ``sparse_coo``.

    Example:
        >>> tt.ones(1).is_sparse, tt.ones(1).to_sparse().is_sparse
        (False, True)
    """
    return False


@composite(namespaces=("Tensor",), attribute=True)
def is_quantized(input: Tensor) -> bool:
    """Whether the tensor is quantized: always False, since no tensor is.

    Example:
        >>> tt.ones(1).is_quantized
        False
    """
    return False


@composite(namespaces=("Tensor",), attribute=True)
def is_meta(input: Tensor) -> bool:
    """Whether the tensor is on the device ``meta``: it has a shape and a dtype, but no values.

    Example:
        >>> tt.ones(1, device="meta").is_meta
        True
    """
    return input._xp.device_type == "meta"
