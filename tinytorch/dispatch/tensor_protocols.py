"""Protocols of tensors: Python's operators and functions for numbers, NumPy's; ``torch.ops``.

``np.sum(tensor)`` runs ``tinytorch.numpy.sum`` and stays differentiable. A function of NumPy's that
is missing there runs on the tensors' values. It returns arrays, with one warning if that loses a
gradient; an elementwise function returns tensors, and raises for a tensor that requires grad.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from ..core import dlpack, torch_function
from ..core.tensor import Tensor, wrap
from ..core.torch_function import operator_function
from ..graph.late_bound import LATE_BOUND
from ..state.tracebacks import shorten
from .generated_functions import install_slow_path, make_function, make_inplace_function
from .operation import Form, Op
from .registry import find
from .signature import make_operator_signature

_NUMBERS = (bool, int, float, complex)
#: NumPy's function for each of Python's operators of two operands.
UFUNCS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "div": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "matmul": "matmul",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
    "rshift": "right_shift", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
}  # fmt: skip


def make_operators(op: Op, name: str) -> dict[str, Callable[..., Any]]:
    """Return the methods of a Python operator by their names.

    Args:
        op: The operation that the operator runs.
        name: The operator: ``"add"`` for ``__add__``, ``__radd__`` and, if the operation has an
            in-place form, ``__iadd__``.
    """
    if len(op.plan.tensors) == 1:
        method: Any = _unary(op, f"__{name}__")
        if op.kernel is not None and len(op.plan.params) == 1:
            method = install_slow_path(
                make_function(op.name), op, Form.OPERATOR, _slow_unary(method)
            )
        return _set_operator_metadata(op, name, {f"__{name}__": method})
    forward = install_slow_path(make_function(op.name), op, Form.OPERATOR, _slow)
    reflected = install_slow_path(make_function(op.name), op, Form.REFLECTED, _slow)
    methods: dict[str, Callable[..., Any]] = {f"__{name}__": forward}
    if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        methods[f"__r{name}__"] = reflected
        if op.inplace:
            methods[f"__i{name}__"] = install_slow_path(
                make_function(op.name), op, Form.INPLACE_OPERATOR, _slow_inplace
            )
    return _set_operator_metadata(op, name, methods)


def _unary(op: Op, name: str) -> Callable[[Any], Any]:
    """Return the method ``name`` of an operator of one operand, such as ``__neg__``."""
    function = op.function

    def method(self: Any) -> Any:
        try:
            if self.__class__ in torch_function.PLAIN:
                return function(self)
            override = _try_override(name, self)
            return function(self) if override is torch_function.NO_OVERRIDE else override
        except Exception as error:
            shorten(error)
            raise

    return method


def _slow_unary(method: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return ``method`` with the parameters of a slow path: see ``install_slow_path``."""
    return lambda op, function, operand: method(operand)


def _try_override(name: str, *operands: Any) -> Any:
    """Return the result of an override of an operator, or NO_OVERRIDE.

    Args:
        name: Name of the method.
        *operands: The tensor whose method it is, and the other operand.
    """
    values = torch_function.find_overriding(operands, {})
    if values or torch_function.has_mode():
        if name == "__eq__" and values and not any(isinstance(v, Tensor) for v in values):
            name = "eq"  # for a class of tensors PyTorch dispatches ``eq``, not the operator
        return torch_function.first_result(operator_function(Tensor, name), values, operands, {})
    return torch_function.NO_OVERRIDE


def _slow(op: Op, function: Any, left: Any, right: Any) -> Any:
    """Run an operator of two operands, such as ``left + right``, off its fast path.

    Args:
        op: The operation that the operator runs.
        function: The method that Python called, such as ``Tensor.__add__``.
        left: The left operand.
        right: The right operand, which is the tensor if the method is reflected.

    Returns:
        The result, or NotImplemented for an operand that is no tensor, number or array.
    """
    reflected = function.__name__.startswith("__r") and function.__name__ != "__rshift__"
    tensor, other = (right, left) if reflected else (left, right)
    override = _try_override(function.__name__, tensor, other)
    if override is not torch_function.NO_OVERRIDE:
        return override
    if reflected and op.promote == "quotient" and other.__class__ is bool:
        return function(tensor, int(other))  # the same quotient, recorded as that of a number
    if isinstance(other, (Tensor, *_NUMBERS)) or _is_number(other):
        return op.function(left, right)
    return _numpy_function(function)(left, right) if is_array(tensor, other) else NotImplemented


