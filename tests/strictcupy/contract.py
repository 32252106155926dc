"""Record of a real CuPy's behavior, which the stand-in must reproduce.

Where CuPy is installed, ``cd tests; python -m strictcupy.contract`` writes ``contract.json``: the
result or error of each line of ``contract_cases.txt`` and the dtypes that each ufunc chooses. With
a GPU it records every line, and whether the host had to wait. Without one the arrays lie over host
memory, and the lines that reach the device are left out; a record with a GPU is not replaced by one
without. The tests hold the stand-in to the record on machines that have no CuPy.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import itertools
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

HERE = Path(__file__).parent
RECORD = HERE / "contract.json"
SCALARS: dict[str, Any] = {"bool": True, "int": 2, "float": 2.5, "complex": 2j}
CHARS = "?bBhHiIlLefdFD"
Outcome = dict[str, Any]
#: What uses some of the names that an expression may use.
Program = Callable[[dict[str, Any]], Any]


def cases() -> list[str]:
    """Return the expressions to evaluate."""
    lines = (HERE / "contract_cases.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def host_operands() -> dict[str, Any]:
    """Return the arrays of the expressions, on the host."""
    x = numpy.arange(6.0).reshape(2, 3)
    return {
        "x": x, "f": x.astype("f4"), "h": x.astype("f2"), "n": x.astype("i4"), "b": x > 2,
        "u": x.astype("u1"), "c": (x + 1j).astype("F"), "m": x > 2, "r": numpy.array([True, False]),
        "j": numpy.array([0, 5, -7]), "v": numpy.arange(3.0), "z": numpy.zeros((0, 3)),
        "s": numpy.array(4.0), "A": numpy.eye(3) * 2 + 1, "S": numpy.ones((3, 3)),
    }  # fmt: skip


def _assign(array: Any, key: Any, value: Any) -> Any:
    array[key] = value
    return array


def _ufunc_at(ufunc: Any, array: Any, index: Any, value: Any) -> Any:
    ufunc.at(array, index, value)
    return array


class Library:
    """CuPy, or the stand-in: evaluates expressions, each on operands of its own."""

    def __init__(self, xp: Any, cupyx: Any, upload: Callable[[Any], Any]) -> None:
        self.xp, self.cupyx, self.upload = xp, cupyx, upload

    def names(self) -> dict[str, Any]:
        """Return what an expression may use, the arrays fresh, since it may change them."""
        return {
            **{name: self.upload(array) for name, array in host_operands().items()},
            "xp": self.xp, "np": numpy, "special": self.cupyx.scipy.special, "copy": copy,
            "pickle": pickle, "assign": _assign, "at": _ufunc_at,
        }  # fmt: skip

    def evaluate(self, expression: str) -> Outcome:
        """Return the value of an expression, or its error, as plain data."""
        names = self.names()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return describe(eval(expression, names))
            except Exception as error:
                return {"error": type(error).__name__, "text": str(error)}

    def run(self, expression: str | Program, names: dict[str, Any]) -> str | None:
        """Evaluate an expression for its effects and return the name of its error."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expression(names) if callable(expression) else eval(expression, names)
            except Exception as error:
                return type(error).__name__
        return None

    def waits(self, expression: str | Program) -> bool:
        """Whether the host waits for the device in an expression; for a CuPy with a GPU."""
        names = self.names()
        with self.cupyx.allow_synchronize(False):
            return self.run(expression, names) == "DeviceSynchronized"


def describe(value: Any) -> Outcome:
    """Return type, dtype, shape and contents of a value as plain data."""
    kind = type(value)
    if kind.__name__ == "ndarray":
        where = "host" if kind is numpy.ndarray else "device"
        host = value if kind is numpy.ndarray else _contents(value)
        return {where: str(host.dtype), "shape": list(host.shape), "values": _plain(host)}
    if isinstance(value, (tuple, list)):
        return {kind.__name__: [describe(item) for item in value]}
    if isinstance(value, (bool, int, str, bytes)) or value is None:
        return {kind.__name__: str(value)}
    if isinstance(value, (float, complex)):
        return {kind.__name__: _plain(numpy.asarray(value))}
    return {"dtype": str(value)} if isinstance(value, numpy.dtype) else {"type": kind.__name__}


def _contents(array: Any) -> Any:
    """Return a device array's contents, through its pointer where it lies over host memory."""
    owner = getattr(array.data.mem, "_owner", None)
    if not isinstance(owner, numpy.ndarray):
        return array.get()
    interface = {
        "data": (array.data.ptr, False), "shape": array.shape, "strides": array.strides,
        "typestr": array.dtype.str, "version": 3,
    }  # fmt: skip
    return numpy.asarray(type("Host", (), {"__array_interface__": interface, "owner": owner})())


def _plain(host: Any) -> Any:
    """Return numbers as rounded text, which survives JSON with NaN and infinity in it."""
    if host.dtype.kind == "c":
        return [_plain(host.real), _plain(host.imag)]
    return [_text(float(item)) for item in host.ravel()] if host.dtype.kind in "biuf" else ""


def _text(number: float) -> str:
    """Five digits; what is 0 but for rounding, as sine of pi, is 0 in one library alone."""
    return f"{0.0 if abs(number) < 1e-15 else number:.5g}"


# Ufuncs


