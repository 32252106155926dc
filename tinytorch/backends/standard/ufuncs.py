"""NumPy's ufuncs over functions of another library: promotion by NumPy's table, ``out=``, methods.

Libraries promote by rules of their own, so operands are cast first, to what NumPy's
``resolve_dtypes`` names. The answer is cached by the dtypes of the operands, where a Python scalar
counts as its class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from .array import StandardArray
from .library import Dtype, Raw

if TYPE_CHECKING:
    from .names import Names

_BOOL, _UINT8 = numpy.dtype(bool), numpy.dtype("uint8")
#: Ufuncs of two operands that reduce, and the function that does so.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_or": "any",
    "logical_and": "all",
}  # fmt: skip
#: Ufuncs whose functions of the standard do not accept bools, which NumPy's do.
_NOT_OF_BOOLS = frozenset(
    "add greater greater_equal isfinite isinf isnan less less_equal maximum minimum "
    "multiply".split()
)
#: Ufuncs whose functions of the standard accept bools alone.
_OF_BOOLS = frozenset("logical_and logical_not logical_or logical_xor".split())
_COMPARISONS = frozenset("equal greater greater_equal less less_equal not_equal".split())


class _Plan(NamedTuple):
    """Casts of the operands, None for none, and dtypes of the results."""

    casts: tuple[Dtype | None, ...]
    results: tuple[Dtype, ...]


class StandardUfunc:
    """Elementwise function by NumPy's name.

    Args:
        names: NumPy's functions of the library.
        name: NumPy's name of the ufunc.
    """

    def __init__(self, names: Names, name: str) -> None:
        self.names: Names = names
        self.__name__: str = name
        self.twin: numpy.ufunc = getattr(numpy, name)
        self.nin: int = self.twin.nin
        self._plans: dict[Any, _Plan] = {}
        function = names.library.elementwise(name)
        self.function: Callable[..., Any] = (
            names.host_function(name, self.twin) if function is None else function
        )
        self.takes_out: bool = function is not None and name in names.library.functions_with_out
        unary = self.nin == 1
        self.run: Callable[..., Any] = _unary(self) if unary else _binary(self)

    def as_function(self) -> Any:
        """Return the call as a function with the methods of a ufunc: an object would cost more."""
        run: Any = self.run
        run.__name__ = self.__name__
        run.reduce, run.accumulate, run.at = self.reduce, self.accumulate, self.at
        run.outer, run.nin, run.nout = self.outer, self.nin, self.twin.nout
        return run

    def plan(self, key: tuple[Any, ...]) -> _Plan:
        """Return the plan for operands of given dtypes, or classes of Python scalars."""
        found = self._plans.get(key)
        if found is None:
            dtypes = [_BOOL if each is bool else each for each in key]
            if not any(isinstance(each, numpy.dtype) for each in dtypes):  # scalars alone
                dtypes = [numpy.dtype(each) for each in dtypes]
            resolved = self.twin.resolve_dtypes((*dtypes, *[None] * self.twin.nout))
            wanted = list(resolved[: self.nin])
            if not self.names.library.computes_bools:
                wanted = [self._dtype_in_standard(each) for each in wanted]
            # A Python scalar is always cast.
            casts = [None if a is b else b for a, b in zip(key, wanted, strict=True)]
            found = self._plans[key] = _Plan(tuple(casts), tuple(resolved[self.nin :]))
        return found

    def _dtype_in_standard(self, dtype: Dtype) -> Dtype:
        """Return the dtype of an operand that the function of the standard accepts."""
        if self.__name__ in _OF_BOOLS:
            return _BOOL
        return _UINT8 if self.__name__ in _NOT_OF_BOOLS and dtype == _BOOL else dtype

    def finish(self, raw: Any, plan: _Plan, out: Any, where: Any = True) -> Any:
        """Wrap the result of the function, or write it to ``out``."""
        names = self.names
        if len(plan.results) > 1:
            return tuple(map(names.wrap_as, raw, plan.results))
        result = names.cast(raw, plan.results[0])
        return names.wrap(result) if out is None else names.write_out(out, result, where)

    # -- methods of ufuncs ------------------------------------------------------------------

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
        keepdims: bool = False, **options: Any,
    ) -> Any:  # fmt: skip
        """Reduce dimensions, as ``numpy.ufunc.reduce``."""
        name = _REDUCTIONS.get(self.__name__)
        if name is None:
            return self._reduce_by_halves(array, axis, keepdims)
        function = getattr(self.names, name)
        if name in ("sum", "prod"):
            return function(array, axis, dtype, out, keepdims)
        return function(array, axis, out, keepdims)

    def _reduce_by_halves(self, array: Any, axis: Any, keepdims: bool) -> Any:
        """Reduce one dimension by combining its halves."""
        rest = self.names.moveaxis(array, axis, 0)
        if not rest.shape[0]:
            raise ValueError(f"zero-size array to reduction operation {self.__name__}")
        while rest.shape[0] > 1:
            half = rest.shape[0] // 2
            joined = self.run(rest[:half], rest[half : 2 * half])
            rest = self.names.concatenate([joined, rest[2 * half :]])
        return self.names.expand_dims(rest[0], axis) if keepdims else rest[0]

    def at(self, target: Any, index: Any, values: Any) -> None:
        """Combine ``values`` into ``target`` in place, repeated indices one after the other."""
        names = self.names
        if self.__name__ == "add":
            index = index if isinstance(index, tuple) else (index,)
            target.add_at(names.raw_key(index), names.operand_of(values, target.dtype))
            return
        host = numpy.array(names.to_host_as_fallback(f"{self.__name__}.at", target))
        self.twin.at(host, names.to_host(index), names.to_host(values))
        target[...] = names.from_host(host)

    def outer(self, a: Any, b: Any) -> Any:
        """Apply the function to all pairs of elements."""
        return self.run(a.reshape(*a.shape, *(1,) * b.ndim), b)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Cumulative results along ``axis``."""
        from ..default_operations import scan

        names: Any = self.names
        result = scan(names, self.run, array, axis)
        return result if out is None else self.names.write_out(out, result.raw)