def _slow_inplace(op: Op, function: Any, target: Any, other: Any) -> Any:
    """Run an in-place operator, such as ``target += other``, off its fast path.

    An array is an operand only if the result has the dtype and shape of the tensor. Otherwise this
    returns NotImplemented, so that Python runs ``target = target + other``.
    """
    override = _try_override(function.__name__, target, other)
    if override is not torch_function.NO_OVERRIDE:
        return override
    if isinstance(other, (Tensor, *_NUMBERS)) or _is_number(other):
        return make_inplace_function(op)(target, other)
    if not is_array(target, other):
        return NotImplemented
    data, array = target._data, target._xp.asarray(other)
    if not _keeps_dtype_and_shape(_numpy_function(function), target, array):
        return NotImplemented
    return make_inplace_function(op)(target, array.astype(data.dtype, copy=False))


def _keeps_dtype_and_shape(operation: Any, target: Tensor, array: Any) -> bool:
    """Whether the result of ``operation(target, array)`` has the tensor's dtype and shape."""
    data, xp = target._data, target._xp
    try:
        # The dtype of a result follows from those of the operands, also of empty ones.
        found = operation(*(wrap(xp.empty(0, dtype=a.dtype), xp) for a in (data, array)))
        shape = xp.broadcast_shapes(data.shape, array.shape)
    except (TypeError, ValueError):  # ``target + other`` raises the same error
        return False
    return bool(found._data.dtype == data.dtype and shape == data.shape)


def _is_number(value: Any) -> bool:
    """Whether ``value`` is a NumPy scalar, which an operator accepts as a Python number.

    Scalars differ from arrays in that they are immutable.
    """
    return hasattr(value, "__array_interface__") and not hasattr(value, "__setitem__")


def _numpy_function(function: Any) -> Any:
    """Return the function of ``tinytorch.numpy`` for the method of an operator.

    It is ``add`` for ``__add__``, ``__radd__`` and ``__iadd__``, and accepts a tensor and an array.
    """
    name = function.__name__.strip("_")
    ufunc = UFUNCS.get(name) or UFUNCS[name[1:]]  # without the ``r`` or ``i`` before the name
    return LATE_BOUND.graph_namespace().function_of(ufunc)


def _set_operator_metadata(
    op: Op, name: str, methods: dict[str, Any]
) -> dict[str, Callable[..., Any]]:
    """Set the names, docstrings and signatures of an operator's methods, and return these."""
    for method_name, method in methods.items():
        method.__name__ = method_name
        method.__qualname__ = f"Tensor.{method_name}"
        method.__doc__ = op.function.__doc__
        method.__wrapped__ = inspect.unwrap(op.function)
        method.__signature__ = make_operator_signature(op, reflected=method_name == f"__r{name}__")
        method.op = op
    return methods


def is_array(tensor: Tensor, value: Any) -> bool:
    """Whether ``value`` is an array of the tensor's backend, or a NumPy scalar or array."""
    return isinstance(value, tensor._xp.array_type) or hasattr(value, "__array_interface__")


def round_tensor(self: Tensor, ndigits: int | None = None) -> Any:
    """Round to ``ndigits`` decimal places, halves to the even neighbor; ``round(tensor, ndigits)``.

    Args:
        ndigits: Decimal places. By default none, and the result is an int for a single element.

    Returns:
        An int, or a tensor of the same dtype, through which gradients flow as through ``round``.

    Example:
        >>> round(tt.tensor(2.5)), round(tt.tensor([0.126, 2.5]), 2)
        (2, tensor([0.1300, 2.5000]))
    """
    if ndigits is None and self.numel() == 1:
        return round(self.item())
    found: Any = self
    return found.round(decimals=ndigits or 0)


def divmod_tensor(self: Tensor, other: Any) -> tuple[Tensor, Tensor]:
    """``tensor // other`` and ``tensor % other``, the result of ``divmod(tensor, other)``.

    Args:
        other: Tensor or number.

    Example:
        >>> divmod(tt.tensor([7, -7]), 2)
        (tensor([ 3, -4]), tensor([1, 1]))
    """
    found: Any = self
    return found // other, found % other


def rdivmod_tensor(self: Tensor, other: Any) -> tuple[Tensor, Tensor]:
    """``other // tensor`` and ``other % tensor``, the result of ``divmod(other, tensor)``.

    Args:
        other: A number.

    Example:
        >>> divmod(7, tt.tensor([2, 4]))
        (tensor([3, 1]), tensor([1, 3]))
    """
    return other // self, other % self


