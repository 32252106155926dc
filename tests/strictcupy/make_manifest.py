"""Write ``manifest.json``: what a real CuPy has, accepts and refuses.

Run it with a Python that holds CuPy 14.x and CUDA's libraries; neither a driver nor a GPU is
needed, because signatures and refusals can be read from arrays laid over host memory::

    python -m venv cupy-environment
    cupy-environment/bin/pip install "cupy-cuda12x[ctk]==14.*" ml_dtypes scipy
    cupy-environment/bin/python tests/strictcupy/make_manifest.py
"""

from __future__ import annotations

import sys
from pathlib import Path

# A script's folder leads the import path; this one holds a ``random`` and a ``cuda``.
sys.path[:] = [path for path in sys.path if path != str(Path(__file__).resolve().parent)]

import argparse
import importlib
import inspect
import json
import re
import types
import warnings
from typing import Any

import cupy
import numpy

NAMESPACES = {
    "cupy": "numpy",
    "cupy.linalg": "numpy.linalg",
    "cupy.fft": "numpy.fft",
    "cupy.random": "numpy.random",
    "cupy.lib": "numpy.lib",
    "cupy.lib.stride_tricks": "numpy.lib.stride_tricks",
    "cupyx": "",
    "cupyx.scipy.special": "scipy.special",
}
DTYPES = "?bhilqBHILQefdFDgGOSUMm"
AT_DTYPES = "?bhilBHILefdFD"
HOST_VALUES: dict[str, Any] = {"int": 2, "float": 2.0, "list": [1, 2], "tuple": (1, 2)}
# Functions that touch files or global state, or whose arguments depend on each other.
UNPROBED = frozenset(
    """save savez savez_compressed savetxt load loadtxt genfromtxt fromfile clear_memo memoize fuse
    set_default_fft_backend set_allocator seed set_random_state who disp
    ravel_multi_index select piecewise""".split()
)
DRIVERLESS = (cupy.cuda.runtime.CUDARuntimeError, ImportError)


def main() -> None:
    """Introspect the installed CuPy and write the manifest beside this file."""
    parser = argparse.ArgumentParser(description="write the manifest of the installed CuPy")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("manifest.json"))
    output = parser.parse_args().output
    output.write_text(_one_line_per_entry(manifest()) + "\n", encoding="utf-8")
    print(f"{output}: CuPy {cupy.__version__}")


def manifest() -> dict[str, Any]:
    """Return everything the stand-in needs to know of the installed CuPy."""
    return {
        "cupy": cupy.__version__,
        "numpy": numpy.__version__,
        "namespaces": {name: _namespace(name, twin) for name, twin in NAMESPACES.items()},
        "ndarray": _class_members(cupy.ndarray, numpy.ndarray),
        "random.Generator": _class_members(_generator_class(), numpy.random.Generator),
        "random.RandomState": _class_members(cupy.random.RandomState, numpy.random.RandomState),
        "dtypes": {char: _dtype_outcome(char) for char in DTYPES},
        "cuda": sorted(_public(cupy.cuda)),
    }


def wrap_host_memory(array: Any) -> Any:
    """Return a CuPy array laid over the host memory of ``array``: metadata works, kernels fail."""
    memory = cupy.cuda.UnownedMemory(array.ctypes.data, array.nbytes, array, 0)
    pointer = cupy.cuda.MemoryPointer(memory, 0)
    return cupy.ndarray(array.shape, array.dtype, pointer, array.strides)


def _generator_class() -> type:
    return importlib.import_module("cupy.random._generator_api").Generator


def _public(module: Any) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def _namespace(name: str, twin_name: str) -> dict[str, Any]:
    module = importlib.import_module(name)
    twin = _import_or_none(twin_name)
    # Some names are resolved lazily and are not in dir(), such as cupy.random.Generator.
    lazy = {entry for entry in _public(twin) if hasattr(module, entry)} if twin else set()
    entries = {entry: _entry(module, twin, entry) for entry in sorted({*_public(module), *lazy})}
    missing = [] if twin is None else sorted(set(_public(twin)) - set(entries))
    return {"names": entries, "missing": missing}


def _import_or_none(name: str) -> types.ModuleType | None:
    try:
        return importlib.import_module(name) if name else None
    except ImportError:
        return None


def _entry(module: Any, twin: Any, name: str) -> dict[str, Any]:
    value = getattr(module, name)
    if twin is not None and value is getattr(twin, name, _entry):
        return {"kind": "numpy"}
    if isinstance(value, types.ModuleType):
        return {"kind": "module"}
    if isinstance(value, cupy.ufunc):
        return _ufunc(value)
    if isinstance(value, type):
        return {"kind": "class"}
    if callable(value):
        parameters = _parameters(value)
        refused = {} if name in UNPROBED else _rejected_types(value, parameters)
        own_name = getattr(value, "__name__", name)
        return {"kind": "function", "name": own_name, **parameters, "refused": refused}
    is_number = isinstance(value, (bool, int, float))
    return {"kind": "value", "value": repr(value) if is_number else None}


