"""ONNX files, checked while they are read: operators, names, sizes, external data.

Nothing in a file is executed or unpickled. The package ``onnx`` parses it.
"""

from __future__ import annotations

import math
import os
import stat
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from .. import dtypes
from . import layer_operators, recurrent_operators
from .operators import DTYPES, OPERATORS, T


#: Versions of ONNX's operator set that the functions in ``OPERATORS`` follow.
OPSETS = range(13, 29)
_LOADED = layer_operators, recurrent_operators  # they register their operators
#: Most bytes of one tensor.
_LARGEST = 1 << 40
_NARROW = dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16
#: Most nodes that the functions of a file make.
_MOST_NODES = 1_000_000


@dataclass
class Step:
    """Node of a graph.

    Attributes:
        operator: Name of the operator.
        name: Name of the node, for errors.
        inputs: Names of the inputs; empty for those left out.
        outputs: Names of the outputs; empty for unused ones.
        attributes: Keywords of the function.
        reads: Names that the node and the graphs in its attributes read.
        drops: Names that no later node reads, and that are no outputs.
    """

    operator: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    reads: set[str]
    drops: list[str] = field(default_factory=list)


@dataclass
class Graph:
    """Graph of a file.

    Attributes:
        name: Its name.
        inputs: Names of the inputs.
        outputs: Names of the outputs.
        tensors: Initializers and constants, by name; in a module their paths in it.
        constants: Names of those among them that are not trained.
        steps: The nodes in order.
    """

    name: str
    inputs: list[str]
    outputs: list[str]
    tensors: dict[str, Any] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)


def read(f: Any) -> Graph:
    """Read and check an ONNX file.

    Args:
        f: Path of the file, a binary file object, or bytes.

    Raises:
        ImportError: If the package ``onnx`` is not installed.
        ValueError: If the file is malformed or reads outside its folder.
        NotImplementedError: If an operator or a type is not supported.
    """
    onnx = import_onnx("onnx.load")
    folder, data = None, f
    if isinstance(f, (str, os.PathLike)):
        folder = os.path.dirname(os.path.abspath(os.fspath(f)))
        with open(f, "rb") as file:
            data = file.read()
    elif hasattr(f, "read"):
        data = f.read()
    model = onnx.ModelProto()
    try:
        model.ParseFromString(bytes(data))
    except Exception as error:  # protobuf's DecodeError, whose module differs between versions
        raise ValueError(f"onnx.load: the file is no ONNX model: {error}") from error
    _check_model(model)
    if model.functions:
        _check_functions(model)
        model = import_module("onnx.inliner").inline_local_functions(model)
    try:
        return _Reader(onnx, folder).graph(model.graph, set())
    except NotImplementedError:
        raise
    except (AttributeError, IndexError, OverflowError, RuntimeError, TypeError) as error:
        raise ValueError(f"onnx.load: the file is malformed: {error}") from error


def import_onnx(caller: str) -> Any:
    """Import the package ``onnx``; ImportError that says what to install, for ``caller``."""
    try:
        return import_module("onnx")
    except ImportError as error:
        raise ImportError(
            f"{caller} needs the package onnx, which the extra [onnx] installs"
        ) from error


def _check_model(model: Any) -> None:
    """Check that a file has a graph and a supported version of the operators."""
    if not model.HasField("graph"):
        raise ValueError("onnx.load: the file is no ONNX model: it has no graph")
    versions = [each.version for each in model.opset_import if each.domain in ("", "ai.onnx")]
    if not versions:
        raise ValueError("onnx.load: the file does not say the version of its operators")
    if versions[0] not in OPSETS:
        raise NotImplementedError(
            f"onnx.load: expected a file of opset {OPSETS.start} to {OPSETS.stop - 1}, got "
            f"{versions[0]}; onnx.version_converter converts between versions"
        )


def _check_functions(model: Any) -> None:
    """Check the number of nodes that the functions of a file stand for, before it is expanded."""
    bodies = {(each.domain, each.name): each.node for each in model.functions}
    counts: dict[tuple[str, str], int] = {}
    running: list[tuple[str, str]] = []

    def count(nodes: Any) -> int:
        total = 0
        for node in nodes:
            graphs = [each.g for each in node.attribute if each.HasField("g")]
            total += 1 + sum(count(graph.node) for graph in graphs)
            if (node.domain, node.op_type) in bodies:
                total += count_function((node.domain, node.op_type))
            if total > _MOST_NODES:
                raise ValueError(f"onnx.load: the functions make more than {_MOST_NODES} nodes")
        return total

    def count_function(key: tuple[str, str]) -> int:
        if key in running:
            raise ValueError(f"onnx.load: function {key[1]!r} calls itself")
        if key not in counts:
            running.append(key)
            counts[key] = count(bodies[key])
            running.pop()
        return counts[key]

    try:
        count(model.graph.node)
    except RecursionError:
        raise ValueError("onnx.load: functions are too deep inside each other") from None