def _to_integer(name: str) -> Callable[[Tensor], Any]:
    """Return the method of tensors that ``math.floor``, ``math.ceil`` or ``math.trunc`` calls.

    Args:
        name: ``"floor"``, ``"ceil"`` or ``"trunc"``.
    """
    round_number = getattr(math, name)

    def function(self: Tensor) -> Any:
        return round_number(self.item()) if self.numel() == 1 else getattr(self, name)()

    function.__name__ = function.__qualname__ = f"__{name}__"
    function.__doc__ = f"""``math.{name}(tensor)``: an int for a single element, else a tensor.

    Example:
        >>> import math
        >>> math.{name}(tt.tensor(2.5)) == math.{name}(2.5)
        True
    """
    return function


#: PyTorch's names of operations with another name here. No other private operation is recorded.
_ATEN_NAMES = {
    "_getitem": "index", "_setitem_": "index_put_", "cross_entropy": "cross_entropy_loss",
    "_conv": "convolution", "_softmax": "_softmax", "_log_softmax": "_log_softmax",
    "logsigmoid": "log_sigmoid", "grid_sample": "grid_sampler", "T": "numpy_T",
}  # fmt: skip
#: Namespaces that are part of the names of PyTorch's operators: ``aten::fft_rfft``.
_SPACES = ("fft", "linalg", "special")


class OpNamespace(ModuleType):
    """The operators of one library, ``torch.ops.mylib``."""

    def __getattr__(self, name: str) -> Any:
        declare = None if name.startswith("__") else DECLARATIONS.get(self.__name__)
        if declare is not None:
            declare()  # twice if two threads come here at once, which does no harm
            DECLARATIONS.pop(self.__name__, None)
            return getattr(self, name)
        raise AttributeError(
            f"'_OpNamespace' '{self.__name__}' object has no attribute '{name}'",
            name=name, obj=self,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return namespace, (self.__name__,)


#: Functions that declare the operators of a namespace, by its name, called at its first use.
DECLARATIONS: dict[str, Callable[[], object]] = {}
#: Namespaces of ``torch.ops`` by name, also those that are still empty.
NAMESPACES: dict[str, Any] = {}


def namespace(name: str) -> Any:
    """Return the namespace of a library's operators, which is empty at first."""
    return NAMESPACES.setdefault(name, OpNamespace(name))


def find_namespace(name: str) -> Any:
    """Return the attribute ``name`` of ``torch.ops``, the namespace of a library.

    Raises:
        AttributeError: For a special name, such as ``__path__``.
    """
    if name.startswith("__"):
        raise AttributeError(f"module 'tinytorch.ops' has no attribute {name!r}")
    return namespace(name)


def load_library(path: Any) -> NoReturn:
    """Raise OSError: a compiled library registers operators for PyTorch's own tensors.

    Raises:
        OSError: Always, as PyTorch for a library it cannot load.

    Example:
        >>> tt.ops.load_library("kernels.so")
        Traceback (most recent call last):
            ...
        OSError: Could not load this library: kernels.so (tinytorch loads none made for PyTorch)
    """
    raise OSError(f"Could not load this library: {path} (tinytorch loads none made for PyTorch)")


class AtenName:
    """Operator of PyTorch's own by its name, such as ``ops.aten.clone``, or an overload of it.

    Libraries have tables of them. A call runs the function of that name, and raises
    NotImplementedError without one. The overloads of an operator, such as ``add.Tensor`` and
    ``add.Scalar``, are one function here.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> AtenName:
        if name.startswith("_"):
            raise AttributeError(name, name=name, obj=self)
        form = AtenName(f"{self.__name__}.{name}")
        setattr(self, name, form)  # the next look-up returns the same object
        return form

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.__name__.partition(".")[0]
        function = _find_function(name)
        if function is None:
            raise NotImplementedError(f"ops.aten.{name}: tinytorch has no function of that name")
        return function(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return _find_aten, (self.__name__,)

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class Aten(ModuleType):
    """``torch.ops.aten``."""

    def __reduce__(self) -> tuple[Any, ...]:
        return namespace, (self.__name__,)

    def __getattr__(self, name: str) -> AtenName:
        if name.startswith("__"):
            raise AttributeError(name, name=name, obj=self)
        found = AtenName(name)
        setattr(self, name, found)
        return found


def aten_name(name: str, op: Any) -> str | None:
    """Return PyTorch's name of an operation, such as ``aten::add``, or None if it has none.

    Args:
        name: Name of the operation; with an underscore at the end for its in-place form.
        op: The operation.
    """
    if name not in _ATEN_NAMES and not op.public:
        return None
    space = op.namespaces[0]
    named = _ATEN_NAMES.get(name, name)
    return f"aten::{space}_{named}" if space in _SPACES else f"aten::{named}"


def _find_function(name: str) -> Any:
    """Return the public function behind ``torch.ops.aten.name``, or None."""
    space, _, rest = name.partition("_")
    if space in _SPACES and find(space, rest):
        return find(space, rest)
    return find("", name) or find("nn.functional", name) or getattr(Tensor, name, None)


def _find_aten(name: str) -> Any:
    """Return ``torch.ops.aten.name``, from a pickle; ``name`` may have an overload after a dot."""
    return operator.attrgetter(name)(NAMESPACES["aten"])


NAMESPACES["aten"] = Aten("aten")


#: NumPy's functions that write to their first argument.
_WRITERS = frozenset(("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"))
#: Versions of the array API standard.
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
#: Functions for ``ufunc.reduce``, and below for ``ufunc.accumulate``, by name of the ufunc.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}
#: Operators by the ufunc that a NumPy scalar calls as their left operand, as in ``pi * tensor``.
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ufunc: getattr(operator, f"__{name}__") for name, ufunc in UFUNCS.items() if name != "div"
}


def array_namespace(self: Tensor, *, api_version: str | None = None) -> Any:
    """Return the namespace of the array API standard: NumPy's functions on tensors.

    Args:
        api_version: The version of the standard; default the newest.

    Raises:
        ValueError: For an unsupported version.

    Example:
        >>> tt.ones(2).__array_namespace__().__name__
        'tinytorch.numpy.functions'
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"array API version {api_version!r} is not supported; known are {', '.join(_VERSIONS)}"
        )
    return LATE_BOUND.graph_namespace()


