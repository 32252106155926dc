"""``@creation``: operations that make a tensor where the state, or an argument, says."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, overload

from .. import dtypes
from ..backends import UnknownBackendError, load
from ..backends.base import Array, Backend
from ..core import torch_function
from ..core.device import backend_of_type, device, unknown
from ..core.layout import check_layout
from ..core.tensor import Tensor, wrap
from ..state import current_backend, default_dtype, settings
from ..state.recorder import recorded
from ..warnings import warn
from .arguments import as_given, bind, unfit
from .arguments import checked_size as checked_size
from .generated_functions import make_function, serve
from .op import Op, Operation, declare, dress, set_function
from .operation import Form, Out
from .out import write_to_out

#: The keywords every creation function takes beside its own.
_COMMON: dict[str, tuple[str, Any]] = {
    "out": ("Tensor | None", None), "dtype": ("dtype | None", None), "layout": ("Any", None),
    "device": ("device | str | int | None", None), "pin_memory": ("bool", False),
    "requires_grad": ("bool", False), "backend": ("Backend | str | None", None),
}  # fmt: skip

#: NumPy's names of their parameters.
_SPELLINGS = {"shape": "size", "stop": "end", "num": "steps", "N": "n", "M": "m"}


def backend_for(where: Any = None, backend: Any = None) -> Backend:
    """The backend of a creation call: its argument's, its device's, or the active one."""
    if backend is not None:
        return load(backend).here()
    if where is not None:
        return backend_of_device(where)
    return current_backend()


def backend_of_device(where: Any) -> Backend:
    """The backend whose arrays live on a device; RuntimeError for a device nobody knows."""
    place = device(where)
    try:
        return load(backend_of_type(place.type)).at(place.index)
    except UnknownBackendError:
        raise unknown(place.type) from None


@overload
def creation(kernel: Callable[..., Any], /, **options: Any) -> Operation[..., Tensor]: ...
@overload
def creation(
    kernel: None = None, /, **options: Any
) -> Callable[[Callable[..., Any]], Operation[..., Tensor]]: ...
def creation(kernel: Any = None, /, **options: Any) -> Any:
    """File a kernel ``(xp, ..., *, dtype)`` as a creation function.

    The kernel gets a native dtype: the one asked for, else the default dtype, else (with
    ``default_dtype=False``) None, to work it out from its arguments. torch's common keywords
    (``out, dtype, device, requires_grad, ...``) and ``backend`` are added to its own.
    """
    if kernel is None:
        return partial(creation, **options)
    by_default = options.pop("default_dtype", True)
    spec = declare(kernel, None, options)
    spec.registered.default_dtype = by_default
    set_function(spec, serve(make_function(spec.name), spec, Form.CREATION, _slow))
    dress(spec, kernel, _COMMON)
    return spec.function


def _slow(
    op: Op, function: Any, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """A call that is not plain: somebody is asked, or it says more than the size and dtype."""
    args = as_given(op, values, more, options)
    common = {name: options.pop(name) for name in _COMMON if name in options}
    for name in _SPELLINGS.keys() & options.keys():
        if _SPELLINGS[name] in op.plan.index and _SPELLINGS[name] not in options:
            options[_SPELLINGS[name]] = options.pop(name)
    answer = torch_function.asked(op, function, args, {**options, **common})
    nobody = answer is torch_function.NOBODY
    return recorded(partial(_create, common=common), op, args, options) if nobody else answer


def _create(op: Op, args: tuple[Any, ...], given: Any, common: dict[str, Any]) -> Tensor:
    target = common.get("out")
    dtype = common.get("dtype")
    if "layout" in common:
        check_layout(op.name, common["layout"])
    if target is None:
        xp = backend_for(common.get("device"), common.get("backend"))
    else:
        xp = target._xp
        dtype = _dtype_into(op.name, target, dtype)
    values = bind(op, args, given)
    at = op.plan.index["dtype"]
    if dtype is not None:
        values[at] = xp.native_dtype(dtypes.as_dtype(dtype))
    elif op.registered.default_dtype:
        values[at] = xp.native_dtype(default_dtype())
    if op.plan.sizes is not None:
        values[op.plan.sizes] = checked_size(op.name, values[op.plan.sizes])
    out = wrap(op.run(xp, tuple(values)), xp)
    if target is not None:
        if op.out in (Out.RESHAPE, Out.RESHAPE_OR_WARN):
            out = _in_shape_of(target, out, op.out is Out.RESHAPE_OR_WARN)
        return write_to_out(target, out, op, warn=False)  # type: ignore[no-any-return]
    if common.get("pin_memory"):
        out = pinned(out)
    return asked_for(op.name, out, common.get("requires_grad", False))


def _in_shape_of(target: Tensor, out: Tensor, warns: bool) -> Tensor:
    """``out`` in the shape of a target with as many elements; another one gets its shape."""
    if out.numel() == target.numel():
        return out.reshape(target.shape)
    if warns and target.numel():
        warn(
            f"The number of elements in the out tensor of shape {list(target.shape)} is "
            f"{target.numel()} which does not match the computed number of elements "
            f"{out.numel()}. The out tensor will be resized to {list(out.shape)}."
        )
    return out


def asked_for(name: str, out: Tensor, requires_grad: Any) -> Tensor:
    """``out``, of which gradients may be wanted; TypeError if that is said by no bool."""
    if requires_grad.__class__ is not bool and requires_grad is not None:
        raise unfit(name, "'requires_grad'", bool, requires_grad)
    return out.requires_grad_() if requires_grad else out


def uninitialised(xp: Backend, shape: Any, dtype: Any) -> Array:
    """A new array that holds anything; under deterministic algorithms always the same.

    That is NaN, True or the largest integer, unless ``utils.deterministic`` was told otherwise.
    """
    array = xp.empty(shape, dtype)
    if settings.values["deterministic"] and settings.values["fill"]:
        kind = array.dtype.kind
        whole = kind in "iu" and dtypes.iinfo(xp.dtype_of(array)).max
        array[...] = whole or (True if kind == "b" else math.nan)
    return array


def pinned(tensor: Tensor) -> Tensor:
    """A new CPU tensor in pinned memory; RuntimeError without a GPU, or for one on it."""
    return wrap(tensor._xp.pinned(tensor._data), tensor._xp)


def _dtype_into(name: str, out: Tensor, dtype: Any) -> dtypes.dtype:
    """The dtype of what is made for ``out=``: that of ``out``, which no other may contradict."""
    if dtype is not None and dtypes.as_dtype(dtype) is not out.dtype:
        raise RuntimeError(
            f"{name}: dtype {dtypes.as_dtype(dtype).name} does not match dtype of out parameter "
            f"({out.dtype.name})"
        )
    return out.dtype