class _Reader:
    """Conversion of a parsed file; ``folder`` is where external data may be."""

    def __init__(self, onnx: Any, folder: str | None) -> None:
        self.onnx, self.folder = onnx, folder

    def graph(self, proto: Any, outer: set[str]) -> Graph:
        """Return a graph; ``outer`` are the names that a graph around it defines."""
        if proto.sparse_initializer:
            raise NotImplementedError("onnx.load: sparse initializers are not supported")
        made = Graph(proto.name, [], [each.name for each in proto.output])
        for tensor in proto.initializer:
            _define(made.tensors, tensor.name, proto.name)
            made.tensors[tensor.name] = self.tensor(tensor)
        _check_texts(*(each.name for each in proto.input))
        for each in proto.input:
            if each.name not in made.tensors:
                made.inputs.append(each.name)
        if len(set(made.inputs)) < len(made.inputs):
            raise ValueError(f"onnx.load: graph {proto.name!r} has two inputs of one name")
        known = {*outer, *made.inputs, *made.tensors}
        for node in proto.node:
            self._add(made, node, known)
        for name in made.outputs:
            if name not in known:
                raise ValueError(f"onnx.load: output {name!r} of graph {proto.name!r} is undefined")
        _set_drops(made)
        return made

    def _add(self, made: Graph, node: Any, known: set[str]) -> None:
        """Add a node to a graph, as a constant if it is one; ``known`` gets its outputs."""
        _check_texts(node.name, node.op_type, node.domain, *node.input, *node.output)
        place = f"node {node.name or next(iter(node.output), '')!r}"
        for name in node.input:
            if name and name not in known:
                raise ValueError(
                    f"onnx.load: input {name!r} of {place} ({node.op_type}) is not defined before"
                )
        for name in filter(None, node.output):
            if name in known:
                raise ValueError(f"onnx.load: output {name!r} of {place} is defined twice")
            known.add(name)
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
            value = self._constant(node, place)
            made.tensors[node.output[0]] = value
            made.constants.add(node.output[0])
            return
        if node.domain not in ("", "ai.onnx") or node.op_type not in OPERATORS:
            domain = f"{node.domain}." if node.domain else ""
            raise NotImplementedError(
                f"onnx.load: operator {domain}{node.op_type} of {place} is not supported"
            )
        attributes = {each.name: self._attribute(each, known, place) for each in node.attribute}
        if len(attributes) < len(node.attribute):
            raise ValueError(f"onnx.load: {place} has two attributes of one name")
        reads = {*node.input}
        for value in attributes.values():
            if isinstance(value, Graph):
                reads |= {name for step in value.steps for name in step.reads} | {*value.outputs}
        made.steps.append(
            Step(node.op_type, node.name, [*node.input], [*node.output], attributes, reads)
        )

    def _constant(self, node: Any, place: str) -> Any:
        """Return the value of a node ``Constant`` as an array."""
        if len(node.attribute) != 1 or len(node.output) != 1:
            raise ValueError(f"onnx.load: expected one attribute and output of {place} (Constant)")
        (attribute,) = node.attribute
        value = self._attribute(attribute, set(), place)
        kinds = {"value_float": dtypes.float32, "value_floats": dtypes.float32,
                 "value_int": dtypes.int64, "value_ints": dtypes.int64}  # fmt: skip
        if attribute.name == "value":
            return value
        if attribute.name not in kinds:
            raise NotImplementedError(
                f"onnx.load: Constant with {attribute.name} of {place} is not supported"
            )
        return T.tensor(value, dtype=kinds[attribute.name]).numpy()

    def _attribute(self, attribute: Any, known: set[str], place: str) -> Any:
        """Return the value of an attribute: a number, text, list of these, array or graph."""
        kinds = self.onnx.AttributeProto
        if attribute.type == kinds.STRING:
            return attribute.s.decode()
        if attribute.type == kinds.STRINGS:
            return [each.decode() for each in attribute.strings]
        if attribute.type == kinds.TENSOR:
            return self.tensor(attribute.t)
        if attribute.type == kinds.GRAPH:
            return self.graph(attribute.g, known)
        simple = {kinds.INT: "i", kinds.FLOAT: "f", kinds.INTS: "ints", kinds.FLOATS: "floats"}
        if attribute.type not in simple:
            raise NotImplementedError(
                f"onnx.load: the type of attribute {attribute.name!r} of {place} is not supported"
            )
        value = getattr(attribute, simple[attribute.type])
        return value if isinstance(value, (int, float)) else list(value)

    # -- tensors -------------------------------------------------------------------------------

    def tensor(self, proto: Any) -> Any:
        """Return a tensor of a file as an array."""
        if proto.data_type not in DTYPES:
            raise NotImplementedError(
                f"onnx.load: tensor {proto.name!r} has the data type {proto.data_type}, which is "
                "not supported"
            )
        shape = tuple(proto.dims)
        dtype = DTYPES[proto.data_type]
        size = math.prod(shape) * dtype.itemsize
        if any(n < 0 for n in shape) or size > _LARGEST:
            raise ValueError(f"onnx.load: tensor {proto.name!r} has the sizes {list(shape)}")
        if proto.HasField("segment"):
            raise NotImplementedError(f"onnx.load: tensor {proto.name!r} is in segments")
        if proto.data_location == self.onnx.TensorProto.EXTERNAL:
            return _to_array(self._external(proto, size), shape, dtype)
        if proto.HasField("raw_data"):
            _check_size(proto.name, len(proto.raw_data), size)
            return _to_array(proto.raw_data, shape, dtype)
        try:
            _check_range(proto, dtype)
            return self.onnx.numpy_helper.to_array(proto).reshape(shape)
        except ValueError as error:
            raise ValueError(f"onnx.load: tensor {proto.name!r}: {error}") from error

    def _external(self, proto: Any, size: int) -> bytes:
        """Return the bytes of a tensor that are in another file of the folder."""
        entries = {each.key: each.value for each in proto.external_data}
        if self.folder is None:
            raise ValueError(
                f"onnx.load: tensor {proto.name!r} is in another file; load the model by its path"
            )
        path = self._external_path(proto.name, entries.get("location", ""))
        offset, length = (_read_number(proto.name, entries, key) for key in ("offset", "length"))
        _check_size(proto.name, size if length is None else length, size)
        # A symbolic link would lead out of the folder, a pipe would block.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | os.O_NONBLOCK)
        with open(number, "rb") as file:
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode):
                raise ValueError(f"onnx.load: tensor {proto.name!r}: {path} is no regular file")
            if (offset or 0) + size > status.st_size:
                raise ValueError(
                    f"onnx.load: tensor {proto.name!r} ends after {(offset or 0) + size} bytes of a"
                    f" file of {status.st_size}"
                )
            file.seek(offset or 0)
            return file.read(size)

    def _external_path(self, name: str, location: str) -> str:
        """Return the path of a file with external data, which must be in the model's folder."""
        folder = os.path.realpath(self.folder or "")
        parts = location.replace("\\", "/").split("/")
        outside = not location or os.path.isabs(location) or ".." in parts or "\0" in location
        path = os.path.join(folder, location)
        if outside or os.path.realpath(path) != os.path.normpath(path):
            raise ValueError(
                f"onnx.load: tensor {name!r}: expected external data in a file of the model's "
                f"folder, got {location!r}"
            )
        return path