def array_function(
    self: Tensor, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
) -> Any:
    """Run NumPy's function ``func`` on tensors: the method ``__array_function__``.

    The function of ``tinytorch.numpy`` with the same name runs if there is one. NumPy's own runs
    on NumPy arrays of the tensors' values if there is none, if the result is written to an array,
    or if a required array is None.

    Args:
        func: NumPy's public function.
        types: Types of the arguments that have this method; not used.
        args: Arguments by position.
        kwargs: Arguments by name.
    """
    # ``numpy.linalg`` becomes "linalg", and ``numpy`` an empty name.
    module = (func.__module__ or "numpy").partition("numpy")[2].strip(".")
    tensor_function = _find_tensor_function(module, func.__name__)
    target = args[0] if func.__name__ in _WRITERS and args else kwargs.get("out")
    into_array = target is not None and not isinstance(target, Tensor)
    if tensor_function is None or into_array or _has_missing_array(func, args):
        return func(*map(_to_host, args), **{name: _to_host(v) for name, v in kwargs.items()})
    return tensor_function(*args, **kwargs)


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Run a NumPy ufunc, or a method of it, on tensors: the method ``__array_ufunc__``.

    Args:
        ufunc: The ufunc, such as ``np.add``.
        method: Its method: ``"__call__"``, ``"reduce"``, ``"accumulate"``, ``"outer"``, ...
        *inputs: Its operands.
        **kwargs: Its keywords; ``out`` is a tuple.

    Returns:
        The result of the function of ``tinytorch.numpy``. If there is none, the ufunc's result on
        NumPy arrays, as tensors. If ``out`` has arrays, the ufunc writes to these and returns them.
    """
    out = kwargs.get("out")
    returns_tensors = out is None or all(isinstance(target, Tensor) for target in out)
    if method == "__call__" and not kwargs and _is_numpy_scalar(inputs[0]):
        if ufunc.__name__ in _OPERATORS:
            return _OPERATORS[ufunc.__name__](inputs[0].item(), inputs[1])
    tensor_function = _ufunc_method(ufunc.__name__, method) if returns_tensors else None
    if tensor_function is None:
        host = _to_host_without_grad if returns_tensors else _to_host
        named = {name: host(v) for name, v in kwargs.items()}
        found = getattr(ufunc, method)(*map(host, inputs), **named)
        return _wrap_arrays(found) if returns_tensors else found
    if method == "__call__":
        # NumPy's numbers count as Python's.
        inputs = tuple(_to_python_number(v) for v in inputs)
    elif method != "outer":
        kwargs.setdefault("axis", 0)  # the default of ``reduce`` and ``accumulate``
    return tensor_function(*inputs, **kwargs)


def _ufunc_method(name: str, method: str) -> Callable[..., Any] | None:
    """Return the function of ``tinytorch.numpy`` for the method of a ufunc, or None.

    ``np.add.reduce`` is ``sum``, ``np.add.accumulate`` is ``cumsum``.

    Args:
        name: Name of the ufunc.
        method: Name of its method; ``"__call__"`` for the ufunc itself.
    """
    if method == "__call__":
        return _find_tensor_function("", name)
    if method == "reduce" and name in _REDUCTIONS:
        return _find_tensor_function("", _REDUCTIONS[name])
    if method == "accumulate" and name in _RUNNING:
        return _find_tensor_function("", _RUNNING[name])
    function = _find_tensor_function("", name) if method == "outer" else None
    return None if function is None else lambda a, b: _outer(function, a, b)


def _outer(function: Callable[..., Any], a: Any, b: Any) -> Any:
    """Apply ``function`` to each pair of elements of ``a`` and ``b``, as ``ufunc.outer`` does.

    The shape of the result is the shape of ``a`` followed by that of ``b``.
    """
    asarray: Any = _find_tensor_function("", "asarray")
    x, y = asarray(a), asarray(b)
    return function(x.reshape(tuple(x.shape) + (1,) * y.ndim), y)


def _find_tensor_function(module: str, name: str) -> Callable[..., Any] | None:
    """Return the function of ``tinytorch.numpy`` for one of NumPy's, or None.

    Args:
        module: The module of NumPy's function, such as ``"linalg"``; empty for the top level.
        name: The name of NumPy's function.
    """
    namespace: Any = LATE_BOUND.graph_namespace()
    if not module:
        found: Callable[..., Any] | None = namespace.function_of(name)
        return found
    return getattr(getattr(namespace, module, None), name, None)


def _has_missing_array(func: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Whether a required argument of NumPy's ``func`` is None or has None among its elements.

    NumPy converts it to an array of objects, which tensors cannot hold.
    """
    return any(map(_has_none, args)) and any(map(_has_none, _required_arguments(func, args)))