def _unary(ufunc: StandardUfunc) -> Callable[..., Any]:
    """Return the call of a ufunc of one operand."""
    names, function, plans = ufunc.names, ufunc.function, ufunc._plans
    cls, wrap, library = names.array_type, names.wrap, names.library

    def call(
        x: Any, out: Any = None, where: Any = True, dtype: Any = None, casting: Any = None,
        order: Any = None, subok: Any = None,
    ) -> Any:  # fmt: skip
        if x.__class__ is not cls:
            x = names.asarray(x)
        if dtype is not None:
            x = x.astype(dtype, copy=False)
        plan = plans.get((x.dtype,)) or ufunc.plan((x.dtype,))
        (cast,), results = plan
        raw = function(x.raw if cast is None else library.astype(x.raw, cast))
        if out is None and len(results) == 1:
            made = wrap(raw)
            if made.dtype is results[0]:
                return made
        return ufunc.finish(raw, plan, out, where)

    return call


def _binary(ufunc: StandardUfunc) -> Callable[..., Any]:
    """Return the call of a ufunc of two operands. Long: the fast path of every operator."""
    names, function, plans = ufunc.names, ufunc.function, ufunc._plans
    cls, wrap, fit = names.array_type, names.wrap, names.fit_operand
    takes_out, compares = ufunc.takes_out, ufunc.__name__ in _COMPARISONS

    def call(
        a: Any, b: Any, out: Any = None, where: Any = True, dtype: Any = None, casting: Any = None,
        order: Any = None, subok: Any = None,
    ) -> Any:  # fmt: skip
        if dtype is not None:
            a, b = (names.asarray(each).astype(dtype, copy=False) for each in (a, b))
        of_a, x = (a.dtype, a.raw) if a.__class__ is cls else names.operand(a)
        of_b, y = (b.dtype, b.raw) if b.__class__ is cls else names.operand(b)
        plan = plans.get((of_a, of_b)) or ufunc.plan((of_a, of_b))
        (cast_a, cast_b), results = plan
        try:
            if cast_a is not None:
                x = fit(x, of_a, cast_a)
            if cast_b is not None:
                y = fit(y, of_b, cast_b)
        except OverflowError:
            if compares:
                return _compare_beyond(ufunc, a, b, out)
            raise
        if takes_out and out is not None and out.__class__ is cls and where is True:
            if out.dtype is results[0] and _can_write(out, a, b, x, y):
                function(x, y, out=out.raw)
                return out
        raw = function(x, y)
        if out is None and len(results) == 1:
            made = wrap(raw)
            if made.dtype is results[0]:
                return made
        return ufunc.finish(raw, plan, out, where)

    return call


def _compare_beyond(ufunc: StandardUfunc, a: Any, b: Any, out: Any) -> Any:
    """Compare with a Python integer that the dtype of the array cannot hold."""
    array, number, first = (b, a, True) if isinstance(a, int) else (a, b, False)
    beyond = math.inf if number > 0 else -math.inf
    answer = bool(ufunc.twin(*((beyond, 0.0) if first else (0.0, beyond))))
    result = ufunc.names.full(array.shape, answer, bool)
    return result if out is None else ufunc.names.write_out(out, result.raw)


def _can_write(out: Any, a: Any, b: Any, x: Raw, y: Raw) -> bool:
    """Whether the library can write to ``out``: of the result's shape, and no partial overlap."""
    shape = out.shape
    x_shape, y_shape = getattr(x, "shape", ()), getattr(y, "shape", ())
    if (x_shape != shape and y_shape != shape) or (
        (x_shape != shape and x_shape) or (y_shape != shape and y_shape)
    ):
        return False
    return all(each is out or not _share_memory(each, out) for each in (a, b))


def _share_memory(a: Any, out: Any) -> bool:
    """Whether two arrays may be views of one memory."""
    if not isinstance(a, StandardArray):
        return False
    return (a if a.base is None else a.base) is (out if out.base is None else out.base)
