"""``cupy.random`` with its gaps: NumPy's bits, CuPy's names, methods and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ._array import ndarray, unwrap, wrap, wrap_result
from ._functions import checker, resolver
from ._manifest import methods, names
from ._sync import log_sync


def _check_choice(a: Any, size: Any = None, replace: bool = True, p: Any = None) -> None:
    if size is None:
        raise NotImplementedError("choice() without specifying size is not supported yet")
    if p is not None and not replace:
        raise NotImplementedError
    if p is not None and numpy.asarray(unwrap(p)).dtype.kind != "f":
        raise TypeError("output (typecode 'd') could not be coerced to the running sum's type")


def _check_shuffle(a: Any) -> None:
    if not isinstance(a, ndarray):
        raise TypeError("The array must be cupy.ndarray")
    if not a.ndim:
        raise TypeError("An array whose ndim is 0 is not supported")


#: What CuPy's methods refuse beyond wrong names.
_REFUSED: dict[str, Callable[..., None]] = {"choice": _check_choice, "shuffle": _check_shuffle}
_CHOOSING = frozenset({"choice", "dirichlet", "geometric", "binomial", "multinomial"})


class _Source:
    """The methods the manifest lists, on one of NumPy's random sources."""

    _manifest_class: str
    _twin: Any

    def __getattr__(self, name: str) -> Callable[..., Any]:
        listed = methods(self._manifest_class)
        if name not in listed or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return _method(self._twin, name, listed[name])


class RandomState(_Source):
    """The legacy generator."""

    _manifest_class = "random.RandomState"

    def __init__(self, seed: Any = None, method: int = 100) -> None:
        self._twin = numpy.random.RandomState(seed)


class Generator(_Source):
    """The new generator, without ``normal``, ``permutation``, ``shuffle`` and ``choice``."""

    _manifest_class = "random.Generator"

    def __init__(self, bit_generator: Any) -> None:
        self._twin = numpy.random.Generator(bit_generator._twin)
        self.bit_generator = bit_generator


class XORWOW:
    """A bit generator; every one of CuPy's is NumPy's default here."""

    def __init__(self, seed: Any = None, *, size: int = -1) -> None:
        self._twin = numpy.random.PCG64(seed)


def default_rng(seed: Any = None) -> Generator:
    """Return a new ``Generator``."""
    return seed if isinstance(seed, Generator) else Generator(XORWOW(seed))


def seed(seed: Any = None) -> None:
    """Reseed the module's generator."""
    _state._twin.seed(seed)


def get_random_state() -> RandomState:
    """Return the module's generator."""
    return _state


def set_random_state(rs: RandomState) -> None:
    """Replace the module's generator."""
    global _state
    if not isinstance(rs, RandomState):
        raise TypeError(f"Random state must be an instance of RandomState. Actual: {type(rs)}")
    _state = rs


_state = RandomState()


def _method(twin: Any, name: str, spec: dict[str, Any]) -> Callable[..., Any]:
    """Return one sampler. Where NumPy's has no ``dtype``, the result is cast to it."""
    check = checker(name, spec)
    legacy = isinstance(twin, numpy.random.RandomState)
    casts = legacy and name != "randint"

    def sample(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        if name in _REFUSED:
            _REFUSED[name](*args, **kwargs)
        if name in _CHOOSING or (name == "randint" and legacy):
            log_sync(f"random.{name}")
        # NumPy calls the first parameter of these by other names.
        keep = len(args) if spec["args"] or name in ("permutation", "shuffle", "seed") else 0
        kwargs.update(zip(spec["positional"][keep:], args[keep:]))
        positional = tuple(map(unwrap, args[:keep]))
        dtype = kwargs.pop("dtype", None) if casts else None
        named = {key: unwrap(value) for key, value in kwargs.items()}
        result = getattr(twin, name)(*positional, **named)
        return wrap_result(result) if dtype is None else wrap(numpy.asarray(result).astype(dtype))

    return sample


def _module_function(name: str) -> Callable[..., Any]:
    spec = names("cupy.random")[name]

    def sample(*args: Any, **kwargs: Any) -> Any:
        return _method(_state._twin, name, spec)(*args, **kwargs)

    sample.__name__ = name
    return sample


_OWN: dict[str, Any] = {
    name: _module_function(name)
    for name, entry in names("cupy.random").items()
    if entry["kind"] == "function" and hasattr(numpy.random.RandomState, name)
}
_OWN.update(MRG32k3a=XORWOW, Philox4x3210=XORWOW, BitGenerator=XORWOW, annotations=None)

__getattr__ = resolver("cupy.random", None, _OWN, globals())