def _set_drops(graph: Graph) -> None:
    """Set for each step the names that are not needed after it."""
    needed = {*graph.outputs, *graph.tensors}
    own = {*graph.inputs, *(name for step in graph.steps for name in step.outputs)}
    for step in reversed(graph.steps):
        step.drops = [name for name in {*step.reads, *step.outputs} & own if name not in needed]
        needed |= step.reads


def _check_texts(*names: Any) -> None:
    """Check that names are valid UTF-8; protobuf returns bytes for others."""
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"onnx.load: the name {name!r} is not in UTF-8")


def _define(space: dict[str, Any], name: str, graph: str) -> None:
    _check_texts(name)
    if not name or name in space:
        raise ValueError(f"onnx.load: graph {graph!r} has two initializers {name!r}, or no name")


def _to_array(data: bytes, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array of the bytes of a tensor."""
    if not data:
        return T.zeros(shape, dtype=dtype).numpy()
    return T.frombuffer(bytearray(data), dtype=dtype).reshape(shape).numpy()


def _check_range(proto: Any, dtype: Any) -> None:
    """Check that numbers in the field of int32 fit in a narrower dtype."""
    if not proto.int32_data or dtype.itemsize >= 4:
        return
    bounds = dtypes.iinfo(dtype) if dtype in _NARROW else None
    low, high = (bounds.min, bounds.max) if bounds else (0, 1 if dtype is dtypes.bool else 0xFFFF)
    if min(proto.int32_data) < low or max(proto.int32_data) > high:
        raise ValueError(f"a number is not from {low} to {high}")


def _check_size(name: str, found: int, expected: int) -> None:
    if found != expected:
        raise ValueError(
            f"onnx.load: tensor {name!r}: expected {expected} bytes for its sizes, got {found}"
        )


def _read_number(name: str, entries: dict[str, str], key: str) -> int | None:
    """Return the offset or length of external data, or None if it is left out."""
    text = entries.get(key)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"onnx.load: tensor {name!r}: expected a number as {key}, got {text!r}")
    return int(text)