def _has_none(value: Any) -> bool:
    """Whether ``value`` is None, or a list or tuple with an element None."""
    parts = value if isinstance(value, (list, tuple)) else (value,)
    return any(part is None for part in parts)


def _required_arguments(func: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return those of ``args`` whose parameter of ``func`` has no default, as arrays have none."""
    try:
        parameters = inspect.signature(func).parameters.values()
    except ValueError:  # functions in C have no signature in NumPy 2.0
        return args[:1]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return args
    needed = [each for each in parameters if each.default is each.empty]
    return args[: sum(each.kind is not each.VAR_KEYWORD for each in needed)]


def _to_host(value: Any) -> Any:
    """Return a tensor as a NumPy array, also in lists and tuples; other values unchanged."""
    if isinstance(value, Tensor):
        return value.__array__()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_to_host, value))
    return value


def _to_host_without_grad(value: Any) -> Any:
    """Return a tensor as a NumPy array, or other values unchanged.

    Raises:
        RuntimeError: If the tensor requires grad.
    """
    return value.numpy() if isinstance(value, Tensor) else value


def _is_numpy_scalar(value: Any) -> bool:
    """Whether ``value`` is a NumPy scalar, which unlike an array is immutable."""
    return hasattr(value, "dtype") and not hasattr(value, "__setitem__")


def _to_python_number(value: Any) -> Any:
    """Return a NumPy scalar as a Python number; other values unchanged."""
    return value.item() if _is_numpy_scalar(value) else value


def _wrap_arrays(value: Any) -> Any:
    """Return a NumPy array, or each one of a tuple, as a tensor; other values unchanged."""
    if isinstance(value, tuple):
        return tuple(map(_wrap_arrays, value))
    if not hasattr(value, "dtype") or not hasattr(value, "__array_interface__"):
        return value
    asarray: Any = _find_tensor_function("", "asarray")
    return asarray(value)


def attach() -> None:
    """Set the methods of the protocols on Tensor."""
    protocols: dict[str, Any] = {
        "__round__": round_tensor, "__divmod__": divmod_tensor,
        "__rdivmod__": rdivmod_tensor,
        **{f"__{name}__": _to_integer(name) for name in ("floor", "ceil", "trunc")},
        "__array_namespace__": array_namespace, "__array_function__": array_function,
        "__array_ufunc__": array_ufunc, "__dlpack__": dlpack.dlpack,
        "__dlpack_device__": dlpack.dlpack_device,
        "__cuda_array_interface__": property(dlpack.cuda_array_interface),
        "__array_interface__": property(dlpack.array_interface),
        "ctypes": property(dlpack.ctypes_of), "__arrow_array__": dlpack.arrow_array,
        "_sympy_": dlpack.sympy_value,
    }  # fmt: skip
    for name, function in protocols.items():
        torch_function.attach(Tensor, name, function)