def ufunc_dtypes(names: list[str], result_dtypes: Callable[[str, tuple[str, ...]], str]) -> Any:
    """Return for each ufunc ``{result dtypes or error: operands that give them}``."""
    return {name: _table(name, result_dtypes) for name in names}


def _table(name: str, result_dtypes: Callable[[str, tuple[str, ...]], str]) -> dict[str, str]:
    table: dict[str, list[str]] = {}
    for key in itertools.product((*CHARS, *SCALARS), repeat=_entries()[name]["nin"]):
        if any(operand in CHARS for operand in key):
            table.setdefault(result_dtypes(name, key), []).append(",".join(key))
    return {result: " ".join(keys) for result, keys in sorted(table.items())}


def _entries() -> dict[str, Any]:
    manifest = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))
    entries: dict[str, Any] = manifest["namespaces"]["cupy"]["names"]
    return entries


def ufunc_names() -> list[str]:
    """Return CuPy's ufuncs."""
    return [name for name, entry in _entries().items() if entry["kind"] == "ufunc"]


def dtypes_by_calling(xp: Any) -> Callable[[str, tuple[str, ...]], str]:
    """Return a function that calls a ufunc on empty arrays, for which nothing is computed."""
    operands = {**{char: xp.zeros(0, char) for char in CHARS}, **SCALARS}

    def result_dtypes(name: str, key: tuple[str, ...]) -> str:
        try:
            result = getattr(xp, name)(*[operands[operand] for operand in key])
        except Exception as error:
            return type(error).__name__
        return _chars(each.dtype for each in (result if isinstance(result, tuple) else (result,)))

    return result_dtypes


def dtypes_by_asking(cupy: Any) -> Callable[[str, tuple[str, ...]], str]:
    """Return a function that asks CuPy's ufunc for its loop, which needs no device."""
    from .make_manifest import wrap_host_memory

    scalar = importlib.import_module("cupy._core._scalar").CScalar
    operands = {char: wrap_host_memory(numpy.zeros(1, char)) for char in CHARS}
    operands.update({name: scalar(value) for name, value in SCALARS.items()})

    def result_dtypes(name: str, key: tuple[str, ...]) -> str:
        ufunc, args = getattr(cupy, name), [operands[operand] for operand in key]
        try:
            op = ufunc._ops.guess_routine(ufunc.name, {}, args, None, None)
            return _chars(op.resolve_dtypes(args, [None] * ufunc.nout)[1])
        except Exception as error:
            return type(error).__name__

    return result_dtypes


def _chars(dtypes: Any) -> str:
    return "".join(dtype.char for dtype in dtypes).replace("q", "l").replace("Q", "L")


# A real CuPy


def real_library() -> Library:
    """Return the CuPy installed here, on its GPU or over host memory."""
    from .make_manifest import wrap_host_memory

    cupy, cupyx = importlib.import_module("cupy"), importlib.import_module("cupyx")
    importlib.import_module("cupyx.scipy.special")
    return Library(cupy, cupyx, cupy.asarray if cupy.is_available() else wrap_host_memory)


def reached_the_device(outcome: Outcome) -> bool:
    """Whether only the missing driver or its libraries stopped an expression."""
    return outcome.get("error") in (
        "CUDARuntimeError", "CURANDError", "DynamicLibNotFoundError", "ImportError",
    )  # fmt: skip


def record() -> dict[str, Any]:
    """Return what the installed CuPy does."""
    library = real_library()
    on_gpu = library.xp.is_available()
    outcomes = {}
    for case in cases():
        outcome = library.evaluate(case)
        if on_gpu:
            outcome["waits"] = library.waits(case)
        if not reached_the_device(outcome):
            outcomes[case] = outcome
    ask = dtypes_by_calling if on_gpu else dtypes_by_asking
    return {
        "cupy": library.xp.__version__,
        "device": _device_name(library.xp) if on_gpu else None,
        "cases": outcomes,
        "ufuncs": ufunc_dtypes(ufunc_names(), ask(library.xp)),
    }


def _device_name(cupy: Any) -> str:
    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def _one_line_per_entry(recorded: dict[str, Any]) -> str:
    sections = []
    for name in ("cases", "ufuncs"):
        lines = [f"{json.dumps(key)}: {json.dumps(recorded[name][key])}" for key in recorded[name]]
        sections.append(f'"{name}": {{\n' + ",\n".join(lines) + "\n}")
    head = [f"{json.dumps(key)}: {json.dumps(recorded[key])}" for key in ("cupy", "device")]
    return "{\n" + ",\n".join([*head, *sections]) + "\n}\n"


def main() -> None:
    """Write the record, unless a better one is there."""
    parser = argparse.ArgumentParser(description="record what the installed CuPy does")
    parser.add_argument("--output", type=Path, default=RECORD)
    output = parser.parse_args().output
    recorded = record()
    if recorded["device"] is None and output.exists():
        if json.loads(output.read_text(encoding="utf-8"))["device"] is not None:
            raise SystemExit(f"{output} was recorded on a GPU; there is none here")
    output.write_text(_one_line_per_entry(recorded), encoding="utf-8")
    print(f"{output}: {len(recorded['cases'])} of {len(cases())} cases, CuPy {recorded['cupy']}")


if __name__ == "__main__":
    main()
