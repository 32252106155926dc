"""Files of exported programs: a zip archive of JSON and NumPy's arrays, without pickles."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy

from .. import dtypes
from ..core.device import device as Device
from ..core.tensor import Tensor
from ..nn.parameter import Buffer, Parameter
from ..ops.create.factories import from_numpy
from .program import ExportedProgram
from .steps import TensorSlot, ProgramStep
from .tracing import ExportError, ModuleCalls, Size

_VERSION = 2
_PLAIN = (bool, int, float, str, type(None))
_SLICE = "start", "stop", "step"


def save(ep: ExportedProgram, f: Any) -> None:
    """Write a program to a file that ``load`` reads: JSON and arrays, no code.

    Args:
        ep: The program.
        f: Path or binary file.

    Raises:
        ExportError: If an argument of an operation cannot be written.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tt.export.save(tt.export.export(tt.nn.Linear(2, 1), (tt.ones(1, 2),)), file)
        >>> program = tt.export.load(file)
        >>> program.module()(tt.ones(1, 2)).shape
        tinytorch.Size([1, 1])
    """
    with zipfile.ZipFile(f, "w") as archive:
        kinds = {}
        for number, (name, tensor) in enumerate(ep.tensors.items()):
            dtype = tensor.dtype
            array = (
                tensor.detach().view(dtypes.int16) if dtype is dtypes.bfloat16 else tensor.detach()
            )
            buffer = io.BytesIO()
            numpy.save(buffer, array.numpy(force=True), allow_pickle=False)
            archive.writestr(f"tensors/{number}.npy", buffer.getvalue())
            kinds[name] = [_kind(tensor), _dtype_name(dtype)]
        program = {
            "version": _VERSION,
            "inputs": [slot.name for slot in ep.inputs],
            "shapes": _encode_shapes(ep.shapes),
            "tensors": kinds,
            "steps": [
                [
                    s.operation,
                    _encode(s.args),
                    _encode(s.options),
                    [r.name for r in s.results],
                    _encode_shapes(s.shapes),
                    s.module,
                ]
                for s in ep.steps
            ],
            "result": _encode(ep.result),
            "modules": {
                path: [calls.kind, calls.count, _encode(calls.result)]
                for path, calls in ep.modules.items()
            },
        }
        archive.writestr("program.json", json.dumps(program))


def load(f: Any) -> ExportedProgram:
    """Read a program that ``save`` has written. Nothing in the file is executed or unpickled.

    Args:
        f: Path or binary file.

    Raises:
        ExportError: If the file is no program, or names an operation that does not exist.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tt.export.save(tt.export.export(tt.nn.ReLU(), (tt.ones(2),)), file)
        >>> tt.export.load(file)(tt.tensor([-1.0, 1.0]))
        tensor([0., 1.])
    """
    try:
        with zipfile.ZipFile(f) as archive:
            program = json.loads(archive.read("program.json"))
            tensors = {
                name: _read_tensor(archive.read(f"tensors/{number}.npy"), *kind)
                for number, (name, kind) in enumerate(program["tensors"].items())
            }
    except (zipfile.BadZipFile, KeyError, ValueError, UnicodeDecodeError) as error:
        raise ExportError(f"export.load: the file is no exported program: {error}") from error
    if program.get("version") != _VERSION:
        raise ExportError(f"export.load: expected version {_VERSION}, got {program.get('version')}")
    steps = [
        ProgramStep(
            name, _decode(args), _decode(options), [TensorSlot(each) for each in results],
            _decode_shapes(shapes), module,
        )
        for name, args, options, results, shapes, module in program["steps"]
    ]  # fmt: skip
    inputs, shapes = map(TensorSlot, program["inputs"]), _decode_shapes(program["shapes"])
    modules = {
        path: ModuleCalls(kind, count, _decode(result))
        for path, (kind, count, result) in program["modules"].items()
    }
    result = _decode(program["result"])
    return ExportedProgram(steps, [*inputs], shapes, tensors, result, modules)


def _kind(tensor: Tensor) -> str:
    """Kind of a tensor: ``"parameter"``, ``"frozen"``, ``"buffer"`` or ``"constant"``."""
    if isinstance(tensor, Parameter):
        return "parameter" if tensor.requires_grad else "frozen"
    return "buffer" if isinstance(tensor, Buffer) else "constant"


def _read_tensor(content: bytes, kind: str, dtype: str) -> Tensor:
    array = numpy.load(io.BytesIO(content), allow_pickle=False)
    tensor: Any = from_numpy(array)
    if dtype == "bfloat16":
        tensor = tensor.view(dtypes.bfloat16)
    if kind in ("parameter", "frozen"):
        return Parameter(tensor, requires_grad=kind == "parameter")
    return Buffer(tensor) if kind == "buffer" else tensor


def _dtype_name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def _dtype(name: str) -> Any:
    found = getattr(dtypes, name, None)
    if not isinstance(found, dtypes.dtype):
        raise ExportError(f"export.load: there is no dtype {name!r}")
    return found


def _encode_shapes(shapes: Any) -> list[Any]:
    return [[_encode(shape), _dtype_name(dtype)] for shape, dtype in shapes]


def _decode_shapes(shapes: Any) -> list[tuple[tuple[int, ...], Any]]:
    return [(_decode(shape), _dtype(name)) for shape, name in shapes]


def _encode(item: Any) -> Any:
    """Turn an argument into what JSON has: lists are lists, all else is a dict with one key."""
    if isinstance(item, TensorSlot):
        return {"slot": item.name}
    if isinstance(item, Size):
        return {"size": [int(item), item.constant, item.terms]}
    if isinstance(item, list):
        return [_encode(each) for each in item]
    if isinstance(item, tuple):
        return {"tuple": [_encode(each) for each in item]}
    if isinstance(item, dict):
        return {"dict": {key: _encode(value) for key, value in item.items()}}
    if isinstance(item, slice):
        return {"slice": [_encode(getattr(item, part)) for part in _SLICE]}
    if item is Ellipsis:
        return {"ellipsis": None}
    if isinstance(item, dtypes.dtype):
        return {"dtype": _dtype_name(item)}
    if isinstance(item, Device):
        return {"device": str(item)}
    if isinstance(item, complex):
        return {"complex": [item.real, item.imag]}
    if isinstance(item, _PLAIN):
        return item
    raise ExportError(f"export.save: an argument of type {type(item).__name__} cannot be written")


def _decode(item: Any) -> Any:
    """Undo ``_encode``."""
    if isinstance(item, list):
        return [_decode(each) for each in item]
    if not isinstance(item, dict):
        return item
    ((kind, value),) = item.items()
    if kind not in _DECODERS:
        raise ExportError(f"export.load: unknown kind of argument {kind!r}")
    return _DECODERS[kind](value)


def _decode_size(value: Any) -> Size:
    size, constant, terms = value
    return Size.make(size, constant, terms)


_DECODERS: dict[str, Any] = {
    "slot": TensorSlot,
    "size": _decode_size,
    "tuple": lambda value: tuple(_decode(value)),
    "dict": lambda value: {key: _decode(each) for key, each in value.items()},
    "slice": lambda value: slice(*_decode(value)),
    "ellipsis": lambda value: Ellipsis,
    "dtype": _dtype,
    "device": Device,
    "complex": lambda value: complex(*value),
}
