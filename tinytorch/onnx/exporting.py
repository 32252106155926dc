"""``onnx.export``: writes a model as an ONNX file at the level of operations."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy

from ..core.tensor import Tensor
from ..nn.module import Module
from ..ops.create.factories import from_numpy
from ..utils.summary import use_mode
from . import export_layers as export_layers  # registers its rules
from . import export_tensor_rules as export_tensor_rules  # registers its rules
from .export_graph import GraphWriter
from .export_rules import RULES
from .reading import import_onnx
from .custom_operators import OnnxExporterError
from ..capture.trees import tensors_in
from ..export.dynamic import dynamic_dims, trace_sizes
from ..export.tracing import (
    OperationCall,
    ExportError,
    Ref,
    Size,
    Trace,
    depends_on_arguments,
    map_refs,
)

#: The version of ONNX's operators that is written unless another is asked for.
OPSET = 18
#: Versions of the operators that the rules know.
_OPSETS = range(17, 24)
#: Arguments of PyTorch's that have no effect here.
_WITHOUT_EFFECT = frozenset(
    "verbose dynamo external_data report optimize profile dump_exported_program artifacts_dir "
    "fallback do_constant_folding autograd_inlining operator_export_type training "
    "keep_initializers_as_inputs export_modules_as_functions".split()
)


def export(
    model: Callable[..., Any], args: Any = (), f: Any = None, *,
    kwargs: Mapping[str, Any] | None = None, input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None, opset_version: int | None = None,
    dynamic_shapes: Any = None, dynamic_axes: Any = None, export_params: bool = True,
    verify: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """Write a model as an ONNX model, with one node or a few for each operation.

    The model runs on ``args``, without gradients, and what it does is written; its sizes are fixed
    but for those named as dynamic. For these it also runs on inputs of other sizes, and each size
    in its operations must be a sum of multiples of them. Parameters and buffers become
    initializers with the names of the state dict.

    Args:
        model: A Module, which runs in evaluation mode, or a function of tensors.
        args: The example: a tensor, or a tuple of tensors and other arguments.
        f: Path or binary file to write; None writes nothing.
        kwargs: Keyword arguments of the model, tensors among them.
        input_names, output_names: Names of the graph's inputs and outputs, in order.
        opset_version: Version of ONNX's operators, 17 to 23. Default: 18.
        dynamic_shapes: For each argument, in the order or by the name of ``input_names``, a dict
            of dimension to name, or a list of names or None.
        dynamic_axes: The same by the name of the input: ``{"x": {0: "batch"}}`` or
            ``{"x": [0]}``.
        export_params: Must be True: the weights are part of the file.
        verify: Whether to compare the written model, run by ``onnxruntime``, with the model.
        **options: Other options of PyTorch's, without effect.

    Returns:
        An ``ONNXProgram``, with the model as ``model_proto``.

    Raises:
        OnnxExporterError: If an operation has no counterpart in ONNX, if a number is read from a
            tensor, or if a size depends on the inputs in another way.
        ImportError: If the package ``onnx`` is missing.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> model = tt.nn.Sequential(tt.nn.Linear(3, 2), tt.nn.ReLU()).eval()
        >>> with TemporaryDirectory() as folder:
        ...     program = tt.onnx.export(model, tt.ones(1, 3), f"{folder}/model.onnx")
        >>> [node.op_type for node in program.model_proto.graph.node]
        ['Gemm', 'Relu']

    Reference:
        https://onnx.ai/onnx/intro/concepts.html
    """
    unknown = options.keys() - _WITHOUT_EFFECT
    if unknown:
        raise TypeError(f"export() got an unexpected keyword argument {min(unknown)!r}")
    if not export_params:
        raise NotImplementedError("onnx.export: export_params=False is not supported")
    onnx = import_onnx("onnx.export")
    version = OPSET if opset_version is None else opset_version
    if version not in _OPSETS:
        raise ValueError(
            f"onnx.export: opset_version must be {_OPSETS[0]} to {_OPSETS[-1]}, got {version}"
        )
    example = (args,) if isinstance(args, Tensor) else tuple(args)
    parameters = _parameter_names(model)
    module = model if isinstance(model, Module) else Module()
    if kwargs:
        example, model = (*example, dict(kwargs)), _pass_keywords(model)
    names = _input_names(example, input_names)
    dynamic = dynamic_dims(names, dynamic_axes if dynamic_axes is not None else dynamic_shapes)
    try:
        with use_mode(module, "eval"):
            found = trace_sizes(model, example, names, dynamic, RULES, True)
        if found.changed_buffers:
            raise ExportError(
                f"the model changes its buffer {found.changed_buffers[0]!r} in each call, which a "
                "file of ONNX cannot"
            )
        writer = GraphWriter(onnx, version)
        proto = _Export(writer, found, parameters).build(names, output_names, dynamic)
    except ExportError as error:
        raise OnnxExporterError(f"onnx.export: {error}") from None
    program = ONNXProgram(proto)
    if f is not None:
        program.save(f)
    if verify:
        _verify(program, found)
    return program


class ONNXProgram:
    """Result of ``onnx.export``.

    Args:
        model_proto: The model, an ``onnx.ModelProto``.

    Example:
        >>> program = tt.onnx.export(tt.nn.ReLU(), tt.ones(2))
        >>> program
        ONNXProgram(inputs=['input'], outputs=['output'], operators=['Relu'])
    """

    def __init__(self, model_proto: Any) -> None:
        self.model_proto = model_proto
        self._session: Any = None

    def save(self, destination: Any) -> None:
        """Write the model.

        Args:
            destination: Path or binary file.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> tt.onnx.export(tt.nn.ReLU(), tt.ones(2)).save(file)
            >>> tt.onnx.load(file.getvalue())(tt.tensor([-1.0, 1.0]))
            tensor([0., 1.])
        """
        is_file = hasattr(destination, "write")
        import_onnx("onnx.export").save_model(
            self.model_proto, destination if is_file else os.fspath(destination)
        )

    def __call__(self, *args: Any) -> list[Tensor]:
        """Run the model by ``onnxruntime``.

        Args:
            *args: The tensors of the graph's inputs, in order.

        Raises:
            ImportError: If the package ``onnxruntime`` is missing.
        """
        arrays = [tensor.numpy(force=True) for tensor in tensors_in(args)]
        return [from_numpy(array) for array in self._run(arrays)]

    def _run(self, arrays: Sequence[Any]) -> Any:
        if self._session is None:
            self._session = _import_runtime().InferenceSession(
                self.model_proto.SerializeToString(), providers=["CPUExecutionProvider"]
            )
        names = [each.name for each in self.model_proto.graph.input]
        return self._session.run(None, dict(zip(names, arrays, strict=True)))

    def __repr__(self) -> str:
        graph = self.model_proto.graph
        operators = [node.op_type for node in graph.node]
        inputs, outputs = ([each.name for each in part] for part in (graph.input, graph.output))
        return f"ONNXProgram({inputs=}, {outputs=}, {operators=})"


def _import_runtime() -> Any:
    try:
        return import_module("onnxruntime")
    except ImportError as error:
        raise ImportError(
            "ONNXProgram needs the package onnxruntime, which the extra [onnx] installs"
        ) from error


def _pass_keywords(model: Any) -> Callable[..., Any]:
    """Return a function whose last argument is a dict of keyword arguments."""

    def call(*args: Any) -> Any:
        return model(*args[:-1], **args[-1])

    return call


def _input_names(example: Any, names: Sequence[str] | None) -> list[str]:
    count = len(tensors_in(example))
    if names is not None and len(names) > count:
        raise RuntimeError(
            f"number of input names provided ({len(names)}) exceeded number of inputs ({count})"
        )
    given = list(names or ())
    return given + [f"input_{i}" if count > 1 else "input" for i in range(len(given), count)]


def _parameter_names(model: Any) -> dict[int, str]:
    """Names of parameters and buffers by the address of their memory."""
    if not hasattr(model, "named_parameters"):
        return {}
    items = [*model.named_parameters(), *model.named_buffers()]
    return {tensor.data_ptr(): name for name, tensor in items if tensor.numel()}


# -- the graph -------------------------------------------------------------------------------------


class _Export:
    """Export of one trace."""

    def __init__(self, writer: GraphWriter, found: Trace, parameters: dict[int, str]) -> None:
        self.writer, self.trace, self.parameters = writer, found, parameters
        assert found.recording is not None
        program, sources = found.recording.program, found.recording.sources
        pairs = zip(program.inputs, sources, strict=True)
        self._depends = {value: source.kind == "argument" for value, source in pairs}
        self._constants: set[Any] = set()
        self._outputs: set[str] = set()

    def build(
        self, names: Sequence[str], output_names: Sequence[str] | None,
        dynamic: dict[str, dict[int, str]],
    ) -> Any:  # fmt: skip
        """Return the ONNX model."""
        writer, helper = self.writer, self.writer.onnx.helper
        inputs = [
            self._input(*pair, dynamic) for pair in zip(names, self.trace.inputs, strict=True)
        ]
        for call in self.trace.calls:
            self._export_call(call)
        count = len(self.trace.outputs)
        default = [f"output_{i}" if count > 1 else "output" for i in range(count)]
        given = [*(output_names or ()), *default[len(output_names or ()) :]]
        outputs = [self._output(*pair) for pair in zip(given, self.trace.outputs, strict=True)]
        graph = helper.make_graph(
            self._used_nodes(given), "tinytorch", inputs, outputs, writer.initializers
        )
        opset = helper.make_opsetid("", writer.opset)
        model = helper.make_model(graph, opset_imports=[opset], producer_name="tinytorch")
        model.ir_version = min(model.ir_version, 10)  # the latest that all current runtimes read
        self._check(model)
        return model

    def _check(self, model: Any) -> None:
        """Run the checker of ONNX; name the operation of the node that it refuses."""
        onnx = self.writer.onnx
        try:
            onnx.checker.check_model(model, full_check=True)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            node = re.search(r"node name: ([^)]*)\)", str(error), re.IGNORECASE)
            call = self.writer.origins.get(node.group(1)) if node else None
            where = f"{call.public_name!r} at {call.line}" if call else "the model"
            raise ExportError(f"{where} is not valid in ONNX: {error}") from error

    def _input(self, name: str, ref: Ref, dynamic: dict[str, dict[int, str]]) -> Any:
        self.writer.bind(ref, self.writer.unique(name))
        for axis, dim in dynamic.get(name, {}).items():
            self.writer.dims.setdefault(dim, (name, axis))
        return self._value_info(name, ref)

    def _value_info(self, name: str, ref: Ref) -> Any:
        shape = [repr(n) if isinstance(n, Size) and n.terms else None if isinstance(n, Size) else n
                 for n in ref.shape]  # fmt: skip
        helper = self.writer.onnx.helper
        return helper.make_tensor_value_info(name, self.writer.type_of(ref.dtype), shape)

    def _output(self, name: str, ref: Ref) -> Any:
        """Give a result its name: the node that computes it is renamed, if it can be."""
        writer = self.writer
        writer.call = OperationCall("the result", {}, [], "the end of the model")
        source = self._name_of(ref)
        made = {each for node in writer.nodes for each in node.output}
        if source in made and source not in self._outputs:
            for node in writer.nodes:
                for names in (node.input, node.output):
                    names[:] = [name if each == source else each for each in names]
            writer.bind(ref, name)
        else:
            writer.nodes.append(writer.onnx.helper.make_node("Identity", [source], [name]))
        self._outputs.add(name)
        return self._value_info(name, ref)

    def _export_call(self, call: OperationCall) -> None:
        """Add the nodes of a call, unless all that it reads is constant."""
        self.writer.call = call
        refs: list[Ref] = []
        sizes: list[Size] = []
        map_refs(lambda x: refs.append(x) if isinstance(x, Ref) else
                 sizes.append(x) if isinstance(x, Size) else None, call.arguments)  # fmt: skip
        dynamic = sizes or any(isinstance(n, Size) for r in call.results for n in r.shape)
        if not dynamic and not any(self._is_computed(ref) for ref in refs):
            return  # its results become constants where they are used
        rule = RULES.get(call.name) or RULES.get(call.name.rstrip("_"))
        if rule is None:
            raise ExportError(
                f"operation {call.public_name!r} at {call.line} has no counterpart in ONNX"
            )
        for ref in refs:
            self._name_of(ref)
        self._bind_results(call, rule)

    def _bind_results(self, call: OperationCall, rule: Callable[..., Any]) -> None:
        name, call.name = call.name, call.name.rstrip("_") if call.name not in RULES else call.name
        try:
            made = rule(self.writer, call, **call.arguments)
        except TypeError as error:
            raise self.writer.error(f"has arguments that ONNX does not know: {error}") from error
        finally:
            call.name = name
        results = [call.written] if call.written is not None else call.results
        for ref, each in zip(results, made if isinstance(made, list) else [made], strict=True):
            self.writer.bind(ref, each)

    def _is_computed(self, ref: Ref) -> bool:
        return self.writer.find(ref) is not None and ref.value not in self._constants

    def _name_of(self, ref: Ref) -> str:
        """Return the name of a tensor; one that does not depend on the inputs is a constant."""
        found = self.writer.find(ref)
        if found is not None:
            return found
        if depends_on_arguments(ref.value, self._depends):
            return self.writer.tensor(ref)  # raises
        elements = self.trace.elements(ref)
        if elements is None:
            raise self.writer.error("reads a constant that was changed in place through a view")
        address = elements.__array_interface__["data"][0]
        made = self.writer.constant(elements, self.parameters.get(address, "constant"))
        self._constants.add(ref.value)
        self.writer.bind(ref, made)
        return made

    def _used_nodes(self, outputs: Sequence[str]) -> list[Any]:
        """Return the nodes that the outputs need; drop initializers without a use."""
        used, kept = set(outputs), []
        for node in reversed(self.writer.nodes):
            if used.intersection(node.output):
                kept.append(node)
                used.update(node.input)
        self.writer.initializers[:] = [i for i in self.writer.initializers if i.name in used]
        return kept[::-1]


def _verify(program: ONNXProgram, found: Trace) -> None:
    """Raise OnnxExporterError if onnxruntime's results differ from the model's."""
    results = program._run([ref.array for ref in found.inputs])
    for ref, got in zip(found.outputs, results, strict=True):
        if not numpy.allclose(got, ref.array, rtol=1e-4, atol=1e-5):
            difference = numpy.abs(got - ref.array).max()
            raise OnnxExporterError(f"onnx.export: results differ by up to {difference}")
