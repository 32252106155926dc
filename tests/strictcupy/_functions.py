"""Functions of a CuPy namespace, made once each from NumPy's function and CuPy's signature."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy

from ._array import check_dtype, ndarray, row_major, unwrap, wrap, wrap_result
from ._formulas import FORMULAS
from ._low import reject_bfloat16
from ._manifest import MANIFEST, names
from ._sync import log_sync
from ._ufunc import ufunc

# Waits inside CuPy's own routines (the lines marked "synchronize!" in its sources, and transfers).
_WAITING = frozenset(
    """argpartition argwhere asarray_chkfinite bincount compress cond delete extract
    flatnonzero
    histogram2d histogramdd intersect1d mask_indices nanmax nanmin nonzero place
    real_if_close setdiff1d setxor1d sliding_window_view tril_indices tril_indices_from trim_zeros
    triu_indices triu_indices_from union1d unique unique_all unique_counts unique_inverse
    unique_values unravel_index array_repr array_str array2string logsumexp""".split()
)


def _any_array(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether one of the ends of a range has to be read from the device."""
    return any(type(value) is ndarray for value in (*args, *kwargs.values()))


_WAITING_IF: dict[str, Callable[[tuple[Any, ...], dict[str, Any]], bool]] = {
    "arange": _any_array,
    "linspace": _any_array,
    "logspace": _any_array,
    "average": lambda args, kwargs: len(args) > 2 or kwargs.get("weights") is not None,
    "array_equal": lambda args, kwargs: bool((*args[2:], kwargs.get("equal_nan"))[0]),
    "choose": lambda args, kwargs: (*args[3:], kwargs.get("mode", "raise"))[0] == "raise",
    # Spacings along an axis may be all the same.
    "gradient": lambda args, kwargs: any(getattr(a, "ndim", 0) for a in args[1:]),
    "ix_": lambda args, kwargs: any(type(a) is ndarray and a.dtype.kind == "b" for a in args),
    "ravel_multi_index": lambda args, kwargs: (
        "raise" in numpy.ravel((*args[2:], kwargs.get("mode", "wrap"))[0])
    ),
    # Bins of a given number in a given range are known to the host.
    "histogram": lambda args, kwargs: (
        (*args[2:], kwargs.get("range"))[0] is None
        or hasattr((*args[1:], kwargs.get("bins", 10))[0], "__len__")
    ),
    "quantile": lambda args, kwargs: isinstance(args[1], ndarray),
    "percentile": lambda args, kwargs: isinstance(args[1], ndarray),
}
# Parameters that are host numbers: a device array has no ``__index__``.
_NUMBERS = frozenset(
    """shape newshape axis axes axis1 axis2 source destination num N k n decimals ddof ndmin dims
    s""".split()
)
_HOST_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int, bool), "float": (float, complex), "list": (list,),
    "tuple": (tuple,),
}  # fmt: skip
_BOOLS = ("True", "False")
# What writes in the order of its operand, though it takes none.
_ORDERED = frozenset(("roll", "pad", "nan_to_num"))
# Python values in NumPy, 0-d arrays in CuPy.
_ZERO_DIMENSIONAL = frozenset("allclose array_equal array_equiv count_nonzero".split())