def _rejected_types(function: Any, parameters: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return, by required parameter, the host types on which CuPy raises, and the errors."""
    required = parameters["positional"][: parameters["required"]]
    table = {}
    for position, parameter in enumerate(required):
        rest = _rest_that_works(function, position, len(required))
        if rest is not None:
            table[parameter] = _rejected_kinds(function, position, rest)
    return {parameter: kinds for parameter, kinds in table.items() if kinds}


def _rest_that_works(function: Any, position: int, count: int) -> list[Any] | None:
    """Return other arguments with which a device array is no error; None: it takes no array."""
    for filler in (wrap_host_memory(numpy.ones((3, 3))), 1, (1, 0)):
        rest = [filler] * (count - 1)
        error = _refusal(function, position, rest, wrap_host_memory(numpy.ones((3, 3))))
        if error is None:
            return rest
    return None


def _rejected_kinds(function: Any, position: int, rest: list[Any]) -> dict[str, str]:
    errors = {
        kind: _refusal(function, position, rest, value) for kind, value in HOST_VALUES.items()
    }
    return {kind: error.__name__ for kind, error in errors.items() if error is not None}


def _refusal(
    function: Any, position: int, rest: list[Any], value: Any
) -> type[BaseException] | None:
    error = _outcome(function, *rest[:position], value, *rest[position:])
    return error if error in (AttributeError, TypeError) else None


def _parameters(function: Any) -> dict[str, Any]:
    try:
        signature = inspect.signature(function)
    except ValueError:
        return _parameters_from_doc(function.__doc__ or "")
    return _from_signature(signature)


def _from_signature(signature: inspect.Signature) -> dict[str, Any]:
    kinds = inspect.Parameter
    params = [p for p in signature.parameters.values() if p.name != "self"]
    positional = [p for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return {
        "positional": [p.name for p in positional],
        "keyword_only": [p.name for p in params if p.kind == kinds.KEYWORD_ONLY],
        "required": sum(p.default is kinds.empty for p in positional),
        "args": any(p.kind == kinds.VAR_POSITIONAL for p in params),
        "kwargs": any(p.kind == kinds.VAR_KEYWORD for p in params),
    }


def _parameters_from_doc(doc: str) -> dict[str, Any]:
    """Read ``Class.name(self, int axis=-1, *, out=None) -> type``, Cython's embedded signature."""
    match = re.match(r"[\w.]+\((.*?)\)(?:\s*->.*)?$", doc.split("\n")[0])
    if match is None:
        return {"unknown": True}
    words = [re.sub(r"^[\w.]+ (?=\w)", "", part.strip()) for part in match[1].split(",")]
    source = ", ".join(word for word in words if word and word != "self")
    scope: dict[str, Any] = {"bool": bool, "float": float, "int": int}
    exec(f"def probe({source}): pass", scope)
    return _from_signature(inspect.signature(scope["probe"]))


def _class_members(cls: type, twin: type) -> dict[str, Any]:
    methods, attributes = {}, []
    for name in _public(cls):
        value = getattr(cls, name)
        if callable(value):
            methods[name] = _parameters(value)
        else:
            attributes.append(name)
    dunders = [name for name in dir(cls) if name.startswith("__")]
    missing = sorted(set(dir(twin)) - set(methods) - set(attributes) - set(dunders))
    return {"methods": methods, "attributes": attributes, "dunders": dunders, "missing": missing}


def _dtype_outcome(char: str) -> str:
    try:
        cupy.ndarray((2,), numpy.dtype(char))
    except DRIVERLESS:
        return "accepted"
    except (ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def _ufunc(ufunc: Any) -> dict[str, Any]:
    return {
        "kind": "ufunc",
        "name": ufunc.name,
        "nin": ufunc.nin,
        "nout": ufunc.nout,
        "types": list(ufunc.types),
        "at": [char for char in AT_DTYPES if _reaches_the_device(ufunc, char)],
        "at_supported": _outcome(ufunc.at, *_ufunc_at_arguments("i")) is not NotImplementedError,
        "reduce": _outcome(ufunc.reduce, _host("f")) is not NotImplementedError,
        "accumulate": _outcome(ufunc.accumulate, _host("f")) is not NotImplementedError,
        "reduceat": _outcome(ufunc.reduceat, _host("f"), _host("l")) is not NotImplementedError,
    }


def _host(char: str) -> Any:
    return wrap_host_memory(numpy.zeros(3, char))


def _ufunc_at_arguments(char: str) -> tuple[Any, Any, Any]:
    return _host(char), _host("l"), _host(char)


def _reaches_the_device(ufunc: Any, char: str) -> bool:
    return _outcome(ufunc.at, *_ufunc_at_arguments(char)) is None


def _outcome(function: Any, *args: Any) -> type[BaseException] | None:
    """Return the type of the error, or None where only the missing device stopped the call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args)
        except DRIVERLESS:
            return None
        except Exception as error:
            return type(error)
    return None


def _one_line_per_entry(value: Any, depth: int = 0) -> str:
    """Write JSON in which each name of each namespace has a line of its own, so that diffs read."""
    if depth == 4 or not isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    lines = [
        f"{' ' * (depth + 1)}{json.dumps(key)}: {_one_line_per_entry(value[key], depth + 1)}"
        for key in sorted(value)
    ]
    return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"


if __name__ == "__main__":
    main()
