"""PyTorch as an array library: arrays are memory with strides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy

from ...dtypes import bfloat16, dtype
from ..base import Array
from .backend import StandardBackend
from .indexing import expand, has_negative_step
from .library import Dtype, Elementwise, ArrayLibrary, Raw, Shape
from .strided import StridedLibrary

#: PyTorch's names of NumPy's ufuncs, where the two differ.
_RENAMED = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "conj": "conj_physical",
    "conjugate": "conj_physical", "degrees": "rad2deg", "divide": "true_divide", "equal": "eq",
    "greater": "gt", "greater_equal": "ge", "invert": "bitwise_not", "less": "lt",
    "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne", "power": "pow",
    "radians": "deg2rad", "right_shift": "bitwise_right_shift", "left_shift": "bitwise_left_shift",
    "rint": "round", "subtract": "sub",
}  # fmt: skip
#: NumPy's ufuncs that have the same name in PyTorch.
_SAME_NAME = frozenset(
    "abs add atan2 bitwise_and bitwise_or bitwise_xor ceil copysign cos cosh deg2rad exp exp2 "
    "expm1 float_power floor floor_divide fmax fmin fmod gcd heaviside hypot isfinite isinf isnan "
    "lcm log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor "
    "maximum minimum nextafter rad2deg reciprocal remainder signbit sin sinh sqrt square tan tanh "
    "true_divide trunc".split()
)
#: Methods of ``TorchLibrary`` that are PyTorch's, which saves a call.
_METHODS = {
    "address": "data_ptr", "broadcast_to": "expand", "flip": "flip",
    "is_row_major": "is_contiguous", "item": "item", "permute": "permute", "roll": "roll",
    "steps": "stride",
}  # fmt: skip
_ROUNDINGS = frozenset("ceil floor trunc rint".split())
_UNSIGNED = frozenset("bool uint8 uint16 uint32 uint64".split())


class TorchLibrary(StridedLibrary):
    """Functions on tensors of PyTorch.

    Args:
        name: Name of the backend.
        torch: The module.
        device: Device of new tensors.
    """

    computes_bools = True
    functions_with_out: ClassVar[frozenset[str]] = frozenset(
        "add subtract multiply divide true_divide maximum minimum power".split()
    )

    def __init__(self, name: str, torch: Any, device: str = "cpu") -> None:
        self.torch: Any = torch
        self.device: str = device
        super().__init__(name, torch, torch.Tensor, torch.__version__)
        for name in _METHODS:
            setattr(self, name, getattr(torch.Tensor, _METHODS[name]))
        for name in ("matmul", "where"):
            setattr(self, name, getattr(torch, name))
        self._add_bfloat16()

    def _add_bfloat16(self) -> None:
        """Add bfloat16, for which NumPy needs the package ml_dtypes."""
        self._bfloat16: Dtype | None = None
        try:
            import ml_dtypes
        except ImportError:
            return
        self._bfloat16 = numpy.dtype(ml_dtypes.bfloat16)
        self.native[self._bfloat16] = self.torch.bfloat16
        self.numpy_dtypes[self.torch.bfloat16] = self._bfloat16

    # -- host -------------------------------------------------------------------------------

    def from_host(self, host: numpy.ndarray[Any, Any]) -> Raw:
        torch = self.torch
        self.native_dtype(host.dtype)
        if not host.flags.writeable or min(host.strides, default=0) < 0:
            host = host.copy()
        if host.dtype == self._bfloat16:
            raw = torch.from_numpy(host.view("int16")).view(torch.bfloat16)
        else:
            raw = torch.from_numpy(host)
        return raw if self.device == "cpu" else raw.to(self.device)

    def to_host(self, raw: Raw) -> numpy.ndarray[Any, Any]:
        raw = raw.detach().resolve_conj().resolve_neg().cpu()
        if raw.dtype == self.torch.bfloat16:
            return raw.view(self.torch.int16).numpy().view(self._bfloat16)  # type: ignore[no-any-return]
        return raw.numpy()  # type: ignore[no-any-return]

    def scalar(self, value: Any, dtype: Dtype) -> Raw:
        if dtype.kind in "iub":
            value = numpy.asarray(value, dtype).item()
        return self.torch.tensor(value, dtype=self.native_dtype(dtype), device=self.device)

    # -- values -----------------------------------------------------------------------------

    def full(self, shape: Shape, value: Any, dtype: Dtype) -> Raw:
        native = self.native_dtype(dtype)
        if value.__class__ is int and not value:
            return self.torch.zeros(shape, dtype=native, device=self.device)
        if dtype.kind in "iub":
            value = numpy.asarray(value).astype(dtype).item()
        return self.torch.full(shape, value, dtype=native, device=self.device)

    def astype(self, raw: Raw, dtype: Dtype) -> Raw:
        if raw.is_complex() and dtype.kind != "c":
            raw = raw != 0 if dtype.kind == "b" else raw.real
        return raw.to(self.native_dtype(dtype))

    def copy(self, raw: Raw) -> Raw:
        return raw.clone(memory_format=self.torch.contiguous_format)

    def join_complex(self, real: Raw, imag: Raw) -> Raw:
        return self.torch.complex(real, imag)

    def reshape(self, raw: Raw, shape: Shape) -> Raw:
        return raw.reshape(*shape) if shape else raw.reshape(())  # a tuple takes PyTorch longer

    def concatenate(self, raws: Sequence[Raw], axis: int) -> Raw:
        return self.torch.cat(raws, axis)

    def draw(self, name: str, key: int, shape: Shape, dtype: Dtype) -> Raw:
        generator = self.torch.Generator(self.device).manual_seed(key)
        function = self.torch.rand if name == "uniform" else self.torch.randn
        native = self.native_dtype(dtype)
        return function(shape, generator=generator, dtype=native, device=self.device)

    # -- memory -----------------------------------------------------------------------------

    def alias(self, raw: Raw) -> Raw:
        return raw.view(raw.shape) if raw.is_contiguous() else raw.as_strided(
            raw.shape, raw.stride(), raw.storage_offset()
        )  # fmt: skip

    def window(self, raw: Raw, start: int, shape: Shape, steps: Shape) -> Raw:
        return raw.as_strided(shape, steps, raw.storage_offset() + start)

    def view_part(self, raw: Raw, name: str) -> Raw:
        return self.torch.view_as_real(raw)[..., 0 if name == "real" else 1]

    def view_bits(self, raw: Raw, dtype: Dtype) -> Raw:
        return raw.view(self.native_dtype(dtype))

    def owner(self, raw: Raw) -> Any:
        return raw.untyped_storage().data_ptr() or raw.untyped_storage()._cdata

    def memory(self, raw: Raw) -> tuple[Raw, int]:
        storage = raw.untyped_storage()
        count = storage.nbytes() // raw.element_size()
        return raw.new_empty(0).set_(storage, 0, (count,), (1,)), raw.storage_offset()

    # -- indexing ---------------------------------------------------------------------------

    def as_index(self, raw: Raw) -> Raw:
        return raw if raw.dtype == self.torch.int64 else raw.to(self.torch.int64)

    def slice(self, raw: Raw, key: tuple[Any, ...]) -> Raw:
        if len(key) == 2 and key[1] is Ellipsis:
            key = key[:1]
        if not has_negative_step(key):
            return raw[key]
        items, dim = expand(key, raw.ndim), 0
        for at, item in enumerate(items):
            if item.__class__ is slice and (item.step or 1) < 0:
                items[at], raw = _reverse(item, raw.shape[dim]), raw.flip(dim)
            dim += item is not None
        return raw[tuple(items)]

    def read_at(self, raw: Raw, key: tuple[Any, ...]) -> Raw:
        if has_negative_step(key):
            places = self._places(raw)
            return raw.reshape(-1)[self._read_reversed(places, key)]
        return raw[key]

    def _read_reversed(self, raw: Raw, key: tuple[Any, ...]) -> Raw:
        """``raw[key]`` of a key with arrays and negative steps."""
        items, dim = expand(key, raw.ndim), 0
        for at, item in enumerate(items):
            if item.__class__ is slice and (item.step or 1) < 0:
                items[at], raw = _reverse(item, raw.shape[dim]), raw.flip(dim)
            has_dims = hasattr(item, "dtype") and item.dtype == self.torch.bool
            dim += item.ndim if has_dims else item is not None
        return raw[tuple(items)]

    def _places(self, raw: Raw) -> Raw:
        """Place of each element in the flattened array."""
        count = raw.numel()
        return self.torch.arange(count, device=raw.device).reshape(raw.shape)

    def store(self, raw: Raw, key: tuple[Any, ...], value: Raw) -> None:
        if value.ndim and value.untyped_storage()._cdata == raw.untyped_storage()._cdata:
            value = value.clone()  # as NumPy, which copies what overlaps
        if has_negative_step(key):
            places = self._read_reversed(self._places(raw), key)
            flat = raw if raw.is_contiguous() else raw.clone()
            flat.view(-1)[places.reshape(-1)] = value.expand(places.shape).reshape(-1)
            if flat is not raw:
                raw.copy_(flat)
        elif key == (Ellipsis,):
            raw.copy_(value.reshape(value.shape[max(value.ndim - raw.ndim, 0) :]))
        else:
            raw[key] = value

    def add_in_place(self, raw: Raw, key: tuple[Any, ...], values: Raw) -> None:
        if len(key) == 1 and hasattr(key[0], "dtype") and key[0].ndim == 1 and (
            key[0].dtype != self.torch.bool and raw.ndim == values.ndim
        ):  # fmt: skip
            values = values.expand((key[0].shape[0], *raw.shape[1:]))
            index = self.torch.where(key[0] < 0, key[0] + raw.shape[0], key[0])
            raw.index_add_(0, index, values)
            return
        places = self._read_reversed(self._places(raw), key)
        total = raw.reshape(-1).index_add(
            0, places.reshape(-1), values.expand(places.shape).reshape(-1)
        )
        raw.copy_(total.reshape(raw.shape))

    def take(self, raw: Raw, index: Raw, axis: int) -> Raw:
        size = raw.shape[axis]
        flat = index.reshape(-1)
        found = raw.index_select(axis, self.torch.where(flat < 0, flat + size, flat))
        return found.reshape((*raw.shape[:axis], *index.shape, *raw.shape[axis + 1 :]))

    def take_along_axis(self, raw: Raw, index: Raw, axis: int) -> Raw:
        index = self.torch.where(index < 0, index + raw.shape[axis], index)
        return self.torch.take_along_dim(raw, index, axis)

    def nonzero(self, raw: Raw) -> tuple[Raw, ...]:
        return raw.nonzero(as_tuple=True)  # type: ignore[no-any-return]

    def searchsorted(self, sequence: Raw, values: Raw, side: str) -> Raw:
        """``numpy.searchsorted``. PyTorch's bisection does not order NaN last."""
        torch = self.torch
        search = torch.searchsorted
        if not sequence.is_floating_point():
            return search(sequence.contiguous(), values.contiguous(), side=side)
        nan = sequence.isnan()
        ordered = torch.where(nan, torch.inf, sequence).contiguous()
        count = (~nan).sum()
        found = torch.minimum(search(ordered, values.contiguous(), side=side), count)
        end = count if side == "left" else sequence.shape[-1]
        return torch.where(values.isnan(), end, found)

    # -- reductions, order, products --------------------------------------------------------

    def reduce(self, name: str, raw: Raw, axis: Any, keepdims: bool, **options: Any) -> Raw:
        return self.reduction(name)(raw, axis, keepdims, **options)

    def reduction(self, name: str) -> Callable[..., Raw]:
        torch = self.torch
        if name in ("max", "min"):
            extreme = torch.amax if name == "max" else torch.amin
            return lambda raw, axis, keepdims: extreme(raw, () if axis is None else axis, keepdims)
        if name in ("std", "var"):
            deviation = getattr(torch, name)
            return lambda raw, axis, keepdims, correction: deviation(
                raw, axis, keepdim=keepdims, correction=correction
            )
        return self._prod if name == "prod" else getattr(torch, name)

    def _prod(self, raw: Raw, axis: Any, keepdims: bool) -> Raw:
        """Product over several dimensions; PyTorch's function takes one."""
        axes = range(raw.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        for each in sorted(axes, reverse=True):
            raw = self.torch.prod(raw, each, keepdim=keepdims, dtype=raw.dtype)
        return raw

    def accumulate(self, name: str, raw: Raw, axis: int) -> Raw:
        return getattr(self.torch, f"cum{name}")(raw, axis, dtype=raw.dtype)

    def sort(self, raw: Raw, axis: int) -> Raw:
        return self.torch.sort(raw, dim=axis, stable=True).values

    def argsort(self, raw: Raw, axis: int) -> Raw:
        return self.torch.argsort(raw, dim=axis, stable=True)

    # -- functions by NumPy's names ---------------------------------------------------------

    def make_formulas(self) -> dict[str, Elementwise]:
        return {"positive": self.torch.clone, "sign": self._sign}

    def _sign(self, raw: Raw) -> Raw:
        """Sign; of NaN it is NaN."""
        if raw.dtype == self.torch.bool:
            return raw
        sign = self.torch.sgn(raw)
        return self.torch.where(raw.isnan(), raw, sign) if raw.is_floating_point() else sign

    def elementwise(self, name: str) -> Elementwise | None:
        if name in self.formulas:
            return self.formulas[name]
        if name not in _RENAMED and name not in _SAME_NAME:
            return None
        function = getattr(self.torch, _RENAMED.get(name, name))
        if name in _ROUNDINGS:
            return lambda raw: function(raw) if raw.is_floating_point() else raw
        if name in ("absolute", "abs"):
            unsigned = {getattr(self.torch, word) for word in _UNSIGNED}
            return lambda raw: raw if raw.dtype in unsigned else function(raw)
        return function  # type: ignore[no-any-return]

    def function(self, name: str) -> Callable[..., Any] | None:
        if name.startswith("special."):
            return None
        return self.torch.einsum if name == "einsum" else None

    def submodule_function(self, module: str, name: str) -> Callable[..., Any] | None:
        function = getattr(getattr(self.torch, module), name, None)
        if module == "fft" and function is not None:
            return _rename_axes(function)
        own: dict[str, Callable[..., Any]] = {"qr": self._qr, "svd": self._svd}
        known = "cholesky det eig eigh eigvals eigvalsh inv slogdet solve".split()
        return own.get(name) or (function if name in known else None)

    def _qr(self, raw: Raw, mode: str = "reduced") -> Any:
        if mode != "raw":
            q, r = self.torch.linalg.qr(raw, mode)
            return r if mode == "r" else (q, r)
        factors, tau = self.torch.geqrf(raw)
        return factors.mT, tau

    def _svd(self, raw: Raw, full_matrices: bool = True, compute_uv: bool = True) -> Any:
        linalg = self.torch.linalg
        return linalg.svd(raw, full_matrices=full_matrices) if compute_uv else linalg.svdvals(raw)

    def call(self, function: Callable[..., Any], args: Any, options: Any) -> Any:
        try:
            return function(*args, **options)
        except self.torch.linalg.LinAlgError as error:
            raise numpy.linalg.LinAlgError(str(error)) from None

    def kernels(self, backend: Any) -> dict[str, Callable[..., Any]]:
        from .torch_kernels import make_kernels

        return make_kernels(self.torch, backend.library.wrap)


class TorchBackend(StandardBackend):
    """PyTorch as a backend, one object for each type of device.

    Args:
        device_type: Type of the device of its arrays, ``"cpu"`` or an accelerator of PyTorch's.
    """

    name = "torch"
    module = "torch"
    low: frozenset[dtype] = frozenset((bfloat16,))
    _by_device: ClassVar[dict[str, TorchBackend]] = {}

    def __init__(self, device_type: str = "cpu") -> None:
        self.device_type = device_type
        super().__init__()
        self._by_device[device_type] = self

    def __reduce__(self) -> Any:
        return _load_device, (self.device_type,)

    def adopt(self, data: Any) -> Any:
        """Also an array of NumPy, whose memory a tensor on the CPU shares, as in PyTorch."""
        is_shared = self.device_type == "cpu" and type(data) is numpy.ndarray
        if is_shared and data.dtype in self.raw_library.native:
            return self.from_numpy(data)
        return super().adopt(data)

    def add_scaled(
        self, target: Array, array: Array, scale: float, keep: float = 1.0,
        buffer: Array | None = None,
    ) -> None:  # fmt: skip
        if target.dtype != array.dtype or target.dtype.kind != "f":
            super().add_scaled(target, array, scale, keep, buffer)
            return
        raw = target.raw if keep == 1.0 else target.raw.mul_(keep)
        raw.add_(array.raw, alpha=scale)

    def on_device(self, device_type: str) -> Self | None:
        if device_type in self._by_device:
            return self._by_device[device_type]  # type: ignore[return-value]
        accelerator = getattr(self.raw_library.namespace, device_type, None)
        is_available = getattr(accelerator, "is_available", bool)
        return type(self)(device_type) if is_available() else super().on_device(device_type)

    def open(self) -> ArrayLibrary:
        import torch

        if hasattr(torch, "register_backend"):
            raise ImportError(
                "`import torch` is tinytorch in this process (tinytorch runs a PyTorch script or "
                "install_as_torch() was called), so PyTorch itself cannot be a backend"
            )
        return TorchLibrary(self.name, torch, self.device_type)


def _load_device(device_type: str) -> TorchBackend | None:
    """Return the backend of a type of device, when a tensor is unpickled."""
    backend: TorchBackend = StandardBackend.registry.load("torch")
    return backend.on_device(device_type)


def _reverse(item: slice, size: int) -> slice:
    """Return the slice of the reversed dimension that equals a slice with a negative step."""
    places = range(size)[item]
    if not len(places):
        return slice(0, 0)
    start = size - 1 - places.start
    return slice(start, start + len(places) * -places.step, -places.step)


def _rename_axes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of ``torch.fft`` with NumPy's keywords ``axis`` and ``axes``."""

    def call(*args: Any, **options: Any) -> Any:
        for name in ("axis", "axes"):
            if name in options:
                options["dim"] = options.pop(name)
        return function(*args, **options)

    return call