def resolver(
    namespace: str, twin: ModuleType | None, own: Mapping[str, Any], store: dict[str, Any]
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of the module that stands for ``namespace``.

    Args:
        namespace: ``"cupy"``, ``"cupy.linalg"``, …: a key of the manifest.
        twin: The NumPy or SciPy module that computes, None where there is none.
        own: What the stand-in defines itself.
        store: The module's globals, where each name is kept after its first look-up.
    """
    entries = names(namespace)

    def __getattr__(name: str) -> Any:
        if name not in entries:
            raise AttributeError(f"module {namespace!r} has no attribute {name!r}")
        value = own[name] if name in own else make(namespace, name, twin)
        if callable(value) and not isinstance(value, (ufunc, type)):
            value = reject_bfloat16(name, value)
        store[name] = value
        return value

    return __getattr__


def make(namespace: str, name: str, twin: ModuleType | None) -> Any:
    """Build the ufunc, function or value called ``name``; what is not modelled says so."""
    spec = names(namespace)[name]
    if not hasattr(twin, name):
        if spec["kind"] == "value" and spec["value"] is not None:
            return spec["value"] == "True" if spec["value"] in _BOOLS else float(spec["value"])
        return _not_modelled(f"{namespace}.{name}")
    numpy_value = getattr(twin, name)
    if spec["kind"] == "ufunc":
        return ufunc(name, spec, FORMULAS.get(name, numpy_value))
    if spec["kind"] == "function":
        return function(name, spec, FORMULAS.get(name, numpy_value))
    return numpy_value


def _not_modelled(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"CuPy has {name}; strictcupy does not model it")

    return refuse


def function(name: str, spec: dict[str, Any], twin: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's ``twin`` with CuPy's parameters, over device arrays."""
    check = checker(spec["name"], spec)
    renames = _renames(spec, twin)
    same = _same_positions(spec, twin)
    refused = _rejected_types(spec)
    waits = _WAITING_IF.get(name) or (lambda args, kwargs: name in _WAITING)
    zero_dimensional, ordered = name in _ZERO_DIMENSIONAL, has_order(name, spec)

    def call(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        for position, errors in refused:
            if position < len(args) and type(args[position]) in errors:
                _refuse(name, spec["positional"][position], args[position], errors)
        if len(args) > same:
            kwargs.update(zip(spec["positional"][same:], args[same:]))
            args = args[:same]
        if renames and kwargs:
            kwargs = {renames.get(key, key): value for key, value in kwargs.items()}
        if waits(args, kwargs):
            log_sync(name)
        with numpy.errstate(all="ignore"):
            result = twin(*map(unwrap, args), **{key: unwrap(kwargs[key]) for key in kwargs})
        out = kwargs.get("out")
        if type(out) is ndarray:
            return out
        result = result if ordered else row_major(result)
        return wrap(result) if zero_dimensional else wrap_result(result, args)

    call.__name__ = call.__qualname__ = name
    return call


def has_order(name: str, spec: dict[str, Any]) -> bool:
    """Whether a function keeps the order of its operand in memory, or lets its caller choose."""
    return name in _ORDERED or "order" in (*spec["positional"], *spec["keyword_only"])


def checker(name: str, spec: dict[str, Any]) -> Callable[[tuple[Any, ...], dict[str, Any]], None]:
    """Return a function that raises CPython's TypeError for arguments CuPy does not have."""
    most = len(spec["positional"])
    keywords = frozenset([*spec["positional"], *spec["keyword_only"]])
    any_args, any_kwargs = spec["args"], spec["kwargs"]
    numbers = [i for i, parameter in enumerate(spec["positional"]) if parameter in _NUMBERS]

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = [args[i] for i in numbers if i < len(args)]
        given.extend(kwargs[key] for key in kwargs if key in _NUMBERS)
        for value in given:
            check_host_numbers(value)
        if len(args) > most and not any_args:
            raise TypeError(
                f"{name}() takes {most} positional arguments but {len(args)} were given"
            )
        if kwargs and not any_kwargs and not keywords.issuperset(kwargs):
            unexpected = next(key for key in kwargs if key not in keywords)
            raise TypeError(f"{name}() got an unexpected keyword argument {unexpected!r}")
        if isinstance(kwargs.get("dtype"), (str, type, numpy.dtype)):
            check_dtype(numpy.dtype(kwargs["dtype"]))

    return check


def check_host_numbers(value: Any) -> None:
    """Raise CPython's TypeError where a shape, axis or count is or holds a device array."""
    if type(value) is ndarray or (
        isinstance(value, (tuple, list)) and any(type(item) is ndarray for item in value)
    ):
        raise TypeError("'ndarray' object cannot be interpreted as an integer")


def _rejected_types(spec: dict[str, Any]) -> list[tuple[int, dict[type, type[Exception]]]]:
    """Return, by position, the host types on which CuPy raises, and the errors."""
    return [
        (spec["positional"].index(parameter), {
            kind: getattr(builtins, error)
            for name, error in errors.items()
            for kind in _HOST_TYPES[name]
        })
        for parameter, errors in spec["refused"].items()
    ]  # fmt: skip


def _refuse(name: str, parameter: str, value: Any, errors: dict[type, type[Exception]]) -> None:
    if isinstance(value, (list, tuple)) and any(isinstance(item, ndarray) for item in value):
        return
    raise errors[type(value)](
        f"{name}(): argument {parameter!r} must be a device array, not {type(value).__name__}"
    )


def _signature_names(twin: Callable[..., Any]) -> tuple[list[str], list[str]] | None:
    """Return the positional and the keyword-only parameters, None where Python cannot tell."""
    try:
        parameters = inspect.signature(twin).parameters.values()
    except ValueError:
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    positional = [p.name for p in parameters if p.kind != p.KEYWORD_ONLY]
    return positional, [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]


def _renames(spec: dict[str, Any], twin: Callable[..., Any]) -> dict[str, str]:
    """Return NumPy's name of each parameter to which CuPy gives another."""
    known = _signature_names(twin)
    if known is None:
        return {}
    positional, keyword_only = known
    return {
        ours: theirs
        for ours, theirs in zip(spec["positional"], positional)
        if ours not in positional + keyword_only and theirs not in spec["positional"]
    }


def _same_positions(spec: dict[str, Any], twin: Callable[..., Any]) -> int:
    """Return how many leading parameters stand in the same position in both libraries."""
    known = _signature_names(twin)
    if known is None or spec["args"]:
        return 1 << 30
    renames, count = _renames(spec, twin), 0
    for ours, theirs in zip(spec["positional"], known[0]):
        if renames.get(ours, ours) != theirs:
            break
        count += 1
    return count


def missing(namespace: str) -> list[str]:
    """Return the names NumPy's namespace has and CuPy's lacks."""
    listed: list[str] = MANIFEST["namespaces"][namespace]["missing"]
    return listed
