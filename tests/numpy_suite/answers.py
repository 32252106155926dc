"""Module that NumPy's tests import as NumPy: ``tinytorch.numpy`` and assertions for its arrays.

A missing name is an object that raises when it is used, and while a file is imported NumPy's own
function is called where ours raises, so that a call outside the tests fails only those that need
its result. The tables of dtypes that tests iterate over lack those that are set apart.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy
import numpy.testing

import tinytorch.numpy

#: Types of what is set apart: tests name them in lists beside others.
_KINDS = """bytes_ character clongdouble datetime64 flexible longdouble matrix memmap object_
recarray record str_ timedelta64 void""".split()

#: Private functions that tests take as tools.
_TOOLS = {"normalize_axis_tuple": numpy.lib.array_utils.normalize_axis_tuple}
#: The dtypes that there are.
CHARACTERS = "?bhilqpBHILQPefdFD"
#: Whether files are imported, and no test runs yet.
collecting = True


class Missing:
    """A name that ``tinytorch.numpy`` does not have."""

    def __init__(self, name: str, why: str = "") -> None:
        self._name, self._why = name, why

    def _fail(self, *_args: Any, **_options: Any) -> Any:
        raise AttributeError(f"missing: {self._name} {self._why}")

    __call__ = __getitem__ = __iter__ = _fail

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._name}.{name}", self._why)


class Answers(ModuleType):
    """A module that gives what one of the dialect's has, and ``Missing`` for what it has not."""

    def __init__(self, name: str, source: Any, numpys: Any) -> None:
        super().__init__(name)
        self._source, self._numpys = source, numpys
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if hasattr(self._source, name):
            value = getattr(self._source, name)
            is_function = isinstance(value, FunctionType)
            return lenient(value, getattr(self._numpys, name, None)) if is_function else value
        if name in ("__config__", *_KINDS):
            return getattr(numpy, name)
        if name in _TOOLS:
            return _TOOLS[name]
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(name, _why(self._source, name))


def _why(source: Any, name: str) -> str:
    """Text of the AttributeError for a name that a module lacks."""
    try:
        getattr(source, name)
    except AttributeError as error:
        return str(error)
    return ""


@functools.cache
def lenient(function: Any, numpys: Any) -> Any:
    """Wrap a function to call NumPy's instead if it raises while a file is imported."""
    if numpys is None:
        return function

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except (TypeError, ValueError, OverflowError, RuntimeError, AttributeError):
            if not collecting:
                raise
            return numpys(*plain(args), **plain(options))

    return call


def _lenient_ufunc_call(function: Any) -> Any:
    """``lenient`` for the ufuncs, all of which are called by one method."""

    def call(ufunc: Any, *args: Any, **options: Any) -> Any:
        try:
            return function(ufunc, *args, **options)
        except (TypeError, ValueError, AttributeError):
            if not collecting:
                raise
            return getattr(numpy, ufunc.__name__)(*plain(args), **plain(options))

    return call


def _tables() -> dict[str, Any]:
    """NumPy's tables of dtypes without those that are set apart, and of its ufuncs."""
    kinds = numpy._core.sctypes.items()  # type: ignore[attr-defined]
    types = {kind: [t for t in found if numpy.dtype(t).char in CHARACTERS] for kind, found in kinds}
    codes = {
        name: "".join(c for c in found if c in CHARACTERS)
        for name, found in numpy.typecodes.items()
    }
    return {"sctypes": types, "typecodes": codes}


def _ufuncs() -> dict[str, Any]:
    np = tinytorch.numpy
    return {
        name: getattr(np, name)
        for name in dir(numpy)
        if isinstance(getattr(numpy, name), numpy.ufunc) and hasattr(np, name)
    }


def _numbers() -> dict[str, Any]:
    own = vars(numpy._core.umath)  # type: ignore[attr-defined]
    return {name: value for name, value in own.items() if type(value) in (int, float)}


def plain(value: Any) -> Any:
    """A value with NumPy's own arrays and numbers for ours."""
    if isinstance(value, tinytorch.numpy.ndarray):
        return numpy.asarray(value.detach())[()]
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if type(value) is dict:
        return {key: plain(part) for key, part in value.items()}
    return value


def asserting(function: Callable[..., Any]) -> Callable[..., Any]:
    """One of NumPy's assertions, for our arrays."""

    @functools.wraps(function)
    def call_plain(*args: Any, **options: Any) -> Any:
        return function(*plain(args), **plain(options))

    return call_plain


def _assertions() -> ModuleType:
    made = ModuleType("answered.testing")
    for name in dir(numpy.testing):
        value = getattr(numpy.testing, name)
        compares = name.startswith("assert_") and not any(
            word in name for word in ("raises", "warns", "warnings", "cycles")
        )
        setattr(made, name, asserting(value) if compares and name != "assert_" else value)
    return made


#: Modules of NumPy's that are answered by one of the dialect's.
PARTS = (
    "linalg", "fft", "random", "polynomial", "exceptions", "lib", "lib.stride_tricks",
    *(
        f"polynomial.{name}" for name in (
            "polyutils", "polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre",
        )
    ),
)  # fmt: skip


def _resolve(module: Any, part: str) -> Any:
    for name in part.split(".") if part else ():
        module = getattr(module, name, None)
    return module


def install() -> None:
    """Make ``answered`` and what is below it importable."""
    np, modules = tinytorch.numpy, sys.modules
    top = modules["answered"] = Answers("answered", np, numpy)
    for part in PARTS:
        made = Answers(f"answered.{part}", _resolve(np, part), _resolve(numpy, part))
        modules[made.__name__] = made
        setattr(_resolve(top, part.rpartition(".")[0]), part.rpartition(".")[2], made)
    core = modules["answered._core"] = Answers("answered._core", np, numpy)
    for name, table in _tables().items():
        setattr(top, name, table)
        setattr(core, name, table)
    core.umath = top.umath = modules["answered.umath"] = Answers("answered.umath", np, numpy)
    core.umath.__dict__.update(_ufuncs() | _numbers())
    top._core, top.numerictypes, core.numerictypes = core, top, top
    modules["answered.testing"] = top.testing = _assertions()
    np.ufunc.__call__ = _lenient_ufunc_call(np.ufunc.__call__)  # type: ignore[method-assign]
    for name in ("astype", "view"):
        method = lenient(getattr(np.ndarray, name), getattr(numpy.ndarray, name))
        setattr(np.ndarray, name, method)
