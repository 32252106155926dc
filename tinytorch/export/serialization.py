"""Files of exported programs: a zip archive of JSON and NumPy's arrays, without pickles."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy

from .. import dtypes
from ..checkpoint.archive import ZipArchive
from ..core.device import device as Device
from ..core.tensor import Tensor
from ..nn.parameter import Buffer, Parameter
from ..ops.create.factories import from_numpy
from .program import ExportedProgram
from .steps import TensorSlot, ProgramStep
from .tracing import ExportError, ModuleCalls, Size, map_refs

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
    with ZipArchive(f, "w") as archive:
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
        with ZipArchive(f) as archive:
            _check_archive(archive)
            return _Decoder(archive).program()
    except ExportError:
        raise
    except _MALFORMED as error:
        raise ExportError(f"export.load: the file is no exported program: {error}") from error


#: Errors of a file whose content has another form.
_MALFORMED = (
    zipfile.BadZipFile, AttributeError, EOFError, LookupError, NotImplementedError, OverflowError,
    RuntimeError, TypeError, ValueError, zlib.error,
)  # fmt: skip


def _check_archive(archive: zipfile.ZipFile) -> None:
    """Check that no member is compressed and that members do not overlap: neither can be larger."""
    members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("a member is compressed")
    file: Any = archive.fp
    size = file.seek(0, io.SEEK_END)
    if sum(member.file_size for member in members) > size:
        raise ValueError(f"the members are larger than the file of {size} bytes")


class _Decoder:
    """Reader of an archive: each slot must be defined before it is read.

    Args:
        archive: The archive, which has been checked.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._content = json.loads(archive.read("program.json"))
        self._slots: set[str] = set()
        self._dims: set[str] = set()

    def program(self) -> ExportedProgram:
        """Return the program."""
        content = self._content
        if content.get("version") != _VERSION:
            raise ExportError(
                f"export.load: expected version {_VERSION}, got {content.get('version')}"
            )
        tensors = {}
        for number, (name, kind) in enumerate(content["tensors"].items()):
            self._define(name)
            tensors[name] = _read_tensor(self._archive.read(f"tensors/{number}.npy"), *kind)
        inputs, shapes = [*map(TensorSlot, content["inputs"])], self._shapes(content["shapes"])
        if len(inputs) != len(shapes):
            raise ValueError(f"{len(inputs)} inputs with {len(shapes)} shapes")
        for slot in inputs:
            self._define(slot.name)
        self._dims = {name for shape, _ in shapes for n in shape for name in _terms(n)}
        steps = [self._step(*step) for step in content["steps"]]
        result = self._decode(content["result"])
        modules = {
            path: ModuleCalls(str(kind), int(count), self._decode(found))
            for path, (kind, count, found) in content["modules"].items()
        }
        return ExportedProgram(steps, inputs, shapes, tensors, result, modules)

    def _define(self, name: Any) -> None:
        if not isinstance(name, str) or name in self._slots:
            raise ValueError(f"slot {name!r} is defined twice, or is no text")
        self._slots.add(name)

    def _step(
        self, name: str, args: Any, options: Any, results: list[str], shapes: Any, module: Any
    ) -> ProgramStep:
        """Return a step, whose results are new slots, or slots that it changes in place."""
        passed = self._decode(args), self._decode(options)
        if not isinstance(passed[0], tuple) or not isinstance(passed[1], dict):
            raise TypeError(f"the arguments of {name!r} are no tuple and dict")
        changed: set[str] = set()
        map_refs(lambda x: changed.add(x.name) if isinstance(x, TensorSlot) else None, passed)
        for each in results:
            if each not in changed:
                self._define(each)
        made = self._shapes(shapes)
        if len(made) != len(results):
            raise ValueError(f"{name!r} has {len(results)} results with {len(made)} shapes")
        slots = [TensorSlot(each) for each in results]
        path, kind = map(str, module)
        return ProgramStep(name, *passed, slots, made, (path, kind))

    def _shapes(self, shapes: Any) -> list[tuple[tuple[int, ...], Any]]:
        found = [(_decode(shape), _dtype(name)) for shape, name in shapes]
        for shape, _ in found:
            if not isinstance(shape, tuple) or not all(isinstance(n, int) for n in shape):
                raise TypeError(f"expected a shape, got {shape!r}")
        return found

    def _decode(self, item: Any) -> Any:
        """Decode arguments, and check the slots and dynamic sizes in them."""
        found = _decode(item)
        map_refs(self._check, found)
        return found

    def _check(self, item: Any) -> None:
        if isinstance(item, TensorSlot) and item.name not in self._slots:
            raise ValueError(f"slot {item.name!r} is not defined before it is read")
        if not self._dims.issuperset(_terms(item)):
            raise ValueError(f"size {item!r} depends on no dynamic size of an input")


def _terms(size: Any) -> Sequence[str]:
    """Names of the dynamic dimensions in a size."""
    return [*(size.terms or ())] if isinstance(size, Size) else ()


def _kind(tensor: Tensor) -> str:
    """Kind of a tensor: ``"parameter"``, ``"frozen"``, ``"buffer"`` or ``"constant"``."""
    if isinstance(tensor, Parameter):
        return "parameter" if tensor.requires_grad else "frozen"
    return "buffer" if isinstance(tensor, Buffer) else "constant"


def _read_tensor(content: bytes, kind: str, dtype: str) -> Tensor:
    """Return the tensor of an array in NumPy's format, whose header is checked before."""
    file = io.BytesIO(content)
    version = numpy.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"an array is in version {version} of NumPy's format")
    shape, _, stored = numpy.lib.format.read_array_header_1_0(file)
    size = math.prod(shape) * stored.itemsize
    if min(shape, default=0) < 0 or stored.hasobject or size != len(content) - file.tell():
        raise ValueError(f"an array of {len(content)} bytes has the shape {shape} of {stored}")
    tensor: Any = from_numpy(numpy.load(io.BytesIO(content), allow_pickle=False))
    if dtype == "bfloat16":
        tensor = tensor.view(dtypes.bfloat16)
    if tensor.dtype != _dtype(dtype) or kind not in ("parameter", "frozen", "buffer", "constant"):
        raise ValueError(f"expected a tensor of {dtype} as {kind}, got {tensor.dtype}")
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
    if not all(isinstance(n, int) for n in (size, constant, *(terms or {}).values())):
        raise TypeError(f"expected numbers as a size, got {value!r}")
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
