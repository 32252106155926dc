"""CuPy's ufuncs: NumPy computes, the manifest decides which dtypes and methods there are."""

from __future__ import annotations

from typing import Any

import numpy

from . import _devices
from ._array import ndarray, row_major, unwrap, wrap
from ._index import device_index

try:
    import ml_dtypes
except ImportError:  # then CuPy, too, leaves the loops of bfloat16 out
    _LOW: dict[Any, Any] = {}
else:
    _LOW = {"E": numpy.dtype(ml_dtypes.bfloat16)}
_WEAK = {int: numpy.dtype(numpy.int64), float: numpy.dtype(float), complex: numpy.dtype(complex)}
_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}
_Op = tuple[tuple[Any, ...], tuple[Any, ...]]


class ufunc:
    """One elementwise function with CuPy's arguments, dtypes and error texts."""

    def __init__(self, name: str, spec: dict[str, Any], twin: Any) -> None:
        self.__name__ = name
        self.name: str = spec["name"]
        self.nin: int = spec["nin"]
        self.nout: int = spec["nout"]
        self.nargs = self.nin + self.nout
        self.types: list[str] = spec["types"]
        self._spec = spec
        self._twin = twin
        self._ops = [_parse(types) for types in spec["types"] if _LOW or "E" not in types]
        self._plans: dict[tuple[Any, ...], _Op | None] = {}

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}'>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != self.nin:
            return self._call_with_outputs(args, kwargs)
        hosts, key = _inputs(args)
        try:
            op = self._plans[key]
        except KeyError:
            op = self._plan(key)
        with numpy.errstate(all="ignore"):
            result = self._twin(*hosts) if op is None else self._cast_and_call(op, hosts)
        return _new(result) if self.nout == 1 else tuple(map(_new, result))

    def _plan(self, key: tuple[Any, ...]) -> _Op | None:
        """Choose CuPy's loop; None where NumPy's own choice gives the same dtypes."""
        op = self._loop_for(key)
        plan = None if _numpy_agrees(self._twin, key, op) else op
        self._plans[key] = plan
        return plan

    def _loop_for(self, key: tuple[Any, ...]) -> _Op:
        dtypes, weak = _operand_types(key)
        for op in self._ops:
            if all(map(_fits, dtypes, weak, op[0])):
                return op
        if any(dtype.kind == "V" for dtype in dtypes):
            return dtypes, dtypes[:1] * self.nout
        raise TypeError(f"Wrong type ({dtypes}) of arguments for {self.name}")

    def _cast_and_call(self, op: _Op, hosts: list[Any]) -> Any:
        ins = [numpy.asarray(host).astype(to, copy=False) for host, to in zip(hosts, op[0])]
        try:
            result = self._twin(*ins)
        except TypeError as error:  # NumPy's own subclass of it
            raise TypeError(str(error)) from None
        outs = result if self.nout > 1 else (result,)
        casts = tuple(numpy.asarray(out).astype(to, copy=False) for out, to in zip(outs, op[1]))
        return casts if self.nout > 1 else casts[0]

    def _call_with_outputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        out = kwargs.pop("out", None)
        dtype = kwargs.pop("dtype", None)
        casting = kwargs.pop("casting", "same_kind")
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        self._check_count(args)
        hosts, key = _inputs(args[: self.nin])
        op = self._loop_for(key) if dtype is None else self._loop_giving(numpy.dtype(dtype))
        outs = self._outputs(args[self.nin :], out)
        with numpy.errstate(all="ignore"):
            results = self._cast_and_call(op, hosts)
        results = results if self.nout > 1 else (results,)
        stored = tuple(_store(*pair, casting) for pair in zip(results, outs))
        return stored if self.nout > 1 else stored[0]

    def _check_count(self, args: tuple[Any, ...]) -> None:
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or "
                f"{self.nargs} (with outputs), but given {len(args)}."
            )

    def _loop_giving(self, dtype: Any) -> _Op:
        for op in self._ops:
            if all(out == dtype for out in op[1]):
                return op
        raise TypeError(f"Wrong type ({dtype}) of arguments for {self.name}")

    def _outputs(self, positional: tuple[Any, ...], out: Any) -> list[Any]:
        if out is not None and positional:
            raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
        if out is not None:
            positional = out if isinstance(out, tuple) else (out,)
            if len(positional) != self.nout:
                raise ValueError("'out' must be a tuple of arrays")
        for array in positional:
            if array is not None and not isinstance(array, ndarray):
                raise TypeError(f"Unsupported type {type(array)}")
        return [*positional, *[None] * (self.nout - len(positional))]

    def outer(self, A: ndarray, B: ndarray, **kwargs: Any) -> Any:
        left = A.reshape(A.shape + (1,) * B.ndim)
        return self(left, B.reshape((1,) * A.ndim + B.shape), **kwargs)

    def at(self, a: ndarray, indices: Any, b: Any = None) -> None:
        if not self._spec["at_supported"]:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        _devices.check(a)
        host, index = a._host, device_index(a.shape, indices)
        atomic = any(isinstance(item, numpy.ndarray) and item.dtype.kind != "b" for item in index)
        if atomic and host.dtype.char not in self._spec["at"]:
            supported = ", ".join(str(numpy.dtype(char)) for char in self._spec["at"])
            raise TypeError(f"cupy.{self.__name__}.at only supports {supported} as data type")
        values = numpy.asarray(unwrap(b)).astype(host.dtype, copy=False)
        with numpy.errstate(all="ignore"):
            self._twin.at(host, index, values)

    def reduce(
        self, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None,
        keepdims: bool = False,
    ) -> Any:  # fmt: skip
        if not self._spec["reduce"]:
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        reduction = getattr(array, "sum" if self.name == "cupy_add" else "prod")
        return reduction(axis, dtype, out, keepdims)

    def accumulate(self, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        if not self._spec["accumulate"]:
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        scan = getattr(array, "cumsum" if self.name == "cupy_add" else "cumprod")
        return scan(axis, dtype, out)

    def reduceat(
        self, array: ndarray, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        if not self._spec["reduceat"]:
            raise NotImplementedError(f"`{self.name}.reduceat` is not supported yet")
        return wrap(self._twin.reduceat(array._host, unwrap(indices), axis, dtype, unwrap(out)))


def _parse(types: str) -> _Op:
    ins, outs = types.split("->")
    return tuple(map(_dtype, ins)), tuple(map(_dtype, outs))


def _dtype(word: Any) -> Any:
    return _LOW[word] if word in _LOW else numpy.dtype(word)


def _inputs(args: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...]]:
    hosts, key = [], []
    for value in args:
        if type(value) is ndarray:
            _devices.check(value)
            value = value._host
            key.append(value.dtype.char)
        elif isinstance(value, numpy.generic):
            key.append(value.dtype.char)
        elif isinstance(value, (bool, int, float, complex)):
            key.append(type(value))
        else:
            raise TypeError(f"Unsupported type {type(value)}")
        hosts.append(value)
    return hosts, tuple(key)


def _operand_types(key: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the operands' dtypes and, for Python scalars that adapt to arrays, their types."""
    dtypes = tuple(_dtype(_WEAK.get(item, item)) for item in key)
    kinds = [_KINDS[dtype.kind] for dtype in dtypes]
    strong = [kind for kind, item in zip(kinds, key) if item not in _WEAK]
    highest = max(strong, default=-1)
    # A Python scalar of a higher kind than every array takes its own dtype.
    if any(kind > highest for kind, item in zip(kinds, key) if item in _WEAK):
        return _promote(dtypes, key), (None,) * len(key)
    return dtypes, tuple(item if item in _WEAK else None for item in key)


def _promote(dtypes: tuple[Any, ...], key: tuple[Any, ...]) -> tuple[Any, ...]:
    strong = [_dtype(item) for item in key if item not in _WEAK]
    if not strong:
        return dtypes
    examples = [_WEAK[item].type(0).item() for item in key if item in _WEAK]
    common = numpy.result_type(*strong, *examples)
    return tuple(common if item in _WEAK else dtype for item, dtype in zip(key, dtypes))


def _fits(dtype: Any, weak: Any, loop: Any) -> bool:
    if weak is None:
        return bool(numpy.can_cast(dtype, loop))
    try:
        return bool(numpy.can_cast(dtype, loop)) or numpy.result_type(weak(0), loop) == loop
    except TypeError:
        return False


def _numpy_agrees(twin: Any, key: tuple[Any, ...], op: _Op) -> bool:
    if not isinstance(twin, numpy.ufunc):
        return False
    operands = [item if isinstance(item, type) else _dtype(item) for item in key]
    operands = [numpy.dtype(bool) if item is bool else item for item in operands]
    try:
        resolved = twin.resolve_dtypes((*operands, *[None] * twin.nout))
    except TypeError:
        return False
    return resolved[twin.nin :] == op[1]


def _new(result: Any) -> ndarray:
    return wrap(row_major(result))


def _store(result: Any, out: ndarray | None, casting: str) -> ndarray:
    if out is None:
        return _new(result)
    if not numpy.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast output operand from {result.dtype!r} to {out.dtype!r} "
            f"according to the rule '{casting}'"
        )
    if numpy.broadcast_shapes(result.shape, out.shape) != out.shape:
        raise ValueError("Out shape is mismatched")
    _devices.check(out)
    out._host[...] = result
    return out
