"""Conversion of a module's parameters and buffers to a dtype or device, ``torch.__future__``."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Self, cast, overload

from ... import dtypes
from ...core.layout import memory_format
from ...core.relocation import share, swap_tensors
from ...core.tensor import Tensor
from ...state import no_grad
from ...warnings import warn
from ..parameter import Parameter, is_lazy
from .traversal import Traversal

#: Options of ``torch.__future__``: whether a conversion replaces or swaps the parameters.
FUTURE = {"overwrite": False, "swap": False}


class Conversion(Traversal):
    """The methods ``to``, ``float``, ``cuda`` and so on: they work in place, return the module."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the data of every parameter, gradient and buffer by the result of ``fn``.

        The Parameter objects stay the same, so that an existing optimizer keeps working, unless
        an option of ``torch.__future__`` is set.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is not None and FUTURE["overwrite"] and not is_lazy(param):
                self._parameters[name] = _convert_copy(param, fn)
            elif param is not None and FUTURE["swap"] and not is_lazy(param):
                swap_tensors(param, _convert_copy(param, fn))
            elif param is not None:
                _convert(param, fn)
        for name, buffer in self._buffers.items():
            if is_lazy(buffer):
                _convert(cast(Tensor, buffer), fn)
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    @overload
    def to(
        self, device: Any = ..., dtype: dtypes.dtype | None = ..., non_blocking: builtins.bool = ...
    ) -> Self: ...
    @overload
    def to(self, dtype: dtypes.dtype, non_blocking: builtins.bool = ...) -> Self: ...
    @overload
    def to(self, tensor: Tensor, non_blocking: builtins.bool = ...) -> Self: ...
    @overload
    def to(self, *, memory_format: memory_format) -> Self: ...
    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert the parameters and buffers to a dtype, a device, or both, in place.

        Args:
            device: Device to move them to.
            dtype: Floating point or complex dtype; integer tensors keep their dtype.
            tensor: Tensor whose dtype and device are used.
            non_blocking: Whether to return before a transfer from pinned memory is done.
                Default: False.
            memory_format: Memory format of tensors of four or five dimensions. Default:
                unchanged.

        Returns:
            The module.

        Raises:
            TypeError: If the dtype is neither floating point nor complex.
            RuntimeError: If ``memory_format`` does not fit the number of dimensions of a tensor, or
                ``copy`` is given: a module is changed in place.

        Example:
            >>> tt.nn.Linear(2, 3).to(tt.float64).weight.dtype
            tinytorch.float64
        """
        dtype, options = _parse_to(*args, **kwargs)
        _check_target(dtype)
        memory_format = options.pop("memory_format", None)

        def convert(tensor: Tensor) -> Tensor:
            """Convert a tensor; only floating point and complex ones change their dtype."""
            cast = tensor.is_floating_point() or tensor.is_complex()
            layout = memory_format if tensor.ndim in (4, 5) else None
            try:
                return tensor.to(dtype=dtype if cast else None, memory_format=layout, **options)
            except NotImplementedError as error:
                if not tensor.is_meta:
                    raise
                raise NotImplementedError(
                    f"{error} Please use torch.nn.Module.to_empty() instead of "
                    "torch.nn.Module.to() when moving module from meta to a different device."
                ) from None

        return self._apply(convert)

    def type(self, dst_type: dtypes.dtype | str) -> Self:
        """Convert every parameter and buffer to ``dst_type``, integer ones included.

        Example:
            >>> tt.nn.Linear(2, 3).type(tt.float64).weight.dtype
            tinytorch.float64
        """
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Self:
        """Convert the floating point parameters and buffers to float32.

        Example:
            >>> tt.nn.Linear(2, 3, dtype=tt.float64).float().weight.dtype
            tinytorch.float32
        """
        return self._apply(lambda tensor: _cast_floating(tensor, dtypes.float32))

    def double(self) -> Self:
        """Convert the floating point parameters and buffers to float64.

        Example:
            >>> tt.nn.Linear(2, 3).double().weight.dtype
            tinytorch.float64
        """
        return self._apply(lambda tensor: _cast_floating(tensor, dtypes.float64))

    def half(self) -> Self:
        """Convert the floating point parameters and buffers to float16.

        Example:
            >>> tt.nn.Linear(2, 3).half().weight.dtype
            tinytorch.float16
        """
        return self._apply(lambda tensor: _cast_floating(tensor, dtypes.float16))

    def bfloat16(self) -> Self:
        """Convert the floating point parameters and buffers to bfloat16, if the backend has it.

        Example:
            >>> layer = tt.nn.Linear(2, 3)
            >>> layer.bfloat16().weight.dtype  # doctest: +SKIP
            tinytorch.bfloat16
        """
        return self._apply(lambda tensor: _cast_floating(tensor, dtypes.bfloat16))

    def cpu(self) -> Self:
        """Move the parameters and buffers to the CPU.

        Example:
            >>> tt.nn.Linear(2, 3).cpu().weight.device.type
            'cpu'
        """
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move the parameters and buffers to a GPU.

        Args:
            device: The GPU. Default: the current one.

        Example:
            >>> tt.nn.Linear(2, 3).cuda().weight.device  # doctest: +SKIP
            device(type='cuda', index=0)
        """
        return self._apply(lambda tensor: tensor.cuda(device))

    def share_memory(self) -> Self:
        """Move the parameters, their gradients and the buffers to shared memory.

        Every process that gets the module works on the same memory, as in Hogwild!.

        Raises:
            NotImplementedError: For the same tensors as ``Tensor.share_memory_``.

        Example:
            >>> tt.nn.Linear(2, 3, device="cpu").share_memory().weight.is_shared()
            True

        Reference: https://arxiv.org/abs/1106.5730
        """
        tensors = [*self.parameters(), *self.buffers()]
        share([*tensors, *(each.grad for each in tensors if each.grad is not None)])
        return self

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move the module to a device without copying the values of its tensors.

        Args:
            device: Device to move it to.
            recurse: Whether to move the submodules as well. Default: True.

        Example:
            >>> tt.nn.Linear(2, 3).to_empty(device="cpu").weight.shape
            tinytorch.Size([3, 2])
        """
        return self._apply(lambda t: t.new_empty(t.shape, device=device), recurse)


def _convert_copy(param: Tensor, fn: Callable[[Tensor], Tensor]) -> Parameter:
    """Return a new parameter with the value ``fn(param)`` and the gradient ``fn(param.grad)``."""
    with no_grad():
        converted = Parameter(fn(param).detach(), param.requires_grad)
        if param.grad is not None:
            converted.grad = fn(param.grad).detach().requires_grad_(param.grad.requires_grad)
    return converted


def _convert(param: Tensor, fn: Callable[[Tensor], Tensor]) -> None:
    """Replace the data of a parameter and of its gradient by the result of ``fn``."""
    # Call ``fn`` with the tensors, not their data: it may work in place, which counts as a change.
    with no_grad():
        param.data = fn(param)
        if param.grad is not None:
            grad = fn(param.grad)
            if grad is not param.grad:
                param.grad = grad.detach().requires_grad_(param.grad.requires_grad)


def _cast_floating(tensor: Tensor, dtype: dtypes.dtype) -> Tensor:
    """Convert a floating point tensor to ``dtype``; return any other as it is."""
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _parse_to(
    *args: Any, device: Any = None, dtype: Any = None, tensor: Any = None, **options: Any
) -> tuple[dtypes.dtype | None, dict[str, Any]]:
    """Sort the arguments of ``Module.to``.

    Returns:
        The dtype, or None, and the other options as keyword arguments of ``Tensor.to``.
    """
    first, *rest = args or (None,)
    if isinstance(first, Tensor) or tensor is not None:
        like = first if tensor is None else tensor
        dtype, device = like.dtype, like.device
    elif isinstance(first, dtypes.dtype):
        dtype = first
    else:
        device = device if first is None else first
        dtype = rest.pop(0) if rest else dtype
    if rest:
        options["non_blocking"] = rest.pop(0)
    if "copy" in options or rest and type(rest[0]) is builtins.bool:
        raise RuntimeError("Module.to(): .to() does not accept copy argument")
    if rest or not isinstance(dtype, dtypes.dtype | None):
        given = ", ".join(type(arg).__name__ for arg in args)
        raise TypeError(f"to() received an invalid combination of arguments - got ({given})")
    return dtype, {"device": device, **options}


def _check_target(dtype: dtypes.dtype | None) -> None:
    """Check that the dtype of ``Module.to`` is floating point or complex, or None."""
    if dtype is None:
        return
    if not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            "nn.Module.to only accepts floating point or complex dtypes, "
            f"but got desired dtype={dtype}"
        )
    if dtype.is_complex:
        warn(
            "Complex modules are experimental: some modules might not work as expected with "
            "complex parameters or buffers."
        )


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Set whether conversions of a module make new parameters instead of changing the existing.

    Args:
        value: Whether they make new parameters.

    Example:
        >>> tt.__future__.set_overwrite_module_params_on_conversion(False)
    """
    FUTURE["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversions of a module make new parameters; False unless set.

    Example:
        >>> tt.__future__.get_overwrite_module_params_on_conversion()
        False
    """
    return FUTURE["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Set whether conversions and ``load_state_dict`` swap parameters with new ones.

    Args:
        value: Whether they swap them, by ``utils.swap_tensors``.

    Example:
        >>> tt.__future__.set_swap_module_params_on_conversion(False)
    """
    FUTURE["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether conversions swap parameters with new ones; False unless set.

    Example:
        >>> tt.__future__.get_swap_module_params_on_conversion()
        False
    """
    return FUTURE["swap"]
