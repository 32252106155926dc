"""What CuPy does on a GPU, recorded once, and compared with the stand-in everywhere.

On a machine with a GPU, ``cd tests; python -m strictcupy.contract`` writes ``contract.json``: the
result or error of each line of ``contract_cases.txt``, the dtypes of every ufunc for every pair of
operands, and whether the host had to wait. The tests hold the stand-in to it.
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


def cases() -> list[str]:
    """Return the expressions to evaluate."""
    lines = (HERE / "contract_cases.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def operands(xp: Any, cupyx: Any, upload: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the names that the expressions use, their arrays made by ``upload``."""
    x = numpy.arange(6.0).reshape(2, 3)
    host = {
        "x": x, "f": x.astype("f4"), "h": x.astype("f2"), "n": x.astype("i4"), "b": x > 2,
        "u": x.astype("u1"), "c": (x + 1j).astype("F"), "m": x > 2, "r": numpy.array([True, False]),
        "j": numpy.array([0, 5, -7]), "v": numpy.arange(3.0), "z": numpy.zeros((0, 3)),
        "s": numpy.array(4.0), "A": numpy.eye(3) * 2 + 1, "S": numpy.ones((3, 3)),
    }  # fmt: skip
    return {
        **{name: upload(array) for name, array in host.items()},
        "xp": xp, "np": numpy, "special": cupyx.scipy.special, "copy": copy, "pickle": pickle,
        "assign": _assign, "at": _at,
    }  # fmt: skip


def _assign(array: Any, key: Any, value: Any) -> Any:
    array = array.copy()
    array[key] = value
    return array


def _at(ufunc: Any, array: Any, index: Any, value: Any) -> Any:
    array = array.copy()
    ufunc.at(array, index, value)
    return array


def outcome(expression: str, names: dict[str, Any]) -> Any:
    """Return the value of an expression, or its error, as plain data."""
    names = fresh(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return describe(eval(expression, names))
        except Exception as error:
            return {"error": type(error).__name__, "text": str(error)}


def fresh(names: dict[str, Any]) -> dict[str, Any]:
    """Return the operands with their arrays copied, since an expression may change them."""
    return {
        name: value.copy() if type(value).__name__ == "ndarray" and value.size else value
        for name, value in names.items()
    }


def describe(value: Any) -> Any:
    """Return type, dtype, shape and contents of a value as plain data."""
    kind = type(value)
    if kind.__name__ == "ndarray":
        where = "host" if kind is numpy.ndarray else "device"
        host = value if kind is numpy.ndarray else value.get()
        return {where: str(host.dtype), "shape": list(host.shape), "values": _plain(host)}
    if isinstance(value, (tuple, list)):
        return {kind.__name__: [describe(item) for item in value]}
    if isinstance(value, (bool, int, str, bytes)) or value is None:
        return {kind.__name__: str(value)}
    if isinstance(value, (float, complex)):
        return {kind.__name__: _plain(numpy.asarray(value))}
    if isinstance(value, numpy.dtype):
        return {"dtype": str(value)}
    return {"type": kind.__name__}


def _plain(host: Any) -> Any:
    """Return numbers as rounded text, which survives JSON with NaN and infinity in it."""
    if host.dtype.kind == "c":
        return [_plain(host.real), _plain(host.imag)]
    return [f"{float(item):.5g}" for item in host.ravel()] if host.dtype.kind in "biuf" else str(host)


def waits(expression: str, names: dict[str, Any], forbid: Callable[[], Any]) -> bool:
    """Whether the host waits for the device in an expression, on a real CuPy."""
    names = fresh(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with forbid():
                eval(expression, names)
        except Exception as error:
            return type(error).__name__ == "DeviceSynchronized"
    return False


def ufunc_dtypes(xp: Any, names: list[str]) -> dict[str, dict[str, str]]:
    """Return each ufunc's result dtypes for every dtype and every pair of operands.

    The arrays are empty: CuPy chooses the dtypes and then has nothing to compile or launch.
    """
    arrays = {char: xp.zeros(0, char) for char in CHARS}
    return {name: _dtypes_of(getattr(xp, name), {**arrays, **SCALARS}) for name in names}


def _dtypes_of(ufunc: Any, operands: dict[str, Any]) -> dict[str, str]:
    table = {}
    for key in itertools.product(operands, repeat=ufunc.nin):
        if any(name in CHARS for name in key):
            table[" ".join(key)] = _result_dtypes(ufunc, [operands[name] for name in key])
    return table


def _result_dtypes(ufunc: Any, args: list[Any]) -> str:
    try:
        result = ufunc(*args)
    except Exception as error:
        return type(error).__name__
    results = result if isinstance(result, tuple) else (result,)
    return "".join(each.dtype.char for each in results).replace("q", "l").replace("Q", "L")


def record() -> dict[str, Any]:
    """Run everything on a real CuPy with a GPU."""
    xp, cupyx = importlib.import_module("cupy"), importlib.import_module("cupyx")
    importlib.import_module("cupyx.scipy.special")
    names = operands(xp, cupyx, xp.asarray)
    manifest = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))
    entries = manifest["namespaces"]["cupy"]["names"]
    ufuncs = [name for name, entry in entries.items() if entry["kind"] == "ufunc"]
    results = {}
    for case in cases():
        result = outcome(case, names)
        waited = waits(case, names, lambda: cupyx.allow_synchronize(False))
        results[case] = {**result, "waits": waited}
    properties = xp.cuda.runtime.getDeviceProperties(0)
    return {
        "cupy": xp.__version__,
        "device": properties["name"].decode(),
        "cuda": xp.cuda.runtime.runtimeGetVersion(),
        "cases": results,
        "ufuncs": ufunc_dtypes(xp, ufuncs),
    }


def main() -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description="record what CuPy does on this machine's GPU")
    parser.add_argument("--output", type=Path, default=RECORD)
    output = parser.parse_args().output
    recorded = record()
    lines = [f"{json.dumps(case)}: {json.dumps(recorded['cases'][case])}" for case in cases()]
    tables = [f"{json.dumps(name)}: {json.dumps(t)}" for name, t in recorded["ufuncs"].items()]
    head = {key: recorded[key] for key in ("cupy", "device", "cuda")}
    text = json.dumps(head)[:-1] + ',\n"cases": {\n' + ",\n".join(lines)
    output.write_text(text + '\n},\n"ufuncs": {\n' + ",\n".join(tables) + "\n}}\n", encoding="utf-8")
    print(f"{output}: {len(lines)} cases on {recorded['device']}, CuPy {recorded['cupy']}")


if __name__ == "__main__":
    main()
