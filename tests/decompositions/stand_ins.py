"""Stand-ins for the modules that PyTorch's sources import besides tensors and operations."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from decompositions import primitives

import tinytorch as tt

#: The name that stands for ``torch`` in them.
ROOT = "decomposed"


class OperatorOverload:
    """Overload of an operator, such as ``aten.add.Tensor``."""

    def __init__(self, operator: Operator, name: str) -> None:
        self.operator, self.name = operator, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.operator(*args, **kwargs)

    def py_impl(self, key: Any) -> Callable[[Any], Any]:
        return lambda function: function


class Operator:
    """An operator of PyTorch's by name; called, it is tinytorch's function or a decomposition."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._overloads: dict[str, OperatorOverload] = {}

    def __getattr__(self, name: str) -> OperatorOverload:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._overloads.setdefault(name, OperatorOverload(self, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.__name__
        if name in OWN:
            return OWN[name](*args, **kwargs)
        try:
            return getattr(tt.ops.aten, name)(*args, **kwargs)
        except NotImplementedError:
            if name not in BY_NAME:
                raise
            return BY_NAME[name](*args, **kwargs)

    def py_impl(self, key: Any) -> Callable[[Any], Any]:
        return lambda function: function


class Operators:
    """``torch.ops.aten``."""

    def __init__(self) -> None:
        self._known: dict[str, Operator] = {}

    def __getattr__(self, name: str) -> Operator:
        return self._known.setdefault(name, Operator(name))


aten = Operators()
#: Decompositions by operator and form, and by operator alone.
TABLE: dict[tuple[str, str | None], Callable[..., Any]] = {}
BY_NAME: dict[str, Callable[..., Any]] = {}


def register_decomposition(operators: Any, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """File a decomposition."""

    def register(function: Any) -> Any:
        for each in operators if isinstance(operators, (list, tuple)) else [operators]:
            if isinstance(each, OperatorOverload):
                TABLE[each.operator.__name__, each.name] = function
                BY_NAME.setdefault(each.operator.__name__, function)
            else:
                TABLE[each.__name__, None] = BY_NAME[each.__name__] = function
        return function

    return register


def _index(input: Any, indices: Any) -> Any:
    return input[tuple(slice(None) if i is None else i for i in indices)]


def _shape_at(input: Any, indices: Any) -> Any:
    """Tensor of the shape that indexing returns, for an input without elements."""
    shapes = [(n,) if i is None else i.shape for n, i in zip(input.shape, indices, strict=False)]
    return tt.empty(tt.broadcast_shapes(*shapes))


def _slice(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return input[(slice(None),) * (dim % input.ndim) + (slice(start, end, step),)]


def _to_copy(input: Any, dtype: Any = None, **others: Any) -> Any:
    return input.to(dtype or input.dtype, copy=True)


#: Operators that have no public function.
OWN: dict[str, Callable[..., Any]] = {
    "index": _index, "_unsafe_index": _index, "slice": _slice, "_to_copy": _to_copy,
    "_unsafe_view": lambda input, size: input.reshape(size),
    "alias": lambda input: input.view_as(input),
    "copy": lambda input, source, **others: source.to(input.dtype).expand(input.shape).clone(),
    "pad": lambda *args, **kwargs: tt.nn.functional.pad(*args, **kwargs),
}  # fmt: skip


class _Facade(ModuleType):
    """A module that has its own names and tinytorch's."""

    def __getattr__(self, name: str) -> Any:
        return getattr(tt if self.__name__ == ROOT else tt._C, name)


class _Keys:
    def __getattr__(self, name: str) -> str:
        return name


class _Library:
    """Registers nothing."""

    def __init__(self, *args: Any) -> None: ...

    def impl(self, *args: Any) -> Callable[[Any], Any]:
        return lambda function: function

    def define(self, *args: Any) -> None: ...


def _module(name: str, **members: Any) -> None:
    """Put a module with ``members``, and the packages around it, into ``sys.modules``."""
    whole = f"{ROOT}.{name}"
    parent, _, leaf = whole.rpartition(".")
    if parent not in sys.modules:
        _module(parent.removeprefix(f"{ROOT}."))
    made = sys.modules.get(whole) or ModuleType(whole)
    made.__dict__.update({"__path__": [], **members})
    sys.modules[whole] = made
    setattr(sys.modules[parent], leaf, made)


def _output_size(size: int, kernel: int, pad: int, stride: int, dilation: int, ceil: bool) -> int:
    """Number of windows of a pooling along a dimension."""
    places = size + 2 * pad - dilation * (kernel - 1) - 1
    count = (places + (stride - 1 if ceil else 0)) // stride + 1
    return count - 1 if ceil and (count - 1) * stride >= size + pad else count


def _dtype(name: str) -> Any:
    """Stands for a dtype that tinytorch does not have."""
    return type(name, (), {"is_floating_point": True, "is_complex": False, "itemsize": 2})()


def install() -> None:
    """Make the modules; what is read from PyTorch's own sources comes later."""
    import torch
    import torch.utils._inspect
    import torch.utils._pytree

    root = sys.modules[ROOT] = _Facade(ROOT)
    root.__dict__.update(
        __path__=[], ops=ModuleType("ops"), _sym_sqrt=math.sqrt,
        **{n: _dtype(n) for n in ("bfloat16", "complex32", "float8_e4m3fn", "float8_e5m2")},
        **{n: _dtype(n) for n in ("float8_e4m3fnuz", "float8_e5m2fnuz", "float4_e2m1fn_x2")},
    )  # fmt: skip
    root.ops.__dict__["aten"] = aten
    c = sys.modules[f"{ROOT}._C"] = root.__dict__["_C"] = _Facade("_C")
    c.__dict__.update(
        DispatchKey=_Keys(), _AutoDispatchBelowAutograd=contextlib.nullcontext,
        _get_mkldnn_enabled=lambda: False, _get_privateuse1_backend_name=lambda: "privateuseone",
        _dispatch_tls_set_dispatch_key_excluded=lambda *args: None,
        _dispatch_tls_is_dispatch_key_excluded=lambda *args: False,
        _select_batch_norm_backend=lambda *args: None, _BatchNormBackend=_Keys(),
        _get_cudnn_batch_norm_reserve_space_size=lambda *args: 0,
    )  # fmt: skip
    for name in ("linalg", "fft", "special", "nn", "nn.functional", "overrides"):
        found: Any = tt
        for part in name.split("."):
            found = getattr(found, part)
        sys.modules[f"{ROOT}.{name}"] = found
    sys.modules[f"{ROOT}._prims"] = root.__dict__["_prims"] = primitives
    _module("_ops", ops=root.ops, OpOverload=OperatorOverload, OpOverloadPacket=Operator)
    _module("_decomp", register_decomposition=register_decomposition)
    _module("_higher_order_ops.out_dtype", out_dtype=Operator("out_dtype"))
    _module(
        "_meta_registrations", pooling_output_shape=_output_size, meta_index_Tensor=_shape_at,
        device_hint=lambda tensor: "cpu",
    )  # fmt: skip
    _module(
        "library", Library=_Library, impl=lambda *args, **kwargs: lambda function: function,
        register_fake=lambda *args, **kwargs: lambda function: function,
    )  # fmt: skip
    _module("types", **{"_Number": (bool, int, float), **_public(torch.types)})
    _module("utils", _pytree=torch.utils._pytree, _inspect=torch.utils._inspect)
    sys.modules[f"{ROOT}.utils._pytree"] = torch.utils._pytree
    sys.modules[f"{ROOT}.utils._inspect"] = torch.utils._inspect
    _install_symbols()


def _public(module: ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


def _install_symbols() -> None:
    """Install the functions for symbolic shapes; here all sizes are integers."""
    _module(
        "fx.experimental.symbolic_shapes",
        **dict.fromkeys(
            ("guard_or_false", "guard_or_true", "guard_size_oblivious", "statically_known_true",
             "expect_true"), bool),
        **dict.fromkeys(("guarding_hint_or_throw", "guard_int"), lambda value: value),
        has_guarding_hint=lambda value: True, sym_eq=lambda a, b: a == b,
        sym_and=lambda *values: all(values), sym_or=lambda *values: any(values),
        is_nested_int=lambda value: False,
    )  # fmt: skip
    _module("fx.experimental._config", backed_size_oblivious=False)
    _module("_subclasses.fake_tensor", FakeTensor=_Keys, FakeTensorMode=_Keys)
    _module(
        "_subclasses.fake_impls", register_op_impl=lambda *args: lambda function: function,
        _view_has_unbacked_input=lambda *args: False, _view_unbacked_meta=None,
    )  # fmt: skip
    _module("_guards", detect_fake_mode=lambda *args: None)
    _module("testing._internal.common_dtype", highest_precision_float=lambda device: tt.float64)
    _module("utils._sympy.functions", Max=max)
