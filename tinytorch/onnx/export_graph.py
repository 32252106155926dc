"""The ONNX graph under construction: names of values, constants, computed sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..export.tracing import ExportError, Ref, Size


class GraphWriter:
    """Builder of an ONNX graph.

    Args:
        onnx: The package ``onnx``.
        opset: Version of the operator set.

    Attributes:
        nodes, initializers: What the graph has so far.
        call: The call that is exported, for errors.
        origins: The calls by the names of their nodes.
        dims: For each named dimension an input and the number of its dimension with that size.
    """

    def __init__(self, onnx: Any, opset: int) -> None:
        self.onnx: Any = onnx
        self.opset: int = opset
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.dims: dict[str, tuple[str, int]] = {}
        self.call: Any = None
        self.origins: dict[str, Any] = {}
        self._names: dict[Any, str] = {}
        self._constants: dict[Any, str] = {}
        self._used: set[str] = set()

    # -- names ------------------------------------------------------------------------------

    def bind(self, ref: Ref, name: str) -> None:
        """Give a tensor a name."""
        self._names[ref.value] = name

    def find(self, ref: Ref) -> str | None:
        """Return the name of a tensor; None if the graph has not computed it."""
        return self._names.get(ref.value)

    def unique(self, name: str) -> str:
        """Return ``name``, with a number if it is taken."""
        found, count = name, 1
        while found in self._used:
            found, count = f"{name}_{count}", count + 1
        self._used.add(found)
        return found

    # -- nodes ------------------------------------------------------------------------------

    def add(self, operator: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; return the name of its output, or a list of names.

        Inputs are names, tensors of the trace, NumPy arrays, or None for one that is left out.
        """
        for key, value in attributes.items():
            self._check_attribute(operator, key, value)
        names = [self.name(each) for each in inputs]
        made = [self.unique(operator.lower()) for _ in range(outputs)]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        node = self.onnx.helper.make_node(operator, names, made, name=made[0], **attributes)
        self.nodes.append(node)
        self.origins[node.name] = self.call
        return made[0] if outputs == 1 else made

    def name(self, item: Any) -> str:
        """Return the name of an input of a node."""
        if item is None:
            return ""
        if isinstance(item, str):
            return item
        if isinstance(item, Ref):
            return self.tensor(item)
        return self.constant(item)

    def tensor(self, ref: Ref) -> str:
        """Return the name of a tensor that is an input, a constant or the result of a call."""
        found = self.find(ref)
        if found is None:
            raise self.error("reads a tensor that was changed or computed outside of operations")
        return found

    def constant(self, array: Any, name: str = "constant") -> str:
        """Return the name of an array of the graph."""
        array = numpy.asarray(array, order="C")
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size < 64 else None
        if key is None or key not in self._constants:
            made = self.unique(name)
            self.initializers.append(self.onnx.numpy_helper.from_array(array, made))
            self._constants[key or made] = made
            return made
        return self._constants[key]

    def _check_attribute(self, operator: str, key: str, value: Any) -> None:
        items = value if isinstance(value, (tuple, list)) else [value]
        if any(isinstance(item, Size) for item in items):
            raise self.error(f"needs the fixed number {key} of ONNX's {operator}, got {value}")

    def error(self, text: str) -> ExportError:
        """Return an error that names the operation and its line."""
        return ExportError(f"{self.call.public_name!r} at {self.call.line} {text}")

    # -- sizes ------------------------------------------------------------------------------

    def sizes(self, sizes: Sequence[int]) -> str:
        """Return the name of an int64 tensor of the sizes, computed if they depend on inputs."""
        if not any(isinstance(size, Size) for size in sizes):
            return self.constant(numpy.array(sizes, "int64"))
        return str(self.add("Concat", *[self.size(size) for size in sizes], axis=0))

    def shape_of(self, ref: Ref) -> str:
        """Return the name of an int64 tensor of the sizes of a tensor, whatever they depend on."""
        if any(isinstance(size, Size) for size in ref.shape):
            return str(self.add("Shape", ref))
        return self.sizes(ref.shape)

    def size(self, size: int) -> str:
        """Return the name of an int64 tensor of one element."""
        if not isinstance(size, Size):
            return self.constant(numpy.array([size], "int64"))
        if size.terms is None:
            raise self.error(
                "has a size that is no sum of multiples of the dynamic sizes of the inputs"
            )
        total = None
        for name, factor in size.terms.items():
            source, axis = self.dims[name]
            part = self.add("Shape", source, start=axis, end=axis + 1)
            if factor != 1:
                part = self.add("Mul", part, numpy.array([factor], "int64"))
            total = part if total is None else self.add("Add", total, part)
        if size.constant:
            total = self.add("Add", total, numpy.array([size.constant], "int64"))
        return str(total)

    def scalar_size(self, size: int) -> str:
        """Return the name of a 0-d int64 tensor."""
        if not isinstance(size, Size):
            return self.constant(numpy.array(size, "int64"))
        return str(self.add("Squeeze", self.size(size)))

    # -- dtypes -----------------------------------------------------------------------------

    def type_of(self, dtype: Any) -> int:
        """Return ONNX's number of a dtype of NumPy's."""
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)))

    def cast(self, item: Any, dtype: Any) -> Any:
        """Return an operand in a dtype: a tensor, a name, or a Python scalar as a constant."""
        if isinstance(item, Ref):
            return item if item.dtype == dtype else self.add("Cast", item, to=self.type_of(dtype))
        if isinstance(item, str):
            return self.add("Cast", item, to=self.type_of(dtype))
        if isinstance(item, Size):
            return self.add("Cast", self.scalar_size(item), to=self.type_of(dtype))
        return numpy.array(item, dtype)
